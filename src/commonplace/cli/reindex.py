"""Build the index anew from the files.

Reads every note and mends the index pages. No note is changed.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import plural

EXAMPLES = ("commonplace reindex",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing but the common ones


def run(call: Call) -> int:
    with call.open() as book:
        files = book.reindex()
    if not call.answer({"files": files}):
        call.screen.line(f"{plural(files, 'note', 'notes')} read; the index is new.")
    return DONE
