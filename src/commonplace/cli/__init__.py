"""The command line: `main` is the entry point, `run` runs one command, the other modules print what commands answer.

Here is what `commonplace --help` and `--version` need, which load nothing else.
"""

from __future__ import annotations

import errno
import os
import sys

from commonplace import __version__
from commonplace.verbs import COMMANDS

GLOBALS_WITH_VALUE = ("--root", "--project", "--agent", "--session")  # they may stand before the command
INTERRUPTED = 130
STOPPED = ("Stopped.", "Everything that was acknowledged before is kept.")
LOST_OUTPUT = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG})  # what standard output fails with, not a pipe's end
_WRITE_FAILED = 56
_LOST = "Check where the output goes. Whatever the command changed in the book is kept."


def report_lost_output(error: OSError, words: list[str]) -> int:
    """Say that standard output cannot be written; return the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries again when it ends
    message = f"Standard output cannot be written: {error.strerror}."
    if "--json" in words:
        fields = f'"code": "write_failed", "message": "{message}", "hint": "{_LOST}"'
        sys.stderr.write(f'{{"error": {{{fields}}}}}\n')
    else:
        sys.stderr.write(f"error: {message} [write_failed]\nwhat to do: {_LOST}\n")
    return _WRITE_FAILED


def print_overview(words: list[str]) -> int | None:
    """Answer a line that names no command; None for any other."""
    if not words or words in (["--help"], ["-h"], ["help"]):
        sys.stdout.write(overview())
        return 0 if words else 2
    if words == ["--version"]:
        sys.stdout.write(f"commonplace {__version__}\n")
        return 0
    return None


def overview() -> str:
    """Return what `commonplace --help` prints."""
    lines = ["usage: commonplace COMMAND ...", "", "Durable memory for AI agents, as Markdown files on your own disk."]
    for group, commands in COMMANDS.items():
        lines += ["", f"{group}:", *(f"  {name:<12} {summary}" for name, (_, summary) in commands.items())]
    lines += [
        "",
        "`commonplace COMMAND --help` shows options and examples.",
        "`commonplace tour` is a demo in a scratch book.",
        "The book is in ~/.commonplace, or where --root DIR or COMMONPLACE_ROOT says.",
        "Exit status: 0 done, 1 nothing found or a check failed, 2 wrong usage,",
        "10 and above an error with a code.",
        "",
    ]
    return "\n".join(lines)
