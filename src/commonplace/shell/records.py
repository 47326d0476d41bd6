"""Records in files: the objects of JSON and JSON Lines, the rows of a CSV table, the frontmatter of a note."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator

from commonplace.shell.run import Trouble
from commonplace.text.frontmatter import split

Record = tuple[int, object]  # where it is: the line, or the place in its list, from 1; and what it says


def reader_of(name: str) -> Callable[[bytes], Iterator[Record]] | None:
    """How the records of a file are read, by the ending of its name; None when it has none."""
    return _READERS.get(name.rsplit(".", 1)[-1].lower() if "." in name else "")


def fits(record: object, field: str, value: str) -> bool:
    """Whether a field, or one below it (`owner.name`), says this; a list does when one of its items does."""
    found = record
    if isinstance(record, dict) and field in record:
        return _says(record[field], value)
    for name in field.split("."):
        if not isinstance(found, dict) or name not in found:
            return False
        found = found[name]
    return _says(found, value)


def _says(found: object, value: str) -> bool:
    if isinstance(found, list):
        return any(_says(item, value) for item in found if not isinstance(item, list))
    if isinstance(found, str):
        return found == value
    return not isinstance(found, dict) and json.dumps(found) == value


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Trouble("it is not UTF-8 text") from None


def _load(text: str) -> object:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        raise Trouble("it is not JSON") from None


def _json(data: bytes) -> Iterator[Record]:
    found = _load(_text(data))
    yield from enumerate(found if isinstance(found, list) else [found], 1)


def _json_lines(data: bytes) -> Iterator[Record]:
    for number, line in enumerate(_text(data).split("\n"), 1):
        if line.strip():
            try:
                yield number, _load(line)
            except Trouble:
                raise Trouble(f"line {number} is not JSON") from None


def _csv(data: bytes) -> Iterator[Record]:
    rows = csv.DictReader(io.StringIO(_text(data), newline=""))
    try:
        for row in rows:
            yield rows.line_num, {name: cell for name, cell in row.items() if name is not None and cell is not None}
    except csv.Error as error:
        raise Trouble(f"it is not a table: {error}") from None


def _note(data: bytes) -> Iterator[Record]:
    front, _ = split(data.decode("utf-8", "replace"))
    fields = {name: front.get(name) for name in front.names()}
    if fields:
        yield 1, {name: value for name, value in fields.items() if value is not None}


_READERS: dict[str, Callable[[bytes], Iterator[Record]]] = {
    "json": _json,
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "csv": _csv,
    "md": _note,
}
