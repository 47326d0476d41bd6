"""Paths inside a book, and what one caller may see and change of it.

There is one resolver for every path that anybody sends. A BookPath starts at the book's root and cannot leave it: each
of its names has passed `find_name_fault`, so there is no `..`, no separator, no drive, no NUL, no Windows device in it.
Symbolic links are the disk's business, which never follows one.

Every call of the vault carries a view, and the vault asks it. On one machine, under one user, a view is the default way
to look, not a wall: the files are the user's to open.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from commonplace.model.errors import InvalidPath, OutsideView
from commonplace.model.names import find_name_fault, fold_name
from commonplace.model.scope import Scope

MAX_LEVELS = 12
MAX_LENGTH = 1_000


class BookPath:
    """An immutable path in a book: equal, hashable and ordered by its names."""

    __slots__ = ("parts",)

    def __init__(self, *names: str) -> None:
        for name in names:
            _check(name)
        if len(names) > MAX_LEVELS:
            raise InvalidPath(f"The path has {len(names)} levels; {MAX_LEVELS} is the most.")
        self.parts: Final = names

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else ""

    @property
    def parent(self) -> BookPath:
        return _trusted(self.parts[:-1])

    def __truediv__(self, name: str) -> BookPath:
        _check(name)
        if len(self.parts) >= MAX_LEVELS:
            raise InvalidPath(f"A path has at most {MAX_LEVELS} levels.")
        return _trusted((*self.parts, name))

    def is_within(self, other: BookPath) -> bool:
        return self.parts[: len(other.parts)] == other.parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BookPath) and self.parts == other.parts

    def __lt__(self, other: BookPath) -> bool:
        return self.parts < other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __str__(self) -> str:
        return "/" + "/".join(self.parts)

    def __repr__(self) -> str:
        return f"BookPath({str(self)!r})"


def _trusted(parts: tuple[str, ...]) -> BookPath:
    """A path of names that have been checked already."""
    path = BookPath.__new__(BookPath)
    path.parts = parts  # type: ignore[misc]  # the second of the two places that may set it
    return path


def _check(name: str) -> None:
    fault = find_name_fault(name)
    if fault:
        raise InvalidPath(f"{name[:60]!a} {fault}, so it cannot be in a path.")


def resolve(text: str, base: BookPath | None = None) -> BookPath:
    """A caller's words as a path: from the root when they start with `/`, else from `base`."""
    if len(text) > MAX_LENGTH:
        raise InvalidPath(f"The path is longer than {MAX_LENGTH} characters.")
    if "\\" in text:
        raise InvalidPath("The path has a backslash in it.", hint="Separate names with /.")
    parts = [] if base is None or text.startswith("/") else list(base.parts)
    parts += [name for name in text.split("/") if name not in ("", ".")]
    return BookPath(*parts)


ROOT = BookPath()
MEMORIES = BookPath("memories")
JOURNAL = BookPath("journal")
PRIVATE = BookPath(".commonplace")
INDEX_PAGE = "index.md"
TEMP_PREFIX = ".cp-"
TEMP_SUFFIX = ".tmp"


def is_temp(name: str) -> bool:
    """True for the names of half-made files, which nobody else may use: they are hidden, and swept after a crash."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def lock_path(name: str) -> BookPath:
    """The file of a lock: a single name like any other."""
    return PRIVATE / "locks" / f"{name}.lock"


def scope_folder(scope: Scope) -> BookPath:
    """The folder whose files are this scope's memories (before aliases: see vault.scope_pages)."""
    name = scope.folder_name
    kind = MEMORIES / scope.kind.value
    return kind / name if name else kind


def journal_folder(project_folder: BookPath) -> BookPath:
    """The folder of a project's journal: it has the name of the folder of the project's memories."""
    return JOURNAL / project_folder.name


def note_path(folder: BookPath, key: str) -> BookPath:
    *levels, last = key.split("/")
    for level in levels:
        folder = folder / level
    return folder / f"{last}.md"


_SHARED = tuple(BookPath(name) for name in ("index.md", "system", "data", "tree"))
_PROJECTS = (MEMORIES / "project").parts


class View(NamedTuple):
    """Folders and files this caller may read and write; None stands for all but the private folder."""

    reads: frozenset[BookPath] | None
    writes: frozenset[BookPath] | None
    private: bool = False  # `.commonplace` too: only for the keeping of the book itself

    def may_read(self, path: BookPath) -> bool:
        return self._allowed(path, self.reads)

    def may_write(self, path: BookPath) -> bool:
        return self._allowed(path, self.writes)

    def may_list(self, path: BookPath) -> bool:
        """True for what may be read and for the folders on the way to it."""
        if self.may_read(path):
            return True
        return self.reads is not None and any(place.is_within(path) for place in self.reads)

    def check_read(self, path: BookPath) -> None:
        if not self.may_read(path):
            raise OutsideView(f"{path} is not yours to read.")

    def check_list(self, path: BookPath) -> None:
        if not self.may_list(path):
            raise OutsideView(f"{path} is not yours to read.")

    def check_write(self, path: BookPath) -> None:
        if not self.may_write(path):
            raise OutsideView(f"{path} is not yours to change.")

    def keeping(self) -> View:
        """The view of the book's own upkeep on this caller's behalf: pages, history, trash."""
        return KEEPER

    def _allowed(self, path: BookPath, places: frozenset[BookPath] | None) -> bool:
        if path.parts and _is_private(path.parts[0]):
            return self.private
        return places is None or any(path.is_within(place) for place in places)


def _is_private(name: str) -> bool:
    """True for each name by which some file system finds the private folder.

    Case and composition do not count on macOS and Windows, invisible characters on HFS+, and Windows makes short names.
    """
    if name[0] not in ".cC" and name.isascii():
        return False
    visible = "".join(ch for ch in fold_name(name) if ch.isprintable())
    return visible == PRIVATE.name or visible.startswith("common~")


EVERYTHING = View(reads=None, writes=None)
KEEPER = View(reads=None, writes=None, private=True)


def view_of(own: frozenset[BookPath], writable: frozenset[BookPath], *, sealed: bool = False) -> View:
    """The view of a caller with these scope folders; a sealed one sees nothing that is shared. Of the journal a caller
    sees what was recorded for its project, and writes nothing: that is for `record_run`."""
    journals = [journal_folder(folder) for folder in own if folder.parts[:-1] == _PROJECTS]
    shared = frozenset() if sealed else frozenset([*_SHARED, *journals])
    data = frozenset() if sealed else frozenset({BookPath("data")})
    return View(reads=own | shared, writes=writable | data)
