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
    Spooled,
    UseCount,
    after_use,
    check_lease,
    check_text,
    check_time,
)

Use = tuple[Space, str, str]
"""Whose, the ref, and when."""
MOST = 64  # waiting, before they are written
OLDEST = 30  # seconds that the first may wait, at the next call
_KEPT = 4096  # when they cannot be written: older ones are given up


class Uses:
    def __init__(self) -> None:
        self._waiting: dict[Use, None] = {}  # in the order of arrival
        self._since = ""
        self._most = MOST
        self._lock = Lock()

    def add(self, space: Space, refs: Iterable[str], when: str) -> bool:
        """Note a use of each; answers whether it is time to write them."""
        due = shift_time(when, -OLDEST)
        with self._lock:
            if not self._waiting:
                self._since = when
            self._waiting.update(dict.fromkeys((space, ref, when) for ref in refs))
            for use in list(self._waiting)[:-_KEPT]:
                del self._waiting[use]
            # A clock that was set back says nothing of their age: write them.
            old = self._since <= due or self._since > when
            return bool(self._waiting) and (old or len(self._waiting) >= self._most)

    def waiting(self) -> Sequence[Use]:
        with self._lock:
            return list(self._waiting)

    def waiting_for(self, space: Space, refs: Collection[str]) -> Mapping[str, Sequence[str]]:
        """When those of these refs that have uses waiting were used, in the order of arrival."""
        found: dict[str, list[str]] = {}
        wanted = set(refs)
        for whose, ref, when in self.waiting():
            if whose == space and ref in wanted:
                found.setdefault(ref, []).append(when)
        return found

    def written(self, uses: Iterable[Use]) -> None:
        with self._lock:
            for use in uses:
                self._waiting.pop(use, None)
            self._most = MOST
            self._since = next(iter(self._waiting), (None, "", ""))[2]

    def postpone(self, when: str) -> None:
        """They could not be written now: wait for as many more, or as long again."""
        with self._lock:
            self._since = when
            self._most = len(self._waiting) + MOST

    def forget(self, space: Space, refs: Collection[str]) -> None:
        gone = set(refs)
        with self._lock:
            self._waiting = {use: None for use in self._waiting if use[0] != space or use[1] not in gone}


log = Log("commonplace.state")


class SqliteState:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._uses = Uses()
        # Held while uses are written or forgotten: one that is forgotten must not be written a moment later.
        self._writing_uses = Lock()

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, born: str | None = None) -> SqliteState:
        """The state in this file. If there is none yet it begins, at `born`, or else now."""
        if born is not None:
            check_time(born)
        return cls(Database(path, born))

    @classmethod
    def in_memory(cls, *, born: str | None = None) -> SqliteState:
        """Return a state without a file, for a book whose own cannot be used. It ends with the process."""
        if born is not None:
            check_time(born)
        return cls(MemoryDatabase(born))

    def born(self, space: Space) -> str:  # noqa: ARG002 - a port call: every one carries its space
        return str(self._ask("born")[0][0])

    def used(self, space: Space, refs: Iterable[str], when: str) -> None:
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

    def forget_refs(self, space: Space, refs: Iterable[str]) -> None:
        named = list(refs)
        check_text(*named)
        with self._writing_uses:
            self._uses.forget(space, named)
            self._tell_each("forget_ref", [{**_in(space), "ref": ref} for ref in named])
        self._database.empty_log()

    def flush(self, *, lasting: bool = True) -> None:
        with self._writing_uses:
            self._write_uses(_way(lasting))

    def spool_put(self, space: Space, kind: str, payload: str, when: str) -> str:
        check_text(kind, payload)
        check_time(when)
        made = new_id()
        self._tell("spool_put", **_in(space), id=made, kind=kind, payload=payload, when=when)
        return made

    def spool_take(self, space: Space, kind: str, limit: int, when: str, lease_seconds: int) -> Sequence[Spooled]:
        check_text(kind)
        until = check_lease(when, lease_seconds)

        def work(run: QueryRunner) -> list[Spooled]:
            rows = run("spool_free", **_in(space), kind=kind, when=when, limit=max(limit, 0))
            taken = [Spooled(*row) for row in rows]
            for item in taken:
                run("spool_lease", id=item.id, until=until)
            return taken

        return self._database.run(AccessMode.WRITE, work)

    def spool_done(self, space: Space, ids: Iterable[str]) -> None:
        named = list(ids)
        check_text(*named)
        self._tell_each("spool_done", [{**_in(space), "id": one} for one in named])

    def spool_size(self, space: Space, kind: str) -> int:
        check_text(kind)
        return int(self._ask("spool_size", **_in(space), kind=kind)[0][0])

    def protocol_get(self, space: Space, key: str, now: str) -> str | None:
        check_text(key)
        check_time(now)
        return _one(self._ask("protocol_get", **_in(space), key=key, now=now))

    def protocol_put(self, space: Space, key: str, value: str, now: str) -> None:
        check_text(key, value)
        until = shift_time(now, PROTOCOL_SECONDS)

        def work(run: QueryRunner) -> None:
            run("protocol_sweep", **_in(space), now=now)
            run("protocol_put", **_in(space), key=key, value=value, until=until)

        self._database.run(AccessMode.WRITE_LIGHT, work)

    def ledger_add(self, space: Space, line: LedgerLine) -> None:
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
        check_time(since)
        return LedgerTotal.of(*self._ask("ledger_total", **_in(space), since=since)[0])

    def remember(self, space: Space, name: str, value: str | None, *, lasting: bool = True) -> None:
        check_text(name, value or "")
        if value is None:
            self._tell_each("forget_fact", [{**_in(space), "name": name}], _way(lasting))
        else:
            self._tell_each("remember", [{**_in(space), "name": name, "value": value}], _way(lasting))

    def remembered(self, space: Space, name: str) -> str | None:
        check_text(name)
        return _one(self._ask("remembered", **_in(space), name=name))

    def remembered_like(self, space: Space, prefix: str) -> dict[str, str]:
        check_text(prefix)
        return dict(self._ask("remembered_like", **_in(space), prefix=prefix))

    def close(self) -> None:
        try:
            self.flush()
        except StorageError as error:
            log.info("event=usage_lost code=%s", error.code)
        self._database.close()

    def _write_uses(self, way: AccessMode) -> None:
        waiting = self._uses.waiting()
        if not waiting:
            return

        def work(run: QueryRunner) -> None:
            for space, ref, when in waiting:
                run("use", **_in(space), ref=ref, when=when, minute_before=shift_time(when, -USE_SECONDS))

        self._database.run(way, work)
        self._uses.written(waiting)

    def _ask(self, query: str, **values: object) -> list[Any]:
        return self._database.run(AccessMode.READ, lambda run: run(query, **values))

    def _tell(self, query: str, **values: object) -> None:
        self._tell_each(query, [values])

    def _tell_each(self, query: str, each: Sequence[Mapping[str, object]], way: AccessMode = AccessMode.WRITE) -> None:
        def work(run: QueryRunner) -> None:
            for values in each:
                run(query, **values)

        if each:
            self._database.run(way, work)


def _way(lasting: bool) -> AccessMode:
    return AccessMode.WRITE if lasting else AccessMode.WRITE_SOON


def _in(space: Space) -> dict[str, str]:
    return {"tenant": space.tenant, "owner": space.owner}


def _one(rows: list[Any]) -> str | None:
    return str(rows[0][0]) if rows else None
