"""Errors: one tree, stable codes, something to do in every hint."""

from __future__ import annotations

import re

import pytest

from commonplace.model import errors
from commonplace.model.errors import CommonplaceError, InvalidKey, NotFound


def all_errors() -> list[type[CommonplaceError]]:
    """Every error class of this module, the root first."""
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [value for value in found if issubclass(value, CommonplaceError)]


def test_the_drawn_tree_is_the_tree() -> None:
    """The tree in the docstring names every class once, at the depth that it has."""
    drawn = re.findall(r"^ {4}([│├└─ ]*)([A-Z]\w+)", errors.__doc__ or "", re.M)
    assert {name: len(lead) // 4 for lead, name in drawn} == {
        cls.__name__: len(cls.__mro__) - len(CommonplaceError.__mro__) for cls in all_errors()
    }
    assert len(drawn) == len(all_errors())


@pytest.mark.parametrize("attribute", ["code", "exit_code"])
def test_codes_are_unique(attribute: str) -> None:
    """No two errors share a code or an exit code, so that a script can tell them apart."""
    values = [getattr(cls, attribute) for cls in all_errors()]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("cls", all_errors())
def test_each_error_says_what_and_what_to_do(cls: type[CommonplaceError]) -> None:
    """Every error has a message, a hint, an exit code a shell can carry and an HTTP status of an error."""
    error = cls()
    assert error.message == (cls.__doc__ or "").strip()
    assert error.message.endswith(".")
    assert error.hint.endswith(".")
    assert cls.exit_code == 1 if cls is NotFound else 10 <= cls.exit_code < 126
    assert 400 <= cls.http_status < 600
    assert error.as_dict() == {"code": cls.code, "message": error.message, "hint": error.hint}


def test_a_message_and_a_hint_of_the_caller_win() -> None:
    """What the raiser says replaces the defaults, and str() is the message."""
    error = InvalidKey("No.", hint="Yes.")
    assert (str(error), error.message, error.hint) == ("No.", "No.", "Yes.")
    assert InvalidKey("No.").hint == InvalidKey.default_hint
