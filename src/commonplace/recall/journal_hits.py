"""One failure is one hit: the journal tells a failed task three times, and a question is answered by one of them.

A task that failed, or was fixed, stands in the failure file of its worker, in the worker's own file and on the
timeline. The entry in the failure file says most. `search` leaves the others out. The link at the end of an entry, to
the file with all of it, tells which entries are about the same task and run.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.index.port import EntryCandidate
from commonplace.model.lazy import lazy
from commonplace.recall.query import is_journal
from commonplace.recall.ranking import BAND, ScoredCandidate

_FAILURE, _TASK, _FAILED_TASK, _RUN = "failure", "task", "failed task", "run"
_KINDS = {"failure": _FAILURE, "worker": _TASK, "event": _RUN, "summary": _RUN}  # by the file an entry is in
_LINK = lazy(r"\]\((_artifacts/[^/()\s]+)/([^/()\s]+)\)$")


def drop_repeated_tasks(items: Sequence[EntryCandidate]) -> list[EntryCandidate]:
    """Return a list of what happened without the entries of tasks that an entry of a failure file is about."""
    subjects = [_find_subject(item) for item in items]
    told = {(run, task) for kind, run, task in subjects if kind == _FAILURE}
    return [
        item
        for item, (kind, run, task) in zip(items, subjects, strict=True)
        if kind not in (_TASK, _FAILED_TASK) or (run, task) not in told
    ]


def drop_repeated_failures(items: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Return hits, best first, with one for each failure: the entry of the failure file, or that of the whole run.

    A question about the goal of a run matches the run clearly better than its failures: then the run tells them.
    """
    kept = {item.no for item in drop_repeated_tasks([item.candidate for item in items])}
    hits = [item for item in items if item.candidate.no in kept]
    subjects = [_find_subject(item.candidate) for item in hits]
    best_failures: dict[str, float] = {}
    for item, (kind, run, _) in zip(hits, subjects, strict=True):
        if kind in (_FAILURE, _FAILED_TASK):
            best_failures[run] = max(item.score, best_failures.get(run, 0.0))
    whole = {
        run
        for item, (kind, run, _) in zip(hits, subjects, strict=True)
        if kind == _RUN and best_failures.get(run, 0.0) < (1 - BAND) * item.score
    }
    return [
        item
        for item, (kind, run, _) in zip(hits, subjects, strict=True)
        if not (run in whole and kind in (_FAILURE, _FAILED_TASK))
        and not (kind == _RUN and run in best_failures and run not in whole)
    ]


def _find_subject(candidate: EntryCandidate) -> tuple[str, str, str]:
    """Return the kind of a journal entry, and the run and task that it links to; empty texts for any other entry."""
    entry = candidate.recorded.entry
    link = _LINK.search(entry.text) if is_journal(candidate.folder) else None
    if link is None:
        return "", "", ""
    kind = _KINDS.get(candidate.name.partition("-")[0], "")
    is_failed = kind == _TASK and "failed" in entry.tags
    return _FAILED_TASK if is_failed else kind, f"{candidate.folder}/{link[1]}", link[2]
