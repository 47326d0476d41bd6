"""Loggers that load the logging package at the first line that is logged: most commands log none, and save 10 ms.

Names are `commonplace.ROOM`, fields are key=value, and nothing of a memory or a question is ever in one. Quiet unless
the program, or COMMONPLACE_LOG for the command line, says otherwise.
"""

from __future__ import annotations

import sys


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
