"""The patterns of grep, find, search_memory and of file names: from what a caller writes to RE2.

They run in linear time and bounded memory, with nothing on stderr. grep takes RE2 syntax. Without -E it reads the basic
form instead, in which `( ) { } | + ?` are text and are operators after a backslash. Where grep would mean something
that RE2 cannot do, the pattern is refused by name: back-references, and `\\<` with its relatives.

grep and find match bytes, as the GNU tools do with LC_ALL=C, so a line that is not valid UTF-8 is searched like any
other. With -i and -o grep matches characters, as they do with LC_ALL=C.UTF-8, so that letters of every language are
folded and none is printed in part.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import zip_longest
from typing import NamedTuple, cast

from commonplace.model.lazy import lazy
from commonplace.shell.view_reader import CommandError

MAX_PATTERN = 2_000  # characters of one pattern
_SYMBOL = lazy(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\\\{[0-9]*,?[0-9]*\\\}"  # how often, in the basic form
    r"|\\."
    r"|\[\^?+\]?+(?:\[:\^?[a-z]*:\]|\\.|[^\]\\])*\]"
    r"|.",
    re.DOTALL,
)
_GLOB_SYMBOL = lazy(r"\[[!^]?+\]?+(?:\[:[a-z]+:\]|\\.|[^\]\\])*\]|\\.|.", re.DOTALL)
_WITHIN_LINE = lazy(r"\\[Az]|\(\?")  # what may mean something else in a whole file than in one of its lines
_NO_WORD = "[^0-9A-Za-z_]"
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_REPETITIONS = tuple("*+?{")
Pattern = re.Pattern[bytes]
"""A compiled pattern over bytes: RE2's patterns have the methods of re's."""


class LinePattern(NamedTuple):
    """A pattern of grep: for one line, and for a whole file to skip it when none of its lines can match."""

    line: Pattern
    file: Pattern | None  # None where the pattern cannot be tried on a whole file
    part: Pattern  # the longest text that matches, without regard to whole words
    is_word: bool

    def find_parts(self, line: bytes) -> Iterator[bytes]:
        """Yield the parts of a line that match, as grep -o prints them: the longest from the left, none empty."""
        at = 0
        while at <= len(line) and (match := self.part.search(line, at)) is not None:
            start, end = match.span()
            while self.is_word and start < end and not _is_word(line, start, end):
                shorter = self.part.match(line, start, end - 1)  # as GNU grep: a shorter one may end at a word's end
                end = shorter.end() if shorter is not None else start
            if start < end:
                yield line[start:end]
            at = max(end, start + 1)


def _is_word(line: bytes, start: int, end: int) -> bool:
    return _WORD.isdisjoint(line[max(start - 1, 0) : start] + line[end : end + 1])


def compile_line_pattern(pattern: str, options: Container[str]) -> LinePattern:
    """Compile a pattern of grep; each of its lines is an alternative. Raises CommandError with the reason.

    `options` are grep's: F fixed text, E extended form, i any case, o only the matching parts, w whole words.
    """
    check_length(pattern)
    is_utf8 = "i" in options or "o" in options
    lines = pattern.split("\n")
    parts = [re.escape(line) if "F" in options else translate(line, is_basic="E" not in options) for line in lines]
    for part in parts:
        compile_re2(part, is_utf8=is_utf8)  # each alone: joined, the parenthesis of one could close that of another
    any_part = "|".join(f"(?:{part})" for part in parts)
    fold = "(?i)" if "i" in options else ""
    text = f"(?:^|{_NO_WORD})(?:{any_part})(?:{_NO_WORD}|$)" if "w" in options else any_part
    whole_file = None if _WITHIN_LINE.search(pattern) else compile_re2(f"(?m){fold}{text}", is_utf8=is_utf8)
    any_text = compile_re2(f"{fold}{any_part}", is_utf8=is_utf8, is_longest=True)
    return LinePattern(compile_re2(f"{fold}{text}", is_utf8=is_utf8), whole_file, any_text, "w" in options)


def translate(pattern: str, *, is_basic: bool) -> str:
    """Return one line of a grep pattern in RE2 syntax. Raises CommandError for what only grep understands."""
    symbols = _SYMBOL.findall(pattern)
    pieces: list[str] = []
    is_start = True  # nothing that can be repeated came yet: here, the basic form takes `*` as text
    for symbol, following in zip_longest(symbols, symbols[1:], fillvalue=""):
        _check_symbol(symbol)
        piece = symbol
        if symbol.startswith("\\Q"):
            piece = re.escape(symbol[2:].removesuffix("\\E"))
        elif is_basic:
            previous = pieces[-1] if pieces else ""
            piece = _translate_basic(symbol, previous, following, is_start=is_start)
        is_start = piece in ("(", "|", "^") or (is_start and piece in ("\\b", "\\B"))
        pieces.append(piece)
    return "".join(pieces)


def compile_glob(pattern: str, *, ignores_case: bool = False) -> Pattern:
    """Compile a pattern for whole file names: `*`, `?`, `[...]`. Raises CommandError with the reason."""
    check_length(pattern)
    pieces = ["(?si)" if ignores_case else "(?s)"]
    for symbol in _GLOB_SYMBOL.findall(pattern):
        if symbol in ("*", "?"):
            pieces.append(".*" if symbol == "*" else ".")
        elif symbol[0] == "[" and len(symbol) > 1:
            inner = f"^{symbol[2:]}" if symbol[1] == "!" else symbol[1:]
            pieces.append("[" + re.sub(r"\\(\w)", r"\1", inner))  # in RE2, \d would be any digit
        else:
            pieces.append(re.escape(symbol[-1]))
    return compile_re2("".join(pieces), is_utf8=ignores_case)


def compile_re2(
    pattern: str, *, is_utf8: bool = False, is_longest: bool = False, ignores_case: bool = False
) -> Pattern:
    """Compile RE2 syntax that matches bytes, or with `is_utf8` characters. Raises CommandError with the reason."""
    import re2  # noqa: PLC0415 - 10 ms that most commands do without

    settings = re2.Options()
    settings.log_errors = False
    settings.never_capture = True
    settings.longest_match = is_longest
    settings.case_sensitive = not ignores_case
    if not is_utf8:
        settings.encoding = re2.Options.Encoding.LATIN1
    try:
        return cast("Pattern", re2.compile(pattern.encode("utf-8", "backslashreplace"), settings))
    except re2.error as error:
        reason = error.args[0]
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise CommandError(f"the pattern cannot be used: {words[:200]}") from None


def check_length(pattern: str) -> None:
    """Raise CommandError for a pattern that is longer than is allowed."""
    if len(pattern) > MAX_PATTERN:
        raise CommandError(f"the pattern is longer than {MAX_PATTERN:,} characters")


def _check_symbol(symbol: str) -> None:
    """Raise CommandError for a symbol that is incomplete, or that RE2 would read as something else than grep does."""
    if symbol == "\\":
        raise CommandError("Trailing backslash")
    if symbol == "[":
        raise CommandError("Unmatched [, [^, [:, [., or [=")
    if symbol.startswith("[:") and symbol.endswith(":]"):
        raise CommandError("character class syntax is [[:space:]], not [:space:]")
    if symbol[0] == "\\" and symbol[1] in "123456789":
        raise CommandError(f"back-references are not supported ({symbol}): patterns run in linear time")
    if symbol in ("\\<", "\\>", "\\`", "\\'"):
        raise CommandError(f"{symbol} is not understood here: use \\b, ^ or $, or grep -w")


def _translate_basic(symbol: str, previous: str, following: str, *, is_start: bool) -> str:
    """Return a symbol of the basic form in RE2 syntax, given the piece before it and the symbol after it."""
    if symbol[0] == "\\" and symbol[1] in "(){}|+?":
        piece = symbol.replace("\\", "").replace("{,", "{0,")
        if piece == "{" or (piece[0] == "{" and not piece[1].isdigit()):
            raise CommandError("Invalid content of \\{\\}")
    elif symbol in ("(", ")", "{", "}", "|", "+", "?"):
        return f"\\{symbol}"
    elif symbol == "^" and previous not in ("", "(", "|"):
        return "\\^"
    elif symbol == "$" and following not in ("", "\\)", "\\|"):
        return "\\$"
    else:
        piece = symbol
    if not piece.startswith(_REPETITIONS):
        return piece
    if is_start and piece[0] == "{":
        raise CommandError("Invalid preceding regular expression")
    if previous.startswith(_REPETITIONS):
        raise CommandError(f"{symbol} after another repetition is not understood here: put the first in \\( \\)")
    return f"\\{piece}" if is_start else piece
