"""What people see: plain text when piped; on a terminal colour, and tables that fit it.

Text from a book goes through `shown`: nothing in it can move the cursor or hide. Only the sixteen colours that every
theme, light or dark, makes readable are used, and none where NO_COLOR is set.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TextIO

from commonplace.text.fence import visible

_STYLES = {"strong": "1", "weak": "2", "good": "32", "warn": "33", "bad": "31", "name": "36"}
_GAP = "  "
_LAST_AT_LEAST = 12  # columns of the last one before the others are cut, too


class Screen:
    def __init__(self, stream: TextIO, environment: Mapping[str, str]) -> None:
        self._stream = stream
        self.tty = stream.isatty()
        self._colour = self.tty and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        self.width = terminal_width(stream, environment) if self.tty else 0  # 0: as wide as it takes

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colour and text else text

    def line(self, text: str = "") -> None:
        self._stream.write(f"{text}\n")

    def block(self, text: str, indent: str = "  ") -> None:
        """Several lines of somebody's text, indented; on a terminal long ones are wrapped."""
        for line in shown(text).splitlines() or [""]:
            for piece in _wrapped(line, self.width - len(indent)) if self.width else [line]:
                self.line(f"{indent}{piece}".rstrip())

    def table(
        self, headers: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = (), *, headed: bool = False
    ) -> None:
        """Columns as wide as they need; on a terminal they are cut to fit it. Headers are shown there, or always."""
        cells = [[shown(cell).replace("\n", " ").replace("\t", " ") for cell in row] for row in rows]
        headed = headed or self.tty
        everything = [list(headers), *cells] if headed else cells
        widths = [max(map(columns, column)) for column in zip(*everything, strict=True)] if everything else []
        if self.width and widths:
            widths = _fitted(widths, self.width - len(_GAP) * (len(widths) - 1))
        for number, row in enumerate(everything):
            head = headed and number == 0
            parts = []
            for place, cell in enumerate(row):
                text = _cut(cell, widths[place])
                style = "weak" if head else (styles[place] if place < len(styles) else "")
                padding = "" if place == len(row) - 1 else " " * (widths[place] - columns(text))
                parts.append((self.paint(text, style) if style else text) + padding)
            self.line(_GAP.join(parts).rstrip())


def shown(text: str) -> str:
    """A text with nothing in it that a terminal would obey."""
    return visible(text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_column, text))


def _column(ch: str) -> int:
    if unicodedata.category(ch) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1


def plural(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def minute(stamp: str) -> str:
    """A timestamp as people read it, to the minute, in UTC as it is stored."""
    return f"{stamp[:10]} {stamp[11:16]}" if len(stamp) >= 16 else stamp


def terminal_width(stream: TextIO, environment: Mapping[str, str]) -> int:
    given = environment.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _fitted(widths: Sequence[int], room: int) -> list[int]:
    """Widths that fit into a terminal: the last column gives way first, then whichever is widest."""
    fitted = list(widths)
    over = max(0, sum(fitted) - room)
    fitted[-1] -= min(over, max(0, fitted[-1] - _LAST_AT_LEAST))
    while sum(fitted) > room and max(fitted) > 1:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def _cut(text: str, width: int) -> str:
    if len(text) * 2 <= width or columns(text) <= width:
        return text
    taken = 0
    for number, ch in enumerate(text):
        taken += _column(ch)
        if taken > width - 1:
            return text[:number].rstrip() + "…"
    return text


def _wrapped(line: str, width: int) -> list[str]:
    """A line in pieces that fit; what is indented (code, lists) stays as it is."""
    if columns(line) <= width or width < 20 or line[:1].isspace():
        return [line]
    pieces, piece = [], ""
    for word in line.split(" "):
        if piece and columns(piece) + 1 + columns(word) > width:
            pieces.append(piece)
            piece = word
        else:
            piece = f"{piece} {word}" if piece else word
    return [*pieces, piece]
