"""Where a message of an mbox file begins and ends, in files of any size."""

import io
from collections.abc import Iterator
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.readers import mbox
from commonplace.tree.readers.mbox import MboxMessage, split_mbox

FROM = b"From ann@example.org Sun Nov 15 09:30:00 2026\n"
LINES = st.sampled_from(
    [
        b"",
        b"text",
        b"From Russia with love",
        b"From ann at 9:30",
        b">From a",
        b">>From b",
        b"From",
        b" From x",
        b"Note: x",
    ]
)


def split(data: bytes, limit: int = 64_000_000) -> list[MboxMessage]:
    """Return the messages of an mbox."""
    return list(split_mbox(io.BytesIO(data), limit))


def test_messages_are_returned_as_they_were_put_in() -> None:
    """Each message comes without its From_ line and the empty line behind it, with the offset of that line."""
    first, second = b"Subject: a\n\nhello\n", b"Subject: b\n\n\nbye\n\n"
    found = split(FROM + first + b"\n" + b"From - \n" + second)
    assert [message.data for message in found] == [first, second]
    assert [message.offset for message in found] == [0, len(FROM + first) + 1]
    assert found[0].envelope == "ann@example.org Sun Nov 15 09:30:00 2026"


@pytest.mark.parametrize(
    "body",
    [
        b"From Russia with love\n",
        b"text\nFrom ann@example.org Sun Nov 15 09:30:00 2026\nSubject: x\n",
        b"From ann at 9:30 we left\nand then\n",
        b"From here:\nhttps://example.org\n",
        b"From Monday on we work\nNote: bring tea\n",
    ],
)
def test_a_line_in_the_text_is_no_boundary(body: bytes) -> None:
    """A line that begins with "From " is a boundary only between an empty line and a header."""
    found = split(FROM + b"Subject: a\n\n" + body + b"\n" + FROM + b"Subject: b\n\nb\n")
    assert [message.data for message in found] == [b"Subject: a\n\n" + body, b"Subject: b\n\nb\n"]


def test_one_quote_mark_is_taken_from_quoted_lines() -> None:
    """A line that was quoted because it begins with "From " is as it was; a quote of a quote keeps a mark."""
    found = split(FROM + b"Subject: a\n\n>From here\n>>From there\n> From x\n")
    assert found[0].data == b"Subject: a\n\nFrom here\n>From there\n> From x\n"


def test_files_of_windows_are_read() -> None:
    """With CRLF between lines, a message ends before the empty line, too; a file need not end in a line end."""
    data = (FROM + b"Subject: a\n\nhello\n\n" + FROM + b"Subject: b\n\nbye").replace(b"\n", b"\r\n")
    assert [message.data for message in split(data)] == [b"Subject: a\r\n\r\nhello\r\n", b"Subject: b\r\n\r\nbye"]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"Subject: a\n\nhello\n", b"text\n\n" + FROM + b"Subject: a\n\n"])
def test_other_files_have_no_messages(data: bytes) -> None:
    """A file that does not begin with a From_ line is not an mbox file."""
    assert split(data) == []


@given(st.lists(st.lists(LINES, max_size=6), min_size=1, max_size=4), st.integers(1, 60))
def test_blocks_leave_no_trace(bodies: list[list[bytes]], block: int) -> None:
    """Messages that were written with quoted From_ lines come back, wherever the blocks of the file end."""
    messages = [b"\n".join([b"Subject: x", b"", *lines, b""]) for lines in bodies]
    written = b"".join(FROM + message.replace(b"\nFrom ", b"\n>From ") + b"\n" for message in messages)
    found = list(split_mbox(cast("BinaryIO", SmallReads(written, block))))
    expected = [message.replace(b"\n>From ", b"\nFrom ").replace(b"\n>>From ", b"\n>From ") for message in messages]
    expected[-1] += b"\n"  # nothing follows it, so the empty line is its own
    assert [message.data for message in found] == expected
    assert all(written[message.offset :].startswith(FROM) for message in found)


def test_what_is_too_large_is_passed_over() -> None:
    """A message above the limit has no data; the ones around it are read, and offsets stay right."""
    small, large = b"Subject: a\n\nhello\n", b"Subject: b\n\n" + b"0123456789\n" * 1_000
    data = FROM + small + b"\n" + FROM + large + b"\n" + FROM + small
    for block in (7, 1 << 20):
        found = list(split_mbox(cast("BinaryIO", SmallReads(data, block)), limit=5_000))
        assert [message.data for message in found] == [small, None, small]
        assert [data[message.offset :].startswith(FROM) for message in found] == [True] * 3


def test_a_large_message_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a message above the limit is passed over, at most the limit and a few blocks are in memory."""
    held: list[int] = []
    find = mbox._find_boundary

    def watch(buffer: bytearray, position: int, *, is_at_end: bool) -> tuple[bool, int]:
        held.append(len(buffer))
        return find(buffer, position, is_at_end=is_at_end)

    monkeypatch.setattr(mbox, "_find_boundary", watch)
    data = FROM + b"Subject: a\n\n" + b"0123456789\n" * 10_000
    found = list(split_mbox(cast("BinaryIO", SmallReads(data, 1_000)), limit=5_000))
    assert [message.data for message in found] == [None]
    assert 5_000 < max(held) < 10_000


class SmallReads:
    """A file that returns few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._blocks = self._divide(data, size)

    @staticmethod
    def _divide(data: bytes, size: int) -> Iterator[bytes]:
        for at in range(0, len(data), size):
            yield data[at : at + size]

    def read(self, _: int) -> bytes:
        """Return the next bytes."""
        return next(self._blocks, b"")
