"""Name, with a hit, the later memory that may contradict it. That only annotates: it moves nothing up or down.

Notes are seldom marked as superseded: a note says that the move is done, and the one about the old place stays. A later
note is taken to be about the same thing if it has many of the telling words of the hit, key and tags included, and is
near it by meaning. It is looked for among the candidates of the same question, so nothing has to be kept up to date,
and what the caller may not see is not named. Two notes that each begin with an identifier which the other lacks are
about two things: web-01 is not web-02.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.index.port import EntryCandidate
from commonplace.recall.candidates import find_stems, make_time_key
from commonplace.recall.query import is_journal
from commonplace.recall.ranking import ScoredCandidate

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

MIN_SAME = 0.5  # of the share of words plus half the cosine, for two notes to be about one thing
NEARLY_SAME = 0.4  # from here on, if `store` would say that they contradict each other
FEW_WORDS = 4  # telling words: of so short a note only a contradiction is one
COSINE_WEIGHT = 0.5
EXTRA_WORDS = 4  # telling words that a hit is taken to have besides its own: two of three in common are chance
MAX_TEXT = 500  # characters
ASSUMED_COSINE = 0.5  # where one of them has no vector


def add_later(
    hits: Sequence[ScoredCandidate], candidates: Sequence[EntryCandidate], vectors: EntryVectors | None
) -> list[ScoredCandidate]:
    """Return the hits, each with the candidate that may contradict it, if there is one."""
    notes = sorted(filter(_can_contradict, candidates), key=make_time_key, reverse=True)
    stems = {item.no: find_stems(item) for item in notes}
    places = {item.no: place for place, item in enumerate(notes)}  # those before it are later
    return [
        hit._replace(later=_find_later(hit.candidate, notes[: places.get(hit.candidate.no, 0)], stems, vectors))
        for hit in hits
    ]


def _find_later(
    hit: EntryCandidate,
    others: Sequence[EntryCandidate],
    stems: Mapping[int, frozenset[str]],
    vectors: EntryVectors | None,
) -> EntryCandidate | None:
    """Return which of some later notes, latest first, is most surely about the same; None if none is sure enough."""
    found: list[tuple[float, EntryCandidate]] = []
    for other in others:
        shared = len(stems[hit.no] & stems[other.no]) / (len(stems[hit.no]) + EXTRA_WORDS)
        if shared and (other.folder, other.name) != (hit.folder, hit.name):
            cosine = vectors.measure_likeness(hit.no, other.no) if vectors is not None else None
            same = shared + COSINE_WEIGHT * (ASSUMED_COSINE if cosine is None else cosine)
            found += [(same, other)] if same >= NEARLY_SAME else []
    found.sort(key=lambda item: -item[0])
    is_long = hit.no in stems and len(stems[hit.no]) > FEW_WORDS  # not so Ann prefers vim, and Ann prefers tea
    return next(
        (other for same, other in found if _may_contradict(hit, other, is_sure=is_long and same >= MIN_SAME)), None
    )


def _may_contradict(hit: EntryCandidate, other: EntryCandidate, *, is_sure: bool) -> bool:
    """Return whether a later note may contradict a hit; it is about the same thing, or nearly so.

    Not if they say the same word for word, or are about two things that are named alike. If it is not sure that they
    are about one thing, what `store` would call a contradiction is one here.
    """
    from commonplace.recall import duplicates  # noqa: PLC0415 - few come so far

    texts = hit.recorded.entry.text, other.recorded.entry.text
    tests = (duplicates.is_same_text, duplicates.has_other_identifier, duplicates.has_other_subject)
    if any(test(*texts) for test in tests):
        return False
    return is_sure or duplicates.compare_texts(*texts).relation == duplicates.CONTRADICTS


def _can_contradict(item: EntryCandidate) -> bool:
    """Return whether an entry is a short lone note of a memory, and not superseded.

    Long ones have many words in common, and correct nothing: the minutes of two meetings.
    """
    entry = item.recorded.entry
    is_lone = entry.thread is None and not is_journal(item.folder)
    return is_lone and len(entry.text) <= MAX_TEXT and item.status != "superseded"
