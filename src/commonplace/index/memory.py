"""The index's twin in memory: for tests, and all there is until the database comes."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter

from commonplace.index.port import Counts, Looks, Row, Transaction
from commonplace.model.space import Space

_AFTER = "\x7f"  # sorts behind every character a sort name can have


class _Folder:
    """The memories of one folder, kept in the orders that pages ask for."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.by_sort: list[tuple[str, str]] = []
        self.by_time: list[tuple[str, str, str]] = []
        self.types: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.looks: dict[str, Looks] = {}
        self.pinned: set[str] = set()
        self.unfiled: set[str] = set()

    def put(self, row: Row) -> None:
        self.remove(row.name)
        self.rows[row.name] = row
        if row.status != "active":
            return
        insort(self.by_sort, (row.sort, row.name))
        insort(self.by_time, _time_key(row))
        self.types[row.type] += 1
        self.tags.update(row.tags)
        if row.pinned:
            self.pinned.add(row.name)
        if not row.filed:
            self.unfiled.add(row.name)

    def rows_of(self, names: Iterable[str]) -> list[Row]:
        return [self.rows[name] for name in names]

    def remove(self, name: str) -> Row | None:
        row = self.rows.pop(name, None)
        self.looks.pop(name, None)
        if row is None or row.status != "active":
            return row
        del self.by_sort[bisect_left(self.by_sort, (row.sort, row.name))]
        del self.by_time[bisect_left(self.by_time, _time_key(row))]
        self.types[row.type] -= 1
        self.tags.subtract(row.tags)
        self.pinned.discard(name)
        self.unfiled.discard(name)
        return row


_sort_key = attrgetter("sort", "name")


def _by_use(item: tuple[str, int]) -> tuple[int, str]:
    return (-item[1], item[0])


def _time_key(row: Row) -> tuple[str, str, str]:
    return (row.updated, row.sort, row.name)


class MemoryTransaction:
    def __init__(self, folders: dict[str, _Folder]) -> None:
        self._folders = folders
        self._undo: list[tuple[str, str, Row | None, Looks | None]] = []

    def put(self, row: Row) -> None:
        self._remember(row.folder, row.name)
        self._folders[row.folder].put(row)

    def remove(self, folder: str, name: str) -> None:
        self._remember(folder, name)
        self._folders[folder].remove(name)

    def saw(self, folder: str, name: str, looks: Looks) -> None:
        self._remember(folder, name)
        self._folders[folder].looks[name] = looks

    def looks(self, folder: str) -> Mapping[str, Looks]:
        return dict(self._folders[folder].looks) if folder in self._folders else {}

    def get(self, folder: str, name: str) -> Row | None:
        return self._folders[folder].rows.get(name) if folder in self._folders else None

    def rows(self, folder: str) -> Mapping[str, Row]:
        return dict(self._folders[folder].rows) if folder in self._folders else {}

    def folders(self, below: str) -> Sequence[str]:
        inside = below.rstrip("/") + "/"
        return sorted(
            name for name, held in self._folders.items() if held.rows and (name == below or name.startswith(inside))
        )

    def counts(self, folder: str, tags: int) -> Counts:
        held = self._folders.get(folder) or _Folder()
        used = sorted(((tag, n) for tag, n in held.tags.items() if n > 0), key=_by_use) if tags else []
        types = {name: n for name, n in sorted(held.types.items()) if n > 0}
        return Counts(len(held.by_sort), len(held.rows) - len(held.by_sort), types, used[:tags])

    def newest(self, folder: str, limit: int) -> Sequence[Row]:
        held = self._folders.get(folder) or _Folder()
        return held.rows_of(name for _, _, name in held.by_time[: -limit - 1 : -1])

    def pinned(self, folder: str, limit: int) -> Sequence[Row]:
        held = self._folders.get(folder) or _Folder()
        return self._sorted(held, held.pinned)[:limit]

    def unfiled(self, folder: str, limit: int) -> Sequence[Row]:
        held = self._folders.get(folder) or _Folder()
        return self._sorted(held, held.unfiled)[:limit]

    def mark_filed(self, folder: str, *, filed: bool) -> None:
        held = self._folders.get(folder) or _Folder()
        names = held.unfiled if filed else {name for _, name in held.by_sort} - held.unfiled
        for row in self._sorted(held, names):
            self._remember(folder, row.name)
            held.rows[row.name] = replace(row, filed=filed)
            (held.unfiled.discard if filed else held.unfiled.add)(row.name)

    def starting_with(self, folder: str, prefix: str, limit: int) -> Sequence[Row]:
        held = self._folders.get(folder) or _Folder()
        start = bisect_left(held.by_sort, (prefix, ""))
        stop = bisect_left(held.by_sort, (prefix + _AFTER, ""))
        return held.rows_of(name for _, name in held.by_sort[start : min(stop, start + limit)])

    def count(self, folder: str, prefix: str, limit: int) -> int:
        by_sort = self._folders[folder].by_sort if folder in self._folders else []
        return min(limit, bisect_left(by_sort, (prefix + _AFTER, "")) - bisect_left(by_sort, (prefix, "")))

    def last_sort(self, folder: str, prefix: str) -> str | None:
        held = self._folders.get(folder) or _Folder()
        at = bisect_left(held.by_sort, (prefix + _AFTER, "")) - 1
        return held.by_sort[at][0] if at >= 0 and held.by_sort[at][0].startswith(prefix) else None

    def next_characters(self, folder: str, prefix: str) -> Sequence[str]:
        held = self._folders.get(folder) or _Folder()
        found: list[str] = []
        at = bisect_left(held.by_sort, (prefix, ""))
        while at < len(held.by_sort) and held.by_sort[at][0].startswith(prefix):
            following = held.by_sort[at][0][len(prefix) : len(prefix) + 1]
            if following:
                found.append(following)
            at = bisect_left(held.by_sort, (prefix + following + (_AFTER if following else "\0"), ""))
        return found

    def undo(self) -> None:
        for folder, name, row, looks in reversed(self._undo):
            held = self._folders[folder]
            held.remove(name)
            if row is not None:
                held.put(row)
            if looks is not None:
                held.looks[name] = looks

    def _remember(self, folder: str, name: str) -> None:
        held = self._folders.setdefault(folder, _Folder())
        self._undo.append((folder, name, held.rows.get(name), held.looks.get(name)))

    @staticmethod
    def _sorted(held: _Folder, names: set[str]) -> list[Row]:
        return sorted(held.rows_of(names), key=_sort_key)


class MemoryIndex:
    def __init__(self) -> None:
        self._spaces: dict[Space, dict[str, _Folder]] = {}
        self._writer = threading.RLock()

    @contextmanager
    def transaction(self, space: Space) -> Iterator[Transaction]:
        with self._writer:
            transaction = MemoryTransaction(self._spaces.setdefault(space, {}))
            try:
                yield transaction
            except BaseException:
                transaction.undo()
                raise
