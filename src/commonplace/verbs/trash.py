"""The verbs `list_trash` and `restore_all`: what can be restored, and all of it at once.

`forget` moves memories there; `restore` brings back one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from commonplace.guard.audit import Facts, scope_kind
from commonplace.memories import history
from commonplace.memories.lookup import read_note
from commonplace.memories.rows import row_of
from commonplace.model.errors import AlreadyExists
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
            found += [item for item in _list_of_key(context, scope, folder, key) if item.time >= since]
    return sorted(found, key=lambda item: (item.time, item.key), reverse=True)


def _list_of_key(context: BookContext, scope: Scope, folder: BookPath, key: str) -> Iterator[ForgottenMemory]:
    """Yield the memories that had a key and can be restored, of those that the caller may see, the newest first."""
    memories, path = context.memories, note_path(folder, key)
    is_taken = memories.files.stat(path) is not None
    for item, memory_id in reversed(history.list_restorable(memories.files, folder, key)):
        note = read_note(memories, item.path)
        if note is not None and note.meta.status not in context.unseen_statuses:
            row = row_of(path, note, item.revision, entries_of=memories.provenance.reader_of(folder))
            summary = mark_external(row.summary) if row.outside else row.summary
            yield ForgottenMemory(
                key, scope.kind.value, scope.id, summary, item.time, item.who, item.action, str(item.path),
                memory_id, is_taken,
            )  # fmt: skip


def _describe(results: Sequence[StoreResult], request: RestoreAllRequest) -> Facts:
    return {"scope": scope_kind(request.scope), "keys": [item.key for item in results], "count": len(results)}


@verb(Access.WRITE, audit=_describe, no_tool="only for a person")
def restore_all(context: BookContext, request: RestoreAllRequest) -> list[StoreResult]:
    """Bring back all memories of a scope that can be restored, or those that were forgotten lately.

    Of several with one key, the newest comes back. One whose key another memory has by now stays in the trash, where
    `list_trash` still finds it.
    """
    waiting = list_trash(context, TrashRequest(request.scope, request.since))
    keys = dict.fromkeys(item.key for item in waiting)
    results = []
    for number, key in enumerate(keys):
        if context.memories.progress is not None:
            context.memories.progress(number, len(keys))
        with suppress(AlreadyExists):
            results.append(restore.run(context, RestoreRequest(key, request.scope)))
    return results
