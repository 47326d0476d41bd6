"""Link a memory to another.

REL is relates_to, supersedes or contradicts. A link of yours stands; one that an agent proposes waits for `review`.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.changed import say
from commonplace.cli.parser import add_scope

EXAMPLES = (
    "commonplace link new-runner supersedes old-runner",
    "commonplace link new-runner supersedes global/old-runner",
    "commonplace link deploy relates_to global/release-rule",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="the memory that gets the link")
    parser.add_argument("rel", metavar="REL", help="relates_to, supersedes or contradicts")
    parser.add_argument("to", metavar="TO", help="KEY or SCOPE/KEY of the other")
    add_scope(parser)


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        stored = book.link(args.key, args.rel, args.to, args.scope)
    return say(call, stored, f"{args.rel} {args.to}")
