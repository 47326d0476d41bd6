"""Patterns that are compiled when they are first used.

A start would otherwise compile every pattern of every room: 11 ms, most of it for patterns that are never used.
"""

from __future__ import annotations

import re
from typing import cast


class _Lazy:
    """Stands for a pattern; becomes one at the first use of any of its methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, found)  # the next use does not come here
        return found


def lazy(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Lazy(pattern, int(flags)))
