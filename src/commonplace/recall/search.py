"""Answer a recall query: find candidates, score them, put corrections first, and count what was left out and why.

The words and the vectors each find a few hundred entries by number alone. Those get a rough score; only the best are
read in full and scored by their text. The verbs call `search_entries`; a hook calls `search_indexed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import EntryCandidate, EntryFilter, Index, Readable, Transaction
from commonplace.model.errors import DiskFull, EmbedderError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space
from commonplace.recall.candidates import (
    HIDDEN_STATUSES,
    LIMIT_GROWTH,
    MIN_SOURCE_LIMIT,
    NO_LIMIT,
    add_coverage,
    add_semantic_matches,
    choose_source_limit,
    compute_parts,
    fetch_best,
    has_filters,
    is_allowed,
    is_by_time_and_author,
    is_hidden,
    make_time_key,
    search_words,
)
from commonplace.recall.corrections import (
    MAX_COMPARED,
    NoteComparison,
    assume_likeness,
    find_corrections,
    find_moved_up,
    find_sharing_rare_words,
    pick_leading,
    put_corrections_first,
    put_named_first,
)
from commonplace.recall.fusion import ScoredEntry, cut_passage, estimate_hit_tokens
from commonplace.recall.query import MAX_COUNTED, ParsedQuery, RecallQuery, is_journal, parse_query
from commonplace.recall.ranking import ScoredCandidate, is_all_literals, put_copies_last, score_candidates
from commonplace.text.words import query_terms

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

_MAX_SIMILAR = 4  # similar entries read for each of the first hits
_MAX_NEAREST = 3  # memories named if nothing answers
_MIN_NEAREST = 0.2  # relevance of each of them
_MAX_EMBED_SECONDS = 1.0  # that a question spends on embedding entries without a vector
log = Log("commonplace.recall")
UsageCounter = Callable[[Sequence[str]], Mapping[str, int]]
SupersededTest = Callable[[EntryCandidate, str], bool]
"""Whether the memory of a candidate was superseded at a moment."""
Scorer = Callable[..., list[ScoredCandidate]]
"""What gives candidates their scores."""


class SearchResult(NamedTuple):
    """The hits of one query, how many entries matched, and what was not shown."""

    hits: list[ScoredCandidate]
    total: int  # how many matched, shown or not; counted to a thousand
    hidden: Mapping[str, int]
    nearest: Sequence[ScoredCandidate] = ()  # without hits: the best of what is below the floor
    notice: str = ""  # what was not searched by meaning


def _is_never_superseded(_: EntryCandidate, __: str) -> bool:
    """Return False: the default for callers that never ask about the past."""
    return False


def search_entries(
    index: Index,
    space: Space,
    question: RecallQuery,
    *,
    now: str,
    uses: UsageCounter,
    semantic: SemanticIndex | None = None,
    is_superseded: SupersededTest = _is_never_superseded,
) -> SearchResult:
    """Return the best entries for a question, best first; without words in the question, all of them by time.

    Entries that are not in the index yet are indexed, and embedded, first.
    """
    if not question.folders:
        return SearchResult([], 0, {})
    if not question.query.strip():
        with index.reading(space) as reading:
            return _list_latest(reading, question, uses, is_superseded)
    if question.mode != "semantic":
        index_pending(index, space)
    notice = _embed_pending(index, space, question, now, semantic) if semantic is not None else ""
    answer = search_indexed(index, space, question, now=now, uses=uses, semantic=semantic, is_superseded=is_superseded)
    return answer._replace(notice=notice) if notice else answer


def search_indexed(
    index: Readable,
    space: Space,
    question: RecallQuery,
    *,
    now: str,
    uses: UsageCounter,
    semantic: SemanticIndex | None = None,
    is_superseded: SupersededTest = _is_never_superseded,
) -> SearchResult:
    """Return the best entries for a question from what is already in the index. Writes nothing."""
    with index.reading(space) as reading:
        parsed = parse_query(question.query, reading.authors(), now)
        if not parsed.terms:
            return SearchResult([], 0, {})
        if parsed.is_vague:
            then = _list_latest(reading, question, uses, is_superseded, parsed)
            if then.hits or not parsed.is_dated:  # else there may be notes that only name that time
                return then
        word_matches = search_words(reading, parsed, question) if question.mode != "semantic" else []
        found = add_semantic_matches(word_matches, parsed, question, semantic)
        parts = compute_parts(found, semantic)
        candidates, hidden_candidates = fetch_best(reading, found, parts, question, semantic is not None)
        if semantic is not None:
            add_coverage(semantic, parsed, [*candidates, *hidden_candidates], parts)
        candidates = _set_past_status(candidates, question, is_superseded)
        # With filters, all that the words find was looked at, and what is scored is all that matches.
        cut = len(word_matches) >= choose_source_limit(question) and not has_filters(question)
        counted = question.mode != "semantic" and cut
        matched = reading.count_matches(parsed.terms, question.folders, MAX_COUNTED) if counted else 0
    used = uses([candidate.row.id for candidate in candidates if candidate.row is not None])
    quotes = bool(parsed.terms.all_of) or is_all_literals(parsed)  # what must occur as it is
    is_unfamiliar = semantic is not None and not quotes and semantic.is_unfamiliar(parsed.text)
    scorer = partial(
        score_candidates,
        parts=parts,
        parsed=parsed,
        folders=question.folders,
        uses=used,
        now=now,
        has_vectors=semantic is not None,
        is_unfamiliar=is_unfamiliar,
    )
    scored, hidden = _score_visible(candidates, hidden_candidates, scorer)
    nearest = _pick_nearest(scorer(candidates, floor=False)) if not scored and not quotes and not is_unfamiliar else ()
    if parsed.span is None:  # a question about a time wants what was true then
        near = partial(_fetch_similar, index, space, question, semantic, {} if quotes else found, parts, is_superseded)
        comparison = NoteComparison(
            semantic.measure_likeness if semantic is not None and not is_unfamiliar else assume_likeness, parsed.text
        )
        scored = _reorder_hits(scored, near, comparison, scorer)
    if question.sort == "recency":
        scored.sort(key=lambda item: make_time_key(item.candidate), reverse=True)
    elif question.sort == "usage":
        scored.sort(key=lambda item: -used.get(item.candidate.row.id if item.candidate.row else "", 0))
    else:
        scored = put_copies_last(scored, question.limit)
    shown = _cut_to_budget(scored[: question.limit], question)
    return SearchResult(shown, max(len(scored), matched) if scored else 0, dict(hidden), nearest)


def _score_visible(
    candidates: Sequence[EntryCandidate], hidden_candidates: Sequence[EntryCandidate], scorer: Scorer
) -> tuple[list[ScoredCandidate], Counter[str]]:
    """Return the scored candidates that may be shown, and how many of the others each hidden status has."""
    everything = scorer([*candidates, *hidden_candidates])
    hidden_numbers = frozenset(item.no for item in hidden_candidates)
    rows = [item.candidate.row for item in everything if item.candidate.no in hidden_numbers]
    hidden = Counter(row.status for row in rows if row is not None)
    return [item for item in everything if item.candidate.no not in hidden_numbers], hidden


def _pick_nearest(scored: Sequence[ScoredCandidate]) -> Sequence[ScoredCandidate]:
    """Return the best entry of each of a few memories, although all of them are below the threshold."""
    best: dict[tuple[str, str], ScoredCandidate] = {}
    for item in scored:
        if item.parts["relevance"] >= _MIN_NEAREST:
            best.setdefault((item.candidate.folder, item.candidate.name), item)
    return tuple(best.values())[:_MAX_NEAREST]


def _reorder_hits(
    scored: list[ScoredCandidate],
    near: Callable[[Sequence[EntryCandidate], Set[int], NoteComparison], Sequence[EntryCandidate]],
    comparison: NoteComparison,
    scorer: Scorer,
) -> list[ScoredCandidate]:
    """Return the hits with corrections before what they correct, and with what the question names before its likes.

    A correction is added even if it does not answer the question by itself.
    """
    hits = [item.candidate for item in scored]
    comparison.scores |= {item.candidate.no: item.score for item in scored}
    first = pick_leading(hits)
    if not first:
        return scored
    known = frozenset(hit.no for hit in hits)
    brought = find_corrections(first, near(first, known, comparison), comparison)
    more = scorer(brought, floor=False) if brought else []
    items = {item.candidate.no: item for item in (*scored, *more)}
    given = [*hits[:MAX_COMPARED], *(item.candidate for item in more)]
    newer = put_corrections_first(given, comparison)
    order = put_named_first([*newer, *hits[MAX_COMPARED:]], comparison)
    for name, numbers in (
        ("corrects", find_moved_up(given, newer)),
        ("named", find_moved_up([*newer, *hits[MAX_COMPARED:]], order)),
    ):
        for no in numbers:
            items[no] = items[no]._replace(parts={**items[no].parts, name: 1.0})
    return [items[hit.no] for hit in order]


def _fetch_similar(
    index: Readable,
    space: Space,
    question: RecallQuery,
    semantic: SemanticIndex | None,
    found: Mapping[int, ScoredEntry],
    parts: dict[int, dict[str, float]],
    is_superseded: SupersededTest,
    hits: Sequence[EntryCandidate],
    known: Set[int],
    comparison: NoteComparison,
) -> list[EntryCandidate]:
    """Return further candidates close to some hits: entries with nearly the same meaning, and entries that share a rare
    word with the first hit. Entries in `known`, and those the question does not allow, are left out.
    """
    if not found or semantic is None:
        return []
    numbers = [hit.no for hit in hits]
    lone = [no for no, item in found.items() if item.thread is None and no not in numbers]
    with index.reading(space) as reading:
        same = find_sharing_rare_words(hits[0], reading.find_word)
        comparison.shared_rare_words |= {(no, numbers[0]): words for no, words in same.items()}
        for no, cosine in semantic.get_cosines(same.keys() - parts.keys()).items():
            parts[no] = {"words": 0.0, "meaning": 0.0, "cosine": cosine}
        alike = semantic.find_alike(numbers, lone, _MAX_SIMILAR)
        fetched = reading.candidates(sorted({*alike, *(same.keys() & parts.keys())} - known))
    shown = [item for item in fetched if is_allowed(item, question) and not is_hidden(item, question)]
    return _set_past_status(shown, question, is_superseded)


def _set_past_status(
    items: Sequence[EntryCandidate], question: RecallQuery, is_superseded: SupersededTest
) -> list[EntryCandidate]:
    """Return the candidates with the status they had at `as_of`, where they are superseded or gone today."""
    moment = question.as_of
    if moment is None:
        return list(items)
    return [
        item._replace(then="superseded" if is_superseded(item, moment) else "active")
        if item.row is None or item.row.status == "superseded"
        else item
        for item in items
    ]


def _list_latest(
    index: Transaction,
    question: RecallQuery,
    uses: UsageCounter,
    is_superseded: SupersededTest,
    parsed: ParsedQuery | None = None,
) -> SearchResult:
    """Return the newest (or most used) entries that fit the filters, for a question without words to search."""
    limit = MIN_SOURCE_LIMIT if question.sort != "usage" else NO_LIMIT
    while True:
        found = index.latest_entries(limit)
        fitting = [
            item
            for item in found
            if is_allowed(item, question) and (parsed is None or is_by_time_and_author(item, parsed))
        ]
        allowed = [item for item in fitting if not is_hidden(item, question)]
        if len(found) < limit or limit >= NO_LIMIT or len(allowed) >= question.limit:
            break
        limit *= LIMIT_GROWTH
    hidden = Counter(item.row.status for item in fitting if is_hidden(item, question) and item.row is not None)
    scored = [ScoredCandidate(candidate, 0.0, {}) for candidate in allowed]
    if question.sort == "usage":
        counts = uses([item.row.id for item in allowed if item.row is not None])
        scored.sort(key=lambda item: -counts.get(item.candidate.row.id if item.candidate.row else "", 0))
    else:
        scored.sort(key=lambda item: make_time_key(item.candidate), reverse=True)
    shown = _cut_to_budget(scored[: question.limit], question)
    then = _set_past_status([item.candidate for item in shown], question, is_superseded)
    total = len(scored)
    if len(found) == limit:  # there may be more than were looked at
        total = max(total, index.count_entries(_make_count_filter(question, parsed), MAX_COUNTED))
    return SearchResult([ScoredCandidate(candidate, 0.0, {}) for candidate in then], total, dict(hidden))


def _make_count_filter(question: RecallQuery, parsed: ParsedQuery | None) -> EntryFilter:
    """Return the filter of `_list_latest` in the form in which the index counts entries."""
    span = parsed.span if parsed is not None else None
    return EntryFilter(
        # the journal has no types
        [folder for folder in question.folders if question.type is None or not is_journal(folder)],
        [status for status in HIDDEN_STATUSES if status != "expired" or not (question.expired or question.as_of)],
        question.type or "", question.tags, question.session, [*parsed.authors] if parsed is not None else [],
        max(question.since or "", span.start if span is not None else ""), question.until or "",
        span.end if span is not None else "", question.as_of or "",
    )  # fmt: skip


def index_pending(index: Index, space: Space) -> None:
    """Index the words of the entries stored last. On a full disk, log a warning and go on with the old index."""
    with index.reading(space) as reading:
        if not reading.has_unfilled():
            return
    try:
        with index.transaction(space) as writing:
            writing.fill_words()
    except DiskFull as error:
        log.warning("event=words_wait code=%s", error.code)


def _embed_pending(index: Index, space: Space, question: RecallQuery, now: str, semantic: SemanticIndex) -> str:
    """Embed the entries stored last, within a time limit for slow embedders; return a notice about those still left."""
    if not semantic.is_quick:
        with index.reading(space) as reading:
            parsed = parse_query(question.query, reading.authors(), now)
        if not parsed.terms or (parsed.is_vague and not parsed.is_dated):
            return ""
        semantic.embed_question(parsed.text)  # before anything else: who cannot do this need not be waited for
    why = ""
    try:
        semantic.embed_pending(None if semantic.is_quick else _MAX_EMBED_SECONDS)
    except (DiskFull, EmbedderError) as error:
        log.warning("event=vectors_wait code=%s", error.code)
        why = f" {error.message}"
    if not semantic.waiting:
        return ""
    return (
        f"{semantic.waiting:,} of {semantic.total:,} entries are not embedded yet, and were judged by words alone.{why}"
        " Each question goes on with it; `commonplace reindex --vectors` does the rest at once."
    )


def _cut_to_budget(scored: list[ScoredCandidate], question: RecallQuery) -> list[ScoredCandidate]:
    """Return as many hits as the token budget has room for, by what is shown of each; at least the first."""
    if question.budget_tokens is None:
        return scored
    terms, shown, spent = query_terms(question.query), 0, 0
    for item in scored:
        spent += estimate_hit_tokens(cut_passage(item.candidate.recorded.entry.text, terms))
        if spent > question.budget_tokens:
            break
        shown += 1
    return scored[: max(shown, 1)]
