"""Keep plain files beside the memories.

Any bytes, under data/ in the book: tables, reference files, what a program wants to find again.
"""

from __future__ import annotations

import argparse
import base64
import os

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.model.errors import NotFound

EXAMPLES = (
    "commonplace data put prices.csv < prices.csv",
    "commonplace data get prices.csv > prices.csv",
    "commonplace data list",
    "commonplace data remove prices.csv",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("put", "get", "list", "remove"), help="what to do")
    parser.add_argument("name", metavar="NAME", nargs="?", help="the file's name below data/")
    parser.add_argument("file", metavar="FILE", nargs="?", help="for put: the file to read; else standard input")


def run(call: Call) -> int:
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
            return DONE if names else NOTHING
        if args.action == "get":
            return _give(call, book.data_get(args.name))
        if args.action == "put":
            path = book.data_put(args.name, _bytes(call))
        else:
            book.data_remove(args.name)
            path = f"/data/{args.name}"
    if not call.answer({"action": args.action, "path": path}):
        call.screen.line(f"{'Kept' if args.action == 'put' else 'Removed'} {shown(path)}")
    return DONE


def _give(call: Call, content: bytes) -> int:
    """The bytes as they are; to a terminal, as text that it cannot obey; to a script, as text or base64."""
    if call.args.json:
        try:
            text, encoding = content.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            text, encoding = base64.b64encode(content).decode("ascii"), "base64"
        call.answer({"action": "get", "path": f"/data/{call.args.name}", "encoding": encoding, "content": text})
    elif call.screen.tty:
        call.screen.line(shown(content.decode("utf-8", "backslashreplace")))
    else:
        call.stdout.flush()
        call.stdout.buffer.write(content)
        call.stdout.buffer.flush()
    return DONE


def _bytes(call: Call) -> bytes:
    name = call.args.file
    if name is None or name == "-":
        return bytes(call.stdin.buffer.read())
    try:
        with open(os.fspath(name), "rb") as file:
            return file.read()
    except OSError as error:
        raise NotFound(f"{name!a} cannot be read: {error.strerror}.", hint="Check the path.") from None
