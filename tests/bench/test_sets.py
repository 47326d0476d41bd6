"""The hand-made sets for recall are what their page says: shape, counts, references, and how few words are shared."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from datetime import UTC

import pytest

from commonplace.guard.secrets import find_secrets
from tests.bench.sets import PROMISED, RecallSet, content, folded, foreign, identifier, moment, note


@pytest.fixture(scope="module", params=PROMISED)
def one_set(request: pytest.FixtureRequest) -> RecallSet:
    return RecallSet(request.param)


def test_the_document_is_one_item_per_line(one_set: RecallSet) -> None:
    """The file has one memory or question on each line, so that a diff shows what changed."""
    lines = one_set.file.read_text(encoding="utf-8").splitlines()
    items = [json.loads(line.rstrip(",")) for line in lines if line.startswith("    {")]
    assert items == [*one_set.memories, *one_set.questions]
    assert len(lines) == len(items) + 8


def test_the_head_names_the_set_and_its_licence(one_set: RecallSet) -> None:
    """The head says what the set is called and under which licence it may be used."""
    assert list(one_set.document) == ["name", "licence", "memories", "questions"]
    assert f"{one_set.document['name']}_set.json" == one_set.file.name
    assert one_set.document["licence"] == "Apache-2.0"


def test_memories_have_the_documented_fields(one_set: RecallSet) -> None:
    """Every memory has exactly the documented fields with values of the documented kinds."""
    needed = {"id", "key", "type", "tags", "time", "author", "text"}
    for memory in one_set.memories:
        assert set(memory) - {"updates"} == needed, memory
        assert re.fullmatch(r"m\d{3}", memory["id"]), memory
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", memory["key"]), memory
        assert memory["type"] in {"user", "feedback", "project", "reference"}, memory
        assert len(memory["tags"]) <= 3, memory
        assert len(set(memory["tags"])) == len(memory["tags"]), memory
        assert re.fullmatch(r"[\w-]+( [\w-]+)*", memory["author"]), memory


def test_questions_have_the_documented_fields(one_set: RecallSet) -> None:
    """Every question has exactly the documented fields, and only updates name an older memory."""
    for question in one_set.questions:
        extra = {"older"} if question["kind"] == "update" else set()
        assert set(question) == {"id", "kind", "question", "evidence"} | extra, question
        assert re.fullmatch(r"q\d{3}", question["id"]), question


def test_ids_keys_and_texts_are_unique(one_set: RecallSet) -> None:
    """No id, key, text or question occurs twice."""
    for values in (
        [memory["id"] for memory in one_set.memories],
        [memory["key"] for memory in one_set.memories],
        [folded(memory["text"]) for memory in one_set.memories],
        [question["id"] for question in one_set.questions],
        [question["question"] for question in one_set.questions],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_there_are_as_many_memories_as_promised(one_set: RecallSet) -> None:
    """Memories, updates and memories in other languages are as many as the page says."""
    others = [memory["key"][:2] for memory in one_set.memories if foreign(memory)]
    found = len(one_set.memories), sum("updates" in memory for memory in one_set.memories)
    assert found == (one_set.promised.memories, one_set.promised.updates)
    assert (len(others), len(set(others))) == one_set.promised.foreign


def test_there_are_as_many_questions_of_each_kind_as_promised(one_set: RecallSet) -> None:
    """Each kind of question occurs as often as the page says, and there is no other kind."""
    assert Counter(question["kind"] for question in one_set.questions) == one_set.promised.kinds


def test_evidence_exists(one_set: RecallSet) -> None:
    """All evidence is a memory of this set, named once, and only what has no answer is without."""
    for question in one_set.questions:
        assert set(question["evidence"]) <= set(one_set.by_id), question
        assert len(set(question["evidence"])) == len(question["evidence"]), question
        if question["kind"] != "identifier":
            assert bool(question["evidence"]) == (question["kind"] != "unanswerable"), question


def test_nothing_outdated_is_evidence(one_set: RecallSet) -> None:
    """A memory that a newer one corrects is never the right answer to anything."""
    outdated = {memory["updates"] for memory in one_set.memories if "updates" in memory}
    for question in one_set.questions:
        assert not outdated & set(question["evidence"]), question


def test_updates_are_later_than_what_they_update(one_set: RecallSet) -> None:
    """A newer fact has a later time than the older one, which nothing else updates, and is worded differently."""
    older = [memory["updates"] for memory in one_set.memories if "updates" in memory]
    assert len(set(older)) == len(older)
    for memory in one_set.memories:
        if "updates" in memory:
            assert moment(one_set.by_id[memory["updates"]]) < moment(memory), memory
            assert content(one_set.by_id[memory["updates"]]["text"]) != content(memory["text"]), memory


def test_update_questions_ask_for_the_newer_fact(one_set: RecallSet) -> None:
    """The evidence of an update question is the newer memory, its older one is what that updates, and each is asked."""
    asked = set()
    for question in one_set.of_kind("update"):
        (newer,) = question["evidence"]
        assert one_set.by_id[newer].get("updates") == question["older"], question
        asked.add(newer)
    assert asked == {memory["id"] for memory in one_set.memories if "updates" in memory}


def test_times_are_real_and_spread(one_set: RecallSet) -> None:
    """Times are UTC, in 2025 or 2026, in the order of the ids, and spread over as many months as promised."""
    times = [moment(memory) for memory in one_set.memories]
    assert all(time.tzinfo == UTC and time.year in {2025, 2026} for time in times)
    assert times == sorted(times)
    assert len({(time.year, time.month) for time in times}) >= one_set.promised.months


def test_paraphrases_share_as_few_words_with_their_evidence_as_promised(one_set: RecallSet) -> None:
    """How many stems paraphrases share with text, key and tags of their evidence is what the page says."""
    counts = Counter(len(one_set.shared(question)) for question in one_set.of_kind("paraphrase"))
    assert counts == one_set.promised.shared


def test_paraphrases_have_different_lengths(one_set: RecallSet) -> None:
    """There are short, middling and long paraphrases, with and without a question mark."""
    lengths = [len(question["question"].split()) for question in one_set.of_kind("paraphrase")]
    assert (
        min(sum(n <= 5 for n in lengths), sum(5 < n <= 9 for n in lengths), sum(n > 9 for n in lengths))
        >= one_set.promised.each
    )
    marks = sum(question["question"].endswith("?") for question in one_set.of_kind("paraphrase"))
    assert one_set.promised.marks[0] <= marks <= one_set.promised.marks[1]


def test_some_unanswerable_questions_share_words_with_memories(one_set: RecallSet) -> None:
    """At least a third of the questions without an answer name two or more things that some one memory has too."""
    notes = [content(note(memory)) for memory in one_set.memories]
    asked = [content(question["question"]) for question in one_set.of_kind("unanswerable")]
    close = [words for words in asked if max(len(words & found) for found in notes) >= 2]
    assert len(close) * 3 >= len(asked)


def test_language_questions_are_about_foreign_memories(one_set: RecallSet) -> None:
    """Questions in another language and across languages are about memories in another language, and most are asked."""
    asked = set()
    for question in one_set.of_kind("language", "cross-language"):
        assert all(foreign(one_set.by_id[one]) for one in question["evidence"]), question
        asked.update(question["evidence"])
    assert len(asked) >= 20
    assert all(question["question"].isascii() for question in one_set.of_kind("cross-language"))


def test_identifier_evidence_is_complete(one_set: RecallSet) -> None:
    """What has the identifier is the evidence, all of it; some identifiers are in no memory at all, if promised."""
    absent = 0
    for question in one_set.of_kind("identifier"):
        having = one_set.having(identifier(question))
        assert having == question["evidence"], question
        absent += not having
    assert absent >= one_set.promised.absent


def test_phrases_are_quoted_and_nowhere_else(one_set: RecallSet) -> None:
    """A phrase stands in its evidence word for word, and in no other memory."""
    for question in one_set.of_kind("phrase"):
        (phrase,) = re.findall('"([^"]+)"', question["question"])
        assert one_set.having(phrase) == question["evidence"], question


def test_all_text_is_valid(one_set: RecallSet) -> None:
    """All text is composed Unicode without control characters or loose spaces, and memories are short."""
    for text in one_set.texts:
        assert unicodedata.is_normalized("NFC", text), text
        assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"} for char in text), text
        assert text == " ".join(text.split()), text
    assert all(15 <= len(text) <= 320 for text in (memory["text"] for memory in one_set.memories))


def test_nothing_looks_like_a_secret(one_set: RecallSet) -> None:
    """The guard finds no secret in any memory or question, so that a book takes all of them."""
    assert [text for text in one_set.texts if find_secrets(text)] == []
