"""The index as a plain dict: every answer by looking at all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import get_args

from commonplace.index.port import Transaction
from commonplace.index.values import Counts, EntryInterval, PageLine, PageSection, Row, StatSignature

FOLDERS = ["/memories/global", "/memories/global/people", "/memories/global-too"]
PREFIXES = ["", "a", "ab", "b", "c", "con", "con-", "_", "_e", "_e9.", "x", "zz"]


class Model:
    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Row] = {}
        self._signatures: dict[tuple[str, str], StatSignature] = {}
        self._entries: dict[tuple[str, str], tuple[EntryInterval, ...]] = {}
        self._generations: dict[str, int] = {}

    def copy(self) -> Model:
        twin = Model()
        twin._rows, twin._signatures, twin._entries = dict(self._rows), dict(self._signatures), dict(self._entries)
        twin._generations = dict(self._generations)
        return twin

    def put(self, row: Row, signature: StatSignature | None = None) -> Row | None:
        old = self._rows.get((row.folder, row.name))
        self.remove(row.folder, row.name)
        self._rows[row.folder, row.name] = row
        if signature:
            self._signatures[row.folder, row.name] = signature
        return old

    def remove(self, folder: str, name: str) -> None:
        self._rows.pop((folder, name), None)
        self._signatures.pop((folder, name), None)

    def record_stat(self, folder: str, name: str, signature: StatSignature) -> None:
        self._signatures[folder, name] = signature

    def find_by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        return [place for place in sorted(self._rows) if self._rows[place].id == ident]

    def rows_to_review(self) -> Sequence[Row]:
        rows = [self._rows[place] for place in sorted(self._rows)]
        return [row for row in rows if row.status in ("proposed", "quarantined") or row.proposed_links]

    def set_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None:
        self._entries[folder, name] = tuple(entries)

    def add_entries(
        self, folder: str, name: str, entries: Sequence[EntryInterval], close_at: str | None = None
    ) -> None:
        old = [item._replace(end=item.end or close_at) for item in self.entries(folder, name)]
        self._entries[folder, name] = (*old, *entries)

    def entries(self, folder: str, name: str) -> Sequence[EntryInterval]:
        return self._entries.get((folder, name), ())

    def forgotten(self, below: str) -> Mapping[tuple[str, str], str]:
        gone = {place: said for place, said in self._entries.items() if said and place not in self._rows}
        inside = {place: said for place, said in gone.items() if f"{place[0]}/".startswith(below.rstrip("/") + "/")}
        ends = {place: [item.end for item in said if item.end is not None] for place, said in inside.items()}
        return {place: max(found) for place, found in ends.items() if found}

    def generation(self, scope_folder: str) -> int | None:
        return self._generations.get(scope_folder)

    def set_generation(self, scope_folder: str, generation: int) -> None:
        self._generations[scope_folder] = generation

    def stat_lines(self, folder: str) -> str:
        noted = self.stat_signatures(folder).items()
        unknown = sorted(name for name, signature in noted if not signature)
        return "\n".join(unknown + sorted(f"{signature} {name}" for name, signature in noted if signature))

    def stat_signatures(self, folder: str) -> Mapping[str, StatSignature | None]:
        return {name: self._signatures.get((folder, name)) for place, name in self._rows if place == folder}

    def get(self, folder: str, name: str) -> Row | None:
        return self._rows.get((folder, name))

    def rows(self, folder: str) -> Mapping[str, Row]:
        return {row.name: row for row in self._rows.values() if row.folder == folder}

    def folders(self, below: str) -> Sequence[str]:
        places = {row.folder for row in self._rows.values()}
        return sorted(place for place in places if f"{place}/".startswith(below.rstrip("/") + "/"))

    def counts(self, folder: str, tags: int) -> Counts:
        active = self._active(folder)
        used = Counter(tag for row in active for tag in row.tags)
        by_use = sorted(used.items(), key=lambda item: (-item[1], item[0]))
        types = dict(sorted(Counter(row.type for row in active).items()))
        return Counts(
            len(active), len(self.rows(folder)) - len(active), types, by_use[:tags], sum(row.pinned for row in active)
        )

    def count_active(self, below: str) -> int:
        return sum(self.counts(folder, 0).active for folder in self.folders(below))

    def page_lines(self, section: PageSection, folder: str, limit: int) -> Sequence[PageLine]:
        rows = self._active(folder)
        if section == "newest":
            rows.sort(key=lambda row: (row.updated, row.newest, row.sort, row.name), reverse=True)
            return lines(rows)[:limit]
        return lines(row for row in rows if (row.pinned if section == "pinned" else not row.filed))[:limit]

    def mark_filed(self, folder: str, *, filed: bool, pending: Collection[str] = ()) -> None:
        for row in self._active(folder):
            self._rows[folder, row.name] = row._replace(filed=filed and row.name not in pending)

    def lines_by_prefix(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        return lines(row for row in self._active(folder) if row.sort.startswith(prefix))[:limit]

    def next_prefixes(self, folder: str, prefix: str) -> Sequence[str]:
        sorts = [row.sort for row in self.lines_by_prefix(folder, prefix, 1_000)]
        shared = 0
        while sorts and len({sort[: shared + 1] for sort in sorts}) == 1 and len(sorts[0]) > shared:
            shared += 1
        return sorted({sort[: shared + 1] for sort in sorts if len(sort) > shared})

    def topics(self, folder: str, limit: int) -> Sequence[str]:
        sorts = [row.sort for row in self.lines_by_prefix(folder, "@", 1_000)]
        return sorted({sort[: sort.index("@", 1) + 1] for sort in sorts})[:limit]

    def _active(self, folder: str) -> list[Row]:
        found = [row for row in self._rows.values() if row.folder == folder and row.status == "active"]
        return sorted(found, key=lambda row: (row.sort, row.name))


def lines(rows: Iterable[Row]) -> list[PageLine]:
    return [PageLine(row.name, row.sort, row.line) for row in rows]


def answers(index: Transaction | Model) -> dict[str, object]:
    """The answers to every question that the port can be asked."""
    found: dict[str, object] = {below: list(index.folders(below)) for below in ("/", "/memories", *FOLDERS)}
    found["forgotten"] = [dict(index.forgotten(below)) for below in ("/", *FOLDERS)]
    for folder in FOLDERS:
        counts = index.counts(folder, 2)
        found[f"{folder} counts"] = (counts.active, counts.hidden, dict(counts.types), list(counts.tags), counts.pinned)
        found[f"{folder} rows"] = dict(index.rows(folder))
        found[f"{folder} generation"] = index.generation(folder)
        found[f"{folder} waiting"] = list(index.rows_to_review())
        found[f"{folder} ids"] = [list(index.find_by_id(ident)) for ident in ("", "one")]
        found[f"{folder} entries"] = [list(index.entries(folder, name)) for name in ("a", "ab", "b", "con", "é")]
        found[f"{folder} signature"] = dict(index.stat_signatures(folder))
        found[f"{folder} lines"] = index.stat_lines(folder)
        found[f"{folder} each"] = [
            index.get(folder, name) for name in ("a", "ab", "b", "con", "é", *sorted(index.rows(folder)))
        ]
        for limit in (0, 1, 3, 1_000):
            for section in get_args(PageSection):
                found[f"{folder} {section} {limit}"] = list(index.page_lines(section, folder, limit))
            for prefix in PREFIXES:
                found[f"{folder} {prefix} {limit}"] = list(index.lines_by_prefix(folder, prefix, limit))
        for prefix in PREFIXES:
            found[f"{folder} {prefix}"] = list(index.next_prefixes(folder, prefix))
    return found
