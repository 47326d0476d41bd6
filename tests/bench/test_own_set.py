"""The hand-made recall set is what its page says it is: shape, counts, references, and how few words are shared."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest

from commonplace.guard.secrets import find_secrets

FILE = Path(__file__).with_name("own_set.json")


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


class OwnSet(TypedDict):
    name: str
    licence: str
    memories: list[Memory]
    questions: list[Question]


OWN: OwnSet = json.loads(FILE.read_text(encoding="utf-8"))
MEMORIES = {memory["id"]: memory for memory in OWN["memories"]}
WANTED = {
    "paraphrase": 160,
    "unanswerable": 60,
    "update": 34,
    "language": 24,
    "cross-language": 6,
    "identifier": 26,
    "phrase": 8,
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


def note(memory: Memory) -> str:
    """All words by which a memory could be found: its text, its key and its tags."""
    return " ".join((memory["text"], memory["key"], *memory["tags"]))


def of_kind(kind: str) -> list[Question]:
    return [question for question in OWN["questions"] if question["kind"] == kind]


def shared(question: Question) -> set[str]:
    """The stems that a question has in common with any of its evidence."""
    asked = content(question["question"])
    return set().union(*(asked & content(note(MEMORIES[one])) for one in question["evidence"]))


def moment(memory: Memory) -> datetime:
    return datetime.fromisoformat(memory["time"])


def foreign(memory: Memory) -> bool:
    """Whether a memory is in another language: those have a language code in front of their key."""
    return re.match(r"(ar|de|es|fr|hi|ja|ko|pl|pt|ru|th|tr|vi|zh)-", memory["key"]) is not None


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def test_the_document_is_one_item_per_line() -> None:
    """The file has one memory or question on each line, so that a diff shows what changed."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    items = [json.loads(line.rstrip(",")) for line in lines if line.startswith("    {")]
    assert items == [*OWN["memories"], *OWN["questions"]]
    assert len(lines) == len(items) + 8


def test_the_head_names_the_set_and_its_licence() -> None:
    """The head says what the set is called and under which licence it may be used."""
    assert list(OWN) == ["name", "licence", "memories", "questions"]
    assert (OWN["name"], OWN["licence"]) == ("own", "Apache-2.0")


def test_memories_have_the_documented_fields() -> None:
    """Every memory has exactly the documented fields with values of the documented kinds."""
    needed = {"id", "key", "type", "tags", "time", "author", "text"}
    for memory in OWN["memories"]:
        assert set(memory) - {"updates"} == needed, memory
        assert re.fullmatch(r"m\d{3}", memory["id"]), memory
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", memory["key"]), memory
        assert memory["type"] in {"user", "feedback", "project", "reference"}, memory
        assert len(memory["tags"]) <= 3, memory
        assert len(set(memory["tags"])) == len(memory["tags"]), memory
        assert re.fullmatch(r"[a-z-]+", memory["author"]), memory


def test_questions_have_the_documented_fields() -> None:
    """Every question has exactly the documented fields, and only updates name an older memory."""
    for question in OWN["questions"]:
        extra = {"older"} if question["kind"] == "update" else set()
        assert set(question) == {"id", "kind", "question", "evidence"} | extra, question
        assert re.fullmatch(r"q\d{3}", question["id"]), question
        assert question["kind"] in WANTED, question


def test_ids_keys_and_texts_are_unique() -> None:
    """No id, key, text or question occurs twice."""
    for values in (
        [memory["id"] for memory in OWN["memories"]],
        [memory["key"] for memory in OWN["memories"]],
        [folded(memory["text"]) for memory in OWN["memories"]],
        [question["id"] for question in OWN["questions"]],
        [question["question"] for question in OWN["questions"]],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_there_are_enough_memories() -> None:
    """There are at least 220 memories, 30 of them updates and 24 in ten or more other languages."""
    assert len(OWN["memories"]) >= 220
    assert sum("updates" in memory for memory in OWN["memories"]) >= 30
    others = [memory["key"][:2] for memory in OWN["memories"] if foreign(memory)]
    assert len(others) >= 24
    assert len(set(others)) >= 10


@pytest.mark.parametrize(("kind", "least"), WANTED.items())
def test_there_are_enough_questions_of_each_kind(kind: str, least: int) -> None:
    """Each kind of question occurs at least as often as was asked for."""
    assert len(of_kind(kind)) >= least


def test_evidence_exists() -> None:
    """All evidence is a memory of this set, named once, and only what has no answer is without."""
    for question in OWN["questions"]:
        assert set(question["evidence"]) <= set(MEMORIES), question
        assert len(set(question["evidence"])) == len(question["evidence"]), question
        if question["kind"] != "identifier":
            assert bool(question["evidence"]) == (question["kind"] != "unanswerable"), question


def test_nothing_outdated_is_evidence() -> None:
    """A memory that a newer one corrects is never the right answer to anything."""
    outdated = {memory["updates"] for memory in OWN["memories"] if "updates" in memory}
    for question in OWN["questions"]:
        assert not outdated & set(question["evidence"]), question


def test_updates_are_later_than_what_they_update() -> None:
    """A newer fact has a later time than the older one, which nothing else updates, and is worded differently."""
    older = [memory["updates"] for memory in OWN["memories"] if "updates" in memory]
    assert len(set(older)) == len(older)
    for memory in OWN["memories"]:
        if "updates" in memory:
            assert moment(MEMORIES[memory["updates"]]) < moment(memory), memory
            assert content(MEMORIES[memory["updates"]]["text"]) != content(memory["text"]), memory


def test_update_questions_ask_for_the_newer_fact() -> None:
    """The evidence of an update question is the newer memory, its older one is what that updates, and each is asked."""
    asked = set()
    for question in of_kind("update"):
        (newer,) = question["evidence"]
        assert MEMORIES[newer].get("updates") == question["older"], question
        asked.add(newer)
    assert asked == {memory["id"] for memory in OWN["memories"] if "updates" in memory}


def test_times_are_real_and_spread() -> None:
    """Times are UTC, in 2025 or 2026, in the order of the ids, and spread over eighteen months or more."""
    times = [moment(memory) for memory in OWN["memories"]]
    assert all(time.tzinfo == UTC and time.year in {2025, 2026} for time in times)
    assert times == sorted(times)
    assert len({(time.year, time.month) for time in times}) >= 18


def test_paraphrases_share_few_words_with_their_evidence() -> None:
    """At least 120 paraphrases share at most one stem with text, key and tags of their evidence, and 60 share none."""
    counts = Counter(len(shared(question)) for question in of_kind("paraphrase"))
    print("stems shared by a paraphrase and its evidence:", dict(sorted(counts.items())))
    assert counts[0] + counts[1] >= 120
    assert counts[0] >= 60
    assert max(counts) <= 4


def test_paraphrases_have_different_lengths() -> None:
    """There are short, middling and long paraphrases, with and without a question mark."""
    lengths = [len(question["question"].split()) for question in of_kind("paraphrase")]
    assert min(sum(n <= 5 for n in lengths), sum(5 < n <= 9 for n in lengths), sum(n > 9 for n in lengths)) >= 20
    marks = sum(question["question"].endswith("?") for question in of_kind("paraphrase"))
    assert 40 <= marks <= len(lengths) - 40


def test_some_unanswerable_questions_share_words_with_memories() -> None:
    """At least a third of the questions without an answer name two or more things that some one memory has too."""
    notes = [content(note(memory)) for memory in OWN["memories"]]
    close = [q for q in of_kind("unanswerable") if max(len(content(q["question"]) & words) for words in notes) >= 2]
    print("unanswerable that share two stems with one memory:", len(close), "of", len(of_kind("unanswerable")))
    assert len(close) * 3 >= len(of_kind("unanswerable"))


def test_language_questions_are_about_foreign_memories() -> None:
    """Questions in another language and across languages are about memories in another language, and most are asked."""
    asked = set()
    for question in [*of_kind("language"), *of_kind("cross-language")]:
        assert all(foreign(MEMORIES[one]) for one in question["evidence"]), question
        asked.update(question["evidence"])
    assert len(asked) >= 24
    assert all(question["question"].isascii() for question in of_kind("cross-language"))


def test_identifier_evidence_is_complete() -> None:
    """What has the identifier is the evidence, all of it, and six or more identifiers are in no memory at all."""
    absent = 0
    for question in of_kind("identifier"):
        wanted = question["question"].casefold().removeprefix("what is ").removeprefix("what does ")
        wanted = wanted.removesuffix(" mean").removesuffix(" crash").removesuffix(" models").replace("err ", "err_")
        having = [memory["id"] for memory in OWN["memories"] if wanted in memory["text"].casefold()]
        assert having == question["evidence"], question
        absent += not having
    assert absent >= 6


def test_phrases_are_quoted_and_nowhere_else() -> None:
    """A phrase stands in its evidence word for word, and in no other memory."""
    for question in of_kind("phrase"):
        (phrase,) = re.findall('"([^"]+)"', question["question"])
        having = [memory["id"] for memory in OWN["memories"] if folded(phrase) in folded(memory["text"])]
        assert having == question["evidence"], question


def test_all_text_is_valid() -> None:
    """All text is composed Unicode without control characters or loose spaces, and memories are short."""
    texts = [memory["text"] for memory in OWN["memories"]]
    for text in [*texts, *(question["question"] for question in OWN["questions"])]:
        assert unicodedata.is_normalized("NFC", text), text
        assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"} for char in text), text
        assert text == " ".join(text.split()), text
    assert all(15 <= len(text) <= 320 for text in texts)


def test_nothing_looks_like_a_secret() -> None:
    """The guard finds no secret in any memory or question, so that a book takes all of them."""
    texts = [memory["text"] for memory in OWN["memories"]] + [question["question"] for question in OWN["questions"]]
    assert [text for text in texts if find_secrets(text)] == []
