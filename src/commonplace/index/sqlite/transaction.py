"""The transaction of the index in SQLite: each method of the port, as named queries of queries.sql.

`database.py` opens one for changes, or one for a hook that only reads.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter

from commonplace.index.port import MOST_MARKED
from commonplace.index.sqlite.nodes import NodeRows
from commonplace.index.sqlite.rows import (
    decode_candidate,
    decode_entry,
    decode_tags,
    encode_extra,
    encode_tags,
    match_expression,
    range_below,
)
from commonplace.index.sqlite.units import LAST, WindowBounds
from commonplace.index.values import (
    WISHES,
    BriefCandidate,
    BriefRow,
    CurrentEntry,
    EntryCandidate,
    EntryFilter,
    EntryInterval,
    LaterNote,
    Match,
    PendingText,
    Vector,
    Window,
    is_in_folders,
    is_of_tree,
    least_shared,
    text_to_embed,
    turn_of,
)
from commonplace.text.words import (
    QueryTerms,
    date_words,
    fingerprint,
    index_words,
    split_words,
    take_words,
    word_hashes,
)

_EQUALS = 100  # how many more are fetched, so that all entries as good as the last one can be put in order
_FEW = 100  # entries that are not counted among the matches: up to here, it pays to count as many more
_SIMILAR = 12  # entries that are fetched because they share words with what is stored


class SqliteTransaction(NodeRows):
    """What the port asks of memories and of their entries, in one space."""

    def set_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None:
        """Replace all entries of a memory, with their words, marks and vectors. Where they are the same, these stay: a
        copied or touched file says what it said, and embedding it again takes long."""
        if list(entries) == self.entries(folder, name):
            return
        for query in ("drop_words", "drop_beside"):
            self._run_here(query, folder, name)
        self._run_here("drop_mentions", folder, name)
        if self._run_here("drop_vectors", folder, name).rowcount > 0:
            self._run("tick_dropped")
        threads = self._run_here("threads_of", folder, name).fetchall()
        if not is_of_tree(folder):  # which has no marks
            for no, text in self._run_here("texts_of", folder, name).fetchall():
                self._run_each("drop_mark", [(mark, no) for mark in word_hashes(text, self._space)])
        self._run_here("drop_entries", folder, name)
        for thread, turn in threads:
            self._run_here("unword_thread", folder, thread, turn)
        for place, recorded in enumerate(entries):
            self._add(folder, name, place, recorded)

    def add_entries(
        self, folder: str, name: str, entries: Sequence[EntryInterval], close_at: str | None = None
    ) -> None:
        """Add entries after those of a memory; `close_at` first ends all that are current, at this time."""
        if close_at is not None:
            self._run("close_entries", close_at, self._space, folder, name)
            self._run("tick_dropped")
            for thread, turn in self._run_here("threads_of", folder, name).fetchall():
                self._run_here("unword_thread", folder, thread, turn)
        last = self._value("last_place", folder, name)
        if last is not None:  # the last entry has another one after it now
            self._run_here("unword_last", folder, name, last)
        for place, recorded in enumerate(entries, start=0 if last is None else last + 1):
            self._add(folder, name, place, recorded)

    def _add(self, folder: str, name: str, place: int, recorded: EntryInterval) -> None:
        entry, turn = recorded.entry, turn_of(recorded.entry)
        tags = encode_tags(entry.tags)
        # Nobody stores near duplicates of what is in the tree: it needs neither a print nor marks.
        is_memory = not is_of_tree(folder)
        marks = word_hashes(entry.text, self._space) if is_memory and recorded.end is None else ()
        added = self._run_here(
            "add_entry", folder, name, place, entry.id, entry.time, entry.text, entry.trust.value,
            *entry[4:10],  # author to seq
            turn, tags, encode_extra(entry.extra), recorded.start, recorded.end, entry.occurred or entry.time,
            fingerprint(entry.text) if is_memory else "",
        )  # fmt: skip
        self._run_each("put_mark", [(mark, added.lastrowid) for mark in marks])
        if turn is not None:
            self._run_here("unword_thread", folder, entry.thread, turn)

    def entries(self, folder: str, name: str) -> Sequence[EntryInterval]:
        """Return all entries of a memory, past ones included, in order."""
        return list(map(decode_entry, self._run_here("entries", folder, name)))

    def forgotten(self, below: str) -> Mapping[tuple[str, str], str]:
        """Return the memories that are gone but have closed entries, with the latest end of these."""
        found = self._run_here("forgotten", *range_below(below))
        return {(folder, name): end for folder, name, end in found}

    # The brief

    def brief_candidates(self, folder: str, limit: int) -> Sequence[BriefCandidate]:
        """Return active memories: the first pinned ones by name, the newest of the user's wishes, the newest of all."""
        types = {label for kind, label, _ in self._run_here("counts", folder) if kind in ("type", "pinned")}
        queries = ["brief_newest"]
        if types.intersection(WISHES):  # else there is nothing to look for
            queries.insert(0, "brief_wishes")
        if "" in types:
            queries.insert(0, "brief_pinned")
        rows = [row for query in queries for row in self._run_here(query, folder, limit)]
        found = {row[0]: BriefCandidate(*row) for row in rows}
        return [candidate._replace(pinned=bool(candidate.pinned)) for candidate in found.values()]

    def brief_row(self, folder: str, name: str, entries: int) -> BriefRow | None:
        """Return a memory with the last few of its current entries; None when there is none."""
        row = self.get(folder, name)
        if row is None:
            return None
        last = map(decode_entry, self._run_here("last_entries", folder, name, entries))
        is_mixed = self._value("is_mixed", folder, name) is not None
        later = self._run_here("later_note", folder, name).fetchone()
        return BriefRow(
            row,
            tuple(last),
            self._value("stat_signature", folder, name),
            is_mixed,
            LaterNote(later[0], later[1], decode_tags(later[2])) if later is not None else None,
        )

    # Recall

    def search(self, terms: QueryTerms, limit: int, window: Window | None = None) -> Sequence[Match]:
        """Return the entries that match, best first; equals at the limit are cut by their ids."""
        match = match_expression(terms)
        if not match:
            return []
        if window is not None:
            return list(map(Match._make, self._run("search_window", match, *self._bounds(window), limit)))
        found = self._run("search", match, limit + _EQUALS, self._space).fetchall()
        found.sort(key=itemgetter(4), reverse=True)
        if len(found) > limit and found[limit][4] == (least := found[limit - 1][4]):
            if len(found) == limit + _EQUALS and found[-1][4] == least:  # there may be more of these
                found = self._run_here("search_in_order", match, limit).fetchall()
            else:
                better = [row for row in found if row[4] > least]
                equals = {row[0]: row for row in found if row[4] == least}
                # In an order that does not depend on when each was indexed.
                found = [*better, *(equals[no] for (no,) in self._run("in_order", json.dumps([*equals])))]
        return [Match._make(row) for row in found[:limit]]

    def count_matches(self, terms: QueryTerms, window: Window, most: int) -> int:
        """Return how many current entries match in a window, counting up to `most`."""
        bounds, count = self._bounds(window), 0
        # Whole words are found sooner than what they begin, and in a large book there are enough of them.
        for match in (match_expression(terms, whole=True), match_expression(terms)):
            if match and count < most:
                count = self._count_matches(match, bounds, most)
        return count

    def _count_matches(self, match: str, bounds: WindowBounds, most: int) -> int:
        _, places, since, until, only = bounds
        # What is not in the window: so many more are enough, and the place of each need not be looked up.
        places = places if places is not None else json.dumps(self._column("all_folders"))
        others = self._value("others", places, _FEW) if (since, until, only) == ("", LAST, None) else _FEW
        if others < _FEW:
            (count,) = self._run("matches_anywhere", match, most + others).fetchone()
            if count == most + others or not others:
                return min(int(count), most)
        (count,) = self._run("matches", match, *bounds, most).fetchone()
        return int(count)

    def latest_entries(self, limit: int) -> Sequence[EntryCandidate]:
        """Return entries by when they happened or were recorded, latest first."""
        return list(map(decode_candidate, self._run_here("latest", limit)))

    def count_entries(self, wanted: EntryFilter, most: int) -> int:
        """Return how many entries pass a filter, counting up to `most`."""
        places = {place for folder in wanted.folders for place in self.folders(folder)}
        if wanted.as_of:  # memories that are gone now were there then
            places |= {place for folder in wanted.folders for place, _ in self.forgotten(folder)}
        count = self._value(
            "number", json.dumps(sorted(places)), json.dumps([*wanted.hidden]), wanted.type,
            json.dumps([*wanted.tags]), wanted.session, json.dumps([*wanted.authors]), wanted.since, wanted.until,
            wanted.as_of, most,
        )  # fmt: skip
        return int(count)

    def candidates(self, numbers: Sequence[int]) -> Sequence[EntryCandidate]:
        """Return the entries with these numbers, in the order of their ids."""
        found = self._run("candidates", json.dumps(list(numbers)), self._space).fetchall()
        found.sort(key=itemgetter(3, 0, 1, 15))  # as `in_order`; SQLite would move the texts about for it
        return list(map(decode_candidate, found))

    def linked_entries(self, links: Collection[str], places: Sequence[tuple[str, str]]) -> Sequence[EntryCandidate]:
        """Return the current entries of memories that have one of these links, or are in one of these places."""
        found = self._run_here("linked", json.dumps(list(links))).fetchall()
        if places:
            found += self._run("in_places", json.dumps(places), self._space)
        return list(map(decode_candidate, sorted(set(found), key=itemgetter(3, 0, 1, 15))))

    def authors_named(self, words: Collection[str]) -> Sequence[str]:
        """Return the authors whose names have one of these words."""
        return self._column("named_authors", json.dumps(sorted(words)))

    def find_same_words(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        """Return current entries with the fingerprint of a text."""
        mark = fingerprint(text)
        if not mark:
            return []
        found = (row for row in self._run_here("same_words", mark) if is_in_folders(row[0], folders))
        return [CurrentEntry._make(row) for row in islice(found, limit)]

    def find_similar(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        """Return current entries that share telling words with a text, most first."""
        wanted = word_hashes(text, self._space)
        found = chain.from_iterable(self._run("marked", mark, MOST_MARKED) for mark in wanted)
        least = least_shared(len(wanted))
        shared = {no: share for (no,), share in Counter(found).items() if share >= least}
        numbers = sorted(shared, key=lambda no: (-shared[no], -no))[:_SIMILAR]
        if not numbers:
            return []
        entries = self._run("current_entries", json.dumps(numbers), self._space).fetchall()
        inside = [row for row in entries if is_in_folders(row[1], folders)]
        inside.sort(key=lambda row: -shared[row[0]])  # equals stay in the order of their ids
        return [CurrentEntry._make(row[1:]) for row in inside[:limit]]

    # The full-text index, which a search brings up to date and a store does not

    def has_unfilled(self) -> bool:
        """Return whether there is anything for `fill_words` to do."""
        return self._run("has_unworded").fetchone() is not None

    def unfilled(self, limit: int) -> Sequence[int]:
        """Return the numbers of current entries that `search` may miss, latest first."""
        return self._column("unworded_numbers", limit)

    def fill_words(self) -> None:
        """Put the words of every entry that waits into the full-text index, with some of those beside it."""
        while waiting := self._run("unworded").fetchall():
            self._add_authors({row[2] for row in waiting if row[2]})
            for no, text, author, when, tags, name, summary, labels, before, after in waiting:
                beside = [index_words(take_words(before or "", 40, end=True)), index_words(take_words(after or "", 40))]
                # A summary that is the beginning of the text would say it twice, and cost every search of its words.
                own = "" if not summary or text.startswith(summary.removesuffix("…").rstrip()) else summary
                about = " ".join([name, own, *decode_tags(labels or "[]"), *decode_tags(tags), author or ""])
                words = index_words(text)
                rest = (*beside, index_words(about), date_words(when))
                self._run("drop_word", no)
                self._run("put_beside", no, None if words == text else words, *rest)
                self._run("add_words", no, words, *rest)
                self._run("mark_worded", no)

    def _add_authors(self, authors: Collection[str]) -> None:
        names = [(self._space, word, author) for author in authors for word in split_words(author)]
        self._run_each("put_author_name", names)

    # Embeddings

    def unembedded(self, model: str, limit: int) -> Sequence[PendingText]:
        """Return the texts of entries that have no vector of this model yet."""
        query = "unembedded" if self._embedder() == model else "entries_to_embed"
        return [
            PendingText(no, text, is_turn=True)
            if thread is not None
            else PendingText(no, text_to_embed(text, name, decode_tags(labels) + decode_tags(tags)))
            for no, thread, name, labels, tags, text in self._run_here(query, limit)
        ]

    def count_embedded(self, model: str) -> tuple[int, int]:
        """Return how many entries have a vector of this model, and how many entries there are."""
        waiting, total = self._run_here("count_embedded").fetchone()
        return (total - waiting if self._embedder() == model else 0), total

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Keep a vector for each of these entries; the first of another model drops all there are."""
        if self._embedder() != model:
            for query in ("drop_all_vectors", "unembed_all", "tick_dropped"):
                self._run(query)
            self._run("set_embedder", model)
        self._run_each("put_vector", vectors)
        self._run_each("mark_embedded", [(no,) for no, _ in vectors])

    def uncompared(self, limit: int) -> Sequence[int]:
        """Return the numbers of entries with a vector that nothing was compared with yet."""
        return self._column("uncompared", limit)

    def set_later(self, found: Mapping[int, int]) -> None:
        """Record which later entry may contradict each of these; 0: none does."""
        self._run_each("set_later", [(later, no) for no, later in found.items()])

    def vectors(self, model: str, after: int) -> Sequence[Vector]:
        """Return the vectors of this model for entries beyond a number, in order."""
        if self._embedder() != model:
            return []
        return list(map(Vector._make, self._run_here("vectors", after)))

    def vectors_dropped(self) -> int:
        """Return a number that changes once a vector is removed or its entry closed."""
        return int(self._run("dropped").fetchone()[0])

    def _embedder(self) -> str:
        return str(self._run("embedder").fetchone()[0])
