"""The hand-made sets for recall, with what docs/recall-sets.md says of each, and what their tests count words with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict


class Memory(TypedDict):
    id: str
    key: str
    type: str
    tags: list[str]
    time: str
    author: str
    text: str
    updates: NotRequired[str]


class Question(TypedDict):
    id: str
    kind: str
    question: str
    evidence: list[str]
    older: NotRequired[str]


class Document(TypedDict):
    name: str
    licence: str
    memories: list[Memory]
    questions: list[Question]


class Promised(NamedTuple):
    """What the page says."""

    memories: int
    updates: int
    foreign: tuple[int, int]  # memories in another language, and how many languages
    kinds: Mapping[str, int]
    months: int  # over which the memories are spread, at least
    shared: Mapping[int, int]  # paraphrases by the number of stems they share with their evidence
    marks: tuple[int, int]  # paraphrases that end with a question mark, from and to
    absent: int  # identifiers that are in no memory, at least
    each: int = 20  # paraphrases that are short, middling and long, at least


PROMISED = {
    "own": Promised(
        memories=309,
        updates=46,
        foreign=(35, 14),
        kinds={
            "paraphrase": 192,
            "unanswerable": 72,
            "update": 47,
            "language": 34,
            "cross-language": 8,
            "identifier": 41,
            "phrase": 11,
        },
        months=18,
        shared={0: 151, 1: 37, 2: 3, 3: 1},
        marks=(40, 152),
        absent=6,
    ),
    "natural": Promised(
        memories=256,
        updates=36,
        foreign=(24, 12),
        kinds={"paraphrase": 150, "unanswerable": 50, "update": 36, "language": 24, "identifier": 20},
        months=12,
        shared={0: 47, 1: 60, 2: 38, 3: 4, 5: 1},
        marks=(1, 40),  # most people do not type one
        absent=0,
    ),
    "fresh": Promised(
        memories=200,
        updates=30,
        foreign=(20, 10),
        kinds={"paraphrase": 150, "unanswerable": 50, "update": 30, "language": 20},
        months=12,
        shared={0: 102, 1: 33, 2: 14, 3: 1},
        marks=(20, 130),
        absent=0,
        each=1,  # it asks at length
    ),
}

# Words that carry no topic: what English needs to make a sentence or a question.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about above after again against all also although always am among an and another any anybody
        anything are aren as at be because been before being below between both but by can cannot could did
        didn do does doesn doing don done each either else ever every few for from further get gets getting go
        goes going got had has hasn have having he hence her here hers him his how however i if in instead
        into is isn it its itself just less let ll many may me might more most much must my neither never no
        nobody none nor not nothing now of off often on once one only onto or other our out over own per
        please re s same shall she should since so some somebody someone something still such t than that the
        their them then there therefore these they this those though through to too under unless until up upon
        us very was we were what when where whereas whether which while who whoever whom whose why will with
        within without won would yes yet you your
        """,
    )
)
ENDINGS = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("isation", "ise"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ations", ""),
    ("ation", ""),
    ("ments", ""),
    ("ment", ""),
    ("ness", ""),
    ("ings", ""),
    ("ions", ""),
    ("ing", ""),
    ("ion", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ers", ""),
    ("ed", ""),
    ("er", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
)


def stem(word: str) -> str:
    """The word without its ending; deliberately greedy, so that it finds rather too many relatives than too few."""
    for _ in range(2):
        for ending, put in ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) + len(put) >= 3:
                word = word[: len(word) - len(ending)] + put
                break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return re.sub("[iy]$", "", word)


def content(text: str) -> set[str]:
    """The stems of the words that carry a topic; identifiers fall into their parts."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return {stem(word) for word in words if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())}


class RecallSet:
    """One of the sets, read from its file."""

    def __init__(self, name: str) -> None:
        self.promised = PROMISED[name]
        self.file = Path(__file__).with_name(f"{name}_set.json")
        self.document: Document = json.loads(self.file.read_text(encoding="utf-8"))
        self.memories = self.document["memories"]
        self.questions = self.document["questions"]

    @cached_property
    def by_id(self) -> Mapping[str, Memory]:
        return {memory["id"]: memory for memory in self.memories}

    @cached_property
    def texts(self) -> list[str]:
        return [*(memory["text"] for memory in self.memories), *(item["question"] for item in self.questions)]

    def of_kind(self, *kinds: str) -> list[Question]:
        return [question for question in self.questions if question["kind"] in kinds]

    def shared(self, question: Question) -> set[str]:
        """The stems that a question has in common with any of its evidence."""
        asked = content(question["question"])
        return set().union(*(asked & content(note(self.by_id[one])) for one in question["evidence"]))

    def having(self, text: str) -> list[str]:
        """The ids of the memories in which a text stands."""
        return [memory["id"] for memory in self.memories if folded(text) in folded(memory["text"])]


def note(memory: Memory) -> str:
    """All words by which a memory could be found: its text, its key and its tags."""
    return " ".join((memory["text"], memory["key"], *memory["tags"]))


def identifier(question: Question) -> str:
    """What is asked for, without the plain words around it."""
    asked = re.sub(r"^(what is|what does|error) | (mean|crash|models|alert)$", "", question["question"], flags=re.I)
    return re.sub(r"\berr ", "err_", asked, flags=re.I)


def moment(memory: Memory) -> datetime:
    return datetime.fromisoformat(memory["time"])


def foreign(memory: Memory) -> bool:
    """Whether a memory is in another language: those have a language code in front of their key."""
    return re.match(r"(ar|de|es|fr|hi|it|ja|ko|nl|pl|pt|ru|th|tr|vi|zh)-", memory["key"]) is not None


def folded(text: str) -> str:
    return " ".join(text.casefold().split())
