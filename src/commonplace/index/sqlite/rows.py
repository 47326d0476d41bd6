"""Memories in SQLite: their rows, the signatures of their files, and the counts and lines of index pages.

Also the conversions between SQLite and the values of the port, for this module and transaction.py.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from commonplace.index.values import Counts, EntryCandidate, EntryInterval, PageLine, PageSection, Row, StatSignature
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import find_name_fault
from commonplace.model.scope import Space
from commonplace.text.words import DENSE_RUN, QueryTerms, cut_ending

_AFTER = "\x7f"  # sorts behind every character that a sort name or a folder's next character can be


class MemoryRows:
    """What the port asks of memories, in one space, on a connection whose transaction the caller begins and ends."""

    def __init__(self, connection: sqlite3.Connection, queries: Mapping[str, str], space: Space) -> None:
        self._execute = connection.execute
        self._execute_many = connection.executemany
        self._sql = queries
        self._space = f"{space.tenant}/{space.owner}"

    def _run(self, query: str, *values: object) -> sqlite3.Cursor:
        return self._execute(self._sql[query], values)

    def _run_here(self, query: str, *values: object) -> sqlite3.Cursor:
        """Run a query whose first value is the space."""
        return self._execute(self._sql[query], (self._space, *values))

    def _column(self, query: str, *values: object) -> list[Any]:
        """Return the only column of a query's rows; its first value is the space."""
        return [value for (value,) in self._run_here(query, *values)]

    def _value(self, query: str, *values: object) -> Any:
        """Return the only value of a query; None if there is no row. Its first value is the space."""
        return next(iter(self._column(query, *values)), None)

    def _run_each(self, query: str, values: Iterable[Sequence[object]]) -> None:
        self._execute_many(self._sql[query], values)

    # Memories

    def put(self, row: Row, signature: StatSignature | None = None) -> Row | None:
        """Add or replace a memory; its entries are worded, and embedded, again where its summary or tags changed."""
        old = self.get(row.folder, row.name)
        looks = f"{signature} {row.name}" if signature else None
        # The columns are in the order of the fields.
        self._run_here("put_memory", *row[:7], encode_tags(row.tags), *row[8:18], encode_tags(row.linked), looks)
        self._tally(old, row)
        if old is None or (old.own_summary, old.tags) != (row.own_summary, row.tags):
            self._run_here("unword", row.folder, row.name)
        if old is not None and old.tags != row.tags:
            for query in ("drop_vectors", "unembed"):
                self._run_here(query, row.folder, row.name)
            self._run("tick_dropped")
        return old

    def remove(self, folder: str, name: str) -> None:
        """Remove a memory's row, and take it off the counts."""
        old = self.get(folder, name)
        if old is not None:
            self._run_here("remove_memory", folder, name)
            self._tally(old, None)

    def get(self, folder: str, name: str) -> Row | None:
        """Return one memory; None when there is none."""
        found = self._run_here("get_memory", folder, name).fetchone()
        return decode_row(found) if found else None

    def rows(self, folder: str) -> Mapping[str, Row]:
        """Return every memory in this very folder, by name."""
        return {row.name: row for row in map(decode_row, self._run_here("rows", folder))}

    def folders(self, below: str) -> Sequence[str]:
        """Return the folders with memories, from the counts: there is one row per folder there."""
        return self._column("folders", *range_below(below))

    def find_by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        """Return folder and name of the memories with an id."""
        return self._run_here("by_id", ident).fetchall()

    def rows_to_review(self) -> Sequence[Row]:
        """Return every memory that waits for a review, or has a link that does."""
        return list(map(decode_row, self._run_here("waiting")))

    def generation(self, scope_folder: str) -> int | None:
        """Return the generation that was set for a scope."""
        found: int | None = self._value("generation", scope_folder)
        return found

    def set_generation(self, scope_folder: str, generation: int) -> None:
        """Set the generation of a scope."""
        self._run_here("set_generation", scope_folder, generation)

    def _tally(self, old: Row | None, new: Row | None) -> None:
        """Bring the counts up to a change of one row; most writes change no count at all."""
        before, after = _labels(old), _labels(new)
        if before == after:
            return
        folder = (old or new).folder  # type: ignore[union-attr]  # one of them is there
        changes = [(self._space, folder, *label, 1) for label in after if label not in before]
        changes += [(self._space, folder, *label, -1) for label in before if label not in after]
        self._run_each("tally", changes)

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
        if number != (self._value("how_many", folder) or 0):  # pages and lists would leave out what is there
            raise DamagedRow("the count of a folder is not that of its memories")

    # Index pages

    def counts(self, folder: str, tags: int) -> Counts:
        """Return the counts of a folder, with this many of its tags."""
        numbers = Counter({(kind, label): number for kind, label, number in self._run_here("counts", folder)})
        types = {label: number for (kind, label), number in numbers.items() if kind == "type"}
        active = numbers["active", ""]
        top = self._run_here("top_tags", folder, tags).fetchall()
        return Counts(active, numbers["rows", ""] - active, types, top, numbers["pinned", ""])

    def count_active(self, below: str) -> int:
        """Return how many active memories a folder and those below it hold."""
        return self._value("count_active", *range_below(below)) or 0

    def page_lines(self, section: PageSection, folder: str, limit: int) -> Sequence[PageLine]:
        """Return the first lines of a section of an index page; the query has the name of the section."""
        return self._lines(section, folder, limit)

    def lines_by_prefix(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        """Return the first lines whose sort names start with a prefix, in order."""
        return self._lines("lines_by_prefix", folder, prefix, prefix + _AFTER, limit)

    def _lines(self, query: str, *values: object) -> list[PageLine]:
        return list(map(PageLine._make, self._run_here(query, *values)))

    def mark_filed(self, folder: str, *, filed: bool, pending: Collection[str] = ()) -> None:
        """Mark the lines of a folder as on their sub-pages, or as not; `pending` names exceptions."""
        self._run_here("mark_filed" if filed else "mark_unfiled", folder)
        self._run_each("mark_pending", [(self._space, folder, name) for name in pending])

    def next_prefixes(self, folder: str, prefix: str) -> Sequence[str]:
        """Return the prefixes that divide the sort names which start with this one, in order."""
        ends = self._run_here("first_and_last_sort", folder, prefix, prefix + _AFTER).fetchone()
        if ends[0] is None:
            return []
        shared = os.path.commonprefix(ends)  # noqa: RUF071 - names, not paths
        return [shared + character for character in self._column("next_characters", folder, shared, shared + _AFTER)]

    def topics(self, folder: str, limit: int) -> Sequence[str]:
        """Return the first topics that sort names of a folder start with, in order."""
        return self._column("topics", folder, limit)


def range_below(folder: str) -> tuple[str, str, str]:
    """Return a folder, and the texts between which all folders below it sort: `0` comes after `/`."""
    inside = folder.rstrip("/") + "/"
    return folder, inside, inside[:-1] + "0"


def _labels(row: Row | None) -> list[tuple[str, str]]:
    """Return the kinds and labels under which a row is counted in its folder."""
    if row is None:
        return []
    if row.status != "active":
        return [("rows", "")]
    pinned = [("pinned", "")] if row.pinned else []
    return [("rows", ""), ("active", ""), ("type", row.type), *pinned, *[("tag", tag) for tag in row.tags]]


_TRUST = {trust.value: trust for trust in Trust}


class DamagedRow(sqlite3.DatabaseError):
    """The file can be read, but we never wrote what is in it."""


def encode_tags(tags: Sequence[str]) -> str:
    """Return tags as the text of a column."""
    return json.dumps(tags) if tags else "[]"


def decode_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a column. Raises DamagedRow."""
    if text == "[]":
        return ()
    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError):
        raise DamagedRow("a list of tags") from None


def encode_extra(extra: Sequence[tuple[str, str]]) -> str:
    """Return the attributes of an entry that have no column as the text of one."""
    return json.dumps(extra, ensure_ascii=False) if extra else ""


def _decode_extra(text: str) -> tuple[tuple[str, str], ...]:
    try:
        return tuple((str(name), str(value)) for name, value in json.loads(text))
    except (ValueError, TypeError):
        raise DamagedRow("the attributes of an entry") from None


def decode_row(found: Iterable[object]) -> Row:
    """Return the memory in a row of a result, whose columns are in the order of the fields. Raises DamagedRow."""
    values = list(found)
    if find_name_fault(str(values[1])):
        raise DamagedRow("a memory's name")
    for at in (7, 18):
        values[at] = decode_tags(str(values[at]))
    for at in (8, 13, 15, 16):
        values[at] = bool(values[at])
    return Row(*values)  # type: ignore[arg-type]  # see above


def match_expression(terms: QueryTerms, *, whole: bool = False) -> str:
    """Return terms as an FTS5 expression: each word in quotes, so that nothing in it is an operator.

    `whole` finds the words alone, and not what only begins with one.
    """
    # A single longer word also finds what it begins: `front` finds `frontmatter`.
    starts = {term for term in terms.any_of if not whole and len(term) == 1 and _is_prefix(term[0])}
    any_of = " OR ".join(
        f"{quote_term((cut_ending(*term),))} *" if term in starts else quote_term(term) for term in terms.any_of
    )
    all_of = " AND ".join(quote_term(term) + (" *" if _is_always_prefix(term[-1]) else "") for term in terms.all_of)
    if all_of:  # a quotation must be in the entry itself, not in its neighbours, and not as the start of another word
        all_of = f"{{text about}} : ({all_of})"
    if any_of and all_of:
        return f"({all_of}) AND ({any_of})"
    return all_of or any_of


def _is_prefix(word: str) -> bool:
    """Whether a word is also searched as a prefix of others; a short one is not, because it would match too many.

    A single character of a script without spaces is, to match its pairs; so is Korean, where particles follow the word.
    """
    if word.isascii() or len(word) >= 4:
        return len(word) >= 4
    return bool(DENSE_RUN.match(word)) if len(word) == 1 else "\uac00" <= word[0] <= "\ud7a3"


def _is_always_prefix(word: str) -> bool:
    """Whether a word must be searched as a prefix even in a quoted phrase."""
    return not word.isascii() and len(word) < 4 and _is_prefix(word)


def quote_term(term: Sequence[str]) -> str:
    """Return the words of one term in quotes."""
    words = " ".join(term).replace('"', "")
    return f'"{words}"'


def decode_candidate(found: tuple[Any, ...]) -> EntryCandidate:
    """Return the entry and its memory, if there is one, in a row of a result. Raises DamagedRow."""
    row = decode_row(found[17:]) if found[17] is not None else None
    return EntryCandidate(found[0], found[1], *decode_entry(found[3:17]), row, found[2])


def decode_entry(found: tuple[object, ...]) -> EntryInterval:
    """Return the entry in a row of a result. Raises DamagedRow."""
    ident, time, text, trust, *others, tags, extra, start, end = found
    trusted = _TRUST.get(trust)  # type: ignore[call-overload]  # of any type: the file may be damaged
    if trusted is None:
        raise DamagedRow("an entry's trust")
    # By position, which is faster than by name: a recall makes a hundred of them.
    attributes = _decode_extra(str(extra)) if extra else ()
    values = (str(time), str(text), str(ident), trusted, *others, decode_tags(str(tags)), attributes)
    return EntryInterval(Entry._make(values), str(start), end)  # type: ignore[arg-type]
