"""List, read and search the book as files.

Folders, notes and any other file, by their path in the book, as you may see them. An answer that was cut says how to go
on.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.parser import Usage, words
from commonplace.cli.screen import minute, plural, shown
from commonplace.model.results import FileList, FileText, LineMatches

EXAMPLES = (
    "commonplace files list /memories/global",
    "commonplace files read /memories/global/release-day.md --tail 3",
    "commonplace files search 'port 5432' /memories /journal",
    "commonplace files search 'port \\d+' --regex --json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "read", "search"), help="what to do")
    parser.add_argument(
        "words", metavar="WORD", nargs="*", help="list: a folder; read: a file; search: text, then paths"
    )
    parser.add_argument("--inactive", action="store_true", help="list: superseded and expired notes, too")
    parser.add_argument("--tail", metavar="N", type=int, help="read: only the last N entries, or lines of a plain file")
    parser.add_argument("--tags", metavar="TAGS", type=words, default=[], help="read: only entries with all of a,b")
    parser.add_argument("--regex", action="store_true", help="search: the text is a pattern")
    parser.add_argument("--case-sensitive", action="store_true", help="search: A is not a")
    parser.add_argument("--limit", metavar="N", type=int, default=50, help="search: at most so many lines (1 to 50)")
    parser.add_argument("--offset", metavar="N", type=int, default=0, help="go on from there, as an answer said")
    parser.add_argument("--all", action="store_true", help="the whole book, not only your scopes")


def run(call: Call) -> int:
    args = call.args
    if args.action == "list":
        if len(args.words) > 1:
            raise Usage("list takes one folder, or none for /")
        with call.open() as book:
            path = args.words[0] if args.words else "/"
            listed = book.list_memories(path, args.inactive, offset=args.offset, everything=args.all)
        return _list(call, listed)
    if args.action == "read":
        if len(args.words) != 1:
            raise Usage("read takes one file")
        with call.open() as book:
            text = book.read_memory(args.words[0], args.tail, args.tags, args.offset, everything=args.all)
        return _read(call, text)
    if not args.words:
        raise Usage("search takes a text, and maybe paths")
    with call.open() as book:
        found = book.search_memory(
            args.words[0], args.words[1:], args.case_sensitive, args.regex, args.limit, args.offset, everything=args.all
        )
    return _found(call, found)


def _list(call: Call, listed: FileList) -> int:
    if not call.answer(listed):
        rows = [
            (
                item.path.rsplit("/", 1)[-1] + ("/" if item.kind == "folder" else ""),
                str(item.entries) if item.kind != "file" else "",
                minute(item.updated),
                "" if item.status == "active" else item.status,
                item.summary,
            )
            for item in listed.items
        ]
        call.screen.table(("NAME", "ENTRIES", "UPDATED", "STATUS", "SUMMARY"), rows, ("name", "", "weak", "warn"))
        if listed.hidden:
            call.screen.line(f"{plural(listed.hidden, 'note', 'notes')} superseded or expired: --inactive shows them.")
        _further(call, listed.next)
    return DONE if listed.items else NOTHING


def _read(call: Call, text: FileText) -> int:
    if not call.answer(text):
        call.stdout.write(shown(text.text) if call.screen.tty else text.text)
        if text.text and not text.text.endswith("\n"):
            call.screen.line()
        _further(call, text.next)
    return DONE


def _found(call: Call, found: LineMatches) -> int:
    if not call.answer(found):
        for match in found.matches:
            place = call.screen.paint(f"{shown(match.path)}:{match.line}:", "name")
            call.screen.line(f"{place} {shown(match.text)}")
        if not found.matches:
            call.screen.line("Nothing found.")
        _further(call, found.next)
    return DONE if found.matches else NOTHING


def _further(call: Call, said: str) -> None:
    if said:
        call.stderr.write(f"{said}\n")
