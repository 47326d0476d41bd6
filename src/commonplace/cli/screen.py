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


class Screen:
    def __init__(self, stream: TextIO, environment: Mapping[str, str]) -> None:
        self._stream = stream
        self.tty = stream.isatty()
        self._colour = self.tty and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        self.width = _width(stream, environment) if self.tty else 0  # 0: as wide as it takes

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colour and text else text

    def line(self, text: str = "") -> None:
        self._stream.write(f"{text}\n")

    def block(self, text: str, indent: str = "  ") -> None:
        """Several lines of somebody's text, indented; on a terminal long ones are wrapped."""
        for line in shown(text).splitlines() or [""]:
            for piece in _wrapped(line, self.width - len(indent)) if self.width else [line]:
                self.line(f"{indent}{piece}".rstrip())

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
        """Columns as wide as they need; on a terminal the last is cut to what is left, and headers are shown."""
        cells = [[shown(cell).replace("\n", " ") for cell in row] for row in rows]
        everything = [list(headers), *cells] if self.tty else cells
        widths = [max(map(columns, column)) for column in zip(*everything, strict=True)] if everything else []
        if self.width and widths:
            widths[-1] = max(12, self.width - sum(widths[:-1]) - 2 * (len(widths) - 1))
        for number, row in enumerate(everything):
            head = self.tty and number == 0
            parts = []
            for place, cell in enumerate(row):
                last = place == len(row) - 1
                text = _cut(cell, widths[place]) if last and self.width else cell
                style = "weak" if head else (styles[place] if place < len(styles) else "")
                padding = "" if last else " " * (widths[place] - columns(text))
                parts.append((self.paint(text, style) if style else text) + padding)
            self.line("  ".join(parts).rstrip())


def shown(text: str) -> str:
    """A text with nothing in it that a terminal would obey."""
    return visible(text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def plural(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def minute(stamp: str) -> str:
    """A timestamp as people read it, to the minute, in UTC as it is stored."""
    return f"{stamp[:10]} {stamp[11:16]}" if len(stamp) >= 16 else stamp


def _width(stream: TextIO, environment: Mapping[str, str]) -> int:
    given = environment.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _cut(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    while text and columns(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


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
