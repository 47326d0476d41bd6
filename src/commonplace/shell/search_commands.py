"""grep and find: the lines and the names that match.

They print what the GNU tools print with LC_ALL=C, except that they go through folders by name; patterns.py says which
patterns they take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, zip_longest
from operator import eq, gt, lt
from posixpath import basename

from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import lazy
from commonplace.shell.command import IS_FOLDER, NO_INPUT, CommandRun, describe_error, parse_options, quote
from commonplace.shell.patterns import compile_glob, compile_line_pattern
from commonplace.shell.view_reader import WHOLE_DEPTH, CommandError, PathItem
from commonplace.vault.port import FileKind

GREP_USAGE = (
    "grep [-i -r -n -l -c -v -w -o -h -H -F -E] [-A N] [-B N] [-C N] [-m N] [--include GLOB] [-e] PATTERN PATH..."
)
FIND_USAGE = "find [PATH...] [-name GLOB] [-iname GLOB] [-type f|d] [-newer PATH] [-mtime [+-]N] [-maxdepth N]"
_GREP_FAILED = 2  # the status of grep when something could not be searched
_DAY_NS = 86_400 * 1_000_000_000
_DAYS = lazy(r"([+-]?)([0-9]{1,9})")
_GREP_LONG = {
    "after-context": "A", "before-context": "B", "context": "C", "count": "c",
    "extended-regexp": "E", "files-with-matches": "l", "fixed-strings": "F", "ignore-case": "i", "include": "include",
    "invert-match": "v", "line-number": "n", "max-count": "m", "no-filename": "h",
    "only-matching": "o", "recursive": "r", "regexp": "e", "with-filename": "H", "word-regexp": "w",
}  # fmt: skip
_PREDICATES = ("-name", "-iname", "-type", "-newer", "-mtime", "-maxdepth")
_FIND_OPERATORS = ("(", ")", "!", ",")
_FIND_TYPES = {"f": FileKind.FILE, "d": FileKind.FOLDER}
FindTest = Callable[[PathItem], bool]


def grep(run: CommandRun, args: Sequence[str]) -> None:
    """Print the lines of files that match a pattern."""
    run.status = 1  # nothing found
    options, operands = parse_options(
        args, "irnlcvwFEohH", "ABCme", long=_GREP_LONG, repeatable=("e", "include"), takes_number=True
    )
    if "e" not in options and not operands:
        raise CommandError(f"usage: {GREP_USAGE}")
    pattern = options["e"] if "e" in options else operands.pop(0)
    words = run.expand(operands)
    search = _Grep(run, options, pattern, has_labels=len(words) > 1)
    if not words and "r" not in options:
        raise CommandError(NO_INPUT)
    if search.most == 0 or (not pattern and "v" in options and "w" not in options):
        return  # every line matches the empty pattern: GNU grep does not even look
    for word in words or [""]:
        search.search_word(word)
    if search.has_matched and run.status == 1:
        run.status = 0


def _parse_context(options: dict[str, str], letter: str, default: int) -> int:
    text = options.get(letter)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()):
        raise CommandError(f"{text}: invalid context length argument")
    return int(text[:9])


class _Grep:
    """One grep while it goes through its files."""

    def __init__(self, run: CommandRun, options: dict[str, str], pattern: str, *, has_labels: bool) -> None:
        if "E" in options and "F" in options:
            raise CommandError("conflicting matchers specified")
        context = _parse_context(options, "C", _parse_context(options, "number", -1))
        self._before = _parse_context(options, "B", context)  # lines of context; -1: none, and no `--` between groups
        self._after = _parse_context(options, "A", context)
        most = options.get("m")
        if most is not None and not (most.isascii() and most.isdigit()):
            raise CommandError("invalid max count")
        self.most = None if most is None else int(most[:9])  # lines of one file
        # With -m 0 no line is looked at, and GNU grep does not say what is wrong with the pattern.
        self._pattern = compile_line_pattern("" if self.most == 0 else pattern, options)
        self._included = [compile_glob(glob) for glob in options["include"].split("\n")] if "include" in options else []
        self._run, self._options = run, options
        self._has_labels = has_labels  # whether a line starts with the name of its file
        self._has_printed = False  # whether `--` must divide the next group from the one before
        self.has_matched = False

    def search_word(self, word: str) -> None:
        """Search the file that a word names, or with -r the files below a folder."""
        options = self._options
        try:
            if word == "-":
                raise CommandError(NO_INPUT)
            item = self._run.find(word or ".")._replace(label=word)
            if item.stat.kind is not FileKind.FOLDER:
                names = word.split("/")
                if self._is_included("/".join(names[start:]) for start in range(len(names))):
                    self._search_file(item, has_label=self._has_labels)
            elif "r" in options:
                for below in self._run.reader.walk(item, lambda label, error: self._fail(label, describe_error(error))):
                    if below.stat.kind is FileKind.FILE and self._is_included([below.path.name]):
                        self._search_file(below, has_label=True)
            else:
                self._fail(word, IS_FOLDER)
                if "c" in options and "l" not in options:
                    self._run.write_line(f"{word}:0" if self._has_label(default=self._has_labels) else "0")
        except CommandError as error:
            self._fail(word, str(error))

    def _has_label(self, *, default: bool) -> bool:
        """Return whether lines start with the name of their file: as the last of -h and -H says, if there is one."""
        given = [letter for letter in self._options if letter in ("h", "H")]
        return given[-1] == "H" if given else default

    def _is_included(self, names: Iterable[str]) -> bool:
        """Return whether --include, if given, takes a file by one of these names."""
        if not self._included:
            return True
        return any(glob.fullmatch(name.encode()) for name in names for glob in self._included)

    def _fail(self, label: str, message: str) -> None:
        self._run.fail(f"{label}: {message}", _GREP_FAILED)

    def _search_file(self, item: PathItem, *, has_label: bool) -> None:
        try:
            data = self._run.read_path(item.path)
        except CommandError as error:
            self._fail(item.label, str(error))
            return
        options = self._options
        has_label = self._has_label(default=has_label)
        is_binary = b"\0" in data
        if is_binary:
            data = data.replace(b"\0", b"\n")  # as GNU grep does: a line of a binary file ends there, too
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        selected = self._select_lines(data, lines)
        self.has_matched = self.has_matched or bool(selected)
        if "l" in options:
            if selected:
                self._run.write_line(item.label)
        elif "c" in options:
            self._run.write_line(f"{item.label}:{len(selected)}" if has_label else str(len(selected)))
        elif is_binary and selected:
            self._run.write_message(f"{item.label}: binary file matches")
            self._has_printed = True
        else:
            self._print_groups(item.label if has_label else None, lines, selected)

    def _select_lines(self, data: bytes, lines: list[bytes]) -> list[int]:
        """Return the places of the lines that match, or with -v of those that do not."""
        pattern, is_inverted = self._pattern, "v" in self._options
        if pattern.file is not None and pattern.file.search(data) is None:
            return list(range(len(lines)))[: self.most] if is_inverted else []
        search = pattern.line.search
        found = (place for place, line in enumerate(lines) if (search(line) is None) == is_inverted)
        return [*islice(found, self.most)]

    def _print_groups(self, label: str | None, lines: list[bytes], selected: list[int]) -> None:
        """Print the selected lines with their context."""
        before, after = max(self._before, 0), max(self._after, 0)
        has_groups = max(self._before, self._after) >= 0
        printed = 0  # how many lines of the file are printed or passed
        for place, next_place in zip_longest(selected, selected[1:], fillvalue=len(lines)):
            start = max(place - before, printed)
            if has_groups and self._has_printed and (start != printed or printed == 0):
                self._run.write(b"--\n")
            end = min(place + 1 + after, next_place)
            for number in range(start, end):
                mark = b":" if number == place else b"-"
                head = b"" if label is None else label.encode() + mark
                if "n" in self._options:
                    head += b"%d" % (number + 1) + mark
                if "o" not in self._options:
                    self._run.write(head + lines[number] + b"\n")
                elif number == place and "v" not in self._options:
                    for part in self._pattern.find_parts(lines[number]):
                        self._run.write(head + part + b"\n")
            self._has_printed = True
            printed = end


def find(run: CommandRun, args: Sequence[str]) -> None:
    """Print the paths at and below folders that pass every test."""
    is_test = [word.startswith("-") or word in _FIND_OPERATORS for word in args]
    tests_at = is_test.index(True) if any(is_test) else len(args)
    tests: list[FindTest] = []
    rest = list(args[tests_at:])
    depth = WHOLE_DEPTH  # folders below the first
    while rest:
        word = rest.pop(0)
        if word in _FIND_OPERATORS or not word.startswith("-"):
            raise CommandError(f"paths must precede expression: `{word}'")
        if word not in _PREDICATES:
            raise CommandError(f"unknown predicate `{word}'")
        if not rest:
            raise CommandError(f"missing argument to `{word}'")
        value = rest.pop(0)
        if word == "-maxdepth":
            depth = _parse_depth(value)
        else:
            tests.append(_make_test(run, word, value))

    def report(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quote(label, always=True)}: {describe_error(error)}")

    for start in run.find_all(run.expand(args[:tests_at]) or ["."]):
        for item in run.reader.walk(start, report, depth):
            if all(test(item) for test in tests):
                run.write_line(item.label)


def _parse_depth(value: str) -> int:
    if not (value.isascii() and value.isdigit()):
        shown = quote(value, always=True)
        raise CommandError(f"Expected a positive decimal integer argument to -maxdepth, but got {shown}")
    return int(value[:9])


def _make_test(run: CommandRun, predicate: str, value: str) -> FindTest:
    """Return the test that a predicate of find stands for. Raises CommandError."""
    if predicate in ("-name", "-iname"):
        pattern = compile_glob(value, ignores_case=predicate == "-iname")
        return lambda item: pattern.fullmatch((basename(item.label.rstrip("/")) or "/").encode()) is not None
    if predicate == "-type":
        letters = value.split(",")
        for letter in letters:
            if letter not in _FIND_TYPES:
                raise CommandError(f"Unknown argument to -type: {letter}")
        kinds = {_FIND_TYPES[letter] for letter in letters}
        return lambda item: item.stat.kind in kinds
    if predicate == "-newer":
        try:
            limit = run.find(value).stat.mtime_ns
        except CommandError as error:
            raise CommandError(f"{quote(value, always=True)}: {error}") from None
        return lambda item: item.stat.mtime_ns > limit
    match = _DAYS.fullmatch(value)
    if match is None:
        raise CommandError(f"invalid argument `{value}' to `-mtime'")
    compare = {"+": gt, "-": lt}.get(match[1], eq)
    days, now = int(match[2]), time.time_ns()
    return lambda item: compare((now - item.stat.mtime_ns) // _DAY_NS, days)
