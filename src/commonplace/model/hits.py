"""One result, the same shape from every retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HitKind(StrEnum):
    MEMORY = "memory"
    JOURNAL = "journal"
    LEAF = "leaf"
    SUMMARY = "summary"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class Hit:
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
