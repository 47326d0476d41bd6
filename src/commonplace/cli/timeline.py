"""Show what was stored and done, latest first.

What earlier sessions and agents kept in your scopes, and the runs of the project's journal; of one session if you name
it, then without the runs, which are of none.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.hits import show_hits

EXAMPLES = ("commonplace timeline --since 2026-11-01", "commonplace timeline --of-session ab12 --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--of-session", metavar="ID", help="only what this session stored")
    parser.add_argument("--since", metavar="TIME", help="only what happened then or later: 2026-11-15")
    parser.add_argument("--limit", metavar="N", type=int, default=50, help="at most so many (1 to 100)")


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        hits = book.timeline(args.of_session, args.since, args.limit)
    if not call.answer({"hits": hits}):
        show_hits(call.screen, hits)
        if not hits:
            call.screen.line("Nothing found.")
    return DONE if hits else NOTHING
