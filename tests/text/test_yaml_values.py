"""YAML values: written for any YAML reader, and the fast reader never disagrees with PyYAML."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.text import frontmatter
from commonplace.text.frontmatter import Value, Writable, quote, read_value, write_value
from tests.depth import examples
from tests.strategies import any_text, hostile_text

short_text = st.text(max_size=12) | st.sampled_from(["what?", "no", "...", "it's", "a - b", "1e5", "~", "a#b", ""])
values = st.recursive(
    hostile_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(short_text, inner, max_size=3),
    max_leaves=8,
)
flow = st.text("ab 0?-:,#[]{}'\"\\/&*!|>%@`~=.<nxu\u00e9\u2028\x85\xa0\x00\ufeff\U0001f642", max_size=16)


def by_pyyaml(text: str) -> object:
    """What PyYAML makes of a field's value: the value, or an exception class when it refuses."""
    try:
        return yaml.load("v:" + text, Loader=yaml.BaseLoader)["v"]
    except (yaml.YAMLError, ValueError):
        return ValueError


@examples(300)
@given(values)
def test_what_is_written_reads_back(value: Writable) -> None:
    """Any value, written, is one printable line that we and PyYAML read as the same value."""
    line = write_value(value)
    assert line.isprintable()
    assert read_value(line) == value
    assert by_pyyaml(" " + line) == value


@examples(1500)
@given(flow)
@example("[what?]")
@example("[a\x85b]")
@example("[a\tb]")
@example("{a\u2028: b}")
def test_the_fast_reader_agrees_with_pyyaml(line: str) -> None:
    """What the fast reader accepts, PyYAML reads the same."""
    for text in (line, f"[{line}]", f"{{a: {line}}}", f'"{line}"', f"'{line}'"):
        fast = frontmatter._FlowReader(text.strip(" ")).document()
        if fast is not None:
            assert by_pyyaml(" " + text) == fast


@examples(500)
@given(st.lists(st.sampled_from(["- a", "  - a", "  - 'b c'", "  - - d", "  - x: y", "", "   ", "  e", "- #f"])))
def test_block_lists_agree_with_pyyaml(lines: list[str]) -> None:
    """A list over several lines is read as PyYAML reads it, or not at all."""
    for text in ("\n" + "\n".join(lines), " " + "\r\n".join(lines)):
        expected = by_pyyaml(text)
        assert read_value(text) == (None if expected is ValueError else expected)


@pytest.mark.parametrize(
    "word", ["yes", "No", "null", "~", "1", "-1.5", "1e3", "0x1F", "1_000", ".inf", "2026-11-15", "on", "=", "<<"]
)
def test_words_that_yaml_types_are_quoted(word: str) -> None:
    """A text that a YAML reader would take for a number, date or truth value is written so that it stays text."""
    assert yaml.safe_load(write_value(word)) == word
    assert read_value(word) == word


def test_written_forms() -> None:
    """The forms people see: plain words bare, times bare, lists and maps on one line."""
    assert write_value("Tests run with pytest") == "Tests run with pytest"
    assert write_value("2026-11-15T09:30:00Z") == "2026-11-15T09:30:00Z"
    assert write_value(["a", "b c"]) == "[a, b c]"
    assert write_value({"rel": "supersedes", "to": "global/old"}) == "{rel: supersedes, to: global/old}"
    assert [write_value(value) for value in (True, False, "")] == ["true", "false", '""']


@given(any_text)
def test_quoted_text_is_printable(text: str) -> None:
    """Quoted text stands on one line and has nothing hidden in it."""
    assert quote(text).isprintable()
    assert read_value(quote(text)) == text


@given(values)
def test_our_own_values_never_need_pyyaml(value: Writable) -> None:
    """Everything we write without quotes inside words is read by the fast reader alone."""
    line = write_value(value)
    if "'" not in line and _depth(value) <= 8:
        assert frontmatter._FlowReader(line).document() == value


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    """No field makes reading fail, and what is understood can be written as UTF-8."""
    assert isinstance(read_value(text), str | list | dict | None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" |\n  a\n  b\n", "a\nb\n"),
        (" &x [a]", ["a"]),
        (" 'it''s'", "it's"),
        (" a # why", "a"),
        ("\n  a: 1\n  b: [2]\n", {"a": "1", "b": ["2"]}),
        (' "\\ud83d\\ude42"', "🙂"),
        (' "\\ud83d"', None),
        (" [a", None),
        (" *x", None),
        (" a\t", "a"),
        (" - a\n - b", None),
    ],
)
def test_richer_yaml_of_people(text: str, expected: Value | None) -> None:
    """What people write beyond our own form is read through PyYAML, or counts as not understood."""
    assert read_value(text) == expected


def test_aliases_cannot_multiply() -> None:
    """A field that grows without bound when its aliases are followed counts as not understood."""
    rows = ["&a0 [x, x]"] + [f"&a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 6)]
    assert read_value(" [" + ", ".join(rows) + "]") is None
    assert read_value(" [&a x, *a]") == ["x", "x"]


@pytest.mark.parametrize("text", ["[" * 10_000, "{a: " * 3_000, "\n" + " - " * 3_000, " |\n " + "x" * 20_000])
def test_too_deep_or_too_long_is_not_understood(text: str) -> None:
    """A field made to exhaust the reader counts as not understood."""
    assert read_value(text) is None


def _depth(value: object) -> int:
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 0
