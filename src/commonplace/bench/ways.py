"""One set, asked in every way: ours, through the book, and the plain ways beside it.

Each way is asked of the same book in the same condition. A recall counts what it found as used, and use speaks for an
entry the next time: so what the way before has used is forgotten first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from commonplace.bench import baselines
from commonplace.bench.data import Shelf
from commonplace.bench.recall import Result, fill, measure, through_the_book
from commonplace.book import Book
from commonplace.embed.choose import choose
from commonplace.model.settings import load_settings

MODES = ("hybrid", "lexical", "semantic")
Filled = Sequence[tuple[Shelf, Book]]


@contextmanager
def filled(shelves: Sequence[Shelf], folder: str) -> Iterator[Filled]:
    """Each shelf in a book of its own below a folder."""
    with ExitStack() as stack:
        books = []
        for number, shelf in enumerate(shelves):
            book = Book.open(os.path.join(folder, str(number)), session=shelf.name, project=shelf.name)
            books.append((shelf, stack.enter_context(book)))
            fill(book, shelf)
        yield books


def asked(name: str, books: Filled, mode: str) -> Result:
    """One of our modes, of books of which nothing has been used yet."""
    for _, book in books:
        _forget_uses(book)
    return measure(name, [(shelf, through_the_book(book, shelf, mode)) for shelf, book in books])


def compare(books: Filled) -> list[Result]:
    """Our modes and the plain ways; without an embedder, those that do without one."""
    shelves = [shelf for shelf, _ in books]
    settings = load_settings({}, os.environ, {})
    meaning = settings.embedder != "off"
    results = [asked(mode, books, mode) for mode in MODES if meaning or mode == "lexical"]
    results.append(measure("grep", [(shelf, baselines.by_grep(shelf)) for shelf in shelves]))
    results.append(measure("fts5", [(shelf, baselines.by_fts5(shelf)) for shelf in shelves]))
    if meaning:
        embedder = choose(settings.embedder, key=settings.embedder_key)
        results.append(measure("vectors", [(shelf, baselines.by_vectors(shelf, embedder)) for shelf in shelves]))
    return results


def _forget_uses(book: Book) -> None:
    desk = book._desk
    with desk.keep.index.reading(desk.keep.space) as index:
        ids = [row.id for folder in index.folders("/memories") for row in index.rows(folder).values()]
    desk.state.forget_refs(desk.keep.space, ids)
