"""The state port: what is neither memory nor derivable from files. Losing it loses no memory and expires nothing.

What every implementation promises, and tests/state/conformance.py checks:

- Spaces do not see each other. Any Unicode text can be kept; text that is not Unicode is an InvalidField.
- Times are timestamps (`2026-11-15T09:30:00Z`) that the caller passes in; anything else is an InvalidField. The
  clock is read for one thing only: a new state records when it began.
- `record_uses` counts a use at most once a minute per ref, and never fails or waits for a disk that is busy. It may be
  written late: a crash loses the uses of the last half minute before the last call, a `close` none. `usage` includes
  them.
- What `spool_put` has returned an id for survives power loss until `spool_done` names it.
- `spool_take` leases: while a lease runs, no other caller is given the item; when it has run out without `spool_done`,
  the next caller is, first put first given.
- What `protocol_put` kept is there for 30 minutes, and each put begins them anew.
- A job is a call of a model that should be made once. Of all who claim its name, one gets it, until its lease runs out
  or it ends. A job that failed can be claimed again after 1, 2, 4, 8, 16, then 30 minutes; from the tenth time on after
  a day, because such a call costs money.
- What `add_cost` was given adds up, whoever adds at the same time; it is durable when the call returns.
- A clock that was set back makes nothing last: a use, a lease, a job that waits or a protocol state from what is now
  the future by more than a day (a job: two days; a protocol state: a minute) gives way.
- Safe to use from several threads and, where it is on disk, from several processes.

`believe` decides which time of the system's clock the book goes by, so that one wrong clock neither deletes nor hides
anything. Retention calls it at each look. A time within 30 days of the last look is believed at once. After a jump of
more than that, forward or back, or with a new state, it takes a second sign: another look at least half a day later, or
after the machine was started again, that is not before the first. Until then nothing is retired and nothing leaves the
trash. A book that was left alone for two months gets there on its second day. `last_look` is the time believed last.
Nothing that a book records is dated before it: see `times.never_before`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

from commonplace.model.costs import ModelCost
from commonplace.model.errors import InvalidField, StorageError
from commonplace.model.scope import Space
from commonplace.model.times import shift_time

USE_SECONDS: Final = 60  # of uses closer together than this, the first counts
PROTOCOL_SECONDS: Final = 30 * 60
DAY_SECONDS: Final = 86_400
JUMP_SECONDS: Final = 30 * DAY_SECONDS
JOB_MINUTES: Final = (1, 2, 4, 8, 16, 30, 30, 30, 30)  # that a job waits after its first failure, its second ...
_LAST_JOB_SECONDS: Final = DAY_SECONDS  # and after any more
SECOND_SIGN_SECONDS: Final = DAY_SECONDS // 2
_LAST_LOOK, _DOUBTED = "last-look", "doubted-look"  # facts: a time; a time, a space and the boot


class UseCount(NamedTuple):
    """How often a ref was used."""

    times: int
    last: str  # the last use that counted


class SpoolItem(NamedTuple):
    """Work that waits in the spool, as it is given to a worker."""

    id: str
    kind: str
    payload: str
    when: str  # it was put
    tries: int  # how often it has been taken, this time included


class State(Protocol):
    """What the book keeps besides its files and its index. See the promises at the top of this module."""

    def created_at(self, space: Space) -> str:
        """Return when this state began. How long a ref has been unused is counted from here at the earliest."""

    def record_uses(self, space: Space, refs: Iterable[str], when: str) -> None:
        """Count a use of each ref, at most one a minute. It may be written later."""

    def usage(self, space: Space, refs: Iterable[str]) -> Mapping[str, UseCount]:
        """Return the use counts of those among the refs that have any."""

    def forget_uses(self, space: Space, refs: Iterable[str]) -> None:
        """Forget that these refs were ever used. A use that another process has yet to write may still arrive."""

    def scrub(self) -> bool:
        """Leave nothing of what was deleted, in a log either; return False where another process's reading stops it."""

    def flush(self, *, lasting: bool = True) -> None:
        """Write the uses that are not written yet.

        Not `lasting`: do not wait for the disk or for other processes, as a hook cannot. A power cut may then take the
        uses back, and a busy state is an error at once.
        """

    def spool_put(self, space: Space, kind: str, payload: str, when: str) -> str:
        """Keep work for later and return its id, once it is durable."""

    def spool_take(self, space: Space, kind: str, limit: int, when: str, lease_seconds: int) -> Sequence[SpoolItem]:
        """Lease up to `limit` of the oldest items of this kind that no one holds."""

    def spool_done(self, space: Space, ids: Iterable[str]) -> None:
        """Remove items that are dealt with, leased or not; an unknown id is no error."""

    def protocol_get(self, space: Space, key: str, now: str) -> str | None:
        """Return what was put under a key in the last 30 minutes; None when nothing was."""

    def protocol_put(self, space: Space, key: str, value: str, now: str) -> None:
        """Keep a value under a key for 30 minutes from now."""

    def set_fact(self, space: Space, name: str, value: str | None, *, lasting: bool = True) -> None:
        """Keep a small fact under a name, in place of the one before; None removes it. `lasting`: see `flush`."""

    def get_fact(self, space: Space, name: str) -> str | None:
        """Return the fact under a name; None when there is none."""

    def list_facts(self, space: Space, prefix: str) -> dict[str, str]:
        """Return the facts whose names start with a prefix, by name."""

    def add_cost(self, space: Space, cost: ModelCost) -> None:
        """Add what calls of a model cost to its row of that day. Negative numbers take back what was too much."""

    def costs(self, space: Space) -> Sequence[ModelCost]:
        """Return what calls cost, in a row for each day and model, oldest first."""

    def claim_job(self, space: Space, name: str, now: str, lease_seconds: int) -> bool:
        """Lease a job; return False where another has it, or it failed and has to wait."""

    def fail_job(self, space: Space, name: str, now: str) -> None:
        """Count a failure of a job, and let it wait the longer the more there were."""

    def finish_job(self, space: Space, name: str) -> None:
        """Forget a job and its failures, because it is done or was not begun; an unknown name is no error."""

    @property
    def problem(self) -> StorageError | None:
        """Why what is stored could not be read, and so counts as empty; None almost always."""

    def detach(self) -> None:
        """Read a copy in memory for a while: the files take handles that a reader needs."""

    def close(self) -> None:
        """Write what is not written yet and close the files. Never raises; closing twice is no error."""


def after_use(found: UseCount | None, when: str) -> UseCount:
    """Return the use count of a ref after one more use. The same use again changes nothing."""
    if found is None:
        return UseCount(1, when)
    is_same = shift_time(when, -USE_SECONDS) < found.last <= shift_time(when, DAY_SECONDS)
    return found if is_same else UseCount(found.times + 1, when)


def latest_protocol_end(now: str) -> str:
    """Return the latest end that a protocol state kept until now can have: a later one is of a clock that was wrong."""
    return shift_time(now, PROTOCOL_SECONDS + USE_SECONDS)


def check_time(when: str) -> None:
    """Raise InvalidField unless this is a timestamp."""
    shift_time(when, 0)


def check_text(*texts: str) -> None:
    """Raise InvalidField unless these texts are Unicode."""
    try:
        for text in texts:
            text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidField("A text for the state is not Unicode.", hint="Send valid Unicode text.") from None


def check_lease(when: str, lease_seconds: int) -> str:
    """Return when a lease that begins now ends. Raises InvalidField if it is too short."""
    if lease_seconds < 1:
        raise InvalidField("A lease lasts a second at least.")
    return shift_time(when, lease_seconds)


def is_job_free(free_at: str, now: str) -> bool:
    """Return whether a job whose lease or wait ends at `free_at` can be claimed now. A time too far off is wrong."""
    return free_at <= now or free_at > shift_time(now, 2 * DAY_SECONDS)


def job_retry_at(failures: int, now: str) -> str:
    """Return when a job that has just failed for this number of times can be claimed again."""
    minutes = JOB_MINUTES[failures - 1 : failures]
    return shift_time(now, 60 * minutes[0] if minutes else _LAST_JOB_SECONDS)


def last_look(state: State, space: Space) -> str:
    """Return the time that was believed last; empty where none was, or it cannot be read."""
    with suppress(StorageError):
        return state.get_fact(space, _LAST_LOOK) or ""
    return ""


def believe(state: State, space: Space, now: str) -> str | None:
    """Return the time to go by: now, an earlier look that this one confirms, or None until there is a second sign."""
    known = state.get_fact(space, _LAST_LOOK)
    if not _is_near(known, now):
        doubted, _, boot = (state.get_fact(space, _DOUBTED) or "").partition(" ")
        if not doubted or now < doubted:
            state.set_fact(space, _DOUBTED, f"{now} {_boot_id()}", lasting=False)
            return None
        if now < shift_time(doubted, SECOND_SIGN_SECONDS) and boot == _boot_id():
            return None
        if not _is_near(doubted, now):  # the clock jumped again: only the first of the two is confirmed
            state.set_fact(space, _DOUBTED, f"{now} {_boot_id()}", lasting=False)
            state.set_fact(space, _LAST_LOOK, doubted, lasting=False)
            return doubted
        known = None  # so that a clock that was set back for good is believed, too
    state.set_fact(space, _LAST_LOOK, max(known or "", now), lasting=False)
    if state.get_fact(space, _DOUBTED):
        state.set_fact(space, _DOUBTED, None, lasting=False)
    return now


def _is_near(known: str | None, now: str) -> bool:
    return known is not None and shift_time(known, -JUMP_SECONDS) <= now <= shift_time(known, JUMP_SECONDS)


def _boot_id() -> str:
    """Return what names the time since the machine was started; empty where the system does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, ValueError):
        return ""
