"""Claude Code itself validates, loads and runs what we give it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from commonplace.hosts import claude_code
from tests.hosts.scripted_model import Call, Model, scripted
from tests.hosts.told import ASKED_BY_MEANING, BY_MEANING, Session, count, fill_book, is_turn, tell
from tests.hosts.world import ROOT, Ran, Step, World, program

NEEDS = ("claude", "node")
HOST = claude_code.HOST
_MAX_PROMPTS = 200  # each takes a good part of a second, and the model loads in a few
_OFFLINE = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1", "ANTHROPIC_API_KEY": "sk-ant-none"}


def validates(world: World) -> str:
    for place in (ROOT, ROOT / "plugins" / "claude-code"):
        done = world.run(program("claude"), "plugin", "validate", "--strict", str(place))
        assert done.status == 0 and "Validation passed" in done.text, done.text
    return "marketplace and plugin pass `claude plugin validate --strict`"


def loads(world: World) -> str:
    claude = program("claude")
    world.connect(HOST, protocol=True)
    folder = world.home / ".claude" / "skills" / "commonplace"
    done = world.run(claude, "plugin", "validate", "--strict", str(folder))
    assert done.status == 0, done.text
    listed = world.run(claude, "plugin", "list").text
    assert "commonplace@skills-dir" in listed and "loaded" in listed, listed
    details = world.run(claude, "plugin", "details", "commonplace").text
    events = {hook.host_event for hook in HOST.hooks}
    assert all(event in details for event in events) and "Skills (1)" in details, details
    servers = world.run(claude, "mcp", "list").text
    assert "commonplace" in servers and "Connected" in servers, servers
    world.disconnect(HOST)
    assert not folder.exists()
    assert "commonplace" not in world.run(claude, "plugin", "list").text + world.run(claude, "mcp", "list").text
    return f"plugin loaded with {len(events)} events and a skill, server connected; gone after disconnect"


def installs(world: World) -> str:
    claude = program("claude")
    added = world.run(claude, "plugin", "marketplace", "add", str(ROOT))
    assert added.status == 0, added.text
    installed = world.run(claude, "plugin", "install", "commonplace@commonplace")
    assert installed.status == 0, installed.text
    assert "Connected" in world.run(claude, "mcp", "list").text
    return "the published plugin installs from the marketplace file, and its server connects"


def runs(world: World) -> str:
    """A session with a scripted model: it writes a file of the project, then one of Claude's own memory."""
    world.connect(HOST, protocol=True)
    slug = "".join(ch if ch.isalnum() else "-" for ch in str(world.project))
    memory = world.home / ".claude" / "projects" / slug / "memory" / "fact.md"
    other = world.project / "other.txt"
    calls: list[Call] = [("Write", {"file_path": str(path), "content": "x\n"}) for path in (other, memory)]
    with scripted(calls) as model:
        environment = {**_OFFLINE, "ANTHROPIC_BASE_URL": model.address}
        line = ("-p", "hello", "--permission-mode", "acceptEdits", "--allowedTools", "Write")
        done = world.run(program("claude"), *line, environment=environment)
    assert done.status == 0 and other.exists() and memory.exists(), done.text
    assert any("BRIEF-OF-COMMONPLACE" in asked for asked in model.asked), "the brief never reached the model"
    seen = ["session-start", "prompt", "pre-tool", "post-tool", "stop", "session-end"]
    assert world.hooks() == seen, world.hooks()
    return "brief in the model's context; of two writes only the one to its memory started hooks"


def settle(world: World, _: Model) -> None:
    """The user's settings, in an order of their own, with a hook of theirs; and a plugin with a hook and a server.

    For a plugin, whoever's, Claude makes folders and logs of its own.
    """
    own = json.dumps(f"echo prompt >> '{world.own_log}'")
    folder = world.home / ".claude"
    folder.mkdir(mode=0o750)
    (folder / "settings.json").write_text(
        '{ "permissions" : {"deny": ["WebFetch"]},\n\n\t"hooks":{"UserPromptSubmit": [ {"hooks":\n'
        f'[{{"command": {own},  "type": "command"}}]}} ]}},\n "$schema": "x", "cleanupPeriodDays": 30 }}'
    )
    (folder / "settings.json").chmod(0o640)
    (folder / "CLAUDE.md").write_text("# Mine <!-- a comment -->\r\nBe brief.")
    server = {"command": sys.executable, "args": [str(Path(__file__).with_name("stand_in.py"))]}
    plugin: dict[str, object] = {
        ".claude-plugin/plugin.json": {"version": "1", "name": "mine"},
        ".mcp.json": {"mcpServers": {"mine": server}},
        "hooks/hooks.json": {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}},
    }
    for name, content in plugin.items():
        path = folder / "skills" / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


def ask(world: World, model: Model, number: int, prompt: str) -> Ran:
    line = ("-p", prompt, *(["--continue"] if number else []))
    return world.run(program("claude"), *line, environment={**_OFFLINE, "ANTHROPIC_BASE_URL": model.address})


_WRITES = (
    "home/.cache",
    "home/.cache/claude-cli-nodejs*",
    "home/.claude.json",
    "home/.claude/backups*",
    "home/.claude/plugins",
    "home/.claude/plugins/data*",
    "home/.claude/plugins/store*",
    "home/.claude/projects*",
    "home/.claude/session-env*",
    "home/.claude/sessions*",
)
# The mark of a cleanup that it begins some seconds after its start.
SESSION = Session(settle, ask, _WRITES, ("home/.claude/.last-cleanup",))


def asks_the_server(world: World) -> str:
    """One process of Claude Code with many prompts: its hooks find the server that it has started."""
    fill_book(world)
    world.connect(HOST)
    with scripted(()) as model:
        environment = {**world.environment, **_OFFLINE, "ANTHROPIC_BASE_URL": model.address}
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        with subprocess.Popen(
            (program("claude"), *words), cwd=world.project, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                prompts = _ask_until_told(process, model)
            finally:
                process.kill()
    return f"recall by meaning, once, at prompt {prompts} of one process"


def _ask_until_told(process: subprocess.Popen[bytes], model: Model) -> int:
    """Give the same prompt until the server has loaded the model, and twice more; return when it was told."""
    told = [_give(process, model, ASKED_BY_MEANING)]
    while not told[-1]:
        assert len(told) < _MAX_PROMPTS, "the server never answered"
        told.append(_give(process, model, ASKED_BY_MEANING))
    more = [_give(process, model, prompt) for prompt in (ASKED_BY_MEANING, "Thanks!")]
    assert [told[-1], *more] == [1, 1, 1], (told, more)
    return len(told)


def _give(process: subprocess.Popen[bytes], model: Model, prompt: str) -> int:
    """Give a prompt, wait for the answer, and return how often the memory is in what the model was asked."""
    assert process.stdin is not None and process.stdout is not None
    said = {"type": "user", "message": {"role": "user", "content": prompt}}
    process.stdin.write(json.dumps(said).encode() + b"\n")
    process.stdin.flush()
    while json.loads(line := process.stdout.readline() or b"{}").get("type") != "result":
        assert line.strip() != b"{}", "Claude Code ended"
    return max(count(asked, BY_MEANING) for asked in model.asked if is_turn(asked))


STEPS: tuple[Step, ...] = (
    ("claude: validate", validates),
    ("claude: load", loads),
    ("claude: install", installs),
    ("claude: run", runs),
    ("claude: told", lambda world: tell(world, HOST, SESSION)),
    ("claude: meaning", asks_the_server),
)
