"""Frontmatter: our fields are changed, everything else keeps its bytes."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.frontmatter import Frontmatter, split
from tests.depth import examples
from tests.strategies import STAMP, hostile_text

OWN_LINES = (
    "title: Mine\n",
    "日本: 1\n",
    "2024: year\n",
    "Größe (cm): 3\n",
    "a/b: c\n",
    '"quoted: key": x\n',
    "'it''s'  : x\n",
    '"a \\"b\\"": x\n',
    "id': x\n",
    "-dash: x\n",
    "<<: x\n",
    "nested:\n  deep:\n    id: not-ours\n",
    "items:\n- a: 1\n- b\n",
    "block: |\n  id: not-ours\n\n  # text\n",
    "folded: >-\n  a\n  b\n",
    "# a comment: with a colon\n",
    "\n",
    "odd:     spaced   # why\n",
)
own_lines = st.lists(st.sampled_from(OWN_LINES), unique=True, max_size=6)
names = st.sampled_from(["id", "summary", "tags"])
values = hostile_text | st.lists(hostile_text, max_size=3) | st.booleans()


@examples(300)
@given(own_lines, own_lines, names, values)
def test_a_persons_lines_survive_a_put(above: list[str], below: list[str], name: str, value: str | list[str]) -> None:
    """Whatever stands around a field of ours keeps its bytes and place when the field is changed or removed."""
    below = [line for line in below if line not in above]
    head, tail = "".join(above), "".join(below)
    front, _ = split(f"---\n{head}{name}: old\n{tail}---\nbody")
    put = front.put(name, value).render()
    assert put.startswith(f"---\n{head}{name}: ")
    assert put.endswith(f"\n{tail}---\n")
    assert put.count("\n") == (head + tail).count("\n") + 3
    assert front.put(name, None).render() == f"---\n{head}{tail}---\n"


@given(own_lines, names, values)
def test_a_put_field_is_read_back(lines: list[str], name: str, value: str | list[str] | bool) -> None:
    """A field put into any frontmatter, or into none, is read back as given, by us and by PyYAML."""
    wanted = str(value).lower() if isinstance(value, bool) else value
    for text in ("".join(["---\n", *lines, "---\n"]), ""):
        again, rest = split(split(text)[0].put(name, value).render())
        assert again.get(name) == wanted
        assert rest == ""
        assert again.put(name, value) == again
        assert yaml.load(again.fields[-1].raw, Loader=yaml.BaseLoader) == {name: wanted}


@given(st.lists(st.sampled_from([*OWN_LINES, "---\n", "--- \n", "...\n", "---\r\n", "\ufeff", "x"])))
def test_split_loses_nothing(parts: list[str]) -> None:
    """Frontmatter and rest together are the text that was split."""
    text = "".join(parts)
    front, rest = split(text)
    assert front.render() + rest == text
    assert bool(front.opening) == bool(front.closing)


@pytest.mark.parametrize(
    "text", ["", "x", "---", "---\nid: 1\n", " ---\nid: 1\n---\n", "----\n---\n", "---\nid: 1\n ---\n"]
)
def test_an_unclosed_block_is_no_frontmatter(text: str) -> None:
    """Only a block that opens the file and is closed on a line of its own counts."""
    assert split(text) == (Frontmatter(), text)


def test_an_entry_ends_the_search_for_a_close() -> None:
    """A rule inside an entry never closes a block that was left open above it."""
    text = f"---\nid: 1\n## {STAMP}\n<!-- entry id=1 -->\ntext\n---\nmore\n"
    assert split(text) == (Frontmatter(), text)


@pytest.mark.parametrize("line", OWN_LINES)
def test_each_line_of_a_person_is_no_part_of_the_field_before(line: str) -> None:
    """Changing the field above any line of a person keeps that line."""
    front, _ = split(f"---\nid: 1\n{line}---\n")
    assert front.put("id", "changed").render() == f"---\nid: changed\n{line}---\n"
    assert front.get("id") == "1"


def test_windows_line_ends_are_kept_and_used() -> None:
    """A field added to a CRLF block ends in CRLF, as its neighbours do."""
    front, _ = split("---\r\nmine: 1\r\ntags:\r\n  - a\r\n  - b\r\n---\r\n")
    assert front.texts("tags") == ("a", "b")
    assert front.put("id", "x").render() == "---\r\nmine: 1\r\ntags:\r\n  - a\r\n  - b\r\nid: x\r\n---\r\n"
    assert front.put("tags", ["c"]).render() == "---\r\nmine: 1\r\ntags: [c]\r\n---\r\n"


def test_of_duplicates_the_last_counts_and_one_remains() -> None:
    """A field written twice reads as its last value, and a put leaves one of them, at the last place."""
    front, _ = split("---\nid: 1\n# why\nmine: 2\nid: 3\n# note\nyours: 4\n---\n")
    assert front.get("id") == "3"
    assert front.put("id", "x").render() == "---\n# why\nmine: 2\nid: x\n# note\nyours: 4\n---\n"


def test_text_and_texts_are_lenient() -> None:
    """A single text counts as a list of one; what is not text counts as nothing."""
    front, _ = split("---\na: x\nb: [y, {z: 1}]\nc: {d: e}\ne:\nf: [\n---\n")
    assert (front.texts("a"), front.texts("b"), front.texts("c"), front.texts("e")) == (("x",), ("y",), (), ())
    assert (front.text("b"), front.text("e"), front.get("f"), front.get("g")) == ("", "", None, None)
    assert front.names() == ("a", "b", "c", "e", "f")


@pytest.mark.parametrize("line", ["a" + " " * 1_000_000, "a: " + "x" * 1_000_000, "\t" * 1_000_000])
def test_a_megabyte_line_is_kept(line: str) -> None:
    """A line made to keep the reader busy is kept as it is."""
    text = f"---\nid: 1\n{line}\n---\n"
    front, _ = split(text)
    assert front.render() == text
    assert front.names()[0] == "id"
