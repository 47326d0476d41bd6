"""Paths inside a book. One resolver for every path that anybody sends.

A BookPath starts at the book's root and cannot leave it: each of its names has passed `name_fault`, so there is no
`..`, no separator, no drive, no NUL, no Windows device in it. What symbolic links could still do is the disk's
business, which never follows one.
"""

from __future__ import annotations

from typing import Final

from commonplace.model.errors import InvalidPath
from commonplace.model.names import name_fault
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
    fault = name_fault(name)
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
