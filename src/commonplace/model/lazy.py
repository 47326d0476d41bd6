"""Patterns and loggers that cost nothing until first used: every room makes its own at import.

Without this, every start would compile all patterns (11 ms) and load the logging package (10 ms). Loggers are named
`commonplace.ROOM`, fields are key=value, and nothing from a memory or a query is ever logged. They are quiet unless the
program configures logging, or COMMONPLACE_LOG does for the command line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from types import ModuleType


class _Lazy:
    """Stands in for an object and makes it when one of its attributes is first used."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._make(), name)
        setattr(self, name, found)  # later uses find the attribute itself
        return found


def lazy(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when first used."""
    return cast("re.Pattern[str]", _Lazy(partial(re.compile, pattern, flags)))


class Log(_Lazy):
    """A logger of the standard library, which loads the logging package with its first message."""

    def __init__(self, name: str) -> None:
        super().__init__(partial(_get_logger, name))

    def debug(self, message: str, *fields: object) -> None:
        """Log a message if logging is loaded; otherwise no handler could show it."""
        if "logging" in sys.modules:
            self._make().debug(message, *fields, stacklevel=2)


def load_any(*names: str) -> Any:
    """Return the first of these modules that is installed, loaded now; None if none is."""
    for name in names:
        with suppress(ImportError):
            __import__(name)  # `importlib` itself would take time to load
            return sys.modules[name]
    return None


def load_logging() -> ModuleType:
    """Return the logging package of the standard library: a process that logs nothing does without."""
    import logging  # noqa: PLC0415 - see above

    return logging


def _get_logger(name: str) -> Any:
    logging = load_logging()
    ours = logging.getLogger("commonplace")
    if not ours.handlers:
        ours.addHandler(logging.NullHandler())
    return logging.getLogger(name)
