"""A second index, of plain dicts: the conformance suite runs on it too, so that it tests the port and not SQLite."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import attrgetter

from commonplace.index.port import T, Transaction
from commonplace.index.units import UnitSpan
from commonplace.index.values import (
    WISHES,
    BriefCandidate,
    BriefRow,
    Counts,
    CurrentEntry,
    EntryCandidate,
    EntryFilter,
    EntryInterval,
    LaterNote,
    Match,
    PageLine,
    PageSection,
    PendingText,
    Row,
    StatSignature,
    Vector,
    Window,
    is_in_folders,
    is_of_tree,
    least_shared,
    text_to_embed,
    turn_of,
)
from commonplace.model.errors import StorageError
from commonplace.model.memory import Trust
from commonplace.model.names import short_hash
from commonplace.model.scope import Space
from commonplace.text.words import QueryTerms, fingerprint, index_words, normalize_words, split_words, stem, word_hashes
from tests.index.memory_nodes import LabelState, MemoryNodes, NodeState


def accepts(wanted: EntryFilter, item: EntryCandidate) -> bool:
    """Return whether an entry passes the filter."""
    entry, start, end, row = item.entry, item.start, item.end, item.row
    if wanted.as_of:
        is_there = start <= wanted.as_of and (end is None or end > wanted.as_of)
    else:
        is_there = end is None and row is not None
    if not is_there or not is_in_folders(item.folder, wanted.folders):
        return False
    if row is not None and (
        row.status in wanted.hidden
        or wanted.type not in ("", row.type)
        or not {*wanted.tags}.issubset((*row.tags, *entry.tags))
    ):
        return False
    when = entry.occurred or entry.time
    is_in_time = wanted.since <= when <= (wanted.until or when)
    is_in_session = wanted.session is None or entry.session == wanted.session
    return is_in_time and is_in_session and (not wanted.authors or entry.author in wanted.authors)


class _Folder:
    """The memories of one folder."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.signatures: dict[str, StatSignature] = {}
        self.entries: dict[str, tuple[EntryInterval, ...]] = {}
        self.generation: int | None = None

    def put(self, row: Row) -> None:
        self.remove(row.name)
        self.rows[row.name] = row

    def remove(self, name: str) -> None:
        self.rows.pop(name, None)
        self.signatures.pop(name, None)

    def active(self, prefix: str = "") -> list[Row]:
        """Return the active memories whose sort name starts with a prefix, in the order of pages."""
        found = [row for row in self.rows.values() if row.status == "active" and row.sort.startswith(prefix)]
        return sorted(found, key=attrgetter("sort", "name"))

    def by_time(self) -> list[Row]:
        """Return the active memories, newest first."""
        return sorted(self.active(), key=attrgetter("updated", "newest", "sort", "name"), reverse=True)


def _lines(rows: Iterable[Row]) -> list[PageLine]:
    return [PageLine(row.name, row.sort, row.line) for row in rows]


class _Meanings:
    """The vectors of one space, by the number of their entry."""

    def __init__(self) -> None:
        self.vectors: dict[int, tuple[str, bytes]] = {}
        self.later: dict[int, int] = {}
        self.dropped = 0


class MemoryTransaction(MemoryNodes):
    def __init__(self, folders: dict[str, _Folder], meanings: _Meanings, labels: LabelState, nodes: NodeState) -> None:
        super().__init__(nodes, labels)
        self._folders = folders
        self._meanings = meanings
        self._vectors_before, self._dropped_before = dict(meanings.vectors), meanings.dropped
        self._undo: list[tuple[str, str, Row | None, StatSignature | None, tuple[EntryInterval, ...]]] = []

        self._generations: list[tuple[_Folder, int | None]] = []

    def put(self, row: Row, signature: StatSignature | None = None) -> Row | None:
        self._remember(row.folder, row.name)
        old = self.get(row.folder, row.name)
        self.mark_file(row.folder, row.name, old, row)
        self._folders[row.folder].put(row)
        if signature:
            self._folders[row.folder].signatures[row.name] = signature
        return old

    def remove(self, folder: str, name: str) -> None:
        self._remember(folder, name)
        self.mark_file(folder, name, self.get(folder, name), None)
        self._folders[folder].remove(name)

    def record_stat(self, folder: str, name: str, signature: StatSignature) -> None:
        self._remember(folder, name)
        self._folders[folder].signatures[name] = signature

    def stat_lines(self, folder: str) -> str:
        noted = self.stat_signatures(folder).items()
        unknown = sorted(name for name, signature in noted if not signature)
        return "\n".join(unknown + sorted(f"{signature} {name}" for name, signature in noted if signature))

    def stat_signatures(self, folder: str) -> Mapping[str, StatSignature | None]:
        held = self._held(folder)
        return {name: held.signatures.get(name) for name in held.rows}

    def get(self, folder: str, name: str) -> Row | None:
        return self._folders[folder].rows.get(name) if folder in self._folders else None

    def rows(self, folder: str) -> Mapping[str, Row]:
        return dict(self._folders[folder].rows) if folder in self._folders else {}

    def generation(self, scope_folder: str) -> int | None:
        held = self._folders.get(scope_folder)
        return held.generation if held is not None else None

    def set_generation(self, scope_folder: str, generation: int) -> None:
        held = self._folder(scope_folder)
        self._generations.append((held, held.generation))
        held.generation = generation

    def find_by_id(self, ident: str) -> Sequence[tuple[str, str]]:
        return sorted(
            (folder, name)
            for folder, held in self._folders.items()
            for name, row in held.rows.items()
            if row.id == ident
        )

    def rows_to_review(self) -> Sequence[Row]:
        rows = [row for held in self._folders.values() for row in held.rows.values()]
        found = [row for row in rows if row.status in ("proposed", "quarantined") or row.proposed_links]
        return sorted(found, key=attrgetter("folder", "name"))

    def set_entries(self, folder: str, name: str, entries: Sequence[EntryInterval]) -> None:
        if tuple(entries) == tuple(self.entries(folder, name)):
            return
        self._remember(folder, name)
        self.mark_units([*self.entries(folder, name), *entries])
        old = [_number(folder, name, place) for place in range(len(self.entries(folder, name)))]
        self.drop_mentions(old)
        gone = [number for number in old if self._meanings.vectors.pop(number, None) is not None]
        self._meanings.dropped += bool(gone)
        self._folders[folder].entries[name] = tuple(entries)

    def add_entries(
        self, folder: str, name: str, entries: Sequence[EntryInterval], close_at: str | None = None
    ) -> None:
        self._remember(folder, name)
        old = self.entries(folder, name)
        self.mark_units([*entries, *(item for item in old if close_at is not None and item.end is None)])
        if close_at is not None:
            self.drop_mentions(_number(folder, name, place) for place, item in enumerate(old) if item.end is None)
            old = [item if item.end else item._replace(end=close_at) for item in old]
            self._meanings.dropped += 1
        self._folders[folder].entries[name] = (*old, *entries)

    def entries(self, folder: str, name: str) -> Sequence[EntryInterval]:
        return self._folders[folder].entries.get(name, ()) if folder in self._folders else ()

    def brief_row(self, folder: str, name: str, entries: int) -> BriefRow | None:
        row = self.get(folder, name)
        if row is None:
            return None
        current = [item for item in reversed(self.entries(folder, name)) if item.end is None]
        ours = [item for item in current if item.entry.trust is not Trust.EXTERNAL]
        signature = self._folders[folder].signatures.get(name)
        return BriefRow(row, tuple(ours[:entries]), signature, len(ours) < len(current), self._later(folder, name))

    def _later(self, folder: str, name: str) -> LaterNote | None:
        current = [item for item in self._said() if item.end is None]
        own = [item.no for item in current if (item.folder, item.name) == (folder, name)]
        wanted = self._meanings.later.get(own[-1], 0) if own else 0
        found = next((item.row for item in current if item.no == wanted), None)
        if found is None or found.status != "active":
            return None
        return LaterNote(found.folder, found.name, found.linked)

    def brief_candidates(self, folder: str, limit: int) -> Sequence[BriefCandidate]:
        held = self._held(folder)
        newest = list(held.by_time())
        pinned = [row for row in held.active() if row.pinned]
        wishes = [row for row in newest if row.type in WISHES]
        found: dict[str, BriefCandidate] = {}
        for rows in (pinned, wishes, newest):
            told = [brief for row in rows if (brief := self.brief_row(folder, row.name, 1)) and brief.entries]
            for row, entries, *_ in told[:limit]:
                trust = entries[0].entry.trust.value
                found[row.name] = BriefCandidate(row.name, row.type, row.pinned, row.updated, row.newest, trust)
        return list(found.values())

    def search(self, terms: QueryTerms, limit: int, window: Window | None = None) -> Sequence[Match]:
        said = self._said() if window is None else self._in_window(window)
        found = [(-score, _order(item), item) for item in said if (score := _score(item, terms)) > 0]
        best = sorted(found, key=lambda scored: scored[:2])[:limit]
        return [Match(item.no, item.folder, item.entry.thread, item.entry.author, -score) for score, _, item in best]

    def forgotten(self, below: str) -> Mapping[tuple[str, str], str]:
        inside = below.rstrip("/") + "/"
        return {
            (folder, name): max(ends)
            for folder, held in self._folders.items()
            for name, entries in held.entries.items()
            if name not in held.rows and (folder == below or folder.startswith(inside))
            if (ends := [item.end for item in entries if item.end is not None])
        }

    def count_matches(self, terms: QueryTerms, window: Window, most: int) -> int:
        return min(most, sum(_score(item, terms) > 0 for item in self._in_window(window)))

    def _in_window(self, window: Window) -> list[EntryCandidate]:
        return [
            item
            for item in self._said()
            if item.end is None
            and is_in_folders(item.folder, window.folders)
            and window.since <= _moment(item) <= (window.until or _moment(item))
            and (window.only is None or item.no in window.only)
        ]

    def find_same_words(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        mark = fingerprint(text)
        today = [item for item in self._today() if is_in_folders(item.folder, folders)]
        found = [item for item in today if mark and fingerprint(item.entry.text) == mark]
        return [_said(item) for item in sorted(found, key=_order)[:limit]]

    def find_similar(self, text: str, folders: Sequence[str], limit: int) -> Sequence[CurrentEntry]:
        wanted = frozenset(word_hashes(text, ""))
        today = self._today()
        shared = [(len(wanted.intersection(word_hashes(item.entry.text, ""))), item) for item in today]
        near = [(-share, _order(item), item) for share, item in shared if share and share >= least_shared(len(wanted))]
        best = [item for _, _, item in sorted(near, key=lambda it: it[:2])]
        return [_said(item) for item in best if is_in_folders(item.folder, folders)][:limit]

    def _today(self) -> list[EntryCandidate]:
        """Entries that a memory says now."""
        return [item for item in self._said() if item.end is None and item.row is not None]

    def latest_entries(self, limit: int) -> Sequence[EntryCandidate]:
        return sorted(
            self._said(),
            key=lambda item: (item.entry.occurred or item.entry.time, *_order(item)),
            reverse=True,
        )[:limit]

    def count_entries(self, wanted: EntryFilter, most: int) -> int:
        return min(most, sum(accepts(wanted, item) for item in self._said()))

    def fill_words(self) -> None:
        """Nothing waits here."""

    def has_unfilled(self) -> bool:
        return False

    def unfilled(self, limit: int) -> Sequence[int]:
        return []

    def unembedded(self, model: str, limit: int) -> Sequence[PendingText]:
        known = self._meanings.vectors
        missing = [item for item in self._said() if known.get(item.no, ("",))[0] != model]
        waiting = (PendingText(item.no, _to_embed(item), item.entry.thread is not None) for item in missing)
        return sorted(waiting)[:limit]

    def count_embedded(self, model: str) -> tuple[int, int]:
        total = len(list(self._said()))
        return total - len(self.unembedded(model, total)), total

    def put_vectors(self, model: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        others = {number for number, (other, _) in self._meanings.vectors.items() if other != model}
        if others:
            self._meanings.vectors, self._meanings.dropped = {}, self._meanings.dropped + 1
        self._meanings.vectors |= {number: (model, data) for number, data in vectors}
        for number, _ in vectors:
            self._meanings.later.pop(number, None)

    def uncompared(self, limit: int) -> Sequence[int]:
        return sorted(self._meanings.vectors.keys() - self._meanings.later.keys())[:limit]

    def set_later(self, found: Mapping[int, int]) -> None:
        self._meanings.later |= {number: later for number, later in found.items() if number in self._meanings.vectors}

    def vectors(self, model: str, after: int) -> Sequence[Vector]:
        known = self._meanings.vectors
        found = [item for item in self._said() if known.get(item.no, ("",))[0] == model and item.no > after]
        rows = [
            Vector(
                item.no,
                item.folder,
                entry.thread,
                entry.author,
                turn_of(entry),
                item.end is None,
                _moment(item),
                known[item.no][1],
            )
            for item in found
            for entry in (item.entry,)
        ]
        return sorted(rows, key=lambda row: row.no)

    def vectors_dropped(self) -> int:
        return self._meanings.dropped

    def candidates(self, numbers: Sequence[int]) -> Sequence[EntryCandidate]:
        wanted = frozenset(numbers)
        return sorted((item for item in self._said() if item.no in wanted), key=_order)

    def linked_entries(self, links: Collection[str], places: Sequence[tuple[str, str]]) -> Sequence[EntryCandidate]:
        current = [item for item in self._said() if item.row is not None and item.end is None]
        found = [
            item
            for item in current
            if (item.folder, item.name) in places or (item.row is not None and set(item.row.linked) & set(links))
        ]
        return sorted(found, key=_order)

    def authors_named(self, words: Collection[str]) -> Sequence[str]:
        authors = {author for item in self._said() if (author := item.entry.author) is not None}
        return sorted(author for author in authors if not frozenset(words).isdisjoint(split_words(author)))

    def units(self, idents: Collection[str]) -> Sequence[EntryCandidate]:
        today = [item for item in self._units() if item.end is None]
        return sorted((item for item in today if item.entry.id in idents), key=_order)

    def in_window(self, window: Window, limit: int) -> Sequence[int]:
        return [item.no for item in sorted(self._in_window(window), key=_moment, reverse=True)][:limit]

    def last_number(self) -> int:
        return max([item.no for item in self._said()], default=0)

    def measure(self, window: Window) -> UnitSpan:
        moments = sorted(map(_moment, self._in_window(window)))
        return UnitSpan(len(moments), *(moments[:1] + moments[-1:]))

    def count_addresses(self) -> Sequence[tuple[str, str, int]]:
        entries = [item.entry for item in self._units() if item.end is None]
        pairs = [(entry.author, dict(entry.extra).get("from")) for entry in entries]
        return sorted((*pair, number) for pair, number in Counter(pairs).items() if pair[0] and pair[1])  # type: ignore[misc]

    def count_authors(self, window: Window, limit: int) -> Sequence[tuple[str, int]]:
        authors = [author for item in self._in_window(window) if (author := item.entry.author) is not None]
        return sorted(Counter(authors).items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _said(self) -> list[EntryCandidate]:
        return [
            EntryCandidate(folder, name, *recorded, held.rows.get(name), _number(folder, name, place))
            for folder, held in self._folders.items()
            for name, entries in held.entries.items()
            for place, recorded in enumerate(entries)
        ]

    def folders(self, below: str) -> Sequence[str]:
        inside = below.rstrip("/") + "/"
        return sorted(
            name for name, held in self._folders.items() if held.rows and (name == below or name.startswith(inside))
        )

    def counts(self, folder: str, tags: int) -> Counts:
        held = self._held(folder)
        active = held.active()
        used = Counter(tag for row in active for tag in row.tags)
        types = Counter(row.type for row in active)
        best = sorted(used.items(), key=lambda item: (-item[1], item[0]))[:tags]
        pinned = sum(row.pinned for row in active)
        return Counts(len(active), len(held.rows) - len(active), dict(sorted(types.items())), best, pinned)

    def count_active(self, below: str) -> int:
        return sum(self.counts(folder, 0).active for folder in self.folders(below))

    def page_lines(self, section: PageSection, folder: str, limit: int) -> Sequence[PageLine]:
        held = self._held(folder)
        if section == "newest":
            return _lines(held.by_time()[:limit])
        return _lines([row for row in held.active() if (row.pinned if section == "pinned" else not row.filed)][:limit])

    def mark_filed(self, folder: str, *, filed: bool, pending: Collection[str] = ()) -> None:
        for row in self._held(folder).active():
            self._remember(folder, row.name)
            self._folders[folder].rows[row.name] = row._replace(filed=filed and row.name not in pending)

    def lines_by_prefix(self, folder: str, prefix: str, limit: int) -> Sequence[PageLine]:
        return _lines(self._held(folder).active(prefix)[:limit])

    def next_prefixes(self, folder: str, prefix: str) -> Sequence[str]:
        sorts = [row.sort for row in self._held(folder).active(prefix)]
        shared = len(os.path.commonprefix(sorts))  # noqa: RUF071 - names, not paths
        return sorted({sort[: shared + 1] for sort in sorts if len(sort) > shared})

    def topics(self, folder: str, limit: int) -> Sequence[str]:
        found = {row.sort[: row.sort.index("@", 1) + 1] for row in self._held(folder).active("@")}
        return sorted(found)[:limit]

    def undo(self) -> None:
        self.undo_nodes()
        self._meanings.vectors, self._meanings.dropped = self._vectors_before, self._dropped_before
        for held, generation in reversed(self._generations):
            held.generation = generation
        for folder, name, row, signature, entries in reversed(self._undo):
            held = self._folders[folder]
            held.remove(name)
            if row is not None:
                held.put(row)
            if signature is not None:
                held.signatures[name] = signature
            held.entries[name] = entries

    def _folder(self, folder: str) -> _Folder:
        held = self._folders.get(folder)
        if held is None:
            held = self._folders[folder] = _Folder()
        return held

    def _remember(self, folder: str, name: str) -> None:
        held = self._folder(folder)
        before = (held.rows.get(name), held.signatures.get(name), held.entries.get(name, ()))
        self._undo.append((folder, name, *before))

    def _held(self, folder: str) -> _Folder:
        """Return a folder to read from; an empty one where there is none."""
        return self._folders.get(folder) or _Folder()


def _number(folder: str, name: str, place: int) -> int:
    """The number of an entry: from where it stands, so that it is the same however often it is asked for."""
    return int(short_hash(f"{folder}\n{name}\n{place}", 15), 16)


def _moment(item: EntryCandidate) -> str:
    return item.entry.occurred or item.entry.time


def _to_embed(item: EntryCandidate) -> str:
    entry, labels = item.entry, item.row.tags if item.row is not None else ()
    name = item.name
    if is_of_tree(item.folder):
        name = item.row.summary if item.row is not None else ""
    return entry.text if entry.thread is not None else text_to_embed(entry.text, name, (*labels, *entry.tags))


def _order(item: EntryCandidate) -> tuple[str, str, str, str]:
    return (item.entry.id, item.folder, item.name, item.start)


def _said(item: EntryCandidate) -> CurrentEntry:
    row = item.row
    assert row is not None
    outside = item.entry.trust is Trust.EXTERNAL
    return CurrentEntry(item.folder, item.name, item.entry.text, row.own_summary, row.status, outside)


def _score(item: EntryCandidate, terms: QueryTerms) -> float:
    """How many of the words a candidate has: a plain stand-in for what a database ranks by."""
    entry, row = item.entry, item.row
    name = "" if is_of_tree(item.folder) else item.name
    about = [name, row.own_summary if row else "", *(row.tags if row else ()), *entry.tags, entry.author or ""]
    own, other = _stems(entry.text), _stems(" ".join(about))
    if not all((own | other).issuperset(stem(word) for word in term) for term in terms.all_of):
        return 0.0
    words = frozenset(part for word in terms.words for part in word)
    return len(words & own) + 0.5 * len(words & other) + len(terms.all_of)


class MemoryIndex:
    def __init__(self) -> None:
        self._spaces: dict[Space, dict[str, _Folder]] = {}
        self._meanings: dict[Space, _Meanings] = {}
        self._labels = LabelState()
        self._nodes: dict[Space, NodeState] = {}
        self._writer = threading.RLock()
        self.epoch = 0

    problem, is_stale = None, False

    def reading(self, space: Space) -> AbstractContextManager[Transaction]:
        return self.transaction(space)

    def refresh(self, space: Space, work: Callable[[Transaction], T]) -> T:
        with self.transaction(space) as transaction:
            return work(transaction)

    def detach(self, problem: StorageError) -> None:
        """It has no files."""

    def attach(self, wait: float | None = None) -> None:
        """It always is."""

    def scrub(self) -> bool:
        """What is removed here is gone."""
        return True

    @contextmanager
    def begin_anew(self, space: Space) -> Iterator[Transaction]:
        with self.transaction(space) as transaction:
            self._spaces[space].clear()
            self._meanings[space] = _Meanings()
            self._nodes[space].go_back(NodeState.make_empty())
            self._labels.clear()
            yield transaction

    @contextmanager
    def transaction(self, space: Space, wait: float | None = None) -> Iterator[Transaction]:
        with self._writer:
            meanings = self._meanings.setdefault(space, _Meanings())
            nodes = self._nodes.setdefault(space, NodeState.make_empty())
            transaction = MemoryTransaction(self._spaces.setdefault(space, {}), meanings, self._labels, nodes)
            try:
                yield transaction
            except BaseException:
                transaction.undo()
                raise


def _stems(text: str) -> frozenset[str]:
    """Return the stems of all words of a text."""
    return frozenset(stem(word) for word in re.findall(r"[^\W_]+", normalize_words(index_words(text))))
