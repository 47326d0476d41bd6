"""One call of the command line: its options, its streams, who makes it, and the book, opened when it is needed."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TextIO

from commonplace.book import Book
from commonplace.cli.parser import Usage
from commonplace.cli.screen import ProgressBar, Screen, as_json, plain, scope_name, shown
from commonplace.model.errors import InvalidContent, NotFound, NotPermitted
from commonplace.model.results import StoreResult
from commonplace.model.scope import Role
from commonplace.verbs.verb import Q, R, Verb, read_fields

if sys.platform != "win32":
    import select
    import termios

DONE, NOTHING, USAGE = 0, 1, 2
OFF = "Memory is switched off here; `commonplace config set enabled true` turns it on."
_POLL_SECONDS = 0.1  # how long Ctrl-C may take

# The variables that agent programs set for the commands they start.
_AGENT_VARIABLES = {
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
    "CURSOR_AGENT": "cursor",
    "COPILOT_CLI": "copilot",
    "CLINE_ACTIVE": "cline",
    "GOOSE_TERMINAL": "goose",
    "ROO_ACTIVE": "roo",
    "AUGMENT_AGENT": "augment",
    "QWEN_CODE": "qwen-code",
}
_OFF = frozenset({"", "0", "false", "no", "off"})

_ACTIONS = {
    "created": "Stored",
    "appended": "Added to",
    "undone": "Brought back the earlier text of",
    "forgotten": "Moved to the trash:",
    "purged": "Removed for good:",
    "purging": "Removed, though not yet from the databases:",
    "restored": "Restored",
    "moved": "Moved",
    "renamed": "Renamed to",
    "relabelled": "Changed",
    "proposed": "Proposed a link from",
    "consolidated": "Merged into",
    "replaced": "Replaced",
    "edited": "Changed",
    "pinned": "Pinned",
    "unpinned": "Unpinned",
    "unchanged": "Nothing changed in",
}


def flags(**helps: str) -> Callable[[argparse.ArgumentParser], None]:
    """Return what adds options without a value to a parser, from their names and help texts."""

    def add(parser: argparse.ArgumentParser) -> None:
        for name, text in helps.items():
            parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=text)

    return add


class CliCommand(NamedTuple):
    """A command: what runs it, its verb if it has one, and options and help that the verb does not have."""

    run: Callable[[Call], int]
    add_options: Callable[[argparse.ArgumentParser], None] | None = None
    text: str = ""  # the help of a command without a verb
    shown_examples: tuple[str, ...] = ()
    name: str = ""
    verb: Verb[Any, Any] | None = None

    @property
    def help(self) -> str:
        """The help text; its first line says what the command does."""
        return self.text or (self.verb.help if self.verb is not None else "")

    @property
    def examples(self) -> tuple[str, ...]:
        """Lines to copy."""
        return self.shown_examples or (self.verb.examples if self.verb is not None else ())


class Call:
    """One call: what a command gets to work with."""

    def __init__(
        self,
        args: Any,
        environment: Mapping[str, str],
        streams: tuple[TextIO, TextIO, TextIO],
        verb: Verb[Any, Any] | None = None,
    ) -> None:
        self.args, self.environment = args, environment
        self.verb: Any = verb  # of the command; None if it has none
        self.stdin, self.stdout, self.stderr = streams
        self.progress: ProgressBar | None = None
        self._book: Book | None = None

    @cached_property
    def screen(self) -> Screen:
        """Where people read the answer."""
        return Screen(self.stdout, self.environment)

    @cached_property
    def notes(self) -> Screen:
        """Where people read what is no part of the answer: that there is none, or that there is more."""
        return Screen(self.stderr, self.environment)

    def remark(self, text: str, style: str = "weak") -> None:
        """Say on standard error what is no part of the answer."""
        self.stdout.flush()  # on a terminal it stands below the answer
        self.notes.sentence(text, style)

    def place(self, path: str) -> str:
        """Return where a file of the book is on the disk, so that another program can open it.

        Below the working folder that is a relative path; below the home folder, on a terminal, one with `~`.
        """
        root = self._book.context.root if self._book is not None else ""
        real = os.path.join(root, *path.split("/"))
        if not root or (not os.path.lexists(real) and os.path.lexists(path)):
            real = path  # beside the databases, which may be outside the book
        folder = here()
        if folder is not None and real.startswith(os.path.join(folder, "")):
            return os.path.relpath(real, folder)
        return self.home_path(real)

    def home_path(self, path: str) -> str:
        """Return a path, on a terminal with `~` for the home folder."""
        home = os.path.join(os.path.expanduser("~"), "")
        return os.path.join("~", path.removeprefix(home)) if self.screen.tty and path.startswith(home) else path

    def open(self, *, for_repair: bool = False) -> Book:
        """Open the book that the options and the environment name, for the project of this folder.

        `for_repair` opens it whatever is wrong with its settings and databases, for commands that help to mend it.
        """
        args = self.args
        agent, role = self._who_calls()
        book = Book.open(
            args.root, project=args.project, agent=agent, session=args.session, role=role, cwd=here(), surface="cli",
            for_repair=for_repair,
        )  # fmt: skip
        self._book = book
        if self.verb is None or not self.verb.command.startswith("project "):  # whose answer says it, too
            self.warn(book.project_hint or "")
        if not (for_repair or args.json or book.context.settings.enabled):
            self.warn(OFF)
        gc.freeze()  # what was made until here stays: no collection has to visit it
        gc.enable()
        if self.stderr.isatty():
            self.progress = ProgressBar(self.stderr)
            book.on_progress(self.progress)
        return book

    def _who_calls(self) -> tuple[str | None, Role]:
        """Return the agent and the role of this call.

        Naming an agent, or running inside an agent program, makes it an agent's. A person at a terminal adds
        `--person`.
        """
        args = self.args
        if args.person:
            if not (self.stdin.isatty() and self.stdout.isatty()):
                raise NotPermitted("--person needs a terminal.", hint="Run the command yourself, in a terminal.")
            return args.agent, Role.PERSON
        agent_role = self.verb.agent_role if self.verb is not None else Role.AGENT
        named = args.agent or self.environment.get("COMMONPLACE_AGENT")
        host = find_agent_host(self.environment)
        if named or host is None:
            return args.agent, agent_role if named else Role.PERSON
        return host[0], agent_role

    def warn(self, message: str) -> None:
        """Say on standard error what is wrong beside the answer."""
        if message:
            self.notes.sentence(shown(message), start="note:")

    def run(self, verb: Verb[Q, R]) -> R:
        """Open the book, and return what a verb answers to the request that the options make."""
        request = self.make_request(verb.request)
        with self.open(for_repair=verb.repairs) as book:
            return verb(book.context, request)

    def make_request(self, request: Callable[..., Q]) -> Q:
        """Return a request made from the options."""
        given: dict[str, Any] = {}
        for field in read_fields(request):
            if not field.arg.help:
                continue
            value = getattr(self.args, field.name)
            if field.arg.reads_stdin and value is not None:
                value = self.text(value)
            if isinstance(value, list) and field.kind is str:
                value = " ".join(value)
            if field.name in ("key", "path") and str(value).endswith(".md") and os.path.isfile(value):
                value = os.path.abspath(value)  # as `place` shows it
            given[field.name] = value
        return request(**given)

    def finish(self) -> None:
        """Take the progress bar off the screen."""
        if self.progress is not None:
            self.progress.close()

    def answer(self, value: object) -> bool:
        """Print the answer as JSON, if that is wanted, and return whether it was."""
        self.finish()
        notice = self.notice
        self.warn(notice)
        if self.args.json:
            fields = plain(value)
            if notice and isinstance(fields, dict):
                fields.setdefault("notice", notice)
            self.stdout.write(f"{as_json(fields, self.stdout.encoding)}\n")
        return bool(self.args.json)

    @property
    def notice(self) -> str:
        """What the caller should know of the answer: why the index could not be used or brought up to date."""
        return self._book.notice if self._book is not None else ""

    def text(self, given: str) -> str:
        """Return a text as given, or from standard input for `-`."""
        if given != "-":
            return given
        data = self.stdin.buffer.read() if hasattr(self.stdin, "buffer") else self.stdin.read().encode()
        try:
            return str(data.decode("utf-8"))
        except UnicodeDecodeError:
            raise InvalidContent("Standard input is not UTF-8 text.", hint="Convert it to UTF-8 first.") from None

    def read_bytes(self, name: str) -> bytes:
        """Return the bytes of a file, or of standard input for `-`."""
        try:
            if name == "-":
                return bytes(self.stdin.buffer.read())
            with open(name, "rb") as file:
                return file.read()
        except OSError as error:
            raise NotFound(f"{name!a} cannot be read: {error.strerror}.", hint="Check the path.") from None

    def print_bytes(self, data: bytes) -> None:
        """Print bytes as they are."""
        self.stdout.flush()
        self.stdout.buffer.write(data)
        self.stdout.buffer.flush()

    def is_declined(self, question: str, needs: str) -> bool:
        """Ask before what cannot be undone, unless --yes was given; return whether the person said no.

        In a script, or without a terminal, it raises Usage: `needs` says which option takes --yes.
        """
        if self.args.yes or self.confirmed(question):
            return False
        if not self._can_ask:
            raise Usage(f"{needs} needs --yes, or a yes at the terminal")
        self.remark("Nothing was changed.", "")
        return True

    @property
    def _can_ask(self) -> bool:
        return not self.args.json and self.stdin.isatty() and self.screen.tty

    def confirmed(self, question: str) -> bool:
        """Ask a person yes or no. In a script, or without a terminal, the answer is no."""
        if not self._can_ask:
            return False
        return ask(f"{question} [y/N] ", self.stdin, self.stdout).strip().lower() in ("y", "yes")


def here() -> str | None:
    """Return the current folder; None if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


def standard_streams() -> tuple[TextIO, TextIO, TextIO]:
    """Return the process's own streams, made to take any text: what they cannot show is escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    return sys.stdin, sys.stdout, sys.stderr


def find_agent_host(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the agent program's name and the variable that tells; None when a person started the command."""
    for variable, host in _AGENT_VARIABLES.items():
        if environment.get(variable, "").strip().lower() not in _OFF:
            return host, variable
    if "amazonq" in environment.get("AWS_EXECUTION_ENV", "").lower():
        return "amazonq", "AWS_EXECUTION_ENV"
    return None


def ask(question: str, stdin: TextIO, stdout: TextIO) -> str:
    """Return the line that was typed, with its end; empty at the end of input. Ctrl-C raises at any moment."""
    answer = ""
    try:
        stdout.write(question)
        stdout.flush()
        if sys.platform != "win32":  # a Windows console ends a read by itself, and its select knows only sockets
            _wait_for_line(stdin)
        answer = stdin.readline()
    finally:
        if not answer.endswith("\n"):  # the input ended, or Ctrl-C: what comes next gets a line of its own
            stdout.write("\n")
            stdout.flush()
    return answer


if sys.platform != "win32":

    def _wait_for_line(stdin: TextIO) -> None:
        """Wait until a line can be read.

        Ctrl-C interrupts a read that has begun, but not one that is about to begin: Python notices the key only between
        two instructions. So this polls. It works for a terminal that hands over whole lines, as they do by default; of
        another, the answer may already be in Python's buffer.
        """
        modes = termios.tcgetattr(stdin)[3]
        while modes & termios.ICANON and not select.select([stdin], [], [], _POLL_SECONDS)[0]:
            pass


def print_change(call: Call, change: StoreResult, more: str = "") -> int:
    """Print what was done to one memory."""
    if not call.answer(change):
        screen = call.screen
        action = _ACTIONS.get(change.action, change.action)
        place = scope_name(change.scope, change.scope_id)
        screen.line(f"{action} {screen.paint(shown(change.key), 'name')} ({place})")
        lines = [more, f"supersedes {', '.join(change.superseded)}" if change.superseded else ""]
        for line in filter(None, lines):
            screen.line(f"  {screen.paint(shown(line), 'weak')}")
        call.warn(change.notice)
    return DONE
