"""What each program says of our server: one function each, which answers a line of proof or raises Failed."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from commonplace.verbs.toolset import tools_for
from tests.hosts.place import Failed, Place

TOOLS = len(tools_for("agent"))
NAME = "commonplace"


def _assignments(place: Place, option: str) -> list[str]:
    return [word for name, value in place.server_environment.items() for word in (option, f"{name}={value}")]


def inspector(place: Place) -> str:
    """The inspector's command line finds nothing wrong with the tools, calls two, and reads resources and prompts."""
    proof = []
    for words in (
        ["tools/list", "--strict"], ["resources/list"], ["resources/templates/list"], ["prompts/list"],
        ["tools/call", "--tool-name", "memory_store", "--tool-arg", "content=Tests run with pytest."],
        ["tools/call", "--tool-name", "memory_recall", "--tool-arg", "query=how are tests run"],
    ):  # fmt: skip
        said = place.ask("mcp-inspector", "--cli", *_assignments(place, "-e"), *place.server, "--method", *words)
        answer = _json(said)
        if words[0] == "tools/list" and len(answer["tools"]) != TOOLS:
            raise Failed(f"it lists {len(answer['tools'])} tools, not {TOOLS}")
        if words[0] == "tools/call" and answer.get("isError"):
            raise Failed(f"{words[2]} failed: {said[:200]}")
        proof.append(words[2] if words[0] == "tools/call" else f"{words[0]} {len(next(iter(answer.values())))}")
    return ", ".join(proof)


def claude_code(place: Place) -> str:
    """`claude mcp list` starts the server and says that it is connected."""
    place.ask("claude", "mcp", "add", "--scope", "user", NAME, *_assignments(place, "-e"), "--", *place.server)
    return _connected(place.ask("claude", "mcp", "list"))


def gemini(place: Place) -> str:
    """`gemini mcp list` starts the server and says that it is connected."""
    settings = place.home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    command, *words = place.server
    server = {"command": command, "args": words, "env": place.server_environment, "trust": True, "timeout": 60_000}
    settings.write_text(json.dumps({"mcpServers": {NAME: server}}), encoding="utf-8")
    return _connected(place.ask("gemini", "mcp", "list", GEMINI_CLI_TRUST_WORKSPACE="true"))


def opencode(place: Place) -> str:
    """`opencode mcp list` starts the server and says that it is connected."""
    server = {"type": "local", "command": place.server, "environment": place.server_environment, "enabled": True}
    (place.work / "opencode.json").write_text(json.dumps({"mcp": {NAME: server}}), encoding="utf-8")
    return _connected(place.ask("opencode", "mcp", "list"))


def codex(place: Place) -> str:
    """Codex's app server starts the server and lists its tools."""
    (place.home / ".codex").mkdir()
    place.ask("codex", "mcp", "add", NAME, *_assignments(place, "--env"), "--", *place.server)
    process = subprocess.Popen(
        [place.program("codex"), "app-server"], cwd=place.work, env=place.environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        client = {"clientInfo": {"name": "commonplace-tests", "title": "tests", "version": "1"}}
        _request(process, 1, "initialize", client)
        _send(process, {"method": "initialized"})
        for server in _request(process, 2, "mcpServerStatus/list", {})["data"]:
            if server["name"] == NAME and len(server["tools"]) == TOOLS:
                return f"mcpServerStatus/list: {len(server['tools'])} tools"
        raise Failed("mcpServerStatus/list does not have our tools")
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def _request(process: subprocess.Popen[str], ident: int, method: str, params: dict[str, Any]) -> Any:
    _send(process, {"id": ident, "method": method, "params": params})
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == ident:
            if "error" in message:
                raise Failed(f"{method}: {message['error']}")
            return message["result"]
    raise Failed(f"{method}: the program ended")


def _connected(said: str) -> str:
    for line in said.splitlines():
        if NAME in line and "onnected" in line and not any(word in line for word in ("Disconnected", "not", "Failed")):
            return " ".join(line.split())[-80:]
    raise Failed(f"it does not say that it is connected: {' | '.join(said.split(chr(10)))[-300:]}")


def _json(said: str) -> Any:
    try:
        return json.loads(said[said.index("{") : said.rindex("}") + 1])
    except ValueError:
        raise Failed(f"no JSON: {said[:200]}") from None
