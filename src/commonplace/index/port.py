"""The index: what the files say, arranged for asking. Everything in it can be read back from the files.

What every implementation promises, and tests/index/conformance.py checks:

- a transaction sees its own changes; an exception inside it leaves the index as it was; one writer at a time
- every question for index pages costs no more than its answer is long, however many memories a folder holds
- spaces do not see each other
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from commonplace.model.space import Space

Looks = tuple[int, int, int]
"""A file from outside: size, time of change in nanoseconds, inode."""


@dataclass(frozen=True, slots=True)
class Row:
    """One memory as the index knows it. `folder` and `name` are its path; `sort` is its place on index pages."""

    folder: str
    name: str  # the file's name without .md
    sort: str
    id: str
    type: str
    status: str
    summary: str
    tags: tuple[str, ...]
    pinned: bool
    created: str
    updated: str
    revision: str
    line: str = ""  # what index pages say of it
    filed: bool = False  # that line stands on its sub-page


@dataclass(frozen=True, slots=True)
class Counts:
    active: int
    hidden: int
    types: Mapping[str, int]
    tags: Sequence[tuple[str, int]]  # most used first, then by name


class Transaction(Protocol):
    def put(self, row: Row) -> None: ...
    def remove(self, folder: str, name: str) -> None: ...

    def saw(self, folder: str, name: str, looks: Looks) -> None:
        """Note what the file of a row looks like from outside. `put` and `remove` forget it."""
        ...

    def looks(self, folder: str) -> Mapping[str, Looks]:
        """What was noted of the files in this folder, by name: one that looks the same has not changed."""
        ...

    def get(self, folder: str, name: str) -> Row | None: ...

    def rows(self, folder: str) -> Mapping[str, Row]:
        """Every memory in this very folder, by name."""
        ...

    def folders(self, below: str) -> Sequence[str]:
        """This folder and those below it that hold memories, sorted."""
        ...

    # Questions of index pages; active memories only.
    def counts(self, folder: str, tags: int) -> Counts: ...
    def newest(self, folder: str, limit: int) -> Sequence[Row]: ...
    def pinned(self, folder: str, limit: int) -> Sequence[Row]: ...
    def unfiled(self, folder: str, limit: int) -> Sequence[Row]: ...
    def mark_filed(self, folder: str, *, filed: bool) -> None: ...

    def starting_with(self, folder: str, prefix: str, limit: int) -> Sequence[Row]:
        """The first few whose sort name starts so, in order."""
        ...

    def count(self, folder: str, prefix: str, limit: int) -> int:
        """How many sort names start so; it need not count beyond the limit."""
        ...

    def last_sort(self, folder: str, prefix: str) -> str | None: ...

    def next_characters(self, folder: str, prefix: str) -> Sequence[str]:
        """The characters that follow this prefix in sort names, in order."""
        ...


class Index(Protocol):
    def transaction(self, space: Space) -> AbstractContextManager[Transaction]: ...
