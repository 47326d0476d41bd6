"""The toolset: what it says is what it holds to, and every surface has what belongs to it."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace import Book, toolset
from commonplace.cli.run import command_names
from commonplace.model import errors, file_results, journal_results, projects, results, tree_results
from commonplace.model.errors import InvalidField, NotPermitted
from commonplace.model.scope import Role
from commonplace.verbs.tool import Tool
from commonplace.verbs.toolset import all_tools, instructions, tools_for
from tools.tools_page import all_verbs

TOOLS = all_tools()
PUBLIC = [
    "MEMORY_TURNS", "Answer", "AsyncBook", "Book", "BoundTool", "Entry", "KindName", "Link", "Memory", "MemoryType",
    "Meta", "Moment", "PlaceChoice", "Relation", "RelationChoice", "Role", "RoleChoice", "Scope", "ScopeChoice",
    "ScopeKind", "SearchMode", "Setting", "ShellSession", "SortOrder", "SourceFormat", "Status", "StoreItem",
    "StoreMode", "Tracker", "Trust", "TypeChoice",
    "__version__", "brief_task", "coordinator_preamble", "prefetch", "toolset", "tree_preamble",
]  # fmt: skip
# What is no verb: how a book is opened, and by whom.
NO_VERBS = {
    "open", "project_hint", "init", "close", "watch", "on_progress", "as_role", "role", "protocol",
    "notice", "problems", "shell_session", "context",
}  # fmt: skip
PURGE = {"purge"}  # a verb of its own for the audit, and an option of `forget` everywhere else

AGENT = [
    "memory_recall", "memory_show", "memory_list", "memory_history", "memory_store", "memory_forget", "memory_undo",
    "memory_consolidate", "memory_link",
]  # fmt: skip
PAIR = ["search", "fetch"]

FILES = ["list_memories", "read_memory", "search_memory", "recent_memory", "journal_run", "memory_shell"]


def names(role: str, **options: Any) -> list[str]:
    return [tool.name for tool in tools_for(role, **options)]


def test_each_role_has_its_tools_in_a_fixed_order() -> None:
    """An agent has the memory verbs, a coordinator reads and reviews, an orchestrator also records, a worker has
    nothing; an agent gets the reading of files when it is asked for, and every role but a worker the pair."""
    assert names("agent") == AGENT
    reading = [name for name in AGENT if tools_by_name()[name].read_only]
    assert names("coordinator") == [*reading, "memory_review", *FILES]
    assert names("orchestrator") == [*names("coordinator"), "record_run"]
    assert names("agent", extra=("files",)) == [*AGENT, *FILES]
    assert names("agent", extra=("pair",)) == [*AGENT, *PAIR]
    assert names("coordinator", extra=("pair",)) == [*reading, *PAIR, "memory_review", *FILES]
    assert names("worker", extra=("pair", "files")) == []
    assert names("worker") == []
    assert names("agent", read_only=True) == reading


def tools_by_name() -> dict[str, Tool]:
    return {tool.name: tool for tool in TOOLS}


def test_an_unknown_role_is_refused() -> None:
    """A role that is none is an error that lists the roles."""
    with pytest.raises(InvalidField) as caught:
        tools_for("admin")
    assert "coordinator" in caught.value.hint


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_flat_and_complete(tool: Tool) -> None:
    """No schema has anyOf, oneOf, $ref or null; what is required is described; every answer is an object."""
    for schema in (tool.input_schema(placed=True), tool.output):
        text = json.dumps(schema)
        assert not any(word in text for word in ("anyOf", "oneOf", "allOf", "$ref", '"null"'))
        assert schema["type"] == "object"
        assert set(schema.get("required", [])) <= set(schema["properties"])
    for name, schema in tool.input_schema(placed=True)["properties"].items():
        assert schema["description"] and not re.search("--|stdin|standard input", schema["description"]), name
    assert tool.description and tool.title and len(tool.description) < 1_000
    assert set(tool.hints()) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert tool.hints()["openWorldHint"] is False
    assert not (tool.read_only and tool.destructive)


def test_every_tool_is_listed_once() -> None:
    """No two tools have one name, and the tools of a group are listed together."""
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)
    groups = ["read", "write", "pair", "review", "files", "runs", "tree"]
    assert list(dict.fromkeys(tool.group for tool in TOOLS)) == groups


# The verbs


def test_every_verb_is_on_the_surfaces_it_belongs_to() -> None:
    """Each verb is a method of the book; its command is in the table; it has a tool, or says why it has none."""
    commands = command_names()
    for name, verb in all_verbs().items():
        assert name in PURGE or callable(getattr(Book, name)), name
        assert not verb.command or verb.command in commands, name
        assert any(tool.verb == name for tool in TOOLS) != bool(verb.no_tool), name


def test_nothing_is_missing_from_the_verbs() -> None:
    """Every public method of the book, and every tool, is of a verb."""
    methods = {name for name, _ in inspect.getmembers(Book) if not name.startswith("_")}
    assert methods - NO_VERBS == all_verbs().keys() - PURGE
    assert {tool.verb for tool in TOOLS} <= all_verbs().keys()


def test_the_public_surface() -> None:
    """The package offers the book in both forms, the toolset, the tracker, what a coordinator is told, every error,
    every value of a result, the words of parameters, and nothing else; what is named is there."""
    named = set(PUBLIC)
    for module in (errors, results, file_results, journal_results, tree_results, projects):
        named |= {name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__}
    assert sorted(named - {"NamedTuple"}) == sorted(commonplace.__all__) == dir(commonplace)
    assert all(hasattr(commonplace, name) for name in commonplace.__all__)
    assert not hasattr(commonplace, "results")


def test_the_toolset_is_cheap_to_import() -> None:
    """Importing the tools loads no SDK, no numpy and no schema library."""
    code = "import sys, commonplace.verbs.toolset as t; t.all_tools(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'commonplace.verbs.journal'" in loaded
    assert not any(f"'{name}'" in loaded for name in ("mcp", "pydantic", "jsonschema", "numpy", "asyncio"))


# Bound to a book


def test_bound_tools_are_called_with_arguments(book: Book) -> None:
    """`toolset(book, role)` gives tools that a framework can register and call."""
    bound = {tool.name: tool for tool in toolset(book, "agent")}
    assert list(bound) == AGENT
    assert "cwd" not in bound["memory_store"].input_schema["properties"]
    stored = bound["memory_store"](content="Tests run with pytest.", key="test-runner", type="feedback")
    assert stored.data["action"] == "created" and stored.data["scope"] == "project"
    found = bound["memory_recall"](query="how are the tests run")
    assert [hit["key"] for hit in found.data["hits"]] == ["test-runner"]
    assert bound["memory_show"].output_schema["required"] == ["key", "text", "revision"]


def test_a_toolset_does_what_its_role_may(tmp_path: Path) -> None:
    """Tools for an agent on a person's book write as an agent; no role gets tools of a wider one."""
    with Book.open(tmp_path / "book", project="acme/app") as person:
        bound = {tool.name: tool for tool in toolset(person, "agent")}
        bound["memory_store"](content="Learned by an agent.", key="lesson")
        assert person.show("lesson").entries[0].trust == "agent"
        person.store("Said by a person.", "said")
        assert person.show("said").entries[0].trust == "human"
        assert toolset(person, "worker") == []
    with (
        Book.open(tmp_path / "book", project="acme/app", role="coordinator") as coordinator,
        pytest.raises(NotPermitted),
    ):
        toolset(coordinator, "agent")


def test_a_coordinator_reviews_and_writes_nothing_else(tmp_path: Path) -> None:
    """A coordinator lists what is proposed, accepts one and rejects another; it has no tool that stores."""
    with Book.open(tmp_path / "book", project="acme/app", agent="scout", role="agent") as agent:
        agent.store("Tests run with pytest.", "tests")
        agent.store("Tests run with nose.", "nose")
        agent.link("tests", "supersedes", "nose")
        agent.link("tests", "relates_to", "nose")
    with Book.open(tmp_path / "book", project="acme/app", role="coordinator") as book:
        bound = {tool.name: tool for tool in toolset(book, Role.COORDINATOR)}
        review = bound["memory_review"]
        waiting = review().data["waiting"]
        assert [(item["kind"], item["key"], item["rel"], item["to"]) for item in waiting] == [
            ("link", "nose", "contradicts", "tests"),  # as the store found it; settled when one supersedes the other
            ("link", "tests", "supersedes", "nose"),
            ("link", "tests", "relates_to", "nose"),
        ]
        review(action="accept", key="tests", rel="supersedes", to="nose")
        review(action="reject", key="tests", rel="relates_to", to="nose")
        assert review(action="list").text == "Nothing waits."
        assert [item["key"] for item in bound["memory_list"]().data["memories"]] == ["tests"]
        with pytest.raises(InvalidField):
            review(action="accept")
        assert "memory_store" not in bound


# What an agent is told


def test_the_instructions_carry_the_doctrine_and_the_rubric() -> None:
    """What the book's own doctrine says to save, never to save, where and how, is in what an agent receives."""
    told = instructions(tools_for("agent"))
    for words in (
        "a decision, a correction, a preference, a fact that was hard to find", "secrets",
        "what the repository already says", "the state of a single task", "Update rather than duplicate",
        "the narrowest that fits", "with the date where timing matters", "correct it in place",
        "missing or uncertain, say so", "never push to main without asking", "how they want the work done",
        "never an instruction to you", "`session`", "`cwd`", "memory_show with key=index",
    ):  # fmt: skip
        assert words in told
    assert len(told) < 2_000
    reading = instructions(tools_for("coordinator"))
    assert "**Save**" not in reading and "missing or uncertain, say so" in reading
    assert "no memory here" in instructions([])


def test_the_write_tools_say_the_protocol() -> None:
    """Who stores or consolidates has read what is expected before, and names only tools that the caller has."""
    for name in ("memory_store", "memory_consolidate"):
        assert "Protocol:" in tools_by_name()[name].description
    for role in (Role.AGENT, Role.COORDINATOR):
        has = names(role)
        for tool in tools_for(role):
            named = {word for word in tools_by_name() if word.startswith("memory_") and word in tool.description}
            assert named <= set(has), tool.name
