"""Bring back the revision before the last change.

It becomes a new revision; what it undoes is put aside, so an undo can be undone.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.changed import say
from commonplace.cli.parser import add_key

EXAMPLES = ("commonplace undo staging-port",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)


def run(call: Call) -> int:
    with call.open() as book:
        return say(call, book.undo(call.args.key, call.args.scope))
