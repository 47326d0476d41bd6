"""query: the records whose field has a value, in one file or in all below a folder, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from commonplace.shell.records import fits, reader_of
from commonplace.shell.run import Run, Trouble, quoted, reason
from commonplace.shell.shown import Met
from commonplace.vault.port import Kind

_USAGE = "usage: query PATH --field F --equals V [--limit N]"
_LIMIT = 50
_MOST = 1_000
_TROUBLE = 2


class _Question(NamedTuple):
    path: str
    field: str
    value: str
    limit: int


def query(run: Run, args: Sequence[str]) -> None:
    asked = _question(args)
    run.status = 1  # nothing found
    found = run.find(asked.path)

    def refused(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quoted(label)}: {reason(error)}", _TROUBLE)

    left = asked.limit
    for met in run.shown.walk(asked.path, found.path, found.stat, refused):
        if met.stat.kind is Kind.FILE:
            left = _ask(run, met, asked, left, alone=met.path == found.path)
        if left < 0:
            run.say(f"query: there is more than {asked.limit}: ask with a higher --limit (at most {_MOST})\n")
            break
    if left < asked.limit and run.status == 1:
        run.status = 0


def _ask(run: Run, met: Met, asked: _Question, left: int, *, alone: bool) -> int:
    """Print what fits in one file; answers how many more may be printed, -1 when there was one too many."""
    reader = reader_of(met.path.name)
    if reader is None:
        if alone:
            raise Trouble(f"{quoted(met.label)}: it has no records; those of json, jsonl, csv and md files are read")
        return left
    try:
        for number, record in reader(run.contents(met.path)):
            if fits(record, asked.field, asked.value):
                left -= 1
                if left < 0:
                    return left
                found = {"path": str(met.path), "number": number, "record": record}
                run.line(json.dumps(found, ensure_ascii=False))
    except RecursionError:
        run.fail(f"{quoted(met.label)}: it has lists or objects too deep inside one another", _TROUBLE)
    except Trouble as trouble:
        run.fail(f"{quoted(met.label)}: {trouble}", _TROUBLE)
    return left


def _question(args: Sequence[str]) -> _Question:
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
            raise Trouble(f"unrecognized option '{name}'")
        if not equals and not rest:
            raise Trouble(f"option '{name}' requires an argument")
        given[name] = value if equals else rest.pop(0)
    if len(paths) != 1 or "--field" not in given or "--equals" not in given:
        raise Trouble(_USAGE)
    limit = given.get("--limit", str(_LIMIT))
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit[:9]) <= _MOST):
        raise Trouble(f"--limit is a number from 1 to {_MOST}")
    return _Question(paths[0], given["--field"], given["--equals"], int(limit))
