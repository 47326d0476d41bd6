"""List what a memory links to.

By the links in its frontmatter, and by [[wikilinks]] in its text.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.listed import show_list
from commonplace.cli.parser import add_key

EXAMPLES = ("commonplace related deploy",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)


def run(call: Call) -> int:
    with call.open() as book:
        memories = book.related(call.args.key, call.args.scope)
    if not call.answer({"memories": memories}):
        show_list(call.screen, memories)
        if not memories:
            call.screen.line("It links to nothing.")
    return DONE if memories else NOTHING
