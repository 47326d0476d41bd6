"""Trust this book's settings, or the memories that came with it.

A book can come from somebody else, by a clone or a sync. Its config.toml may not make Commonplace start a program or
call an address until you have looked at it and said so here. A change to the file takes the trust away.

Memories that another book wrote are `external`, whatever they say of themselves: labelled, ranked below, in no brief.
`--memories` believes all that are here now. For one of them, say `commonplace review --accept KEY`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import plural, shown
from commonplace.model.settings import Setting

EXAMPLES = ("commonplace trust", "commonplace trust --revoke", "commonplace trust --memories")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="without asking")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--revoke", action="store_true", help="take the trust in the settings away")
    what.add_argument("--memories", action="store_true", help="believe the memories that came from another book")


def run(call: Call) -> int:
    if call.args.memories:
        return _vouch(call)
    args = call.args
    with call.open() as book:
        if not args.revoke and not args.yes and not call.confirmed(_question(book.config())):
            raise Usage("trust needs --yes, or a yes at the terminal")
        trusted = book.trust(revoke=args.revoke)
    if not call.answer({"trusted": trusted}):
        call.screen.line("This book's settings are trusted." if trusted else "This book's settings are not trusted.")
    return DONE


def _vouch(call: Call) -> int:
    if not call.args.yes and not call.confirmed("Believe all memories in this book in what they say of themselves?"):
        raise Usage("trust needs --yes, or a yes at the terminal")
    with call.open() as book:
        number = book.vouch()
    if not call.answer({"memories": number}):
        said = plural(number, "memory", "memories")
        call.screen.line(f"{said} that came from elsewhere: now believed." if number else "None was doubted.")
    return DONE


def _question(settings: Sequence[Setting]) -> str:
    """What is asked, with everything in it that would be trusted."""
    given = [f"  {shown(item.name)} = {shown(item.value)}\n" for item in settings if item.source == "config.toml"]
    return f"{''.join(given)}Trust these settings of this book?"
