"""Name, with a hit, the later memory that may contradict it, and put that beside the hit. The best hit stays first.

Notes are seldom marked as superseded: a note says that the move is done, and the one about the old place stays. A later
note is taken to be about the same thing if it has many of the telling words of the hit, key and tags included, and is
near it by meaning. It is looked for among the candidates of the same question, so nothing has to be kept up to date,
and what the caller may not see is not named. A link that a person made or judged decides: of two memories that
relate to each other both hold, and of two that contradict each other the later is named, whatever the words say. Two
notes that each begin with an identifier which the other lacks are about two things: web-01 is not web-02.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from posixpath import split
from typing import TYPE_CHECKING

from commonplace.index.port import Transaction
from commonplace.index.values import EntryCandidate
from commonplace.model.scope import ScopeKind
from commonplace.recall.candidates import find_stems, find_text_stems, make_time_key
from commonplace.recall.query import is_journal
from commonplace.recall.ranking import BEST_BY_WORDS, ScoredCandidate

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

Notes = dict[int, tuple[EntryCandidate, frozenset[str]]]
"""Lone notes by number, earliest first, each with its telling words."""
_CONTRADICTS = "contradicts"
MIN_SAME = 0.8  # the share of a note's words that a later one has, plus their cosine: then it is about the same thing
EXTRA_WORDS = 2  # that a note is taken to have besides its own: of two telling words, one in common is chance
MAX_TEXT = 500  # characters
_NO_WORDS = frozenset[str]()
MAX_ALIKE = 9  # entries that a new one is compared with, itself included
SERIES = 5  # of these that it overtakes, or that overtake it: then they are alike on purpose, and all hold
_FOR_ALL = frozenset(f"/memories/{kind}" for kind in ScopeKind if not kind.has_id)


def add_later(
    hits: Sequence[ScoredCandidate],
    limit: int,
    candidates: Iterable[EntryCandidate],
    vectors: EntryVectors | None,
) -> list[ScoredCandidate]:
    """Return the first hits, each with the candidate that may contradict it, and that beside it: behind the first hit,
    before any other.

    So who reads two hits has read the newer fact, and the best hit keeps its place. What is as near to the question as
    a strong hit, by way of that hit, is strong too.
    """
    notes = _sort_notes(candidates)
    firsts = [hit.candidate.no for hit in hits[:limit]]
    named = _find_later(firsts, notes, vectors)
    named |= _find_later({later.no for later in named.values()}.difference(firsts), notes, vectors)
    scored = {hit.candidate.no: hit for hit in hits}
    placed: dict[int, ScoredCandidate] = {}
    for hit in hits[:limit]:
        later = named.get(hit.candidate.no)
        pair = [hit._replace(later=later)]
        if later is not None:
            beside = scored.get(later.no) or ScoredCandidate(later, 0.0, {}, is_strong=False)
            beside = beside._replace(is_strong=beside.is_strong or hit.is_strong)
            pair.insert(0 if placed else 1, beside._replace(later=named.get(later.no)))
        for item in pair:
            placed.setdefault(item.candidate.no, item)
    return list(placed.values())


def _sort_notes(candidates: Iterable[EntryCandidate]) -> Notes:
    """Return the lone notes among some candidates, earliest first, each with its telling words.

    A long one has none here: the minutes of two meetings have many words in common, and correct nothing.
    """
    lone = sorted(filter(_is_lone, candidates), key=make_time_key)
    return {item.no: (item, find_stems(item) if len(item.entry.text) <= MAX_TEXT else _NO_WORDS) for item in lone}


def _find_later(numbers: Collection[int], notes: Notes, vectors: EntryVectors | None) -> dict[int, EntryCandidate]:
    """Return for some of the notes which of all is later, and most surely about the same; nothing where none is."""
    likeness = vectors.find_alike(numbers, notes, len(notes)) if vectors is not None else {}
    found = {no: _find_later_than(no, notes, likeness.get(no, {})) for no in numbers if no in notes}
    return {no: later for no, later in found.items() if later is not None}


def _find_later_than(no: int, notes: Notes, cosines: Mapping[int, float]) -> EntryCandidate | None:
    """Return which of some notes is later than one of them, whose cosines to the others are given."""
    hit, said = notes[no]
    found: list[tuple[float, EntryCandidate]] = []
    for other, words in takewhile(lambda note: note[0].no != no, reversed(notes.values())):
        links = _find_links(hit, other)
        if _CONTRADICTS in links:
            return other
        shared = len(said & words) / (len(said) + EXTRA_WORDS)
        same = shared + cosines.get(other.no, BEST_BY_WORDS)  # where one of them has no vector
        if shared and same >= MIN_SAME and not links:
            found.append((same, other))
    found.sort(key=lambda pair: -pair[0])
    return next((other for _, other in found if not _is_beside(hit, other)), None)


def _is_beside(hit: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether two notes are of one memory, say the same in the same words, or are about two things that are
    named alike."""
    from commonplace.recall import duplicates  # noqa: PLC0415 - few come so far

    texts = hit.entry.text, other.entry.text
    tests = (duplicates.has_other_identifier, duplicates.has_other_subject)
    is_own = (other.folder, other.name) == (hit.folder, hit.name)
    return is_own or len(set(map(find_text_stems, texts))) == 1 or any(test(*texts) for test in tests)


def _is_lone(item: EntryCandidate) -> bool:
    """Return whether an entry is a lone note of a memory, and not superseded."""
    return item.entry.thread is None and not is_journal(item.folder) and item.status != "superseded"


def find_linked_entries(
    reading: Transaction, hits: Iterable[EntryCandidate], folders: Sequence[str]
) -> list[EntryCandidate]:
    """Return the entries of memories that links join with some hits as contradicting, found or not.

    `folders` are those of the scopes that are asked: a link names the kind of a scope only.
    """
    links, places = set[str](), list[tuple[str, str]]()
    for hit in filter(_is_lone, hits):
        links.add(f"{_CONTRADICTS} {_name_memory(hit)[1]}")
        linked = hit.row.linked if hit.row is not None else ()
        keys = [link.partition("/")[2] for link in linked if link.startswith(_CONTRADICTS)]
        places += [split(f"{folder}/{key}") for key in keys for folder in folders]
    return list(reading.linked_entries(links, places)) if links else []


def _find_links(one: EntryCandidate, other: EntryCandidate) -> set[str]:
    """Return the relations of the links that join the memories of two entries, whichever has them."""
    if not ((one.row is not None and one.row.linked) or (other.row is not None and other.row.linked)):
        return set()
    (place, name), (other_place, other_name) = _name_memory(one), _name_memory(other)
    if place != other_place and name.partition("/")[0] == other_name.partition("/")[0]:
        return set()  # a link names the kind of a scope only, and leads to the same scope of that kind
    return {
        link.partition(" ")[0]
        for row, to in ((one.row, other_name), (other.row, name))
        if row is not None
        for link in row.linked
        if link.endswith(f" {to}")
    }


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
    lone = vectors.list_lone()
    alike = vectors.find_alike(lone & {*new}, lone, MAX_ALIKE)
    notes = _sort_notes(reading.candidates(sorted({other for others in alike.values() for other in others})))
    found = dict.fromkeys(new, 0)
    pairs: list[tuple[int, int]] = []
    series: set[int] = set()
    for no in sorted(alike.keys() & notes.keys()):
        overtaken = []
        for other, cosine in alike[no].items():
            pair = {each: note for each, note in notes.items() if each in (no, other)}
            earlier, later = next(iter(pair)), next(reversed(pair))
            is_seen = _is_seen_with(notes[earlier][0], notes[later][0])
            if is_seen and _find_later_than(earlier, pair, {later: cosine}) is not None:
                overtaken.append((earlier, later))
        if len(overtaken) < SERIES:
            pairs += overtaken
        else:  # nor does one of them overtake another: the first two looked like a correction
            series.update(*overtaken)
    found.update(sorted(pairs, key=lambda pair: make_time_key(notes[pair[1]][0])))
    return found | dict.fromkeys(series, 0)


def _is_seen_with(one: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether who sees one memory also sees the other: they are in one scope, or one is for all."""
    places = {_name_memory(item)[0] for item in (one, other)}
    return len(places) == 1 or not places.isdisjoint(_FOR_ALL)
