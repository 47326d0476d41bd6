"""The verbs `list_trash` and `restore_all`: what can be restored, and all of it at once.

`forget` moves memories there; `restore` brings back one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from commonplace.guard.audit import Facts, scope_kind
from commonplace.memories import history
from commonplace.memories.lookup import read_note
from commonplace.memories.rows import row_of
from commonplace.model.memory import mark_external
from commonplace.model.results import ForgottenMemory, StoreResult
from commonplace.model.scope import Scope
from commonplace.recall.dates import read_when
from commonplace.vault.paths import BookPath, note_path
from commonplace.verbs.context import BookContext
from commonplace.verbs.forget import RestoreRequest, restore
from commonplace.verbs.verb import SCOPE, Access, Arg, verb

SINCE = Arg("only what was forgotten then or later: 2026-11-15, 7d, 2h, yesterday", "TIME")


class TrashRequest(NamedTuple):
    """What `list_trash` is asked."""

    scope: Annotated[str | None, SCOPE] = None
    since: Annotated[str | None, SINCE] = None


class RestoreAllRequest(NamedTuple):
    """What `restore_all` is asked."""

    scope: Annotated[str, SCOPE]
    since: Annotated[str | None, SINCE] = None


@verb(Access.READ, no_tool="only for a person")
def list_trash(context: BookContext, request: TrashRequest) -> list[ForgottenMemory]:
    """Return what can be restored in the caller's scopes, the last forgotten first."""
    since = read_when(request.since) if request.since is not None else ""
    found: list[ForgottenMemory] = []
    for folder in context.folders_to_search(request.scope) if context.settings.enabled else ():
        scope = context.locate(str(folder), "")[0]
        for key in history.past_keys(context.memories.files, folder):
            item = _newest(context, scope, folder, key)
            if item is not None and item.time >= since:
                found.append(item)
    return sorted(found, key=lambda item: (item.time, item.key), reverse=True)


def _newest(context: BookContext, scope: Scope, folder: BookPath, key: str) -> ForgottenMemory | None:
    """Return the text of a key that `restore` would bring back; None if there is none that the caller may see."""
    memories, path = context.memories, note_path(folder, key)
    if memories.files.stat(path) is not None:
        return None
    for item in history.list_restorable(memories.files, folder, key)[-1:]:
        note = read_note(memories, item.path)
        if note is not None and note.meta.status not in context.unseen_statuses:
            row = row_of(path, note, item.revision, entries_of=memories.provenance.reader_of(folder))
            summary = mark_external(row.summary) if row.outside else row.summary
            return ForgottenMemory(
                key, scope.kind.value, scope.id, summary, item.time, item.who, item.action, str(item.path)
            )
    return None


def _describe(results: Sequence[StoreResult], request: RestoreAllRequest) -> Facts:
    return {"scope": scope_kind(request.scope), "keys": [item.key for item in results], "count": len(results)}


@verb(Access.WRITE, audit=_describe, no_tool="only for a person")
def restore_all(context: BookContext, request: RestoreAllRequest) -> list[StoreResult]:
    """Bring back all memories of a scope that can be restored, or those that were forgotten lately."""
    waiting = list_trash(context, TrashRequest(request.scope, request.since))
    results = []
    for number, item in enumerate(waiting):
        if context.memories.progress is not None:
            context.memories.progress(number, len(waiting))
        results.append(restore.run(context, RestoreRequest(item.key, request.scope)))
    return results
