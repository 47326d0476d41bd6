"""Allow this book's settings to name programs and endpoints.

A book can come from somebody else, by a clone or a sync. Its config.toml may not make Commonplace start a program or
call an address until you have looked at it and said so here. A change to the file takes the trust away.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.model.results import Setting

EXAMPLES = ("commonplace trust", "commonplace trust --revoke")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="without asking")
    parser.add_argument("--revoke", action="store_true", help="take the trust away")


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        if not args.revoke and not args.yes and not call.confirmed(_question(book.config())):
            raise Usage("trust needs --yes, or a yes at the terminal")
        trusted = book.trust(revoke=args.revoke)
    if not call.answer({"trusted": trusted}):
        call.screen.line("This book's settings are trusted." if trusted else "This book's settings are not trusted.")
    return DONE


def _question(settings: Sequence[Setting]) -> str:
    """What is asked, with everything in it that would be trusted."""
    given = [f"  {shown(item.name)} = {shown(item.value)}\n" for item in settings if item.source == "config.toml"]
    return f"{''.join(given)}Trust these settings of this book?"
