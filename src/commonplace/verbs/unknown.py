"""What to say of a key that is not there: which key was probably meant, and where else this one is.

The verbs that take a key load it only when they have not found the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from commonplace.memories import history, lookup
from commonplace.model.errors import CommonplaceError, NotFound
from commonplace.model.scope import Scope
from commonplace.text.nearest import find_nearest_names
from commonplace.vault.paths import EVERYTHING
from commonplace.verbs.context import BookContext


def find_near_names(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names that were probably meant by one that is unknown, the likeliest first."""
    return find_nearest_names(wanted, names)


def unknown_key(context: BookContext, key: str, scope: str | None = None, *, has_trash: bool = False) -> NotFound:
    """Return the error for a key that the caller's scopes, or the named one, do not have. `has_trash`: nor their
    trash."""
    scopes = context.caller.scopes() if scope is None else [context.caller.scope(scope)]
    where = "in your scopes" if scope is None else f"in the scope {scope}"
    message = f"There is no memory {key[:200]!r} {where}{', nor in their trash' if has_trash else ''}."
    known = _list_keys(context, scopes, has_trash=has_trash)
    near = find_nearest_names(key, [name for name in known if name != key])  # another process may be changing this one
    if near:
        message += f" Did you mean {' or '.join(map(ascii, near))}?"
    if not has_trash and _is_forgotten(context, key, scopes):
        return NotFound(message, hint=f"It was forgotten: `commonplace restore {key}` brings it back.")
    return NotFound(message, hint=_find_elsewhere(context, key, scopes) or None)


def _is_forgotten(context: BookContext, key: str, scopes: Sequence[Scope]) -> bool:
    """Return whether the trash of a scope has a key."""
    files = context.memories.files
    with suppress(CommonplaceError):  # it is no key
        return any(history.list_past(files, history.TRASH, context.folder(scope), key) for scope in scopes)
    return False


def _list_keys(context: BookContext, scopes: Sequence[Scope], *, has_trash: bool) -> list[str]:
    folders = [context.folder(scope) for scope in scopes]
    unseen = context.unseen_statuses
    keys = [item.key for item in context.list_memories(folders) if item.status not in unseen]
    if has_trash and not unseen:  # what is in the trash may have waited for review
        keys += [key for folder in folders for key in history.past_keys(context.memories.files, folder)]
    return keys


def _find_elsewhere(context: BookContext, key: str, scopes: Sequence[Scope]) -> str:
    """Return a hint for a person that names another scope which has this key; empty if none has."""
    if not context.sees_all:
        return ""
    folders = context.folders_to_search(None, everything=True)
    others = {context.locate(str(folder), "")[0]: folder for folder in folders}
    others = {scope: folder for scope, folder in others.items() if scope not in scopes}
    try:
        found = lookup.find_scopes(context.memories, EVERYTHING, others, key)
    except CommonplaceError:  # it is no key
        return ""
    return f"{found[0]} has one: add `--scope {found[0]}`." if found else ""
