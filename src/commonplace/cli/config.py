"""Show or change settings.

A flag counts before COMMONPLACE_*, that before the book's config.toml, that before the default. `set` writes to
config.toml and keeps your comments in it.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.model.errors import InvalidSettings

EXAMPLES = (
    "commonplace config",
    "commonplace config get enabled",
    "commonplace config set lock_timeout 30",
    "commonplace config unset lock_timeout",
)
_WORDS = {"list": 0, "get": 1, "set": 2, "unset": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=tuple(_WORDS), nargs="?", default="list", help="what to do")
    parser.add_argument("words", metavar="NAME [VALUE]", nargs="*", help="the setting, and for set its value")


def run(call: Call) -> int:
    action, words = call.args.action, call.args.words
    if len(words) != _WORDS[action]:
        raise Usage(f"{action} takes {_WORDS[action]} words after it")
    with call.open() as book:
        settings = book.config()
        if words and words[0] not in {item.name for item in settings}:
            raise InvalidSettings(
                f"There is no setting {words[0][:60]!a}.", hint="`commonplace config` lists them all."
            )
        if action in ("set", "unset"):
            settings = book.configure(words[0], words[1] if action == "set" else None)
    chosen = [item for item in settings if not words or item.name == words[0]]
    if not call.answer({"settings": chosen}):
        if action == "get":
            call.screen.line(shown(chosen[0].value))
        else:
            rows = [(item.name, item.value or "-", item.source) for item in chosen]
            call.screen.table(("SETTING", "VALUE", "FROM"), rows, ("name", "", "weak"))
    return DONE
