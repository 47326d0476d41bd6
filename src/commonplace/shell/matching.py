"""grep: the lines that match. It prints what GNU grep prints with LC_ALL=C, and its patterns run in linear time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from commonplace.shell.options import Options, options
from commonplace.shell.patterns import LinePattern, compile_line_pattern
from commonplace.shell.run import IS_FOLDER, NO_INPUT, Run, Trouble, reason
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Kind

_TROUBLE = 2  # the status of grep when something could not be searched


class _Wanted(NamedTuple):
    """What to look for, and how to show it."""

    pattern: LinePattern
    invert: bool
    numbers: bool
    names_only: bool
    counts: bool
    before: int  # lines of context; -1: none, and no line between groups
    after: int

    @property
    def grouped(self) -> bool:
        return max(self.before, self.after) >= 0


def grep(run: Run, args: Sequence[str]) -> None:
    run.status = 1  # nothing found
    given = options(args, "irnlcvwFE", "ABC", number=True)
    if not given.words:
        raise Trouble("usage: grep [-irnlcvwFE] [-A N] [-B N] [-C N] PATTERN PATH...")
    pattern, *words = given.words
    search = _Search(run, _wanted(given, pattern))
    if not words and "r" not in given:
        raise Trouble(NO_INPUT)
    if not pattern and "v" in given and "w" not in given:
        return  # no line is without nothing: GNU grep does not even look
    search.named = len(words) > 1
    for word in words or [""]:
        search.operand(word, below="r" in given)
    if search.troubled:
        run.status = _TROUBLE
    elif search.matched:
        run.status = 0


def _wanted(given: Options, pattern: str) -> _Wanted:
    if "E" in given and "F" in given:
        raise Trouble("conflicting matchers specified")
    context = _lines(given, "C", _lines(given, "number", -1))
    before, after = _lines(given, "B", context), _lines(given, "A", context)
    compiled = compile_line_pattern(
        pattern, is_fixed="F" in given, is_extended="E" in given, ignore_case="i" in given, whole_words="w" in given
    )
    return _Wanted(
        compiled,
        "v" in given,
        "n" in given,
        "l" in given,
        "c" in given,
        before,
        after,
    )


def _lines(given: Options, letter: str, default: int) -> int:
    text = given.given.get(letter)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()):
        raise Trouble(f"{text}: invalid context length argument")
    return int(text[:9])


class _Search:
    def __init__(self, run: Run, wanted: _Wanted) -> None:
        self._run, self._wanted = run, wanted
        self.named = False  # whether lines say which file they are from
        self.matched = self.troubled = False
        self._printed = False  # whether there was a group before, which a line must part from the next

    def operand(self, word: str, *, below: bool) -> None:
        try:
            if word == "-":
                raise Trouble(NO_INPUT)
            found = self._run.find(word or ".")
            if found.stat.kind is not Kind.FOLDER:
                self._file(word, found.path, named=self.named)
                return
            if not below:
                self._fail(word, IS_FOLDER)
                if self._wanted.counts and not self._wanted.names_only:
                    self._run.line(f"{word}:0" if self.named else "0")
                return
            for met in self._run.shown.walk(word, found.path, found.stat, self._refused):
                if met.stat.kind is Kind.FILE:
                    self._file(met.label, met.path, named=True)
        except Trouble as trouble:
            self._fail(word, str(trouble))

    def _refused(self, label: str, error: CommonplaceError) -> None:
        self._fail(label, reason(error))

    def _fail(self, label: str, said: str) -> None:
        self.troubled = True
        self._run.fail(f"{label}: {said}", _TROUBLE)

    def _file(self, label: str, path: BookPath, *, named: bool) -> None:
        try:
            data = self._run.contents(path)
        except Trouble as trouble:
            self._fail(label, str(trouble))
            return
        wanted = self._wanted
        binary = b"\0" in data
        if binary:
            data = data.replace(b"\0", b"\n")  # as GNU grep does: a line of a binary ends there, too
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        places = self._places(data, lines)
        self.matched = self.matched or bool(places)
        if wanted.names_only:
            if places:
                self._run.line(label)
        elif wanted.counts:
            self._run.line(f"{label}:{len(places)}" if named else str(len(places)))
        elif binary and places:
            self._run.say(f"grep: {label}: binary file matches\n")
            self._printed = True
        else:
            self._show(label if named else None, lines, places)

    def _places(self, data: bytes, lines: list[bytes]) -> list[int]:
        """Which lines are wanted."""
        wanted = self._wanted
        in_file = wanted.pattern.file
        if in_file is not None and in_file.search(data) is None:
            return list(range(len(lines))) if wanted.invert else []
        search = wanted.pattern.line.search
        return [place for place, line in enumerate(lines) if (search(line) is None) == wanted.invert]

    def _show(self, label: str | None, lines: list[bytes], places: list[int]) -> None:
        wanted = self._wanted
        before, after = max(wanted.before, 0), max(wanted.after, 0)
        following = 0  # the first line that has not been printed
        for at, place in enumerate(places):
            start = max(place - before, following)
            if wanted.grouped and self._printed and (start != following or following == 0):
                self._run.write(b"--\n")
            for number in range(start, place):
                self._line(label, number, lines[number], b"-")
            self._line(label, place, lines[place], b":")
            self._printed = True
            end = min(place + 1 + after, len(lines), places[at + 1] if at + 1 < len(places) else len(lines))
            for number in range(place + 1, end):
                self._line(label, number, lines[number], b"-")
            following = end

    def _line(self, label: str | None, number: int, line: bytes, mark: bytes) -> None:
        head = b"" if label is None else label.encode() + mark
        if self._wanted.numbers:
            head += b"%d" % (number + 1) + mark
        self._run.write(head + line + b"\n")
