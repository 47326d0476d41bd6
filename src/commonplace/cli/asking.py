"""A question to a person at a terminal, and the line they type."""

from __future__ import annotations

import sys
from typing import TextIO

_A_MOMENT = 0.1  # seconds: how long Ctrl-C may take


def ask(question: str, stdin: TextIO, stdout: TextIO) -> str:
    """What was typed, with its end of line; empty at the end of input. Ctrl-C raises, whenever it is pressed."""
    stdout.write(question)
    stdout.flush()
    if sys.platform != "win32":  # whose console ends a reading by itself, and whose select knows sockets alone
        _wait_for_line(stdin)
    return stdin.readline()


if sys.platform != "win32":

    def _wait_for_line(stdin: TextIO) -> None:
        """Wait, so that a reading finds a line. Ctrl-C ends a reading that goes on, and not one that is about to begin:
        Python notes the key, and looks at its notes between two instructions. So we are back every moment.

        That is for a terminal which hands over one line at a time, as they do unless told otherwise. Of another, the
        answer may already be with Python, where nobody can wait for it.
        """
        import select  # noqa: PLC0415 - few commands ask
        import termios  # noqa: PLC0415

        modes = termios.tcgetattr(stdin)[3]
        while modes & termios.ICANON and not select.select([stdin], [], [], _A_MOMENT)[0]:
            pass
