"""How much a test tries: little in `make test`, all of it in `make deep`, far more with `COMMONPLACE_DEEP=1`.

A test that takes long has a quick form and a deep form, told apart by the values of one parameter:

    @pytest.mark.parametrize("calls", depths(5, 125))

The deep form is marked `deep`, which `make test` leaves out. A property test runs in both, with more examples in
`make deep`; see `examples`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

# Unset in `make test`, "short" in `make deep`, and "1" for the long form, which nobody waits for.
DEPTH = os.environ.get("COMMONPLACE_DEEP", "")
IS_LONG = DEPTH == "1"


def depths(quick: object, deep: object, long: object = None) -> list[Any]:
    """Return the values of a parameter: a quick one for `make test`, and one that only `make deep` tries.

    A tuple is the values of several parameters.
    """
    chosen = long if IS_LONG and long is not None else deep
    few, many = (value if isinstance(value, tuple) else (value,) for value in (quick, chosen))
    return [pytest.param(*few, id="quick"), pytest.param(*many, id="deep", marks=pytest.mark.deep)]


def first_quick(values: Iterable[object], number: int = 1) -> list[Any]:
    """Return the values of a parameter: the first few for `make test`, the others only for `make deep`."""
    return [pytest.param(value, marks=pytest.mark.deep if n >= number else ()) for n, value in enumerate(values)]


def examples(number: int, quick: int = 50, **more: Any) -> settings:
    """Return the settings of a property test that tries so many examples in `make deep`, and fewer in `make test`.

    The long form tries five times as many. `quick` is for tests of which one example takes long.
    """
    tried = {"": min(number, quick), "1": 5 * number}.get(DEPTH, number)
    return settings(max_examples=tried, **more)
