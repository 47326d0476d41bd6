"""Collect the candidates for an answer: search by words and by vectors, filter, and read the best ones.

`search.py` calls these functions in the order in which they stand. A question filters by scopes, times, type and tags;
the statuses in `HIDDEN_STATUSES` keep a memory out of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.index.port import EntryCandidate, Match, Transaction, is_in_folders
from commonplace.recall.fusion import (
    CONVERSATION,
    LONE_ROUGH,
    WORDS_ONLY,
    ScoredEntry,
    cut_passage,
    measure_cosine_range,
    scale_parts,
    score_roughly,
    sum_weighted,
)
from commonplace.recall.query import ParsedQuery, RecallQuery, find_quoting, is_journal
from commonplace.text.words import QueryTerms

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

HIDDEN_STATUSES = ("expired", "proposed", "quarantined")


def has_filters(question: RecallQuery) -> bool:
    """Return whether a question filters by time, type, session or tags."""
    times = (question.since, question.until, question.as_of, question.type, question.session)
    return bool(question.tags) or any(time is not None for time in times)


def is_hidden(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Return whether a memory's status keeps it out of the answer, so that it is only counted.

    A memory that has expired today was valid at an earlier `as_of`; a proposed or quarantined one never was.
    """
    row = candidate.row
    if row is None or row.status not in HIDDEN_STATUSES:
        return False
    return not (row.status == "expired" and (question.expired or question.as_of is not None))


def is_allowed(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Return whether a candidate passes the question's scopes and filters."""
    if not is_in_folders(candidate.folder, question.folders):
        return False
    recorded, row = candidate.recorded, candidate.row
    if question.as_of is not None:
        if recorded.start > question.as_of or (recorded.end is not None and recorded.end <= question.as_of):
            return False
    elif recorded.end is not None or row is None:
        return False
    kind = "" if row is None or is_journal(row.folder) else row.type  # the journal has no types
    if row is not None and not _has_type_and_tags(kind, (*row.tags, *recorded.entry.tags), question):
        return False
    if question.session is not None and recorded.entry.session != question.session:
        return False
    when = recorded.entry.occurred or recorded.entry.time
    return not ((question.since and when < question.since) or (question.until and when > question.until))


def is_by_time_and_author(candidate: EntryCandidate, parsed: ParsedQuery) -> bool:
    """Return whether an entry is from the time, and by one of the authors, that the question names."""
    entry = candidate.recorded.entry
    then = parsed.span is None or parsed.span.contains(entry.occurred or entry.time)
    return then and (not parsed.authors or entry.author in parsed.authors)


def _has_type_and_tags(kind: str, tags: Sequence[str], question: RecallQuery) -> bool:
    """Return whether a memory has the type and all the tags that the question asks for."""
    return (question.type is None or kind == question.type) and all(tag in tags for tag in question.tags)


def make_time_key(candidate: EntryCandidate) -> tuple[str, str]:
    """Return the key that sorts candidates by time: when it happened or was stored, then the entry's id."""
    entry = candidate.recorded.entry
    return (entry.occurred or entry.time, entry.id)


MIN_SOURCE_LIMIT = 120  # entries that the words, and the vectors, find
_MIN_FETCHED = 40  # of these are read in full
_BEST_BY_WORDS = 5  # of these for their words alone
_MAX_COVERAGE_TEXTS = 30  # of these are compared word by word
LIMIT_GROWTH, NO_LIMIT = 10, 1_000_000


def search_words(index: Transaction, parsed: ParsedQuery, question: RecallQuery) -> list[Match]:
    """Return the entries of the question's scopes that have its words; entries of other scopes are skipped."""
    # The best by words are enough for the best by score; for the latest or the most used all have to be looked at.
    found = _search_terms(index, parsed.terms, question)
    if parsed.without_authors is None:
        return found
    talk = _search_terms(index, parsed.for_conversations.terms, question)
    return [*(match for match in found if match.thread is None), *(match for match in talk if match.thread is not None)]


def _search_terms(index: Transaction, terms: QueryTerms, question: RecallQuery) -> list[Match]:
    """Return the matches for some terms in the question's scopes; with quoted terms, only exact ones."""
    limit = choose_source_limit(question) if question.sort == "score" and not has_filters(question) else NO_LIMIT
    while True:
        found = index.search(terms, limit)
        folders = {folder for folder in {match.folder for match in found} if is_in_folders(folder, question.folders)}
        inside = [match for match in found if match.folder in folders]
        if terms.quoted:  # the index finds forms of the words as well
            exact = find_quoting(index.candidates([match.no for match in inside]), terms)
            inside = [match for match in inside if match.no in exact]
        if len(found) < limit or limit >= NO_LIMIT or len(inside) >= choose_source_limit(question) // 2:
            return inside
        limit *= LIMIT_GROWTH


def choose_source_limit(question: RecallQuery) -> int:
    """Return how many entries to take from the words, and how many from the vectors."""
    return max(MIN_SOURCE_LIMIT, 2 * question.limit)


def add_semantic_matches(
    word_matches: Sequence[Match], parsed: ParsedQuery, question: RecallQuery, semantic: SemanticIndex | None
) -> dict[int, ScoredEntry]:
    """Return all that was found, with word score and cosine: the matches by words, and the nearest by vector."""
    if semantic is None:
        return {match.no: ScoredEntry(*match, None) for match in word_matches}
    semantic.set_question(parsed.text, parsed.for_conversations.text)
    cosines = semantic.get_cosines([match.no for match in word_matches])
    found = {match.no: ScoredEntry(*match, cosines.get(match.no)) for match in word_matches}
    if not parsed.terms.all_of:  # quoted words must occur: then meaning only orders what has them
        for item in semantic.find_nearest(question.folders, choose_source_limit(question)):
            if item.no not in found:
                found[item.no] = ScoredEntry(item.no, item.folder, item.thread, 0.0, item.cosine)
    return found


def compute_parts(found: Mapping[int, ScoredEntry], semantic: SemanticIndex | None) -> dict[int, dict[str, float]]:
    """Return the parts of each entry's score that need no text; in a conversation also its neighbours' cosines."""
    parts = scale_parts(found.values())
    in_threads = [no for no, item in found.items() if item.thread is not None]
    if semantic is None or not in_threads:
        return parts
    low, spread = measure_cosine_range(found.values())
    neighbours = semantic.find_neighbours(in_threads)
    cosines = semantic.get_cosines({other for pair in neighbours.values() for other in pair if other is not None})
    for no, pair in neighbours.items():
        for name, next_to in zip(("meaning_before", "meaning_after"), pair, strict=True):
            if next_to is not None:
                parts[no][name] = min(1.0, max(0.0, (cosines.get(next_to, low) - low) / spread))
    return parts


def fetch_best(
    index: Transaction,
    found: Mapping[int, ScoredEntry],
    parts: Mapping[int, Mapping[str, float]],
    question: RecallQuery,
    has_vectors: bool,
) -> tuple[list[EntryCandidate], list[EntryCandidate]]:
    """Return the best candidates read in full: those that may be shown, and those hidden by their status.

    What the question does not allow is in neither list.
    """
    lone_weights, thread_weights = (LONE_ROUGH, CONVERSATION) if has_vectors else (WORDS_ONLY, WORDS_ONLY)
    rough = {
        no: sum_weighted(parts[no], lone_weights if item.thread is None else thread_weights)
        for no, item in found.items()
    }
    if has_vectors:
        rough |= {no: score_roughly(parts[no], item.thread) for no, item in found.items() if item.cosine is None}
    cut, bar, limit = 0.0, 0.0, max(_MIN_FETCHED, 2 * question.limit)
    if len(rough) > limit and question.sort == "score" and not has_filters(question):
        cut = sorted(rough.values(), reverse=True)[limit - 1]  # equals of the last one are in: order is no accident
        bar = sorted([item.words for item in found.values()], reverse=True)[_BEST_BY_WORDS]
    # Those that the words clearly put first are in, whatever meaning says: it knows nothing of most identifiers.
    fetched = index.candidates([no for no, value in rough.items() if value >= cut or found[no].words > bar])
    visible: list[EntryCandidate] = []
    hidden: list[EntryCandidate] = []
    for item in fetched:
        if is_allowed(item, question):
            (hidden if is_hidden(item, question) else visible).append(item)
    return visible, hidden


def add_coverage(
    semantic: SemanticIndex,
    parsed: ParsedQuery,
    candidates: Sequence[EntryCandidate],
    parts: Mapping[int, dict[str, float]],
) -> None:
    """Add to the parts of each lone note how much of the question it says in other words, alone and together."""
    lone = [item for item in candidates if item.recorded.entry.thread is None]
    lone.sort(key=lambda item: -score_roughly(parts[item.no], None))
    del lone[_MAX_COVERAGE_TEXTS:]
    passages = [cut_passage(item.recorded.entry.text, parsed.terms) for item in lone]
    _add_passage_cosines(semantic, lone, passages, parts)
    texts = [
        " ".join([item.name, *item.recorded.entry.tags, *(item.row.tags if item.row else ()), text])
        for item, text in zip(lone, passages, strict=True)
    ]
    coverage = semantic.score_coverage(parsed.text, texts)
    for item, share in zip(lone, coverage.each, strict=True):
        parts[item.no] |= {"said": share, "together": coverage.together}


def _add_passage_cosines(
    semantic: SemanticIndex,
    lone: Sequence[EntryCandidate],
    passages: Sequence[str],
    parts: Mapping[int, dict[str, float]],
) -> None:
    """Raise the cosine of long notes to that of the passage shown: the vector of a long note mixes many topics."""
    cut = [(item.no, text) for item, text in zip(lone, passages, strict=True) if text != item.recorded.entry.text]
    for (no, _), cosine in zip(cut, semantic.measure_nearness([text for _, text in cut]), strict=False):
        parts[no]["cosine"] = max(cosine, parts[no].get("cosine", -1.0))
