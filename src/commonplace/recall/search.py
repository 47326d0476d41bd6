"""From a question to candidates to an answer, and the count of what was left out and why.

Words and meaning each find a few hundred entries by number alone. Those are weighed roughly; the best are fetched
whole, and only they are looked at closely.
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
    ALL,
    EACH,
    HIDDEN,
    MORE,
    by_words,
    each,
    has_filters,
    is_allowed,
    is_hidden,
    is_of_then,
    listen,
    look_closely,
    weigh,
    when_said,
    with_meaning,
)
from commonplace.recall.corrections import (
    COMPARED,
    Comparison,
    leading,
    lifted,
    named_first,
    naming_the_same,
    newer_first,
    unheard,
    unknown,
)
from commonplace.recall.fusion import ScoredEntry, cost, passage
from commonplace.recall.query import COUNTED, ParsedQuery, RecallQuery, is_journal, parse_query
from commonplace.recall.ranking import Scored, apart, is_written, score
from commonplace.text.words import query_terms

if TYPE_CHECKING:
    from commonplace.recall.meaning import Meanings

_BESIDE_EACH = 4  # how many that are like it are looked at for each of the first hits
_NEAREST, _AT_ALL = 3, 0.2  # how many are named where nothing answers, and how much each has to have to do with it
_A_MOMENT = 1.0  # seconds that a question may spend on embedding what has no vector yet
log = Log("commonplace.recall")
Uses = Callable[[Sequence[str]], Mapping[str, int]]
Superseded = Callable[[EntryCandidate, str], bool]
"""Whether the memory of a candidate was superseded at a moment."""
Judge = Callable[..., list[Scored]]
"""What gives candidates their scores."""


class SearchResult(NamedTuple):
    hits: list[Scored]
    total: int  # how many matched, shown or not; counted to a thousand
    hidden: Mapping[str, int]
    nearest: Sequence[Scored] = ()  # without hits: the best of what is below the floor
    notice: str = ""  # what was not searched by meaning


def _never(_: EntryCandidate, __: str) -> bool:
    return False


def find(
    index: Index,
    space: Space,
    question: RecallQuery,
    *,
    now: str,
    uses: Uses,
    meanings: Meanings | None = None,
    superseded: Superseded = _never,
) -> SearchResult:
    """The best entries for a question. Without words in it: all, by time."""
    if not question.folders:
        return SearchResult([], 0, {})
    if not question.query.strip():
        with index.reading(space) as reading:
            return _latest(reading, question, uses, superseded)
    if question.mode != "semantic":
        fill(index, space)
    notice = _embed(index, space, question, now, meanings) if meanings is not None else ""
    answer = find_filled(index, space, question, now=now, uses=uses, meanings=meanings, superseded=superseded)
    return answer._replace(notice=notice) if notice else answer


def find_filled(
    index: Readable,
    space: Space,
    question: RecallQuery,
    *,
    now: str,
    uses: Uses,
    meanings: Meanings | None = None,
    superseded: Superseded = _never,
) -> SearchResult:
    """The same for a question with words in it, from what is findable already: changes nothing."""
    with index.reading(space) as reading:
        asked = parse_query(question.query, reading.authors(), now)
        if not asked.terms:
            return SearchResult([], 0, {})
        if asked.vague:
            then = _latest(reading, question, uses, superseded, asked)
            if then.hits or not asked.dated:  # else there may be notes that only name that time
                return then
        worded = by_words(reading, asked, question) if question.mode != "semantic" else []
        found = with_meaning(worded, asked, question, meanings)
        parts = weigh(found, meanings)
        candidates, unseen = look_closely(reading, found, parts, question, meanings is not None)
        if meanings is not None:
            listen(meanings, asked, [*candidates, *unseen], parts)
        candidates = _as_then(candidates, question, superseded)
        # With filters, all that the words find was looked at, and what is scored is all that matches.
        cut = len(worded) >= each(question) and not has_filters(question)
        counted = question.mode != "semantic" and cut
        matched = reading.count_matches(asked.terms, question.folders, COUNTED) if counted else 0
    used = uses([candidate.row.id for candidate in candidates if candidate.row is not None])
    quotes = bool(asked.terms.all_of) or is_written(asked)  # what must occur as it is
    spelled = meanings is not None and not quotes and meanings.only_spells(asked.text)
    judge = partial(
        score, parts=parts, asked=asked, folders=question.folders, uses=used, now=now, meaning=meanings is not None,
        spelled=spelled,
    )  # fmt: skip
    scored, hidden = _scored(candidates, unseen, judge)
    nearest = _nearest(judge(candidates, floor=False)) if not scored and not quotes and not spelled else ()
    if asked.span is None:  # who asks for a time wants what was said then
        near = partial(_near, index, space, question, meanings, {} if quotes else found, parts, superseded)
        comparison = Comparison(meanings.likeness if meanings is not None and not spelled else unknown, asked.text)
        scored = _newer_first(scored, near, comparison, judge)
    if question.sort == "recency":
        scored.sort(key=lambda item: when_said(item.candidate), reverse=True)
    elif question.sort == "usage":
        scored.sort(key=lambda item: -used.get(item.candidate.row.id if item.candidate.row else "", 0))
    else:
        scored = apart(scored, question.limit)
    shown = _within_budget(scored[: question.limit], question)
    return SearchResult(shown, max(len(scored), matched) if scored else 0, dict(hidden), nearest)


def _scored(
    candidates: Sequence[EntryCandidate], unseen: Sequence[EntryCandidate], judge: Judge
) -> tuple[list[Scored], Counter[str]]:
    """What may be shown with its scores, and how many would have been but for their status."""
    everything = judge([*candidates, *unseen])
    shut = frozenset(item.no for item in unseen)
    rows = [item.candidate.row for item in everything if item.candidate.no in shut]
    hidden = Counter(row.status for row in rows if row is not None)
    return [item for item in everything if item.candidate.no not in shut], hidden


def _nearest(scored: Sequence[Scored]) -> Sequence[Scored]:
    """The best of each of a few memories, below the floor as they are."""
    best: dict[tuple[str, str], Scored] = {}
    for item in scored:
        if item.parts["relevance"] >= _AT_ALL:
            best.setdefault((item.candidate.folder, item.candidate.name), item)
    return tuple(best.values())[:_NEAREST]


def _newer_first(
    scored: list[Scored],
    near: Callable[[Sequence[EntryCandidate], Set[int], Comparison], Sequence[EntryCandidate]],
    comparison: Comparison,
    judge: Judge,
) -> list[Scored]:
    """The same, with what was learned later before what it corrects, even if it did not answer by itself; and what the
    question names by number before what is like it."""
    hits = [item.candidate for item in scored]
    comparison.scores |= {item.candidate.no: item.score for item in scored}
    first = leading(hits)
    if not first:
        return scored
    known = frozenset(hit.no for hit in hits)
    brought = unheard(first, near(first, known, comparison), comparison)
    more = judge(brought, floor=False) if brought else []
    items = {item.candidate.no: item for item in (*scored, *more)}
    given = [*hits[:COMPARED], *(item.candidate for item in more)]
    newer = newer_first(given, comparison)
    order = named_first([*newer, *hits[COMPARED:]], comparison)
    for name, numbers in (("corrects", lifted(given, newer)), ("named", lifted([*newer, *hits[COMPARED:]], order))):
        for no in numbers:
            items[no] = items[no]._replace(parts={**items[no].parts, name: 1.0})
    return [items[hit.no] for hit in order]


def _near(
    index: Readable,
    space: Space,
    question: RecallQuery,
    meanings: Meanings | None,
    found: Mapping[int, ScoredEntry],
    parts: dict[int, dict[str, float]],
    superseded: Superseded,
    hits: Sequence[EntryCandidate],
    known: Set[int],
    comparison: Comparison,
) -> list[EntryCandidate]:
    """What was found besides some hits and means nearly the same as one of them, and what names the same rare thing as
    the first, as far as the question allows it and it is not known already."""
    if not found or meanings is None:
        return []
    numbers = [hit.no for hit in hits]
    lone = [no for no, item in found.items() if item.thread is None and no not in numbers]
    with index.reading(space) as reading:
        same = naming_the_same(hits[0], reading.find_word)
        comparison.kin |= {(no, numbers[0]): words for no, words in same.items()}
        for no, cosine in meanings.cosines(same.keys() - parts.keys()).items():
            parts[no] = {"words": 0.0, "meaning": 0.0, "cosine": cosine}
        alike = meanings.alike(numbers, lone, _BESIDE_EACH)
        fetched = reading.candidates(sorted({*alike, *(same.keys() & parts.keys())} - known))
    shown = [item for item in fetched if is_allowed(item, question) and not is_hidden(item, question)]
    return _as_then(shown, question, superseded)


def _as_then(items: Sequence[EntryCandidate], question: RecallQuery, superseded: Superseded) -> list[EntryCandidate]:
    """The same, but what is superseded today or gone has the status it had then."""
    moment = question.as_of
    if moment is None:
        return list(items)
    return [
        item._replace(then="superseded" if superseded(item, moment) else "active")
        if item.row is None or item.row.status == "superseded"
        else item
        for item in items
    ]


def _latest(
    index: Transaction, question: RecallQuery, uses: Uses, superseded: Superseded, asked: ParsedQuery | None = None
) -> SearchResult:
    limit = EACH if question.sort != "usage" else ALL
    while True:
        found = index.latest_entries(limit)
        fitting = [item for item in found if is_allowed(item, question) and (asked is None or is_of_then(item, asked))]
        allowed = [item for item in fitting if not is_hidden(item, question)]
        if len(found) < limit or limit >= ALL or len(allowed) >= question.limit:
            break
        limit *= MORE
    hidden = Counter(item.row.status for item in fitting if is_hidden(item, question) and item.row is not None)
    scored = [Scored(candidate, 0.0, {}) for candidate in allowed]
    if question.sort == "usage":
        counts = uses([item.row.id for item in allowed if item.row is not None])
        scored.sort(key=lambda item: -counts.get(item.candidate.row.id if item.candidate.row else "", 0))
    else:
        scored.sort(key=lambda item: when_said(item.candidate), reverse=True)
    shown = _within_budget(scored[: question.limit], question)
    then = _as_then([item.candidate for item in shown], question, superseded)
    total = len(scored)
    if len(found) == limit:  # there may be more than were looked at
        total = max(total, index.count_entries(_wanted(question, asked), COUNTED))
    return SearchResult([Scored(candidate, 0.0, {}) for candidate in then], total, dict(hidden))


def _wanted(question: RecallQuery, asked: ParsedQuery | None) -> EntryFilter:
    """What `_latest` looks for, as the index counts it: that which is allowed, of then, and not hidden."""
    span = asked.span if asked is not None else None
    return EntryFilter(
        # the journal has no types
        [folder for folder in question.folders if question.type is None or not is_journal(folder)],
        [status for status in HIDDEN if status != "expired" or not (question.expired or question.as_of)],
        question.type or "", question.tags, question.session, [*asked.authors] if asked is not None else [],
        max(question.since or "", span.start if span is not None else ""), question.until or "",
        span.end if span is not None else "", question.as_of or "",
    )  # fmt: skip


def fill(index: Index, space: Space) -> None:
    """Make what was stored last findable. On a full disk what is findable already must do."""
    with index.reading(space) as reading:
        if not reading.has_unfilled():
            return
    try:
        with index.transaction(space) as writing:
            writing.fill_words()
    except DiskFull as error:
        log.warning("event=words_wait code=%s", error.code)


def _embed(index: Index, space: Space, question: RecallQuery, now: str, meanings: Meanings) -> str:
    """Let what was stored last be found by its meaning; where that takes long, some of it. Answers what there is to
    say of the rest."""
    if not meanings.is_quick:
        with index.reading(space) as reading:
            asked = parse_query(question.query, reading.authors(), now)
        if not asked.terms or (asked.vague and not asked.dated):
            return ""
        meanings.hear(asked.text)  # before anything else: who cannot do this need not be waited for
    why = ""
    try:
        meanings.fill(None if meanings.is_quick else _A_MOMENT)
    except (DiskFull, EmbedderError) as error:
        log.warning("event=vectors_wait code=%s", error.code)
        why = f" {error.message}"
    if not meanings.waiting:
        return ""
    return (
        f"{meanings.waiting:,} of {meanings.total:,} entries are not embedded yet, and were judged by words alone.{why}"
        " Each question goes on with it; `commonplace reindex --vectors` does the rest at once."
    )


def _within_budget(scored: list[Scored], question: RecallQuery) -> list[Scored]:
    """As many as the budget has room for, by what is shown of each. The first one is there in any case: it is cut."""
    if question.budget_tokens is None:
        return scored
    terms, shown, spent = query_terms(question.query), 0, 0
    for item in scored:
        spent += cost(passage(item.candidate.recorded.entry.text, terms))
        if spent > question.budget_tokens:
            break
        shown += 1
    return scored[: max(shown, 1)]
