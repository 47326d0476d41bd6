"""`scan`: find secrets in what is already stored, from before the check at `store` or written by hand.

Everything a person or an agent may have written is read: notes, pages, data files that are text, history, trash,
settings. A secret is reported by its place and rule; its value is never kept, returned or shown.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from commonplace.maintenance.book_files import UNUSABLE_DATABASES, FolderItem, describe_error, read_file, walk_book
from commonplace.maintenance.findings import FindingList
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import ScanResult, SecretPlace
from commonplace.vault.paths import PRIVATE, BookPath

MAX_BYTES = 16_000_000
_DATABASES = ("index.db", "state.db")  # with their logs; the files have the same text
_MASK = "[secret]"
_BINARY_HEAD = 8_192  # a NUL in the first bytes: not text


class SecretSpan(Protocol):
    """Where a secret is in a text, and the rule that found it."""

    @property
    def rule(self) -> str:
        """The name of the rule."""

    @property
    def start(self) -> int:
        """Where the secret starts."""

    @property
    def end(self) -> int:
        """Where the secret ends."""


SecretFinder = Callable[[str], Sequence[SecretSpan]]
"""Returns the secrets of a text, in order, without those on lines marked as false positives."""


def scan(keep: MemoryStore, find_secrets: SecretFinder) -> ScanResult:
    """Return where the book has secrets. `find_secrets` is the rule that `store` uses."""
    places: list[SecretPlace] = []
    skipped = FindingList()
    files = 0

    def on_error(path: BookPath, error: CommonplaceError) -> None:
        skipped.add("not_scanned", _mask(str(path), find_secrets), describe_error(error))

    for _, items in walk_book(keep, on_error):
        for item in items:
            path = _mask(str(item), find_secrets)
            places += [SecretPlace(path, 0, secret.rule) for secret in find_secrets(item.name)]
            is_aside = item.folder == PRIVATE and item.name.startswith(UNUSABLE_DATABASES)
            is_database = item.folder == PRIVATE and item.name.startswith(_DATABASES) and not is_aside
            if not item.is_file or is_database:
                continue
            if item.path is None or is_aside or item.stat.size > MAX_BYTES:
                skipped.add("not_scanned", path, _explain_skip(item, is_aside=is_aside))
                continue
            files += 1
            document = read_file(keep, item.path, on_error)
            if document is not None:
                found = _scan_text(item.name, document.data, find_secrets)
                places += [SecretPlace(path, line, rule) for line, rule in found]
    places.sort(key=lambda place: (place.path, place.line, place.rule))
    return ScanResult(not places, files, tuple(places), tuple(skipped.sort()))


def _explain_skip(item: FolderItem, *, is_aside: bool) -> str:
    if item.path is None:
        return "A book cannot have such a name, so it was not opened."
    if is_aside:
        return "An unusable database may hold old text, and was not read."
    return f"It has {item.stat.size:,} bytes; no file of more than {MAX_BYTES:,} is read."


def _mask(path: str, find_secrets: SecretFinder) -> str:
    """Return a path that may be shown: secrets in its names are masked."""
    masked = []
    for name in path.split("/"):
        text = name
        for secret in reversed(find_secrets(name)):
            text = text[: secret.start] + _MASK + text[secret.end :]
        masked.append(text)
    return "/".join(masked).encode("utf-8", "backslashreplace").decode()


def _scan_text(name: str, data: bytes, find_secrets: SecretFinder) -> Iterator[tuple[int, str]]:
    """Yield line and rule of each secret in a text file; a note always counts as text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data[:_BINARY_HEAD] and not name.endswith(".md"):
        return
    else:
        text = data.decode("utf-8", "replace")
    line, at = 1, 0
    for secret in find_secrets(text):
        line += text.count("\n", at, secret.start)
        at = secret.start
        yield line, secret.rule
