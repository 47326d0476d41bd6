"""`commonplace-hook EVENT --host NAME [--root DIR]`: JSON on standard input, on standard output what the host takes.

The contract: exit status 0, always. Nothing is printed unless all of it is ready, and then in one write. After the
deadline (300 ms; COMMONPLACE_HOOK_DEADLINE_MS) a thread of its own ends the process, whatever it is waiting for.
Whatever goes wrong goes to `.commonplace/hook.log`, in a line without content, and never to the agent.

Nothing of ours is imported before the clock runs.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time

TYPE_CHECKING = False  # as in typing, which is not loaded before the clock runs
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.hooks.opened import Opened

DEADLINE_MS = 300
_SHORTEST, _LONGEST = 10, 60_000
_CHUNK = 1 << 16
USAGE = """usage: commonplace-hook EVENT --host NAME [--root DIR]

Run by agent programs at their events, with JSON on standard input: `commonplace connect` sets it up.
Prints nothing where there is nothing to say, and always exits with status 0.
"""


def main(line: Sequence[str] | None = None) -> int:
    gc.disable()  # it lives for a tenth of a second
    words = list(sys.argv[1:] if line is None else line)
    if words in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    environment = rooted(words, os.environ)
    _thread.start_new_thread(_watch, (deadline(environment), environment))
    try:
        serve(words, environment, _read, _write)
    finally:
        os._exit(0)  # without closing: no checkpoint of a database, nothing that could wait or fail


def serve(
    words: Sequence[str],
    environment: Mapping[str, str],
    read: Callable[[], bytes],
    write: Callable[[bytes], None],
) -> Opened | None:
    """One event, from what was said to what is answered; the book that answered it stays open. Never raises."""
    try:
        from commonplace.hooks.respond import respond  # noqa: PLC0415 - see above

        return respond(words, environment, read, write)
    except BaseException as error:  # noqa: BLE001 - a hook never hurts the agent, whatever happens
        _complain(environment, words, error)
        return None


def rooted(words: Sequence[str], environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with the book's folder as the line names it, `--root DIR`; as it is where it names none."""
    for at, word in enumerate(words):
        named = word[len("--root=") :] if word.startswith("--root=") else ""
        if word == "--root" and at + 1 < len(words):
            named = words[at + 1]
        if named:
            return {**environment, "COMMONPLACE_ROOT": named}
    return environment


def deadline(environment: Mapping[str, str]) -> float:
    """Seconds until the process ends itself."""
    try:
        given = int(environment.get("COMMONPLACE_HOOK_DEADLINE_MS", ""))
    except ValueError:
        given = DEADLINE_MS
    return (given if _SHORTEST <= given <= _LONGEST else DEADLINE_MS) / 1000


def _watch(seconds: float, environment: Mapping[str, str]) -> None:
    time.sleep(seconds)
    # The log may be on the very disk that does not answer: it gets a moment, in a thread of its own.
    _thread.start_new_thread(_complain, (environment, sys.argv[1:], TimeoutError()))
    time.sleep(0.01)
    os._exit(0)


def _complain(environment: Mapping[str, str], words: Sequence[str], error: BaseException) -> None:
    try:
        from commonplace.hooks.log import complain  # noqa: PLC0415 - only when something is wrong

        complain(environment, " ".join(words)[:80], error)
    except BaseException:  # noqa: BLE001, S110 - there is nobody left to tell
        pass


def _read() -> bytes:
    """Standard input to its end; or to the end of a JSON object, for hosts that leave it open. What is beyond the
    limit is read and thrown away, so that the host is not left with a broken pipe."""
    from commonplace.hooks.asked import MOST_BYTES  # noqa: PLC0415 - see above

    if os.isatty(0):
        return b""
    parts: list[bytes] = []
    size = 0
    while chunk := os.read(0, _CHUNK):
        size += len(chunk)
        if size <= MOST_BYTES + _CHUNK:
            parts.append(chunk)
        if len(chunk) < _CHUNK and chunk.rstrip().endswith(b"}") and _is_whole(b"".join(parts)):
            break
    return b"".join(parts)


def _is_whole(data: bytes) -> bool:
    import json  # noqa: PLC0415 - see above

    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
