"""Move a memory to the trash.

It can be restored for 30 days. With --purge it is removed from files, history, trash, index, state and audit, and only
its id is remembered, so that it cannot come back by a sync.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.changed import say
from commonplace.cli.parser import Usage, add_key
from commonplace.cli.screen import shown

EXAMPLES = ("commonplace forget old-runner", "commonplace forget leaked-note --purge --yes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)
    parser.add_argument("--purge", action="store_true", help="for good: nothing but the id stays")
    parser.add_argument("--yes", action="store_true", help="purge without asking")
    parser.add_argument(
        "--if-revision", metavar="REV", help="only if the memory is still at this revision (12 digits or more of it)"
    )


def run(call: Call) -> int:
    args = call.args
    if args.purge and not args.yes and not call.confirmed(f"Remove {shown(args.key)} for good? This cannot be undone."):
        raise Usage("--purge needs --yes, or a yes at the terminal")
    with call.open() as book:
        stored = book.forget(args.key, args.scope, purge=args.purge, if_revision=args.if_revision)
    return say(call, stored, "" if args.purge else f"commonplace restore {stored.key} brings it back")
