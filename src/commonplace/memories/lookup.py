"""Finding things by name: memories by key, scopes by their folders and pages, files under data/.

The verbs read memories through a view here, in the nearest scope that has the key. `_scope.md` has the true id of a
scope whose folder name is made from it, and the ids it had before. An id changes when a repository is renamed, moved or
gets a remote. Its memories stay where they are: the old folder keeps its name, and the new id becomes the id in its
`_scope.md`, the old one an alias. Files under data/ hold any bytes, and are listed on its index page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonplace.memories.history import list_versions, normalise_entry, walk_files
from commonplace.memories.layout import DATA_LOCK
from commonplace.memories.rows import change_page
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import AmbiguousKey, Conflict, InvalidPath, NoteInConflict, NotFound
from commonplace.model.memory import Memory, Status
from commonplace.model.names import check_key, is_key_name
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, KEEPER, BookPath, View, note_path, resolve
from commonplace.vault.port import ABSENT, ANY, UNUSABLE, Change, Delete, FileKind, Write
from commonplace.vault.scope_pages import (
    SCOPE_PAGE,
    Evidence,
    ScopePage,
    find_folder,
    list_scope_folders,
    read_scope_page,
)

DATA = BookPath("data")
MOST_LISTED = 200


def load(memories: MemoryStore, view: View, scope: Scope, folder: BookPath, key: str) -> Memory | None:
    """Return the memory of a key in one scope, from its file; None when there is none. Raises NoteInConflict.

    `folder` may be that of the project's journal, whose notes are read in the same way.
    """
    path = note_path(folder, check_key(key))
    try:
        document = memories.vault.read(memories.space, view, path)
    except NotFound:
        return None
    note = memories.provenance.read(document.data, document.stat.time)
    if note.in_conflict:
        raise NoteInConflict(f"{key!a} is in conflict: a merge left two texts in its file.")
    entries = tuple(map(normalise_entry, memories.provenance.reader_of(folder)(note)))
    created, updated = note.dates
    return Memory(
        note.meta._replace(created=created, updated=updated), scope, key, str(path), document.revision, entries
    )


def find_scopes(memories: MemoryStore, view: View, folders: Mapping[Scope, BookPath], key: str) -> list[Scope]:
    """Return the scopes that have a key, nearest first."""
    found = []
    for scope, folder in folders.items():
        stat = memories.vault.stat(memories.space, view, note_path(folder, check_key(key)))
        if stat is not None and stat.kind is FileKind.FILE:
            found.append(scope)
    return found


def require_single(found: Sequence[Scope], key: str) -> Scope:
    """Return the one scope that was found for a key. Raises AmbiguousKey if there are several."""
    if len(found) > 1:
        names = ", ".join(scope.kind.value for scope in found)
        raise AmbiguousKey(f"{key!a} is in several of your scopes: {names}.")
    return found[0]


def was_superseded(memories: MemoryStore, folder: BookPath, key: str, moment: str) -> bool:
    """Return whether a memory was superseded at an earlier moment. The next text that was put aside says so, or
    the note if there is none. Old texts may have been cleared away, so what superseded it must have existed, too."""
    later = [item.path for item in list_versions(memories.files, folder, key) if item.time > moment]
    then = read_note(memories, later[0] if later else note_path(folder, key))
    if then is None or then.meta.status is not Status.SUPERSEDED:
        return False
    links = [link for link in then.meta.links if link.rel == "superseded_by"]
    newer = [
        read_note(memories, resolve(link.to) if link.to.startswith("/") else note_path(folder, link.to))
        for link in links
    ]
    return not newer or any(note is None or note.meta.created <= moment for note in newer)


def read_note(memories: MemoryStore, path: BookPath) -> Note | None:
    """Return a note or an old version as its file says, None where there is none or it cannot be read."""
    try:
        return parse(memories.files.read(path).data)
    except (NotFound, *UNUSABLE):
        return None


def describe(
    memories: MemoryStore,
    scope: Scope,
    folder: BookPath,
    evidence: Evidence | None = None,
    related: Sequence[str] | None = None,
) -> Write | None:
    """Return the write that makes a folder's `_scope.md`; None when it needs none or has one. `evidence` is what a
    project knows its folders by, `related` the other projects that its folder may be."""
    path = folder / SCOPE_PAGE
    if scope.id is None or memories.files.stat(path) is not None or scope.folder_name == scope.id:
        return None
    kind = scope.kind.value
    front = Frontmatter("---\n", (), "---\n").put("scope", kind).put("id", scope.id).put("aliases", [])
    if evidence is not None:
        for name, values in evidence._asdict().items():
            front = front.put(name, list(values))
    if related is not None:
        front = front.put("related", list(related))
    body = f"# {kind}\n\nThe memories in this folder belong to the {kind} that is named above.\n"
    return Write(path, (front.render() + body).encode(), ABSENT)


def change_scope_page(
    memories: MemoryStore,
    folder: BookPath,
    change: Callable[[ScopePage], Mapping[str, str | list[str] | None]],
    timeout: float | None = None,
) -> ScopePage | None:
    """Change fields of a scope's `_scope.md` to what `change` says of the page as it is, and return that; None where
    there is none. A field that is None goes."""
    with memories.unit(folder, KEEPER, timeout=timeout) as unit:
        page = read_scope_page(memories.files, folder)
        if page is None:
            return None
        document = memories.files.read(folder / SCOPE_PAGE)
        front, body = split(document.data.decode("utf-8", "surrogateescape"))
        for name, value in change(page).items():
            front = front.put(name, value)
        data = (front.render() + body).encode("utf-8", "surrogateescape")
        if data != document.data:
            unit.put_aside(Write(folder / SCOPE_PAGE, data, document.revision))
            unit.commit()
    return page


def rename_scope(memories: MemoryStore, scope: Scope, new_id: str, timeout: float | None = None) -> BookPath:
    """Give a scope a new id; return its folder. Everything stored under the old id stays reachable by both.

    Raises NotFound where nothing is stored, and Conflict where the new id has memories of its own."""
    renamed = Scope(scope.kind, new_id)
    folder = find_folder(memories.files, scope)

    def rename(page: ScopePage) -> dict[str, str | list[str] | None]:
        taken = find_folder(memories.files, renamed)
        if taken != folder and memories.files.stat(taken) is not None:
            raise Conflict(f"{renamed} has memories of its own.", hint="Move or consolidate those first.")
        if page.id == new_id:
            return {}
        return {
            "id": new_id,
            "aliases": [other for other in dict.fromkeys((*page.aliases, page.id)) if other != new_id],
        }

    if change_scope_page(memories, folder, rename, timeout) is None:
        raise NotFound(f"There is nothing stored for {scope} that could be renamed.")
    return folder


def scope_folders(memories: MemoryStore) -> list[BookPath]:
    """Return the folder of every scope that is there."""
    return list_scope_folders(memories.files)


def journal_folders(memories: MemoryStore) -> list[BookPath]:
    """Return the folder of every journal: one for each project that has one."""
    try:
        listed = memories.files.list_folder(JOURNAL)
    except (NotFound, *UNUSABLE):
        return []
    folders = [item.name for item in listed if item.stat.kind is FileKind.FOLDER and is_key_name(item.name)]
    kinds = tuple(ScopeKind)  # what was put aside of journals is in folders that are named so
    return [JOURNAL / name for name in folders if name not in kinds]


def data_path(name: str) -> BookPath:
    """Return the path of a data file. Raises InvalidPath for the index page and for what is not below data/."""
    path = resolve(name, DATA)
    # On a disk that is blind to case, INDEX.md is the index page as well.
    is_page = len(path.parts) == 2 and path.name.casefold() == INDEX_PAGE
    if not path.is_within(DATA) or path == DATA or is_page:
        raise InvalidPath(f"{name[:60]!a} is not a name of a data file.", hint="Use a name such as prices/2026.csv.")
    return path


def put_data(memories: MemoryStore, view: View, name: str, data: bytes) -> BookPath:
    """Write a data file and list it on the index page; return its path."""
    path = data_path(name)
    view.check_write(path)
    with memories.vault.lock(memories.space, DATA_LOCK, memories.lock_timeout):
        names = {*list_data(memories, view), _name(path)}
        memories.files.apply([Write(path, data, ANY), *_page(memories, names)])
    return path


def get_data(memories: MemoryStore, view: View, name: str) -> bytes:
    """Return the bytes of a data file. Raises NotFound."""
    return memories.vault.read(memories.space, view, data_path(name)).data


def remove_data(memories: MemoryStore, view: View, name: str) -> None:
    """Take a data file off the index page, then delete it. Raises NotFound."""
    path = data_path(name)
    view.check_write(path)
    with memories.vault.lock(memories.space, DATA_LOCK, memories.lock_timeout):
        names = {*list_data(memories, view)} - {_name(path)}
        memories.files.apply([*_page(memories, names), Delete(path)])


def list_data(memories: MemoryStore, view: View) -> list[str]:
    """Return the names of all data files, sorted."""
    files = walk_files(lambda folder: memories.vault.list_folder(memories.space, view, folder), DATA, (NotFound,))
    return sorted(_name(path) for path in files if path != DATA / INDEX_PAGE)


def _name(path: BookPath) -> str:
    return "/".join(path.parts[1:])


def _page(memories: MemoryStore, names: set[str]) -> list[Change]:
    shown = sorted(names)[:MOST_LISTED]
    text = "".join(f"- `{name}`\n" for name in shown)
    if len(names) > len(shown):
        text += f"\nand {len(names) - len(shown):,} more.\n"
    path = DATA / INDEX_PAGE
    try:
        return change_page(path, memories.files.read_text(path), "data", text)
    except UNUSABLE:  # not ours to replace: `doctor` names it
        return []
