"""Arguments against a tool's schema: enough of JSON Schema for what our tools say, and an error a model can act on.

A null stands for an argument that was not given: some hosts fill in every name. Anything else that the schema does not
say is refused, with its name, what is wrong and what is allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from commonplace.model.errors import InvalidField
from commonplace.text.fence import unescape_name

_NAMES = frozenset({"key", "keys", "id", "after", "decision", "path", "paths", "in_folder"})
_ARTICLES = {
    "string": "a text", "integer": "a whole number", "boolean": "true or false", "array": "a list of texts",
    "object": "an object",
}  # fmt: skip


def checked(properties: Mapping[str, Any], required: Collection[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given, if they fit; InvalidField says what does not."""
    for name in arguments:
        if name not in properties:
            raise InvalidField(
                f"There is no argument {_short(name)}.", hint=f"The arguments are: {', '.join(properties) or 'none'}."
            )
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in required:
        if name not in given:
            raise InvalidField(f"The argument {name} is missing.", hint=f"Give {name}: {_wanted(properties[name])}.")
    for name, value in given.items():
        _check(name, properties[name], value)
    return {name: _named(value) if name in _NAMES else value for name, value in given.items()}


def _named(value: Any) -> Any:
    """A name, or several, as the book has it, from as an answer showed it."""
    return [unescape_name(word) for word in value] if isinstance(value, list) else unescape_name(value)


def _check(name: str, schema: Mapping[str, Any], value: Any) -> None:
    if not _is(schema["type"], value):
        raise InvalidField(f"{name} is {_ARTICLES[schema['type']]}.", hint=f"Give {_wanted(schema)}.")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidField(f"{name} cannot be {_short(value)}.", hint=f"Use one of: {', '.join(schema['enum'])}.")
    if isinstance(value, str):
        _check_text(name, value, schema.get("minLength", 0), schema.get("maxLength"))
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise InvalidField(f"{name} has too few items.", hint=f"Give {schema['minItems']} at least.")
        for item in value:
            _check(f"each of {name}", schema["items"], item)
    elif isinstance(value, int) and "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        raise InvalidField(f"{name} is out of bounds.", hint=f"Give {_wanted(schema)}.")


def _check_text(name: str, value: str, least: int, most: int | None) -> None:
    if len(value) < least:
        raise InvalidField(f"{name} is empty.")
    if most is not None and len(value) > most:
        raise InvalidField(
            f"{name} has {len(value):,} characters; {most:,} is the most.",
            hint="Keep what is worth keeping in a few sentences, and say where the rest is.",
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidField(
            f"{name} has half of a surrogate pair in it, which is not valid Unicode.", hint="Send valid Unicode text."
        ) from None


def _is(kind: str, value: Any) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, list if kind == "array" else dict)


def _wanted(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of: {', '.join(schema['enum'])}"
    if "minimum" in schema:
        return f"a whole number from {schema['minimum']} to {schema['maximum']}"
    return _ARTICLES[str(schema["type"])]


def _short(value: object) -> str:
    return ascii(value if not isinstance(value, str) or len(value) <= 40 else f"{value[:37]}...")
