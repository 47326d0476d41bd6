"""List memories.

Those of your scopes, by scope and key. Superseded and expired ones only on request. `--outside` shows those that came
from outside, by import, clone or sync, and that nobody has accepted yet (`commonplace review --accept KEY`).
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.listed import show_list
from commonplace.cli.parser import add_scope

EXAMPLES = (
    "commonplace list",
    "commonplace list --scope global --json",
    "commonplace list --all --hidden",
    "commonplace list --all --outside",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_scope(parser)
    parser.add_argument("--type", metavar="TYPE", help="user, feedback, project or reference")
    parser.add_argument("--tag", metavar="TAG", help="only with this tag")
    parser.add_argument("--hidden", action="store_true", help="also superseded and expired ones")
    parser.add_argument("--outside", action="store_true", help="only what came from outside and nobody has accepted")
    parser.add_argument("--all", action="store_true", help="every scope in the book, not only yours")


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        listed = book.list(args.scope, hidden=args.hidden, everything=args.all, outside=args.outside)
    shown = [
        item
        for item in listed
        if args.type in (None, item.type) and (args.tag is None or args.tag.removeprefix("#") in item.tags)
    ]
    if not call.answer({"memories": shown}):
        show_list(call.screen, shown)
        if not shown:
            call.screen.line("Nothing is kept here yet." if not listed and not args.outside else "Nothing found.")
    return DONE if shown else NOTHING
