"""Change a memory in your editor.

Opens the whole file, frontmatter too, in $VISUAL or $EDITOR. What it said before is put aside. If somebody changed the
memory meanwhile, or the new text has a secret in it, nothing is written and your text is kept.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.changed import say
from commonplace.cli.editor import discard, edit_text
from commonplace.cli.parser import add_key
from commonplace.model.errors import CommonplaceError

EXAMPLES = ("commonplace edit staging-port", "EDITOR=nano commonplace edit people/alice --scope global")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)


def run(call: Call) -> int:
    key, scope = call.args.key, call.args.scope
    with call.open() as book:
        data, revision = book.source(key, scope)
        new, path = edit_text(data, f"{key.rsplit('/', 1)[-1]}.md", call.environment)
        try:
            stored = book.edit(key, new, scope, if_revision=revision)
        except CommonplaceError as error:
            error.hint = f"Your text is kept in {path}. {error.hint}"
            raise
    discard(path)
    return say(call, stored)
