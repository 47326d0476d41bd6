"""A second state, of plain dicts: the conformance suite runs on it, and SQLite is compared with it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from commonplace.model.costs import ModelCost
from commonplace.model.names import new_id
from commonplace.model.scope import Space
from commonplace.model.times import now as clock
from commonplace.model.times import shift_time
from commonplace.state.port import (
    DAY_SECONDS,
    JUMP_SECONDS,
    PROTOCOL_SECONDS,
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


class _Held:
    """What is kept for one space. The spool has, per item, the time until which it is leased."""

    def __init__(self) -> None:
        self.usage: dict[str, UseCount] = {}
        self.spool: dict[str, tuple[SpoolItem, str]] = {}
        self.protocol: dict[str, tuple[str, str]] = {}
        self.facts: dict[str, str] = {}
        self.costs: dict[tuple[str, str], ModelCost] = {}
        self.jobs: dict[str, tuple[int, str]] = {}  # the failures, and when it is free


class MemoryState:
    def __init__(self, *, created_at: str | None = None) -> None:
        self._created_at = created_at or clock()
        check_time(self._created_at)
        self._spaces: dict[Space, _Held] = {}
        self._lock = threading.RLock()

    def created_at(self, space: Space) -> str:
        return self._created_at

    def record_uses(self, space: Space, refs: Iterable[str], when: str) -> None:
        named = list(refs)
        check_text(*named)
        check_time(when)
        with self._lock:
            usage = self._of(space).usage
            for ref in named:
                usage[ref] = after_use(usage.get(ref), when)

    def usage(self, space: Space, refs: Iterable[str]) -> Mapping[str, UseCount]:
        named = list(refs)
        check_text(*named)
        with self._lock:
            usage = self._of(space).usage
            return {ref: usage[ref] for ref in named if ref in usage}

    def forget_uses(self, space: Space, refs: Iterable[str]) -> None:
        named = list(refs)
        check_text(*named)
        with self._lock:
            for ref in named:
                self._of(space).usage.pop(ref, None)

    def scrub(self) -> bool:
        """What is deleted here is gone."""
        return True

    def flush(self, *, lasting: bool = True) -> None:
        """Nothing is ever waiting here."""

    def spool_put(self, space: Space, kind: str, payload: str, when: str) -> str:
        check_text(kind, payload)
        check_time(when)
        with self._lock:
            item = SpoolItem(new_id(), kind, payload, when, tries=0)
            self._of(space).spool[item.id] = (item, "")
        return item.id

    def spool_take(self, space: Space, kind: str, limit: int, when: str, lease_seconds: int) -> Sequence[SpoolItem]:
        check_text(kind)
        until = check_lease(when, lease_seconds)
        latest = shift_time(until, DAY_SECONDS)
        with self._lock:
            spool = self._of(space).spool
            free = [item for item, leased in spool.values() if item.kind == kind and not when < leased <= latest]
            taken = [item._replace(tries=item.tries + 1) for item in free[: max(limit, 0)]]
            spool.update({item.id: (item, until) for item in taken})
        return taken

    def spool_done(self, space: Space, ids: Iterable[str]) -> None:
        named = list(ids)
        check_text(*named)
        with self._lock:
            for one in named:
                self._of(space).spool.pop(one, None)

    def protocol_get(self, space: Space, key: str, now: str) -> str | None:
        check_text(key)
        check_time(now)
        with self._lock:
            value, until = self._of(space).protocol.get(key, (None, ""))
            return value if now < until <= latest_protocol_end(now) else None

    def protocol_put(self, space: Space, key: str, value: str, now: str) -> None:
        check_text(key, value)
        until, latest = shift_time(now, PROTOCOL_SECONDS), latest_protocol_end(now)
        with self._lock:
            held = self._of(space)
            held.protocol = {name: kept for name, kept in held.protocol.items() if now < kept[1] <= latest}
            held.protocol[key] = (value, until)

    def set_fact(self, space: Space, name: str, value: str | None, *, lasting: bool = True) -> None:
        check_text(name, value or "")
        with self._lock:
            facts = self._of(space).facts
            facts.pop(name, None)
            if value is not None:
                facts[name] = value

    def get_fact(self, space: Space, name: str) -> str | None:
        check_text(name)
        with self._lock:
            return self._of(space).facts.get(name)

    def list_facts(self, space: Space, prefix: str) -> dict[str, str]:
        check_text(prefix)
        with self._lock:
            return {name: value for name, value in sorted(self._of(space).facts.items()) if name.startswith(prefix)}

    def add_cost(self, space: Space, cost: ModelCost) -> None:
        check_text(cost.model)
        check_time(f"{cost.day}T00:00:00Z")
        with self._lock:
            costs = self._of(space).costs
            before = costs.get(cost[:2], ModelCost(cost.day, cost.model, 0, 0, 0, 0))
            sums = (one + more for one, more in zip(before[2:], cost[2:], strict=True))
            costs[cost[:2]] = ModelCost(cost.day, cost.model, *sums)

    def costs(self, space: Space) -> Sequence[ModelCost]:
        with self._lock:
            return [cost for _, cost in sorted(self._of(space).costs.items())]

    def claim_job(self, space: Space, name: str, now: str, lease_seconds: int) -> bool:
        check_text(name)
        until = check_lease(now, lease_seconds)
        with self._lock:
            held = self._of(space)
            before = shift_time(now, -JUMP_SECONDS)
            held.jobs = {one: job for one, job in held.jobs.items() if job[1] >= before}
            failures, free_at = held.jobs.get(name, (0, ""))
            is_free = is_job_free(free_at, now)
            if is_free:
                held.jobs[name] = (failures, until)
            return is_free

    def fail_job(self, space: Space, name: str, now: str) -> None:
        check_text(name)
        check_time(now)
        with self._lock:
            jobs = self._of(space).jobs
            failures = jobs.get(name, (0, ""))[0] + 1
            jobs[name] = (failures, job_retry_at(failures, now))

    def finish_job(self, space: Space, name: str) -> None:
        check_text(name)
        with self._lock:
            self._of(space).jobs.pop(name, None)

    problem = None

    def detach(self) -> None:
        """It has no files."""

    def close(self) -> None:
        """Nothing is open."""

    def _of(self, space: Space) -> _Held:
        return self._spaces.setdefault(space, _Held())
