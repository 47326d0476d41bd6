"""Find what the book knows about something.

Words need not be in the same form. A phrase in double quotes must occur as it is, but for case and white space. A query
of nothing but a time ("what happened last week"), or a time and an author, gets what was then. With no good match there
is no hit, and the exit status is 1; the nearest memories are then named, as they may be what was meant. Without a
query: everything, latest first.
"""

from __future__ import annotations

import argparse
import os

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.hits import show_hits
from commonplace.cli.parser import add_scope, words
from commonplace.cli.screen import plural, shown
from commonplace.model.results import RecallResult
from commonplace.recall.query import format_total

EXAMPLES = (
    'commonplace recall "how do we run the tests"',
    "commonplace recall 'port \"staging database\"' --scope project --limit 3",
    'commonplace recall "release plan" --as-of 2026-10-01 --json',
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="*", help="what you want to know, in your own words")
    add_scope(parser)
    parser.add_argument("--type", metavar="TYPE", help="user, feedback, project or reference")
    parser.add_argument("--tags", metavar="A,B", type=words, default=[], help="only with all of these tags")
    parser.add_argument("--kinds", metavar="A,B", type=words, default=["memory", "journal"], help="memory, journal")
    parser.add_argument("--since", metavar="TIME", help="only what happened then or later: 2026-11-15")
    parser.add_argument("--until", metavar="TIME", help="only what happened then or earlier")
    parser.add_argument("--as-of", metavar="TIME", help="what the book said then")
    parser.add_argument("--limit", metavar="N", type=int, default=10, help="at most so many hits (1 to 100)")
    parser.add_argument("--mode", choices=("hybrid", "lexical", "semantic"), default="hybrid", help="how to search")
    parser.add_argument("--sort", choices=("score", "recency", "usage"), default="score", help="what comes first")
    parser.add_argument("--budget-tokens", metavar="N", type=int, help="no more text than about so many tokens")
    parser.add_argument("--related", action="store_true", help="also what the hits link to")
    parser.add_argument(
        "--explain", action="store_true", help="show what each score is made of, and what else moved a hit"
    )
    parser.add_argument("--expired", action="store_true", help="also what was hidden for want of use")
    parser.add_argument("--all", action="store_true", help="every scope in the book, not only yours")


def run(call: Call) -> int:
    args = call.args
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one question needs no threads, which numpy would start at once
    with call.open() as book:
        found = book.recall(
            " ".join(args.query), args.scope, args.type, args.tags, args.kinds, args.since, args.until, args.as_of,
            args.limit, args.mode, args.sort, args.budget_tokens, args.related, args.explain, args.expired, args.all,
        )  # fmt: skip
    if not call.answer(_answer(found, args.explain)):
        show_hits(call.screen, found.hits, found.explained)
        _say_what_is_missing(call, found)
    return DONE if found.hits else NOTHING


def _answer(found: RecallResult, explain: bool) -> dict[str, object]:
    answer: dict[str, object] = {"hits": found.hits, "total": found.total, "hidden": found.hidden}
    answer |= {"explained": found.explained} if explain else {}
    answer |= {"notice": found.notice} if found.notice else {}
    return answer | ({"nearest": found.nearest} if found.nearest else {})


def _say_what_is_missing(call: Call, found: RecallResult) -> None:
    screen = call.screen
    if not found.hits:
        screen.line("Nothing found." if not found.nearest else "Nothing found that surely answers this. Nearest:")
        for item in found.nearest:
            screen.line(f"  {screen.paint(shown(item.key), 'name')} ({item.scope}): {shown(item.summary)}")
    elif found.total > len(found.hits):
        screen.line(screen.paint(f"{format_total(len(found.hits), found.total)} --limit shows more.", "weak"))
    if found.notice:
        screen.line(screen.paint(found.notice, "warn"))
    for status, number in found.hidden.items():
        screen.line(screen.paint(f"Not shown: {plural(number, 'entry', 'entries')} of {status} memories.", "weak"))
