"""The commands files list, read, search, sh and data: the book as files."""

from __future__ import annotations

import argparse
import base64
import contextlib
from collections.abc import Iterator

from commonplace import verbs
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.shell.session import CommandResult, ShellSession
from commonplace.text.plural import plural

with contextlib.suppress(ImportError):
    import readline  # noqa: F401 - gives input() its editing; not on Windows

_DATA_HELP = """Store plain files beside the memories.

Any bytes, under data/ in the book: tables, reference files, what a program wants to find again.
"""
_DATA_EXAMPLES = (
    "commonplace files data put prices.csv < prices.csv",
    "commonplace files data get prices.csv > prices.csv",
    "commonplace files data list",
    "commonplace files data remove prices.csv",
)


def _list(call: Call) -> int:
    listed = call.run(verbs.files.list_memories)
    if not call.answer(listed):
        rows = [
            (
                item.path.rsplit("/", 1)[-1] + ("/" if item.kind == "folder" else ""),
                str(item.entries) if item.kind != "file" else "",
                call.screen.minute(item.updated),
                "" if item.status == "active" else item.status,
                item.summary,
            )
            for item in listed.items
        ]
        call.screen.table(("NAME", "ENTRIES", "UPDATED", "STATUS", "SUMMARY"), rows, ("name", "", "weak", "warn"))
        if listed.hidden:
            call.remark(f"{plural(listed.hidden, 'note', 'notes')} superseded or expired: --inactive shows them.")
        _print_next(call, listed.next)
    return DONE if listed.items else NOTHING


def _read(call: Call) -> int:
    text = call.run(verbs.files.read_memory)
    if not call.answer(text):
        call.stdout.write(shown(text.text) if call.screen.tty else text.text)
        if text.text and not text.text.endswith("\n"):
            call.screen.line()
        _print_next(call, text.next)
    return DONE


def _search(call: Call) -> int:
    found = call.run(verbs.search.search_memory)
    if not call.answer(found):
        for match in found.matches:
            place = call.screen.paint(f"{shown(call.place(match.path))}:{match.line}:", "name")
            call.screen.line(f"{place} {shown(match.text)}")
        if not found.matches:
            call.remark("Nothing found.", "")
        _print_next(call, found.next)
    return DONE if found.matches else NOTHING


def _print_next(call: Call, next_call: str) -> None:
    if next_call:
        call.stderr.write(f"{next_call}\n")


def _shell(call: Call) -> int:
    args = call.args
    if args.json and args.command is None:
        raise Usage("--json needs -c: one command, one object")
    with call.open() as book:
        if args.json:
            answer = book.shell(args.command, args.in_folder, everything=args.everything)
            call.answer(answer)
            return answer.exit_code
        session = book.shell_session(args.in_folder, everything=args.everything)
        call.finish()
        if args.command is not None:
            return _print_output(call, session.run(args.command))
        status = DONE
        for line in _lines(call, session):
            status = _print_output(call, session.run(line))
        return status


def _lines(call: Call, session: ShellSession) -> Iterator[str]:
    """Return the lines that are typed, up to the end of input or `exit`."""
    is_asking = call.stdin.isatty() and call.screen.tty
    while True:
        try:
            line = input(f"{shown(str(session.cwd))}> ") if is_asking else call.stdin.readline()
        except EOFError:
            call.screen.line()
            return
        except KeyboardInterrupt:
            if not is_asking:
                raise
            call.screen.line()
            continue
        if not (line or is_asking) or line.strip() in ("exit", "quit"):
            return
        if line.strip():
            yield line


def _print_output(call: Call, ran: CommandResult) -> int:
    """Print what a command printed, as it is; on a terminal, with escapes for what it would obey."""
    if call.screen.tty:
        text = ran.stdout.decode("utf-8", "backslashreplace")
        call.stdout.write(shown(text))
        if text and not text.endswith("\n"):
            call.screen.line()
    else:
        call.print_bytes(ran.stdout)
    call.stderr.write(shown(ran.stderr.decode("utf-8", "backslashreplace")))
    call.stderr.flush()
    return ran.exit_code


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("put", "get", "list", "remove"), help="what to do")
    parser.add_argument("name", metavar="NAME", nargs="?", help="the file's name below data/")
    parser.add_argument("file", metavar="FILE", nargs="?", help="for put: the file to read; else standard input")


def _data(call: Call) -> int:
    args = call.args
    if (args.name is None) != (args.action == "list"):
        raise Usage("list takes no name; put, get and remove take one")
    if args.file is not None and args.action != "put":
        raise Usage("only put takes a file")
    with call.open() as book:
        if args.action == "list":
            names = book.data_list()
            if not call.answer({"files": names}):
                for name in names:
                    call.screen.line(shown(name))
                if not names:
                    call.remark("There are no data files.", "")
            return DONE if names else NOTHING
        if args.action == "get":
            return _print_data(call, book.data_get(args.name))
        if args.action == "put":
            path = book.data_put(args.name, _read_input(call))
        else:
            book.data_remove(args.name)
            path = f"/data/{args.name}"
    if not call.answer({"action": args.action, "path": path}):
        call.screen.line(f"{'Stored' if args.action == 'put' else 'Removed'} {shown(call.place(path))}")
    return DONE


def _print_data(call: Call, content: bytes) -> int:
    """Print the bytes as they are; to a terminal, escaped; as JSON, as text or base64."""
    if call.args.json:
        try:
            text, encoding = content.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            text, encoding = base64.b64encode(content).decode("ascii"), "base64"
        call.answer({"action": "get", "path": f"/data/{call.args.name}", "encoding": encoding, "content": text})
    elif call.screen.tty:
        call.screen.line(shown(content.decode("utf-8", "backslashreplace")))
    else:
        call.print_bytes(content)
    return DONE


def _read_input(call: Call) -> bytes:
    name = call.args.file
    return bytes(call.stdin.buffer.read()) if name in (None, "-") else call.read_bytes(name)


COMMANDS = {
    "files list": CliCommand(_list),
    "files read": CliCommand(_read),
    "files search": CliCommand(_search),
    "files sh": CliCommand(_shell),
    "files data": CliCommand(_data, _add_data_options, _DATA_HELP, _DATA_EXAMPLES),
}
