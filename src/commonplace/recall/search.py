"""Answer a recall query: find candidates, score them, put corrections first, and count what was left out and why.

The words and the vectors each find a few hundred entries by number alone. Those get a rough score; only the best are
read in full and scored by their text. The verbs call `search_entries`; a hook calls `search_indexed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import EntryCandidate, EntryFilter, Index, Readable, Transaction
from commonplace.model.errors import EmbedderError, StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space
from commonplace.recall.candidates import (
    LIMIT_GROWTH,
    MIN_SOURCE_LIMIT,
    NO_LIMIT,
    ScoredEntry,
    add_coverage,
    add_semantic_matches,
    choose_source_limit,
    compute_parts,
    cut_passage,
    estimate_hit_tokens,
    fetch_best,
    get_memory_id,
    has_filters,
    is_allowed,
    is_by_time_and_author,
    is_hidden,
    list_hidden_statuses,
    make_time_key,
    search_words,
)
from commonplace.recall.corrections import (
    MAX_COMPARED,
    NoteComparison,
    find_corrections,
    find_sharing_rare_words,
    move_up,
    pick_leading,
)
from commonplace.recall.journal_hits import drop_repeated_failures, drop_repeated_tasks
from commonplace.recall.query import (
    MAX_COUNTED,
    ParsedQuery,
    RecallQuery,
    is_journal,
    is_unfamiliar_script,
    parse_query,
)
from commonplace.recall.ranking import ScoredCandidate, is_all_literals, put_copies_last, score_candidates
from commonplace.text.words import query_terms

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex
    from commonplace.recall.vectors import EntryVectors

_MAX_SIMILAR = 4  # similar entries read for each of the first hits
_MAX_NEAREST = 3  # memories named if nothing answers
_MIN_NEAREST = 0.2  # relevance of each of them
_MAX_EMBED_SECONDS = 1.0  # that a question spends on embedding entries without a vector
log = Log("commonplace.recall")
UsageCounter = Callable[[Sequence[str]], Mapping[str, int]]
SupersededTest = Callable[[EntryCandidate, str], bool]
"""Whether the memory of a candidate was superseded at a moment."""


class SearchResult(NamedTuple):
    """The hits of one query, how many entries matched, and what was not shown."""

    hits: list[ScoredCandidate]
    total: int  # how many matched, shown or not; counted to a thousand
    hidden: Mapping[str, int]
    nearest: Sequence[ScoredCandidate] = ()  # without hits: the best of what is below the floor
    notice: str = ""  # what was not searched by meaning


def search_entries(
    index: Index,
    space: Space,
    question: RecallQuery,
    *,
    now: str,
    uses: UsageCounter,
    semantic: SemanticIndex | None,
    is_superseded: SupersededTest,
) -> SearchResult:
    """Return the best entries for a question, best first; without words in the question, all of them by time.

    Entries that are not in the index yet are indexed, and embedded, first.
    """
    if not question.folders:
        return SearchResult([], 0, {})
    if not question.query.strip():
        with index.reading(space) as reading:
            return _list_latest(reading, question, parse_query("", (), now), uses, is_superseded)
    if question.mode != "semantic":
        index_pending(index, space)
    notice = _embed_pending(index, space, question, now, semantic) if semantic is not None else ""
    answer = search_indexed(index, space, question, now=now, uses=uses, semantic=semantic, is_superseded=is_superseded)
    return answer._replace(notice=notice)


def search_indexed(
    index: Readable,
    space: Space,
    question: RecallQuery,
    *,
    now: str,
    uses: UsageCounter,
    semantic: SemanticIndex | None = None,
    is_superseded: SupersededTest = lambda _candidate, _moment: False,
) -> SearchResult:
    """Return the best entries for a question from what is already in the index. Writes nothing."""
    with index.reading(space) as reading:
        parsed = parse_query(question.query, reading.authors(), now)
        if not parsed.terms:
            return SearchResult([], 0, {})
        if parsed.is_vague:
            then = _list_latest(reading, question, parsed, uses, is_superseded)
            if then.hits or not parsed.is_dated:  # else there may be notes that only name that time
                return then
        word_matches = search_words(reading, parsed, question) if question.mode != "semantic" else []
        talk = parsed.for_conversations.text
        vectors = semantic.compare_entries(reading, parsed.text, talk) if semantic is not None else None
        found = add_semantic_matches(word_matches, parsed, question, vectors)
        parts = compute_parts(found, parsed, vectors)
        candidates = fetch_best(reading, found, parts, question)
        if vectors is not None:
            add_coverage(vectors, parsed, candidates, parts)
        candidates = _set_past_status(candidates, question, is_superseded)
        # With filters, all that the words find was looked at, and what is scored is all that matches.
        is_cut = len(word_matches) >= choose_source_limit(question) and not has_filters(question)
        matched = reading.count_matches(parsed.terms, question.folders, MAX_COUNTED) if is_cut else 0
    used = uses([*map(get_memory_id, candidates)])
    quotes = bool(parsed.terms.all_of) or is_all_literals(parsed)  # what must occur as it is
    is_unfamiliar = semantic is not None and semantic.is_quick and not quotes and is_unfamiliar_script(parsed.text)
    scorer = partial(
        score_candidates,
        parts=parts,
        parsed=parsed,
        folders=question.folders,
        uses=used,
        now=now,
        has_vectors=vectors is not None,
        is_unfamiliar=is_unfamiliar,
    )
    everything = scorer(candidates)
    scored = [item for item in everything if not is_hidden(item.candidate, question)]
    scored = drop_repeated_failures(scored)
    hidden = Counter(item.candidate.status for item in everything if is_hidden(item.candidate, question))
    nearest: Sequence[ScoredCandidate] = ()
    if not scored and not quotes and not is_unfamiliar:
        nearest = _pick_nearest(scorer([item for item in candidates if not is_hidden(item, question)], floor=False))
    leading = pick_leading([item.candidate for item in scored])
    if leading and parsed.span is None:  # a question about a time wants what was true then
        scores = {item.candidate.no: item.score for item in scored}
        comparison = NoteComparison(None if is_unfamiliar else vectors, parsed.text, scores)
        similar: Sequence[EntryCandidate] = ()
        if vectors is not None and not quotes:
            with index.reading(space) as reading:
                similar = _fetch_similar(reading, vectors, found, parts, leading, comparison)
            similar = [item for item in similar if is_allowed(item, question) and not is_hidden(item, question)]
        brought = find_corrections(leading, _set_past_status(similar, question, is_superseded), comparison)
        scored = _reorder_hits(scored, scorer(brought, floor=False), comparison)
    if question.sort == "recency":
        scored.sort(key=lambda item: make_time_key(item.candidate), reverse=True)
    elif question.sort == "usage":
        scored.sort(key=lambda item: -used.get(get_memory_id(item.candidate), 0))
    else:
        scored = put_copies_last(scored, question.limit)
    shown = _cut_to_budget(scored[: question.limit], question)
    return SearchResult(shown, max(len(scored), matched) if scored else 0, dict(hidden), nearest)


def _pick_nearest(scored: Sequence[ScoredCandidate]) -> Sequence[ScoredCandidate]:
    """Return the best entry of each of a few memories, although all of them are below the threshold."""
    best: dict[tuple[str, str], ScoredCandidate] = {}
    for item in scored:
        if item.parts["relevance"] >= _MIN_NEAREST:
            best.setdefault((item.candidate.folder, item.candidate.name), item)
    return tuple(best.values())[:_MAX_NEAREST]


def _reorder_hits(
    scored: Sequence[ScoredCandidate], brought: Sequence[ScoredCandidate], comparison: NoteComparison
) -> list[ScoredCandidate]:
    """Return the hits with corrections before what they correct, and with what the question names before its likes.

    The corrections that were brought are added even if they do not answer the question by themselves.
    """
    hits = [item.candidate for item in scored]
    items = {item.candidate.no: item for item in (*scored, *brought)}
    given = [*hits[:MAX_COMPARED], *(item.candidate for item in brought)]
    newer, correcting = move_up(given, comparison.score_correction)
    order, named = move_up([*newer, *hits[MAX_COMPARED:]], comparison.is_preferred)
    for name, numbers in (("corrects", correcting), ("named", named)):
        for no in numbers:
            items[no] = items[no]._replace(parts={**items[no].parts, name: 1.0})
    return [items[hit.no] for hit in order]


def _fetch_similar(
    reading: Transaction,
    vectors: EntryVectors,
    found: Mapping[int, ScoredEntry],
    parts: dict[int, dict[str, float]],
    hits: Sequence[EntryCandidate],
    comparison: NoteComparison,
) -> Sequence[EntryCandidate]:
    """Return further candidates close to some hits: entries with nearly the same meaning, and entries that share a rare
    word with the first hit. Entries that answer by themselves are left out.
    """
    numbers = [hit.no for hit in hits]
    lone = [no for no, item in found.items() if item.thread is None and no not in numbers]
    same = find_sharing_rare_words(hits[0], reading.find_word)
    comparison.shared_rare_words |= {(no, numbers[0]): words for no, words in same.items()}
    for no, cosine in vectors.get_cosines(same.keys() - parts.keys()).items():
        parts[no] = {"words": 0.0, "meaning": 0.0, "cosine": cosine}
    alike = vectors.find_alike(numbers, lone, _MAX_SIMILAR)
    return reading.candidates(sorted({*alike, *(same.keys() & parts.keys())} - comparison.scores.keys()))


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
    parsed: ParsedQuery,
    uses: UsageCounter,
    is_superseded: SupersededTest,
) -> SearchResult:
    """Return the newest (or most used) entries that fit the filters, for a question without words to search."""
    limit = MIN_SOURCE_LIMIT if question.sort != "usage" else NO_LIMIT
    while True:
        found = index.latest_entries(limit)
        fitting = [item for item in found if is_allowed(item, question) and is_by_time_and_author(item, parsed)]
        allowed = [item for item in fitting if not is_hidden(item, question)]
        allowed = drop_repeated_tasks(allowed)
        allowed = _take_once(allowed) if question.replaced else allowed
        if len(found) < limit or limit >= NO_LIMIT or len(allowed) >= question.limit:
            break
        limit *= LIMIT_GROWTH
    hidden = Counter(item.status for item in fitting if is_hidden(item, question))
    if question.sort == "usage":
        counts = uses([*map(get_memory_id, allowed)])
        allowed.sort(key=lambda item: -counts.get(get_memory_id(item), 0))
    else:
        allowed.sort(key=make_time_key, reverse=True)
    then = _set_past_status(allowed[: question.limit], question, is_superseded)
    shown = _cut_to_budget([ScoredCandidate(item, 0.0, {}) for item in then], question)
    total = len(allowed)
    if len(found) == limit:  # there may be more than were looked at
        total = max(total, index.count_entries(_make_count_filter(question, parsed), MAX_COUNTED))
    return SearchResult(shown, total, dict(hidden))


def _take_once(items: Sequence[EntryCandidate]) -> list[EntryCandidate]:
    """Return each entry once, as it is now if it is still said; one that was replaced has that for its status."""
    found: dict[tuple[str, str, str], EntryCandidate] = {}
    for item in items:
        entry = (item.folder, item.name, item.recorded.entry.id)
        if item.recorded.end is None:
            found[entry] = item
        else:
            found.setdefault(entry, item._replace(then="replaced"))
    return list(found.values())


def _make_count_filter(question: RecallQuery, parsed: ParsedQuery) -> EntryFilter:
    """Return the filter of `_list_latest` in the form in which the index counts entries."""
    start, end = parsed.span or ("", "")
    return EntryFilter(
        # the journal has no types
        [folder for folder in question.folders if question.type is None or not is_journal(folder)],
        list_hidden_statuses(question),
        question.type or "", question.tags, question.session, [*parsed.authors],
        max(question.since or "", start), question.until or "", end, question.as_of or "",
    )  # fmt: skip


def index_pending(index: Index, space: Space) -> None:
    """Index the words of the entries stored last. Where that cannot be done now, go on with the words there are."""
    with index.reading(space) as reading:
        if not reading.has_unfilled():
            return
    try:
        index.refresh(space, lambda writing: writing.fill_words())
    except StorageError as error:
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
    except (StorageError, EmbedderError) as error:
        log.warning("event=vectors_wait code=%s", error.code)
        why = f" {error.message}"
    if not semantic.waiting:
        return ""
    return (
        f"{semantic.waiting:,} of {semantic.total:,} entries are not embedded yet, and were judged by words alone.{why}"
        " Each question goes on with it; `commonplace doctor reindex --vectors` does the rest at once."
    )


def _cut_to_budget(scored: list[ScoredCandidate], question: RecallQuery) -> list[ScoredCandidate]:
    """Return as many hits as the token budget has room for, by what is shown of each; at least the first."""
    if question.budget_tokens is None:
        return scored
    terms, budget = query_terms(question.query), question.budget_tokens
    costs = [estimate_hit_tokens(cut_passage(item.candidate.recorded.entry.text, terms)) for item in scored]
    shown = sum(spent <= budget for spent in accumulate(costs))
    return scored[: max(shown, 1)]
