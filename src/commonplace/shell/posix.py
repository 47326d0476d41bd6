"""POSIX regular expressions, basic and extended, as RE2 understands them.

GNU's additions are understood, too: `\\+`, `\\?` and `\\|` in basic ones, `\\w`, `\\s`, `\\b`, `\\<`, `\\>`. RE2 takes
time in proportion to what it reads, whatever the pattern. What it cannot do is refused in words: back-references, and
`\\<` or `\\>` beside something that may or may not be part of a word.
"""

from __future__ import annotations

from typing import NamedTuple

from commonplace.shell import bytesets as sets
from commonplace.shell.run import Trouble

_MOST_TIMES = 1_000  # RE2's own limit
_DEEPEST = 100
_ESCAPED_SETS = {ord("w"): sets.WORD, ord("W"): ~sets.WORD, ord("s"): sets.SPACE, ord("S"): ~sets.SPACE}
_COUNTED = frozenset(b"{%c" % byte for byte in b"0123456789,")
_EDGES = {ord("b"): rb"\b", ord("B"): rb"\B", ord("`"): b"^", ord("'"): b"$"}


class _Piece(NamedTuple):
    """A part of a pattern: how RE2 writes it, and with which bytes what it matches can start and end."""

    text: bytes
    first: int = 0
    last: int = 0
    empty: bool = True  # whether it may match nothing
    edge: str = ""  # "<" or ">": the start or the end of a word, of which RE2 only knows that it is one of the two


_NOTHING = _Piece(b"")


def translate(pattern: bytes, *, extended: bool, ignore_case: bool = False) -> bytes:
    """A pattern of grep as one for RE2 in Latin-1; each line of it is an alternative."""
    parts = [_Parser(line, extended, ignore_case).parse() for line in pattern.split(b"\n")]
    return b"|".join(parts) if len(parts) > 1 else parts[0]


def literal(text: bytes, *, ignore_case: bool = False) -> bytes:
    """A fixed text, or each line of it, as a pattern for RE2 in Latin-1."""
    lines = [b"".join(_one(byte, ignore_case).text for byte in line) for line in text.split(b"\n")]
    return b"|".join(lines)


def glob(pattern: bytes) -> bytes:
    """A pattern of file names (`*`, `?`, `[...]`) as one for RE2 in Latin-1, for a whole name."""
    out, at = [], 0
    while at < len(pattern):
        byte, at = pattern[at : at + 1], at + 1
        if byte == b"*":
            out.append(b"(?s:.)*")
        elif byte == b"?":
            out.append(b"(?s:.)")
        elif byte == b"[":
            try:
                members, negated, end = sets.bracket(pattern, at, b"!^", escapes=True)
            except Trouble:  # then it stands for itself
                out.append(rb"\[")
            else:
                out.append(sets.expression(sets.ALL & ~members if negated else members))
                at = end
        else:
            if byte == b"\\" and at < len(pattern):
                byte, at = pattern[at : at + 1], at + 1
            out.append(sets.expression(sets.of(byte[0])))
    return b"".join(out)


def _one(byte: int, ignore_case: bool) -> _Piece:
    return _any_of(sets.folded(sets.of(byte)) if ignore_case else sets.of(byte))


def _any_of(members: int) -> _Piece:
    return _Piece(sets.expression(members), members, members, empty=False)


class _Parser:
    """Both kinds in one: an operator is the bare character in one of them and the escaped one in the other."""

    def __init__(self, pattern: bytes, extended: bool, ignore_case: bool) -> None:
        self._pattern, self._extended, self._fold = pattern, extended, ignore_case
        self._at, self._depth = 0, 0

    def parse(self) -> bytes:
        found = self._alternatives()
        if self._at < len(self._pattern):
            raise Trouble("Unmatched ) or \\)")
        return found.text

    def _is(self, operator: str, at: int | None = None) -> int:
        """The length of an operator if it stands here, else 0."""
        spelled = operator.encode() if self._extended else b"\\" + operator.encode()
        return len(spelled) if self._pattern.startswith(spelled, self._at if at is None else at) else 0

    def _ends(self, at: int) -> bool:
        """Whether an alternative ends here."""
        if at >= len(self._pattern) or self._is("|", at):
            return True
        return bool(self._is(")", at)) and (self._depth > 0 or not self._extended)

    def _alternatives(self) -> _Piece:
        parts = [self._sequence()]
        while length := self._is("|"):
            self._at += length
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        first = last = 0
        for part in parts:
            first, last = first | part.first, last | part.last
        return _Piece(b"|".join(part.text for part in parts), first, last, any(part.empty for part in parts))

    def _sequence(self) -> _Piece:
        items: list[_Piece] = []
        nothing_yet = True  # but anchors and edges of words: after these `*` is text in a basic one, as at the start
        while not self._ends(self._at):
            atom = self._atom(start=not items)
            nothing_yet = nothing_yet and not atom.first and not atom.text.startswith(b"(")
            items.append(atom if nothing_yet and not self._extended else self._repeated(atom))
        return _joined(items)

    def _atom(self, *, start: bool) -> _Piece:
        """The next thing that can be repeated."""
        pattern, at = self._pattern, self._at
        byte = pattern[at]
        if length := self._is("("):
            self._at += length
            return self._group()
        if byte == ord("\\"):
            return self._escaped()
        self._at += 1
        if byte == ord("["):
            return self._bracket()
        if byte == ord("."):
            return _any_of(sets.ALL)
        if byte == ord("^") and (start or self._extended):
            return _Piece(b"^")
        if byte == ord("$") and (self._extended or self._ends(at + 1)):
            return _Piece(b"$")
        if self._extended and start and (byte in b"*+?" or self._pattern[at : at + 2] in _COUNTED):
            self._at = at
            return _NOTHING  # a repetition of nothing
        return _one(byte, self._fold)

    def _group(self) -> _Piece:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Trouble(f"more than {_DEEPEST} groups inside one another are not understood here")
        inner = self._alternatives()
        if not (length := self._is(")")):
            raise Trouble("Unmatched ( or \\(")
        self._depth -= 1
        self._at += length
        return inner._replace(text=b"(?:" + inner.text + b")", edge="")

    def _bracket(self) -> _Piece:
        opened = self._at - 1
        members, negated, self._at = sets.bracket(self._pattern, self._at)
        whole = self._pattern[opened : self._at]
        if len(whole) > 4 and whole[1:2] == b":" and whole[-2:-1] == b":":
            raise Trouble("character class syntax is [[:space:]], not [:space:]")
        members = sets.folded(members) if self._fold else members
        return _any_of(sets.ALL & ~members if negated else members)

    def _escaped(self) -> _Piece:
        if self._at + 1 >= len(self._pattern):
            raise Trouble("Trailing backslash")
        byte = self._pattern[self._at + 1]
        self._at += 2
        if byte in b"123456789":
            raise Trouble("back-references are not understood here: patterns run in linear time")
        if byte in b"<>":
            return _Piece(rb"\b", edge=chr(byte))
        if byte in _EDGES:
            return _Piece(_EDGES[byte])
        if byte in _ESCAPED_SETS:
            return _any_of(_ESCAPED_SETS[byte] & sets.ALL)
        return _one(byte, self._fold)

    def _repeated(self, atom: _Piece) -> _Piece:
        while self._at < len(self._pattern):
            if self._pattern[self._at] == ord("*"):
                atom, length = _times(atom, b"*", empty=True), 1
            elif length := self._is("+"):
                atom = _times(atom, b"+", empty=atom.empty)
            elif length := self._is("?"):
                atom = _times(atom, b"?", empty=True)
            elif self._is("{") and (bounds := self._interval(self._at)):
                low, high, end = bounds
                most = b"" if high is None else b"%d" % high
                times = b"{%d}" % low if high == low else b"{%d,%s}" % (low, most)
                atom, length = _times(atom, times, empty=atom.empty or low == 0), end - self._at
            else:
                break
            self._at += length
        return atom

    def _interval(self, at: int) -> tuple[int, int | None, int] | None:
        """`{m,n}` at this place: the bounds and where it ends; None where, in an extended one, the brace is text."""
        close = b"}" if self._extended else b"\\}"
        begin = at + (1 if self._extended else 2)
        end = self._pattern.find(close, begin)
        inner = self._pattern[begin:end].split(b",") if end >= 0 else []
        numbers = bool(inner) and all(part.isdigit() or not part for part in inner)
        if not numbers or len(inner) > 2 or inner == [b""]:
            if self._extended and not numbers:
                return None
            raise Trouble("Unmatched \\{" if end < 0 else "Invalid content of \\{\\}")
        low = int(inner[0][:6] or 0)
        high = low if len(inner) == 1 else int(inner[1][:6]) if inner[1] else None
        if high is not None and high < low:
            raise Trouble("Invalid content of \\{\\}")
        if max(low, high or 0) > _MOST_TIMES:
            raise Trouble(f"a repetition of more than {_MOST_TIMES:,} times is not understood here")
        return low, high, end + len(close)


def _times(atom: _Piece, times: bytes, *, empty: bool) -> _Piece:
    if atom.edge:
        raise Trouble("\\< and \\> cannot be repeated here")
    return atom._replace(text=b"(?:" + atom.text + b")" + times, empty=empty)


def _joined(items: list[_Piece]) -> _Piece:
    """Items in a row; what starts and ends it is told by those of them that may not be left out."""
    for place, item in enumerate(items):
        if item.edge == "<":
            items[place] = _edge(_start(items[place + 1 :]), item)
        elif item.edge == ">":
            items[place] = _edge(_end(items[:place]), item)
    first, _ = _start(items)
    last, _ = _end(items)
    return _Piece(b"".join(item.text for item in items), first, last, all(item.empty for item in items))


def _start(items: list[_Piece]) -> tuple[int, bool]:
    found = 0
    for item in items:
        found |= item.first
        if not item.empty:
            return found, True
    return found, False


def _end(items: list[_Piece]) -> tuple[int, bool]:
    return _start([item._replace(first=item.last) for item in reversed(items)])


def _edge(beside: tuple[int, bool], item: _Piece) -> _Piece:
    """`\\<` is `\\b` where a byte of a word must follow, and can never match where none can."""
    members, certain = beside
    if certain and not members & ~sets.WORD:
        return _Piece(rb"\b")
    if certain and not members & sets.WORD:
        return _Piece(sets.expression(0))
    where = "before" if item.edge == "<" else "after"
    raise Trouble(f"\\{item.edge} is understood here only {where} a letter, a digit or _: use \\b, or grep -w")
