"""The program `commonplace-hook EVENT --host NAME [--project] [--root DIR]`: JSON in, the host's answer out.

It promises: the exit status is always 0. Nothing is printed unless all of it is ready, and then in one write. At the
deadline (2 s where a session or a sub-agent starts, else 800 ms; COMMONPLACE_HOOK_DEADLINE_MS) a separate thread ends
the process, whatever it is waiting for. Failures go to `.commonplace/hook.log`, one line each without content, and
never to the agent. How each run ended goes to the log of runs, so that lost answers are counted: `vault/hook_runs.py`.

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

DEADLINE_MS = 800
START_DEADLINE_MS = 2_000  # hosts allow 10 s, and a user waits for a session to start anyway
_STARTS = ("session-start", "subagent-start")
_MIN_MS, _MAX_MS = 10, 60_000
_LOG_SECONDS = 0.2  # that the logs get at a deadline
USAGE = """usage: commonplace-hook EVENT --host NAME [--project] [--root DIR]

Agent programs run this at their events, with JSON on standard input. `commonplace connect` sets it up.
It prints nothing if there is nothing to say. The exit status is always 0. With --project, as in a project's files, it
does nothing where the user's own files start it, too.
"""


def main(line: Sequence[str] | None = None) -> int:
    """Answer one event and end the process with status 0."""
    gc.disable()  # the process lives for a tenth of a second
    words = list(sys.argv[1:] if line is None else line)
    if words in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    environment = apply_root(words, os.environ)
    run = HookRun(words, environment)
    _thread.start_new_thread(_end_at_deadline, (read_deadline(environment, run.event), run))
    try:
        serve(words, environment, run=run)
    finally:
        os._exit(0)  # without closing: no database checkpoint, nothing that could wait or fail


class HookRun:
    """One run of this program: what it was started for, how far it got, and the lines about it in the logs."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self.event, self.host, _ = parse_words(words)
        self.environment = environment
        self.has_answered = False  # the host has what it gets, if that is nothing, too
        self._noting = _thread.allocate_lock()
        self._is_noted = False

    def end(self, outcome: str) -> None:
        """Note once how the run ended; a run that failed after it answered did what matters."""
        with self._noting:  # the other thread must not end the process before the line is written
            if not self._is_noted:
                self.note("done" if self.has_answered else outcome)
                self._is_noted = True

    def note(self, outcome: str) -> None:
        """Add a line to the log of runs. Never raises: a disk may be full, or the book read-only."""
        try:
            from commonplace.vault.hook_runs import note_run  # noqa: PLC0415 - the clock must run before any import

            note_run(self.environment, self.host, self.event, outcome)
        except BaseException:  # noqa: BLE001, S110 - there is nowhere left to report it
            pass

    def log(self, error: BaseException) -> None:
        """Write a line to the log of failures, if it is loaded by now; at a deadline there is no time to load it."""
        try:
            log_failure = sys.modules["commonplace.hooks.host_io"].log_failure
            log_failure(self.environment, f"{self.event} {self.host}", error)
        except BaseException:  # noqa: BLE001, S110 - there is nowhere left to report it
            pass


def serve(
    words: Sequence[str],
    environment: Mapping[str, str],
    read: Callable[[], bytes] | None = None,
    write: Callable[[bytes], None] | None = None,
    run: HookRun | None = None,
) -> HookEvent | None:
    """Answer one event and return it, with the book still open. Never raises. `read` and `write` are for tests."""
    run = run or HookRun(words, environment)

    def answer(data: bytes) -> None:
        if data:
            (write or _write)(data)
        run.has_answered = True

    try:
        from commonplace.hooks.events import respond  # noqa: PLC0415 - the clock must run before any import

        event = respond(run.event, run.host, environment, read, answer, is_project="--project" in words)
    except BaseException as error:  # noqa: BLE001 - a hook never hurts the agent, whatever happens
        code = getattr(error, "code", None)
        run.log(error)
        run.end(code if isinstance(code, str) else type(error).__name__)
        return None
    if event is not None:  # else there was nothing to answer: no book, no memory, or no such event
        run.end("done")
    return event


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


def read_deadline(environment: Mapping[str, str], event: str) -> float:
    """Return the seconds until the process ends itself at this event."""
    usual = START_DEADLINE_MS if event in _STARTS else DEADLINE_MS
    try:
        given = int(environment.get("COMMONPLACE_HOOK_DEADLINE_MS", ""))
    except ValueError:
        given = usual
    return (given if _MIN_MS <= given <= _MAX_MS else usual) / 1000


def _end_at_deadline(seconds: float, run: HookRun) -> None:
    time.sleep(seconds / 2)
    # Most are done by now. A host that kills this one later leaves a line without an end, and so it is counted. The log
    # may be on the very disk that does not answer: whatever writes to it has a thread of its own.
    _thread.start_new_thread(run.note, ("slow",))
    time.sleep(seconds / 2)
    is_written = _thread.allocate_lock()
    is_written.acquire()
    _thread.start_new_thread(_end_run, (run, is_written))
    is_written.acquire(timeout=_LOG_SECONDS)
    os._exit(0)


def _end_run(run: HookRun, is_written: _thread.LockType) -> None:
    run.end("deadline")
    run.log(TimeoutError())
    is_written.release()


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
