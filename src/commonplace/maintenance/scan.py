"""`scan`: secrets in what is stored already, from before the gate, past it, or by hand.

Everything a person or an agent may have written is read: notes, pages, data files that are text, history, trash,
settings. What looks like a secret is named by its place and rule; the value itself is never kept, returned or shown.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from commonplace.keep.unit import Keep
from commonplace.maintenance.findings import Findings
from commonplace.maintenance.records import ASIDE
from commonplace.maintenance.walk import Refused, Seen, walk, why
from commonplace.model.errors import CommonplaceError, NotFound, TooManyFiles
from commonplace.model.results import Scanned, SecretPlace
from commonplace.vault.paths import PRIVATE, BookPath
from commonplace.vault.port import Kind
from commonplace.vault.view import KEEPER

MAX_BYTES = 16_000_000
_DATABASES = ("index.db", "state.db")  # with their logs; what is in them is in the files
_MARK = "[secret]"
_BINARY = 8_192  # a NUL in so many bytes: not text


class Found(Protocol):
    @property
    def rule(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


Find = Callable[[str], Sequence[Found]]
"""The secrets of a text, in order, without those on lines that say they are none."""


def scan(keep: Keep, find: Find) -> Scanned:
    """Look through the whole book. `find` is the gate's own rule."""
    places: list[SecretPlace] = []
    skipped = Findings()
    files = 0

    def refused(path: BookPath, error: CommonplaceError) -> None:
        skipped.add("not_scanned", _masked(str(path), find), why(error))

    for _, inside in walk(keep, refused):
        for item in inside:
            path = _masked(str(item), find)
            places += [SecretPlace(path, 0, found.rule) for found in find(item.name)]
            if item.stat.kind is not Kind.FILE or _is_database(item):
                continue
            reason = _why_not(item)
            if reason is not None or item.path is None:
                skipped.add("not_scanned", path, reason)
                continue
            files += 1
            data = _read(keep, item.path, refused)
            places += [SecretPlace(path, line, rule) for line, rule in _in_text(item.name, data, find)]
    places.sort(key=lambda place: (place.path, place.line, place.rule))
    return Scanned(not places, files, tuple(places), tuple(skipped.answer()))


def _is_database(item: Seen) -> bool:
    return item.folder == PRIVATE and item.name.startswith(_DATABASES) and not _is_aside(item)


def _is_aside(item: Seen) -> bool:
    return item.folder == PRIVATE and item.name.startswith(ASIDE)


def _why_not(item: Seen) -> str | None:
    """Why a file is not read; None when it is."""
    if item.path is None:
        return "Its name cannot be in a book, so it was not opened."
    if _is_aside(item):
        return "A database that was put aside may hold old text, and was not read."
    if item.stat.size > MAX_BYTES:
        return f"It has {item.stat.size:,} bytes; no file of more than {MAX_BYTES:,} is read."
    return None


def _read(keep: Keep, path: BookPath, refused: Refused) -> bytes:
    try:
        return keep.vault.read(keep.space, KEEPER, path).data
    except NotFound:  # it went meanwhile
        return b""
    except TooManyFiles:
        raise
    except CommonplaceError as error:
        refused(path, error)
        return b""


def _masked(path: str, find: Find) -> str:
    """A path as it may be shown: without any secret that is in its names."""
    names = path.split("/")
    for number, name in enumerate(names):
        for found in reversed(find(name)):
            names[number] = names[number][: found.start] + _MARK + names[number][found.end :]
    return "/".join(names).encode("utf-8", "backslashreplace").decode()


def _in_text(name: str, data: bytes, find: Find) -> Iterator[tuple[int, str]]:
    """Line and rule of each secret in a file that is text; a note always is."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data[:_BINARY] and not name.endswith(".md"):
        return
    else:
        text = data.decode("utf-8", "replace")
    line, at = 1, 0
    for found in find(text):
        line += text.count("\n", at, found.start)
        at = found.start
        yield line, found.rule
