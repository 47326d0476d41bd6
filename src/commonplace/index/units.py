"""What the index knows of the units of the tree: by their ids, by what they mention, and by when they were.

It is a part of the index port, and holds for the tree's own index. The room `tree` puts what units mention, after the
units themselves; a unit that is read anew waits for that again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from commonplace.index.values import EntryCandidate, Window


class Label(NamedTuple):
    """What a unit of the tree mentions: its name is a kind and an identity, as person:ann@example.org."""

    name: str
    surface: str  # as it is written


class LabelCount(NamedTuple):
    """How many units mention a label, and when the last one was."""

    name: str
    number: int
    last: str


class UnitSpan(NamedTuple):
    """How many units there are, and when the first and the last of them were."""

    number: int
    first: str = ""
    last: str = ""


class UnitQueries(Protocol):
    """The queries about units, whose ids begin with `u-`."""

    def units(self, idents: Collection[str]) -> Sequence[EntryCandidate]:
        """Return the current units with these ids, by id."""

    def unlabelled(self, limit: int) -> Sequence[int]:
        """Return the numbers of units whose labels were not put yet, in order."""

    def put_labels(self, labels: Mapping[int, Collection[Label]]) -> None:
        """Record what each of these units mentions. Of several surfaces of a label the longest is shown."""

    def unlabel_all(self) -> None:
        """Have the labels of all units put again."""

    def find_labels(self, words: Collection[str], kinds: Collection[str], limit: int) -> Sequence[Label]:
        """Return labels of these kinds that have all of some words in their name or surface, in any case."""

    def count_mentions(self, names: Collection[str]) -> Sequence[LabelCount]:
        """Return how many units mention each of these labels, and when the last one was; those that none does are left
        out."""

    def mentioning(self, names: Collection[str], window: Window, limit: int) -> Sequence[int]:
        """Return the numbers of the units in the time of a window that mention one of these labels, latest first."""

    def labels_of(self, numbers: Collection[int]) -> Mapping[int, Sequence[str]]:
        """Return the names of what each of these units mentions."""

    def in_window(self, window: Window, limit: int) -> Sequence[int]:
        """Return the numbers of the current entries in a window, latest first."""

    def last_number(self) -> int:
        """Return the greatest number of an entry: with `vectors_dropped` it says whether anything has changed."""

    def measure(self, window: Window) -> UnitSpan:
        """Return how many current entries are in a window, and from when to when."""

    def count_addresses(self) -> Sequence[tuple[str, str, int]]:
        """Return the authors of units with their address (the attribute `from`), and how many units have both."""

    def count_labels(self, kinds: Collection[str]) -> int:
        """Return how many labels of these kinds there are."""

    def count_authors(self, window: Window, limit: int) -> Sequence[tuple[str, int]]:
        """Return who wrote most of what is in a window, and how much, most first."""
