"""The book as one caller's view shows it, for reading only. Every command and every reading function goes through here.

What the vault's view leaves open is closed here, so that another's session, agent or project is not even known to
exist:

- A folder that is only on the way to something (`/memories/session`) is there when what it leads to is, and is as old
  as that.
- The book's first page lists folders with counts; of these lines, those about folders that the view does not show are
  left out.

What may not be seen and what is not there are the same: None, or NotFound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError, InvalidPath, LinkRefused, NotFound, TooLarge
from commonplace.model.patterns import lazy
from commonplace.model.space import Space
from commonplace.shell.limits import MAX_FILE_BYTES, Budget
from commonplace.text.percent import unquote
from commonplace.vault.paths import INDEX_PAGE, ROOT, BookPath, is_temp, resolve
from commonplace.vault.port import Kind, Listed, Stat, Vault
from commonplace.vault.view import View

_FIRST_PAGE = ROOT / INDEX_PAGE
_LINE = lazy(r"- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)")
Said = Callable[[BookPath, bytes], bytes]
Refused = Callable[[str, CommonplaceError], None]


class Met(NamedTuple):
    """Something that a walk comes to: what to call it, where it is, what it is."""

    label: str
    path: BookPath
    stat: Stat


class Shown:
    def __init__(self, vault: Vault, space: Space, view: View, said: Said | None = None) -> None:
        """`said`: what is shown in place of the bytes of a file."""
        self._vault, self._space, self._view, self._said = vault, space, view, said
        self.budget = Budget()
        self.revision = ""  # of the file that was read last, as it is

    def look(self, path: BookPath) -> Stat | None:
        """What is there; None when there is nothing, or nothing for this caller."""
        if path == ROOT:
            times = [item.stat.mtime_ns for item in self.names(ROOT)]
            return Stat(Kind.FOLDER, 0, max(times, default=0), 0)
        if not self._view.may_list(path) or any(map(is_temp, path.parts)):
            return None
        stat = self._vault.stat(self._space, self._view, path)
        return self._as_seen(path, stat) if stat is not None else None

    def names(self, path: BookPath) -> list[Listed]:
        """What is in a folder, by name."""
        if path != ROOT and self.look(path) is None:
            raise NotFound(f"{path} is not there.")
        try:
            listed = self._vault.list_folder(self._space, self._view, path)
        except CommonplaceError:
            if path != ROOT:
                raise
            return []  # a caller who may see nothing at all
        self.budget.met(1 + len(listed))
        found = ((item.name, self._as_seen(path / item.name, item.stat)) for item in listed)
        return [Listed(name, stat) for name, stat in found if stat is not None]

    def read(self, path: BookPath) -> bytes:
        """The bytes of a file, if it is one, and not larger than is opened here."""
        stat = self.look(path)
        if stat is None:
            raise NotFound(f"{path} is not there.", hint="List what is there, from / on.")
        if stat.kind is Kind.FOLDER:
            raise InvalidPath(f"{path} is a folder.", hint="List it instead.")
        if stat.kind is not Kind.FILE:
            raise LinkRefused(f"{path} is a link or a special file, which a book never opens.")
        if stat.size > MAX_FILE_BYTES:
            raise TooLarge(f"{path} has {stat.size:,} bytes; a file of up to {MAX_FILE_BYTES:,} is read here.")
        self.budget.read(stat.size)
        document = self._vault.read(self._space, self._view, path)
        data, self.revision = document.data, document.revision
        if self._is_cut(path):
            return self._first_page(data)
        return self._said(path, data) if self._said is not None else data

    def walk(self, label: str, path: BookPath, stat: Stat, refused: Refused) -> Iterator[Met]:
        """Something and all that is below it, each folder before what it holds, by name. Links are not followed."""
        yield Met(label, path, stat)
        if stat.kind is not Kind.FOLDER:
            return
        try:
            listed = self.names(path)
        except NotFound:
            return  # gone since it was met
        except CommonplaceError as error:
            refused(label, error)
            return
        for item in listed:
            below = f"{label}{item.name}" if label.endswith("/") or not label else f"{label}/{item.name}"
            yield from self.walk(below, path / item.name, item.stat, refused)

    # What the view does not know

    def _as_seen(self, path: BookPath, stat: Stat) -> Stat | None:
        if self._view.reads is None:
            return stat
        if not self._view.may_read(path):
            return self._on_the_way(path, stat)
        if self._is_cut(path) and stat.kind is Kind.FILE and stat.size <= MAX_FILE_BYTES:
            with suppress(CommonplaceError):  # it cannot be read: whoever tries is told so
                return stat._replace(size=len(self._first_page(self._vault.read(self._space, self._view, path).data)))
        return stat

    def _on_the_way(self, path: BookPath, stat: Stat) -> Stat | None:
        """A folder that leads to what may be seen, if any of that is there."""
        times = []
        for place in self._view.reads or ():
            if stat.kind is Kind.FOLDER and place.is_within(path):
                try:
                    found = self._vault.stat(self._space, self._view, place)
                except CommonplaceError:
                    continue  # a link in its place
                if found is not None:
                    times.append(found.mtime_ns)
        return stat._replace(mtime_ns=max(times)) if times else None

    def _is_cut(self, path: BookPath) -> bool:
        return path == _FIRST_PAGE and self._view.reads is not None

    def _first_page(self, data: bytes) -> bytes:
        """The book's first page without the lines of folders that are not shown."""
        lines = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
        kept = [line for line in lines if self._may_stay(line)]
        return "".join(kept).encode("utf-8", "surrogateescape")

    def _may_stay(self, line: str) -> bool:
        match = _LINE.match(line)
        if match is None:
            return True
        try:
            return self._view.may_read(resolve(unquote(match.group(1))))
        except CommonplaceError:
            return True  # a link of a person's to elsewhere
