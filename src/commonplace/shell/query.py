"""query: the records whose field has a value, in one file or in all files below a folder, one JSON object a line.

Records are the objects of JSON and JSON Lines, the rows of a CSV table, and the frontmatter of a note. A line of JSON
Lines that is not JSON is passed over, and how many there were is said.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from commonplace.model.errors import CommonplaceError
from commonplace.shell.command import CommandRun, describe_error, quote
from commonplace.shell.view_reader import CommandError, PathItem
from commonplace.text.frontmatter import split
from commonplace.vault.port import FileKind

QUERY_USAGE = "query PATH... --field F --equals V [--limit N]"
_DEFAULT_LIMIT = "50"
_MAX_LIMIT = 1_000
_QUERY_FAILED = 2  # the status when a file could not be read
Record = tuple[int, object]  # its line, or its place in the list, from 1; and its value
_NOT_JSON = object()  # the value of a line of JSON Lines that is none


def query(run: CommandRun, args: Sequence[str]) -> None:
    """Print the records that have a value in a field."""
    words, field, value, limit = _parse_query(args)
    run.status = 1  # nothing found
    starts = [*run.find_all(run.expand(words), always=False, status=_QUERY_FAILED)]

    def report(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quote(label)}: {describe_error(error)}", _QUERY_FAILED)

    walked = ((item, item is start) for start in starts for item in run.reader.walk(start, report))
    files = (named for named in walked if named[0].stat.kind is FileKind.FILE)
    matches = (line for item, is_named in files for line in _find_records(run, item, field, value, is_named=is_named))
    for line in islice(matches, limit):
        run.write_line(line)
    if next(matches, None) is not None:
        run.note_cut(f"there is more than {limit}: ask with a higher --limit (at most {_MAX_LIMIT})")
    if run.out and run.status == 1:
        run.status = 0


def _find_records(run: CommandRun, item: PathItem, field: str, value: str, *, is_named: bool) -> Iterator[str]:
    """Yield the matching records of one file, each as a JSON object with its place."""
    _, _, ending = item.path.name.rpartition(".")
    read_records = _READERS.get(ending.lower())
    if read_records is None or ending == item.path.name:
        if is_named:
            reason = "it has no records: query reads json, jsonl, csv and md files"
            run.fail(f"{quote(item.label)}: {reason}", _QUERY_FAILED)
        return
    bad: list[int] = []
    try:
        for number, record in read_records(run.read_path(item.path)):
            if record is _NOT_JSON:
                bad.append(number)
            elif any(_equals(found, value) for found in _find_values(record, field)):
                yield json.dumps({"path": str(item.path), "number": number, "record": record}, ensure_ascii=False)
    except RecursionError:
        run.fail(f"{quote(item.label)}: it has lists or objects too deep inside one another", _QUERY_FAILED)
    except CommandError as error:
        run.fail(f"{quote(item.label)}: {error}", _QUERY_FAILED)
    if bad:
        lines = "1 line that is not JSON was" if len(bad) == 1 else f"{len(bad):,} lines that are not JSON were"
        run.write_message(f"{quote(item.label)}: {lines} skipped, the first is line {bad[0]:,}")


def _parse_query(args: Sequence[str]) -> tuple[list[str], str, str, int]:
    """Return the paths, the field, its value and the limit."""
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
    if not paths or "--field" not in given or "--equals" not in given:
        raise CommandError(f"usage: {QUERY_USAGE}")
    limit = given.get("--limit", _DEFAULT_LIMIT)
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit[:9]) <= _MAX_LIMIT):
        raise CommandError(f"--limit is a number from 1 to {_MAX_LIMIT}")
    return paths, given["--field"], given["--equals"], int(limit)


def _find_values(record: object, field: str) -> Iterator[object]:
    """Yield the values of a field: `owner.name` is below another one, `tasks.status` that of every item of a list, and
    `tasks.0.status` that of the first."""
    if isinstance(record, dict) and field in record:
        yield record[field]
        return
    name, dot, below = field.partition(".")
    if isinstance(record, list):
        for item in record:
            yield from _find_values(item, field)
        if name.isascii() and name.isdigit() and int(name[:9]) < len(record):
            item = record[int(name[:9])]
            yield from _find_values(item, below) if dot else [item]
    elif isinstance(record, dict) and dot and name in record:
        yield from _find_values(record[name], below)


def _equals(found: object, value: str) -> bool:
    """Return whether a value is this one, or a list with an item that is."""
    if isinstance(found, list):
        return any(_equals(item, value) for item in found)
    if isinstance(found, str):
        return found == value
    return not isinstance(found, dict) and json.dumps(found) == value


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CommandError("it is not UTF-8 text") from None


def _parse_json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        raise CommandError("it is not JSON") from None


def _read_json(data: bytes) -> Iterator[Record]:
    found = _parse_json(_decode(data))
    yield from enumerate(found if isinstance(found, list) else [found], 1)


def _read_json_lines(data: bytes) -> Iterator[Record]:
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if line.strip():
            try:
                yield number, _parse_json(_decode(line))
            except CommandError:
                yield number, _NOT_JSON


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
