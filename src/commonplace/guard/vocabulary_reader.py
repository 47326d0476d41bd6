"""Read a host's own vocabulary from a plain table, as config.toml has it or a program makes it.

The fields are those of `Vocabulary`, `ToolRule` and `MemoryFolder` (guard/vocabulary.py); docs/protocol.md has an
example. The hooks read one from a trusted config.toml, and `Tracker` takes one. An unknown or odd field raises
InvalidSettings: ignoring it would leave a tool unwatched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from commonplace.guard.vocabulary import CallKind, MemoryFolder, ToolRule, Vocabulary, suggest
from commonplace.model.errors import InvalidSettings

_MOST = 200  # tools, modes, folders, calls
_LONGEST = 500  # characters of a text
_STEPS = ("read", "show", "merge", "supersede", "update_index")
_Reader = Callable[[Any, str], Any]


def read_vocabulary(given: object) -> Vocabulary:
    """Return the vocabulary that a table describes. Raise InvalidSettings."""
    found: Vocabulary = _read_fields(
        Vocabulary,
        given,
        "protocol_vocabulary",
        tools=_read_rules,
        folders=lambda value, where: tuple(
            _read_fields(MemoryFolder, one, where, names=_read_texts) for one in _check_size(value, list, where)
        ),
        **dict.fromkeys(_STEPS, lambda value, where: suggest(*_read_texts(value, where))),
    )
    kinds = {rule.kind for tool in found.tools.values() for rule in (tool, *tool.modes.values())}
    if not found.keeps_index and CallKind.INDEX not in kinds and not found.index_file:
        raise InvalidSettings(
            "A protocol_vocabulary with keeps_index = false needs a tool of the kind index, or an index_file."
        )
    return found


def _read_rules(given: object, where: str) -> dict[str, ToolRule]:
    rules: dict[str, ToolRule] = {}
    for name, rule in _check_size(given, dict, where).items():
        found = _read_fields(ToolRule, rule, f"{where}.{name[:60]}", modes=_read_rules)
        if bool(found.modes) != bool(found.mode_in):
            raise InvalidSettings(f"{where}.{name[:60]!a} must have both mode_in and modes, or neither.")
        rules[name] = found
    return rules


def _read_fields(shape: Any, given: object, where: str, **special: _Reader) -> Any:
    """Return a named tuple from a table of its fields; `special` reads those that are more than a text or a list."""
    table = _check_size(given, dict, where)
    for name in table:
        if name not in shape._fields:
            raise InvalidSettings(
                f"{where} has an unknown field {str(name)[:60]!a}.", hint=f"Its fields are: {', '.join(shape._fields)}."
            )
    for name in shape._fields:
        if name not in table and name not in shape._field_defaults:
            raise InvalidSettings(f"{where} has no field {name}.")
    values = {}
    for name, value in table.items():
        place = f"{where}.{name}"
        default = shape._field_defaults.get(name)
        values[name] = special[name](value, place) if name in special else _read_value(value, place, default)
    return shape(**values)


def _read_value(value: object, where: str, default: object) -> object:
    """Return a value of the kind that its default has."""
    if isinstance(default, tuple):
        return _read_texts(value, where)
    if isinstance(default, StrEnum):
        words = [str(word) for word in type(default)]
        if value not in words:
            raise InvalidSettings(f"{where} cannot be {str(value)[:40]!a}.", hint=f"Use one of: {', '.join(words)}.")
        return type(default)(str(value))
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidSettings(f"{where} must be true or false.")
        return value
    return _read_texts(value if isinstance(value, str) else [value], where)[0]


def _read_texts(value: object, where: str) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else _check_size(value, list, where)
    if not all(isinstance(item, str) and len(item) <= _LONGEST for item in items):
        raise InvalidSettings(f"{where} must be text of at most {_LONGEST} characters, or a list of such texts.")
    return tuple(items)


def _check_size(value: Any, kind: type, where: str) -> Any:
    wanted = Mapping if kind is dict else (list, tuple)
    is_fine = isinstance(value, wanted) and len(value) <= _MOST
    if not is_fine or (kind is dict and not all(isinstance(name, str) for name in value)):
        raise InvalidSettings(f"{where} must be a {'table' if kind is dict else 'list'} of at most {_MOST} items.")
    return value
