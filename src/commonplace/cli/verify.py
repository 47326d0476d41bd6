"""Prove that the index says what the files say.

Every note is read and compared with its row, its entries and its index pages. Changes nothing. The exit status is 1
where something differs; `commonplace reindex` mends that.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.screen import plural, shown

EXAMPLES = ("commonplace verify", "commonplace verify --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing but the common ones


def run(call: Call) -> int:
    with call.open() as book:
        proof = book.verify()
    if not call.answer(proof):
        screen = call.screen
        differences = plural(len(proof.differences), "difference", "differences")
        screen.line(f"{plural(proof.files, 'note', 'notes')} read, {differences}.")
        for difference in proof.differences:
            screen.line(f"  {screen.paint(shown(difference), 'bad')}")
        if proof.differences:
            screen.line("`commonplace reindex` builds the index anew; the notes are not touched.")
    return DONE if proof.ok else NOTHING
