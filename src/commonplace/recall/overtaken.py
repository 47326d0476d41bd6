"""Find out, once entries are embedded, which of them a later one may contradict; the index keeps the answer.

What an agent is told unasked is chosen by hooks, which cannot load vectors: they read what was found here.
`SemanticIndex` calls `compare_new` with what was embedded last. Each new entry is compared with those nearest to it by
meaning, in its own scope and in the scopes that every caller sees. What counts as a later word is decided in
`later.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonplace.index.port import EntryCandidate, Transaction
from commonplace.model.scope import ScopeKind
from commonplace.recall.candidates import make_time_key
from commonplace.recall.later import add_later, is_lone
from commonplace.recall.ranking import ScoredCandidate

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

MAX_ALIKE = 8  # entries that a new one is compared with
SERIES = 5  # of these that it overtakes, or that overtake it: then they are alike on purpose, and all hold
_FOR_ALL = tuple(f"/memories/{kind}/" for kind in ScopeKind if not kind.has_id)


def compare_new(reading: Transaction, vectors: EntryVectors, new: Sequence[int]) -> dict[int, int]:
    """Return for new entries, and for those like them, which later one may contradict it; 0 where none does.

    An entry of a series, as the notes of each sprint are, overtakes nothing.
    """
    alike = vectors.find_alike_to(new, MAX_ALIKE)
    numbers = {*alike, *(other for others in alike.values() for other in others)}
    notes = {item.no: item for item in reading.candidates(sorted(numbers)) if is_lone(item)}
    found = dict.fromkeys(new, 0)
    pairs: list[tuple[int, int]] = []
    series: set[int] = set()
    for no in sorted(alike.keys() & notes.keys()):
        beside = [notes[other] for other in alike[no] if other in notes and _is_seen_with(notes[no], notes[other])]
        overtaken = [pair for other in beside if (pair := _find_overtaken(notes[no], other, vectors)) is not None]
        if len(overtaken) < SERIES:
            pairs += overtaken
        else:  # nor does one of them overtake another: the first two looked like a correction
            series |= {number for pair in overtaken for number in pair}
    latest = {no: place for place, no in enumerate(sorted(notes, key=lambda no: make_time_key(notes[no])))}
    for earlier, later in sorted(pairs, key=lambda pair: latest[pair[1]]):
        found[earlier] = later
    return found | dict.fromkeys(series, 0)


def _find_overtaken(one: EntryCandidate, other: EntryCandidate, vectors: EntryVectors) -> tuple[int, int] | None:
    """Return the numbers of the earlier and the later of two notes, if the later may contradict the earlier."""
    for hit in add_later([ScoredCandidate(one, 0.0, {}), ScoredCandidate(other, 0.0, {})], [one, other], vectors):
        if hit.later is not None:
            return hit.candidate.no, hit.later.no
    return None


def _is_seen_with(one: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether who sees one memory also sees the other: they are in one scope, or one is for all."""
    places = [f"{item.folder}/" for item in (one, other)]
    return any(place.startswith(_FOR_ALL) for place in places) or len({_find_scope(place) for place in places}) == 1


def _find_scope(place: str) -> str:
    return "/".join(place.split("/")[:4])
