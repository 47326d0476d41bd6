"""The audit over MCP: one line for each call of a tool, with the agent and the session that the call names."""

from __future__ import annotations

from pathlib import Path

from tests.guard.audit_lines import audit_folder, lines
from tests.mcp.raw import Raw


def test_calls_of_tools_leave_their_lines(root: Path) -> None:
    """A store with the duplicate check before it, a recall, the pair's search and a forget are one line each."""
    with Raw(root, "--project", "acme/app", "--agent", "scout", "--tools", "files", "--tools", "pair") as raw:
        raw.fine("memory_store", content="The okapi is shy.", key="shy", session="s1")
        raw.fine("memory_recall", query="okapi", session="s2")
        raw.fine("search", query="okapi")
        raw.fine("memory_show", key="shy")
        raw.fine("memory_shell", command="grep -r okapi /")
        raw.fine("memory_forget", key="shy")
        assert raw.call("memory_forget", key="shy")["isError"]
        (day,) = audit_folder(root).iterdir()
        path = f"/.commonplace/audit/{day.name}"
        assert raw.call("read_memory", path=path)["isError"]
        assert raw.fine("memory_shell", command=f"cat {path}")["stdout"] == ""
        assert "error" in raw.request("resources/read", {"uri": f"book://{path}"})
    found = lines(root)
    assert [(line["verb"], line["outcome"], line.get("session")) for line in found] == [
        ("store", "ok", "s1"),
        ("recall", "ok", "s2"),
        ("recall", "ok", None),
        ("shell", "ok", None),
        ("forget", "ok", None),
        ("forget", "not_found", None),
        ("shell", "ok", None),
    ]
    assert {(line["surface"], line["role"], line["agent"]) for line in found} == {("mcp", "agent", "scout")}
    assert "okapi" not in day.read_text("ascii")
