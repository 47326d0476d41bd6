"""Vocabularies: a call is known by its tool and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard.protocol_state import CallKind, ReadReach
from commonplace.guard.vocabulary import OWN_TOOLS, Vocabulary, classify, claude_code_vocabulary, hash_words

FOLDER = "/home/ann/.claude/projects/-home-ann-shop/memory"
CLAUDE = claude_code_vocabulary()
READ, WRITE, RETIRE, INDEX, OTHER = CallKind.READ, CallKind.WRITE, CallKind.RETIRE, CallKind.INDEX, CallKind.OTHER

OUR_CALLS: list[tuple[str, dict[str, Any], CallKind, tuple[str, ...], tuple[str, ...]]] = [
    ("memory_store", {"content": "x"}, WRITE, ("project",), ()),
    ("memory_store", {"content": "x", "scope": "global", "key": "k"}, WRITE, ("global",), ("k",)),
    ("memory_consolidate", {"keys": ["a", "b"], "content": "x"}, WRITE, ("project",), ("a", "b")),
    ("memory_forget", {"key": "k"}, RETIRE, (), ("k",)),
    ("memory_recall", {"query": "q"}, READ, (), ()),
    ("memory_recall", {"query": "q", "scope": "agent"}, READ, ("agent",), ()),
    ("memory_list", {}, READ, (), ()),
    ("memory_show", {"key": "k"}, READ, (), ("k",)),
    ("memory_history", {"key": "k", "scope": "project"}, READ, ("project",), ("k",)),
    ("memory_history", {}, READ, (), ()),
    ("memory_show", {"key": "index", "scope": "global"}, READ, ("global",), ()),
    ("memory_undo", {"key": "k"}, OTHER, (), ()),
    ("search", {"query": "q"}, READ, (), ()),
    ("fetch", {"id": "k"}, READ, (), ("k",)),
    ("list_memories", {}, OTHER, (), ()),  # the names of folders tell nothing of what is in them
    ("list_memories", {"path": "/memories/project"}, OTHER, (), ()),
    ("list_memories", {"path": "/memories/project/shop-1"}, READ, ("project",), ()),
    ("list_memories", {"path": "/journal"}, READ, ("journal",), ()),
    ("list_memories", {"path": "/data"}, OTHER, (), ()),
    ("read_memory", {"path": "/memories/global/people/ann.md"}, READ, ("global",), ("people/ann",)),
    ("read_memory", {"path": "/memories/global/index.md"}, READ, ("global",), ()),
    ("search_memory", {"query": "q", "paths": ["/memories/team", "/memories/global"]}, READ, ("team", "global"), ()),
    ("search_memory", {"query": "q"}, READ, (), ()),
    ("recent_memory", {}, READ, ("journal",), ()),
    ("memory_shell", {"command": "pwd"}, OTHER, (), ()),
    ("memory_shell", {"command": "rm /memories/team/a.md"}, OTHER, (), ()),
    ("memory_shell", {"command": "ls"}, OTHER, (), ()),
    ("memory_shell", {"command": "ls -R"}, READ, (), ()),
    ("memory_shell", {"command": "tree", "in_folder": "/memories"}, READ, (), ()),
    ("memory_shell", {"command": "wc /memories/team/a.md"}, OTHER, (), ()),
    ("memory_shell", {"command": "cat 'a.md"}, OTHER, (), ()),
    ("memory_shell", {"command": "cat a.md", "in_folder": "/memories/agent/kim"}, READ, ("agent",), ("a",)),
    ("memory_shell", {"command": "cat ../kim/./a.md", "in_folder": "memories/agent/kim"}, READ, ("agent",), ("a",)),
    ("memory_shell", {"command": "cat 'b c.md'", "in_folder": "/memories/agent/kim"}, READ, ("agent",), ("b c",)),
    ("memory_shell", {"command": "head -n 5 /memories/team/a.md"}, READ, ("team",), ("a",)),
    ("memory_shell", {"command": "grep -rn 'port' /memories/global"}, READ, ("global",), ()),
    ("memory_shell", {"command": "find /memories/session/s1 -name '*.md'"}, READ, ("session",), ()),
    ("memory_link", {"key": "k", "rel": "supersedes", "to": "o"}, OTHER, (), ()),
    ("record_run", {"manifest": {}}, OTHER, (), ()),
    ("Bash", {"command": "ls"}, OTHER, (), ()),
]

CLAUDE_CALLS: list[tuple[str, dict[str, Any], CallKind, tuple[str, ...], tuple[str, ...]]] = [
    ("Read", {"file_path": f"{FOLDER}/MEMORY.md"}, READ, (FOLDER,), ()),
    ("Read", {"file_path": f"{FOLDER}/ports.md"}, READ, (FOLDER,), ("ports",)),
    ("Read", {"file_path": "/home/ann/shop/memory/MEMORY.md"}, OTHER, (), ()),
    ("Write", {"file_path": f"{FOLDER}/ports.md", "content": "x"}, WRITE, (FOLDER,), ("ports",)),
    ("Write", {"file_path": f"{FOLDER}/../memory/./ports.md"}, WRITE, (FOLDER,), ("ports",)),
    ("Write", {"file_path": f"{FOLDER}/../notes/ports.md"}, OTHER, (), ()),
    ("Write", {"file_path": f"{FOLDER}/MEMORY.md", "content": "x"}, INDEX, (FOLDER,), ()),
    ("Edit", {"file_path": f"{FOLDER}/MEMORY.md"}, INDEX, (FOLDER,), ()),
    ("Edit", {"file_path": f"{FOLDER}/deep/MEMORY.md"}, WRITE, (FOLDER,), ("deep/MEMORY",)),
    ("Edit", {"file_path": "/home/ann/shop/MEMORY.md"}, OTHER, (), ()),
    ("MultiEdit", {"file_path": f"{FOLDER}/a.md", "edits": []}, WRITE, (FOLDER,), ("a",)),
    ("Grep", {"pattern": "port", "path": FOLDER}, READ, (FOLDER,), ()),
    ("Grep", {"pattern": "port", "path": "/home/ann/shop"}, OTHER, (), ()),
    ("Grep", {"pattern": "port"}, OTHER, (), ()),
    ("Glob", {"pattern": f"{FOLDER}/*.md"}, READ, (FOLDER,), ()),
    ("Glob", {"pattern": "*.md", "path": FOLDER}, READ, (FOLDER,), ()),
    ("Bash", {"command": f"cat {FOLDER}/a.md"}, OTHER, (), ()),
]

TABLE = [(vocabulary, *row) for vocabulary, rows in ((OWN_TOOLS, OUR_CALLS), (CLAUDE, CLAUDE_CALLS)) for row in rows]


@pytest.mark.parametrize(("vocabulary", "tool", "arguments", "kind", "scopes", "keys"), TABLE)
def test_a_call_is_what_its_tool_and_arguments_say(
    vocabulary: Vocabulary,
    tool: str,
    arguments: Mapping[str, object],
    kind: CallKind,
    scopes: tuple[str, ...],
    keys: tuple[str, ...],
) -> None:
    """Every tool is the step that the table says, in its scopes and of its keys."""
    found = classify(tool, arguments, vocabulary)
    assert (found.kind, found.scopes, found.keys) == (kind, scopes, keys)


RELATIVE_CALLS: list[tuple[str, dict[str, Any], str, CallKind, tuple[str, ...]]] = [
    ("Read", {"file_path": "MEMORY.md"}, FOLDER, READ, ()),
    ("Read", {"file_path": "memory/ports.md"}, f"{FOLDER}/..", READ, ("ports",)),
    ("Write", {"file_path": "./ports.md"}, FOLDER, WRITE, ("ports",)),
    ("Write", {"file_path": "ports.md"}, "/home/ann/shop", OTHER, ()),
    ("Edit", {"file_path": "MEMORY.md"}, FOLDER, INDEX, ()),
    ("Grep", {"pattern": "port"}, FOLDER, READ, ()),
    ("Glob", {"pattern": "*.md"}, FOLDER.replace("/", "\\"), READ, ()),
]


@pytest.mark.parametrize(("tool", "arguments", "cwd", "kind", "keys"), RELATIVE_CALLS)
def test_relative_paths_start_in_the_folder_of_the_call(
    tool: str, arguments: dict[str, object], cwd: str, kind: CallKind, keys: tuple[str, ...]
) -> None:
    """A relative path is a memory file where the call is made in the memory folder, and nowhere else."""
    found = classify(tool, arguments, CLAUDE, cwd)
    assert (found.kind, found.keys) == (kind, keys)


@pytest.mark.parametrize(
    ("tool", "arguments", "reach"),
    [
        ("memory_recall", {"query": "q"}, ReadReach.SCOPE),
        ("memory_recall", {"query": "q", "tags": []}, ReadReach.SCOPE),
        ("memory_recall", {"query": "q", "tags": ["ci"]}, ReadReach.RETURNED),
        ("memory_list", {"type": "user"}, ReadReach.RETURNED),
        ("memory_show", {"key": "k"}, ReadReach.RETURNED),
        ("memory_history", {}, ReadReach.RETURNED),
        ("memory_show", {"key": "index"}, ReadReach.RETURNED),
        ("memory_show", {"key": "index", "scope": "team"}, ReadReach.SCOPE),
        ("read_memory", {"path": "/memories/team/a.md"}, ReadReach.RETURNED),
        ("read_memory", {"path": "/memories/team/index.md"}, ReadReach.SCOPE),
        ("list_memories", {"path": "/memories/global"}, ReadReach.SCOPE),
        ("list_memories", {"path": "/memories/global/people"}, ReadReach.RETURNED),
        ("memory_shell", {"command": "find /memories -name x"}, ReadReach.RETURNED),
        ("memory_shell", {"command": "find /memories"}, ReadReach.SCOPE),
    ],
)
def test_a_read_reaches_what_it_could_have_returned(tool: str, arguments: dict[str, object], reach: ReadReach) -> None:
    """A filter, or the name of one memory, makes a read reach no further than what it returned."""
    assert classify(tool, arguments, OWN_TOOLS).reach is reach


@pytest.mark.parametrize(
    ("tool", "arguments", "question"),
    [
        ("memory_recall", {"query": "staging port"}, "staging port"),
        ("memory_recall", {"query": "what do we know about the staging ports?"}, "port staging"),
        ("memory_recall", {"query": "DB configs"}, "configuration of the database"),
        ("memory_shell", {"command": "grep -rn 'staging port' /memories"}, "port staging"),
        ("memory_shell", {"command": "grep -A 3 -e staging -r /memories"}, "staging"),
        ("search_memory", {"query": "staging"}, "staging"),
    ],
)
def test_a_question_is_kept_as_hashes_of_its_telling_words(
    tool: str, arguments: dict[str, object], question: str
) -> None:
    """Forms, short forms and general words make no difference; the words themselves are nowhere in the operation."""
    found = classify(tool, arguments, OWN_TOOLS)
    assert found.words == hash_words(question)
    assert "staging" not in repr(found).lower()


@pytest.mark.parametrize(
    ("arguments", "settled"),
    [
        ({}, False),
        ({"decision": ""}, False),
        ({"decision": "create"}, True),
        ({"decision": "supersede:old"}, True),
        ({"if_revision": "abc"}, True),
        ({"decision": 3}, False),
    ],
)
def test_a_decision_or_a_revision_settles_a_store(arguments: dict[str, object], settled: bool) -> None:
    """A store with a decision, or with the revision it read, needs no other proof that somebody looked."""
    assert classify("memory_store", {"content": "x", **arguments}, OWN_TOOLS).settled is settled


def test_claude_codes_folder_is_found_on_windows_and_where_it_was_moved() -> None:
    """Backslashes are slashes, and a configuration folder elsewhere is found there and nowhere else."""
    path = r"C:\Users\ann\.claude\projects\C--shop\memory\ports.md"
    found = classify("Write", {"file_path": path}, CLAUDE)
    assert (found.kind, found.scope, found.keys) == (WRITE, "C:/Users/ann/.claude/projects/C--shop/memory", ("ports",))
    moved = claude_code_vocabulary("/srv/claude")
    assert classify("Write", {"file_path": "/srv/claude/projects/p/memory/MEMORY.md"}, moved).kind is INDEX
    assert classify("Write", {"file_path": f"{FOLDER}/MEMORY.md"}, moved).kind is OTHER


def test_only_files_of_a_host_are_not_in_the_index_by_themselves() -> None:
    """Our own writes keep the index; those of Claude Code do not."""
    assert classify("memory_store", {"content": "x"}, OWN_TOOLS).keeps_index
    assert not classify("Write", {"file_path": f"{FOLDER}/a.md"}, CLAUDE).keeps_index


RUBBISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from([FOLDER, "/memories/team/a.md", "..", "/"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
NAMES = ["content", "key", "keys", "scope", "query", "path", "paths", "command", "cwd", "file_path", "pattern",
         "decision", "id", "ids", "words", "chunk_ids"]  # fmt: skip


@given(
    st.sampled_from([OWN_TOOLS, CLAUDE]),
    st.sampled_from(sorted({*OWN_TOOLS.tools, *CLAUDE.tools})),
    st.dictionaries(st.sampled_from(NAMES), RUBBISH),
)
def test_no_arguments_make_it_fail(vocabulary: Vocabulary, tool: str, arguments: dict[str, object]) -> None:
    """Whatever a model sends as arguments, a call is some step or none."""
    found = classify(tool, arguments, vocabulary)
    assert found.tool == tool
    assert found.kind is not WRITE or len(found.scopes) >= 1
