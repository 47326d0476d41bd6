"""Made names: any content gets a valid key and a summary that fits on one line."""

from __future__ import annotations

from urllib import parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.names import check_new_key
from commonplace.text.naming import (
    SUMMARY_LENGTH,
    cut,
    make_key,
    make_summary,
    one_line,
    quote,
    unquote,
    unquote_to_bytes,
)
from tests.depth import examples
from tests.strategies import LONG_LINES, hostile_text

scripts = st.text(
    st.sampled_from("abc XYZ 09.-_测试框架使用العربية日本語кириллица한국🙂👩‍💻é。\n\u202e\x00"), max_size=200
)


@examples(300)
@given(hostile_text | scripts | st.text("%09aAfFgé\udc80\ud83d/: ", max_size=20), st.sampled_from(["", "/", "/:"]))
def test_percent_escapes_are_those_of_urllib(text: str, safe: str) -> None:
    """Any text is escaped and read as urllib.parse does, which would take 5 ms to import."""
    assert quote(text, safe) == parse.quote(text, safe, errors="replace")
    assert unquote(text) == parse.unquote(text)
    assert unquote(quote(text)) == parse.unquote(parse.quote(text, errors="replace"))
    data = text.encode("utf-8", "surrogatepass")
    assert unquote_to_bytes(data) == parse.unquote_to_bytes(data)


@examples(300)
@given(hostile_text | scripts | st.text(min_size=100, max_size=300))
def test_any_content_gets_a_key(content: str) -> None:
    """The key made from any text is one level, may be created, and is the same each time."""
    key = make_key(content)
    assert check_new_key(key) == key
    assert "/" not in key
    assert make_key(content) == key


@examples(300)
@given(hostile_text | scripts | st.text(min_size=100, max_size=300))
def test_any_content_gets_a_summary(content: str) -> None:
    """The summary is one printable line within the limit, and says something when the content does."""
    summary = make_summary(content)
    assert summary.isprintable()
    assert len(summary) <= SUMMARY_LENGTH
    assert summary == summary.strip()
    assert bool(summary) == bool(one_line(content))


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("Use pytest for every test in this project.", "pytest-for-every-test-in-project"),
        ("# Deploy\n\nwith make", "deploy"),
        ("使用测试框架", "shi-yong-ce-shi-kuang-jia"),
        ("Größe und Maß", "grosse-und-mass"),
        ("the of and", "the-of-and"),
    ],
)
def test_keys_people_can_read(content: str, key: str) -> None:
    """A key is made of the telling words of the first sentence, in Latin letters."""
    assert make_key(content) == key


@pytest.mark.parametrize("content", ["", "   ", "index", "Con", "nul.", "LPT1", "…", "\x00", "\ud800", "---"])
def test_content_without_a_usable_name(content: str) -> None:
    """Content whose words would be a reserved key, or that has none, is named by its hash."""
    key = make_key(content)
    assert key.startswith("note-")
    assert check_new_key(key) == key


def test_contents_without_words_do_not_share_a_key() -> None:
    """Two different contents without words get two keys."""
    assert make_key("…") != make_key("!!")


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ("First. Second.", "First."),
        ("使用 pytest。第二句", "使用 pytest。"),
        ("\n\n---\n## The heading\ntext", "The heading"),
        ("- item one\n- item two", "item one"),
        ("> quoted\u2028line", "quoted line"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("version 1.2 is out", "version 1.2 is out"),
        ("word " * 60, "word " * 22 + "word…"),
        ("x" * 500, "x" * 119 + "…"),
        ("!?", "!?"),
    ],
)
def test_summaries_people_can_read(content: str, summary: str) -> None:
    """The summary is the first sentence of the first line that says something, cut at a word."""
    assert make_summary(content) == summary


@given(hostile_text, st.integers(2, 50))
def test_cut_text_fits(text: str, limit: int) -> None:
    """Cut text is within the limit, and text that fits is not touched."""
    assert len(cut(text, limit)) <= limit
    assert cut(text, limit) == text or len(text) > limit


@pytest.mark.parametrize("content", LONG_LINES)
def test_a_megabyte_line_gets_a_name(content: str) -> None:
    """A line of a megabyte gets a valid key and a summary within the limit."""
    assert check_new_key(make_key(content))
    assert len(make_summary(content)) <= SUMMARY_LENGTH
