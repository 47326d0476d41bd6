"""What one caller may see and change of a book. Every call of the vault carries one, and the vault asks it.

On one machine, under one user, a view is the default way to look, not a wall: the files are the user's to open.
"""

from typing import NamedTuple

from commonplace.model.errors import OutsideView
from commonplace.model.names import fold
from commonplace.vault.paths import MEMORIES, PRIVATE, BookPath, journal_folder

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

    def keeping(self) -> "View":
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
    visible = "".join(ch for ch in fold(name) if ch.isprintable())
    return visible == PRIVATE.name or visible.startswith("common~")


EVERYTHING = View(reads=None, writes=None)
KEEPER = View(reads=None, writes=None, private=True)


def view_of(own: frozenset[BookPath], writable: frozenset[BookPath], *, sealed: bool = False) -> "View":
    """The view of a caller with these scope folders; a sealed one sees nothing that is shared. Of the journal a caller
    sees what was recorded for its project, and writes nothing: that is for `record_run`."""
    journals = [journal_folder(folder) for folder in own if folder.parts[:-1] == _PROJECTS]
    shared = frozenset() if sealed else frozenset([*_SHARED, *journals])
    data = frozenset() if sealed else frozenset({BookPath("data")})
    return View(reads=own | shared, writes=writable | data)
