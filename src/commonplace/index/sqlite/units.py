"""Units of the tree in SQLite: looked up by their ids, by what they mention, and by when they were.

The tree has an index of its own; in the index of memories these tables are empty. `SqliteTransaction` has the methods.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter

from commonplace.index.sqlite.rows import MemoryRows, decode_candidate
from commonplace.index.units import Label, LabelCount, UnitSpan
from commonplace.index.values import EntryCandidate, Window, is_summary_folder
from commonplace.text.words import fold_text

LAST = "\uffff"  # sorts behind every moment
WindowBounds = tuple[str, str | None, str, str, str | None]
"""A window as the values of a query: the space, the folders (None: all there are, which costs nothing to compare), the
first and the last moment, and the numbers."""


class UnitRows(MemoryRows):
    """What the port asks of units and of their labels, in one space."""

    def _bounds(self, window: Window) -> WindowBounds:
        places = {
            place
            for folder in window.folders
            for place in self.folders(folder)
            if place == folder or not is_summary_folder(place)
        }
        only = json.dumps(sorted(window.only)) if window.only is not None else None
        is_everywhere = places >= {*self._column("all_folders")}
        folders = None if is_everywhere else json.dumps(sorted(places))
        return self._space, folders, window.since, window.until or LAST, only

    def units(self, idents: Collection[str]) -> Sequence[EntryCandidate]:
        """Return the current units with these ids, by id."""
        found = self._run("units", json.dumps(sorted(idents)), self._space).fetchall()
        return list(map(decode_candidate, sorted(found, key=itemgetter(3, 0, 1))))

    def unlabelled(self, limit: int) -> Sequence[int]:
        """Return the numbers of units whose labels were not put yet, in order."""
        return self._column("unlabelled", limit)

    def put_labels(self, labels: Mapping[int, Collection[Label]]) -> None:
        """Record what each of these units mentions."""
        shown = {label for some in labels.values() for label in some}
        self._run_each("put_label", [(one.name, one.surface, fold_text(f"{one.surface} {one.name}")) for one in shown])
        self._run_each("put_mention", [(label.name, no) for no, some in labels.items() for label in some])
        self._run_each("mark_labelled", [(no,) for no in labels])

    def unlabel_all(self) -> None:
        """Have the labels of all units put again."""
        self._run("unlabel_all")

    def find_labels(self, words: Collection[str], kinds: Collection[str], limit: int) -> Sequence[Label]:
        """Return labels of these kinds that have all of some words in their name or surface."""
        folded = [fold_text(word) for word in words]
        return list(map(Label._make, self._run("find_labels", json.dumps(list(kinds)), json.dumps(folded), limit)))

    def count_mentions(self, names: Collection[str]) -> Sequence[LabelCount]:
        """Return how many units mention each of these labels, and when the last one was."""
        found = self._run("count_mentions", json.dumps(sorted(names)), self._space)
        return list(map(LabelCount._make, found))

    def mentioning(self, names: Collection[str], window: Window, limit: int) -> Sequence[int]:
        """Return the numbers of the units in a time that mention one of these labels, latest first."""
        since, until = window.since, window.until or LAST
        found = self._run("mentioning", json.dumps(sorted(names)), self._space, since, until, limit)
        return [no for (no,) in found]

    def labels_of(self, numbers: Collection[int]) -> Mapping[int, Sequence[str]]:
        """Return the names of what each of these units mentions."""
        found: dict[int, list[str]] = {}
        for no, name in self._run("labels_of", json.dumps(sorted(numbers))):
            found.setdefault(no, []).append(name)
        return found

    def in_window(self, window: Window, limit: int) -> Sequence[int]:
        """Return the numbers of the current entries in a window, latest first."""
        return [no for (no,) in self._run("in_window", *self._bounds(window), limit)]

    def last_number(self) -> int:
        """Return the greatest number of an entry."""
        (number,) = self._run("last_number").fetchone()
        return int(number)

    def measure(self, window: Window) -> UnitSpan:
        """Return how many current entries are in a window, and from when to when."""
        return UnitSpan._make(self._run("measure", *self._bounds(window)).fetchone())

    def count_addresses(self) -> Sequence[tuple[str, str, int]]:
        """Return the authors of units with their address, and how many units have both."""
        return self._run("count_addresses", self._space).fetchall()

    def count_labels(self, kinds: Collection[str]) -> int:
        """Return how many labels of these kinds there are."""
        (number,) = self._run("count_labels", json.dumps(list(kinds))).fetchone()
        return int(number)

    def count_authors(self, window: Window, limit: int) -> Sequence[tuple[str, int]]:
        """Return who wrote most of what is in a window, and how much, most first."""
        return self._run("count_authors", *self._bounds(window), limit).fetchall()
