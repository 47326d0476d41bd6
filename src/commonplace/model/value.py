"""Values are named tuples: made in a third of a dataclass's time, and defined in an eighth of it.

Every command starts by defining some sixty of them; as dataclasses that took 40 ms of every start, and 10 more for the
modules that dataclasses need (docs/adr/0005-values-are-named-tuples.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value", bound=NamedTuple)


def replace(value: Value, /, **changes: Any) -> Value:
    """The same value with some fields changed."""
    return value._replace(**changes)
