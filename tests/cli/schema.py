"""As much of JSON Schema as docs/cli-schemas.json uses; a keyword that is not known here is an error, not a pass."""

from __future__ import annotations

from typing import Any

KNOWN = {"type", "enum", "$ref", "anyOf", "properties", "required", "additionalProperties", "items"}
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "null": (type(None),),
    "array": (list,), "object": (dict,),
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "$") -> list[str]:
    """Where a value is not what a schema says; empty when it fits."""
    assert schema.keys() <= KNOWN, f"unknown keywords in {schema.keys() - KNOWN}"
    if not schema:
        return []  # any value
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    if "anyOf" in schema:
        found = [faults(value, part, root, where) for part in schema["anyOf"]]
        return [] if [] in found else [fault for part in found for fault in part]
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, name) for name in names):
        return [f"{where} is {value!r}, not {' or '.join(names)}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is {value!r}, not one of {schema['enum']}"]
    if isinstance(value, list):
        return [
            fault
            for n, item in enumerate(value)
            for fault in faults(item, schema.get("items", {}), root, f"{where}[{n}]")
        ]
    return _members(value, schema, root, where) if isinstance(value, dict) else []


def _is(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (not isinstance(value, bool) or name == "boolean")


def _members(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], where: str) -> list[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    found = [f"{where} has no {name}" for name in schema.get("required", ()) if name not in value]
    for name, item in value.items():
        if name in known:
            found += faults(item, known[name], root, f"{where}.{name}")
        elif others is False:
            found.append(f"{where} has {name}, of which nothing is known")
        else:
            found += faults(item, others, root, f"{where}.{name}")
    return found
