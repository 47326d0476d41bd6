"""One result, the same shape from every retrieval."""

from enum import StrEnum
from typing import NamedTuple


class HitKind(StrEnum):
    MEMORY = "memory"
    JOURNAL = "journal"
    LEAF = "leaf"
    SUMMARY = "summary"
    DIGEST = "digest"


class Hit(NamedTuple):
    kind: HitKind
    ref: str
    key: str
    scope: str
    scope_id: str | None
    path: str
    entry: str
    text: str
    summary: str
    author: str | None
    trust: str
    time_start: str
    time_end: str
    updated: str
    score: float
    revision: str
    sources: tuple[str, ...] = ()
    status: str = "active"  # of its memory; for a question about an earlier time, as it was then

    @property
    def mark(self) -> str:
        """What whoever reads the text has to know of it: nothing of one that stands."""
        return "" if self.status == "active" else self.status
