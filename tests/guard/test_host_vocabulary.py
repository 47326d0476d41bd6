"""A host's own vocabulary: what may be in it, and the protocol for tools that it describes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Tracker
from commonplace.guard.protocol_state import CallKind, ReadReach
from commonplace.guard.vocabulary import (
    MemoryFolder,
    ToolRule,
    Vocabulary,
    classify,
    claude_code_vocabulary,
    read_vocabulary,
)
from commonplace.model.errors import InvalidSettings

NOW = "2026-11-15T09:30:00Z"
PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)[0]
NOTES = tomllib.loads(EXAMPLE)["protocol_vocabulary"]


def make_tracker(**more: Any) -> Tracker:
    return Tracker(NOTES, clock=lambda: NOW, **more)


def call(tracker: Tracker, tool: str, *, ok: bool = True, similar: tuple[str, ...] = (), **arguments: Any) -> str:
    """A call with no other beside it; what the agent is told."""
    tracker.begin("alone", tool, arguments)
    return tracker.finish("alone", ok=ok, similar=similar) or ""


def find(tracker: Tracker, words: str) -> None:
    assert call(tracker, "notes", action="find", words=words) == ""


def add(tracker: Tracker, text: str, **more: Any) -> str:
    return call(tracker, "notes", action="add", text=text, **more)


def test_the_page_has_an_example_that_works() -> None:
    """The vocabulary in docs/protocol.md holds an agent to the whole cycle, by the modes of its tool."""
    tracker = make_tracker()
    said = add(tracker, "Staging listens on 6000.", title="staging")
    assert "without reading" in said and said.endswith('Next: notes(action="find", words="Staging listens on 6000.")')
    find(tracker, "staging port")
    assert "Earlier writes" in add(tracker, "Staging is slow.", title="slow")
    assert call(tracker, "notes", action="rebuild_index") == ""
    find(tracker, "staging port")
    assert add(tracker, "Staging is down.", title="down").endswith('Next: notes(action="rebuild_index")')
    assert call(tracker, "notes", action="rebuild_index") == ""
    assert tracker.end_run() is None


@pytest.mark.parametrize("title", [{}, {"title": "staging"}])
def test_a_run_that_ends_with_a_write_left_out_says_so(title: dict[str, str]) -> None:
    """An unindexed write is told at the end of the run and at the next write, with a key and without one."""
    tracker = make_tracker()
    find(tracker, "staging")
    said = add(tracker, "Staging listens on 6000.", **title)
    name = '"staging"' if title else "a memory without a key"
    assert said.startswith(f"[memory-protocol] Not in the index yet: {name}")
    ended = tracker.end_run() or ""
    assert name in ended and ended.endswith('Next: notes(action="rebuild_index")')
    assert f"Earlier writes are not in the index: {name}" in add(tracker, "Staging is slow.", title="other")
    call(tracker, "notes", action="rebuild_index")
    assert tracker.end_run() is None


def test_an_index_update_begins_a_new_cycle() -> None:
    """The next write needs a read again; one that failed did not happen, and closes nothing."""
    tracker = make_tracker()
    find(tracker, "staging")
    add(tracker, "Staging listens on 6000.")
    call(tracker, "notes", action="rebuild_index", ok=False)
    assert tracker.end_run()
    call(tracker, "notes", action="rebuild_index")
    assert "without reading" in add(tracker, "Staging is slow.")
    find(tracker, "staging")
    assert "without reading" not in add(tracker, "Staging is slow.")


def test_a_mode_that_is_not_listed_is_no_step() -> None:
    """A tool with modes counts by its mode: exporting is neither a read nor a write."""
    tracker = make_tracker()
    assert call(tracker, "notes", action="export") == call(tracker, "mail", to="ann") == ""
    assert "without reading" in add(tracker, "Staging listens on 6000.")
    assert call(tracker, "notes", action="drop", title="staging") == ""


def test_a_tracker_refuses_in_strict_mode() -> None:
    """`check` says why a write may not be made: no read about it, or a memory that says nearly the same."""
    tracker = make_tracker()
    tracker.begin("w", "notes", {"action": "add", "text": "Staging listens on 6000."})
    refused = tracker.check("w") or ""
    assert refused.startswith("[memory-protocol] Not stored.") and 'notes(action="find"' in refused
    tracker.finish("w", ok=False)
    find(tracker, "staging")
    tracker.begin("w", "notes", {"action": "add", "text": "Staging listens on 6000."})
    assert tracker.check("w") is None
    refused = tracker.check("w", similar=["old"]) or ""
    assert '"old"' in refused and "decision" not in refused  # this tool takes none
    assert tracker.check("unknown") is None


def test_calls_sent_together_do_not_know_each_other() -> None:
    """A read that was answered while the write was under way does not count for it."""
    tracker = make_tracker()
    tracker.begin("r", "notes", {"action": "find", "words": "staging"})
    tracker.begin("w", "notes", {"action": "add", "text": "Staging listens on 6000."})
    assert tracker.finish("r") is None
    assert "without reading" in (tracker.finish("w") or "")


def test_a_sub_agent_knows_what_its_parent_has_read() -> None:
    """Also what the parent reads after it was started; what the parent left open stays the parent's."""
    parent = make_tracker()
    child = make_tracker(parent=parent)
    grandchild = make_tracker(parent=child)
    find(parent, "staging")
    assert "without reading" not in add(grandchild, "Staging listens on 6000.")
    add(parent, "Staging is slow.", title="slow")
    assert child.end_run() is None and parent.end_run()
    assert "without reading" in add(child, "Printers are on the third floor.")
    call(parent, "notes", action="rebuild_index")
    assert "without reading" in add(child, "Staging is fast.")  # the parent's cycle is closed for its child, too


def test_a_tracker_names_only_tools_that_the_agent_has() -> None:
    """Without the tool there is no advice, only what was missed."""
    said = add(make_tracker(tools=()), "Staging listens on 6000.")
    assert "without reading" in said and "Next" not in said


def test_paths_and_an_index_file_make_a_vocabulary() -> None:
    """A host whose memory is files names its folders and its index file, as for Claude Code."""
    claude = claude_code_vocabulary()
    given = {
        "keeps_index": False,
        "index_file": "MEMORY.md",
        "folders": [{"names": [".claude", "projects", "*", "memory"], "rooted": False}],
        "tools": {"Write": {"kind": "write", "path_in": "file_path", "text_in": "content"}},
    }
    found = read_vocabulary(given)
    assert found.folders == claude.folders and found.tools["Write"] == claude.tools["Write"]
    path = "/home/ann/.claude/projects/-home-ann-shop/memory/MEMORY.md"
    assert classify("Write", {"file_path": path}, found).kind is CallKind.INDEX


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"tols": {}}, "tols"),
        ({"tools": []}, "table"),
        ({"tools": {"t": {"kind": "wrote"}}}, "wrote"),
        ({"tools": {"t": {"kind": "read", "querry_in": "q"}}}, "querry_in"),
        ({"tools": {"t": {"kind": "read", "query_in": 3}}}, "query_in"),
        ({"tools": {"t": {"kind": "read", "path_in": [3]}}}, "path_in"),
        ({"tools": {"t": {"mode_in": "action"}}}, "modes"),
        ({"tools": {"t": {"modes": {"a": {"kind": "read"}}}}}, "mode_in"),
        ({"tools": {"t": {"kind": "read", "is_deep": "yes"}}}, "true or false"),
        ({"keeps_index": "no"}, "true or false"),
        ({"keeps_index": False, "tools": {"t": {"kind": "write"}}}, "index_file"),
        ({"folders": [{"scope": "x"}]}, "names"),
        ({"folders": {"names": []}}, "list"),
        ({"read": {"t": "t()"}}, "list"),
        ({"tools": {f"t{number}": {} for number in range(201)}}, "200"),
        ({"index_file": "x" * 501}, "index_file"),
    ],
)
def test_what_is_wrong_in_a_vocabulary_is_named(change: dict[str, object], word: str) -> None:
    """Nothing is ignored: a field that is unknown or odd is an error that names it."""
    with pytest.raises(InvalidSettings) as caught:
        read_vocabulary({"tools": {}, **change})
    assert word in f"{caught.value.message} {caught.value.hint}"


def test_a_vocabulary_must_have_tools() -> None:
    """An empty table, or what is none, is refused."""
    tables: list[object] = [{}, [], "x", None]
    for table in tables:
        with pytest.raises(InvalidSettings):
            read_vocabulary(table)


NAMES = st.sampled_from([*ToolRule._fields, *Vocabulary._fields, *MemoryFolder._fields, "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([*CallKind, *ReadReach]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5), st.dictionaries(NAMES, VALUES, max_size=4))
def test_a_table_is_a_vocabulary_or_an_error_that_says_why(given: dict[str, object], call: dict[str, object]) -> None:
    """Whatever a config.toml holds, it is read or refused in words; and what is read classifies any call."""
    try:
        found = read_vocabulary({"tools": {"t": given.pop("tools", {})}, **given})
    except InvalidSettings as error:
        assert error.message and error.hint
        return
    assert classify("t", call, found).tool == "t"
