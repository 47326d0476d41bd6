"""Name, with a hit, the later memory that may contradict it, and put that beside the hit. The best hit stays first.

Notes are seldom marked as superseded: a note says that the move is done, and the one about the old place stays. A later
note is taken to be about the same thing if it has many of the telling words of the hit, key and tags included, and is
near it by meaning. It is looked for among the candidates of the same question, so nothing has to be kept up to date,
and what the caller may not see is not named. A link that a person made or judged decides: of two memories that
relate to each other both hold, and of two that contradict each other the later is named, whatever the words say. Two
notes that each begin with an identifier which the other lacks are about two things: web-01 is not web-02.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from commonplace.index.port import Transaction
from commonplace.index.values import EntryCandidate
from commonplace.model.scope import ScopeKind
from commonplace.recall.candidates import find_stems, make_time_key
from commonplace.recall.query import is_journal
from commonplace.recall.ranking import ScoredCandidate
from commonplace.text.words import fingerprint

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

_CONTRADICTS = "contradicts"
MIN_SAME = 0.5  # of the share of words plus half the cosine, for two notes to be about one thing
COSINE_WEIGHT = 0.5
EXTRA_WORDS = 4  # telling words that a hit is taken to have besides its own: two of three in common are chance
MAX_TEXT = 500  # characters
MAX_ALIKE = 9  # entries that a new one is compared with, itself included
SERIES = 5  # of these that it overtakes, or that overtake it: then they are alike on purpose, and all hold
_FOR_ALL = frozenset(f"/memories/{kind}" for kind in ScopeKind if not kind.has_id)
ASSUMED_COSINE = 0.5  # where one of them has no vector


def add_later(
    hits: Sequence[ScoredCandidate], candidates: Sequence[EntryCandidate], vectors: EntryVectors | None
) -> list[ScoredCandidate]:
    """Return the hits, each with the candidate that may contradict it, if there is one."""
    notes = sorted(filter(_is_lone, candidates), key=make_time_key)
    stems = {note.no: find_stems(note) for note in notes}
    return [
        hit._replace(later=hit.later or _find_later(hit.candidate, notes, stems, vectors))
        if hit.candidate.no in stems
        else hit
        for hit in hits
    ]


def place_later(hits: Sequence[ScoredCandidate], others: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Return hits with the memory that may contradict each beside it: behind the first hit, before any other.

    So who reads two hits has read the newer fact, and the best hit keeps its place. What is as near to the question as
    a strong hit, by way of that hit, is strong too. `others` have the scores of what is no hit.
    """
    scored = {hit.candidate.no: hit for hit in (*others, *hits)}
    placed: dict[int, ScoredCandidate] = {}
    for hit in hits:
        pair = [hit]
        if hit.later is not None:
            later = scored.get(hit.later.no) or ScoredCandidate(hit.later, 0.0, {}, is_strong=False)
            pair.insert(0 if placed else 1, later._replace(is_strong=later.is_strong or hit.is_strong))
        for item in pair:
            placed.setdefault(item.candidate.no, item)
    return list(placed.values())


def _find_later(
    hit: EntryCandidate,
    notes: Sequence[EntryCandidate],
    stems: Mapping[int, frozenset[str]],
    vectors: EntryVectors | None,
) -> EntryCandidate | None:
    """Return which of some notes, earliest first, is later and most surely about the same; None if none is."""
    found, said, time = list[tuple[float, EntryCandidate]](), stems[hit.no], make_time_key(hit)
    for other in takewhile(lambda other: make_time_key(other) > time, reversed(notes)):
        links = _find_links(hit, other)
        if _CONTRADICTS in links:
            return other
        if links or max(len(hit.recorded.entry.text), len(other.recorded.entry.text)) > MAX_TEXT:
            continue  # both hold; or long: the minutes of two meetings have many words in common, and correct nothing
        shared = len(said & stems[other.no]) / (len(said) + EXTRA_WORDS)
        if shared and (other.folder, other.name) != (hit.folder, hit.name):
            cosine = vectors.measure_likeness(hit.no, other.no) if vectors is not None else None
            same = shared + COSINE_WEIGHT * (ASSUMED_COSINE if cosine is None else cosine)
            found += [(same, other)] if same >= MIN_SAME else []
    found.sort(key=lambda item: -item[0])
    return next((other for _, other in found if not _is_beside(hit, other)), None)


def _is_beside(hit: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether two notes say the same in the same words, or are about two things that are named alike."""
    from commonplace.recall import duplicates  # noqa: PLC0415 - few come so far

    texts = hit.recorded.entry.text, other.recorded.entry.text
    tests = (duplicates.has_other_identifier, duplicates.has_other_subject)
    return len(set(map(fingerprint, texts))) == 1 or any(test(*texts) for test in tests)


def _is_lone(item: EntryCandidate) -> bool:
    """Return whether an entry is a lone note of a memory, and not superseded."""
    return item.recorded.entry.thread is None and not is_journal(item.folder) and item.status != "superseded"


def find_linked_entries(
    reading: Transaction, hits: Iterable[EntryCandidate], folders: Sequence[str]
) -> list[EntryCandidate]:
    """Return the entries of memories that links join with some hits as contradicting, found or not.

    `folders` are those of the scopes that are asked: a link names the kind of a scope only.
    """
    links, places = set[str](), list[tuple[str, str]]()
    for hit in filter(_is_lone, hits):
        links.add(f"{_CONTRADICTS} {_name_memory(hit)[1]}")
        for link in hit.row.linked if hit.row is not None else ():
            relation, _, to = link.partition(" ")
            kind, _, key = to.partition("/")
            for folder in folders if relation == _CONTRADICTS else ():
                if f"{folder}/".startswith(f"/memories/{kind}/"):
                    place, _, name = f"{folder}/{key}".rpartition("/")
                    places.append((place, name))
    return list(reading.linked_entries(links, places)) if links else []


def _find_links(one: EntryCandidate, other: EntryCandidate) -> set[str]:
    """Return the relations of the links that join the memories of two entries, whichever has them."""
    if not any(item.row is not None and item.row.linked for item in (one, other)):
        return set()
    (place, name), (other_place, other_name) = _name_memory(one), _name_memory(other)
    if place != other_place and name.partition("/")[0] == other_name.partition("/")[0]:
        return set()  # a link names the kind of a scope only, and leads to the same scope of that kind
    linked = [(one.row, other_name), (other.row, name)]
    links = [(link.partition(" "), wanted) for row, wanted in linked if row is not None for link in row.linked]
    return {relation for (relation, _, to), wanted in links if to == wanted}


def _name_memory(item: EntryCandidate) -> tuple[str, str]:
    """Return the folder of a memory's scope, and the memory as a link names it: SCOPE/KEY."""
    _, top, kind, *parts = f"{item.folder}/{item.name}".split("/")
    levels = int(ScopeKind(kind).has_id)
    return "/".join([top, kind, *parts[:levels]]), "/".join([kind, *parts[levels:]])


def compare_new(reading: Transaction, vectors: EntryVectors, new: Sequence[int]) -> dict[int, int]:
    """Return for new entries, and for those like them, which later one may contradict it; 0 where none does.

    Each is compared with those nearest to it by meaning, in its own scope and in the scopes that every caller sees. An
    entry of a series, as the notes of each sprint are, overtakes nothing. `SemanticIndex` calls this with what was
    embedded last, and the index keeps the answer: what an agent is told unasked is chosen by hooks, without vectors.
    """
    alike = vectors.find_alike(new, MAX_ALIKE)
    numbers = {*alike, *(other for others in alike.values() for other in others)}
    notes = {item.no: item for item in reading.candidates(sorted(numbers)) if _is_lone(item)}
    stems = {no: find_stems(item) for no, item in notes.items()}
    found = dict.fromkeys(new, 0)
    pairs: list[tuple[int, int]] = []
    series: set[int] = set()
    for no in sorted(alike.keys() & notes.keys()):
        beside = [notes[other] for other in alike[no] if other in notes and _is_seen_with(notes[no], notes[other])]
        both = [pair for other in beside for pair in ((notes[no], other), (other, notes[no]))]
        overtaken = [(one.no, other.no) for one, other in both if _find_later(one, [other], stems, vectors) is not None]
        if len(overtaken) < SERIES:
            pairs += overtaken
        else:  # nor does one of them overtake another: the first two looked like a correction
            series.update(*overtaken)
    for earlier, later in sorted(pairs, key=lambda pair: make_time_key(notes[pair[1]])):
        found[earlier] = later
    return found | dict.fromkeys(series, 0)


def _is_seen_with(one: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether who sees one memory also sees the other: they are in one scope, or one is for all."""
    places = {_name_memory(item)[0] for item in (one, other)}
    return len(places) == 1 or not places.isdisjoint(_FOR_ALL)
