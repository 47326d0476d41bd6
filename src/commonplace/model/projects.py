"""What the verbs about projects answer: which project a folder is, the projects of a book, and what was changed."""

from __future__ import annotations

from typing import NamedTuple


class ProjectInfo(NamedTuple):
    """The project that a folder belongs to."""

    id: str
    source: str  # how it was found: override, remote, marker, repository or folder
    memories: int
    unproved: str | None = None  # the project that the folder may be, without proof
    proof: str = ""  # commit, marker, git (its `.git` was seen before), folder or adopted; "" if it is new
    aliases: tuple[str, ...] = ()  # ids that lead to it, too
    folders: tuple[str, ...] = ()  # where it was seen
    others: tuple[str, ...] = ()  # other projects that the folder may be, or that have the same history


class ProjectItem(NamedTuple):
    """A project of the book."""

    id: str
    folders: tuple[str, ...]
    memories: int
    updated: str  # when a memory of it was last changed; "" if it has none
    own: bool  # whether this folder belongs to it


class ProjectChange(NamedTuple):
    """What `adopt`, `merge`, `split` or `undo` did."""

    action: str  # adopted, merged, split; undone, with the name of what was undone in `undone`
    id: str  # the project that the folder belongs to now, or that has the memories
    memories: int  # that it has
    other: str | None = None  # the project that the folder left, or whose memories were moved
    moved: int = 0  # memories
    renamed: tuple[tuple[str, str], ...] = ()  # keys that were taken: what each was, and is now
    undone: str | None = None
