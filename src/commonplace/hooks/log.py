"""The log of hooks, `.commonplace/hook.log`: one line per failure, with nothing that a user or an agent wrote.

It is a module of its own, so that a failure or a deadline while the rest is loading can still be logged.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from commonplace.model.errors import CommonplaceError
from commonplace.model.settings import load_settings
from commonplace.model.times import now
from commonplace.vault.disk import append_line
from commonplace.vault.paths import PRIVATE

_NAME = "hook.log"
_MAX_BYTES = 64_000


def log_failure(environment: Mapping[str, str], event: str, error: BaseException) -> None:
    """Append the event, the error and its line in our code. Never raises, and creates no folder."""
    code = error.code if isinstance(error, CommonplaceError) else type(error).__name__
    trace, line = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/commonplace/" in name:
            line = f"{name.rpartition('/commonplace/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    printable = "".join(ch if ch.isprintable() else "?" for ch in event)
    text = f"{now()} event={printable!a} error={code} at={line or '-'}\n"
    with suppress(Exception):
        root = os.path.abspath(os.path.expanduser(load_settings({}, environment, {}).root))
        append_line(os.path.join(root, PRIVATE.name), _NAME, text.encode("ascii", "replace"), _MAX_BYTES)
