"""Make one memory out of several.

The old ones are marked as superseded and linked; they stay where they are and can be brought back with undo. The one is
stored in the scope of the first KEY, or the one named; the others may be in any of your scopes.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.changed import say
from commonplace.cli.parser import add_scope

EXAMPLES = (
    'commonplace consolidate test-runner slow-tests --text "Tests: pytest, --slow for integration" --into testing',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keys", metavar="KEY", nargs="+", help="the memories to become one, at least two")
    parser.add_argument("--text", metavar="TEXT", required=True, help="what the one says; - reads standard input")
    parser.add_argument("--into", metavar="KEY", help="the key of the one; made from the text if not given")
    add_scope(parser)


def run(call: Call) -> int:
    args = call.args
    content = call.text(args.text)
    with call.open() as book:
        stored = book.consolidate(args.keys, content, args.into, args.scope)
    return say(call, stored, f"superseded: {', '.join(args.keys)}")
