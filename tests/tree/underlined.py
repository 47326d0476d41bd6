"""Threads of mail and chat in which a colleague underlined what matters: `extract_set/`, one file for each language.

A line of a file is a sentence. `+ ` underlined, `- ` a courtesy or a signature, two spaces anything else; an empty line
is one of the message. `== ` begins a thread with its title, `-- ` a message with its time and author.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from commonplace.text.words import estimate_tokens
from commonplace.tree.extract import Passage
from commonplace.tree.sentences import split_sentences, strip_marks

FOLDER = Path(__file__).parent / "extract_set"


class Chosen(NamedTuple):
    """A sentence that something chose from a unit."""

    unit: str
    text: str


class UnderlinedSet(NamedTuple):
    """The messages of a file, and the lines of each unit by how they are marked."""

    name: str
    passages: tuple[Passage, ...]
    underlined: frozenset[Chosen]
    courtesies: frozenset[Chosen]

    def count_underlined(self, chosen: Iterable[Chosen]) -> int:
        """Return how many underlined lines a choice names: whole, or within a longer sentence."""
        named = {one for one in chosen if one in self.underlined}
        longer = [one for one in chosen if one not in self.underlined]
        return len(named) + sum(
            line not in named and any(one.unit == line.unit and line.text in one.text for one in longer)
            for line in self.underlined
        )


def read_sets() -> list[UnderlinedSet]:
    """Return the sets of all files."""
    return [_read_set(path) for path in sorted(FOLDER.glob("*.txt"))]


def _read_set(path: Path) -> UnderlinedSet:
    passages: list[Passage] = []
    lines: dict[str, list[Chosen]] = {"+": [], "-": [], " ": []}
    title = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            title = line[3:]
        elif line.startswith("-- "):
            _, time, author = line.split(" ", 2)
            unit = f"{path.stem}-{len(passages) + 1}"
            passages.append(Passage(unit, f"{path.stem}/{title}", title, author, time, ""))
        else:
            last = passages[-1]
            passages[-1] = last._replace(text=f"{last.text}\n{line[2:]}".lstrip("\n"))
            if line.strip():
                lines[line[0]].append(Chosen(last.unit, line[2:]))
    return UnderlinedSet(path.stem, tuple(passages), frozenset(lines["+"]), frozenset(lines["-"]))


def take_first(passages: Sequence[Passage], limit: int) -> list[Chosen]:
    """Return the first sentence of each passage, in order of time, up to so many tokens: a floor."""
    firsts = [
        Chosen(one.unit, strip_marks(sentences[0]))
        for one in sorted(passages, key=lambda one: one.occurred)
        if (sentences := split_sentences(one.text))
    ]
    return _take(firsts, limit)


def take_any(passages: Sequence[Passage], limit: int, seed: int) -> list[Chosen]:
    """Return sentences by chance, up to so many tokens: a floor."""
    every = [Chosen(one.unit, strip_marks(sentence)) for one in passages for sentence in split_sentences(one.text)]
    random.Random(seed).shuffle(every)
    return _take(every, limit)


def _take(sentences: Iterable[Chosen], limit: int) -> list[Chosen]:
    taken: list[Chosen] = []
    for one in sentences:
        tokens = estimate_tokens(one.text)
        if tokens <= limit:
            limit -= tokens
            taken.append(one)
    return taken
