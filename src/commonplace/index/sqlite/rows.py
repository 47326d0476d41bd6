"""Memories in SQLite: their rows, the signatures of their files, and the counts and lines of index pages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from commonplace.index.port import Counts, PageLine, Row, StatSignature
from commonplace.index.sqlite.convert import DamagedRow, decode_row, encode_tags
from commonplace.model.scope import Space

_AFTER = "\x7f"  # sorts behind every character that a sort name or a folder's next character can be


class MemoryRows:
    """What the port asks of memories, in one space, on a connection whose transaction the caller begins and ends."""

    def __init__(self, connection: sqlite3.Connection, queries: Mapping[str, str], space: Space) -> None:
        self._execute = connection.execute
        self._execute_many = connection.executemany
        self._sql = queries
        self._space = str(space)
        self._got: dict[tuple[str, str], Row | None] = {}  # rows that this transaction has read or put
        self._counted: dict[str, Counts] = {}  # until a count changes
        self._places: dict[str, list[str]] = {}

    def _run(self, query: str, *values: object) -> sqlite3.Cursor:
        return self._execute(self._sql[query], values)

    def _run_here(self, query: str, *values: object) -> sqlite3.Cursor:
        """Run a query whose first value is the space."""
        return self._execute(self._sql[query], (self._space, *values))

    def _run_each(self, query: str, values: Iterable[Sequence[object]]) -> None:
        self._execute_many(self._sql[query], values)

    # Memories

    def put(self, row: Row) -> None:
        """Add or replace a memory; its entries are worded again where its own summary or tags changed."""
        old = self.get(row.folder, row.name)
        self._run_here(
            "put_memory", row.folder, row.name, row.sort, row.id, row.type, row.status, row.summary,
            encode_tags(row.tags), row.pinned, row.created, row.updated, row.revision, row.line, row.filed,
            row.proposed_links, row.given, row.outside,
        )  # fmt: skip
        self._got[row.folder, row.name] = row
        self._tally(old, row)
        if old is None or (old.own_summary, old.tags) != (row.own_summary, row.tags):
            self._run_here("unword", row.folder, row.name)

    def remove(self, folder: str, name: str) -> None:
        """Remove a memory's row, and take it off the counts."""
        old = self.get(folder, name)
        if old is not None:
            self._run_here("remove_memory", folder, name)
            self._got[folder, name] = None
            self._tally(old, None)

    def get(self, folder: str, name: str) -> Row | None:
        """Return one memory, read at most once per transaction."""
        if (folder, name) not in self._got:
            found = self._run_here("get_memory", folder, name).fetchone()
            self._got[folder, name] = decode_row(found) if found else None
        return self._got[folder, name]

    def rows(self, folder: str) -> Mapping[str, Row]:
        """Return every memory in this very folder, by name."""
        return {row.name: row for row in map(decode_row, self._run_here("rows", folder))}

    def folders(self, below: str) -> Sequence[str]:
        """Return the folders with memories, from the counts: there is one row per folder there."""
        if below not in self._places:
            self._places[below] = [folder for (folder,) in self._run_here("folders", *range_below(below))]
        return self._places[below]

    def find_by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        """Return folder and name of the memories with an id."""
        return self._run_here("by_id", ident).fetchall()

    def rows_to_review(self) -> Sequence[Row]:
        """Return every memory that waits for a review, or has a link that does."""
        return list(map(decode_row, self._run_here("waiting")))

    def generation(self, scope_folder: str) -> int | None:
        """Return the generation that was set for a scope."""
        found = self._run_here("generation", scope_folder).fetchone()
        return int(found[0]) if found else None

    def set_generation(self, scope_folder: str, generation: int) -> None:
        """Set the generation of a scope."""
        self._run_here("set_generation", scope_folder, generation)

    def _tally(self, old: Row | None, new: Row | None) -> None:
        """Bring the counts up to a change of one row; most writes change no count at all."""
        if old is not None and new is not None and _counted_as(old) == _counted_as(new):
            return
        before, after = _labels(old), _labels(new)
        folder = (old or new).folder  # type: ignore[union-attr]  # one of them is there
        changes = [
            (self._space, folder, kind, label, after.get((kind, label), 0) - before.get((kind, label), 0))
            for kind, label in before.keys() | after.keys()
        ]
        self._run_each("tally", [change for change in changes if change[-1]])
        self._counted.pop(folder, None)
        if (old is None) != (new is None):
            self._places.clear()

    # Stat signatures

    def record_stat(self, folder: str, name: str, signature: StatSignature) -> None:
        """Record the signature of a memory's file."""
        self._run("record_stat", signature, self._space, folder, name)

    def stat_signatures(self, folder: str) -> Mapping[str, StatSignature | None]:
        """Return the signatures of a folder by name. Raises DamagedRow where the count of the folder is another."""
        found: dict[str, StatSignature | None] = dict(self._run_here("stat_signatures", folder))
        self._check_count(folder, len(found))
        return found

    def stat_lines(self, folder: str) -> str:
        """Return the signatures of a folder as one text. Raises DamagedRow where the count of the folder is another."""
        number, lines = self._run_here("stat_lines", folder).fetchone()
        self._check_count(folder, number)
        return lines or ""

    def _check_count(self, folder: str, number: int) -> None:
        counted = self._run_here("how_many", folder).fetchone()
        if number != (counted[0] or 0):  # pages and lists would leave out what is there
            raise DamagedRow("the count of a folder is not that of its memories")

    # Index pages

    def counts(self, folder: str, tags: int) -> Counts:
        """Return the counts of a folder; those without tags are read at most once until one changes."""
        known = self._counted.get(folder)
        if known is not None and not tags:
            return known._replace(tags=())
        numbers: dict[str, int] = {}
        types: dict[str, int] = {}
        for kind, label, number in self._run_here("counts", folder):
            if kind == "type":
                types[label] = number
            else:
                numbers[kind] = number
        used = self._run_here("top_tags", folder, tags).fetchall() if tags else []
        active = numbers.get("active", 0)
        found = Counts(active, numbers.get("rows", 0) - active, types, used, numbers.get("pinned", 0))
        self._counted[folder] = found
        return found

    def newest_lines(self, folder: str, limit: int) -> Sequence[PageLine]:
        """Return the lines of the memories that were updated last, newest first."""
        return self._lines("newest", folder, limit)

    def pinned_lines(self, folder: str, limit: int) -> Sequence[PageLine]:
        """Return the lines of pinned memories, by sort name."""
        return self._lines("pinned", folder, limit)

    def pending_page_lines(self, folder: str, limit: int) -> Sequence[PageLine]:
        """Return the lines that are not on their sub-page yet, by sort name."""
        return self._lines("unfiled", folder, limit)

    def lines_by_prefix(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        """Return the first lines whose sort names start with a prefix, in order."""
        return self._lines("lines_by_prefix", folder, prefix, prefix + _AFTER, limit)

    def _lines(self, query: str, *values: object) -> list[PageLine]:
        return list(map(PageLine._make, self._run_here(query, *values)))

    def mark_filed(self, folder: str, *, filed: bool, pending: Collection[str] = ()) -> None:
        """Mark the lines of a folder as on their sub-pages, or as not; `pending` names exceptions."""
        self._got.clear()
        self._run_here("mark_filed" if filed else "mark_unfiled", folder)
        self._run_each("mark_pending", [(self._space, folder, name) for name in pending])

    def next_prefixes(self, folder: str, prefix: str) -> Sequence[str]:
        """Return the prefixes that divide the sort names which start with this one, in order."""
        ends = self._run_here("first_and_last_sort", folder, prefix, prefix + _AFTER).fetchone()
        if ends[0] is None:
            return []
        shared = os.path.commonprefix(ends)  # noqa: RUF071 - names, not paths
        found = self._run_here("next_characters", folder, shared, shared + _AFTER)
        return [shared + character for (character,) in found]


def range_below(folder: str) -> tuple[str, str, str]:
    """Return a folder, and the texts between which all folders below it sort: `0` comes after `/`."""
    inside = folder.rstrip("/") + "/"
    return folder, inside, inside[:-1] + "0"


def _counted_as(row: Row) -> tuple[object, ...]:
    return (row.status, row.type, row.pinned, row.tags)


def _labels(row: Row | None) -> dict[tuple[str, str], int]:
    """Return what a row adds to the counts of its folder, by kind and label."""
    if row is None:
        return {}
    labels = {("rows", ""): 1}
    if row.status == "active":
        labels |= {("active", ""): 1, ("type", row.type): 1}
        if row.pinned:
            labels["pinned", ""] = 1
        for tag in row.tags:
            labels["tag", tag] = labels.get(("tag", tag), 0) + 1
    return labels
