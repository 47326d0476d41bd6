"""One call of the command line: its options, its streams, and the book, opened when a verb asks for it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from commonplace.cli.agent_host import find_agent_host
from commonplace.cli.screen import Screen, shown
from commonplace.model.errors import InvalidContent, NotPermitted

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
        self.is_about_projects = False  # then the answer says what a note would say

    @cached_property
    def screen(self) -> Screen:
        return Screen(self.stdout, self.environment)

    def open(self, agent_role: str = "agent") -> Book:
        """The book that the options and the environment name, for the project of this folder; for an agent, in the role
        that its verb needs."""
        from commonplace.book import Book  # noqa: PLC0415 - `--help` does without

        args = self.args
        agent, role = self._who_calls(agent_role)
        book = Book.open(
            args.root, project=args.project, agent=agent, session=args.session, role=role, cwd=here(), surface="cli"
        )
        self._say_unproved(book)
        gc.freeze()  # see main: what was made until here is kept, and need not be looked through, now or at the end
        gc.enable()
        if self.stderr.isatty():
            from commonplace.cli.progress import ProgressBar  # noqa: PLC0415 - nobody looks at a pipe

            self.progress = ProgressBar(self.stderr)
            book.on_progress(self.progress)
        return book

    def _who_calls(self, agent_role: str) -> tuple[str | None, str | None]:
        """Return the agent and the role of this call: naming an agent, or running inside an agent program, makes it an
        agent's. A person at a terminal says `--person`."""
        args = self.args
        if args.person:
            if not (self.stdin.isatty() and self.stdout.isatty()):
                raise NotPermitted("--person needs a terminal.", hint="Run the command yourself, in a terminal.")
            return args.agent, "person"
        named = args.agent or self.environment.get("COMMONPLACE_AGENT")
        host = find_agent_host(self.environment)
        if named or host is None:
            return args.agent, agent_role if named else "person"
        return host[0], agent_role

    def _say_unproved(self, book: Book) -> None:
        """Say on standard error why the memories of the project that this folder claims to be are not shown."""
        claimed = book.unproved_project
        if claimed is not None and not self.is_about_projects:
            self.stderr.write(
                f"note: This folder claims to be the project {shown(claimed)} and cannot prove it, so its memories are "
                f"not shown. If it is: commonplace project adopt {shown(claimed)}\n"
            )

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
