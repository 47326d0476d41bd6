"""Patterns and loggers that cost nothing until first used: every room makes its own at import.

Without this, every start would compile all patterns (11 ms) and load the logging package (10 ms). Loggers are named
`commonplace.ROOM`, fields are key=value, and nothing from a memory or a query is ever logged. They are quiet unless the
program configures logging, or COMMONPLACE_LOG does for the command line.
"""

from __future__ import annotations

import re
import sys
from typing import cast


class _LazyPattern:
    """Stands in for a pattern and compiles it when one of its methods is first used."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, found)  # later uses find the attribute itself
        return found


def lazy(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when first used."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, int(flags)))


class Log:
    """A logger that loads the logging package with its first message."""

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, message: str, *fields: object) -> None:
        """Log a message if logging is loaded; otherwise no handler could show it."""
        if "logging" in sys.modules:
            self._log("debug", message, fields)

    def info(self, message: str, *fields: object) -> None:
        """Log a message at level INFO."""
        self._log("info", message, fields)

    def warning(self, message: str, *fields: object) -> None:
        """Log a message at level WARNING."""
        self._log("warning", message, fields)

    def _log(self, level: str, message: str, fields: tuple[object, ...]) -> None:
        import logging  # noqa: PLC0415 - see above

        ours = logging.getLogger("commonplace")
        if not ours.handlers:
            ours.addHandler(logging.NullHandler())
        getattr(logging.getLogger(self._name), level)(message, *fields, stacklevel=3)
