"""Memories: labels have fixed words, tags are what Obsidian takes for one."""

from __future__ import annotations

import pytest
from hypothesis import given

from commonplace.model.errors import InvalidField
from commonplace.model.memory import Entry, Memory, MemoryType, Meta, Relation, Status, Trust, check_tag
from commonplace.model.scope import GLOBAL
from tests.depth import examples
from tests.strategies import hostile_text


@pytest.mark.parametrize("tag", ["testing", "a/b", "a_b-c", "日本", "v2", "العربية", "1a", "x" * 60])
def test_tags_that_are_taken(tag: str) -> None:
    """Letters, digits, _, - and / in any script are a tag, with or without its mark."""
    assert check_tag(tag) == tag
    assert check_tag("#" + tag) == tag


@pytest.mark.parametrize(
    "tag", ["", "#", "##a", "a b", "a,b", "a\n", "a]", "12", "٣", "a#b", "\u202ea", "🙂", "x" * 61]
)
def test_tags_that_are_refused(tag: str) -> None:
    """Anything that would end, split or hide a tag is refused, in a message that is ASCII."""
    with pytest.raises(InvalidField) as caught:
        check_tag(tag)
    assert caught.value.message.isascii()


@examples(300)
@given(hostile_text)
def test_an_accepted_tag_is_one_word(text: str) -> None:
    """No accepted tag has a separator, quote, bracket or hidden character in it."""
    try:
        tag = check_tag(text)
    except InvalidField:
        return
    assert tag.isprintable()
    assert not set(tag) & set(" ,#[]{}:\"'\\<>\n")
    assert check_tag(tag) == tag


def test_the_words_of_the_labels() -> None:
    """The labels have the words of the specification, which stand in people's files."""
    assert [*MemoryType] == ["user", "feedback", "project", "reference"]
    assert [*Status] == ["active", "proposed", "quarantined", "superseded", "expired"]
    assert [*Trust] == ["human", "agent", "external"]
    assert [*Relation] == ["relates_to", "supersedes", "contradicts"]


def test_an_entry_is_external_unless_said() -> None:
    """An entry that does not say whom to trust is trusted least."""
    assert Entry("t", "x").trust is Trust.EXTERNAL


def test_the_newest_entry_is_the_last() -> None:
    """A memory's newest entry is its last one; without entries there is none."""
    first, last = Entry("1", "a"), Entry("2", "b")
    assert Memory(Meta(), GLOBAL, "k", "p", "r", (first, last)).newest == last
    assert Memory(Meta(), GLOBAL, "k", "p", "r").newest is None


def test_values_cannot_be_changed() -> None:
    """A value that one caller holds is never changed by another."""
    with pytest.raises(AttributeError):
        Entry("t", "x").text = "y"  # type: ignore[misc]
