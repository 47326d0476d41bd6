"""What people see: plain text when piped; on a terminal colour, and tables that fit it.

Text from a book goes through `shown`: nothing in it can move the cursor or hide. Only the sixteen colours that every
theme, light or dark, makes readable are used, and none where NO_COLOR is set.

As JSON, every value of the model becomes an object with its fields by name.
"""

from __future__ import annotations

import json
import os
import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import Enum
from typing import TextIO

from commonplace.model.memory import Memory
from commonplace.text.fence import is_hidden, visible

_STYLES = {"strong": "1", "weak": "2", "good": "32", "warn": "33", "bad": "31", "name": "36"}
_GAP = "  "
_LAST_AT_LEAST = 12  # columns of the last one before the others are cut, too
_SHOW_AFTER = 0.5  # seconds until a progress bar is shown
_RATE_AFTER = 3.0  # seconds until it tells the time that is left
_DRAW_EVERY = 0.1
_CELLS = 24
_LEAST_WRAPPED = 20  # columns: a text beside a smaller terminal is left as it is
_QUOTED_OR_WORD = re.compile(r"[^\s`]*`[^`]*`\S*|\S+")


class Screen:
    """A stream that people read."""

    def __init__(self, stream: TextIO, environment: Mapping[str, str]) -> None:
        self._stream = stream
        self.tty = stream.isatty()
        self._colour = self.tty and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        self.width = terminal_width(stream, environment) if self.tty else 0  # 0: as wide as it takes

    def paint(self, text: str, style: str) -> str:
        """Return a text in a style, where there is colour."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colour and text and style else text

    def minute(self, stamp: str) -> str:
        """Return a timestamp to the minute: on a terminal by this machine's clock, else in UTC with a Z."""
        if len(stamp) < 16:
            return stamp
        if self.tty:
            with suppress(ValueError, OverflowError, OSError):  # a day that no calendar has, or this machine's has not
                return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
        return f"{stamp[:10]} {stamp[11:16]}Z"

    def day(self, stamp: str) -> str:
        """Return the day of a timestamp, as `minute` does."""
        return self.minute(stamp)[:10]

    def line(self, text: str = "") -> None:
        """Print a line."""
        self._stream.write(f"{text}\n")

    def sentence(self, text: str, style: str = "", *, start: str = "", start_style: str = "", indent: str = "") -> None:
        """Print a sentence of ours, perhaps after a start such as `error:`; on a terminal it is wrapped at words."""
        whole = f"{start} {text}" if start else text
        for number, line in enumerate(self.wrap(whole, len(indent))):
            head = start if number == 0 else ""
            self.line(indent + self.paint(head, start_style) + self.paint(line[len(head) :], style))

    def wrap(self, text: str, indent: int = 0) -> list[str]:
        """Return a sentence in lines that fit beside an indent; in one line where this is no terminal."""
        room = self.width - indent
        return wrap_words(text, room) if room >= _LEAST_WRAPPED else [text]

    def label(self, name: str, value: str, column: int = 12, style: str = "weak", indent: str = "") -> None:
        """Print what something is called, and what it is in a column of its own, wrapped at words."""
        first, *rest = self.wrap(shown(value), len(indent) + column + 1)
        self.line(f"{indent}{self.paint(f'{shown(name):<{column}}', style)} {first}")
        for line in rest:
            self.line(f"{indent}{' ' * column} {line}")

    def block(self, text: str, indent: str = "  ", style: str = "") -> None:
        """Print a text from the book, indented; on a terminal long lines are wrapped."""
        for line in shown(text).splitlines() or [""]:
            for piece in _wrapped(line, self.width - len(indent)) if self.width else [line]:
                self.line(indent + self.paint(piece.rstrip(), style) if piece.strip() else "")

    def table(
        self,
        headers: Sequence[str],
        rows: Sequence[Sequence[str]],
        styles: Sequence[str] = (),
        *,
        has_paths: bool = False,
    ) -> None:
        """Print columns as wide as they need; on a terminal, with headers and cut to fit.

        With `has_paths`, the last column is not cut: what does not fit there stands below its row, to be opened.
        """
        if not rows:
            return
        cells = [[shown(cell).replace("\n", " ").replace("\t", " ") for cell in row] for row in rows]
        everything = [list(headers), *cells] if self.tty else cells
        widths = [max(map(columns, column)) for column in zip(*everything, strict=True)]
        room = self.width - len(_GAP) * (len(widths) - 1)
        last = len(widths) - 1 if has_paths and self.width and sum(widths) > room else len(widths)
        if self.width:
            widths = _fitted(widths[:last], room)
        for number, row in enumerate(everything):
            head = self.tty and number == 0
            parts = []
            for place, cell in enumerate(row[:last]):
                text = _cut(cell, widths[place])
                style = "weak" if head else (styles[place] if place < len(styles) else "")
                padding = "" if place == last - 1 else " " * (widths[place] - columns(text))
                parts.append((self.paint(text, style) if style else text) + padding)
            self.line(_GAP.join(parts).rstrip())
            if not head and "".join(row[last:]):
                self.line(f"  {self.paint(row[last], 'weak')}")

    def value(self, value: object) -> None:
        """Print a result that has no form of its own: its fields, a line each; of several, one after the other."""
        fields: tuple[str, ...] = getattr(value, "_fields", ())
        if isinstance(value, (list, tuple)) and not fields:
            for item in value:
                self.value(item)
        elif fields:
            for name in fields:
                self.line(f"{self.paint(f'{name:<12}', 'weak')} {shown(str(getattr(value, name)))}")
        else:
            self.line(shown(str(value)))


class ProgressBar:
    """A line on the terminal that says how far long work is. Work that is soon done shows nothing."""

    def __init__(self, stream: TextIO) -> None:
        self.noun = "notes"
        self.next_step = ""  # what is done once all of them are, before the command ends
        self._stream = stream
        self._began = time.monotonic()
        self._next = self._began + _SHOW_AFTER
        self._drawn = False
        self._done = 0

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar, if it is time."""
        now = time.monotonic()
        if done < self._done:  # the next pass over the same notes
            self._began = now
        self._done = done
        is_over = bool(self.next_step) and done >= total
        if now < self._next and not (is_over and self._drawn):
            return
        self._next, self._drawn = now + _DRAW_EVERY, True
        full = _CELLS * done // max(total, done, 1)
        bar = "#" * full + "." * (_CELLS - full)
        more = f"; {self.next_step}" if is_over else self._describe_rate(done, total)
        self._stream.write(f"\r\x1b[K  [{bar}] {done:,} of {total:,} {self.noun}{more}")
        self._stream.flush()

    def _describe_rate(self, done: int, total: int) -> str:
        """Return how fast the work goes and how long it will take, once that can be told."""
        seconds = time.monotonic() - self._began
        if seconds < _RATE_AFTER or not done:
            return ""
        left = round(seconds * (total - done) / done) if total > done else 0
        return f", {done / seconds:,.0f} a second, {left // 60}:{left % 60:02} left"

    def close(self) -> None:
        """Take the bar off the screen."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False


def shown(text: str) -> str:
    """Return a text with nothing in it that a terminal would obey."""
    return visible(text)


def scope_name(scope: str, scope_id: str | None) -> str:
    """Return a scope as people read it: `project github.com/acme/app`."""
    return shown(f"{scope} {scope_id}" if scope_id else scope)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_column, text))


def _column(ch: str) -> int:
    if unicodedata.category(ch) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1


def terminal_width(stream: TextIO, environment: Mapping[str, str]) -> int:
    """Return the columns of a terminal."""
    given = environment.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _fitted(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit into a terminal: the last column gives way first, then the widest."""
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
    """Return a line in pieces that fit; an indented one (code, lists) stays as it is."""
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


def wrap_words(text: str, width: int) -> list[str]:
    """Return a sentence of ours in lines that fit; what stands in backquotes is not divided where it fits into one."""
    lines = [""]
    for word in _QUOTED_OR_WORD.findall(text):
        pieces = [word] if columns(word) <= width else word.split(" ")
        for piece in pieces:
            if lines[-1] and columns(lines[-1]) + 1 + columns(piece) > width:
                lines.append(piece)
            else:
                lines[-1] = f"{lines[-1]} {piece}" if lines[-1] else piece
    return lines


# Answers as JSON

_ENTRY_FIELDS = ("id", "time", "author", "trust", "text", "session", "occurred", "thread", "seq", "tags")
_SUSPECT = re.compile(r"[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]")


def as_json(value: object, encoding: str | None = "utf-8") -> str:
    """Return one line of JSON, with escapes for what the stream or a terminal would not show as it is."""
    unicode = (encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
    text = json.dumps(plain(value), ensure_ascii=not unicode)
    return _SUSPECT.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """Escape what a terminal obeys or does not show, as JSON does: a parser gets it as it was."""
    ch = match.group()
    return json.dumps(ch)[1:-1] if is_hidden(ch) else ch


def plain(value: object) -> object:
    """Return a value made of dicts, lists and scalars only."""
    if isinstance(value, Memory):
        return _memory(value)
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        return [plain(item) for item in value]
    names: tuple[str, ...] = getattr(value, "_fields", getattr(type(value), "__slots__", ()))
    return _fields(value, *names)


def _memory(memory: Memory) -> dict[str, object]:
    """Return a memory as a flat object: scripts rely on this shape."""
    meta = memory.meta
    return {
        "id": meta.id,
        "key": memory.key,
        "scope": memory.scope.kind.value,
        "scope_id": memory.scope.id,
        **_fields(memory, "path", "revision", "also_in"),
        **_fields(meta, "type", "status", "summary", "tags", "pinned", "created", "updated", "links"),
        "entries": [_fields(entry, *_ENTRY_FIELDS) for entry in memory.entries],
    }


def _fields(value: object, *names: str) -> dict[str, object]:
    return {name: plain(getattr(value, name)) for name in names}
