"""Keep something worth keeping.

The text becomes an entry of the memory with this key, durable before the answer comes. Without a key one is made from
the text. A text with a secret in it is refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import add_request
from commonplace.cli.screen import Screen, shown
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import SimilarMemory, StoreResult
from commonplace.verbs.storing import StoreRequest

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
    add_request(parser, StoreRequest)


def run(call: Call) -> int:
    given = {name: getattr(call.args, name) for name in StoreRequest._fields}
    given["content"] = call.text(given["content"])
    with call.open() as book:
        stored = book.store(**given)
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
