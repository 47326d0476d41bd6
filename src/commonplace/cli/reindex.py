"""Build the index anew from the files.

Reads every note and mends the index pages. No note is changed. What only the old index knows, because a note was
replaced or deleted outside, is saved to the history first. With an embedder that is not the one inside the install,
every entry is embedded anew too. `--vectors` only embeds what is not embedded yet, as after a change of embedder.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import plural
from commonplace.model.errors import EmbedderError

if TYPE_CHECKING:
    from commonplace.book import Book

EXAMPLES = ("commonplace reindex", "commonplace reindex --vectors")
_LATER = ("static", "off")  # of these embedders one has nothing to do, and the other does it with the first question


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--vectors", action="store_true", help="keep the index, and embed what is not embedded yet")


def run(call: Call) -> int:
    with call.open() as book:
        files = None if call.args.vectors else book.reindex()
        embedded, notice = (book.embed(), "") if files is None else _embed(book)
    answer = {"files": files, "embedded": embedded, "notice": notice or None}
    if not call.answer({name: value for name, value in answer.items() if value is not None}):
        if files is not None:
            call.screen.line(f"{plural(files, 'note', 'notes')} read; the index is new.")
        if embedded is not None:
            call.screen.line(f"{plural(embedded, 'entry', 'entries')} embedded; none is left.")
        if notice:
            call.screen.line(call.screen.paint(notice, "warn"))
    return DONE


def _embed(book: Book) -> tuple[int | None, str]:
    """How many entries were embedded; or why not all were: the index is new nevertheless."""
    if {item.name: item.value for item in book.config()}["embedder"] in _LATER:
        return None, ""
    try:
        return book.embed(), ""
    except EmbedderError as error:
        return None, f"Not everything is embedded. {error.message}"
