"""Names of typing that stand for themselves to a type checker alone."""

from __future__ import annotations

import typing

from commonplace.model import errors


def test_hints_can_be_worked_out() -> None:
    """Who looks at our errors while running, as tools for documents and schemas do, is told the types of what they
    have."""
    ours = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert errors.NotFound in ours
    for each in ours:
        hints = typing.get_type_hints(each)
        assert hints["code"] is str and hints["exit_code"] is int
