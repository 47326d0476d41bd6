"""One call of the command line: its options, its streams, and the book, opened when a verb asks for it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property

from commonplace.cli.screen import Screen
from commonplace.model.errors import InvalidContent
from commonplace.model.lean import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    import argparse

    from commonplace.book import Book
    from commonplace.cli.progress import ProgressBar

DONE, NOTHING, USAGE = 0, 1, 2


class Verb(Protocol):
    """A module of this room: what it does in its docstring, its options, what it did as an exit status."""

    __doc__: str | None
    EXAMPLES: Sequence[str]

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None: ...
    @staticmethod
    def run(call: Call) -> int: ...


class Call:
    def __init__(
        self, args: Any, environment: Mapping[str, str], stdin: TextIO, stdout: TextIO, stderr: TextIO
    ) -> None:
        self.args, self.environment = args, environment
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.progress: ProgressBar | None = None

    @cached_property
    def screen(self) -> Screen:
        return Screen(self.stdout, self.environment)

    def open(self) -> Book:
        """The book that the options and the environment name, for the project of this folder."""
        from commonplace.book import Book  # noqa: PLC0415 - `--help` does without

        args = self.args
        book = Book.open(
            args.root, project=args.project, agent=args.agent, session=args.session, cwd=here(), surface="cli"
        )
        gc.freeze()  # see main: what was made until here is kept, and need not be looked through, now or at the end
        gc.enable()
        if self.stderr.isatty():
            from commonplace.cli.progress import ProgressBar  # noqa: PLC0415 - nobody looks at a pipe

            self.progress = ProgressBar(self.stderr)
            book.on_progress(self.progress)
        return book

    def finish(self) -> None:
        """Take off the screen what was only for the meantime."""
        if self.progress is not None:
            self.progress.close()

    def answer(self, value: object) -> bool:
        """Print the answer as JSON, if that is wanted; else it is the verb's to print."""
        self.finish()
        if self.args.json:
            from commonplace.cli.values import as_json  # noqa: PLC0415 - plain output does without

            self.stdout.write(f"{as_json(value, self.stdout.encoding)}\n")
        return bool(self.args.json)

    def text(self, given: str) -> str:
        """A text as given, or from standard input for `-`."""
        if given != "-":
            return given
        data = self.stdin.buffer.read() if hasattr(self.stdin, "buffer") else self.stdin.read().encode()
        try:
            return str(data.decode("utf-8"))
        except UnicodeDecodeError:
            raise InvalidContent("Standard input is not UTF-8 text.") from None

    def confirmed(self, question: str) -> bool:
        """Ask a person; without one to ask, or for a script, the answer is no."""
        if self.args.json or not (self.stdin.isatty() and self.screen.tty):
            return False
        from commonplace.cli.asking import ask  # noqa: PLC0415 - few verbs ask

        return ask(f"{question} [y/N] ", self.stdin, self.stdout).strip().lower() in ("y", "yes")


def here() -> str | None:
    """The folder we are in; None where somebody has removed it."""
    try:
        return os.getcwd()
    except OSError:
        return None


def standard_streams() -> tuple[TextIO, TextIO, TextIO]:
    """The process's own, made to take any text: what they cannot show becomes an escape, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    return sys.stdin, sys.stdout, sys.stderr
