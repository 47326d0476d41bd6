"""grep and find: the lines that match, and the names that match.

Both print what the GNU tools print with LC_ALL=C, except that they go through folders by name. patterns.py says which
patterns they take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import lazy
from commonplace.shell.command import (
    IS_FOLDER,
    NO_INPUT,
    CommandError,
    CommandRun,
    describe_error,
    parse_options,
    quote,
)
from commonplace.shell.patterns import LinePattern, compile_glob, compile_line_pattern
from commonplace.shell.view_reader import PathItem
from commonplace.vault.port import FileKind

_GREP_FAILED = 2  # the status of grep when something could not be searched
_DAY_NS = 86_400 * 1_000_000_000
_DAYS = lazy(r"([+-]?)([0-9]{1,9})")
_FIND_OPERATORS = ("(", ")", "!", ",")
_FIND_TYPES = {"f": FileKind.FILE, "d": FileKind.FOLDER}
FindTest = Callable[[PathItem], bool]


class _GrepOptions(NamedTuple):
    """What grep looks for, and how it prints it."""

    pattern: LinePattern
    letters: frozenset[str]
    before: int  # lines of context; -1: none, and no `--` between groups
    after: int


def grep(run: CommandRun, args: Sequence[str]) -> None:
    """Print the lines of files that match a pattern."""
    run.status = 1  # nothing found
    options, operands = parse_options(args, "irnlcvwFE", "ABC", takes_number=True)
    if not operands:
        raise CommandError("usage: grep [-irnlcvwFE] [-A N] [-B N] [-C N] PATTERN PATH...")
    pattern, *words = operands
    search = _Grep(run, _read_grep_options(options, pattern), has_labels=len(words) > 1)
    if not words and "r" not in options:
        raise CommandError(NO_INPUT)
    if not pattern and "v" in options and "w" not in options:
        return  # every line matches the empty pattern: GNU grep does not even look
    for word in words or [""]:
        search.search_word(word)
    if search.has_failed:
        run.status = _GREP_FAILED
    elif search.has_matched:
        run.status = 0


def _read_grep_options(options: dict[str, str], pattern: str) -> _GrepOptions:
    if "E" in options and "F" in options:
        raise CommandError("conflicting matchers specified")
    context = _parse_context(options, "C", _parse_context(options, "number", -1))
    before, after = _parse_context(options, "B", context), _parse_context(options, "A", context)
    compiled = compile_line_pattern(
        pattern,
        is_fixed="F" in options,
        is_extended="E" in options,
        ignore_case="i" in options,
        whole_words="w" in options,
    )
    return _GrepOptions(compiled, frozenset(options), before, after)


def _parse_context(options: dict[str, str], letter: str, default: int) -> int:
    text = options.get(letter)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()):
        raise CommandError(f"{text}: invalid context length argument")
    return int(text[:9])


class _Grep:
    """One grep while it goes through its files."""

    def __init__(self, run: CommandRun, options: _GrepOptions, *, has_labels: bool) -> None:
        self._run, self._options = run, options
        self._has_labels = has_labels  # whether a line starts with the name of its file
        self._has_printed = False  # whether `--` must divide the next group from the one before
        self.has_matched = self.has_failed = False

    def search_word(self, word: str) -> None:
        """Search the file that a word names, or with -r the files below a folder."""
        letters = self._options.letters
        try:
            if word == "-":
                raise CommandError(NO_INPUT)
            item = self._run.find(word or ".")._replace(label=word)
            if item.stat.kind is not FileKind.FOLDER:
                self._search_file(item, has_label=self._has_labels)
            elif "r" in letters:
                for below in self._run.reader.walk(item, self._report):
                    if below.stat.kind is FileKind.FILE:
                        self._search_file(below, has_label=True)
            else:
                self._fail(word, IS_FOLDER)
                if "c" in letters and "l" not in letters:
                    self._run.write_line(f"{word}:0" if self._has_labels else "0")
        except CommandError as error:
            self._fail(word, str(error))

    def _report(self, label: str, error: CommonplaceError) -> None:
        self._fail(label, describe_error(error))

    def _fail(self, label: str, message: str) -> None:
        self.has_failed = True
        self._run.fail(f"{label}: {message}", _GREP_FAILED)

    def _search_file(self, item: PathItem, *, has_label: bool) -> None:
        try:
            data = self._run.read_path(item.path)
        except CommandError as error:
            self._fail(item.label, str(error))
            return
        letters = self._options.letters
        is_binary = b"\0" in data
        if is_binary:
            data = data.replace(b"\0", b"\n")  # as GNU grep does: a line of a binary file ends there, too
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        selected = self._select_lines(data, lines)
        self.has_matched = self.has_matched or bool(selected)
        if "l" in letters:
            if selected:
                self._run.write_line(item.label)
        elif "c" in letters:
            self._run.write_line(f"{item.label}:{len(selected)}" if has_label else str(len(selected)))
        elif is_binary and selected:
            self._run.write_message(f"{item.label}: binary file matches")
            self._has_printed = True
        else:
            self._print_groups(item.label if has_label else None, lines, selected)

    def _select_lines(self, data: bytes, lines: list[bytes]) -> list[int]:
        """Return the places of the lines that match, or with -v of those that do not."""
        pattern, is_inverted = self._options.pattern, "v" in self._options.letters
        if pattern.file is not None and pattern.file.search(data) is None:
            return list(range(len(lines))) if is_inverted else []
        search = pattern.line.search
        return [place for place, line in enumerate(lines) if (search(line) is None) == is_inverted]

    def _print_groups(self, label: str | None, lines: list[bytes], selected: list[int]) -> None:
        """Print the selected lines with their context."""
        before, after = max(self._options.before, 0), max(self._options.after, 0)
        has_groups = max(self._options.before, self._options.after) >= 0
        printed = 0  # how many lines of the file are printed or passed
        for place, next_place in zip_longest(selected, selected[1:], fillvalue=len(lines)):
            start = max(place - before, printed)
            if has_groups and self._has_printed and (start != printed or printed == 0):
                self._run.write(b"--\n")
            end = min(place + 1 + after, next_place)
            for number in range(start, end):
                self._print_line(label, number, lines[number], b":" if number == place else b"-")
            self._has_printed = True
            printed = end

    def _print_line(self, label: str | None, number: int, line: bytes, mark: bytes) -> None:
        start = b"" if label is None else label.encode() + mark
        if "n" in self._options.letters:
            start += b"%d" % (number + 1) + mark
        self._run.write(start + line + b"\n")


def find(run: CommandRun, args: Sequence[str]) -> None:
    """Print the paths at and below folders that pass every test."""
    is_test = [word.startswith("-") or word in _FIND_OPERATORS for word in args]
    tests_at = is_test.index(True) if any(is_test) else len(args)
    tests = _parse_tests(run, args[tests_at:])

    def report(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quote(label, always=True)}: {describe_error(error)}")

    for word in args[:tests_at] or ["."]:
        try:
            start = run.find(word)
        except CommandError as error:
            run.fail(f"{quote(word, always=True)}: {error}")
            continue
        for item in run.reader.walk(start, report):
            if all(test(item) for test in tests):
                run.write_line(item.label)


def _parse_tests(run: CommandRun, args: Sequence[str]) -> list[FindTest]:
    tests: list[FindTest] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word in _FIND_OPERATORS or not word.startswith("-"):
            raise CommandError(f"paths must precede expression: `{word}'")
        make_test = _TEST_MAKERS.get(word)
        if make_test is None:
            raise CommandError(f"unknown predicate `{word}'")
        if not rest:
            raise CommandError(f"missing argument to `{word}'")
        tests.append(make_test(run, rest.pop(0)))
    return tests


def _make_name_test(_: CommandRun, value: str) -> FindTest:
    pattern = compile_glob(value)

    def has_name(item: PathItem) -> bool:
        name = item.label.rstrip("/").rsplit("/", 1)[-1] or "/"
        return pattern.fullmatch(name.encode()) is not None

    return has_name


def _make_type_test(_: CommandRun, value: str) -> FindTest:
    letters = value.split(",")
    for letter in letters:
        if letter not in _FIND_TYPES:
            raise CommandError(f"Unknown argument to -type: {letter}")
    kinds = {_FIND_TYPES[letter] for letter in letters}
    return lambda item: item.stat.kind in kinds


def _make_newer_test(run: CommandRun, value: str) -> FindTest:
    try:
        limit = run.find(value).stat.mtime_ns
    except CommandError as error:
        raise CommandError(f"{quote(value, always=True)}: {error}") from None
    return lambda item: item.stat.mtime_ns > limit


def _make_age_test(_: CommandRun, value: str) -> FindTest:
    match = _DAYS.fullmatch(value)
    if match is None:
        raise CommandError(f"invalid argument `{value}' to `-mtime'")
    sign, days, now = match.group(1), int(match.group(2)), time.time_ns()

    def has_age(item: PathItem) -> bool:
        age = (now - item.stat.mtime_ns) // _DAY_NS
        return age > days if sign == "+" else age < days if sign == "-" else age == days

    return has_age


_TEST_MAKERS: dict[str, Callable[[CommandRun, str], FindTest]] = {
    "-name": _make_name_test,
    "-type": _make_type_test,
    "-newer": _make_newer_test,
    "-mtime": _make_age_test,
}
