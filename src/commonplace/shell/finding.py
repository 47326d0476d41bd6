"""find: the names below a folder that fit. What it prints is what GNU find prints, by name instead of as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from commonplace.model.errors import CommonplaceError
from commonplace.model.patterns import lazy
from commonplace.shell.patterns import compile_glob
from commonplace.shell.run import Run, Trouble, quoted, reason
from commonplace.shell.shown import Met
from commonplace.vault.port import Kind

_DAY_NS = 86_400 * 1_000_000_000
_DAYS = lazy(r"([+-]?)([0-9]{1,9})")
_OPERATORS = ("(", ")", "!", ",")
_TYPES = {"f": Kind.FILE, "d": Kind.FOLDER}
Test = Callable[[Met], bool]


def find(run: Run, args: Sequence[str]) -> None:
    tests_at = next((place for place, word in enumerate(args) if word.startswith("-") or word in _OPERATORS), len(args))
    words = list(args[:tests_at]) or ["."]
    tests = _tests(run, args[tests_at:])

    def refused(label: str, error: CommonplaceError) -> None:
        run.fail(f"{quoted(label, always=True)}: {reason(error)}")

    for word in words:
        try:
            found = run.find(word)
        except Trouble as trouble:
            run.fail(f"{quoted(word, always=True)}: {trouble}")
            continue
        for met in run.shown.walk(word, found.path, found.stat, refused):
            if all(test(met) for test in tests):
                run.line(met.label)


def _tests(run: Run, args: Sequence[str]) -> list[Test]:
    tests: list[Test] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word in _OPERATORS or not word.startswith("-"):
            raise Trouble(f"paths must precede expression: `{word}'")
        make = _MAKERS.get(word)
        if make is None:
            raise Trouble(f"unknown predicate `{word}'")
        if not rest:
            raise Trouble(f"missing argument to `{word}'")
        tests.append(make(run, rest.pop(0)))
    return tests


def _name(_: Run, value: str) -> Test:
    pattern = compile_glob(value)
    return lambda met: pattern.fullmatch(_base(met.label).encode()) is not None


def _base(label: str) -> str:
    return label.rstrip("/").rsplit("/", 1)[-1] or "/"


def _type(_: Run, value: str) -> Test:
    letters = value.split(",")
    for letter in letters:
        if letter not in _TYPES:
            raise Trouble(f"Unknown argument to -type: {letter}")
    return lambda met: any(met.stat.kind is _TYPES[letter] for letter in letters)


def _newer(run: Run, value: str) -> Test:
    try:
        limit = run.find(value).stat.mtime_ns
    except Trouble as trouble:
        raise Trouble(f"{quoted(value, always=True)}: {trouble}") from None
    return lambda met: met.stat.mtime_ns > limit


def _mtime(_: Run, value: str) -> Test:
    match = _DAYS.fullmatch(value)
    if match is None:
        raise Trouble(f"invalid argument `{value}' to `-mtime'")
    sign, days, now = match.group(1), int(match.group(2)), time.time_ns()

    def fits(met: Met) -> bool:
        age = (now - met.stat.mtime_ns) // _DAY_NS
        return age > days if sign == "+" else age < days if sign == "-" else age == days

    return fits


_MAKERS: dict[str, Callable[[Run, str], Test]] = {"-name": _name, "-type": _type, "-newer": _newer, "-mtime": _mtime}
