"""Gemini CLI itself validates and lists what we give it."""

from __future__ import annotations

import json

from commonplace.hosts import gemini
from tests.hosts.scripted_model import Model, scripted
from tests.hosts.told import Session, tell
from tests.hosts.world import ROOT, Ran, Step, World, program

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


def runs(world: World) -> str:
    """A session with a scripted model, in a trusted folder."""
    world.connect(HOST)
    (world.home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(world.project): "TRUST_FOLDER"}))
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (world.home / ".gemini" / "settings.json").write_text(json.dumps(auth))
    with scripted(()) as model:
        done = ask(world, model, 0, "hello")
    assert done.status == 0 and "done" in done.text, done.text
    assert any("BRIEF-OF-COMMONPLACE" in asked for asked in model.asked), f"no brief: {world.hooks()} {done.text}"
    assert world.hooks()[:2] == ["session-start", "prompt"] and "stop" in world.hooks(), world.hooks()
    return "brief in the model's context; hooks ran at the start, at the prompt and at the end"


def ask(world: World, model: Model, number: int, prompt: str) -> Ran:
    environment = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.address, "GEMINI_CLI_NO_RELAUNCH": "1"}
    line = ("-p", prompt, "-m", "gemini-2.5-flash", *(["--resume", "latest"] if number else []))
    return world.run(program("gemini"), *line, environment=environment)


def settle(world: World, _: Model) -> None:
    """The user's settings with comments, in an order of their own, with a hook of theirs."""
    own = json.dumps(f"echo prompt >> '{world.own_log}'; echo '{{}}'")
    folder = world.home / ".gemini"
    folder.mkdir(mode=0o750)
    (folder / "trustedFolders.json").write_text(json.dumps({str(world.project): "TRUST_FOLDER"}))
    (folder / "settings.json").write_text(
        '// mine\n{ "security":{"auth" : {"selectedType": "gemini-api-key"}}, /* why not */\n\n'
        f'\t"hooks": {{"BeforeAgent":[ {{"hooks": [{{"command": {own}, "type":"command"}}]}} ]}} }} // no line end'
    )
    (folder / "settings.json").chmod(0o640)
    (folder / "GEMINI.md").write_text("# Mine\r\nBe brief.")


_WRITES = (
    "home/.gemini/history*",
    "home/.gemini/installation_id",
    "home/.gemini/projects.json",
    "home/.gemini/tmp*",
)
SESSION = Session(settle, ask, _WRITES)

STEPS: tuple[Step, ...] = (
    ("gemini: validate", validates),
    ("gemini: load", loads),
    ("gemini: run", runs),
    ("gemini: told", lambda world: tell(world, HOST, SESSION)),
)
