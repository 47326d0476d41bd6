"""The log of hook runs, `.commonplace/hook.log.runs`: a line for each hook that ran, and how it ended.

It counts hooks that gave no answer, so it must work when nothing else does: it loads `os` and `time` alone, and a line
is one write that waits for no disk and no other process. `hooks/main.py` adds a line when a hook is done, or when its
deadline passed; and one when half of its time has passed, so that a hook that its host kills is seen to be missing.
`maintenance/lost_hooks.py` reads them. A line has the time, the host, the event, the process and the outcome; nothing
that a user or an agent wrote.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # as in `typing`, which takes time to load
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "hook.log.runs"
DONE, SLOW, DEADLINE = "done", "slow", "deadline"  # outcomes; any other is the code of an error
MAX_BYTES = 128_000  # about 2,000 hooks; then the file is renamed, and one before is kept
_PRIVATE = ".commonplace"
_DEFAULT_ROOT = "~/.commonplace"  # as in model/settings.py, which takes time to load
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _flag, 0)
_KIND, _REGULAR = 0o170000, 0o100000  # as in `stat`
_MAX_WORD = 40


def log_path(root: str) -> str:
    """Return the path of the log in the book at this root."""
    return os.path.join(os.path.abspath(os.path.expanduser(root or _DEFAULT_ROOT)), _PRIVATE, NAME)


def note_run(environment: Mapping[str, str], host: str, event: str, outcome: str) -> None:
    """Append the line of one run. Raises OSError where it cannot be written; makes no folder."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{at} {_clean(host)} {_clean(event)} {os.getpid()} {_clean(outcome)}\n"
    path = log_path(environment.get("COMMONPLACE_ROOT", ""))
    fd = os.open(path, _FLAGS, 0o600)
    try:
        found = os.fstat(fd)
        if found.st_mode & _KIND != _REGULAR or found.st_nlink > 1:
            return  # not ours: a hard link would let the line change a foreign file
        os.write(fd, line.encode("ascii"))
    finally:
        os.close(fd)
    if found.st_size + len(line) >= MAX_BYTES and os.stat(path).st_size >= MAX_BYTES:
        os.replace(path, f"{path}.1")


def _clean(word: str) -> str:
    """Return a word as it may stand in a line: a host or an event comes from whoever starts the hook."""
    is_plain = word.isascii() and word.replace("-", "").replace("_", "").isalnum()
    return word if is_plain and len(word) <= _MAX_WORD else "unknown"
