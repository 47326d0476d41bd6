"""Paths inside a book, and what one caller may read and change of it.

`resolve` is the one way from a caller's text to a path. A BookPath starts at the book's root and cannot leave it:
each of its names has passed `find_name_fault`, so it has no `..`, separator, drive, NUL or Windows device name. The
disk deals with symbolic links: it never follows one.

Every call of the vault carries a view, and the vault checks it. On one machine, under one user, a view is a default
and not a wall: the user can open the files anyway.
"""

from __future__ import annotations

from typing import NamedTuple

from commonplace.model.errors import InvalidPath, OutsideView
from commonplace.model.names import find_name_fault, fold_name
from commonplace.model.scope import Scope

MAX_LEVELS = 12
MAX_LENGTH = 1_000
_SHALLOWER = "Use fewer folders, one below the other."


class BookPath(str):
    """An immutable path in a book, such as `/memories/global`: a text that starts at the root, and its names."""

    __slots__ = ("name", "parent", "parts", "top")
    name: str  # the last one; empty for the root
    parent: BookPath  # the folder above; the root is its own
    parts: tuple[str, ...]
    top: str  # the first name, which says what part of the book it is in; empty for the root

    def __new__(cls, *names: str) -> BookPath:
        """Return the path of these names. Raises InvalidPath for a name that cannot be in one."""
        if len(names) > MAX_LEVELS:
            raise InvalidPath(f"The path has {len(names)} levels; {MAX_LEVELS} is the most.", hint=_SHALLOWER)
        path = ROOT
        for name in names:
            path = path / name
        return path

    def __truediv__(self, name: str) -> BookPath:
        fault = find_name_fault(name)
        if fault:
            raise InvalidPath(f"{name[:60]!a} {fault}, so it cannot be in a path.")
        if len(self.parts) >= MAX_LEVELS:
            raise InvalidPath(f"A path has at most {MAX_LEVELS} levels.", hint=_SHALLOWER)
        path = str.__new__(BookPath, f"{self if self.parts else ''}/{name}")
        path.name, path.parent = name, self
        path.parts, path.top = (*self.parts, name), self.top or name
        return path

    def is_within(self, other: BookPath) -> bool:
        """Return whether this path is the other one or below it."""
        return self.parts[: len(other.parts)] == other.parts

    def __lt__(self, other: str) -> bool:
        """Order by names, so that a folder's files come right after it."""
        return self.parts < other.parts if isinstance(other, BookPath) else str(self) < other


ROOT = str.__new__(BookPath, "/")
ROOT.name, ROOT.parent, ROOT.parts, ROOT.top = "", ROOT, (), ""


def resolve(text: str, base: BookPath | None = None) -> BookPath:
    """Return the path that a caller's text means: from the root if it starts with `/`, else from `base`.

    Raises InvalidPath for a text that is no path inside a book.
    """
    if len(text) > MAX_LENGTH:
        raise InvalidPath(f"The path is longer than {MAX_LENGTH} characters.")
    if "\\" in text:
        raise InvalidPath("The path has a backslash in it.", hint="Separate names with /.")
    parts = [] if base is None or text.startswith("/") else list(base.parts)
    parts += [name for name in text.split("/") if name not in ("", ".")]
    return BookPath(*parts)


MEMORIES = BookPath("memories")
JOURNAL = BookPath("journal")
TREE = BookPath("tree")
PRIVATE = BookPath(".commonplace")
INDEX_PAGE = "index.md"
SOURCE_PAGE = "_source.md"  # of a folder in the tree
TEMP_PREFIX = ".cp-"
TEMP_SUFFIX = ".tmp"


MAX_NOTE = 4 << 20  # bytes of a note or a page; a larger one is named by `doctor`, and never read
_MAX_LIST = 64 << 20  # of the lists and records that the book itself makes
_DATA_PAGE = BookPath("data", INDEX_PAGE)
_MAX_SMALL = 1 << 20  # of config.toml, the book's id and its key


def max_size(path: BookPath) -> int | None:
    """Return how many bytes a file may have to be read; None for a data file, which is read only when it is named."""
    if path.top == "data" and path != _DATA_PAGE:
        return None
    if path.name.endswith(".md"):
        return MAX_NOTE
    return _MAX_SMALL if path.parent == PRIVATE and path.name != "received" else _MAX_LIST


def is_temp(name: str) -> bool:
    """Return whether this is the name of a temporary file: those are hidden, and swept after a crash."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


LOCKS = PRIVATE / "locks"
HOLDER_SUFFIX = ".holder"  # of the file that says which machine holds a lock (claims.py)


def lock_path(name: str) -> BookPath:
    """Return the path of the lock file of a name. Raises InvalidPath for a name that cannot be in a path."""
    return LOCKS / f"{name}.lock"


def scope_folder(scope: Scope) -> BookPath:
    """Return the folder of this scope's memories, without regard to aliases (scope_pages.find_folder follows them)."""
    name = scope.folder_name
    kind = MEMORIES / scope.kind.value
    return kind / name if name else kind


def journal_folder(project_folder: BookPath) -> BookPath:
    """Return the folder of a project's journal; it has the same name as the folder of the project's memories."""
    return JOURNAL / project_folder.name


def note_path(folder: BookPath, key: str) -> BookPath:
    """Return the path of the memory with this key in a scope's folder."""
    *levels, last = key.split("/")
    for level in levels:
        folder = folder / level
    return folder / f"{last}.md"


_SHARED = (*(BookPath(name) for name in ("index.md", "system", "data")), TREE)
_PROJECTS = (MEMORIES / "project").parts


class View(NamedTuple):
    """The folders and files that one caller may read and write; None means all but the private folder."""

    reads: frozenset[BookPath] | None
    writes: frozenset[BookPath] | None
    private: bool = False  # `.commonplace` too: only for Commonplace's own work on the book

    def may_read(self, path: BookPath) -> bool:
        """Return whether the caller may read this path."""
        return self._may_use(path, self.reads)

    def may_list(self, path: BookPath) -> bool:
        """Return whether the caller may read this path or anything below it."""
        if self.may_read(path):
            return True
        return self.reads is not None and any(place.is_within(path) for place in self.reads)

    def check_read(self, path: BookPath) -> None:
        """Raise OutsideView unless the caller may read this path."""
        if not self.may_read(path):
            raise OutsideView(f"{path} is not yours to read.")

    def check_list(self, path: BookPath) -> None:
        """Raise OutsideView unless the caller may list this path."""
        if not self.may_list(path):
            raise OutsideView(f"{path} is not yours to read.")

    def check_write(self, path: BookPath) -> None:
        """Raise OutsideView unless the caller may change this path."""
        if not self._may_use(path, self.writes):
            raise OutsideView(f"{path} is not yours to change.")

    def _may_use(self, path: BookPath, places: frozenset[BookPath] | None) -> bool:
        if path.top and _is_private(path.top):
            return self.private
        return places is None or any(path.is_within(place) for place in places)


def _is_private(name: str) -> bool:
    """Return whether some file system takes this name for the private folder.

    macOS and Windows ignore case and composition, HFS+ ignores invisible characters, and Windows makes short names.
    """
    if name[0] not in ".cC" and name.isascii():
        return False
    visible = "".join(ch for ch in fold_name(name) if ch.isprintable())
    return visible == PRIVATE.name or visible.startswith("common~")


EVERYTHING = View(reads=None, writes=None)
KEEPER = View(reads=None, writes=None, private=True)


def view_of(own: frozenset[BookPath], writable: frozenset[BookPath], *, sealed: bool = False) -> View:
    """Return the view of a caller with these scope folders; a sealed caller sees nothing shared.

    A caller may read the journal of its own project. It may not write it: `record_run` does that.
    """
    journals = [journal_folder(folder) for folder in own if folder.parts[:-1] == _PROJECTS]
    shared = frozenset() if sealed else frozenset([*_SHARED, *journals])
    data = frozenset() if sealed else frozenset({BookPath("data")})
    return View(reads=own | shared, writes=writable | data)
