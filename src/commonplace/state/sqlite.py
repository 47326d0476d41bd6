"""The state in one SQLite file beside the book: WAL, synced before a spooled item is acknowledged.

Several processes can use it. Uses of memories are counted in the process and written later, so that reading a memory
costs no write; they are replayed over what is written, and replaying one twice changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from commonplace.model.errors import StorageError
from commonplace.model.ids import new_id
from commonplace.model.lazy import Log
from commonplace.model.scope import Space
from commonplace.model.times import shift_time
from commonplace.state.database import AccessMode, Database, MemoryDatabase, QueryRunner
from commonplace.state.port import (
    PROTOCOL_SECONDS,
    USE_SECONDS,
    LedgerLine,
    LedgerTotal,
    SpoolItem,
    UseCount,
    after_use,
    check_lease,
    check_text,
    check_time,
)

Use = tuple[Space, str, str]
"""Whose, the ref, and when."""
MOST = 64  # uses that wait before they are written
OLDEST = 30  # seconds that the first may wait, at the next call
_KEPT = 4096  # when they cannot be written: older ones are given up


class PendingUses:
    """The uses of memories that this process has not written yet, for all its threads."""

    def __init__(self) -> None:
        self._waiting: dict[Use, None] = {}  # in the order of arrival
        self._since = ""
        self._most = MOST
        self._lock = Lock()

    def add(self, space: Space, refs: Iterable[str], when: str) -> bool:
        """Add a use of each ref; return whether it is time to write them."""
        due = shift_time(when, -OLDEST)
        with self._lock:
            if not self._waiting:
                self._since = when
            self._waiting.update(dict.fromkeys((space, ref, when) for ref in refs))
            for use in list(self._waiting)[:-_KEPT]:
                del self._waiting[use]
            # A clock that was set back does not tell their age: write them.
            old = self._since <= due or self._since > when
            return bool(self._waiting) and (old or len(self._waiting) >= self._most)

    def waiting(self) -> Sequence[Use]:
        """Return the uses that are not written, in the order of arrival."""
        with self._lock:
            return list(self._waiting)

    def waiting_for(self, space: Space, refs: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the times of unwritten uses by ref, for those of these refs that have any."""
        found: dict[str, list[str]] = {}
        wanted = set(refs)
        for whose, ref, when in self.waiting():
            if whose == space and ref in wanted:
                found.setdefault(ref, []).append(when)
        return found

    def mark_written(self, uses: Iterable[Use]) -> None:
        """Drop uses that have been written."""
        with self._lock:
            for use in uses:
                self._waiting.pop(use, None)
            self._most = MOST
            self._since = next(iter(self._waiting), (None, "", ""))[2]

    def postpone(self, when: str) -> None:
        """Wait for as many more uses, or as long again, because they could not be written now."""
        with self._lock:
            self._since = when
            self._most = len(self._waiting) + MOST

    def forget(self, space: Space, refs: Collection[str]) -> None:
        """Drop the uses of these refs."""
        gone = set(refs)
        with self._lock:
            self._waiting = {use: None for use in self._waiting if use[0] != space or use[1] not in gone}


log = Log("commonplace.state")


class SqliteState:
    """A state in a SQLite database: the port in named queries. Texts and times are checked before they get there."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._uses = PendingUses()
        # Held while uses are written or forgotten: one that is forgotten must not be written a moment later.
        self._writing_uses = Lock()

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, created_at: str | None = None) -> SqliteState:
        """Return the state in this file. If there is none yet it begins, at `created_at`, or else now."""
        if created_at is not None:
            check_time(created_at)
        return cls(Database(path, created_at))

    @classmethod
    def in_memory(cls, *, created_at: str | None = None) -> SqliteState:
        """Return a state without a file, for a book whose own cannot be used. It ends with the process."""
        if created_at is not None:
            check_time(created_at)
        return cls(MemoryDatabase(created_at))

    def created_at(self, space: Space) -> str:  # noqa: ARG002 - a port call: every one carries its space
        """Return when this state began."""
        return str(self._ask("created_at")[0][0])

    def record_uses(self, space: Space, refs: Iterable[str], when: str) -> None:
        """Add uses to those that wait, and write all of them when it is time and nobody else writes."""
        named = list(refs)
        check_text(*named)
        check_time(when)
        if not self._uses.add(space, named, when) or not self._writing_uses.acquire(blocking=False):
            return
        try:
            self._write_uses(AccessMode.WRITE_SOON)
        except StorageError as error:
            self._uses.postpone(when)
            log.info("event=usage_postponed code=%s", error.code)
        finally:
            self._writing_uses.release()

    def usage(self, space: Space, refs: Iterable[str]) -> Mapping[str, UseCount]:
        """Return use counts, those that are not written yet included."""
        named = list(dict.fromkeys(refs))
        check_text(*named)
        waiting = self._uses.waiting_for(space, named)  # before the rest is read: none is missed, twice does no harm

        def work(run: QueryRunner) -> dict[str, UseCount]:
            odd = [ref for ref in named if "\0" in ref]  # where a list in JSON would end for SQLite
            found = [*run("usage", **_in(space), refs=json.dumps([ref for ref in named if ref not in odd]))]
            found += [row for ref in odd for row in run("usage_of", **_in(space), ref=ref)]
            return {ref: UseCount(times, last) for ref, times, last in found}

        found = self._database.run(AccessMode.READ, work)
        for ref, times in waiting.items():
            for when in times:
                found[ref] = after_use(found.get(ref), when)
        return found

    def forget_uses(self, space: Space, refs: Iterable[str]) -> None:
        """Delete the uses of these refs, on disk and in this process."""
        named = list(refs)
        check_text(*named)
        with self._writing_uses:
            self._uses.forget(space, named)
            self._tell_each("forget_ref", [{**_in(space), "ref": ref} for ref in named])
        self._database.empty_log()

    def flush(self, *, lasting: bool = True) -> None:
        """Write the uses that wait."""
        with self._writing_uses:
            self._write_uses(_mode(lasting))

    def spool_put(self, space: Space, kind: str, payload: str, when: str) -> str:
        """Keep work for later and return its id."""
        check_text(kind, payload)
        check_time(when)
        made = new_id()
        self._tell("spool_put", **_in(space), id=made, kind=kind, payload=payload, when=when)
        return made

    def spool_take(self, space: Space, kind: str, limit: int, when: str, lease_seconds: int) -> Sequence[SpoolItem]:
        """Lease the oldest items of a kind."""
        check_text(kind)
        until = check_lease(when, lease_seconds)

        def work(run: QueryRunner) -> list[SpoolItem]:
            rows = run("spool_free", **_in(space), kind=kind, when=when, limit=max(limit, 0))
            taken = [SpoolItem(*row) for row in rows]
            for item in taken:
                run("spool_lease", id=item.id, until=until)
            return taken

        return self._database.run(AccessMode.WRITE, work)

    def spool_done(self, space: Space, ids: Iterable[str]) -> None:
        """Remove items that are dealt with."""
        named = list(ids)
        check_text(*named)
        self._tell_each("spool_done", [{**_in(space), "id": one} for one in named])

    def spool_size(self, space: Space, kind: str) -> int:
        """Return how many items of a kind are not done."""
        check_text(kind)
        return int(self._ask("spool_size", **_in(space), kind=kind)[0][0])

    def protocol_get(self, space: Space, key: str, now: str) -> str | None:
        """Return what is kept under a key and has not expired."""
        check_text(key)
        check_time(now)
        return _one(self._ask("protocol_get", **_in(space), key=key, now=now))

    def protocol_put(self, space: Space, key: str, value: str, now: str) -> None:
        """Keep a value under a key, and delete what has expired."""
        check_text(key, value)
        until = shift_time(now, PROTOCOL_SECONDS)

        def work(run: QueryRunner) -> None:
            run("protocol_sweep", **_in(space), now=now)
            run("protocol_put", **_in(space), key=key, value=value, until=until)

        self._database.run(AccessMode.WRITE_LIGHT, work)

    def ledger_add(self, space: Space, line: LedgerLine) -> None:
        """Add a line to the cost ledger."""
        self._tell(
            "ledger_add",
            **_in(space),
            when=line.when,
            what=line.what,
            model=line.model,
            tokens_in=line.tokens_in,
            tokens_out=line.tokens_out,
            billionths=line.billionths,
        )

    def ledger_total(self, space: Space, since: str) -> LedgerTotal:
        """Return the sums of the lines from a time on."""
        check_time(since)
        return LedgerTotal.of(*self._ask("ledger_total", **_in(space), since=since)[0])

    def set_fact(self, space: Space, name: str, value: str | None, *, lasting: bool = True) -> None:
        """Keep a fact under a name; None removes it."""
        check_text(name, value or "")
        if value is None:
            self._tell_each("forget_fact", [{**_in(space), "name": name}], _mode(lasting))
        else:
            self._tell_each("set_fact", [{**_in(space), "name": name, "value": value}], _mode(lasting))

    def get_fact(self, space: Space, name: str) -> str | None:
        """Return the fact under a name; None when there is none."""
        check_text(name)
        return _one(self._ask("get_fact", **_in(space), name=name))

    def list_facts(self, space: Space, prefix: str) -> dict[str, str]:
        """Return the facts whose names start with a prefix, by name."""
        check_text(prefix)
        return dict(self._ask("list_facts", **_in(space), prefix=prefix))

    def close(self) -> None:
        """Write the uses that wait, if that is possible, and close the database."""
        try:
            self.flush()
        except StorageError as error:
            log.info("event=usage_lost code=%s", error.code)
        self._database.close()

    def _write_uses(self, mode: AccessMode) -> None:
        waiting = self._uses.waiting()
        if not waiting:
            return

        def work(run: QueryRunner) -> None:
            for space, ref, when in waiting:
                run("use", **_in(space), ref=ref, when=when, minute_before=shift_time(when, -USE_SECONDS))

        self._database.run(mode, work)
        self._uses.mark_written(waiting)

    def _ask(self, query: str, **values: object) -> list[Any]:
        return self._database.run(AccessMode.READ, lambda run: run(query, **values))

    def _tell(self, query: str, **values: object) -> None:
        self._tell_each(query, [values])

    def _tell_each(self, query: str, each: Sequence[Mapping[str, object]], mode: AccessMode = AccessMode.WRITE) -> None:
        def work(run: QueryRunner) -> None:
            for values in each:
                run(query, **values)

        if each:
            self._database.run(mode, work)


def _mode(lasting: bool) -> AccessMode:
    return AccessMode.WRITE if lasting else AccessMode.WRITE_SOON


def _in(space: Space) -> dict[str, str]:
    return {"tenant": space.tenant, "owner": space.owner}


def _one(rows: list[Any]) -> str | None:
    return str(rows[0][0]) if rows else None
