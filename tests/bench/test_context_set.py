"""The set for what an agent is told unasked is what its page says: shape, counts, references, shared words."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.guard.secrets import find_secrets
from commonplace.model.memory import MemoryType, Trust
from commonplace.model.names import check_key
from tests.bench.context_data import OWN_SET, BookMemory, ContextBook, Prompt, is_visible, read_books
from tests.bench.sets import PROMISED, RecallSet, content, folded
from tools.model_texts import find_runs
from tools.table_texts import read_pairs

PAGE = Path(__file__).parents[2] / "docs" / "context-set.md"
BOOKS = read_books(OWN_SET)
PROMPTS = [(book, prompt) for book in BOOKS for prompt in book["prompts"]]
TEXTS = [line["text"] for book in BOOKS for line in book["memories"]] + [prompt["prompt"] for _, prompt in PROMPTS]


@pytest.fixture(params=BOOKS, ids=[book["name"] for book in BOOKS])
def book(request: pytest.FixtureRequest) -> ContextBook:
    found: ContextBook = request.param
    return found


def by_key(book: ContextBook) -> dict[str, BookMemory]:
    return {memory["key"]: memory for memory in book["memories"]}


def words_of(memory: BookMemory) -> set[str]:
    return content(" ".join((memory["text"], memory["key"], *memory["tags"])))


def count_shared(book: ContextBook, prompt: Prompt) -> int:
    """How many stems a prompt has in common with the memories that help."""
    memories = by_key(book)
    asked = content(prompt["prompt"])
    return len(set().union(*(asked & words_of(memories[key]) for key in prompt["helpful"])))


def test_the_document_is_one_item_per_line() -> None:
    """The file has one memory or prompt on each line, and names itself and its licence."""
    lines = OWN_SET.read_text("utf-8").splitlines()
    items = [json.loads(line.rstrip(",")) for line in lines if line.startswith("        {")]
    assert items == [item for book in BOOKS for item in (*book["memories"], *book["prompts"])]
    document = json.loads("\n".join(lines))
    assert (document["name"], document["licence"]) == ("context", "Apache-2.0")


def test_memories_have_the_documented_fields(book: ContextBook) -> None:
    """Every memory has exactly the documented fields with values that the product knows."""
    needed = {"key", "type", "tags", "time", "author", "trust", "text"}
    for memory in book["memories"]:
        assert set(memory) - {"project", "accepted", "standing", "misleading", "newer"} == needed, memory
        check_key(memory["key"])
        assert memory["type"] in list(MemoryType) and memory["trust"] in list(Trust), memory
        assert ("newer" in memory) == ("misleading" in memory), memory
        assert "accepted" not in memory or memory["trust"] == "agent", memory
        assert memory["text"] == " ".join(memory["text"].split()), memory


def test_counts_are_those_of_the_page() -> None:
    """Memories, standing and misleading ones, prompts, and those that need nothing are as many as the page says."""
    rows = re.findall(r"^\| `(\w+)` \|.*?((?:\| \d+ ){5})\|$", PAGE.read_text("utf-8"), re.M)
    promised = [(name, *map(int, re.findall(r"\d+", numbers))) for name, numbers in rows]
    assert promised == [
        (
            book["name"],
            len(book["memories"]),
            sum("standing" in memory for memory in book["memories"]),
            sum("misleading" in memory for memory in book["memories"]),
            len(book["prompts"]),
            sum(not prompt["helpful"] for prompt in book["prompts"]),
        )
        for book in BOOKS
    ]
    trust = Counter(memory["trust"] for book in BOOKS for memory in book["memories"])
    assert trust == {"human": 165, "agent": 53, "external": 16}


def test_enough_is_stale_and_enough_needs_nothing() -> None:
    """A fifth of each book misleads, eight memories or more are standing, and 60 of 150 prompts need nothing."""
    for book in BOOKS:
        assert sum("misleading" in memory for memory in book["memories"]) * 5 >= len(book["memories"])
        assert sum("standing" in memory for memory in book["memories"]) >= 8
    assert len(PROMPTS) == 150 and sum(not prompt["helpful"] for _, prompt in PROMPTS) >= 60


def test_keys_texts_and_prompts_are_unique(book: ContextBook) -> None:
    """No key, text or prompt occurs twice in a book."""
    assert len(by_key(book)) == len(book["memories"])
    assert len({folded(memory["text"]) for memory in book["memories"]}) == len(book["memories"])
    assert len({prompt["prompt"] for prompt in book["prompts"]}) == len(book["prompts"])


def test_what_helps_is_seen_is_right_and_is_not_told_anyway(book: ContextBook) -> None:
    """A helpful memory is visible in the session, is neither misleading nor standing, and is named once."""
    memories = by_key(book)
    for prompt in book["prompts"]:
        assert len({*prompt["helpful"]}) == len(prompt["helpful"]), prompt
        for key in prompt["helpful"]:
            assert is_visible(memories[key], prompt["project"]), prompt
            assert not {"standing", "misleading"} & set(memories[key]), prompt


def test_what_misleads_was_overtaken_later(book: ContextBook) -> None:
    """Each misleading memory has a later one that says better, which the same session sees and which is right."""
    memories = by_key(book)
    for memory in book["memories"]:
        if "newer" in memory:
            newer = memories[memory["newer"]]
            assert newer["time"] > memory["time"] and "misleading" not in newer, memory
            assert is_visible(newer, memory.get("project", "any")), memory


def test_times_span_a_year_and_a_half(book: ContextBook) -> None:
    """Times are UTC, in order, and from first to last there are eighteen months."""
    times = [datetime.fromisoformat(memory["time"]) for memory in book["memories"]]
    assert all(time.tzinfo == UTC for time in times) and times == sorted(times)
    assert (times[-1] - times[0]).days >= 18 * 30


def test_prompts_share_as_few_words_with_what_helps_as_the_page_says() -> None:
    """How many stems a prompt shares with text, key and tags of the memories that help is what the page says."""
    shared = Counter(min(count_shared(book, prompt), 2) for book, prompt in PROMPTS if prompt["helpful"])
    assert shared == {0: 24, 1: 29, 2: 33}


def test_some_prompts_that_need_nothing_share_words_with_a_memory() -> None:
    """At least a quarter of the prompts that need nothing have two words in common with some memory of the book."""
    near = [
        max(len(content(prompt["prompt"]) & words_of(memory)) for memory in book["memories"]) >= 2
        for book, prompt in PROMPTS
        if not prompt["helpful"]
    ]
    assert sum(near) * 4 >= len(near)


def test_nothing_is_from_another_set_or_from_what_is_trained_with() -> None:
    """No eight words in a row stand in another set of ours or in the notes that models are trained with."""
    others = [text for name in PROMISED for text in RecallSet(name).texts]
    trained = [text for pair in read_pairs() for text in pair]
    assert not find_runs(TEXTS) & find_runs([*others, *trained])


def test_nothing_looks_like_a_secret() -> None:
    """The guard finds no secret in any memory or prompt, so that a book takes all of them."""
    assert [text for text in TEXTS if find_secrets(text)] == []
