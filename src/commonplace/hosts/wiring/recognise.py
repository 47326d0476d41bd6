"""Tell which entries in the files of other programs are ours: by the command they start, read word by word.

`connecting` asks this about entries in files that the user shares with us; `ownership` is about whole files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from commonplace.hosts.wiring.commands import parse_call, split_line

COMMAND_NAMES = ("command", "cmd", "bash", "powershell")


def is_ours(value: object) -> bool:
    """Whether a value starts our program for a host, and nothing else."""
    return host_of(value) is not None


def host_of(value: object) -> str | None:
    """Return the host that a value starts our program for; None where it starts nothing, or anything else as well."""
    hosts = {call[2] if call else None for call in _calls(value)}
    return hosts.pop() if len(hosts) == 1 else None


def is_shared(value: object) -> bool:
    """Whether a value starts our program and something else."""
    calls = list(_calls(value))
    return any(calls) and not all(calls)


def all_ours(value: object) -> bool:
    """Whether every list in a value has something, and nothing but ours."""
    if isinstance(value, dict):
        return bool(value) and all(map(all_ours, value.values()))
    return isinstance(value, list) and bool(value) and all(map(is_ours, value))


def call_at(value: Mapping[str, object], name: str) -> tuple[str, str, str] | None:
    """Return the call of ours in one member: a word with `args`, a list of words, or a line for a shell."""
    given, args = value[name], value.get("args")
    if isinstance(given, list):
        return parse_call(given)
    if not isinstance(given, str):
        return None
    return parse_call([given, *args] if isinstance(args, list) else split_line(given))


def _calls(value: object) -> Iterator[tuple[str, str, str] | None]:
    """Yield every command of an entry: those of ours as `parse_call` returns them, None for any other."""
    if isinstance(value, str):
        yield parse_call(split_line(value))
    elif isinstance(value, dict):
        for name in COMMAND_NAMES:
            if name in value:
                yield call_at(value, name)
        inner = value.get("hooks", [])
        for item in inner if isinstance(inner, list) else [inner]:
            yield from list(_calls(item)) or [None]


def commands(value: object) -> Iterator[tuple[str, bool]]:
    """The commands that a value starts, each with whether it is one word or a line for a shell."""
    if isinstance(value, dict):
        for name in ("command", "cmd", "bash"):
            given = value.get(name)
            if isinstance(given, str):
                yield given, "args" in value
            elif isinstance(given, list) and given:
                yield str(given[0]), True
        for item in value.values():
            yield from commands(item)
    elif isinstance(value, list):
        for item in value:
            yield from commands(item)


def loaded(text: str) -> object:
    """A file of ours as a value, where it is JSON; else its text."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value
