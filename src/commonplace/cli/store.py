"""Keep something worth keeping.

The text becomes an entry of the memory with this key, durable before the answer comes. Without a key one is made from
the text. A text with a secret in it is refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import add_scope, words
from commonplace.cli.screen import Screen, shown
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import SimilarMemory, StoreResult

EXAMPLES = (
    'commonplace store "Tests run with pytest" --key testing-framework --type feedback',
    "git log -1 --format=%B | commonplace store - --key last-decision",
    'commonplace store "Staging listens on port 6000" --key staging-port --mode replace',
    'commonplace store "Staging listens on port 6001" --decision supersede:staging-port',
)
_DID = {
    "created": "Stored",
    "appended": "Added to",
    "replaced": "Replaced",
    "unchanged": "Nothing new: this is what it says already:",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("content", metavar="TEXT", help="what to keep; - reads it from standard input")
    parser.add_argument("--key", metavar="KEY", help="the memory it belongs to; made from the text if not given")
    add_scope(parser)
    parser.add_argument("--type", metavar="TYPE", help="user, feedback, project or reference")
    parser.add_argument("--tags", metavar="A,B", type=words, default=[], help="tags to add")
    parser.add_argument("--summary", metavar="LINE", help="the one line that index pages show")
    parser.add_argument("--mode", choices=("append", "replace"), default="append", help="add to it, or put it instead")
    parser.add_argument(
        "--if-revision", metavar="REV", help="only if the memory is still at this revision (12 digits or more of it)"
    )
    parser.add_argument("--decision", metavar="D", help="about near duplicates: create, update:KEY or supersede:KEY")
    parser.add_argument("--author", metavar="NAME", help="who said it")
    parser.add_argument("--occurred", metavar="TIME", help="when it happened, if not now: 2026-11-15T09:30:00Z")
    parser.add_argument("--thread", metavar="ID", help="the conversation it belongs to")
    parser.add_argument("--seq", metavar="N", type=int, help="its place in that conversation")


def run(call: Call) -> int:
    args = call.args
    content = call.text(args.content)
    with call.open() as book:
        stored = book.store(
            content, args.key, args.scope, args.type, args.tags, args.summary, args.mode, args.if_revision,
            args.decision, args.author, args.occurred, args.thread, args.seq,
        )  # fmt: skip
        _say(call, stored)
        call.stdout.flush()
        with suppress(CommonplaceError):  # it is stored and said so; what is too old can wait for the next
            book.retire(daily=True)
    return DONE


def _say(call: Call, stored: StoreResult) -> None:
    if call.answer(stored):
        return
    screen = call.screen
    where = stored.scope + (f" {stored.scope_id}" if stored.scope_id else "")
    screen.line(f"{_DID.get(stored.action, stored.action)} {screen.paint(shown(stored.key), 'name')} ({shown(where)})")
    screen.line(f"  {screen.paint(shown(stored.path), 'weak')}")
    same = [one for one in stored.similar if one.relation == "same"]
    other = [one for one in stored.similar if one.relation != "same"]
    _say_similar(screen, "Nearly the same is kept in:", same, "To add to it another time: --decision update:")
    _say_similar(screen, "Something else is said in:", other, "To put another in its place: --decision supersede:")


def _say_similar(screen: Screen, heading: str, found: Sequence[SimilarMemory], advice: str) -> None:
    if found:
        screen.line(heading)
    for item in found:
        screen.line(f"  {screen.paint(shown(item.key), 'name')} ({item.scope}): {shown(item.summary)}")
    if found:
        screen.line(f"  {screen.paint(advice + shown(found[0].key), 'weak')}")
