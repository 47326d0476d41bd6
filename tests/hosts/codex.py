"""Codex CLI itself lists what we give it, over its app-server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from commonplace.hosts import codex
from tests.hosts.scripted_model import Model, scripted
from tests.hosts.told import Session, tell
from tests.hosts.world import ROOT, Ran, Step, World, program

NEEDS = ("codex", "node")
HOST = codex.HOST


def ask(world: World, *questions: tuple[str, Mapping[str, object]]) -> list[Any]:
    """Answers of `codex app-server`, in order."""
    hello = ("initialize", {"clientInfo": {"name": "commonplace", "version": "1"}})
    answers: list[Any] = []
    with subprocess.Popen(
        [program("codex"), "app-server"], cwd=world.project, env=world.environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        for number, (method, params) in enumerate((hello, *questions)):
            server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            answer: dict[str, Any] = {}
            while answer.get("id") != number or "method" in answer:
                answer = json.loads(server.stdout.readline())
            assert "result" in answer, answer
            answers.append(answer["result"])
        server.kill()
    return answers[1:]


def seen(world: World) -> tuple[list[dict[str, Any]], list[dict[str, Any]], set[str]]:
    """The hooks, the servers and the names of the skills that Codex has there."""
    where = {"cwds": [str(world.project)]}
    hooks, servers, skills = ask(world, ("hooks/list", where), ("mcpServerStatus/list", {}), ("skills/list", where))
    assert hooks["data"][0]["errors"] == hooks["data"][0]["warnings"] == [], hooks
    names = {skill["name"] for place in skills["data"] for skill in place["skills"]}
    return hooks["data"][0]["hooks"], servers["data"], names


def loads(world: World) -> str:
    (world.home / ".codex").mkdir()
    config = world.home / ".codex" / "config.toml"
    config.write_text('model = "x" # mine')
    world.connect(HOST)
    hooks, servers, skills = seen(world)
    _check(world, hooks, servers)
    assert "commonplace" in skills, skills
    world.disconnect(HOST)
    assert config.read_text() == 'model = "x" # mine'
    hooks, servers, skills = seen(world)
    assert (hooks, servers) == ([], []) and "commonplace" not in skills
    return "6 hooks without errors, all untrusted, server answers, skill listed; nothing left after disconnect"


def _check(world: World, hooks: list[dict[str, Any]], servers: list[dict[str, Any]]) -> None:
    events = {hook.host_event[0].lower() + hook.host_event[1:] for hook in HOST.hooks}
    assert {hook["eventName"] for hook in hooks} == events, hooks
    assert {hook["trustStatus"] for hook in hooks} == {"untrusted"}
    assert {hook["timeoutSec"] for hook in hooks} == {10, 1}
    assert [server["name"] for server in servers] == ["commonplace"]
    assert servers[0]["toolsError"] is None and servers[0]["tools"], servers


def installs(world: World) -> str:
    (world.home / ".codex").mkdir()
    for words in (("marketplace", "add", str(ROOT)), ("add", "commonplace@commonplace")):
        done = world.run(program("codex"), "plugin", *words)
        assert done.status == 0, done.text
    hooks, servers, skills = seen(world)
    _check(world, hooks, servers)
    assert "commonplace:commonplace" in skills, skills
    return "the published plugin installs from the marketplace file, with hooks, server and skill"


def runs(world: World) -> str:
    """Sessions with a scripted model: with hooks as they start, untrusted, and with trust for this once."""
    (world.home / ".codex").mkdir()
    world.connect(HOST)
    for trust in (False, True):
        with scripted(()) as model:
            done = ask_agent(world, model, "exec", "hello", trust=trust)
        assert done.status == 0 and "done" in done.text, done.text
        assert any("BRIEF-OF-COMMONPLACE" in asked for asked in model.asked) is trust, world.hooks()
        assert world.hooks()[:3] == (["session-start", "prompt", "stop"] if trust else []), world.hooks()
    return "untrusted hooks do not run; trusted ones do, and the brief is in the model's context"


def ask_agent(world: World, model: Model, *words: str, trust: bool) -> Ran:
    """Run a command of Codex with the scripted model; with `trust`, unapproved hooks run this once."""
    provider = f'{{name="x",base_url="{model.address}/v1",wire_api="responses",env_key="KEY"}}'
    flags = ["--skip-git-repo-check", *(["--dangerously-bypass-hook-trust"] if trust else [])]
    flags += ["-c", f"model_providers.x={provider}", "-c", 'model_provider="x"', "-m", "gpt-5"]
    return world.run(program("codex"), *words, *flags, environment={"KEY": "none"})


def settle(world: World, _: Model) -> None:
    """The user's configuration with comments, and hooks with one of theirs."""
    own = json.dumps(f"echo prompt >> '{world.own_log}'")
    folder = world.home / ".codex"
    folder.mkdir(mode=0o750)
    (folder / "config.toml").write_text(
        "# mine\nhide_agent_reasoning = true   # odd  blanks\n\n[ tui ]\nnotifications=false\n\n"
        f'[projects."{world.project}"]\ntrust_level = "trusted" # no line end'
    )
    (folder / "config.toml").chmod(0o640)
    (folder / "hooks.json").write_text(
        f'{{ "hooks":{{\n\t"UserPromptSubmit" : [{{"hooks": [ {{"command": {own}, "type":"command"}} ]}}]}} }}\n\n'
    )
    (folder / "AGENTS.md").write_text("# Mine\r\nBe brief.")


def ask_prompt(world: World, model: Model, number: int, prompt: str) -> Ran:
    return ask_agent(world, model, "exec", *(["resume", "--last"] if number else []), prompt, trust=True)


_WRITES = (
    "home/.codex/.sandbox_migration",
    "home/.codex/.tmp*",
    "home/.codex/*.sqlite*",
    "home/.codex/installation_id",
    "home/.codex/sessions*",
    "home/.codex/shell_snapshots*",
    "home/.codex/skills",
    "home/.codex/skills/.system*",
    "home/.codex/thread-writer-locks*",
)
SESSION = Session(settle, ask_prompt, _WRITES)

STEPS: tuple[Step, ...] = (
    ("codex: load", loads),
    ("codex: install", installs),
    ("codex: run", runs),
    ("codex: told", lambda world: tell(world, HOST, SESSION)),
)
