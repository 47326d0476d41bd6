"""What the tests of the readers of chats share: a source in memory, and rubbish made of a good one."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import BinaryIO, cast

from hypothesis import strategies as st

from commonplace.model.errors import Unreadable
from commonplace.tree.source import MAX_MESSAGE, FileSet, ReadOptions, SkippedUnit, SourceReader, SourceUnit

BERLIN = ReadOptions(timezone="Europe/Berlin")


class MemoryFiles:
    """Files that are given as bytes."""

    def __init__(self, files: Mapping[str, bytes], given: str = "/home/ann/export") -> None:
        self.given, self._files = given, files
        self.names = sorted(files)

    def size(self, name: str) -> int:
        """Return how many bytes a file has."""
        return len(self._files[name])

    def modified(self, name: str) -> str:
        """Return nothing: it is not known."""
        return ""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for reading; one whose name says so is unreadable."""
        if "locked" in name:
            raise Unreadable(f"{name} is locked.")
        return io.BytesIO(self._files[name])


def read_all(
    reader: object, files: Mapping[str, bytes] | FileSet, options: ReadOptions = BERLIN
) -> tuple[list[SourceUnit], list[SkippedUnit]]:
    """Return the units that a reader finds, and what it skipped; check what every unit promises."""
    found = cast("SourceReader", reader)
    source = MemoryFiles(files) if isinstance(files, Mapping) else files
    found.matches(source)
    units, skipped = [], []
    for item in found.read(source, options):
        if isinstance(item, SkippedUnit):
            skipped.append(item)
            continue
        units.append(item)
        assert item.kind == found.KIND
        assert item.place
        assert item.text.strip() or item.attachments
        assert len(item.text) <= MAX_MESSAGE
        for text in (item.text, item.title, item.author.name, item.thread, item.native_id, *item.attachments):
            assert "\0" not in text
            assert "\r" not in text
            text.encode()  # no half of a surrogate pair
        assert "\n" not in item.title + item.native_id + item.thread
    return units, skipped


def matches(reader: object, files: Mapping[str, bytes], given: str = "/home/ann/export") -> bool:
    """Return whether a reader takes some files for its own."""
    return cast("SourceReader", reader).matches(MemoryFiles(files, given))


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Return a file with up to four pieces cut out, doubled, or replaced by rubbish."""
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        rubbish = [b"", data[start:end] * 2, b"\0", b"{", b'"', b"]", b"\xff\xfe", b"\n", b"null", b"1e999", b"\\ud800"]
        piece = draw(st.sampled_from(rubbish) | st.binary(max_size=8))
        data = data[:start] + piece + data[end:]
    return data


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def twisted(draw: st.DrawFn, value: object) -> object:
    """Return a JSON value of which some parts are of another type."""
    if draw(st.integers(0, 12)) == 0:
        return draw(JSON)
    if isinstance(value, dict):
        return {key: draw(twisted(inner)) for key, inner in value.items() if draw(st.integers(0, 12))}
    if isinstance(value, list):
        return [draw(twisted(inner)) for inner in value]
    return value
