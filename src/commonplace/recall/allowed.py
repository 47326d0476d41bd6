"""What a question allows: its scopes, its filters and times, and the statuses that keep a memory out of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.index.port import Candidate, within
from commonplace.recall.analysis import Asked
from commonplace.recall.question import Question, is_journal

HIDDEN = ("expired", "proposed", "quarantined")


def has_filters(question: Question) -> bool:
    times = (question.since, question.until, question.as_of, question.type, question.session)
    return bool(question.tags) or any(time is not None for time in times)


def is_hidden(candidate: Candidate, question: Question) -> bool:
    """Whether a memory's status keeps it out of the answer: then it is only counted. One that is expired today was said
    at the time that is asked for; what nobody has accepted never was."""
    row = candidate.row
    if row is None or row.status not in HIDDEN:
        return False
    return not (row.status == "expired" and (question.expired or question.as_of is not None))


def is_allowed(candidate: Candidate, question: Question) -> bool:
    if not within(candidate.folder, question.folders):
        return False
    recorded, row = candidate.recorded, candidate.row
    if question.as_of is not None:
        if recorded.start > question.as_of or (recorded.end is not None and recorded.end <= question.as_of):
            return False
    elif recorded.end is not None or row is None:
        return False
    kind = "" if row is None or is_journal(row.folder) else row.type  # the journal has no types
    if row is not None and not _fits(kind, (*row.tags, *recorded.entry.tags), question):
        return False
    if question.session is not None and recorded.entry.session != question.session:
        return False
    when = recorded.entry.occurred or recorded.entry.time
    return not ((question.since and when < question.since) or (question.until and when > question.until))


def is_of_then(candidate: Candidate, asked: Asked) -> bool:
    entry = candidate.recorded.entry
    then = asked.span is None or asked.span.has(entry.occurred or entry.time)
    return then and (not asked.authors or entry.author in asked.authors)


def _fits(kind: str, tags: Sequence[str], question: Question) -> bool:
    return (question.type is None or kind == question.type) and all(tag in tags for tag in question.tags)


def when_said(candidate: Candidate) -> tuple[str, str]:
    entry = candidate.recorded.entry
    return (entry.occurred or entry.time, entry.id)
