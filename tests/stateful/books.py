"""What the stateful tests share: a digest of an index, answers of a book, and a root as a killed process leaves it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from commonplace import Book
from commonplace.index.sqlite import SqliteIndex
from commonplace.model.choices import SearchMode
from commonplace.model.scope import LOCAL

PROJECT = "github.com/acme/app"
DATABASES = ("index.db", "index.db-wal", "index.db-shm", "state.db", "state.db-wal", "state.db-shm")

_MEMORIES = (
    "SELECT 'memory', folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision"
    " FROM memory"
)
_ENTRIES = (
    "SELECT 'entry', e.folder, e.name, e.place, e.id, e.time, e.text, e.trust, e.author, e.host, e.session,"
    " e.occurred, e.thread, e.seq, e.tags, e.recorded_from, e.recorded_to, w.text, w.before, w.after, w.about, w.dates"
    " FROM entry e LEFT JOIN entry_words w ON w.rowid = e.no"
)
_STRAY = "SELECT 'stray', rowid, text FROM entry_words WHERE rowid NOT IN (SELECT no FROM entry)"
_MARKS = (  # of what was said once they may be there or not; a mark of nothing may not
    "SELECT 'mark', m.word, e.folder, e.name, e.place FROM mark m LEFT JOIN entry e ON e.no = m.no"
    " WHERE e.recorded_to IS NULL"
)
_TALLIES = "SELECT 'tally', folder, kind, label, number FROM tally WHERE number <> 0"


def open_book(root: Path) -> Book:
    return Book.open(root, project=PROJECT)


def index_of(book: Book) -> SqliteIndex:
    index = book.context.memories.index
    assert isinstance(index, SqliteIndex)
    return index


def digest(index: SqliteIndex) -> list[str]:
    """Every row, entry and word of an index, without what two indexes of the same files may differ in: numbers that
    count insertions, and what the files look like from outside."""
    with index.transaction(LOCAL) as writing:
        writing.fill_words()
    return sorted(
        repr(row) for part in (_MEMORIES, _ENTRIES, _STRAY, _MARKS, _TALLIES) for row in index.connection.execute(part)
    )


def answers(book: Book, words: list[str], mode: SearchMode = "hybrid") -> dict[str, object]:
    """What a book answers: its list, its texts, and what each word finds."""
    listed = book.list(hidden=True)
    texts = {
        (item.scope, item.key): [entry.text for entry in book.show(item.key, item.scope).entries] for item in listed
    }
    found = {word: _found(book, word, mode) for word in words}
    return {"list": listed, "texts": texts, **found}


def _found(book: Book, word: str, mode: SearchMode) -> object:
    answer = book.recall(word, mode=mode, limit=100)
    return [(hit.ref, hit.entry, hit.text, hit.revision) for hit in answer.hits], answer.total, dict(answer.hidden)


def notes(root: Path) -> dict[str, bytes]:
    """Every note of a book with its bytes; no pages."""
    found = (root / "memories").rglob("*.md")
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in found
        if path.name not in ("index.md", "_scope.md") and "_index" not in path.parts
    }


def leave(root: Path, to: Path, *, databases: Path | None = None) -> Path:
    """The root as a process killed now would leave it; with `databases`, those of another root.

    Notes are never written in place, so a second name for each is a copy that keeps its looks: an index that wrongly
    trusts those is found out. What is written in place (databases, locks) is copied.
    """
    for folder, _, names in os.walk(root):
        place = to / Path(folder).relative_to(root)
        place.mkdir(parents=True)
        for name in names:
            if name in DATABASES or place.name == "locks":
                if databases is None or place.name == "locks":
                    shutil.copyfile(Path(folder) / name, place / name)
            else:
                os.link(Path(folder) / name, place / name)
    for name in DATABASES if databases is not None else ():
        if (databases / ".commonplace" / name).exists():  # type: ignore[operator]
            shutil.copyfile(databases / ".commonplace" / name, to / ".commonplace" / name)  # type: ignore[operator]
    return to


def drop_index(root: Path) -> None:
    for path in (root / ".commonplace").glob("index.db*"):
        path.unlink()
