"""Answer a recall query: find candidates, score them, mark what is strong and what a later memory may contradict.

The words and the vectors each find a few hundred entries by number alone. Those get a rough score; only the best are
read in full and scored by their text. The verbs call `prepare_search` and then
`search_indexed`; a hook has no time for the first.

One failure is one hit. A task that failed, or was fixed, stands in the failure file of its worker, in the worker's own
file and on the timeline of the journal. The entry in the failure file says most; the others are left out. Entries about
one task have one id but for its kind; the link at the end of an entry, to the file with all of it, names the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import Index, Readable, Transaction
from commonplace.index.values import EntryCandidate, EntryFilter
from commonplace.model.errors import EmbedderError, StorageError
from commonplace.model.lazy import Log, lazy
from commonplace.model.scope import Space
from commonplace.recall.candidates import (
    FOUND,
    NO_LIMIT,
    cut_passage,
    estimate_hit_tokens,
    find_entries,
    get_memory_id,
    has_other_filters,
    is_allowed,
    is_hidden,
    list_hidden_statuses,
    make_time_key,
    read_best,
    window_of,
)
from commonplace.recall.later import add_later, find_linked_entries
from commonplace.recall.query import MAX_COUNTED, ParsedQuery, RecallQuery, is_journal, parse_query
from commonplace.recall.ranking import BAND, ScoredCandidate, Scorer, order_hits
from commonplace.text.words import query_terms

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

_MANY = 12_000  # of the latest entries that are looked at where the first few do not pass the filters
_MAX_EMBED_SECONDS = 1.0  # that a question spends on embedding entries without a vector
log = Log("commonplace.recall")
_TASK, _RUN, _FAILURES = "task", "run", ("failure", "fixed")  # kinds of journal entries
_LINK = lazy(r"\]\(_artifacts/([^/()\s]+)/[^/()\s]+\)$")  # to the folder of the run
UsageCounter = Callable[[Sequence[str]], Mapping[str, int]]
SupersededTest = Callable[[EntryCandidate, str], bool]
"""Whether the memory of a candidate was superseded at a moment."""


class SearchResult(NamedTuple):
    """The hits of one query, how many entries matched, and what was not shown."""

    hits: list[ScoredCandidate]
    total: int  # how many matched, shown or not; counted to a thousand
    hidden: Mapping[str, int]
    notice: str = ""  # what was not searched by meaning


def prepare_search(index: Index, space: Space, question: RecallQuery, semantic: SemanticIndex | None = None) -> str:
    """Index the entries that are not in the index yet, and embed them; return a notice about those still left.

    Slow embedders get a limited time.
    """
    if not (question.folders and question.query.strip()):
        return ""
    if question.mode != "semantic":
        index_pending(index, space)
    if semantic is None:
        return ""
    semantic.embed_question(" ".join(question.query.split()))  # who cannot do this need not be waited for
    why = ""
    try:
        semantic.embed_pending(_MAX_EMBED_SECONDS)
    except (StorageError, EmbedderError) as error:
        log.warning("event=vectors_wait code=%s", error.code)
        why = f" {error.message}"
    if not semantic.waiting:
        return ""
    return (
        f"{semantic.waiting:,} of {semantic.total:,} entries are not embedded yet and were matched by words alone.{why}"
        " Each question embeds more of them; `commonplace doctor reindex --vectors` embeds the rest now."
    )


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
        parsed = parse_query(question.query, reading.authors_named, now)
        if parsed.is_vague:
            then = _list_latest(reading, question, parsed, uses, is_superseded)
            if then.hits or not parsed.terms:  # else there may be notes that only name that time
                return then
        if not parsed.terms:
            return SearchResult([], 0, {})
        vectors = semantic.compare_entries(reading, parsed) if semantic is not None else None
        for limit in (FOUND, NO_LIMIT):  # a filter may leave out all that was found first
            found = find_entries(reading, parsed, question, vectors, limit)
            scorer = Scorer(found, parsed, vectors, question.folders)
            candidates = read_best(reading, found, scorer.score_roughly(), question)
            if len(candidates) >= question.limit or not has_other_filters(question):
                break
        matching = sum(found[item.no].words > 0 for item in candidates)
        if not (question.is_quick or has_other_filters(question)):
            matching = reading.count_matches(parsed.terms._replace(all_of=()), window_of(question), MAX_COUNTED)
        candidates = [_set_past_status(item, question, is_superseded) for item in candidates]
        # By meaning anything is a candidate: only what has words of the question is said to be missing.
        hidden = Counter(item.status for item in candidates if is_hidden(item, question) and found[item.no].words > 0)
        candidates = [item for item in candidates if not is_hidden(item, question)]
        used = uses([*map(get_memory_id, candidates)])
        scored = _drop_repeated_failures(scorer.score(candidates, used))
        hits = order_hits(scored, wants_identifier=bool(parsed.identifiers))
        if question.strong:
            hits = [hit for hit in hits if hit.is_strong]
        matching = len(hits) if question.strong else matching - hidden.total()
        if question.sort != "score":  # only what has words of the question: else the latest of all would come first
            hits = [hit for hit in hits if found[hit.candidate.no].words > 0] or hits[: question.limit]
            hits.sort(key=lambda hit: _make_sort_key(hit.candidate, question, used), reverse=True)
        shown = hits[: question.limit]
        if question.names_later:
            linked = find_linked_entries(reading, [hit.candidate for hit in shown], question.folders)
            candidates += [
                _set_past_status(item, question, is_superseded)
                for item in linked
                if is_allowed(item, question) and not is_hidden(item, question)
            ]
            named = {hit.candidate.no: hit for hit in add_later(hits, question.limit, candidates, vectors)}
            places = named if question.sort == "score" else [hit.candidate.no for hit in shown]
            shown = [named[no] for no in places][: question.limit]
    shown = _cut_to_budget(shown, question)
    return SearchResult(shown, max(len(shown), matching), hidden)


def _set_past_status(item: EntryCandidate, question: RecallQuery, is_superseded: SupersededTest) -> EntryCandidate:
    """Return a candidate with the status it had at `as_of`, where it is superseded or gone today."""
    if question.as_of is None or (item.row is not None and item.row.status != "superseded"):
        return item
    return item._replace(then="superseded" if is_superseded(item, question.as_of) else "active")


def _list_latest(
    index: Transaction,
    question: RecallQuery,
    parsed: ParsedQuery,
    uses: UsageCounter,
    is_superseded: SupersededTest,
) -> SearchResult:
    """Return the newest (or most used) entries that fit the filters, for a question without words to search."""
    if parsed.span is not None:  # up to the last moment before its end: without the Z, the end is less than itself
        since, until = max(question.since or "", parsed.span.start), parsed.span.end.rstrip("Z")
        question = question._replace(since=since, until=min(question.until or until, until))
    for limit in (FOUND, _MANY, NO_LIMIT):
        found = index.latest_entries(limit)
        fitting = [item for item in found if is_allowed(item, question)]
        if parsed.authors:
            fitting = [item for item in fitting if item.entry.author in parsed.authors]
        allowed = _drop_repeated_tasks([item for item in fitting if not is_hidden(item, question)])
        allowed = _take_once(allowed) if question.replaced else allowed
        if len(found) < limit or (len(allowed) >= question.limit and question.sort != "usage"):
            break
    hidden = Counter(item.status for item in fitting if is_hidden(item, question))
    used = uses([*map(get_memory_id, allowed)]) if question.sort == "usage" else {}
    allowed.sort(key=lambda item: _make_sort_key(item, question, used), reverse=True)
    then = [_set_past_status(item, question, is_superseded) for item in allowed[: question.limit]]
    shown = _cut_to_budget([ScoredCandidate(item, 0.0, {}) for item in then], question)
    total = len(allowed)
    if len(found) == limit:  # there may be more than were looked at
        # the journal has no types
        folders = [folder for folder in question.folders if question.type is None or not is_journal(folder)]
        wanted = EntryFilter(
            folders, list_hidden_statuses(question), question.type or "", question.tags, question.session,
            [*parsed.authors], question.since or "", question.until or "", question.as_of or "",
        )  # fmt: skip
        total = max(total, index.count_entries(wanted, MAX_COUNTED))
    return SearchResult(shown, total, hidden)


def _make_sort_key(item: EntryCandidate, question: RecallQuery, used: Mapping[str, int]) -> tuple[int, tuple[str, str]]:
    """Return the key that puts the latest last, or those of the most used memories."""
    return used.get(get_memory_id(item), 0) if question.sort == "usage" else 0, make_time_key(item)


def _take_once(items: Iterable[EntryCandidate]) -> list[EntryCandidate]:
    """Return each entry once, as it is now if it is still said; one that was replaced has that for its status."""
    said: dict[tuple[str, str, str], EntryCandidate] = {}
    for item in sorted(items, key=lambda item: item.end is None):
        place = item.folder, item.name, item.entry.id
        said[place] = item if item.end is None else item._replace(then="replaced")
    return [*said.values()]


def index_pending(index: Index, space: Space) -> None:
    """Index the words of the entries stored last. Where that cannot be done now, go on with the words there are."""
    with index.reading(space) as reading:
        if not reading.has_unfilled():
            return
    try:
        index.refresh(space, lambda writing: writing.fill_words())
    except StorageError as error:
        log.warning("event=words_wait code=%s", error.code)


def _cut_to_budget(scored: list[ScoredCandidate], question: RecallQuery) -> list[ScoredCandidate]:
    """Return as many hits as the token budget has room for, by what is shown of each; at least the first."""
    if question.budget_tokens is None:
        return scored
    terms, budget = query_terms(question.query), question.budget_tokens
    costs = [estimate_hit_tokens(cut_passage(item.candidate.entry.text, terms)) for item in scored]
    shown = sum(spent <= budget for spent in accumulate(costs))
    return scored[: max(shown, 1)]


def _drop_repeated_tasks(items: Sequence[EntryCandidate]) -> list[EntryCandidate]:
    """Return a list of what happened without the entries of tasks that an entry of a failure file is about."""
    told = {ident for kind, ident in map(_split_entry_id, items) if kind in _FAILURES}
    return [item for item in items if not ((found := _split_entry_id(item))[0] == _TASK and found[1] in told)]


def _drop_repeated_failures(items: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Return hits, best first, with one for each failure: the entry of the failure file, or that of the whole run.

    A question about the goal of a run matches the run clearly better than its failures: then the run tells them.
    """
    kept = {item.no for item in _drop_repeated_tasks([item.candidate for item in items])}
    telling = sorted(items, key=lambda item: item.score * (1 - BAND * (not _find_run(item.candidate)[1])))
    told = dict(_find_run(item.candidate) for item in telling).items()  # of each run, whether its failures tell it
    return [item for item in items if item.candidate.no in kept and _find_run(item.candidate) in told]


def _find_run(candidate: EntryCandidate) -> tuple[str, bool]:
    """Return the run that an entry tells, or else the entry itself, and whether it only tells a failure in it."""
    entry, kind = candidate.entry, _split_entry_id(candidate)[0]
    is_failure = kind in _FAILURES or (kind == _TASK and "failed" in entry.tags)
    link = _LINK.search(entry.text) if is_failure or kind == _RUN else None
    return f"{candidate.folder}/{link[1] if link is not None else entry.id}", is_failure


def _split_entry_id(candidate: EntryCandidate) -> tuple[str, str]:
    """Return of what kind a journal entry is, and the id of its task or run; empty texts for any other entry."""
    kind, _, ident = candidate.entry.id.partition("-")
    return (kind, ident) if is_journal(candidate.folder) else ("", "")
