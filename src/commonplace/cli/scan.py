"""Look for secrets in what is stored.

Notes, pages, data files that are text, history and trash. Shows where and which rule, never the secret itself. A line
with commonplace:not-a-secret on it counts as none. The exit status is 1 where something was found.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.screen import plural, shown

EXAMPLES = ("commonplace scan", "commonplace scan --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing but the common ones


def run(call: Call) -> int:
    with call.open() as book:
        found = book.scan()
    if not call.answer(found):
        screen = call.screen
        for place in found.places:
            line = f"line {place.line:,}" if place.line else "in its name"
            screen.line(f"{screen.paint(shown(place.path), 'name')}: {line}: {screen.paint(place.rule, 'bad')}")
        for skipped in found.skipped:
            screen.line(screen.paint(f"not read: {shown(skipped.path)}: {shown(skipped.message)}", "weak"))
        places = plural(len(found.places), "place", "places")
        screen.line(f"{plural(found.files, 'file', 'files')} read, {places} with what looks like a secret.")
        if found.places:
            screen.line(
                "what to do: change the secret where it is used, then take it out of the file; what is in history or"
                " trash goes with `commonplace forget KEY --purge`."
            )
    return DONE if found.ok else NOTHING
