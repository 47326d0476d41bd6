"""The readers: whatever text they are given, they raise nothing, and what they take can be taken again."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import SourceFormat
from commonplace.maintenance.import_markdown_readers import read_basic_memory, read_claude_code, remove_own_blocks
from commonplace.maintenance.import_records import (
    REASONS,
    SourceFile,
    collect,
    read_mcp_memory,
    read_mem0,
    split_sections,
)
from commonplace.maintenance.import_sources import FORMATS
from commonplace.model.errors import SourceRefused
from tests.book.opened import files, open_book
from tests.depth import examples
from tests.strategies import hostile_text

_MARKDOWN = st.sampled_from(
    [
        "---\n", "name: x\n", "metadata:\n  type: user\n", "metadata: [", "tags: a, b\n", "permalink: p\n", "# T\n",
        "## 2026-01-01T00:00:00Z\n", "<!-- id: a1 | scope: agent | type: user | tags: a -->\n", "<!-- id: ", "```\n",
        "<!-- commonplace:begin\n", "<!-- commonplace:end -->\n", "- [a] b #c (d)\n", "- r [[T]] (c)\n", "\n", "\r\n",
        "- [x](y.md)\n", "<!-- entry trust=human -->\n", "## See Also\n",
        "_Originally recorded: 2026-13-99T00:00:00Z_\n",
    ]
)  # fmt: skip
_markdown = st.lists(st.one_of(_MARKDOWN, hostile_text), max_size=12).map("".join)
_FIELDS = (
    "type", "name", "entityType", "observations", "from", "to", "relationType", "id", "memory", "user_id", "metadata",
    "results", "entities", "relations", "categories", "created_at", "createdAt",
)  # fmt: skip


def _objects(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    names = st.sampled_from(_FIELDS)
    return st.dictionaries(names, inner | st.sampled_from(["entity", "relation", "Ann"]), max_size=6)


_scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), hostile_text)
_json = st.recursive(_scalars, lambda inner: st.lists(inner, max_size=3) | _objects(inner), max_leaves=8)
_lines = st.lists(st.one_of(_objects(_json).map(json.dumps), hostile_text), max_size=6).map("\n".join)
_names = st.sampled_from(["a.md", "MEMORY.md", "index.md", "CLAUDE.md", "x/wiki/agent/b/c.md", "memory.jsonl", "_x.md"])


@pytest.mark.parametrize("name", FORMATS)
@given(st.lists(st.tuples(_names, st.one_of(_markdown, _lines, _json.map(json.dumps), hostile_text)), max_size=3))
@examples(60)
def test_rubbish_is_left_and_never_raises(name: str, texts: list[tuple[str, str]]) -> None:
    """Any text, in any format: items that say something, and reasons of the table for the rest."""
    items, skipped = collect(FORMATS[name].read([SourceFile(*one) for one in texts]))
    for item in items:
        assert item.ident and item.name and item.statements
        assert all(said.text.strip() for said in item.statements)
    assert {one.reason for one in skipped} <= REASONS.keys()
    assert collect(FORMATS[name].read([SourceFile(*one) for one in texts])) == (items, skipped)


@given(
    st.sampled_from(get_args(SourceFormat)),
    st.dictionaries(_names, st.one_of(_markdown, _lines).map(lambda text: text.encode("utf-8", "replace")), max_size=3),
)
@settings(max_examples=15, deadline=None)
def test_any_folder_can_be_imported_twice(name: SourceFormat, texts: dict[str, bytes]) -> None:
    """Through the book: nothing but a typed refusal is raised, and the second import writes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        place, root = Path(folder, "source"), Path(folder, "book")
        place.mkdir()
        for path, data in texts.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
        with open_book(root) as book:
            first = book.import_from(place, name)
            there = files(root, databases=False)
            again = book.import_from(place, name)
            assert files(root, databases=False) == there
            assert again.unchanged == len(again.items) == len(first.items) and again.links == 0
            assert book.verify().ok
            with contextlib.suppress(SourceRefused):
                book.import_from(place, dry_run=True)


@given(st.lists(st.sampled_from(["# A", "## B", "### C", "text", "```", "~~~", "", "    # code", "#no"]), max_size=12))
def test_sections_lose_no_line(lines: list[str]) -> None:
    """All that is not an empty line is in exactly one section, as a heading or in its body."""
    text = "\n".join(lines)
    found = [line for part in split_sections(text) for line in [part.heading, *part.body.split("\n")] if line]
    assert found == [line for line in lines if line]


def test_headings_in_code_are_text() -> None:
    """A line that starts with # between fences starts no section, and an unclosed fence reaches to the end."""
    assert [part.path for part in split_sections("# A\n```\n# b\n```\n## C\n~~~~\n# d\n~~~\n# e\n")] == [
        (),
        ("A",),
        ("A", "C"),
    ]


def test_own_blocks_are_cut_out_and_lone_marks_are_not() -> None:
    """What Commonplace wrote between its marks is left; what follows a mark without its other half is the user's."""
    whole = "a\n<!-- commonplace:begin -->\nours\n<!-- commonplace:end -->\nb"
    assert remove_own_blocks(whole) == ("a\nb", 1)
    assert remove_own_blocks("a\n<!-- commonplace:begin -->\nb") == ("a\nb", 0)
    assert remove_own_blocks("a\n<!-- commonplace:end -->\nb") == ("a\nb", 0)
    twice = "<!-- commonplace:begin -->\nmine\n<!-- commonplace:begin x -->\nours\n<!-- commonplace:end -->"
    assert remove_own_blocks(twice) == ("mine", 1)


def test_a_memory_index_with_prose_is_taken_by_its_sections() -> None:
    """Older auto-memory wrote into MEMORY.md itself: what is not a link to a fact file is taken."""
    text = "# Memory\n\n- [A](a.md) - hook\n\n## Debugging\n\n- port 5432 is taken\n"
    (item,), _ = collect(read_claude_code([SourceFile("MEMORY.md", text, "2026-01-01T00:00:00Z")]))
    assert item.statements[0].text == "## Debugging\n\n- port 5432 is taken"
    assert (item.name, item.statements[0].occurred) == ("Debugging", "2026-01-01T00:00:00Z")


def test_tasks_links_and_code_are_no_observations() -> None:
    """`- [ ] task`, `- [text](link)` and lines in code stay in the text."""
    text = "- [ ] one\n- [x] two\n- [three](3.md)\n```\n- [four] five\n```\n- [six] seven"
    (item,), _ = collect(read_basic_memory([SourceFile("a.md", text)]))
    assert [said.text for said in item.statements] == [text[: text.rindex("\n")], "[six] seven"]


def test_a_graph_as_one_document() -> None:
    """What the reference server's read_graph answers is read like its file."""
    graph = {
        "entities": [
            {"name": "A", "entityType": "t", "observations": ["x"]},
            {"name": "A", "observations": ["x", "y"]},
        ],
        "relations": [{"from": "A", "to": "B", "relationType": "knows"}, 7],
    }
    items, skipped = collect(read_mcp_memory([SourceFile("m.json", json.dumps(graph, indent=1))]))
    assert [[said.text for said in item.statements] for item in items] == [["x", "y", "knows B"]]
    assert [(one.place, one.reason) for one in skipped] == [("m.json, relation 2", "bad_line")]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"memory": ' * 50_000, "9" * 10_000, '{"memory": "\\ud800"}', "nul"])
def test_json_without_end_is_survived(text: str) -> None:
    """Nesting without end, a number without end, half a character: a line that is left, or an item the book refuses."""
    for reader in (read_mem0, read_mcp_memory):
        file = SourceFile("a.json", f"{text}\n" + '{"memory": "fine", "type": "entity", "name": "n"}')
        assert len(list(reader([file]))) == 2
