"""A session of the shell: a folder of the book, and commands one after the other.

A session keeps nothing open: each command sees the book as it is then. `Book.shell` runs one command;
`Book.shell_session` and `commonplace files sh` keep a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.shell import file_commands as files
from commonplace.shell import search_commands as search
from commonplace.shell.command import NOT_FOLDER, CommandError, CommandRun, quote, split_words
from commonplace.shell.view_reader import LimitReached, ViewReader
from commonplace.vault.paths import ROOT, BookPath
from commonplace.vault.port import FileKind

_UNKNOWN_COMMAND = 127  # the status of every shell for a command that does not exist
_BAD_LINE = 2  # and for a line that it cannot read


class CommandResult(NamedTuple):
    """What a command printed, its status, and the folder it left the session in."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    cwd: str
    truncated: bool = False
    next: str = ""


class Command(NamedTuple):
    """A command of the shell: its function, its usage, and its status for words that it does not understand."""

    run: Callable[[CommandRun, Sequence[str]], None]
    usage: str
    error_status: int = 1


def pwd(run: CommandRun, args: Sequence[str]) -> None:
    """Print the folder of the session."""
    if args:
        raise CommandError("too many arguments")
    run.write_line(str(run.cwd))


def cd(run: CommandRun, args: Sequence[str]) -> None:
    """Go to a folder, or without a word to the root."""
    if len(args) > 1:
        raise CommandError("too many arguments")
    if not args:
        run.cwd = ROOT
    elif args[0] == "..":  # the one command that takes it: up by one, and never above /
        run.cwd = run.cwd.parent
    else:
        try:
            item = run.find(args[0])
            if item.stat.kind is not FileKind.FOLDER:
                raise CommandError(NOT_FOLDER)
        except CommandError as error:
            raise CommandError(f"{quote(args[0])}: {error}") from None
        run.cwd = item.path


def print_help(run: CommandRun, _: Sequence[str]) -> None:
    """Print the usage of every command."""
    run.write_line("The book, read-only. / is its root as you may see it. One command at a time:")
    for command in COMMANDS.values():
        run.write_line(f"  {command.usage}")
    run.write_line("File name patterns are not expanded: use find -name, grep -r. See docs/shell.md.")


COMMANDS: Mapping[str, Command] = {
    "pwd": Command(pwd, "pwd"),
    "cd": Command(cd, "cd [PATH]"),
    "ls": Command(files.ls, "ls [-l] [-a] [-R] [PATH...]", 2),
    "tree": Command(files.tree, "tree [-a] [-L N] [PATH...]"),
    "stat": Command(files.stat, "stat PATH..."),
    "cat": Command(files.cat, "cat [-n] PATH..."),
    "head": Command(files.head, "head [-n N] PATH..."),
    "tail": Command(files.tail, "tail [-n N] PATH..."),
    "wc": Command(files.wc, "wc [-l] [-w] [-c] PATH..."),
    "find": Command(search.find, "find [PATH...] [-name GLOB] [-type f|d] [-newer PATH] [-mtime [+-]N]"),
    "grep": Command(search.grep, "grep [-i -r -n -l -c -v -w -F -E] [-A N] [-B N] [-C N] PATTERN PATH...", 2),
    "query": Command(search.query, "query PATH --field F --equals V [--limit N]", 2),
    "help": Command(print_help, "help"),
}


class ShellSession:
    """Runs commands, and keeps the folder they are in from one to the next."""

    def __init__(self, make_reader: Callable[[], ViewReader], cwd: BookPath = ROOT) -> None:
        self._make_reader, self.cwd = make_reader, cwd

    def run(self, line: str) -> CommandResult:
        """Run one command line and return its result; errors of the command are part of it."""
        try:
            name, *args = split_words(line) or [""]
        except CommandError as error:
            return self._refuse(str(error), _BAD_LINE)
        if not name:
            return CommandResult(b"", b"", 0, str(self.cwd))
        command = COMMANDS.get(name)
        if command is None:
            return self._refuse(f"{quote(name)}: there is no such command here; `help` lists them", _UNKNOWN_COMMAND)
        run = CommandRun(self._make_reader(), self.cwd, name)
        advice = ""
        try:
            command.run(run, args)
        except CommandError as error:
            run.status = 0
            run.fail(str(error), command.error_status)
        except LimitReached as limit:
            advice = str(limit)
            run.status = 0 if run.out else run.status
            run.write_message(advice)
        self.cwd = run.cwd
        return CommandResult(bytes(run.out), bytes(run.err), run.status, str(self.cwd), bool(advice), advice)

    def _refuse(self, reason: str, status: int) -> CommandResult:
        message = f"commonplace: {reason}.\n".encode("utf-8", "backslashreplace")
        return CommandResult(b"", message, status, str(self.cwd))
