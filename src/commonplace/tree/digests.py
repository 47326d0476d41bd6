"""The digests of a tree: which days have changed, what happened on them, and their pages.

    tree/digest/2026/2026-11-15.md      a day; 2026-W47.md a week, 2026-11.md a month, 2026.md a year

What happened on a day is kept in the index, of a bounded size, and the pages of weeks, months and years are made of
that: the cost of a new mail does not grow with the mailbox. Days begin and end by the clock of this machine. `settle`
calls `DigestPages.renew` for the hours that the index has marked; the verb `digest` asks `DigestReader`, which also
knows what no page has yet. What a person adds to a page stays.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.values import EntryCandidate, Window
from commonplace.memories.rows import split_path
from commonplace.memories.unit import Unit
from commonplace.model.errors import NotFound
from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash
from commonplace.text.frontmatter import Frontmatter, Writable, get_region, put_region
from commonplace.text.notes import Note
from commonplace.tree.admission import is_one_of
from commonplace.tree.digest import DayDigest, merge_digests
from commonplace.tree.digest_day import make_day_digest
from commonplace.tree.digest_page import render_digest
from commonplace.tree.labels import THREAD
from commonplace.tree.periods import Period, PeriodKind, period_of
from commonplace.tree.store import MadePage, TreeSource, TreeStore
from commonplace.tree.units import TreeUnit, read_unit
from commonplace.vault.paths import KEEPER, TREE, note_path
from commonplace.vault.port import ABSENT, UNUSABLE

DIGEST_FOLDER = TREE / "digest"
DIGEST_PREFIX = "digest-"
PERIODS: tuple[PeriodKind, ...] = ("day", "week", "month", "year")
MOST_DAYS = 3_660  # of a window
_WRITTEN = 50  # pages in one unit of work
_MOST_DAYS = 366  # that are looked at in one round
HOUR = len("2026-11-15T09")
_EVERYTHING = 1_000_000_000
_DAY = timedelta(days=1)
_BASIS = ""  # in the place of a day, the index keeps for which time zone and user its days are worked out
_SAMPLES = [date(year, month, 1) for year in (1990, 2000, 2010, 2020, 2030) for month in (1, 4, 7, 10)]
_CITED = lazy(r"\[(u-[0-9a-f]{20})\]")


class DigestText(NamedTuple):
    """What a period has to say, and what it is made of."""

    period: Period
    text: str

    @property
    def units(self) -> tuple[str, ...]:
        """The units that its sentences name."""
        return tuple(dict.fromkeys(_CITED.findall(self.text)))


class DigestReader:
    """Works out what happened on days, whether or not a page says it yet."""

    def __init__(self, tree: TreeStore, sources: Sequence[TreeSource]) -> None:
        self._tree = tree
        self._sources = {str(source.folder): source for source in sources}
        self._me = {source.id: frozenset(name.casefold() for name in source.me) for source in sources}
        self.basis = {"": print_zone()} | {ident: short_hash(" ".join(sorted(me))) for ident, me in self._me.items()}

    def read(self, period: Period, only: Collection[str] | None = None) -> DigestText:
        """Return the page of a period; `only` of these sources."""
        page = self._find_page(period) if only is None else None
        return DigestText(period, page or write_page(self.gather(period, only), period))

    def _find_page(self, period: Period) -> str | None:
        """Return what the page of a period says, if it is as `settle` made it and nothing has changed since."""
        if period.kind == "window":
            return None
        path = note_path(DIGEST_FOLDER, digest_key(period))
        with self._tree.reading() as index:
            row = index.get(*split_path(path))
            if row is None or index.changed_files(1) or self.find_changed(index, period):
                return None
        with suppress(NotFound, *UNUSABLE):
            document = self._tree.memories.files.read(path)
            page = get_region(document.data.decode("utf-8", "replace"))
            return f"# {period.title}\n\n{page}" if page and document.revision == row.revision else None
        return None

    def gather(self, period: Period, only: Collection[str] | None = None) -> DayDigest:
        """Return what happened in a period; `only` of these sources. Days that have changed are read anew."""
        with self._tree.reading() as index:
            if only is not None:
                days = [self.make(index, day, only) for day in period.days()]
            else:
                changed = self.find_changed(index, period)
                known = read_days(index, period)
                days = [self.make(index, day) for day in sorted(changed)]
                days += [digest for day, digest in known.items() if day not in changed]
            return self.leave_out_answered(index, merge_days(days, period))

    def leave_out_answered(self, index: Transaction, digest: DayDigest) -> DayDigest:
        """Return a digest without the questions to the user that they answered later, also after its period."""
        last = {thread: self._find_answer(index, thread) for thread in {line.thread for line in digest.questions}}
        return digest._replace(questions=tuple(line for line in digest.questions if line.time >= last[line.thread]))

    def _find_answer(self, index: Transaction, thread: str) -> str:
        """Return when the user wrote last in a thread; empty if never."""
        units = self._open_units(index.candidates(index.mentioning([f"{THREAD}{thread}"], Window(()), _EVERYTHING)))
        return max((unit.occurred for unit in units if self._is_mine(unit)), default="")

    def _is_mine(self, unit: TreeUnit) -> bool:
        return "sent" in unit.signals or is_one_of(unit.author, self._me.get(unit.source, frozenset()))

    def find_changed(self, index: Transaction, period: Period) -> set[date]:
        """Return the days of a period whose pages do not say yet what happened: all, if they are by another clock."""
        if not self.is_read_alike(index):
            return {*period.days()}
        return {day for day in days_of_hours(index.changed_hours()) if period.start <= day <= period.end}

    def is_read_alike(self, index: Transaction) -> bool:
        """Return whether what is kept of days was worked out for this time zone and this user."""
        known: Mapping[str, str] = {}
        with suppress(ValueError):
            known = json.loads(index.days(_BASIS, _BASIS).get(_BASIS, "{}"))
        return bool(known) and all(known.get(name, value) == value for name, value in self.basis.items())

    def make(self, index: Transaction, day: date, only: Collection[str] | None = None) -> DayDigest:
        """Return what happened on a day, from its units."""
        units = list(self.read_units(index, day, day, only))
        start, _ = bounds_of(day, day)

        def is_new(person: str) -> bool:
            return not index.is_mentioned_before(f"person:{person}", start)

        return make_day_digest(units, day, me=self._me, is_new=is_new)

    def read_units(
        self, index: Transaction, first: date, last: date, only: Collection[str] | None = None
    ) -> Iterator[TreeUnit]:
        """Yield the units of some days, by time."""
        numbers = index.units_between(*bounds_of(first, last))
        found = {item.no: item for item in index.candidates(numbers)}
        yield from self._open_units((found[no] for no in numbers if no in found), only)

    def _open_units(self, items: Iterable[EntryCandidate], only: Collection[str] | None = None) -> Iterator[TreeUnit]:
        for item in items:
            source = self._sources.get("/".join(item.folder.split("/")[:3]))
            if source is not None and (only is None or source.id in only):
                yield read_unit(item.entry, kind=source.kind, folder=item.folder, name=item.name)

    def find_asking(self, index: Transaction, thread: str, day: date) -> set[date]:
        """Return the earlier days that have a question to the user in a thread."""
        until, _ = bounds_of(day, day)
        numbers = index.mentioning([f"{THREAD}{thread}"], Window((), "", until), _EVERYTHING)
        hours = {unit.occurred[:HOUR] for unit in self._open_units(index.candidates(numbers))}
        known = (read_days(index, Period("day", one, one)) for one in sorted(days_of_hours(hours)))
        return {one for some in known for one, digest in some.items() if _asks_in(digest, thread) and one < day}


class DigestPages:
    """Brings the pages of digests up to the units; the caller holds the lock of the tree."""

    def __init__(self, tree: TreeStore) -> None:
        self._tree = tree
        self._reader = DigestReader(tree, tree.sources())
        self.written = 0

    def renew(self) -> bool:
        """Do what is marked for as many days as a year has; return whether there was something."""
        space, index_of = self._tree.memories.space, self._tree.memories.index
        self._follow_basis()
        with self._tree.reading() as index:
            marked, state = index.changed_hours(), self._tree.tell_state(index)
        if not marked:
            return False
        hours: list[str] = []
        found: set[date] = set()
        for hour in marked:
            found |= days_of_hours([hour])
            if len(found) > _MOST_DAYS:
                break
            hours.append(hour)
        days = sorted(days_of_hours(hours))
        with index_of.transaction(space) as index:
            if not days:  # of times that are on no calendar
                index.unmark_hours(hours)
                return True
            asking: set[date] = set()
            for day in days:
                old = read_days(index, Period("day", day, day)).get(day)
                digest = self._reader.make(index, day)
                index.put_day(day.isoformat(), "" if digest.is_empty else digest.to_json())
                answered = {*digest.answered} ^ {*(old.answered if old is not None else ())}
                for thread in {thread for thread, _ in answered}:
                    asking |= self._reader.find_asking(index, thread, day)
            # What was asked there is open no longer, or again. In this transaction, or a kill would lose it.
            index.mark_hours([bounds_of(day, day)[0][:HOUR] for day in asking.difference(days)])
        periods = _list_complete(days, days_of_hours(marked[len(hours) :]))
        for at in range(0, len(periods), _WRITTEN):
            self._write(periods[at : at + _WRITTEN])
        with index_of.transaction(space) as index:
            if self._tree.tell_state(index) == state:  # else another process saw an edit: look again
                index.unmark_hours(hours)
        return True

    def _follow_basis(self) -> None:
        """Mark what is kept of days if this machine was moved to another time zone, or the user has other addresses."""
        basis = json.dumps(self._reader.basis, sort_keys=True)
        with self._tree.reading() as index:
            if index.days(_BASIS, _BASIS).get(_BASIS) == basis:
                return
        with self._tree.memories.index.transaction(self._tree.memories.space) as index:
            if not self._reader.is_read_alike(index):
                known = [date.fromisoformat(day) for day in index.list_days("0001", "9999-12-30")]
                near = {day + step * _DAY for day in known for step in (-1, 0, 1) if day > date.min}
                index.mark_hours([f"{day}T12" for day in near])
            index.put_day(_BASIS, basis)

    def _write(self, periods: Sequence[Period]) -> None:
        made: list[MadePage] = []
        with self._tree.memories.unit(DIGEST_FOLDER, KEEPER) as unit:
            for period in periods:
                with self._tree.reading() as index:
                    known = read_days(index, period)
                    digest = self._reader.leave_out_answered(index, merge_days(known.values(), period))
                revision = self._write_page(unit, period, digest)
                if revision is not None:
                    made.append(MadePage(unit.path(digest_key(period)), revision))
            unit.commit()
        self._tree.note_made(made)
        self.written += len(made)

    def _write_page(self, unit: Unit, period: Period, digest: DayDigest) -> str | None:
        """Stage the page of a period; return its new revision, None if it stays."""
        key = digest_key(period)
        found = unit.find(key)
        text = write_page(digest, period)
        if found is None and not text:
            return None
        lead = f"# {period.title}\n\n"
        note = found.note if found is not None else Note(Frontmatter("---\n", (), "---\n"), lead, ())
        if note.in_conflict:
            return None
        if found is not None and not text and not has_added_text(note):
            unit.remove(found)
            return ABSENT
        fields: dict[str, Writable] = {
            "tree": "digest", "period": period.kind, "summary": period.title, "created": f"{period.start}T00:00:00Z",
            "updated": f"{period.end}T23:59:59Z",
            "start": period.start.isoformat(), "end": period.end.isoformat(), "messages": digest.messages + digest.bulk,
        }  # fmt: skip
        front = note.front
        for name, value in fields.items():
            front = front.put(name, value)
        below_title = text.partition("\n\n")[2]
        note = note.replace(front=front, lead=put_region(note.lead, below_title))
        is_same = found is not None and note.render() == found.data
        return None if is_same else unit.put(key, note, None)


def has_added_text(note: Note) -> bool:
    """Return whether a person wrote on the page of a digest or a topic."""
    outside = note.lead.replace(get_region(note.lead) or "", "")
    ours = ("# ", "<!-- commonplace:")
    return bool(note.blocks) or any(line.strip() and not line.startswith(ours) for line in outside.splitlines())


def _asks_in(digest: DayDigest, thread: str) -> bool:
    return any(line.thread == thread for line in digest.questions)


def merge_days(days: Iterable[DayDigest], period: Period) -> DayDigest:
    """Return what happened in a period, from what happened on its days."""
    known = [day for day in days if not day.is_empty]
    return merge_digests(known, period.end) if period.kind != "day" or not known else known[0]


def read_days(index: Transaction, period: Period) -> dict[date, DayDigest]:
    """Return what the index keeps of the days of a period. What another version wrote is left out."""
    found = {}
    for day, data in index.days(period.start.isoformat(), period.end.isoformat()).items():
        with suppress(ValueError):
            found[date.fromisoformat(day)] = DayDigest.from_json(data)
    return found


def write_page(digest: DayDigest, period: Period) -> str:
    """Return the page of a period, with the command that shows what it leaves out."""
    return render_digest(digest, period, command=drill_command(period))


def drill_command(period: Period) -> str:
    """Return the command that shows what a digest is made of."""
    return f"commonplace tree drill-down {digest_id(period)}"


def digest_key(period: Period) -> str:
    """Return the key of a period's page below tree/digest."""
    return f"{period.name[:4]}/{period.name}"


def digest_id(period: Period) -> str:
    """Return the id of a digest, as hits and citations name it."""
    return f"{DIGEST_PREFIX}{period.name}"


def parse_digest_id(text: str) -> Period | None:
    """Return the period that the id of a digest names; None for any other text."""
    name = text.removeprefix(DIGEST_PREFIX)
    if name == text:
        return None
    try:
        if ".." in name:
            first, last = map(date.fromisoformat, name.split("..", 1))
            return Period("window", first, last) if 0 <= (last - first).days < MOST_DAYS else None
        if len(name) == len("2026"):
            return period_of("year", date(int(name), 1, 1))
        if "W" in name:
            year, _, week = name.partition("-W")
            return period_of("week", date.fromisocalendar(int(year), int(week), 1))
        if len(name) == len("2026-11"):
            return period_of("month", date.fromisoformat(f"{name}-01"))
        return period_of("day", date.fromisoformat(name))
    except ValueError:
        return None


def _list_complete(days: Iterable[date], left: Collection[date]) -> Sequence[Period]:
    """Return the periods of days of which none is left to look at: the others are written with the last of theirs."""
    pending = {period_of(kind, day) for kind in PERIODS for day in left}
    found = {period_of(kind, day) for kind in PERIODS for day in days} - pending
    return sorted(found, key=lambda one: (one.start, one.name))


def print_zone() -> str:
    """Return what tells the time zone of this machine from others: when some days begin here."""
    return short_hash(" ".join(bounds_of(day, day)[0] for day in _SAMPLES))


def bounds_of(first: date, last: date) -> tuple[str, str]:
    """Return when a day begins and another ends, by this machine's clock, as timestamps in UTC."""
    return _utc(first), _utc(last + _DAY if last < date.max else last)


def _utc(day: date) -> str:
    try:
        moment = datetime(day.year, day.month, day.day).astimezone(UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def days_of_hours(hours: Iterable[str]) -> set[date]:
    """Return the days here that have a part of these hours: where clocks differ by half an hour, these may be two."""
    found: set[date] = set()
    for hour in hours:
        for minute in ("00", "59"):
            try:
                found.add(datetime.fromisoformat(f"{hour}:{minute}:00+00:00").astimezone().date())
            except (OverflowError, ValueError, OSError):
                continue
    return found
