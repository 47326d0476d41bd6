"""Which sub-pages a folder has, and what is on each: a tree that follows from the names alone.

All names that share a prefix are one group. A group of at most CAPACITY is a page that lists them; a larger one is
split by the next character in which its names differ, and its page links to the parts. The group of all names is the
folder's index.md; the others are `_index/PREFIX.md`. So two people with the same notes have the same pages, and one
more note changes one page, or splits one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.index.port import Line, Transaction
from commonplace.model.names import is_windows_reserved

CAPACITY = 50
LONGEST_PREFIX = 100  # names that agree for longer are not split: a file name has an end


class Group(NamedTuple):
    """The names below one prefix: listed here, or in the parts (prefixes again)."""

    prefix: str
    listed: Sequence[Line]
    parts: Sequence[str]


def group(index: Transaction, folder: str, prefix: str) -> "Group":
    if index.count(folder, prefix, CAPACITY + 1) <= CAPACITY:
        return Group(prefix, index.starting_with(folder, prefix, CAPACITY), ())
    rows = index.starting_with(folder, prefix, 1)
    last = index.last_sort(folder, prefix) or prefix
    shared = _shared(rows[0].sort, last)
    parts = [shared + character for character in index.next_characters(folder, shared)]
    if not parts or len(shared) >= LONGEST_PREFIX:
        return Group(prefix, index.starting_with(folder, prefix, 1_000_000), ())
    if rows[0].sort == shared:  # names that others continue
        rows = index.starting_with(folder, shared, CAPACITY)
        if rows[-1].sort == shared:  # spellings of one name, which cannot be split
            rows = index.starting_with(folder, shared, 1_000_000)
        return Group(prefix, [row for row in rows if row.sort == shared], parts)
    return Group(prefix, (), parts)


def _shared(one: str, other: str) -> str:
    """The characters that two names start with alike."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return one[:at]
    return min(one, other, key=len)


def page_name(prefix: str) -> str:
    """The file name of a group's page. `__` never stands in a sort name, so no other prefix has this name."""
    return f"{prefix}__.md" if is_windows_reserved(prefix) else f"{prefix}.md"


def prefix_of(name: str) -> str:
    return name.removesuffix(".md").removesuffix("__")
