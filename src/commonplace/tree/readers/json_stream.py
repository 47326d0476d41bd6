"""Read the items of a JSON file one at a time: memory is bounded by one item, however large the file is.

The readers of exports (Slack, ChatGPT, Claude) call `iterate_items` with what makes an object an item. A broken item is
None, once for each stretch that cannot be read, and the items behind it are found again. `read_text` and `read_line`
make of a JSON value what a unit may hold.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from commonplace.model.lazy import lazy
from commonplace.tree.source import MAX_MESSAGE

_STEP = 1_000_000  # bytes that are read at a time
_NEAR_END = 16  # characters: an error so near to the end of what was read may only say that it was cut there
_DEEP = 10_000  # characters, about, in which something is nested too deeply
_MOST_EFFORT = 4 * MAX_MESSAGE  # characters that are parsed in vain to find the next item
_DECODER = json.JSONDecoder(strict=False)
_BETWEEN = lazy(r"[\s,]*")
_OBJECT = lazy(r'\{\s*"')
_SURROGATE = lazy("[\ud800-\udfff]")
_MOST_TITLE = 200  # characters
Item = dict[str, Any]


class _Broken(Exception):
    """What stands here is no JSON; `length` characters were parsed in vain."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length


def iterate_items(file: BinaryIO, is_item: Callable[[Item], bool]) -> Iterator[Item | None]:
    """Yield the items of a list of objects, or of objects one after the other; None for what is broken, or no item."""
    window = _Window(file)
    if window.find_next() == "[":
        window.at += 1
    while window.find_next() not in ("", "]"):
        try:
            value = window.decode()
        except _Broken as broken:
            yield None
            value = _find_item(window, is_item, broken.length)
            if value is None:
                return
        yield value if isinstance(value, dict) and is_item(value) else None


def read_text(value: object) -> str:
    """Return a JSON value as the text of a unit: "" if it is no text."""
    if not isinstance(value, str):
        return ""
    text = value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def read_line(value: object) -> str:
    """Return a JSON value as one line, such as a name: "" if it is no text."""
    line = " ".join(read_text(value).split())
    return line if len(line) <= _MOST_TITLE else f"{line[: _MOST_TITLE - 1].rstrip()}…"


def objects_in(value: object) -> list[Item]:
    """Return the objects in a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class _Window:
    """The part of a file that is looked at: its text from `at` on was not read yet."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self.text, self.at, self.is_ended = "", 0, False

    def grow(self) -> None:
        """Drop what was read, and read on: as much again as is left, so that a long item is parsed few times."""
        left = self.text[self.at :]
        data = self._file.read(max(_STEP, len(left)))
        self.is_ended = not data
        self.text, self.at = left + self._decode(data, self.is_ended), 0

    def find_next(self) -> str:
        """Go to the next item, or to the end of the list, and return the character there; "" at the end of the file."""
        while True:
            match = _BETWEEN.match(self.text, self.at)
            self.at = match.end() if match is not None else self.at
            if self.at < len(self.text) or self.is_ended:
                return self.text[self.at : self.at + 1]
            self.grow()

    def find_object(self) -> bool:
        """Go to the next place where an object begins; return whether there is one."""
        while True:
            match = _OBJECT.search(self.text, self.at)
            if match is not None:
                self.at = match.start()
                return True
            self.at = max(self.at, len(self.text) - _STEP // 2) if not self.is_ended else len(self.text)
            if self.is_ended:
                return False
            self.grow()

    def decode(self) -> Any:
        """Return the value that begins here, and go behind it. Raises _Broken, and stays."""
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(self.text) - _NEAR_END or error.msg.startswith("Unterminated string")
                if not is_cut or self.is_ended or len(self.text) - self.at > MAX_MESSAGE:
                    raise _Broken(error.pos - self.at) from None
                self.grow()
            except RecursionError:  # 1,000 lists in each other
                raise _Broken(_DEEP) from None
            except ValueError:  # a number of 5,000 digits
                raise _Broken(_STEP) from None
            else:
                return value


def _find_item(window: _Window, is_item: Callable[[Item], bool], effort: int) -> Item | None:
    """Return the next item behind something that is broken; None if there is none.

    The broken item has objects of its own, which may well be whole: they are no items, and are passed over.
    """
    window.at += 1
    while effort < _MOST_EFFORT and window.find_object():
        try:
            value = window.decode()
        except _Broken as broken:
            effort += broken.length
            window.at += 1
        else:
            if is_item(value):
                return dict(value)
    return None
