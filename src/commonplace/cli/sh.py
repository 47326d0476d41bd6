"""Look around in the book with a read-only shell.

The commands of a shell that only read: ls, cat, head, tail, grep, find, wc, stat, tree, and query for records. `help`
lists them. / is the book's root, as you may see it. With -c one command; else at a prompt, or line by line from
standard input. The status is that of the last command: of grep and query 1 when nothing fits, and 127 for a command
that is not there.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown

if TYPE_CHECKING:
    from commonplace.shell.session import CommandResult, ShellSession

EXAMPLES = (
    "commonplace sh -c 'grep -rin deploy /memories'",
    "commonplace sh -c 'query /data/prices.csv --field item --equals tea' --json",
    "commonplace sh",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", dest="command", metavar="COMMAND", help="run this one command and end")
    parser.add_argument("--cwd", metavar="PATH", default="/", help="the folder of the book to start in (default /)")
    parser.add_argument("--all", action="store_true", help="the whole book, not only your scopes")


def run(call: Call) -> int:
    args = call.args
    if args.json and args.command is None:
        raise Usage("--json goes with -c: one command, one object")
    with call.open() as book:
        if args.json:
            answer = book.shell(args.command, args.cwd, everything=args.all)
            call.answer(answer)
            return answer.exit_code
        session = book.shell_session(args.cwd, everything=args.all)
        call.finish()
        if args.command is not None:
            return _show(call, session.run(args.command))
        status = DONE
        for line in _lines(call, session):
            status = _show(call, session.run(line))
        return status


def _lines(call: Call, session: ShellSession) -> Iterator[str]:
    """What somebody types, up to the end of input or `exit`."""
    asking = call.stdin.isatty() and call.screen.tty
    if asking:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401, PLC0415 - gives input() its editing; not on Windows
    while True:
        try:
            line = input(f"{shown(str(session.cwd))}> ") if asking else call.stdin.readline()
        except EOFError:
            call.screen.line()
            return
        except KeyboardInterrupt:
            if not asking:
                raise
            call.screen.line()
            continue
        if not (line or asking) or line.strip() in ("exit", "quit"):
            return
        if line.strip():
            yield line


def _show(call: Call, ran: CommandResult) -> int:
    """What a command printed, as it is; on a terminal, as text that it cannot obey."""
    if call.screen.tty:
        text = ran.stdout.decode("utf-8", "backslashreplace")
        call.stdout.write(shown(text))
        if text and not text.endswith("\n"):
            call.screen.line()
    else:
        call.stdout.flush()
        call.stdout.buffer.write(ran.stdout)
        call.stdout.buffer.flush()
    call.stderr.write(shown(ran.stderr.decode("utf-8", "backslashreplace")))
    call.stderr.flush()
    return ran.exit_code
