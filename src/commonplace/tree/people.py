"""Who is one person with whom: the lines of `tree/people.md`, which a person may edit.

    - ann@example.org = ann.lee@example.com = "Ann Lee"      one person; the first of them stands for all
    - ? bob@example.org = bob@example.com                    may be one: a proposal
    - not eve@example.org = eve@example.com                  two: never proposed, nor merged by a rule

`TreeStore` reads the page and writes it, the retrieval verbs ask a `PeopleBook` which ids a person has, and an ingest
calls `join_people` with what the headers of its messages say. Ids are names of labels, as `person:ann@example.org`; the
page leaves out `person:`, and quotes names. Things of other kinds are merged in the same way, with their kind. Any
other line of the page is the user's, and stays; so does one with an id that is no text. Nothing here reads or writes a
file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import DENSE_RUN, fold_text
from commonplace.tree.entities import ENTITY_KINDS, PERSON

_HEAD = (
    "# People",
    "",
    'Which addresses and names are one person. To say that two are not, write "not" before them.',
    "",
)
_MAX_LINE = 10_000  # characters: a longer line is text
_LINE = lazy(r"\s*[-*+]\s+(?:(?P<mark>\?|not(?=\s))\s*)?(?P<items>\S.*)")
_QUOTED_OR_BETWEEN = lazy(r'"(?:[^"\\]|\\.)*"|(?P<between>\s=\s)')
_SURROGATE = lazy("[\ud800-\udfff]")  # half of a character: what has one cannot be written, or looked up
_NAME_WORD = lazy(r"[^\W\d_]+")
_ENOUGH = 2  # times that an address and a name are seen together
_MERGED, _PROPOSED, _APART = "", "?", "not"


class PeopleLine(NamedTuple):
    """A line that says of some ids that they are one person, may be one, or are not."""

    mark: str
    items: tuple[str, ...]  # as they are written

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, each once."""
        return tuple(dict.fromkeys(map(_read_item, self.items)))


class PeopleBook:
    """What a page says; it is never changed, every change returns another one."""

    def __init__(self, lines: Sequence[str] = ()) -> None:
        self._lines = tuple(lines)
        self._read = [(at, read) for at, line in enumerate(self._lines) if (read := _read_line(line)) is not None]
        self._groups = _Groups(read for _, read in self._read)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PeopleBook) and self._lines == other._lines

    def __hash__(self) -> int:
        return hash(self._lines)

    def render(self) -> str:
        """Return the page."""
        return "\n".join(self._lines)

    def canonical(self, ident: str) -> str:
        """Return the id that stands for a person; of one who is merged with nobody, the id itself."""
        return self.members(ident)[0]

    def members(self, ident: str) -> tuple[str, ...]:
        """Return all ids of a person, the canonical one first."""
        return tuple(self._groups.members(ident))

    def groups(self) -> list[tuple[str, ...]]:
        """Return the people with several ids, in the order of the page."""
        found = (self.members(ident) for _, line in self._read if line.mark == _MERGED for ident in line.ids)
        return [group for group in dict.fromkeys(found) if len(group) > 1]

    def proposals(self) -> list[tuple[str, ...]]:
        """Return the ids that may be one person, and are neither merged nor kept apart."""
        lines = (line.ids for _, line in self._read if line.mark == _PROPOSED)
        return [ids for ids in dict.fromkeys(lines) if any(self._is_open(*pair) for pair in combinations(ids, 2))]

    def merge(self, first: str, second: str) -> PeopleBook:
        """Return the book in which two ids are one person, for whom the canonical id of the first stands.

        A person decided it, so what kept them apart goes.
        """
        if self.canonical(first) == self.canonical(second) or not _is_text(first, second):
            return self
        across = {frozenset(pair) for pair in product(self.members(first), self.members(second))}
        lines: list[str] = []
        read = dict(self._read)
        for at, text in enumerate(self._lines):
            line = read.get(at)
            pairs = list(combinations(line.ids, 2)) if line is not None and line.mark != _MERGED else []
            left = [pair for pair in pairs if frozenset(pair) not in across]
            lines += [text] if line is None or left == pairs else [_write_line(line.mark, pair) for pair in left]
        return PeopleBook(_insert(lines, [_write_line(_MERGED, (first, second))]))

    def undo(self, ident: str) -> PeopleBook:
        """Return the book without the last merge of an id, which is kept apart from the ids that it was merged with."""
        merges = [(at, line) for at, line in self._read if line.mark == _MERGED and ident in line.ids]
        if not merges:
            return self
        at, line = merges[-1]
        others = [other for other in line.ids if other != ident]
        rest = [item for item in line.items if _read_item(item) != ident]
        lines = [*self._lines[:at], *([_join_items(_MERGED, rest)] if len(others) > 1 else []), *self._lines[at + 1 :]]
        return PeopleBook(_insert(lines, [_write_line(_APART, (other, ident)) for other in others]))

    def propose(self, first: str, second: str) -> PeopleBook:
        """Return the book that says that two ids may be one person, unless that is decided or proposed already."""
        if not (_is_text(first, second) and self._is_open(first, second)) or self._is_proposed(first, second):
            return self
        return PeopleBook(_insert(self._lines, [_write_line(_PROPOSED, (first, second))]))

    def _is_open(self, first: str, second: str) -> bool:
        return self.canonical(first) != self.canonical(second) and not self._groups.are_apart(first, second)

    def _is_proposed(self, first: str, second: str) -> bool:
        return any(line.mark == _PROPOSED and {first, second} <= {*line.ids} for _, line in self._read)

    def add_lines(self, merges: Iterable[Sequence[str]], proposals: Iterable[tuple[str, str]]) -> PeopleBook:
        """Return the book with merges and proposals of rules, as far as they are new and were never undone.

        Of a merge the items are given as the page has them, so that a name is written as its owner writes it.
        """
        groups = _Groups(line for _, line in self._read)
        proposed = {
            frozenset(pair) for _, line in self._read if line.mark == _PROPOSED for pair in combinations(line.ids, 2)
        }
        new = []
        for items in (items for items in merges if _is_text(*items)):
            first = _read_item(items[0])
            joined = [item for item in items[1:] if groups.unite(first, _read_item(item))]
            new += [_join_items(_MERGED, [items[0], *joined])] if joined else []
        for pair in proposals:
            is_open = groups.members(pair[0]) != groups.members(pair[1]) and not groups.are_apart(*pair)
            if is_open and frozenset(pair) not in proposed and _is_text(*pair):
                proposed.add(frozenset(pair))
                new.append(_write_line(_PROPOSED, pair))
        return PeopleBook(_insert(self._lines, new)) if new else self


def parse_people(text: str) -> PeopleBook:
    """Return what a page says. Every text is a page: a line that says nothing of people is the user's."""
    return PeopleBook(text.split("\n") if text else ())


def join_people(book: PeopleBook, seen: Mapping[tuple[str, str], int]) -> PeopleBook:
    """Return the book with what headers say; `seen` counts how often each name was with each address.

    An address and a full name that were seen together twice are one person. One name at two domains is proposed: there
    are many people of one name. An address that several people share is nobody's.
    """
    counts: dict[str, Counter[frozenset[str]]] = {}
    written: dict[frozenset[str], set[str]] = {}
    for (name, address), number in seen.items():
        words = frozenset(_NAME_WORD.findall(fold_text(name)))
        if address and "@" not in name and (len(words) > 1 or DENSE_RUN.search(name)):
            counts.setdefault(address.lower(), Counter())[words] += number
            written.setdefault(words, set()).add(" ".join(name.split()))
    addresses: dict[frozenset[str], list[str]] = {}
    for address, names in counts.items():
        sure = [words for words, number in names.items() if number >= _ENOUGH]
        if all(one <= other or other <= one for one, other in combinations(sure, 2)):
            for words in sure:
                addresses.setdefault(words, []).append(address)
    merges: list[list[str]] = []
    proposals: list[tuple[str, str]] = []
    for words in sorted(addresses, key=sorted):
        known = sorted(addresses[words], key=lambda address, words=words: (-counts[address][words], address))  # type: ignore[misc]
        first, *others = (f"{PERSON}{address}" for address in known)
        if len({address.rpartition("@")[2] for address in known}) == 1:
            names_of = sorted({fold_text(name): name for name in sorted(written[words])}.values())
            merges.append([*map(_write_item, (first, *others)), *map(_quote, names_of)])
        else:
            proposals += [(first, other) for other in others]
    return book.add_lines(merges, proposals)


class _Groups:
    """Which ids are one person, as lines say, in their order."""

    def __init__(self, lines: Iterable[PeopleLine]) -> None:
        self._apart: dict[str, set[str]] = {}
        self._group: dict[str, list[str]] = {}
        merged = []
        for line in lines:
            if line.mark == _MERGED:
                merged.append(line.ids)
            elif line.mark == _APART:
                for ident in line.ids:
                    self._apart.setdefault(ident, set()).update({*line.ids} - {ident})
        for first, *others in merged:
            for other in others:
                self.unite(first, other)

    def members(self, ident: str) -> list[str]:
        """Return the ids of a person."""
        return self._group.get(ident) or [ident]

    def are_apart(self, first: str, second: str) -> bool:
        """Return whether a line says of two people that they are not one."""
        others = {*self.members(second)}
        return any(not others.isdisjoint(self._apart.get(ident, ())) for ident in self.members(first))

    def unite(self, first: str, second: str) -> bool:
        """Make two people one, unless they are already, or a line forbids it. Return whether they were made one."""
        group, other = self.members(first), self.members(second)
        if first in other or self.are_apart(first, second):
            return False
        group += other
        for ident in group:
            self._group[ident] = group
        return True


def _read_line(text: str) -> PeopleLine | None:
    """Return what a line says of people; None if it says nothing."""
    found = _LINE.match(text) if len(text) <= _MAX_LINE and "=" in text else None
    if found is None:
        return None
    line = PeopleLine(found["mark"] or _MERGED, tuple(_split_items(found["items"])))
    return line if all(line.items) and len(line.ids) > 1 and _is_text(*line.ids) else None


def _is_text(*parts: str) -> bool:
    return not any(map(_SURROGATE.search, parts))


def _split_items(text: str) -> Iterator[str]:
    start = 0
    for found in _QUOTED_OR_BETWEEN.finditer(text):
        if found["between"]:
            yield text[start : found.start()].strip()
            start = found.end()
    yield text[start:].strip()


def _read_item(item: str) -> str:
    """Return the id that an item of a line names."""
    text = item
    if len(item) > 1 and item[0] == item[-1] == '"':
        try:
            text = json.loads(item)
        except ValueError:
            text = item[1:-1]
    kind, colon, _ = text.partition(":")
    return text if colon and kind in ENTITY_KINDS else f"{PERSON}{fold_text(text)}"


def _write_item(ident: str) -> str:
    """Return an id as an item of a line: as short as can be read back."""
    short = ident.removeprefix(PERSON)
    is_bare = not (short.startswith(_PROPOSED) or short in {"", _APART} or " " in short or '"' in short)
    for item in (short, _quote(short), ident, _quote(ident)) if is_bare else (_quote(short), _quote(ident)):
        if _read_item(item) == ident and [*_split_items(item)] == [item] and "\n" not in item:
            return item
    return _quote(ident)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _write_line(mark: str, ids: Sequence[str]) -> str:
    return _join_items(mark, [*map(_write_item, ids)])


def _join_items(mark: str, items: Sequence[str]) -> str:
    return f"- {f'{mark} ' if mark else ''}{' = '.join(items)}"


def _insert(lines: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the lines of a page with new ones behind the last that says something of people."""
    known = [at for at, line in enumerate(lines) if _read_line(line) is not None]
    if known:
        return [*lines[: known[-1] + 1], *new, *lines[known[-1] + 1 :]]
    above = [*lines] if any(lines) else [*_HEAD]
    while above and not above[-1]:
        above.pop()
    return [*above, "", *new, ""]
