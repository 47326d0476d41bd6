"""Allow this book's settings to name programs and endpoints.

A book can come from somebody else, by a clone or a sync. Its config.toml may not make Commonplace start a program or
call an address until you have looked at it and said so here. A change to the file takes the trust away.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage

EXAMPLES = ("commonplace trust", "commonplace trust --revoke")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="without asking")
    parser.add_argument("--revoke", action="store_true", help="take the trust away")


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        if not args.revoke and not args.yes:
            for item in book.config():
                if item.source == "config.toml":
                    call.screen.line(f"  {item.name} = {item.value}")
            if not call.confirmed("Trust these settings of this book?"):
                raise Usage("trust needs --yes, or a yes at the terminal")
        trusted = book.trust(revoke=args.revoke)
    if not call.answer({"trusted": trusted}):
        call.screen.line("This book's settings are trusted." if trusted else "This book's settings are not trusted.")
    return DONE
