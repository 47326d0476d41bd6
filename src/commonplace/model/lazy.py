"""Patterns and loggers that cost nothing until they are used.

A start would otherwise compile every pattern of every room (11 ms) and load the logging package (10 ms), for the few
commands that need them. Loggers are named `commonplace.ROOM`, fields are key=value, and nothing of a memory or a
question is ever logged. Quiet unless the program, or COMMONPLACE_LOG for the command line, says otherwise.
"""

from __future__ import annotations

import re
import sys
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


class Log:
    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, message: str, *fields: object) -> None:
        if "logging" in sys.modules:  # else nobody has asked to see it
            self._log("debug", message, fields)

    def info(self, message: str, *fields: object) -> None:
        self._log("info", message, fields)

    def warning(self, message: str, *fields: object) -> None:
        self._log("warning", message, fields)

    def _log(self, level: str, message: str, fields: tuple[object, ...]) -> None:
        import logging  # noqa: PLC0415 - see above

        ours = logging.getLogger("commonplace")
        if not ours.handlers:
            ours.addHandler(logging.NullHandler())
        getattr(logging.getLogger(self._name), level)(message, *fields, stacklevel=3)
