"""Sets of bytes, and the bracket expressions that name them, as POSIX has them in the C locale.

Patterns of the shell see bytes, as the GNU tools do with LC_ALL=C. A set is a number with a bit for each byte, so that
union, intersection and complement are what they are for numbers.
"""

from __future__ import annotations

from commonplace.shell.run import Trouble

ALL = (1 << 256) - 1


def of(*members: int) -> int:
    found = 0
    for byte in members:
        found |= 1 << byte
    return found


def span(first: int, last: int) -> int:
    return of(*range(first, last + 1))


_UPPER, _LOWER, _DIGIT = span(65, 90), span(97, 122), span(48, 57)
_PRINT, _BLANK = span(32, 126), of(32, 9)
WORD = _UPPER | _LOWER | _DIGIT | of(95)
SPACE = of(*b" \t\n\r\f\v")
_CLASSES = {
    "alpha": _UPPER | _LOWER,
    "digit": _DIGIT,
    "alnum": _UPPER | _LOWER | _DIGIT,
    "upper": _UPPER,
    "lower": _LOWER,
    "space": SPACE,
    "blank": _BLANK,
    "punct": _PRINT & ~(_UPPER | _LOWER | _DIGIT | of(32)),
    "print": _PRINT,
    "graph": _PRINT & ~of(32),
    "cntrl": span(0, 31) | of(127),
    "xdigit": _DIGIT | span(65, 70) | span(97, 102),
}


def folded(members: int) -> int:
    """The set with each ASCII letter in both cases."""
    return members | (members & _UPPER) << 32 | (members & _LOWER) >> 32


def expression(members: int) -> bytes:
    """The set as RE2 writes one."""
    if members == 0:
        return rb"[^\x00-\xff]"
    if members.bit_count() == 1:
        return rb"\x%02x" % (members.bit_length() - 1)
    parts, byte = [], 0
    while byte < 256:
        if not members >> byte & 1:
            byte += 1
            continue
        start = byte
        while byte < 256 and members >> byte & 1:
            byte += 1
        parts.append(rb"\x%02x-\x%02x" % (start, byte - 1))
    return b"[" + b"".join(parts) + b"]"


def bracket(pattern: bytes, at: int, negations: bytes = b"^", *, escapes: bool = False) -> tuple[int, bool, int]:
    """The set of a bracket expression whose `[` stands before `at`: its members, whether these are excluded, and where
    it ends. Trouble when it does not."""
    if at == len(pattern):
        raise Trouble("Invalid regular expression")
    negated = pattern[at : at + 1] in [bytes([byte]) for byte in negations]
    at += negated
    members, first = 0, True
    while True:
        if at >= len(pattern):
            raise Trouble("Unmatched [, [^, [:, [., or [=")
        if pattern[at : at + 1] == b"]" and not first:
            return members, negated, at + 1
        first = False
        if pattern.startswith(b"[:", at):
            found, at = _class(pattern, at)
            members |= found
            continue
        low, at = _element(pattern, at, escapes=escapes)
        if pattern[at : at + 1] == b"-" and pattern[at + 1 : at + 2] not in (b"]", b""):
            high, at = _element(pattern, at + 1, escapes=escapes)
            if high < low and not escapes:
                raise Trouble("Invalid range end")
            members |= span(low, high)
        else:
            members |= of(low)


def _class(pattern: bytes, at: int) -> tuple[int, int]:
    end = pattern.find(b":]", at + 2)
    name = pattern[at + 2 : end].decode("latin-1") if end >= 0 else ""
    if name not in _CLASSES:
        raise Trouble("Invalid character class name" if end >= 0 else "Unmatched [, [^, [:, [., or [=")
    return _CLASSES[name], end + 2


def _element(pattern: bytes, at: int, *, escapes: bool) -> tuple[int, int]:
    """One member, plain or as `[.x.]` or `[=x=]`."""
    for mark in (b".", b"="):
        if pattern.startswith(b"[" + mark, at):
            if pattern[at + 3 : at + 5] != mark + b"]":
                raise Trouble("Invalid collation character")
            return pattern[at + 2], at + 5
    if escapes and pattern[at : at + 1] == b"\\" and at + 1 < len(pattern):
        at += 1
    return pattern[at], at + 1
