"""The state in one SQLite file beside the book: WAL, synced before a spooled item is acknowledged.

Several processes can use it. Uses of memories are counted in the process and written later, so that reading a memory
costs no write; they are replayed over what is written, and replaying one twice changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from commonplace.model.costs import ModelCost
from commonplace.model.errors import StorageError
from commonplace.model.lazy import Log
from commonplace.model.names import new_id
from commonplace.model.scope import Space
from commonplace.model.times import shift_time
from commonplace.state.database import AccessMode, Database, QueryRunner
from commonplace.state.port import (
    DAY_SECONDS,
    JUMP_SECONDS,
    PROTOCOL_SECONDS,
    USE_SECONDS,
    SpoolItem,
    UseCount,
    after_use,
    check_lease,
    check_text,
    check_time,
    is_job_free,
    job_retry_at,
    latest_protocol_end,
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
        self._since, self._added = "", 0  # when it was last time to write, and how many were added since
        self._lock = Lock()
        # Held while uses are written or forgotten: one that is forgotten must not be written a moment later.
        self.writing = Lock()
        self.pid = os.getpid()

    def add(self, space: Space, refs: Collection[str], when: str) -> bool:
        """Add a use of each ref; return whether it is time to write them, which is so once for as many or as long."""
        oldest = shift_time(when, -OLDEST)
        with self._lock:
            if not self._waiting:
                self._since, self._added = when, 0
            self._waiting.update(dict.fromkeys((space, ref, when) for ref in refs))
            self._added += len(refs)
            for use in list(self._waiting)[:-_KEPT]:
                del self._waiting[use]
            # A clock that was set back does not tell their age: write them.
            is_due = self._since <= oldest or self._since > when or self._added >= MOST
            if is_due:
                self._since, self._added = when, 0
            return is_due

    def waiting(self) -> Sequence[Use]:
        """Return the uses that are not written, in the order of arrival."""
        with self._lock:
            return list(self._waiting)

    def mark_written(self, uses: Iterable[Use]) -> None:
        """Drop uses that have been written."""
        with self._lock:
            for use in uses:
                self._waiting.pop(use, None)

    def forget(self, space: Space, refs: Collection[str]) -> None:
        """Drop the uses of these refs."""
        gone = set(refs)
        with self._lock:
            self._waiting = {use: None for use in self._waiting if use[0] != space or use[1] not in gone}


log = Log("commonplace.state")


class SqliteState:
    """A state in a SQLite database: the port in named queries. Texts and times are checked before they get there."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        """Open the state in this file. If there is none yet, it begins now; without a path it ends with the process."""
        self._database = Database(path)
        self._pending = PendingUses()

    @property
    def _uses(self) -> PendingUses:
        """The uses of this process: a forked child has none yet, and not the locks that its parent's threads held."""
        if self._pending.pid != os.getpid():
            self._pending = PendingUses()
        return self._pending

    def created_at(self, space: Space) -> str:
        """Return when this state began."""
        return str(self._ask("created_at", space)[0][0])

    def record_uses(self, space: Space, refs: Iterable[str], when: str) -> None:
        """Add uses to those that wait, and write all of them when it is time and no other thread does."""
        named = list(refs)
        check_text(*named)
        uses = self._uses
        if not uses.add(space, named, when) or not uses.writing.acquire(blocking=False):
            return
        try:
            self._write_uses(AccessMode.WRITE_SOON)
        except StorageError as error:
            log.info("event=usage_postponed code=%s", error.code)
        finally:
            uses.writing.release()

    def usage(self, space: Space, refs: Iterable[str]) -> Mapping[str, UseCount]:
        """Return use counts, those that are not written yet included."""
        named = dict.fromkeys(refs)
        waiting = self._uses.waiting()  # before the rest is read: none is missed, twice does no harm

        def work(run: QueryRunner) -> dict[str, UseCount]:
            return {ref: UseCount(*row) for ref in named for row in run("usage", space, ref=ref)}

        found = self._database.run(AccessMode.READ, work)
        for whose, ref, when in waiting:
            if whose == space and ref in named:
                found[ref] = after_use(found.get(ref), when)
        return found

    def forget_uses(self, space: Space, refs: Iterable[str]) -> None:
        """Delete the uses of these refs, on disk and in this process."""
        named = list(refs)
        check_text(*named)
        with self._uses.writing:
            self._uses.forget(space, named)
            self._tell("forget_ref", space, [{"ref": ref} for ref in named])
        self.scrub()

    def scrub(self) -> bool:
        """Write the log of changes into the file and cut it."""
        return self._database.empty_log()

    def flush(self, *, lasting: bool = True) -> None:
        """Write the uses that wait."""
        with self._uses.writing:
            self._write_uses(_mode(lasting))

    def spool_put(self, space: Space, kind: str, payload: str, when: str) -> str:
        """Keep work for later and return its id."""
        check_time(when)
        made = new_id()
        self._tell("spool_put", space, [{"id": made, "kind": kind, "payload": payload, "when": when}])
        return made

    def spool_take(self, space: Space, kind: str, limit: int, when: str, lease_seconds: int) -> Sequence[SpoolItem]:
        """Lease the oldest items of a kind."""
        until = check_lease(when, lease_seconds)

        def work(run: QueryRunner) -> list[SpoolItem]:
            latest = shift_time(until, DAY_SECONDS)
            rows = run("spool_free", space, kind=kind, when=when, latest=latest, limit=max(limit, 0))
            taken = [SpoolItem(*row) for row in rows]
            for item in taken:
                run("spool_lease", space, id=item.id, until=until)
            return taken

        return self._database.run(AccessMode.WRITE, work)

    def spool_done(self, space: Space, ids: Iterable[str]) -> None:
        """Remove items that are dealt with."""
        self._tell("spool_done", space, [{"id": one} for one in ids])

    def protocol_get(self, space: Space, key: str, now: str) -> str | None:
        """Return what is kept under a key and has not expired."""
        check_time(now)
        return _one(self._ask("protocol_get", space, key=key, now=now, latest=latest_protocol_end(now)))

    def protocol_put(self, space: Space, key: str, value: str, now: str) -> None:
        """Keep a value under a key, and delete what has expired."""
        until = shift_time(now, PROTOCOL_SECONDS)

        def work(run: QueryRunner) -> None:
            run("protocol_sweep", space, now=now, latest=latest_protocol_end(now))
            run("protocol_put", space, key=key, value=value, until=until)

        self._database.run(AccessMode.WRITE_LIGHT, work)

    def set_fact(self, space: Space, name: str, value: str | None, *, lasting: bool = True) -> None:
        """Keep a fact under a name; None removes it."""
        query = "forget_fact" if value is None else "set_fact"
        self._tell(query, space, [{"name": name, "value": value}], _mode(lasting))

    def get_fact(self, space: Space, name: str) -> str | None:
        """Return the fact under a name; None when there is none."""
        return _one(self._ask("get_fact", space, name=name))

    def list_facts(self, space: Space, prefix: str) -> dict[str, str]:
        """Return the facts whose names start with a prefix, by name."""
        return dict(self._ask("list_facts", space, prefix=prefix))

    def add_cost(self, space: Space, cost: ModelCost) -> None:
        """Add what calls of a model cost to its row of that day."""
        check_time(f"{cost.day}T00:00:00Z")
        self._tell("add_cost", space, [cost._asdict()])

    def costs(self, space: Space) -> Sequence[ModelCost]:
        """Return what calls cost, in a row for each day and model, oldest first."""
        return [ModelCost(*row) for row in self._ask("costs", space)]

    def claim_job(self, space: Space, name: str, now: str, lease_seconds: int) -> bool:
        """Lease a job; return False where another has it, or it failed and has to wait."""
        until = check_lease(now, lease_seconds)
        before = shift_time(now, -JUMP_SECONDS)  # whatever such a job was for: nobody asks for it any more

        def work(run: QueryRunner) -> bool:
            run("forget_old_jobs", space, before=before)
            (failures, free_at), *_ = [*run("job", space, name=name), (0, "")]
            is_free = is_job_free(free_at, now)
            if is_free:
                run("put_job", space, name=name, failures=failures, free_at=until)
            return is_free

        return self._database.run(AccessMode.WRITE, work)

    def fail_job(self, space: Space, name: str, now: str) -> None:
        """Count a failure of a job, and let it wait the longer the more there were."""
        check_time(now)

        def work(run: QueryRunner) -> None:
            (failures, _), *_ = [*run("job", space, name=name), (0, "")]
            run("put_job", space, name=name, failures=failures + 1, free_at=job_retry_at(failures + 1, now))

        self._database.run(AccessMode.WRITE, work)

    def finish_job(self, space: Space, name: str) -> None:
        """Forget a job and its failures."""
        self._tell("forget_job", space, [{"name": name}])

    @property
    def problem(self) -> StorageError | None:
        """Why what is stored could not be read; None almost always."""
        return self._database.problem

    def detach(self) -> None:
        """Read a copy in memory for a while: the files take handles that a reader needs."""
        self._database.detach()

    def close(self) -> None:
        """Write the uses that wait, if that is possible at once, and close the database."""
        try:
            self.flush(lasting=False)
        except StorageError as error:
            log.info("event=usage_lost code=%s", error.code)
        self._database.close()

    def _write_uses(self, mode: AccessMode) -> None:
        waiting = self._uses.waiting()
        if not waiting:
            return

        def work(run: QueryRunner) -> None:
            for space, ref, when in waiting:
                minute_before, day_after = shift_time(when, -USE_SECONDS), shift_time(when, DAY_SECONDS)
                run("use", space, ref=ref, when=when, minute_before=minute_before, day_after=day_after)

        self._database.run(mode, work)
        self._uses.mark_written(waiting)

    def _ask(self, query: str, space: Space, **values: object) -> list[Any]:
        return self._database.run(AccessMode.READ, lambda run: run(query, space, **values))

    def _tell(
        self, query: str, space: Space, each: Sequence[Mapping[str, object]], mode: AccessMode = AccessMode.WRITE
    ) -> None:
        def work(run: QueryRunner) -> None:
            for values in each:
                run(query, space, **values)

        if each:
            self._database.run(mode, work)


def _mode(lasting: bool) -> AccessMode:
    return AccessMode.WRITE if lasting else AccessMode.WRITE_SOON


def _one(rows: list[Any]) -> str | None:
    return str(rows[0][0]) if rows else None
