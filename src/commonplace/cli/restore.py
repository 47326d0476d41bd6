"""Bring a memory back from the trash.

The newest of this key, byte for byte, to where it was. A memory whose file was deleted outside comes back from the
history, with the text and labels that the index knew.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.changed import say
from commonplace.cli.parser import add_key

EXAMPLES = ("commonplace restore old-runner",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)


def run(call: Call) -> int:
    with call.open() as book:
        return say(call, book.restore(call.args.key, call.args.scope))
