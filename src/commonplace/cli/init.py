"""Make a book, or what is missing in one.

The scaffold: index pages, the doctrine in system/definition.md, folders for memories and data. Nothing that is there
is overwritten; running it again changes nothing.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import shown

EXAMPLES = ("commonplace init", "commonplace init --root ~/notes/memory --template full")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--template", choices=("minimal", "full"), default="minimal", help="how much the doctrine says")


def run(call: Call) -> int:
    from commonplace.book import Book  # noqa: PLC0415 - `--help` does without

    made = Book.init(call.args.root, template=call.args.template)
    if call.answer(made):
        return DONE
    screen = call.screen
    screen.line(f"{'Made a book' if made.made else 'A book is there already'}: {shown(made.root)}")
    for path in made.made:
        screen.line(f"  {screen.paint(shown(path), 'weak')}")
    screen.line('Next: commonplace store "something worth keeping"')
    return DONE
