"""Proof that the index is what the files say: read every note, and compare each row and entry."""

from __future__ import annotations

from contextlib import closing

from commonplace.index.port import EntryInterval, Row, Transaction
from commonplace.index.sqlite import SqliteIndex
from commonplace.memories import pages
from commonplace.memories.reconcile import sync_scope
from commonplace.memories.scopes import journal_folders, scope_folders
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import Unreadable
from commonplace.model.results import VerifyResult
from commonplace.vault.paths import BookPath, resolve


def verify(store: MemoryStore) -> VerifyResult:
    """Compare the index and the pages with the files. Changes no file; the index first catches up with changes made
    outside, which are no fault of its own."""
    files, differences = 0, []
    for folder in [*scope_folders(store), *journal_folders(store)]:
        count, found = verify_scope(store, folder)
        files += count
        differences += found
    return VerifyResult(not differences, files, tuple(differences))


def verify_scope(store: MemoryStore, folder: BookPath) -> tuple[int, list[str]]:
    """Compare one scope; return how many notes it has, and what differs, each as FOLDER: WHAT."""
    store.freshen(folder)
    files, differences = 0, []
    with (
        closing(SqliteIndex(":memory:")) as fresh,
        fresh.transaction(store.space) as truth,
        store.index.reading(store.space) as index,
    ):
        unreadable = sync_scope(store.files, truth, store.provenance, folder, store.progress).unreadable
        if unreadable:
            raise Unreadable(f"{unreadable[0]} cannot be read, so nothing can be said of what is in it.")
        for place in sorted({*truth.folders(str(folder)), *index.folders(str(folder))}):
            differences += _compare(truth, index, place)
            files += len(truth.rows(place))
        if truth.forgotten(str(folder)) != index.forgotten(str(folder)):
            differences.append(f"{folder}: the index has other entries of what was forgotten")
        for place in truth.folders(str(folder)):
            differences += pages.faults(store.files, truth, resolve(place))
    return files, differences


def differs(place: str, name: str) -> str:
    """Return the words for a note that differs from what the index has."""
    return f"{place}: the index has another {name}"


def _compare(truth: Transaction, index: Transaction, place: str) -> list[str]:
    said, known = truth.rows(place), index.rows(place)
    found = [f"{place}: the index has {name}, which is not there" for name in sorted(known.keys() - said.keys())]
    for name, row in sorted(said.items()):
        if name not in known:
            found.append(f"{place}: the index lacks {name}")
        elif _plain(known[name]) != _plain(row):
            found.append(differs(place, name))
        elif row.revision and _said(index, place, name) != _said(truth, place, name):  # else it cannot be read now
            found.append(f"{place}: the index has other entries of {name}")
    return found


def _said(index: Transaction, place: str, name: str) -> list[EntryInterval]:
    """What a memory says and said, without attributes of a later version: those stay in the file alone."""
    return [item._replace(entry=item.entry._replace(extra=())) for item in index.entries(place, name)]


def _plain(row: Row) -> Row:
    """A row without where its line stands: that is about pages."""
    return row._replace(filed=False)
