"""Propose what conversations taught, for review.

After `commonplace config set capture auto`, hooks note where the transcripts of connected agents are. This reads what
was said since, finds decisions, corrections, preferences and hard-won facts by rule, and proposes them; `commonplace
review` decides. What is marked <private>, looks like a secret, or was told by this book is left out.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import plural, shown

EXAMPLES = ("commonplace capture", "commonplace capture --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing but the common ones


def run(call: Call) -> int:
    with call.open() as book:
        found = book.capture()
    if call.answer(found):
        return DONE
    screen = call.screen
    screen.line(
        f"{plural(found.transcripts, 'transcript', 'transcripts')} read,"
        f" {plural(len(found.proposed), 'fact', 'facts')} proposed."
    )
    for item in found.proposed:
        screen.line(f"  {screen.paint(shown(item.key), 'name')}  {screen.paint(shown(item.path), 'weak')}")
    if found.refused:
        screen.line(f"{plural(found.refused, 'fact', 'facts')} left out: something in it looks like a secret.")
    if found.failed:
        screen.line(f"{plural(found.failed, 'transcript', 'transcripts')} could not be read.")
    if found.proposed:
        screen.line("`commonplace review` accepts, edits or rejects them.")
    return DONE
