"""Our named tuples against those of the standard library, which they must not differ from."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.value import NamedTuple, replace


class Ours(NamedTuple):
    """A value."""

    name: str
    size: int = 0
    tags: tuple[str, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.size


class Theirs(typing.NamedTuple):
    """A value."""

    name: str
    size: int = 0
    tags: tuple[str, ...] = ()

    @property
    def twice(self) -> int:
        return 2 * self.size


class Checked(Ours):
    """With a constructor of its own, as Scope has."""

    __slots__ = ()

    def __new__(cls, name: str, size: int = 1, tags: tuple[str, ...] = ()) -> Checked:
        return super().__new__(cls, name.strip(), size=size, tags=tags)


def outcome(act: Callable[[], Any]) -> object:
    """What came of it, apart from the words of an error: the value as text, or the kind of error."""
    try:
        return repr(act()).replace("Theirs", "Ours")
    except (TypeError, ValueError) as error:
        return type(error)


_values = st.lists(st.sampled_from(["a", 1, ("x",), None]), max_size=4)
_named = st.dictionaries(st.sampled_from(["name", "size", "tags", "other"]), st.integers(), max_size=4)


@given(values=_values, named=_named)
def test_it_is_made_as_the_library_s(values: list[Any], named: dict[str, Any]) -> None:
    """Whatever is given, named or left out: the same value, or the same kind of error."""
    assert outcome(lambda: Ours(*values, **named)) == outcome(lambda: Theirs(*values, **named))
    assert outcome(lambda: Ours._make(values)) == outcome(lambda: Theirs._make(values))
    assert outcome(lambda: Ours("a", 1)._replace(**named)) == outcome(lambda: Theirs("a", 1)._replace(**named))


def test_it_behaves_as_the_library_s() -> None:
    """Fields, defaults, types, order, equality, hash, unpacking, patterns and text are those of a named tuple."""
    ours, theirs = Ours("a", 2), Theirs("a", 2)
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert tuple(ours) == theirs and hash(ours) == hash(theirs)
    assert (ours._asdict(), ours.twice) == (theirs._asdict(), theirs.twice)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (Ours("b"), *ours) > (Ours("a", 3), "a", 2, ())
    match ours:
        case Ours(name, size=2):
            assert name == "a"
        case _:
            pytest.fail("a pattern does not match")
    with pytest.raises(AttributeError):
        ours.size = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        ours.other = 3  # type: ignore[attr-defined]
    assert replace(ours, size=5) == ("a", 5, ())


def test_who_inherits_keeps_class_and_check() -> None:
    """A class that checks what it is made of does so by name and by place, and its values copy and pickle."""
    made = Checked(" a ", size=3)
    assert (made, type(made), Checked(" b ").size) == (("a", 3, ()), Checked, 1)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made._replace(name="a")):
        assert (again, type(again)) == (made, Checked)


def test_a_field_without_a_default_behind_one_is_an_error() -> None:
    """As a function's arguments cannot: it would be unclear which is left out."""
    kind: Any = type(Ours)
    with pytest.raises(TypeError, match="Wrong"):
        kind("Wrong", (NamedTuple,), {"__annotations__": {"a": int, "b": int}, "a": 1})
