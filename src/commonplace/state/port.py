"""The state: what is neither memory nor derivable from files. Losing it loses no memory and expires nothing.

What every implementation promises, and tests/state/conformance.py checks:

- Spaces do not see each other. Any Unicode text can be kept; text that is not Unicode is an InvalidField.
- Times are timestamps (`2026-11-15T09:30:00Z`) that the caller passes in; anything else is an InvalidField. A clock is
  read for one thing only: when a state begins, it notes the time, unless it was given one.
- `used` counts a use at most once a minute per ref, and never fails or waits for a disk that is busy. It may be written
  late: a crash loses the uses of the last half minute before the last call, a `close` none. `usage` includes them.
- What `spool_put` has returned an id for survives power loss until `spool_done` names it.
- `spool_take` leases: while a lease runs nobody else is given the item; when it has run out without `spool_done`, the
  next one who asks is, first put first given.
- What `protocol_put` kept is there for 30 minutes, and each put begins them anew.
- Safe to use from several threads and, where it is on disk, from several processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, Self

from commonplace.model.errors import InvalidField
from commonplace.model.scope import Space
from commonplace.model.times import shift_time

USE_SECONDS: Final = 60  # of uses closer together than this, the first counts
PROTOCOL_SECONDS: Final = 30 * 60
_MOST_TOKENS = 10**12  # of one call; sums then stay far inside 64 bits
_MOST_COST = 10**6
_UNIT = 10**9  # costs are summed in billionths: whole numbers have one sum, in whatever order


class UseCount(NamedTuple):
    times: int
    last: str  # the last use that counted


class Spooled(NamedTuple):
    id: str
    kind: str
    payload: str
    when: str  # it was put
    tries: int  # how often it has been given to somebody, this time included


class _LedgerLine(NamedTuple):
    when: str
    what: str
    model: str
    tokens_in: int
    tokens_out: int
    cost: float


class LedgerLine(_LedgerLine):
    """What one call of a model took. `cost` is in US dollars, kept to the billionth."""

    __slots__ = ()

    def __new__(cls, when: str, what: str, model: str, tokens_in: int, tokens_out: int, cost: float) -> Self:
        check_time(when)
        check_text(what, model)
        if not (0 <= tokens_in <= _MOST_TOKENS and 0 <= tokens_out <= _MOST_TOKENS):
            raise InvalidField("A count of tokens in the ledger is below zero or beyond belief.")
        if not (math.isfinite(cost) and 0 <= cost <= _MOST_COST):
            raise InvalidField("A cost in the ledger is below zero or beyond belief.")
        return super().__new__(cls, when, what, model, tokens_in, tokens_out, cost)

    @property
    def billionths(self) -> int:
        return round(self.cost * _UNIT)


class LedgerTotal(NamedTuple):
    lines: int
    tokens_in: int
    tokens_out: int
    cost: float

    @classmethod
    def of(cls, lines: int, tokens_in: int, tokens_out: int, billionths: int) -> LedgerTotal:
        return cls(lines, tokens_in, tokens_out, billionths / _UNIT)


class State(Protocol):
    def born(self, space: Space) -> str:
        """When this state began. Whoever asks how long a ref has been unused counts from here at the earliest."""

    def used(self, space: Space, refs: Iterable[str], when: str) -> None: ...

    def usage(self, space: Space, refs: Iterable[str]) -> Mapping[str, UseCount]:
        """The usage of those among the refs that have any."""

    def forget_refs(self, space: Space, refs: Iterable[str]) -> None:
        """Forget that these were ever used. A use that another process has yet to write may come after it."""

    def flush(self, *, lasting: bool = True) -> None:
        """Write the uses that are not written yet. Not lasting: without waiting for the disk or for others, for who has
        no time: a power cut may take it back, and a busy state is an error at once."""

    def spool_put(self, space: Space, kind: str, payload: str, when: str) -> str: ...

    def spool_take(self, space: Space, kind: str, limit: int, when: str, lease_seconds: int) -> Sequence[Spooled]:
        """Lease the oldest of this kind that nobody holds, as many as `limit` at most."""

    def spool_done(self, space: Space, ids: Iterable[str]) -> None:
        """These are dealt with, whoever holds them; one that is not there is no error."""

    def spool_size(self, space: Space, kind: str) -> int:
        """How many of this kind are not done, leased ones included."""

    def protocol_get(self, space: Space, key: str, now: str) -> str | None: ...

    def protocol_put(self, space: Space, key: str, value: str, now: str) -> None: ...

    def ledger_add(self, space: Space, line: LedgerLine) -> None: ...

    def ledger_total(self, space: Space, since: str) -> LedgerTotal:
        """The sum of the lines from this time on."""

    def remember(self, space: Space, name: str, value: str | None, *, lasting: bool = True) -> None:
        """Keep a small fact under a name, in place of the one before; None forgets it. `lasting`: see flush."""

    def remembered(self, space: Space, name: str) -> str | None: ...

    def remembered_like(self, space: Space, prefix: str) -> dict[str, str]:
        """The facts whose names start so, in the order of their names."""

    def close(self) -> None:
        """Write what is not written yet and let go of the files. Never raises; closing twice is closing once."""


def after_use(found: UseCount | None, when: str) -> UseCount:
    """The rule of counting: what the usage of a ref is after a use. The same use again changes nothing."""
    if found is None:
        return UseCount(1, when)
    return found if found.last > shift_time(when, -USE_SECONDS) else UseCount(found.times + 1, when)


def check_time(when: str) -> None:
    shift_time(when, 0)


def check_text(*texts: str) -> None:
    try:
        for text in texts:
            text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidField("A text for the state is not Unicode.", hint="Send valid Unicode text.") from None


def check_lease(when: str, lease_seconds: int) -> str:
    """When a lease that begins now will have run out."""
    if lease_seconds < 1:
        raise InvalidField("A lease lasts a second at least.")
    return shift_time(when, lease_seconds)
