"""The questions and changes of the port, as SQL."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from commonplace.index.port import (
    MOST_MARKED,
    Counts,
    CurrentEntry,
    EntryCandidate,
    EntryInterval,
    Looks,
    Match,
    PageLine,
    Row,
    Vector,
    Wanted,
    least_shared,
    turn_of,
    within,
)
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import find_name_fault
from commonplace.model.scope import Space
from commonplace.text.words import (
    QueryTerms,
    date_words,
    fingerprint,
    index_words,
    is_always_prefix,
    is_prefix,
    take_words,
    word_hashes,
)

_TRUST = {trust.value: trust for trust in Trust}
_EQUALS = 100  # how many more are asked for, so that those as good as the last one are all there to be put in order
_FEW = 100  # entries that are not counted among the matches: up to here, it pays to count as many more
_NEAR = 12  # entries that are fetched because they share words with what is stored
_AFTER = "\x7f"  # sorts behind every character that a sort name or a folder's next character can be


class SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection, queries: Mapping[str, str], space: Space) -> None:
        self._run = connection.execute
        self._run_many = connection.executemany
        self._sql = queries
        self._space = str(space)
        self._got: dict[tuple[str, str], Row | None] = {}  # rows that this transaction has read or put
        self._counted: dict[str, Counts] = {}  # until a count changes
        self._places: dict[str, list[str]] = {}

    # Memories

    def put(self, row: Row) -> None:
        old = self.get(row.folder, row.name)
        self._run(
            self._sql["put_memory"],
            (self._space, row.folder, row.name, row.sort, row.id, row.type, row.status, row.summary,
             _as_json(row.tags), row.pinned, row.created, row.updated, row.revision, row.line, row.filed,
             row.proposed_links, row.given, row.outside),
        )  # fmt: skip
        self._got[row.folder, row.name] = row
        self._tally(old, row)
        if old is None or (old.own_summary, old.tags) != (row.own_summary, row.tags):
            self._run(self._sql["unword"], (self._space, row.folder, row.name))

    def put_earlier(self, row: Sequence[object], entries: Iterable[tuple[object, ...]]) -> None:
        """Put a row and its entries as an earlier version of the index had them."""
        known = _row(tuple(row))
        self.put(known)
        self.set_entries(known.folder, known.name, [_recorded(found) for found in entries])

    def remove(self, folder: str, name: str) -> None:
        old = self.get(folder, name)
        if old is not None:
            self._run(self._sql["remove_memory"], (self._space, folder, name))
            self._got[folder, name] = None
            self._tally(old, None)

    def saw(self, folder: str, name: str, looks: Looks) -> None:
        self._run(self._sql["saw"], (looks, self._space, folder, name))

    def seen_lines(self, folder: str) -> str:
        number, lines = self._run(self._sql["seen_lines"], (self._space, folder)).fetchone()
        self._check_count(folder, number)
        return lines or ""

    def looks(self, folder: str) -> Mapping[str, Looks | None]:
        found: dict[str, Looks | None] = dict(self._run(self._sql["looks"], (self._space, folder)))
        self._check_count(folder, len(found))
        return found

    def _check_count(self, folder: str, number: int) -> None:
        counted = self._run(self._sql["how_many"], (self._space, folder)).fetchone()
        if number != (counted[0] or 0):  # pages and lists would leave out what is there
            raise DamagedRow("the count of a folder is not that of its memories")

    def seen(self, folder: str, name: str) -> Looks | None:
        found = self._run(self._sql["seen"], (self._space, folder, name)).fetchone()
        return found[0] if found else None

    def get(self, folder: str, name: str) -> Row | None:
        if (folder, name) not in self._got:
            found = self._run(self._sql["get_memory"], (self._space, folder, name)).fetchone()
            self._got[folder, name] = _row(found) if found else None
        return self._got[folder, name]

    def rows(self, folder: str) -> Mapping[str, Row]:
        return {row.name: row for row in map(_row, self._run(self._sql["rows"], (self._space, folder)))}

    def has(self, folder: str, name: str) -> bool:
        return self._run(self._sql["has_memory"], (self._space, folder, name)).fetchone() is not None

    def by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        return self._run(self._sql["by_id"], (self._space, ident)).fetchall()

    def waiting(self) -> Sequence[Row]:
        return [_row(found) for found in self._run(self._sql["waiting"], (self._space,))]

    def folders(self, below: str) -> Sequence[str]:
        if below not in self._places:
            inside = below.rstrip("/") + "/"
            found = self._run(self._sql["folders"], (self._space, below, inside, inside[:-1] + "0"))  # 0 comes after /
            self._places[below] = [folder for (folder,) in found]
        return self._places[below]

    def generation(self, scope_folder: str) -> int | None:
        found = self._run(self._sql["generation"], (self._space, scope_folder)).fetchone()
        return int(found[0]) if found else None

    def set_generation(self, scope_folder: str, generation: int) -> None:
        self._run(self._sql["set_generation"], (self._space, scope_folder, generation))

    # Index pages

    def counts(self, folder: str, tags: int) -> Counts:
        known = self._counted.get(folder)
        if known is not None and not tags:
            return Counts(known.active, known.hidden, known.types, (), known.pinned)
        numbers: dict[str, int] = {}
        types: dict[str, int] = {}
        for kind, label, number in self._run(self._sql["counts"], (self._space, folder)):
            (types if kind == "type" else numbers)[label if kind == "type" else kind] = number
        used = self._run(self._sql["top_tags"], (self._space, folder, tags)).fetchall() if tags else []
        active = numbers.get("active", 0)
        found = Counts(active, numbers.get("rows", 0) - active, types, used, numbers.get("pinned", 0))
        self._counted[folder] = found
        return found

    def newest(self, folder: str, limit: int) -> Sequence[PageLine]:
        return self._lines("newest", folder, limit)

    def pinned(self, folder: str, limit: int) -> Sequence[PageLine]:
        return self._lines("pinned", folder, limit)

    def unfiled(self, folder: str, limit: int) -> Sequence[PageLine]:
        return self._lines("unfiled", folder, limit)

    def mark_filed(self, folder: str, *, filed: bool) -> None:
        self._got.clear()
        self._run(self._sql["mark_filed" if filed else "mark_unfiled"], (self._space, folder))

    def starting_with(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        return self._lines("starting_with", folder, prefix, prefix + _AFTER, limit)

    def count(self, folder: str, prefix: str, limit: int) -> int:
        found = self._run(self._sql["count"], (self._space, folder, prefix, prefix + _AFTER, limit)).fetchone()
        return int(found[0])

    def last_sort(self, folder: str, prefix: str) -> str | None:
        return self._sort("last_sort", folder, prefix, prefix + _AFTER)

    def next_characters(self, folder: str, prefix: str) -> Sequence[str]:
        found = self._run(self._sql["next_characters"], (self._space, folder, prefix, prefix + _AFTER))
        return [character for (character,) in found]

    # Entries

    def set_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None:
        here = (self._space, folder, name)
        self._run(self._sql["drop_words"], here)
        if self._run(self._sql["drop_vectors"], here).rowcount > 0:
            self._run(self._sql["tick_dropped"])
        threads = self._run(self._sql["threads_of"], here).fetchall()
        for no, text in self._run(self._sql["texts_of"], here).fetchall():
            self._run_many(self._sql["drop_mark"], [(mark, no) for mark in word_hashes(text, self._space)])
        self._run(self._sql["drop_entries"], here)
        for thread, turn in threads:
            self._run(self._sql["unword_thread"], (self._space, folder, thread, turn))
        for place, recorded in enumerate(entries):
            self._add(folder, name, place, recorded)

    def add_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None:
        (last,) = self._run(self._sql["last_place"], (self._space, folder, name)).fetchone()
        if last is not None:  # what was said last now has something after it
            self._run(self._sql["unword_last"], (self._space, folder, name, last))
        for place, recorded in enumerate(entries, start=0 if last is None else last + 1):
            self._add(folder, name, place, recorded)

    def close_entries(self, folder: str, name: str, end: str) -> None:
        self._run(self._sql["close_entries"], (end, self._space, folder, name))
        self._run(self._sql["tick_dropped"])

    def entries(self, folder: str, name: str) -> Sequence[EntryInterval]:
        return [_recorded(found) for found in self._run(self._sql["entries"], (self._space, folder, name))]

    def told(self, folder: str, limit: int) -> Sequence[str]:
        here = (self._space, folder, limit)
        found = (row for query in ("told_pinned", "told_newest") for row in self._run(self._sql[query], here))
        return list(dict.fromkeys(name for (name,) in found))

    def last_entries(self, folder: str, name: str, limit: int) -> Sequence[EntryInterval]:
        here = (self._space, folder, name, limit)
        return [_recorded(found) for found in self._run(self._sql["last_entries"], here)]

    def is_mixed(self, folder: str, name: str) -> bool:
        return any(True for _ in self._run(self._sql["is_mixed"], (self._space, folder, name)))

    def forgotten(self, below: str) -> Mapping[tuple[str, str], str]:
        inside = below.rstrip("/") + "/"
        found = self._run(self._sql["forgotten"], (self._space, below, inside, inside[:-1] + "0"))
        return {(folder, name): end for folder, name, end in found}

    # Finding

    def search(self, terms: QueryTerms, limit: int) -> Sequence[Match]:
        match = match_expression(terms)
        if not match:
            return []
        found = self._run(self._sql["search"], (match, limit + _EQUALS, self._space)).fetchall()
        found.sort(key=itemgetter(3), reverse=True)
        if len(found) > limit and found[limit][3] == (least := found[limit - 1][3]):
            if len(found) == limit + _EQUALS and found[-1][3] == least:  # there may be more of these
                found = self._run(self._sql["search_in_order"], (self._space, match, limit)).fetchall()
            else:
                better = [row for row in found if row[3] > least]
                found = [*better, *self._in_order([row for row in found if row[3] == least])]
        return [Match._make(row) for row in found[:limit]]

    def _in_order(self, equals: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The same rows in an order that does not depend on when each was indexed."""
        by_number = {row[0]: row for row in equals}
        return [by_number[no] for (no,) in self._run(self._sql["in_order"], (json.dumps([*by_number]),))]

    def matches(self, terms: QueryTerms, folders: Sequence[str], most: int) -> int:
        places = json.dumps([place for folder in folders for place in self.folders(folder)])
        count = 0
        # The words as they stand are found sooner than what they begin, and in a large book there are enough of them.
        for match in (match_expression(terms, whole=True), match_expression(terms)):
            if match and count < most:
                count = self._matches(match, places, most)
        return count

    def _matches(self, match: str, places: str, most: int) -> int:
        (others,) = self._run(self._sql["others"], (self._space, places, _FEW)).fetchone()
        if others < _FEW:  # so many more are enough, and it need not be looked up where each of them is
            (count,) = self._run(self._sql["matches_anywhere"], (match, most + others)).fetchone()
            if count == most + others:
                return most
        (count,) = self._run(self._sql["matches"], (match, self._space, places, most)).fetchone()
        return int(count)

    def having(self, word: str, most: int) -> Sequence[int]:
        match = f"text : {_quoted((word,), whole=True)}"
        return [no for (no,) in self._run(self._sql["having"], (match, most))]

    def alike(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        mark = fingerprint(text)
        if not mark:
            return []
        found = (row for row in self._run(self._sql["alike"], (self._space, mark)) if within(row[0], folders))
        return [CurrentEntry._make(row) for row in islice(found, limit)]

    def near(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        wanted = word_hashes(text, self._space)
        shared = Counter(no for mark in wanted for (no,) in self._run(self._sql["marked"], (mark, MOST_MARKED)))
        least = least_shared(len(wanted))
        numbers = sorted((no for no, share in shared.items() if share >= least), key=lambda no: (-shared[no], -no))[
            :_NEAR
        ]
        if not numbers:
            return []
        asked = (json.dumps(numbers), self._space)
        found = [row for row in self._run(self._sql["said"], asked).fetchall() if within(row[1], folders)]
        found.sort(key=lambda row: -shared[row[0]])  # equals stay in the order of their ids
        return [CurrentEntry._make(row[1:]) for row in found[:limit]]

    def latest(self, limit: int) -> Sequence[EntryCandidate]:
        return [_candidate(row) for row in self._run(self._sql["latest"], (self._space, limit))]

    def number(self, wanted: Wanted, most: int) -> int:
        places = {place for folder in wanted.folders for place in self.folders(folder)}
        if wanted.as_of:  # what is no longer there was said then
            places |= {place for folder in wanted.folders for place, _ in self.forgotten(folder)}
        values = (
            self._space, json.dumps(sorted(places)), json.dumps([*wanted.hidden]), wanted.type,
            json.dumps([*wanted.tags]), wanted.session, json.dumps([*wanted.authors]), wanted.since, wanted.until,
            wanted.before, wanted.as_of, most,
        )  # fmt: skip
        (count,) = self._run(self._sql["number"], values).fetchone()
        return int(count)

    def has_unfilled(self) -> bool:
        return self._run(self._sql["has_unworded"]).fetchone() is not None

    def unfilled(self, limit: int) -> Sequence[int]:
        return [no for (no,) in self._run(self._sql["unworded_numbers"], (self._space, limit))]

    def fill_words(self) -> None:
        while waiting := self._run(self._sql["unworded"]).fetchall():
            for no, text, author, when, tags, name, summary, labels, before, after in waiting:
                beside = [index_words(take_words(before or "", 40, end=True)), index_words(take_words(after or "", 40))]
                # A summary that is the beginning of the text would say it twice, and cost every search of its words.
                own = "" if not summary or text.startswith(summary.removesuffix("…").rstrip()) else summary
                about = " ".join([name, own, *_tags(labels or "[]"), *_tags(tags), author or ""])
                self._run(self._sql["drop_word"], (no,))
                words = (no, index_words(text), *beside, index_words(about), date_words(when))
                self._run(self._sql["add_words"], words)
                self._run(self._sql["mark_worded"], (no,))

    def _add(self, folder: str, name: str, place: int, recorded: EntryInterval) -> None:
        entry, turn = recorded.entry, turn_of(recorded.entry)
        added = self._run(
            self._sql["add_entry"],
            (self._space, folder, name, place, entry.id, entry.time, entry.text, entry.trust.value, entry.author,
             entry.host, entry.session, entry.occurred, entry.thread, entry.seq, turn, _as_json(entry.tags),
             recorded.start, recorded.end, fingerprint(entry.text)),
        )  # fmt: skip
        if recorded.end is None:
            hashes = word_hashes(entry.text, self._space)
            self._run_many(self._sql["put_mark"], [(mark, added.lastrowid) for mark in hashes])
        if turn is not None:
            self._run(self._sql["unword_thread"], (self._space, folder, entry.thread, turn))

    # Meaning

    def unembedded(self, model: str, limit: int) -> Sequence[tuple[int, str]]:
        query = "unembedded" if self._embedder() == model else "entries_to_embed"
        return self._run(self._sql[query], (self._space, limit)).fetchall()

    def has_unembedded(self, model: str) -> bool:
        return bool(self.unembedded(model, 1))

    def count_embedded(self, model: str) -> tuple[int, int]:
        waiting, total = self._run(self._sql["count_embedded"], (self._space,)).fetchone()
        return (total - waiting if self._embedder() == model else 0), total

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        if self._embedder() != model:
            for query in ("drop_all_vectors", "unembed_all", "tick_dropped"):
                self._run(self._sql[query])
            self._run(self._sql["set_embedder"], (model,))
        self._run_many(self._sql["put_vector"], vectors)
        self._run_many(self._sql["mark_embedded"], [(no,) for no, _ in vectors])

    def vectors(self, model: str, after: int) -> Sequence[Vector]:
        if self._embedder() != model:
            return []
        return list(map(Vector._make, self._run(self._sql["vectors"], (self._space, after))))

    def _embedder(self) -> str:
        return str(self._run(self._sql["embedder"]).fetchone()[0])

    def vectors_dropped(self) -> int:
        return int(self._run(self._sql["dropped"]).fetchone()[0])

    def candidates(self, numbers: Sequence[int]) -> Sequence[EntryCandidate]:
        found = self._run(self._sql["candidates"], (json.dumps(list(numbers)), self._space)).fetchall()
        found.sort(key=itemgetter(3, 0, 1, 14))  # as `in_order`; SQLite would move the texts about for it
        return [_candidate(row) for row in found]

    def authors(self) -> Sequence[str]:
        return [author for (author,) in self._run(self._sql["authors"], (self._space,))]

    def _lines(self, query: str, *arguments: object) -> list[PageLine]:
        return list(map(PageLine._make, self._run(self._sql[query], (self._space, *arguments))))

    def _sort(self, query: str, *arguments: str) -> str | None:
        found = self._run(self._sql[query], (self._space, *arguments)).fetchone()
        return str(found[0]) if found else None

    def _tally(self, old: Row | None, new: Row | None) -> None:
        """Count what has changed; most writes change no count at all."""
        if old is not None and new is not None and _counted_as(old) == _counted_as(new):
            return
        before, after = _labels(old), _labels(new)
        folder = (old or new).folder  # type: ignore[union-attr]  # one of them is there
        changes = [
            (self._space, folder, kind, label, after.get((kind, label), 0) - before.get((kind, label), 0))
            for kind, label in before.keys() | after.keys()
        ]
        self._run_many(self._sql["tally"], [change for change in changes if change[-1]])
        self._counted.pop(folder, None)
        if (old is None) != (new is None):
            self._places.clear()


def _counted_as(row: Row) -> tuple[object, ...]:
    return (row.status, row.type, row.pinned, row.tags)


def _labels(row: Row | None) -> dict[tuple[str, str], int]:
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


class DamagedRow(sqlite3.DatabaseError):
    """The file can be read, and what stands in it was never written by us."""


def _as_json(tags: Sequence[str]) -> str:
    return json.dumps(tags) if tags else "[]"


def _tags(text: str) -> tuple[str, ...]:
    if text == "[]":
        return ()
    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError):
        raise DamagedRow("a list of tags") from None


def _row(found: tuple[object, ...]) -> Row:
    values = list(found)
    if find_name_fault(str(values[1])):
        raise DamagedRow("a memory's name")
    values[7] = _tags(str(values[7]))
    values[8], values[13], values[15], values[16] = (bool(values[at]) for at in (8, 13, 15, 16))
    return Row(*values)  # type: ignore[arg-type]  # the columns stand in the order of the fields


def match_expression(terms: QueryTerms, *, whole: bool = False) -> str:
    """Terms in the language of FTS5: each word in quotes, so that nothing in it is an operator. Whole: without what
    only begins with one."""
    any_of = " OR ".join(_quoted(term, whole=whole) for term in terms.any_of)
    all_of = " AND ".join(
        _quoted(term, whole=True) + (" *" if is_always_prefix(term[-1]) else "") for term in terms.all_of
    )
    if all_of:  # what is quoted stands in the entry itself: neither beside it, nor as the beginning of something else
        all_of = f"{{text about}} : ({all_of})"
    if any_of and all_of:
        return f"({all_of}) AND ({any_of})"
    return all_of or any_of


def _quoted(term: Sequence[str], *, whole: bool = False) -> str:
    words = " ".join(word.replace('"', "") for word in term)
    # A single longer word also finds what it begins: `front` finds `frontmatter`.
    return f'"{words}" *' if len(term) == 1 and is_prefix(words) and not whole else f'"{words}"'


def _candidate(found: tuple[Any, ...]) -> EntryCandidate:
    row = _row(found[16:]) if found[16] is not None else None
    return EntryCandidate(found[0], found[1], _recorded(found[3:16]), row, found[2])


def _recorded(found: tuple[object, ...]) -> EntryInterval:
    ident, time, text, trust, author, host, session, occurred, thread, seq, tags, start, end = found
    trusted = _TRUST.get(trust)  # type: ignore[call-overload]  # whatever else it is, it is not one of them
    if trusted is None:
        raise DamagedRow("an entry's trust")
    stamp, said, name, labels = str(time), str(text), str(ident), _tags(str(tags))
    # By place, which is faster than by name: a recall makes a hundred of them.
    entry = Entry._make((stamp, said, name, trusted, author, host, session, occurred, thread, seq, labels, ()))
    return EntryInterval(entry, str(start), end)  # type: ignore[arg-type]
