"""What the server offers, in both eras of the protocol, with the real SDK's client and with a raw one."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from commonplace import Book
from commonplace.mcp.book_pool import ServerOptions
from commonplace.memories.store import EVERY
from commonplace.model.errors import InvalidSettings
from commonplace.verbs.toolset import tools_for
from tests.cli.calls import run as cli
from tests.depth import first_quick
from tests.mcp.raw import HANGS, LEGACY, MODERN, Raw, environment

PROJECT = ("--project", "acme/app")


def test_the_tools_are_within_their_budget(shared: Raw) -> None:
    """The default role's tools/list has at most 12 tools and 12,000 characters, in the order of the toolset."""
    answer = shared.request("tools/list")["result"]
    assert [tool["name"] for tool in answer["tools"]] == [tool.name for tool in tools_for("agent")]
    assert len(answer["tools"]) <= 12
    assert len(json.dumps(answer)) <= 12_000
    for tool in answer["tools"]:
        assert tool["outputSchema"]["type"] == "object" and len(tool["annotations"]) == 4


def test_the_tools_of_a_tree_are_within_their_budget(root: Path, tmp_path: Path) -> None:
    """Where the book has a source, the default role's tools/list has at most 19 tools and 19,000 characters."""
    (tmp_path / "note.md").write_text("# Plan\n\nThe cluster moves to Frankfurt.\n")
    assert cli("--root", str(root), "ingest", str(tmp_path / "note.md")).status == 0
    with Raw(root, *PROJECT) as raw:
        answer = raw.request("tools/list")["result"]
    names = [tool["name"] for tool in answer["tools"]]
    assert {"memory_tree_query_global", "memory_tree_drill_down"} <= set(names) and len(names) <= 19
    assert len(json.dumps(answer)) <= 19_000


def test_every_argument_is_described(shared: Raw) -> None:
    """Each argument of each tool says what it is, `cwd` and `session` too, and no schema has more than one type."""
    for role in ("agent", "orchestrator"):
        for tool in tools_for(role, ("files", "pair")):
            for name, schema in tool.input_schema(placed=True)["properties"].items():
                about = schema["description"]
                assert len(about) > 2 and about.split()[0] not in ("or", "and", "whose"), (tool.name, name, about)
    answer = shared.request("tools/list")["result"]
    for tool in answer["tools"]:
        properties = tool["inputSchema"]["properties"]
        assert {"cwd", "session"} <= properties.keys() and all(one["description"] for one in properties.values())
        assert not any(word in json.dumps(tool) for word in ("anyOf", "oneOf", "allOf", "$ref", '"null"'))


def test_the_pair_is_there_when_it_is_asked_for(root: Path) -> None:
    """search and fetch are for hosts that know only these: --tools pair adds them, for any role that reads."""
    with Raw(root, *PROJECT, "--tools", "pair") as raw:
        listed = [tool["name"] for tool in raw.request("tools/list")["result"]["tools"]]
        assert listed == [tool.name for tool in tools_for("agent", ("pair",))] and listed[-2:] == ["search", "fetch"]
        raw.fine("memory_store", content="Tests run with pytest.", key="tests")
        (found,) = raw.fine("search", query="how are the tests run")["results"]
        assert raw.fine("fetch", id=found["id"])["text"] == "Tests run with pytest."


def test_data_is_bare_and_text_is_fenced(root: Path) -> None:
    """In the structured content a recalled text is as it was stored, with its trust and author beside it; in the
    content it is fenced, with the same labels."""
    said = "Tests run\nwith <pytest>."
    with Raw(root, *PROJECT, "--agent", "scout") as raw:
        raw.fine("memory_store", content=said, key="tests")
        for answer in (raw.call("memory_recall", query="tests"), raw.call("memory_history")):
            (hit,) = answer["structuredContent"]["hits"]
            assert (hit["text"], hit["trust"], hit["author"]) == (said, "agent", "scout")
            assert f'trust="agent" time="{hit["time"]}" author="scout">\n{said}\n</' in answer["content"][0]["text"]
        shown = raw.call("memory_show", key="tests")
        data = shown["structuredContent"]
        assert (data["text"], data["trust"], data["author"], data["earlier"]) == (said, "agent", "scout", [])
        assert f'author="scout">\n{said}\n</commonplace-memory>' in shown["content"][0]["text"]


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("memory_show", {"key": "nothing"}), ("memory_show", {"key": "gone"}), ("memory_show", {"key": "Not A Key!"}),
    ("memory_recall", {"since": "yesterday week"}), ("memory_recall", {"type": "rule"}),
    ("memory_store", {"content": "token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}), ("memory_store", {"content": ""}),
    ("memory_store", {"content": "x", "if_revision": "0" * 12, "key": "here"}), ("memory_undo", {"key": "nothing"}),
    ("memory_store", {"content": "x", "decision": "update:nothing"}), ("memory_forget", {"key": "nothing"}),
    ("memory_history", {"key": "no"}), ("memory_undo", {"key": "here"}),
    ("memory_undo", {"key": "here", "action": "restore"}),
    ("memory_consolidate", {"keys": ["nothing", "here"], "content": "x"}), ("journal_run", {"run_id": "none"}),
    ("memory_link", {"key": "here", "rel": "relates_to", "to": "nothing"}), ("read_memory", {"path": "/nothing.md"}),
    ("list_memories", {"path": "/nothing"}), ("search_memory", {"query": "(", "regex": True}),
    ("memory_shell", {"command": "rm x"}), ("fetch", {"id": "project/nothing"}), ("memory_list", {"scope": "session"}),
]  # fmt: skip


def test_errors_name_tools(root: Path) -> None:
    """What an error says to do is a call of a tool that this caller has, or the user's to run; never an option."""
    with Raw(root, *PROJECT, "--tools", "files", "--tools", "pair", "--protocol", "off") as raw:
        for key in ("here", "gone"):
            raw.fine("memory_store", content=f"A fact about {key}.", key=key)
        raw.fine("memory_forget", key="gone")
        names = {tool["name"] for tool in raw.request("tools/list")["result"]["tools"]}
        for tool, given in WRONG:
            answer = raw.call(tool, **given)
            said = answer["content"][0]["text"]
            for before, command in re.findall(r"(.{0,12})`commonplace ([a-z]+)", said):
                assert before.endswith("user to run ") or f"`commonplace {command}` (the user runs it)" in said, said
            assert "--" not in said and set(re.findall(r"\bmemory_[a-z]+", said)) <= names, said
        assert "`memory_list`" in raw.error("memory_show", key="nothing")["hint"]
        assert '`memory_undo(key="gone", action="restore")`' in raw.error("memory_show", key="gone")["hint"]
        assert "`recent_memory`" in raw.error("journal_run", run_id="none")["hint"]
    with Raw(root, *PROJECT, "--read-only") as raw:
        assert "(the user runs it)" in raw.error("memory_show", key="gone")["hint"]


def test_an_agent_starts_at_an_index_page(root: Path) -> None:
    """The instructions say to start at an index page and which tool opens one; it does, from the book's own page down
    to a memory."""
    with Raw(root, *PROJECT, "--agent", "scout") as raw:
        told = raw.hello["instructions"]
        assert "Start at an index page" in told and "memory_show with key=index" in told
        raw.fine("memory_store", content="Tests run with pytest.", key="tests")
        assert "memories/project" in raw.call("memory_show", key="index")["content"][0]["text"]
        page = raw.call("memory_show", key="index", scope="project")["content"][0]["text"]
        assert "[tests](tests.md): Tests run with pytest." in page and page.count("</commonplace-memory>") == 1
        assert raw.fine("memory_show", key="tests", scope="project")["text"] == "Tests run with pytest."


def test_an_agent_takes_back_what_it_did(root: Path) -> None:
    """A replaced text comes back with memory_undo, a forgotten memory with action=restore."""
    with Raw(root, *PROJECT) as raw:
        raw.fine("memory_store", content="Port 5432.", key="port")
        raw.fine("memory_store", content="Port 6000.", key="port", mode="replace")
        assert raw.fine("memory_undo", key="port")["action"] == "undone"
        assert raw.fine("memory_show", key="port")["text"] == "Port 5432."
        raw.fine("memory_forget", key="port")
        assert raw.fine("memory_undo", key="port", action="restore")["action"] == "restored"
        assert raw.fine("memory_show", key="port")["text"] == "Port 5432."


def test_the_handshake_says_who_and_how(shared: Raw) -> None:
    """The answer to initialize has the version that was asked for, our name, and the rubric."""
    assert shared.hello["protocolVersion"] == LEGACY
    assert shared.hello["serverInfo"]["name"] == "commonplace"
    assert "Update rather than duplicate" in shared.hello["instructions"]
    assert set(shared.hello["capabilities"]) == {"tools", "resources", "prompts"}


def test_the_stateless_era_is_served(root: Path) -> None:
    """Without a handshake, each request with its own envelope is answered, with the fields of that era."""
    with Raw(root, *PROJECT, era=MODERN) as raw:
        found = raw.request("server/discover")["result"]
        assert MODERN in found["supportedVersions"]
        assert found["instructions"].startswith("This book is the durable memory")
        tools = raw.request("tools/list")["result"]
        assert tools["resultType"] == "complete" and tools["ttlMs"] > 0
        assert len(json.dumps(tools["tools"])) <= 12_000
        assert raw.fine("memory_store", content="Tests run with pytest.", key="tests")["action"] == "created"
        assert [hit["key"] for hit in raw.fine("memory_recall", query="pytest")["hits"]] == ["tests"]
        assert raw.error("memory_show", key="nothing")["code"] == "not_found"
        assert raw.end() == (0, "")


async def _session(root: Path, mode: Any) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "commonplace", "mcp", *PROJECT, "--agent", "scout"], env=environment(root)
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        assert next(tool.name for tool in (await client.list_tools()).tools) == "memory_recall"
        stored = await client.call_tool("memory_store", {"content": "Tests run with pytest.", "key": f"tests-{mode}"})
        assert not stored.is_error and stored.structured_content is not None
        found = await client.call_tool("memory_recall", {"query": "how are the tests run"})
        assert found.structured_content is not None and found.structured_content["total"] >= 1
        page = await client.call_tool("memory_show", {"key": "index", "scope": "project"})
        assert not page.is_error and f"tests-{mode}" in str(page.content)
        await client.call_tool("memory_forget", {"key": f"tests-{mode}"})
        restored = await client.call_tool("memory_undo", {"key": f"tests-{mode}", "action": "restore"})
        assert not restored.is_error
        shown = await client.call_tool("memory_show", {"key": f"tests-{mode}"})
        assert shown.structured_content is not None and shown.structured_content["text"] == "Tests run with pytest."
        assert ["<commonplace-memory" in str(one) for one in (shown.structured_content, shown.content)] == [False, True]
        failed = await client.call_tool("memory_show", {"key": "nothing"})
        assert failed.is_error
        uris = [str(item.uri) for item in (await client.list_resources()).resources]
        note = next(uri for uri in uris if uri.endswith(f"/tests-{mode}.md"))
        read = await client.read_resource(note)
        assert "pytest" in str(read.contents[0]) and "<commonplace-memory" in str(read.contents[0])
        prompt = await client.get_prompt("remember", {"what": "the port is 6000"})
        assert "the port is 6000" in str(prompt.messages[0].content)


@pytest.mark.parametrize("mode", first_quick(["auto", "legacy"]))
def test_the_real_client_gets_what_it_asks_for(root: Path, mode: str) -> None:
    """The SDK's own client lists, calls (checking every answer against its schema), reads and prompts, in each era."""
    anyio.run(_session, root, mode)


# Resources and prompts


def test_resources_are_what_the_caller_may_see(root: Path) -> None:
    """Index pages and notes of the caller's scopes are listed and read, fenced; another's are not to be had."""
    with Book.open(root, project="acme/app", agent="other", session="s9", role="agent") as other:
        other.store("Private to another session.", "secret-plan", "session")
        path = other.store("Private to another agent.", "agent-plan", "agent").path
    with Raw(root, *PROJECT, "--agent", "scout") as raw:
        raw.fine("memory_store", content="Tests run with pytest. </commonplace-memory>", key="tests")
        listed = raw.request("resources/list")["result"]["resources"]
        uris = [item["uri"] for item in listed]
        assert "book:///index.md" in uris and any(uri.endswith("/tests.md") for uri in uris)
        assert not any("plan" in uri for uri in uris)
        page = next(uri for uri in uris if uri.startswith("book:///memories/project/") and uri.endswith("/index.md"))
        for uri in (page, next(uri for uri in uris if uri.endswith("/tests.md"))):
            (content,) = raw.request("resources/read", {"uri": uri})["result"]["contents"]
            assert "tests" in content["text"] and content["text"].startswith("<commonplace-memory ")
            assert content["text"].count("</commonplace-memory>") == 1
        for uri in (
            f"book://{path}", "book:///.commonplace/config.toml", "book:///../outside.md", "book:///memories/x.md",
            "book:///%2e%2e/outside.md", "file:///etc/passwd", "book:///" + "a/" * 600 + "b.md", "nonsense",
        ):  # fmt: skip
            error = raw.request("resources/read", {"uri": uri})["error"]
            assert error["code"] == -32602 and str(root) not in json.dumps(error)
        assert raw.request("resources/list", {"cursor": "odd"})["error"]["code"] == -32602
        assert raw.request("resources/templates/list")["result"]["resourceTemplates"][0]["uriTemplate"]


@pytest.mark.deep
def test_many_resources_come_in_pages(root: Path) -> None:
    """A list that is long goes on with its cursor; together the pages name every memory once."""
    with Book.open(root, project="acme/app") as book:
        book.store_many({"content": f"Fact number {n}.", "key": f"fact-{n:03d}"} for n in range(230))
    with Raw(root, *PROJECT) as raw:
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = raw.request("resources/list", cursor)["result"]
            seen += [item["uri"] for item in page["resources"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert len(seen) == len(set(seen)) and sum("/fact-" in uri for uri in seen) == 230


def test_prompts_say_what_to_do(root: Path) -> None:
    """brief has what is kept, fenced, and no doctrine: the instructions have it; remember and review name the tools."""
    with Raw(root, *PROJECT) as raw:
        raw.fine("memory_store", content="Staging listens on port 6000.", key="staging", scope="global")
        names = [item["name"] for item in raw.request("prompts/list")["result"]["prompts"]]
        assert names == ["brief", "remember", "review"]
        brief = raw.request("prompts/get", {"name": "brief"})["result"]["messages"][0]["content"]["text"]
        assert "Never save" not in brief and "\n- staging " in brief and "</commonplace-memory>" in brief
        review = raw.request("prompts/get", {"name": "review"})["result"]["messages"][0]["content"]["text"]
        assert "memory_list" in review and "memory_review" not in review
        assert raw.request("prompts/get", {"name": "odd"})["error"]["code"] == -32602
        assert raw.request("prompts/get", {"name": "brief", "arguments": {"x": "y"}})["error"]["code"] == -32602


# Roles, place


@pytest.mark.parametrize("role", first_quick(["worker", "coordinator"]))
def test_a_role_has_its_tools_and_no_others(root: Path, role: str) -> None:
    """tools/list shows the role's tools, and a call of another's is refused like one that does not exist."""
    Book.init(root)
    with Raw(root, *PROJECT, "--role", role) as raw:
        listed = [tool["name"] for tool in raw.request("tools/list")["result"]["tools"]]
        assert listed == [tool.name for tool in tools_for(role)]
        refused = raw.request("tools/call", {"name": "memory_store", "arguments": {"content": "x"}})
        unknown = raw.request("tools/call", {"name": "memory_teleport", "arguments": {}})
        assert refused["error"]["code"] == unknown["error"]["code"] == -32602
        if role == "worker":
            assert "error" in raw.request("resources/list") and "error" in raw.request("prompts/list")
        else:
            assert raw.fine("memory_review")["waiting"] == []
            assert "**Save**" not in raw.hello["instructions"]


def test_read_only_has_no_tool_that_writes(root: Path) -> None:
    """--read-only takes every tool that changes something away."""
    with Raw(root, *PROJECT, "--read-only") as raw:
        listed = raw.request("tools/list")["result"]["tools"]
        assert all(tool["annotations"]["readOnlyHint"] for tool in listed) and len(listed) == 4
        assert "error" in raw.request("tools/call", {"name": "memory_store", "arguments": {"content": "x"}})


def test_a_call_says_whose_memory_it_means(root: Path, tmp_path: Path) -> None:
    """cwd and session choose project and session for one call; what one has stored the other does not see."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with Raw(root, "--protocol", "off") as raw:
        one, two = ({"cwd": str(tmp_path / name), "session": name} for name in ("one", "two"))
        raw.fine("memory_store", content="For project one.", key="of-project", **one)
        raw.fine("memory_store", content="For session one.", key="of-session", scope="session", **one)
        assert raw.fine("memory_list", **one)["total"] == 2
        assert raw.fine("memory_list", **two)["total"] == 0
        assert raw.fine("memory_list", cwd=one["cwd"])["total"] == 1
        assert raw.error("memory_store", content="x", scope="session")["code"] == "invalid_scope"
        assert raw.error("memory_list", cwd="relative/folder")["code"] == "invalid_field"
        assert raw.error("memory_list", cwd=5)["code"] == "invalid_field"
        for number in range(12):  # more than are kept open
            assert raw.fine("memory_list", session=f"s{number}", cwd=one["cwd"])["total"] == 1


def test_what_the_server_was_started_with_stands(root: Path, tmp_path: Path) -> None:
    """A server started for one session and project serves no other, whatever a call says."""
    with Raw(root, *PROJECT, "--session", "mine") as raw:
        assert raw.error("memory_list", session="another")["code"] == "not_permitted"
        assert raw.fine("memory_list", session="mine")["total"] == 0
        raw.fine("memory_store", content="A fact.", cwd=str(tmp_path))
    with Book.open(root, project="acme/app") as book:
        assert len(book.list("project")) == 1


@pytest.mark.parametrize("sealed", first_quick(["1", "0"]))
def test_the_session_of_the_environment_stands(root: Path, sealed: str) -> None:
    """A server whose session comes from a setting serves no other either, sealed or not."""
    with Book.open(root, project="acme/app", session="s1", role="agent") as other:
        other.store("The zebra of session one.", "zebra", "session")
    with Raw(root, *PROJECT, COMMONPLACE_SESSION="s2", COMMONPLACE_SEALED=sealed) as raw:
        assert raw.error("memory_recall", query="zebra", session="s1")["code"] == "not_permitted"
        assert raw.error("memory_show", key="zebra", session="s1")["code"] == "not_permitted"
        assert raw.fine("memory_recall", query="zebra")["hits"] == []
        assert raw.fine("memory_recall", query="zebra", session="s2")["hits"] == []


@pytest.mark.deep
def test_sealed_without_a_session_does_not_start(root: Path) -> None:
    """Sealed to a session that nobody named, a server ends at once and says what is missing."""
    with Raw(root, *PROJECT, COMMONPLACE_SEALED="1", era=MODERN) as raw:
        status, said = raw.end()
        assert status == 13 and "COMMONPLACE_SESSION" in said


# A book that breaks


@pytest.mark.deep
def test_a_book_that_cannot_be_opened_is_an_error_of_one_call(root: Path) -> None:
    """With settings that cannot be read every tool says so, the server lives, and once mended they work."""
    with Book.open(root, project="acme/app") as book:
        book.store("A fact.", "fact")
    config = root / ".commonplace" / "config.toml"
    config.write_text("no such setting = 1", encoding="utf-8")
    with Raw(root, *PROJECT) as raw:
        assert raw.error("memory_list")["code"] == "invalid_settings"
        assert raw.request("resources/list")["error"]["data"]["code"] == "invalid_settings"
        assert len(raw.request("tools/list")["result"]["tools"]) == 9
        config.unlink()
        assert raw.fine("memory_list")["total"] == 1
        for path in (root / ".commonplace").glob("index.db*"):
            path.write_bytes(b"not a database" * 1_000)
        answers = [raw.call("memory_list") for _ in range(3)]
        assert answers[-1]["structuredContent"]["total"] == 1
        assert raw.end() == (0, "")


def _file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    return tmp_path / "file"


@pytest.mark.parametrize("kind", ["a file", "below a file", "closed", "cannot be made"])
@pytest.mark.parametrize("by", ["flag", "environment"])
def test_a_root_that_cannot_be_used_fails_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, by: str
) -> None:
    """A root that was set and is no folder, nor can become one, ends the server at once, with what to do: a host that
    starts it says so, instead of an agent at its first call."""
    root = (
        _file(tmp_path) if kind == "a file" else _file(tmp_path) / "book" if kind == "below a file" else tmp_path / "b"
    )

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    if kind == "closed":
        root.mkdir()
        monkeypatch.setattr(os, "scandir", refuse)
    elif kind == "cannot be made":
        monkeypatch.setattr(os, "mkdir", refuse)
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root) if by == "environment" else "")
    done = cli("mcp", *(("--root", str(root)) if by == "flag" else ()))
    assert done.status == 17 and "[invalid_settings]" in done.err and "--root" in done.err and done.out == ""
    assert "Traceback" not in done.err


def test_a_root_that_is_not_there_yet_is_no_error_at_start(tmp_path: Path) -> None:
    """A new book needs no folder: the check of the root makes nothing and leaves nothing."""
    ServerOptions(str(tmp_path / "deep" / "book")).check()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["", "book"])
def test_every_surface_says_that_a_root_cannot_be_used(tmp_path: Path, below: str) -> None:
    """The library and the command line name the setting to change, in the same words."""
    root = _file(tmp_path) / below
    with pytest.raises(InvalidSettings, match="The root"):
        Book.open(root)
    done = cli("list", "--root", str(root), "--json")
    assert done.error()["code"] == "invalid_settings" and "COMMONPLACE_ROOT" in done.error()["hint"]


@pytest.mark.deep
def test_an_edit_by_hand_is_seen(root: Path) -> None:
    """What a person changes in a file while the server runs is found by a later call, without a restart."""
    with Raw(root, *PROJECT, "--protocol", "off") as raw:
        raw.fine("memory_store", content="Staging listens on port 5432.", key="staging", scope="global")
        assert raw.fine("memory_recall", query="penguins", strong=True)["total"] == 0
        path = root / "memories" / "global" / "staging.md"
        path.write_text(path.read_text("utf-8").replace("port 5432", "the penguins"), encoding="utf-8")
        patience = time.monotonic() + HANGS  # far beyond what any machine needs
        while not raw.fine("memory_recall", query="penguins", strong=True)["total"] and time.monotonic() < patience:
            pass
        assert raw.fine("memory_recall", query="penguins", strong=True)["total"] == 1 and EVERY < 1
