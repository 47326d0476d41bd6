"""Gemini CLI itself validates and lists what we give it."""

from __future__ import annotations

import json

from commonplace.hosts import gemini
from tests.hosts.programs import ROOT, Step, World, program

NEEDS = ("gemini", "node")
HOST = gemini.HOST


def validates(world: World) -> str:
    done = world.run(program("gemini"), "extensions", "validate", str(ROOT / "extensions" / "gemini"))
    assert done.status == 0 and "successfully validated" in done.text and "arning" not in done.text, done.text
    return "the extension passes `gemini extensions validate` without a warning"


def loads(world: World) -> str:
    world.connect(HOST)
    trusted = world.home / ".gemini" / "trustedFolders.json"
    trusted.write_text(json.dumps({str(world.project): "TRUST_FOLDER"}))
    listed = world.run(program("gemini"), "extensions", "list").text
    assert "commonplace (0.1" in listed and "MCP servers:" in listed and "Agent skills:" in listed, listed
    servers = world.run(program("gemini"), "mcp", "list").text
    assert "commonplace" in servers and "Connected" in servers, servers
    world.disconnect(HOST)
    assert "No extensions installed" in world.run(program("gemini"), "extensions", "list").text
    return "extension with server and skill listed, server connected; gone after disconnect"


STEPS: tuple[Step, ...] = (("gemini: validate", validates), ("gemini: load", loads))
