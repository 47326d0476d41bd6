"""Going through a book as it is on the disk, odd names, links and all, without opening what is not a file or folder.

What index and recall never look at is seen here too: that is the point. A folder that cannot be listed is told to the
caller, and the walk goes on. It ends, whatever is there: links are not followed, and a path has at most 12 levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from commonplace.keep.unit import Keep
from commonplace.model.errors import CommonplaceError, InvalidPath, NotFound, TooManyFiles
from commonplace.vault.paths import MEMORIES, PRIVATE, ROOT, BookPath
from commonplace.vault.port import Kind, Stat
from commonplace.vault.view import KEEPER

_OURS = ("index.md", "system", MEMORIES.name, "data", "journal", "tree", PRIVATE.name)
Refused = Callable[[BookPath, CommonplaceError], None]


class Seen(NamedTuple):
    """Something in a folder. `path` is None where no path of a book can lead: an odd name, or too deep."""

    folder: BookPath
    name: str
    stat: Stat
    path: BookPath | None

    def __str__(self) -> str:
        return f"{'' if self.folder == ROOT else self.folder}/{self.name}"


def walk(keep: Keep, refused: Refused) -> Iterator[tuple[BookPath, list[Seen]]]:
    """Every folder of the book with what is in it, those above before those below; of the root, only what is ours:
    a person may keep their own things there (.git, .obsidian)."""
    waiting = [ROOT]
    while waiting:
        folder = waiting.pop()
        try:
            listed = keep.vault.list_folder(keep.space, KEEPER, folder)
        except NotFound:
            continue
        except TooManyFiles:
            raise  # no fault of the folder's
        except CommonplaceError as error:
            refused(folder, error)
            continue
        found = [_seen(folder, item.name, item.stat) for item in listed if folder != ROOT or item.name in _OURS]
        yield folder, found
        waiting += [item.path for item in reversed(found) if item.path is not None and item.stat.kind is Kind.FOLDER]


def _seen(folder: BookPath, name: str, stat: Stat) -> Seen:
    try:
        return Seen(folder, name, stat, folder / name)
    except InvalidPath:
        return Seen(folder, name, stat, None)


def why(error: CommonplaceError) -> str:
    """Why something could not be read, in the system's own words where it had some."""
    cause = error.__cause__
    said = cause.strerror if isinstance(cause, OSError) and cause.strerror else error.message
    return f"This cannot be read: {said}."
