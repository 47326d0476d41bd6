"""Move all memories of one scope to the trash.

Each can be restored for 30 days.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import plural, shown

EXAMPLES = ("commonplace clear session --yes", "commonplace clear project")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scope", metavar="SCOPE", help="session, agent, project or global; or project:ID")
    parser.add_argument("--yes", action="store_true", help="without asking")


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        number = len(book.list(args.scope, hidden=True))
        question = f"Move {plural(number, 'memory', 'memories')} of {shown(args.scope)} to the trash?"
        if number and not args.yes and not call.confirmed(question):
            raise Usage("clear needs --yes, or a yes at the terminal")
        number = book.clear(args.scope)  # with none to move, too: it says so where the caller may not
    if not call.answer({"scope": args.scope, "forgotten": number}):
        call.screen.line(f"Moved to the trash: {plural(number, 'memory', 'memories')} of {shown(args.scope)}.")
    return DONE if number else NOTHING
