"""From a question to candidates to an answer, and the count of what was left out and why."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.index.port import Candidate, Index, Transaction, within
from commonplace.model.errors import DiskFull
from commonplace.model.log import Log
from commonplace.model.space import Space
from commonplace.recall.question import Question
from commonplace.recall.ranking import Scored, score
from commonplace.text.tokens import estimate_tokens
from commonplace.text.words import query_terms

_FIRST, _MORE, _ALL = 100, 10, 1_000_000
log = Log("commonplace.recall")
HIDDEN = ("expired", "proposed", "quarantined")


class Answer(NamedTuple):
    hits: list[Scored]
    total: int  # how many matched, shown or not
    hidden: Mapping[str, int]


def find(
    index: Index, space: Space, question: Question, *, now: str, uses: Callable[[Sequence[str]], Mapping[str, int]]
) -> Answer:
    """The best entries for a question. Without words in it: all, by time."""
    terms = query_terms(question.query)
    if (question.query.strip() and not terms) or "memory" not in question.kinds:
        return Answer([], 0, {})
    if terms:
        with index.reading(space) as reading:
            waiting = reading.has_unfilled()
        if waiting:
            _fill(index, space)
    with index.reading(space) as reading:
        hidden: Counter[str] = Counter()
        found, all_of_them = _candidates(reading, question, hidden)
        matched = 0 if all_of_them or not terms else reading.matches(terms, question.folders)
    refs = [candidate.row.id for candidate in found if candidate.row is not None]
    if terms:
        scored = score(found, terms, folders=question.folders, uses=uses(refs), now=now)
    else:
        scored = [Scored(candidate, 0.0, {}) for candidate in found]
    if question.sort == "recency" or (not terms and question.sort == "score"):
        scored.sort(key=lambda item: _when(item.candidate), reverse=True)
    elif question.sort == "usage":
        counts = uses(refs)
        scored.sort(key=lambda item: -counts.get(item.candidate.row.id if item.candidate.row else "", 0))
    shown = _within_budget(scored[: question.limit], question.budget_tokens)
    return Answer(shown, max(len(scored), matched) if scored else 0, dict(hidden))


def _fill(index: Index, space: Space) -> None:
    """Make what was stored last findable. On a full disk what is findable already must do."""
    try:
        with index.transaction(space) as writing:
            writing.fill_words()
    except DiskFull as error:
        log.warning("event=words_wait code=%s", error.code)


def _candidates(index: Transaction, question: Question, hidden: Counter[str]) -> tuple[list[Candidate], bool]:
    """What the words find and the question allows, and whether that is all of it.

    Other scopes may be in between: then more is asked for.
    """
    terms = query_terms(question.query)
    # The best by words are enough for the best by score; for the latest or the most used all have to be looked at.
    limit = _FIRST if question.sort == "score" or (question.sort == "recency" and not terms) else _ALL
    while True:
        found = index.search(terms, limit) if terms else index.latest(limit)
        hidden.clear()
        allowed = [candidate for candidate in found if _allowed(candidate, question, hidden)]
        if len(found) < limit or limit >= _ALL or len(allowed) >= max(50, question.limit):
            return allowed, len(found) < limit
        limit *= _MORE


def _allowed(candidate: Candidate, question: Question, hidden: Counter[str]) -> bool:
    if not within(candidate.folder, question.folders):
        return False
    recorded, row = candidate.recorded, candidate.row
    if question.as_of is not None:
        if recorded.start > question.as_of or (recorded.end is not None and recorded.end <= question.as_of):
            return False
    elif recorded.end is not None or row is None:
        return False
    if row is not None and not _fits(row.type, (*row.tags, *recorded.entry.tags), question):
        return False
    if question.session is not None and recorded.entry.session != question.session:
        return False
    when = recorded.entry.occurred or recorded.entry.time
    if (question.since and when < question.since) or (question.until and when > question.until):
        return False
    if row is not None and question.as_of is None and row.status in HIDDEN:
        if row.status == "expired" and question.expired:
            return True
        hidden[row.status] += 1
        return False
    return True


def _fits(kind: str, tags: Sequence[str], question: Question) -> bool:
    return (question.type is None or kind == question.type) and set(question.tags) <= set(tags)


def _when(candidate: Candidate) -> tuple[str, str]:
    entry = candidate.recorded.entry
    return (entry.occurred or entry.time, entry.id)


def _within_budget(scored: list[Scored], budget: int | None) -> list[Scored]:
    if budget is None:
        return scored
    shown: list[Scored] = []
    spent = 0
    for item in scored:
        spent += estimate_tokens(item.candidate.recorded.entry.text) + 12  # its source line
        if spent > budget and shown:
            break
        shown.append(item)
    return shown
