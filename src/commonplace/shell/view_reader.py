"""The book as one caller's view shows it, for reading only, and how much of it one command may read.

Every command of the shell and every verb that reads files goes through here. A vault's view still shows that another's
session, agent or project exists. This reader hides that too:

- A folder that only leads to other folders (`/memories/session`) is shown when one of these may be seen, with its time.
- The book's first page lists folders with counts. Lines about folders that the view hides are left out; a line about a
  folder that only leads to others becomes the lines about those of them that may be seen.

A path that is hidden and a path that does not exist give the same answer: None, or NotFound. Every command ends,
whatever the book holds: a limit raises LimitReached, which says how to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError, InvalidPath, LinkRefused, NotFound, TooLarge
from commonplace.model.lazy import lazy
from commonplace.model.scope import Space
from commonplace.text.naming import unquote
from commonplace.vault.paths import INDEX_PAGE, KEEPER, MAX_LEVELS, ROOT, BookPath, View, is_temp, resolve
from commonplace.vault.port import FileKind, FolderEntry, Stat, Vault

MAX_READ_BYTES = 65_536  # one answer of read_memory, and the output of one command
MAX_LISTED = 200  # items of one listing
MAX_LINE = 400  # characters shown of a line that a search found
MAX_FILE_BYTES = 16 << 20  # a larger file is not opened
MAX_COMMAND_BYTES = 64 << 20  # all files of one command together
MAX_ENTRIES = 50_000  # names that one command meets
BINARY_CHECK_BYTES = 8_000  # a NUL among these first bytes makes a file binary

WHOLE_DEPTH = MAX_LEVELS + 1  # the last level is looked into, too: what is too deep is named, not passed over
_FIRST_PAGE = ROOT / INDEX_PAGE
_FOLDER_LINE = lazy(r"- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)")
# The first bytes of well-known formats that are not text.
_SIGNATURES = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf",
    b"\x7fELF", b"MZ\x90", b"SQLite format 3", b"\x28\xb5\x2f\xfd", b"OggS", b"ID3", b"RIFF", b"wOFF",
    b"\xca\xfe\xba\xbe",
)  # fmt: skip


class CommandError(Exception):
    """Why a command cannot do what its words ask, as the GNU tools say it."""


class LimitReached(Exception):
    """A command has read or printed as much as it may; the message says how to go on."""


class PathItem(NamedTuple):
    """A file or folder: its name as the caller writes it, its path in the book, and its stat."""

    label: str
    path: BookPath
    stat: Stat


def is_binary(data: bytes) -> bool:
    """Return whether a file is not text: it has a NUL near its start, or the signature of a known format."""
    return data.startswith(_SIGNATURES) or b"\0" in data[:BINARY_CHECK_BYTES]


class ViewReader:
    """Reads a book through a view, within the limits of one command."""

    def __init__(
        self,
        vault: Vault,
        space: Space,
        view: View,
        rewrite: Callable[[BookPath, bytes], bytes] | None = None,
        max_answer: int = MAX_READ_BYTES,
    ) -> None:
        """`rewrite` returns the text to show in place of a file's own; `max_answer` bytes are shown at once."""
        self.max_answer = max_answer
        self._vault, self._space, self._view, self._rewrite = vault, space, view, rewrite
        self._names_left, self._bytes_left = MAX_ENTRIES, MAX_COMMAND_BYTES
        self.revision = ""  # of the file read last, before any rewriting
        self.deepest: BookPath | None = None  # a folder with more below it than a path can name

    def stat(self, path: BookPath) -> Stat | None:
        """Return the stat of a path; None when it does not exist or the view hides it."""
        if path == ROOT:
            times = [item.stat.mtime_ns for item in self.list_folder(ROOT)]
            return Stat(FileKind.FOLDER, 0, max(times, default=0), 0)
        if not self._view.may_list(path) or any(map(is_temp, path.parts)):
            return None
        stat = self._vault.stat(self._space, self._view, path)
        return self._visible_stat(path, stat) if stat is not None else None

    def list_folder(self, path: BookPath) -> list[FolderEntry]:
        """Return the visible items of a folder, by name. Raises NotFound or LimitReached."""
        if path != ROOT and self.stat(path) is None:
            raise NotFound(f"{path} does not exist.")
        try:
            listed = self._vault.list_folder(self._space, self._view, path)
        except CommonplaceError:
            if path != ROOT:
                raise
            return []  # a caller who may see nothing at all
        self._names_left -= 1 + len(listed)
        if self._names_left < 0:
            raise LimitReached(f"Stopped after {MAX_ENTRIES:,} files and folders: name a folder further down.")
        if len(path.parts) == MAX_LEVELS:
            below = self._vault.list_folder(self._space, KEEPER, path)
            self.deepest = path if below else self.deepest
            return []
        visible = ((item.name, self._visible_stat(path / item.name, item.stat)) for item in listed)
        return [FolderEntry(name, stat) for name, stat in visible if stat is not None]

    def describe_depth(self) -> str:
        """Return what was passed over because it is too deep; nothing if all was met."""
        if self.deepest is None:
            return ""
        return f"What is below {self.deepest} was passed over: a path has at most {MAX_LEVELS} levels."

    def read(self, path: BookPath) -> bytes:
        """Return the bytes of a file. Raises an error for a folder, a link or a large file, or LimitReached."""
        stat = self.stat(path)
        if stat is None:
            raise NotFound(f"{path} does not exist.", hint="List the folder above it, or start at /.")
        if stat.kind is FileKind.FOLDER:
            raise InvalidPath(f"{path} is a folder.", hint="List it instead.")
        if stat.kind is not FileKind.FILE:
            raise LinkRefused(f"{path} is a link or a special file, which a book never opens.")
        if stat.size > MAX_FILE_BYTES:
            raise TooLarge(f"{path} has {stat.size:,} bytes; a file of up to {MAX_FILE_BYTES:,} is read here.")
        self._bytes_left -= stat.size
        if self._bytes_left < 0:
            limit = f"{MAX_COMMAND_BYTES:,} bytes"
            raise LimitReached(f"Stopped after {limit}: name fewer files, or a folder further down.")
        document = self._vault.read(self._space, self._view, path)
        self.revision = document.revision
        if self._is_shortened(path):
            return self._shorten_first_page(document.data)
        return self._rewrite(path, document.data) if self._rewrite is not None else document.data

    def walk(
        self, item: PathItem, report: Callable[[str, CommonplaceError], None], depth: int = WHOLE_DEPTH
    ) -> Iterator[PathItem]:
        """Yield an item and everything to this depth below it, each folder before its items, by name.

        Links are not followed. `report` is told the label of each folder that cannot be listed, and why.
        """
        yield item
        if item.stat.kind is not FileKind.FOLDER or depth <= 0:
            return
        try:
            listed = self.list_folder(item.path)
        except NotFound:
            return  # deleted since it was listed
        except CommonplaceError as error:
            report(item.label, error)
            return
        folder = item.label if item.label.endswith("/") or not item.label else f"{item.label}/"
        for name, stat in listed:
            yield from self.walk(PathItem(folder + name, item.path / name, stat), report, depth - 1)

    def _visible_stat(self, path: BookPath, stat: Stat) -> Stat | None:
        if self._view.reads is None:
            return stat
        if not self._view.may_read(path):
            return self._stat_of_passage(path, stat)
        if self._is_shortened(path) and stat.kind is FileKind.FILE and stat.size <= MAX_FILE_BYTES:
            with suppress(CommonplaceError):  # it cannot be read: reading it will say so
                page = self._vault.read(self._space, self._view, path).data
                return stat._replace(size=len(self._shorten_first_page(page)))
        return stat

    def _stat_of_passage(self, path: BookPath, stat: Stat) -> Stat | None:
        """Return the stat of a folder that leads to visible ones, as new as the newest of them; None without any."""
        times = []
        for place in self._view.reads or ():
            if stat.kind is FileKind.FOLDER and place.is_within(path):
                with suppress(CommonplaceError):  # a link in its place
                    found = self._vault.stat(self._space, self._view, place)
                    times += [found.mtime_ns] if found is not None else []
        return stat._replace(mtime_ns=max(times)) if times else None

    def _is_shortened(self, path: BookPath) -> bool:
        return path == _FIRST_PAGE and self._view.reads is not None

    def _shorten_first_page(self, data: bytes) -> bytes:
        """Return the book's first page with links to folders that may be seen, and no others."""
        lines = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
        shown = (below for line in lines for below in self._visible_lines(line))
        return "".join(shown).encode("utf-8", "surrogateescape")

    def _visible_lines(self, line: str) -> list[str]:
        """Return what stands on the first page in place of one of its lines."""
        match = _FOLDER_LINE.match(line)
        if match is None:
            return [line]
        try:
            page = resolve(unquote(match[1]))
        except CommonplaceError:
            return [line]  # a person's own link to somewhere else
        if self._view.may_read(page):
            return [line]
        return self._lines_of_passage(page) if self._view.may_list(page.parent) else []

    def _lines_of_passage(self, page: BookPath) -> list[str]:
        """Return the lines about visible folders that stand on the page of a folder that only leads to others."""
        try:
            text = self._vault.read(self._space, KEEPER, page).data.decode("utf-8", "surrogateescape")
        except CommonplaceError:
            return []
        folder = str(page.parent).lstrip("/")
        found = []
        for line in text.splitlines(keepends=True):
            match = _FOLDER_LINE.match(line)
            if match is None:
                continue
            link = f"{folder}/{match[1]}"
            with suppress(CommonplaceError):  # a person's own link to somewhere else
                if self._view.may_read(resolve(unquote(link))):
                    found.append(f"{line[: match.start(1)]}{link}{line[match.end(1) :]}")
        return found
