"""What the summaries of the tree say, against the units below them; and the way from a digest down to a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.bench.digest_commands import BookCommands, NodeHit, SummaryNote, split_leaf
from tests.bench.digest_measures import EventsBook, ProofRow, is_named
from tests.bench.events_truth import PlantedEvent

_MAX_CALLS = 60  # of drill-down for one event
_MAX_DEPTH = 5
_GREETING = re.compile(r"\A[^\n]{0,60}[,!:]\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”»)]*\s+(?=[\W\d]*[A-ZÀ-ÞĀ-Ž])|\n\s*\n")


def measure_drill_down(book: EventsBook) -> Iterator[ProofRow]:
    """Yield from how many digests the unit of an event is reached by drilling down alone."""
    missed = []
    calls = []
    for event in book.truth.events:
        count = count_calls(book.commands, book.digest("day", event.day).nodes, f"mail:{event.message_id}")
        if count is None:
            missed.append(f"{event.day}: {event.sentence}")
        else:
            calls.append(count)
    total = len(book.truth.events)
    found = f"{total - len(missed)} of {total}"
    yield ProofRow("drill-down from the digest reaches the unit", found, "all", not missed, tuple(missed))
    if calls:
        yield ProofRow(
            "drill-downs needed, on average and at most", f"{sum(calls) / len(calls):.1f}, {max(calls)}", "", None
        )


def count_calls(commands: BookCommands, nodes: Sequence[str], source: str) -> int | None:
    """Return how many drill-downs it takes from nodes to a unit of a source, breadth first; None if it is not there."""
    waiting, seen = [*nodes], {*nodes}
    calls = 0
    while waiting and calls < _MAX_CALLS:
        hits = commands.drill_down(waiting.pop(0), depth=_MAX_DEPTH)
        calls += 1
        if any(source in hit.sources for hit in hits):
            return calls
        for hit in hits:
            below = [hit.ref, *hit.child_ids] if hit.kind in {"summary", "digest", "topic"} else []
            fresh = [ref for ref in below if ref not in seen and not ref.startswith(("u-", "leaf-"))]
            seen.update(fresh)
            waiting += fresh
    return None


class SealedUnit(NamedTuple):
    """A unit below a summary."""

    source: str
    text: str


def measure_summaries(book: EventsBook) -> Iterator[ProofRow]:
    """Yield whether the sentences of summaries are in their units, and what the lowest ones name of the events."""
    notes = book.commands.summaries()
    levels = ", ".join(
        f"L{level}: {sum(note.level == level for note in notes)}" for level in sorted({n.level for n in notes})
    )
    yield ProofRow("summaries", f"{len(notes)} ({levels})", "", None)
    yield _check_sentences(book.commands, notes)
    leaves = book.commands.fetch(
        [child for note in notes for child in note.children if child.startswith(("leaf-", "u-"))]
    )
    yield _check_lengths(notes, leaves)
    yield from _compare_with_floor(book, [note for note in notes if note.level == 1], leaves)


def _check_sentences(commands: BookCommands, notes: Sequence[SummaryNote]) -> ProofRow:
    units = commands.fetch([unit for note in notes for unit, _ in note.sentences])
    count = sum(len(note.sentences) for note in notes)
    wrong = [
        f"{note.path.name}: {unit}: {sentence}"
        for note in notes
        for unit, sentence in note.sentences
        if unit not in units or not _is_within(sentence, units[unit].text)
    ]
    wrong += [f"{note.path.name}: without a unit: {line}" for note in notes for line in note.others]
    found = f"{count} sentences, {len(wrong)} not"
    return ProofRow(
        "sentences of summaries that are in their units", found, "all", bool(count) and not wrong, tuple(wrong)
    )


def _is_within(sentence: str, text: str) -> bool:
    """Return whether a sentence stands in a text, but for white space; one that is cut ends with three dots."""
    part = " ".join(sentence.split()).strip('“”"')
    whole = " ".join(text.split())
    return bool(part) and (part in whole or part.removesuffix("…").removesuffix("...").rstrip() in whole)


def _check_lengths(notes: Sequence[SummaryNote], leaves: Mapping[str, NodeHit]) -> ProofRow:
    """Return how many summaries are longer than what they are made of."""
    by_name = {note.path.stem: note for note in notes}
    longer, unknown = [], []
    for note in notes:
        inputs = [
            by_name[child.rpartition("/")[2]].text if child.rpartition("/")[2] in by_name else leaves[child].text
            for child in note.children
            if child.rpartition("/")[2] in by_name or child in leaves
        ]
        if len(inputs) < len(note.children) or not inputs:
            unknown.append(f"{note.path.name}: {len(note.children) - len(inputs)} children are unknown")
        elif len(note.text) > sum(len(text) for text in inputs):
            longer.append(f"{note.path.name}: {len(note.text)}")
    found = f"{len(longer)} of {len(notes)}" + (f", {len(unknown)} unknown" if unknown else "")
    is_met = bool(notes) and not longer and not unknown
    return ProofRow("summaries that are longer than their input", found, "0", is_met, (*longer, *unknown))


def _compare_with_floor(
    book: EventsBook, notes: Sequence[SummaryNote], leaves: Mapping[str, NodeHit]
) -> Iterator[ProofRow]:
    """Yield how many events the lowest summaries name, and how many the first sentences of the same units would."""
    events = {f"mail:{event.message_id}": event for event in book.truth.events}
    ours: list[PlantedEvent] = []
    floor: list[PlantedEvent] = []
    below: list[PlantedEvent] = []
    taken, given = 0, 0
    for note in notes:
        units = _units_below(note, leaves)
        planted = [events[unit.source] for unit in units if unit.source in events]
        first = "\n".join(first_sentence(unit.text) for unit in units)[: len(note.text)]
        below += planted
        ours += [event for event in planted if is_named(note.text, event.words)]
        floor += [event for event in planted if is_named(first, event.words)]
        taken, given = taken + len(note.text), given + sum(len(unit.text) for unit in units)
    misses = tuple(f"{event.day} {event.kind} {event.place}: {event.sentence}" for event in below if event not in ours)
    ratio = len(ours) / max(1, len(floor))
    yield ProofRow("events below level-1 summaries", f"{len(below)} of {len(book.truth.events)}", "", None)
    yield ProofRow("length of level-1 summaries, of their units", f"{100 * taken / max(1, given):.1f}%", "", None)
    yield ProofRow("events that they name", f"{len(ours)} of {len(below)}", "", None, misses)
    yield ProofRow("the floor: first sentences, cut at that length", f"{len(floor)} of {len(below)}", "", None)
    yield ProofRow("events named, times the floor", f"{ratio:.2f}", ">= 1.5", bool(floor or ours) and ratio >= 1.5)


def _units_below(note: SummaryNote, leaves: Mapping[str, NodeHit]) -> list[SealedUnit]:
    """Return the units of the leaves of a summary."""
    units: list[SealedUnit] = []
    for leaf in (leaves[child] for child in note.children if child in leaves):
        texts = split_leaf(leaf)
        units += [SealedUnit(source, text) for source, (_, text) in zip(leaf.sources, texts, strict=False)]
    return units


def first_sentence(text: str) -> str:
    """Return the first sentence of a message, after the greeting."""
    body = _GREETING.sub("", text.strip() + "\n\n")
    return " ".join(_SENTENCE_END.split(body.strip(), maxsplit=1)[0].split())
