"""Tell which entries in the files of hosts start our programs, and renew their commands.

An entry of hooks is ours if it starts our hook program for a host, and nothing else. The entry of our server is ours
whoever wrote it: connect, `mcp add` of the host, or a person. What a user changed or added in an entry stays: only the
commands are renewed. `connect` and `report` call these functions.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from commonplace.hosts.config_edit.commands import (
    COMMAND_NAMES,
    HostCall,
    ServerCall,
    parse_call,
    parse_member,
    parse_server,
    read_words,
    split_line,
    split_program,
)


def find_host(value: object) -> str | None:
    """Return the host that an entry starts our program for; None where it starts nothing, or anything else as well."""
    hosts = {call[2] if call else None for call in _find_calls(value)}
    return hosts.pop() if len(hosts) == 1 else None


def is_shared(value: object) -> bool:
    """Return whether an entry starts our program and something else."""
    calls = list(_find_calls(value))
    return any(calls) and not all(calls)


def is_all_ours(value: object) -> bool:
    """Return whether every list in a value holds entries of ours, and nothing else."""
    if isinstance(value, dict):
        return bool(value) and all(map(is_all_ours, value.values()))
    return isinstance(value, list) and bool(value) and all(map(find_host, value))


def find_server(value: object) -> ServerCall | None:
    """Return the options of our MCP server in an entry of a host's settings; None where it starts anything else."""
    if not isinstance(value, dict):
        return None
    calls = [parse_server(read_words(value, name)) for name in COMMAND_NAMES if name in value]
    return calls[0] if len(calls) == 1 else None


def _find_calls(value: object) -> Iterator[HostCall | None]:
    """Yield every command of an entry: ours as `parse_call` returns it, None for any other."""
    if isinstance(value, str):
        yield parse_call(split_line(value))
    elif isinstance(value, dict):
        for name in COMMAND_NAMES:
            if name in value:
                yield parse_member(value, name)
        inner = value.get("hooks", [])
        for item in inner if isinstance(inner, list) else [inner]:
            yield from list(_find_calls(item)) or [None]


def find_hook_calls(value: object) -> set[HostCall]:
    """Return the hooks of ours that an entry starts, whatever else it starts."""
    return {call for call in _find_calls(value) if call is not None}


# Renewing


Start = HostCall | str
"""What a command of ours starts: a hook, or the server of a host."""
_SERVER = "the server"


def renew_commands(value: object, wanted: object) -> object:
    """Return an entry or a file of ours with the commands of a newer one; all else in it stays as the user has it."""
    fresh = {start: item for item in _find_objects(wanted) for start in _find_starts(item)}
    return _renew(value, fresh)


def starts_all_of(value: object, wanted: object) -> bool:
    """Return whether a file of ours that was edited still starts what a newer one starts, and nothing else."""
    ours, theirs = ([start for item in _find_objects(one) for start in _find_starts(item)] for one in (wanted, value))
    return bool(ours) and {*ours} <= {*theirs} and all(map(_find_starts, _find_objects(value)))


def _find_objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield each object with a command, at any depth."""
    if isinstance(value, dict):
        if any(name in value for name in COMMAND_NAMES):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _find_objects(item)


def _find_starts(item: Mapping[str, object]) -> list[Start]:
    """Return what an object with a command starts of ours; nothing where one of its commands is another's."""
    if find_server(item) is not None:
        return [_SERVER]
    calls = [parse_member(item, name) for name in COMMAND_NAMES if name in item]
    return [call for call in calls if call is not None] if all(calls) else []


def _renew(value: object, fresh: Mapping[Start, dict[str, Any]]) -> object:
    if isinstance(value, list):
        return [_renew(item, fresh) for item in value]
    if not isinstance(value, dict):
        return value
    starts = _find_starts(value) if any(name in value for name in COMMAND_NAMES) else []
    new = fresh.get(starts[0]) if starts else None
    if new is None:
        return {name: _renew(item, fresh) for name, item in value.items()}
    if starts == [_SERVER]:
        return _renew_server(value, new)
    kept = {name: item for name, item in value.items() if name != "args" or "args" in new}
    return kept | {name: new[name] for name in (*COMMAND_NAMES, "args") if name in new}


def _renew_server(value: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of a server with another program; its agent, its book and its other options stay."""
    call, fresh = find_server(value), find_server(new)
    own, name = (next(name for name in COMMAND_NAMES if name in item) for item in (value, new))
    words = [str(word) for word in read_words(new, name)]
    if call is None or fresh is None:
        return value
    if call.agent:
        words[words.index("--agent") + 1] = call.agent
    if call.root and not fresh.root:
        words += ["--root", call.root]
    words += call.more
    return {**value, own: words} if isinstance(value[own], list) else {**value, own: words[0], "args": words[1:]}


# What is in them


def find_roots(value: object) -> set[str]:
    """Return the folders of books that our commands name, and the environment of our server."""
    found = set()
    for item in _find_objects(value):
        for name in COMMAND_NAMES:
            words = [str(word) for word in read_words(item, name)] if name in item else []
            if split_program(words)[0]:
                found |= {root for before, root in pairwise(words) if before == "--root"}
        server = find_server(item)
        if server is not None:
            found |= {server.root} if server.root else set()
            given = [item[name] for name in ("env", "environment", "envs") if isinstance(item.get(name), dict)]
            found |= {str(names["COMMONPLACE_ROOT"]) for names in given if names.get("COMMONPLACE_ROOT")}
    return found


def find_programs(value: object) -> list[tuple[str, ...]]:
    """Return the words that start our programs on this machine, without their arguments."""
    found = []
    for item in _find_objects(value):
        for name in ("command", "cmd", "bash"):
            words = [str(word) for word in read_words(item, name)] if name in item else []
            program, rest = split_program(words)
            if program:
                found.append(tuple(words[: len(words) - len(rest)]))
    return list(dict.fromkeys(found))
