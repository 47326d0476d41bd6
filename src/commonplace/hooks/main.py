"""The program `commonplace-hook EVENT --host NAME [--root DIR]`: JSON on standard input, the host's answer on output.

It promises: the exit status is always 0. Nothing is printed unless all of it is ready, and then in one write. At the
deadline (300 ms; COMMONPLACE_HOOK_DEADLINE_MS) a separate thread ends the process, whatever it is waiting for. Failures
go to `.commonplace/hook.log`, one line each without content, and never to the agent.

Nothing of ours is imported before the clock runs; `hooks/events.py` does the work.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time

TYPE_CHECKING = False  # as in `typing`, which would take time to load before the clock runs
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.hooks.events import HookEvent

DEADLINE_MS = 300
_MIN_MS, _MAX_MS = 10, 60_000
USAGE = """usage: commonplace-hook EVENT --host NAME [--root DIR]

Agent programs run this at their events, with JSON on standard input. `commonplace connect` sets it up.
It prints nothing if there is nothing to say. The exit status is always 0.
"""


def main(line: Sequence[str] | None = None) -> int:
    """Answer one event and end the process with status 0."""
    gc.disable()  # the process lives for a tenth of a second
    words = list(sys.argv[1:] if line is None else line)
    if words in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    environment = apply_root(words, os.environ)
    _thread.start_new_thread(_end_at_deadline, (read_deadline(environment), environment))
    try:
        serve(words, environment)
    finally:
        os._exit(0)  # without closing: no database checkpoint, nothing that could wait or fail


def serve(
    words: Sequence[str],
    environment: Mapping[str, str],
    read: Callable[[], bytes] | None = None,
    write: Callable[[bytes], None] | None = None,
) -> HookEvent | None:
    """Answer one event and return it, with the book still open. Never raises. `read` and `write` are for tests."""
    try:
        from commonplace.hooks.events import respond  # noqa: PLC0415 - the clock must run before any import

        event, host, _ = parse_words(words)
        return respond(event, host, environment, read, write or _write)
    except BaseException as error:  # noqa: BLE001 - a hook never hurts the agent, whatever happens
        _log_failure(environment, words, error)
        return None


def parse_words(words: Sequence[str]) -> tuple[str, str, str]:
    """Return the event, the host and the root on the command line; empty if missing. Other options are ignored."""
    event = before = ""
    options = {"--host": "", "--root": ""}
    for word in words:
        name, is_joined, value = word.partition("=")
        if before in options:
            options[before] = word
        elif is_joined and name in options:
            options[name] = value
        elif not word.startswith("-"):
            event = event or word
        before = word
    return event, options["--host"], options["--root"]


def apply_root(words: Sequence[str], environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the root that the command line names, if it names one."""
    root = parse_words(words)[2]
    return {**environment, "COMMONPLACE_ROOT": root} if root else environment


def read_deadline(environment: Mapping[str, str]) -> float:
    """Return the seconds until the process ends itself."""
    try:
        given = int(environment.get("COMMONPLACE_HOOK_DEADLINE_MS", ""))
    except ValueError:
        given = DEADLINE_MS
    return (given if _MIN_MS <= given <= _MAX_MS else DEADLINE_MS) / 1000


def _end_at_deadline(seconds: float, environment: Mapping[str, str]) -> None:
    time.sleep(seconds)
    # The log may be on the very disk that does not answer: it gets a moment, in a thread of its own.
    _thread.start_new_thread(_log_failure, (environment, sys.argv[1:], TimeoutError()))
    time.sleep(0.01)
    os._exit(0)


def _log_failure(environment: Mapping[str, str], words: Sequence[str], error: BaseException) -> None:
    """Write a line to the log, if it is loaded by now; at a deadline there is no time to load it."""
    try:  # noqa: SIM105 - `contextlib` takes time to load
        sys.modules["commonplace.hooks.host_io"].log_failure(environment, " ".join(words)[:80], error)
    except BaseException:  # noqa: BLE001, S110 - there is nowhere left to report it
        pass


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
