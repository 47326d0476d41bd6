"""List what became of a memory.

Every text that was added to, labelled otherwise, replaced, undone, superseded, forgotten, or edited or deleted outside,
oldest first, with who did it and when; then the one that stands. One that an entry was added to has no revision: the
next text has all of it.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import add_key
from commonplace.cli.screen import minute

EXAMPLES = ("commonplace history staging-port", "commonplace history staging-port --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)


def run(call: Call) -> int:
    with call.open() as book:
        revisions = book.history(call.args.key, call.args.scope)
    if not call.answer({"revisions": revisions}):
        rows = [
            (item.revision[:12] or "-", minute(item.time), item.action, item.author or "-", item.path)
            for item in revisions
        ]
        call.screen.table(("REVISION", "UNTIL", "WHAT", "WHO", "FILE"), rows, ("name", "weak", "", "", "weak"))
    return DONE
