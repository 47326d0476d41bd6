"""grep, find and query: the lines, the names and the records that match.

grep and find print what the GNU tools print with LC_ALL=C, except that they go through folders by name; command.py says
which patterns they take. query prints the records whose field has a value, in one file or in all files below a folder,
one JSON object a line. Records are the objects of JSON and JSON Lines, the rows of a CSV table, and the frontmatter of
a note.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest
from operator import eq, gt, lt
from posixpath import basename

from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import lazy
from commonplace.shell.command import (
    IS_FOLDER,
    NO_INPUT,
    CommandError,
    CommandRun,
    compile_glob,
    compile_line_pattern,
    describe_error,
    parse_options,
    quote,
)
from commonplace.shell.view_reader import PathItem
from commonplace.text.frontmatter import split
from commonplace.vault.port import FileKind

_GREP_FAILED = 2  # the status of grep when something could not be searched
_DAY_NS = 86_400 * 1_000_000_000
_DAYS = lazy(r"([+-]?)([0-9]{1,9})")
_PREDICATES = ("-name", "-type", "-newer", "-mtime")
_FIND_OPERATORS = ("(", ")", "!", ",")
_FIND_TYPES = {"f": FileKind.FILE, "d": FileKind.FOLDER}
FindTest = Callable[[PathItem], bool]
_USAGE = "usage: query PATH --field F --equals V [--limit N]"
_DEFAULT_LIMIT = "50"
_MAX_LIMIT = 1_000
_QUERY_FAILED = 2  # the status when a file could not be read
Record = tuple[int, object]  # its line, or its place in the list, from 1; and its value


def grep(run: CommandRun, args: Sequence[str]) -> None:
    """Print the lines of files that match a pattern."""
    run.status = 1  # nothing found
    options, operands = parse_options(args, "irnlcvwFE", "ABC", takes_number=True)
    if not operands:
        raise CommandError("usage: grep [-irnlcvwFE] [-A N] [-B N] [-C N] PATTERN PATH...")
    pattern, *words = operands
    search = _Grep(run, options, pattern, has_labels=len(words) > 1)
    if not words and "r" not in options:
        raise CommandError(NO_INPUT)
    if not pattern and "v" in options and "w" not in options:
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
        self._pattern = compile_line_pattern(pattern, options)
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
                self._search_file(item, has_label=self._has_labels)
            elif "r" in options:
                for below in self._run.reader.walk(item, lambda label, error: self._fail(label, describe_error(error))):
                    if below.stat.kind is FileKind.FILE:
                        self._search_file(below, has_label=True)
            else:
                self._fail(word, IS_FOLDER)
                if "c" in options and "l" not in options:
                    self._run.write_line(f"{word}:0" if self._has_labels else "0")
        except CommandError as error:
            self._fail(word, str(error))

    def _fail(self, label: str, message: str) -> None:
        self._run.fail(f"{label}: {message}", _GREP_FAILED)

    def _search_file(self, item: PathItem, *, has_label: bool) -> None:
        try:
            data = self._run.read_path(item.path)
        except CommandError as error:
            self._fail(item.label, str(error))
            return
        options = self._options
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
            return list(range(len(lines))) if is_inverted else []
        search = pattern.line.search
        return [place for place, line in enumerate(lines) if (search(line) is None) == is_inverted]

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
                self._run.write(head + lines[number] + b"\n")
            self._has_printed = True
            printed = end


def find(run: CommandRun, args: Sequence[str]) -> None:
    """Print the paths at and below folders that pass every test."""
    is_test = [word.startswith("-") or word in _FIND_OPERATORS for word in args]
    tests_at = is_test.index(True) if any(is_test) else len(args)
    tests: list[FindTest] = []
    rest = list(args[tests_at:])
    while rest:
        word = rest.pop(0)
        if word in _FIND_OPERATORS or not word.startswith("-"):
            raise CommandError(f"paths must precede expression: `{word}'")
        if word not in _PREDICATES:
            raise CommandError(f"unknown predicate `{word}'")
        if not rest:
            raise CommandError(f"missing argument to `{word}'")
        tests.append(_make_test(run, word, rest.pop(0)))

    def report(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quote(label, always=True)}: {describe_error(error)}")

    for start in run.find_all(args[:tests_at] or ["."]):
        for item in run.reader.walk(start, report):
            if all(test(item) for test in tests):
                run.write_line(item.label)


def _make_test(run: CommandRun, predicate: str, value: str) -> FindTest:
    """Return the test that a predicate of find stands for. Raises CommandError."""
    if predicate == "-name":
        pattern = compile_glob(value)
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


def query(run: CommandRun, args: Sequence[str]) -> None:
    """Print the records that have a value in a field."""
    path, field, value, limit = _parse_query(args)
    run.status = 1  # nothing found
    start = run.find(path)

    def report(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quote(label)}: {describe_error(error)}", _QUERY_FAILED)

    walked = run.reader.walk(start, report)
    files = (item for item in walked if item.stat.kind is FileKind.FILE)
    matches = (line for item in files for line in _find_records(run, item, path, field, value))
    for line in islice(matches, limit):
        run.write_line(line)
    if next(matches, None) is not None:
        run.write_message(f"there is more than {limit}: ask with a higher --limit (at most {_MAX_LIMIT})")
    if run.out and run.status == 1:
        run.status = 0


def _find_records(run: CommandRun, item: PathItem, start: str, field: str, value: str) -> Iterator[str]:
    """Yield the matching records of one file, each as a JSON object with its place."""
    _, _, ending = item.path.name.rpartition(".")
    read_records = _READERS.get(ending.lower())
    if read_records is None or ending == item.path.name:
        if item.label == start:
            raise CommandError(f"{quote(item.label)}: it has no records: query reads json, jsonl, csv and md files")
        return
    try:
        for number, record in read_records(run.read_path(item.path)):
            if _has_value(record, field, value):
                found = {"path": str(item.path), "number": number, "record": record}
                yield json.dumps(found, ensure_ascii=False)
    except RecursionError:
        run.fail(f"{quote(item.label)}: it has lists or objects too deep inside one another", _QUERY_FAILED)
    except CommandError as error:
        run.fail(f"{quote(item.label)}: {error}", _QUERY_FAILED)


def _parse_query(args: Sequence[str]) -> tuple[str, str, str, int]:
    """Return the path, the field, its value and the limit."""
    given: dict[str, str] = {}
    paths: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            paths.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in ("--field", "--equals", "--limit"):
            raise CommandError(f"unrecognized option '{name}'")
        if not equals and not rest:
            raise CommandError(f"option '{name}' requires an argument")
        given[name] = value if equals else rest.pop(0)
    if len(paths) != 1 or "--field" not in given or "--equals" not in given:
        raise CommandError(_USAGE)
    limit = given.get("--limit", _DEFAULT_LIMIT)
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit[:9]) <= _MAX_LIMIT):
        raise CommandError(f"--limit is a number from 1 to {_MAX_LIMIT}")
    return paths[0], given["--field"], given["--equals"], int(limit)


def _has_value(record: object, field: str, value: str) -> bool:
    """Return whether a field, or one below it (`owner.name`), equals a value, or is a list with an item that does."""
    if isinstance(record, dict) and field in record:
        return _equals(record[field], value)
    found = record
    for name in field.split("."):
        if not isinstance(found, dict) or name not in found:
            return False
        found = found[name]
    return _equals(found, value)


def _equals(found: object, value: str) -> bool:
    if isinstance(found, list):
        return any(_equals(item, value) for item in found if not isinstance(item, list))
    if isinstance(found, str):
        return found == value
    return not isinstance(found, dict) and json.dumps(found) == value


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CommandError("it is not UTF-8 text") from None


def _parse_json(text: str, name: str = "it") -> object:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        raise CommandError(f"{name} is not JSON") from None


def _read_json(data: bytes) -> Iterator[Record]:
    found = _parse_json(_decode(data))
    yield from enumerate(found if isinstance(found, list) else [found], 1)


def _read_json_lines(data: bytes) -> Iterator[Record]:
    for number, line in enumerate(_decode(data).split("\n"), 1):
        if line.strip():
            yield number, _parse_json(line, f"line {number}")


def _read_csv(data: bytes) -> Iterator[Record]:
    rows = csv.DictReader(io.StringIO(_decode(data), newline=""))
    try:
        for row in rows:
            yield rows.line_num, {name: cell for name, cell in row.items() if name is not None and cell is not None}
    except csv.Error as error:
        raise CommandError(f"it is not a table: {error}") from None


def _read_note(data: bytes) -> Iterator[Record]:
    front, _ = split(data.decode("utf-8", "replace"))
    fields = {name: front.get(name) for name in front.names()}
    if fields:
        yield 1, {name: value for name, value in fields.items() if value is not None}


_READERS: dict[str, Callable[[bytes], Iterator[Record]]] = {
    "json": _read_json,
    "jsonl": _read_json_lines,
    "ndjson": _read_json_lines,
    "csv": _read_csv,
    "md": _read_note,
}
