"""query: the records whose field has a value, in one file or in all files below a folder, one JSON object a line.

Records are the objects of JSON and JSON Lines, the rows of a CSV table, and the frontmatter of a note.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from commonplace.shell.command import CommandError, CommandRun, describe_error, quote
from commonplace.shell.view_reader import PathItem
from commonplace.text.frontmatter import split
from commonplace.vault.port import FileKind

_USAGE = "usage: query PATH --field F --equals V [--limit N]"
_DEFAULT_LIMIT = "50"
_MAX_LIMIT = 1_000
_QUERY_FAILED = 2  # the status when a file could not be read
Record = tuple[int, object]  # its line, or its place in the list, from 1; and its value


class _QueryOptions(NamedTuple):
    path: str
    field: str
    value: str
    limit: int


def query(run: CommandRun, args: Sequence[str]) -> None:
    """Print the records that have a value in a field."""
    options = _parse_query(args)
    run.status = 1  # nothing found
    start = run.find(options.path)

    def report(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quote(label)}: {describe_error(error)}", _QUERY_FAILED)

    left = options.limit
    for item in run.reader.walk(start, report):
        if item.stat.kind is FileKind.FILE:
            left = _query_file(run, item, options, left)
        if left < 0:
            run.write_message(f"there is more than {options.limit}: ask with a higher --limit (at most {_MAX_LIMIT})")
            break
    if left < options.limit and run.status == 1:
        run.status = 0


def _query_file(run: CommandRun, item: PathItem, options: _QueryOptions, left: int) -> int:
    """Print the matching records of one file; return how many more may be printed, -1 when there was one too many."""
    read_records = _READERS.get(item.path.name.rpartition(".")[2].lower() if "." in item.path.name else "")
    if read_records is None:
        if item.label == options.path:
            raise CommandError(f"{quote(item.label)}: it has no records: query reads json, jsonl, csv and md files")
        return left
    try:
        for number, record in read_records(run.read_path(item.path)):
            if _has_value(record, options.field, options.value):
                left -= 1
                if left < 0:
                    return left
                found = {"path": str(item.path), "number": number, "record": record}
                run.write_line(json.dumps(found, ensure_ascii=False))
    except RecursionError:
        run.fail(f"{quote(item.label)}: it has lists or objects too deep inside one another", _QUERY_FAILED)
    except CommandError as error:
        run.fail(f"{quote(item.label)}: {error}", _QUERY_FAILED)
    return left


def _parse_query(args: Sequence[str]) -> _QueryOptions:
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
    return _QueryOptions(paths[0], given["--field"], given["--equals"], int(limit))


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
