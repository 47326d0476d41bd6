"""Uses that are counted but not written yet, so that reading a memory costs no write.

They are replayed over what is written, by the rule of port.after_use. Replaying one twice changes nothing, so neither a
reader nor a second writer needs to know which have been written a moment ago.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock

from commonplace.model.space import Space
from commonplace.model.times import shift

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
        due = shift(when, -OLDEST)
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
