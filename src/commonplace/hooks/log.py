"""The log of hooks, `.commonplace/hook.log`: what went wrong, in a line each, with nothing of anybody's words in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from commonplace.model.errors import CommonplaceError
from commonplace.model.settings import load_settings
from commonplace.model.times import now
from commonplace.vault.disk import append_line
from commonplace.vault.paths import PRIVATE

NAME = "hook.log"
MOST_BYTES = 64_000


def complain(environment: Mapping[str, str], where: str, error: BaseException) -> None:
    """Say what failed: which event, which error, at which line of ours. Never fails itself, and makes no folder."""
    code = error.code if isinstance(error, CommonplaceError) else type(error).__name__
    trace, line = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/commonplace/" in name:
            line = f"{name.rpartition('/commonplace/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    words = "".join(ch if ch.isprintable() else "?" for ch in where)
    text = f"{now()} event={words!a} error={code} at={line or '-'}\n"
    with suppress(Exception):
        root = os.path.abspath(os.path.expanduser(load_settings({}, environment, {}).root))
        append_line(os.path.join(root, PRIVATE.name), NAME, text.encode("ascii", "replace"), MOST_BYTES)
