"""A session of the shell: a place in the book, and commands one after the other.

A session is a value of its caller's: it holds nothing open, and each command looks at the book as it is then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.shell import finding, listing, matching, printing
from commonplace.shell.lexer import BadLine, words
from commonplace.shell.limits import Enough
from commonplace.shell.options import BadOption
from commonplace.shell.run import NO_FOLDER, Run, Trouble, quoted
from commonplace.shell.shown import Shown
from commonplace.vault.paths import ROOT, BookPath
from commonplace.vault.port import Kind

UNKNOWN = 127  # the status of a command that is not there, as in every shell
REFUSED = 2  # and of a line that cannot be understood


class Ran(NamedTuple):
    """What a command printed and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    cwd: str
    truncated: bool = False
    next: str = ""


class Command(NamedTuple):
    run: Callable[[Run, Sequence[str]], None]
    usage: str
    wrong: int = 1  # the status for a command line that it does not understand


def pwd(run: Run, args: Sequence[str]) -> None:
    if args:
        raise Trouble("too many arguments")
    run.line(str(run.cwd))


def cd(run: Run, args: Sequence[str]) -> None:
    if len(args) > 1:
        raise Trouble("too many arguments")
    if not args:
        run.cwd = ROOT
    elif args[0] == "..":  # the one place where it is understood: up by one, and never above /
        run.cwd = run.cwd.parent
    else:
        try:
            found = run.find(args[0])
            if found.stat.kind is not Kind.FOLDER:
                raise Trouble(NO_FOLDER)
        except Trouble as trouble:
            raise Trouble(f"{quoted(args[0])}: {trouble}") from None
        run.cwd = found.path


def query(run: Run, args: Sequence[str]) -> None:
    from commonplace.shell import asking  # noqa: PLC0415 - no other command needs JSON and CSV

    asking.query(run, args)


def help_(run: Run, _: Sequence[str]) -> None:
    run.line("The book, read-only. / is its root as you may see it. One command at a time:")
    for command in COMMANDS.values():
        run.line(f"  {command.usage}")
    run.line("Patterns of file names are not expanded: use find -name, grep -r. docs/shell.md says more.")


COMMANDS: Mapping[str, Command] = {
    "pwd": Command(pwd, "pwd"),
    "cd": Command(cd, "cd [PATH]"),
    "ls": Command(listing.ls, "ls [-l] [-a] [-R] [PATH...]", 2),
    "tree": Command(listing.tree, "tree [-a] [-L N] [PATH...]"),
    "stat": Command(listing.stat, "stat PATH..."),
    "cat": Command(printing.cat, "cat [-n] PATH..."),
    "head": Command(printing.head, "head [-n N] PATH..."),
    "tail": Command(printing.tail, "tail [-n N] PATH..."),
    "wc": Command(printing.wc, "wc [-l] [-w] [-c] PATH..."),
    "find": Command(finding.find, "find [PATH...] [-name GLOB] [-type f|d] [-newer PATH] [-mtime [+-]N]"),
    "grep": Command(matching.grep, "grep [-i -r -n -l -c -v -w -F -E] [-A N] [-B N] [-C N] PATTERN PATH...", 2),
    "query": Command(query, "query PATH --field F --equals V [--limit N]", 2),
    "help": Command(help_, "help"),
}


class Session:
    def __init__(self, shown: Callable[[], Shown], cwd: BookPath = ROOT) -> None:
        self._shown, self.cwd = shown, cwd

    def run(self, line: str) -> Ran:
        """Run one command; whatever it says or does, this answers."""
        try:
            name, *args = words(line) or [""]
        except BadLine as error:
            return self._refused(f"{error}.\n", REFUSED)
        if not name:
            return Ran(b"", b"", 0, str(self.cwd))
        command = COMMANDS.get(name)
        if command is None:
            return self._refused(f"{quoted(name)}: there is no such command here; `help` lists them.\n", UNKNOWN)
        run = Run(self._shown(), self.cwd, name)
        further = ""
        try:
            command.run(run, args)
        except Trouble as trouble:
            run.status = 0
            run.fail(str(trouble), command.wrong)
        except BadOption as error:
            run.fail(f"{error}\nTry 'help' for what there is.", command.wrong)
        except Enough as enough:
            further = enough.said
            run.status = 0 if run.out else run.status
            run.say(f"{name}: {further}\n")
        self.cwd = run.cwd
        return Ran(bytes(run.out), bytes(run.err), run.status, str(self.cwd), bool(further), further)

    def _refused(self, said: str, status: int) -> Ran:
        return Ran(b"", f"commonplace: {said}".encode("utf-8", "backslashreplace"), status, str(self.cwd))
