"""Writing `_scope.md`: the true id of a scope whose folder name is made from it, and the ids it had before.

An id changes when a repository is renamed, moved or gets a remote. Its memories stay where they are: the old folder
keeps its name, and the new id becomes the id in its `_scope.md`, the old one an alias.
"""

from __future__ import annotations

from commonplace.memories.store import MemoryStore
from commonplace.model.errors import Conflict, LinkRefused, NotFound
from commonplace.model.lazy import Log
from commonplace.model.names import is_key_name
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.vault.paths import JOURNAL, KEEPER, BookPath
from commonplace.vault.port import ABSENT, FileKind, Write
from commonplace.vault.scope_pages import (
    SCOPE_PAGE,
    Evidence,
    ScopePage,
    find_folder,
    list_scope_folders,
    read_scope_page,
)

log = Log("commonplace.memories")
_KINDS = frozenset(kind.value for kind in ScopeKind)


def describe(store: MemoryStore, scope: Scope, folder: BookPath, evidence: Evidence | None = None) -> Write | None:
    """The write that makes a folder's `_scope.md`; None when it needs none or has one. `evidence`: what a project is
    to know its folders by."""
    path = folder / SCOPE_PAGE
    if scope.id is None or store.files.stat(path) is not None or scope.folder_name == scope.id:
        return None
    return Write(path, _render(ScopePage(scope.kind.value, scope.id, (), evidence)), ABSENT)


def rename_scope(store: MemoryStore, scope: Scope, new_id: str) -> BookPath:
    """From now on this scope is `new_id`; everything stored under the old id stays reachable by both."""
    renamed = Scope(scope.kind, new_id)
    folder = find_folder(store, scope)
    with store.unit(folder, KEEPER) as unit:
        page = read_scope_page(store, folder)
        if page is None:
            raise NotFound(f"There is nothing stored for {scope} that could be renamed.")
        taken = find_folder(store, renamed)
        if taken != folder and store.files.stat(taken) is not None:
            raise Conflict(f"{renamed} has memories of its own.", hint="Move or consolidate those first.")
        if page.id == new_id:
            return folder
        aliases = dict.fromkeys((*page.aliases, page.id))
        aliases.pop(new_id, None)
        document = store.files.read(folder / SCOPE_PAGE)
        front, body = split(document.data.decode("utf-8", "surrogateescape"))
        front = front.put("id", new_id).put("aliases", list(aliases))
        data = (front.render() + body).encode("utf-8", "surrogateescape")
        unit.put_aside(Write(folder / SCOPE_PAGE, data, document.revision))
        unit.commit()
    return folder


def _render(page: ScopePage) -> bytes:
    front = Frontmatter("---\n", (), "---\n").put("scope", page.kind).put("id", page.id)
    front = front.put("aliases", list(page.aliases))
    for name, values in zip(Evidence._fields, page.evidence or (), strict=False):
        front = front.put(name, list(values))
    body = f"# {page.kind}\n\nThe memories in this folder belong to the {page.kind} that is named above.\n"
    return (front.render() + body).encode()


def scope_folders(store: MemoryStore) -> list[BookPath]:
    """Every scope there is, by its folder."""
    return list_scope_folders(store.vault, store.space)


def journal_folders(store: MemoryStore) -> list[BookPath]:
    """The journal of every project that has one, by its folder."""
    try:
        listed = store.files.list_folder(JOURNAL)
    except (NotFound, LinkRefused):
        return []
    names = [item.name for item in listed if item.stat.kind is FileKind.FOLDER and is_key_name(item.name)]
    return [
        JOURNAL / name for name in names if name not in _KINDS
    ]  # no project's folder: what was put aside is named so
