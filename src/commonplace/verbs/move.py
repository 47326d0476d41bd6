"""The verbs `move` and `rename`: a memory in another scope, or under another key, with its history.

The links of the caller's memories follow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from commonplace.guard.secrets import check_secrets
from commonplace.memories import relations
from commonplace.memories.relocation import Relocation, redirect_links
from commonplace.memories.rows import key_of, split_path
from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError, Conflict, InvalidField, InvalidScope
from commonplace.model.names import check_new_key
from commonplace.model.results import StoreResult
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.nearest import find_nearest_names
from commonplace.text.notes import parse
from commonplace.vault.paths import note_path, resolve
from commonplace.vault.scope_pages import list_scope_pages, scope_folder_above
from commonplace.verbs.changing import (
    check_may_add,
    commit_first,
    describe_change,
    existing_target,
    open_units,
    store_result,
)
from commonplace.verbs.context import BookContext
from commonplace.verbs.store import check_target
from commonplace.verbs.verb import KEY, SCOPE, Access, Arg, verb

_MOST_NAMED = 5  # memories in an answer


class MoveRequest(NamedTuple):
    """What `move` is asked."""

    key: Annotated[str, KEY]
    to: Annotated[
        str | None,
        Arg("session, agent, project or global; or a project as `commonplace project list` shows it", "SCOPE"),
    ] = None
    scope: Annotated[str | None, SCOPE] = None
    new_key: Annotated[str | None, Arg("its new key, with or without another scope", "KEY", option="key")] = None


class RenameRequest(NamedTuple):
    """What `rename` is asked."""

    key: Annotated[str, KEY]
    new_key: Annotated[str, Arg("its new key", "NEW", is_positional=True)]
    scope: Annotated[str | None, SCOPE] = None


@verb(
    Access.WRITE,
    audit=describe_change,
    command="move",
    examples=(
        "commonplace move release-day --to global",
        "commonplace move web-port --to github.com/acme/web",
        "commonplace move note-2 --key staging-port",
        "commonplace move web-port --scope project:github.com/acme/app --to project",
    ),
    no_tool="memory_store in the other scope, then memory_forget",
)
def move(context: BookContext, request: MoveRequest) -> StoreResult:
    """Move a memory to another project or scope, or give it a new key.

    Its history comes along, and links that lead to it follow; the answer names those that agents cannot follow into
    another project. To take it back, move it back. An agent moves memories among its own scopes.
    """
    target = existing_target(context, request.key, request.scope)
    if request.to is None and request.new_key is None:
        raise InvalidField("Say where it goes.", hint="Name a scope with --to, a key with --key, or both.")
    place = find_scope(context, request.to) if request.to is not None else target
    new_key = check_new_key(request.new_key) if request.new_key is not None else request.key
    if new_key == request.key and context.folder(place) == context.folder(target):
        raise Conflict(f"{request.key!a} is in {place} already.", hint="Name another scope with --to.")
    return _relocate(context, target, place, request.key, new_key)


@verb(
    Access.WRITE,
    audit=describe_change,
    command="rename",
    examples=("commonplace rename note-2 staging-port", "commonplace rename alice people/alice --scope global"),
    no_tool="only for a person",
)
def rename(context: BookContext, request: RenameRequest) -> StoreResult:
    """Give a memory another key.

    Its history comes along, and links that lead to it follow, [[wikilinks]] too; the answer names the memories whose
    text was written by hand and still has the old key. To take it back, rename it back.
    """
    target = existing_target(context, request.key, request.scope)
    return _relocate(context, target, target, request.key, check_new_key(request.new_key))


def find_scope(context: BookContext, word: str) -> Scope:
    """Return the scope that a caller names: as every `scope` takes it, or for a person a project by its id, or by the
    end of one that no other has."""
    kind = word.partition(":")[0]
    if kind in tuple(ScopeKind) or not context.sees_all:
        return context.caller.scope(word)
    pages = [page for _, page in list_scope_pages(context.memories.files, ScopeKind.PROJECT)]
    found = [page.id for page in pages if word in page.ids]
    found = found or [page.id for page in pages if page.id.endswith(f"/{word.strip('/')}")]
    if len(found) == 1:
        return Scope(ScopeKind.PROJECT, found[0])
    near = found or find_nearest_names(word, [page.id for page in pages])
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InvalidScope(
        f"There is no scope or project {word[:200]!a}.{meant}",
        hint="Use global, agent, session or project; or project:ID, also for one that has no memories yet.",
    )


def _relocate(context: BookContext, target: Scope, place: Scope, key: str, new: str) -> StoreResult:
    check_target(context, place)
    check_secrets(new)
    own = {scope.kind.value: folder for scope, folder in context.own_folders().items()}
    old_path, new_path = note_path(context.folder(target), key), note_path(context.folder(place), new)
    relocation = Relocation(context.memories.files, old_path, new_path, own)
    found = _find_linking(context, relocation, key)
    linking = {scope: keys for scope, keys in found.items() if _may_write(context, scope)}
    with open_units(context, target, place, *linking) as opened:
        unit, there = opened[target], opened[place]
        check_may_add(context, unit.get(key), key)
        page = context.scope_page(place, there.folder)
        if page is not None:
            there.put_aside(page)
        change = relations.move(unit, there, key, context.author, new, relocation)
        for scope, keys in linking.items():
            for other in keys:
                redirect_links(opened[scope], relocation, other, context.author)
        notices = [*_describe_links(relocation, opened, linking)]
        commit_first(place, opened)
    left = [f"{scope.kind.value}/{other}" for scope in found.keys() - linking.keys() for other in found[scope]]
    if left:
        notices.append(f"These still link to its old place, and are not yours to change: {_join(sorted(left))}.")
    result = store_result(place, change)
    return result._replace(notice=" ".join(filter(None, [result.notice, *notices])))


def _find_linking(context: BookContext, relocation: Relocation, key: str) -> Mapping[Scope, list[str]]:
    """Return the memories that link to one, of all that the caller sees. Only files that have its key are parsed."""
    found: dict[Scope, list[str]] = {}
    memories, name = context.memories, key.encode()
    folders = context.folders_to_search(None, everything=context.sees_all)
    for item in context.list_memories(folders):
        path = resolve(item.path)
        try:
            data = memories.files.read(path).data
        except CommonplaceError:  # one that cannot be read keeps its links
            continue
        if name in data and path != relocation.old and relocation.is_in(scope_folder_above(path), parse(data)):
            scope, other = context.locate(*split_path(path))
            found.setdefault(scope, []).append(other)
    return found


def _describe_links(
    relocation: Relocation, opened: Mapping[Scope, Unit], linking: Mapping[Scope, list[str]]
) -> Iterator[str]:
    """Yield what to say of links that did not follow, or lead where agents that read them see nothing."""
    in_text, from_elsewhere = list[str](), list[str]()
    for scope, keys in linking.items():
        for key in keys:
            note = opened[scope].get(key).note
            if relocation.is_in_text(opened[scope].folder, note):
                in_text.append(f"{scope.kind.value}/{key}")
            if any(link.to == str(relocation.new) for link in note.meta.links):
                from_elsewhere.append(f"{scope.kind.value}/{key}")
    if in_text:
        yield f"Text by hand or from outside still links to its old name: {_join(in_text)}."
    if from_elsewhere:
        yield f"Agents cannot follow the links to it from {_join(from_elsewhere)}."
    there = next(unit for unit in opened.values() if relocation.new.is_within(unit.folder))
    links = there.get(key_of(there.folder, relocation.new)).note.meta.links
    own = [link.to for link in links if link.to.startswith("/")]
    if own:
        yield f"Agents cannot follow its links to {_join(own)}."


def _join(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _may_write(context: BookContext, scope: Scope) -> bool:
    try:
        context.caller.check_write(scope)
    except CommonplaceError:
        return False
    return True
