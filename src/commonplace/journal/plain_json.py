"""Turn what an orchestrator hands over, any Python object, into JSON. Pure.

`manifest.read_manifest` calls `PlainJson`. A run that cannot be recorded is forgotten, so an object that JSON cannot
represent becomes what says the same: a path or an exception its text, a set a list, a dataclass an object. The same
object always gives the same JSON, in every process, so that recording a run twice changes nothing. What was changed
or cut is told in `warnings`.
"""

import json
import math
import os
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import Any

from commonplace.model.errors import InvalidManifest
from commonplace.model.lazy import lazy

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
MAX_DEPTH = 40
MAX_BYTES = 14_000_000  # of the whole manifest as JSON: files of up to 16 MiB can be read in the book
_SPARE_BYTES = 2_000_000  # for short texts after a long one took all the room
_SHORT = 1_000  # characters of a text that are recorded even then
_MAX_INT_BITS = 10_000  # Python reads no longer number from text
_NAMED = 5  # places that one warning names
_TASK_DEPTH = 3  # the manifest, its list of tasks, a task
_LISTS = ("tasks", "tools", "artifacts")  # fields where an iterator is meant to be read; elsewhere one might never end
_SURROGATE = lazy("[\ud800-\udfff]")
_ADDRESS = lazy(r" at 0x[0-9A-Fa-f]+")


class PlainJson:
    """Converts one manifest, and remembers what it had to change."""

    def __init__(self) -> None:
        self._left = MAX_BYTES
        self._changed: list[str] = []  # where, and of which type
        self._cut: list[str] = []

    def convert(self, value: object, where: str, above: tuple[int, ...] = ()) -> Any:
        """Return a value as JSON, in new lists and dicts. Raises InvalidManifest only for more than can be kept.

        `where` names its place in the manifest, `above` has the ids of the objects that it is in.
        """
        self._spend(len(above) + 4)
        try:
            if value is None or isinstance(value, bool):
                return value
            if isinstance(value, Enum):
                return self.convert(value.value, where, above)
            if isinstance(value, str):
                return self._fit(str.__str__(value), where)
            if isinstance(value, (int, float)):
                return self._number(value, where)
            if len(above) >= MAX_DEPTH or id(value) in above:
                return self._text(repr(value), value, where)
            return self._object(value, where, (*above, id(value)))
        except InvalidManifest:
            raise
        except Exception:  # noqa: BLE001 - an object of the caller may raise anything when it is looked at
            return self._text(f"({type(value).__name__})", value, where)

    def warnings(self) -> list[str]:
        """Return what was changed and what was cut, a line each."""
        said = [f"{what}. Keep long results in files and name the files in artifacts." for what in self._cut[:_NAMED]]
        if self._changed:
            more = len(self._changed) - _NAMED
            names = ", ".join(self._changed[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            said.append(f"Recorded as text: {names}.")
        return said

    def as_text(self, value: Json, where: str) -> str:
        """Return a JSON value as the text of a field that must be one."""
        if value is None or isinstance(value, str):
            return value or ""
        self._changed.append(f"{where} ({type(value).__name__})")
        return to_text(value)

    def _number(self, value: float, where: str) -> Any:
        if isinstance(value, int):
            plain = int(value)
            return plain if plain.bit_length() <= _MAX_INT_BITS else self._text(hex(plain), value, where)
        return float(value) if math.isfinite(value) else self._text(str(float(value)), value, where)

    def _object(self, value: Any, where: str, above: tuple[int, ...]) -> Any:
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        if isinstance(value, timedelta):
            return value.total_seconds()
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._text(bytes(value).decode("utf-8", "backslashreplace"), value, where)
        if isinstance(value, os.PathLike):
            return self._text(os.fsdecode(value), value, where)
        if isinstance(value, BaseException):
            return self._text(_exception_text(value), value, where)
        if isinstance(value, Mapping):
            return self._mapping(value, where, above)
        is_list = isinstance(value, Iterator) and where.rpartition(".")[2] in _LISTS
        plain = value if is_list else _find_plain_form(value)
        if plain is not value:
            is_text = isinstance(plain, str)
            return self._text(plain, value, where) if is_text else self.convert(plain, where, above)
        items: list[Any] = []
        for number, item in enumerate(value):
            if self._is_full(where, number, above):
                break
            items.append(self.convert(item, f"{where}[{number}]", above))
        return sorted(items, key=to_text) if isinstance(value, Set) else items  # a set has another order each time

    def _is_full(self, where: str, number: int, above: tuple[int, ...]) -> bool:
        """Return whether the rest of a list or dict is left out. The fields of the run and its tasks never are."""
        if self._left >= 0 or len(above) <= _TASK_DEPTH:
            return False
        self._cut.append(f"{where} is too long: its first {number:,} items are recorded")
        return True

    def _mapping(self, value: Mapping[Any, object], where: str, above: tuple[int, ...]) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        for number, (key, item) in enumerate(value.items()):
            if self._is_full(where, number, above):
                break
            name = self.convert(key, where, above)
            name = name if isinstance(name, str) else to_text(name) or "null"
            pairs.append((name, self.convert(item, f"{where}.{name[:40]}" if where else name[:40], above)))
        return unique_names(pairs)

    def _text(self, text: str, value: object, where: str) -> str:
        self._changed.append(f"{where} ({type(value).__name__})")
        return self._fit(_ADDRESS.sub("", text), where)

    def _fit(self, text: str, where: str) -> str:
        """Return a text, cut if the manifest has no more room for it."""
        text = kept = replace_surrogates(text)
        while (size := _json_size(kept)) > self._left and len(kept) > _SHORT:
            kept = kept[: max(_SHORT, len(kept) * max(self._left, 0) // size)]
        if kept is not text:
            self._cut.append(f"{where} is too long: {len(kept):,} of its {len(text):,} characters are recorded")
        self._spend(size)
        return kept

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < -_SPARE_BYTES:
            raise InvalidManifest(
                f"The manifest has more than {MAX_BYTES:,} bytes as JSON.",
                hint="Keep large results in files and name the files in artifacts.",
            )


def to_text(value: Json) -> str:
    """Return a JSON value as text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def replace_surrogates(text: str) -> str:
    """Return a text that a file can hold: surrogates become the replacement character."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def unique_names(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict that loses no pair: a name that comes again gets a number."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        unique, again = name, 2
        while unique in found:
            unique, again = f"{name}#{again}", again + 1
        found[unique] = value
    return found


def _json_size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())


def _exception_text(error: BaseException) -> str:
    """Return the name and message of an exception, then its traceback if it has one."""
    name = type(error).__name__
    try:
        line = f"{name}: {error}".removesuffix(": ")
    except Exception:  # noqa: BLE001 - its __str__ may be broken
        line = name
    if error.__traceback__ is None and error.__cause__ is None and not isinstance(error, BaseExceptionGroup):
        return line
    return f"{line}\n\n{''.join(traceback.format_exception(error)).rstrip()}"


def _find_plain_form(value: Any) -> Any:
    """Return what stands for an object: its fields, its items or its text; the object itself if it is a collection."""
    if not isinstance(value, type):
        for name in ("model_dump", "_asdict", "tolist"):  # pydantic, named tuples, numpy
            method = getattr(value, name, None)
            if callable(method):
                return method()
        fields = getattr(value, "__dataclass_fields__", None)
        if fields is not None:
            return {name: getattr(value, name) for name in fields}
        if isinstance(value, Collection):
            return value
        kind: Any = type(value)
        if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:  # would show an address
            return dict(vars(value)) if getattr(value, "__dict__", None) else kind.__name__
    return str(value)
