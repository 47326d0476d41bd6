"""OpenCode itself shows what we give it, and its plugin does what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commonplace.hosts import opencode
from commonplace.hosts.config_edit.commands import Commands
from commonplace.hosts.config_edit.parts import render_opencode_plugin
from tests.hosts.scripted_model import Model, scripted
from tests.hosts.told import Session, tell
from tests.hosts.world import Ran, Step, World, program

NEEDS = ("opencode", "node")
HOST = opencode.HOST
# Calls the plugin as OpenCode does; the hook is a program that echoes, or one that never answers, or none.
_DRIVER = """
import { Commonplace } from "./commonplace.mjs"
const data = [{ name: "title", hidden: true, prompt: "Make a title." }, { name: "build", prompt: "first" }]
const hooks = await Commonplace({ directory: "/here", client: { app: { agents: async () => ({ data }) } } })
const system = { system: ["first"] }, again = { system: [] }, title = { system: ["Make a title.\\nNow."] }
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, title)
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, system)
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, again)
const part = { id: "prt_1", sessionID: "s1", messageID: "m1", type: "text", text: "which port?" }
const message = { message: {}, parts: [part] }
await hooks["chat.message"]({ sessionID: "s1" }, message)
const sent = { messages: [{ info: {}, parts: message.parts }] }
await hooks["experimental.chat.messages.transform"]({}, sent)
const compact = { context: [] }
await hooks["experimental.session.compacting"]({ sessionID: "s1" }, compact)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
await hooks.event({ event: { type: "odd" } })
console.log(JSON.stringify({ system, again, title, parts: message.parts, sent: sent.messages[0].parts, compact }))
process.exit(0)
"""
_ECHO = """#!/bin/sh
said=$(cat)
echo "$1 $said" >> "$(dirname "$0")/asked"
echo "{\\"context\\": \\"for $1 $(wc -l < "$(dirname "$0")/asked")\\"}"
"""


def loads(world: World) -> str:
    world.connect(HOST)
    config = json.loads(world.run(program("opencode"), "debug", "config").text)
    entry = config["mcp"]["commonplace"]
    assert entry["type"] == "local" and entry["command"][-3:] == ["mcp", "--agent", "opencode"], config
    assert any(name.endswith("/plugins/commonplace.js") for name in config["plugin"]), config
    servers = world.run(program("opencode"), "mcp", "list").text
    assert "commonplace" in servers and "connected" in servers, servers
    assert "commonplace" in world.run(program("opencode"), "debug", "skill").text
    world.disconnect(HOST)
    config = json.loads(world.run(program("opencode"), "debug", "config").text)
    assert "commonplace" not in json.dumps(config), config
    return "server, plugin and skill in `opencode debug`, server connected; gone after disconnect"


def shim_runs(world: World) -> str:
    node = program("node")
    hook = shim_tells(world, node)
    hook.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    for words in ([str(hook)], [str(world.bin / "not-there")], ["/bin/echo", "no json"]):
        told = _drive(world, node, words)
        assert told["system"]["system"] == ["first"] and len(told["parts"]) == 1, told
    return "brief cached, prompt recalled, compaction told; a hook that hangs, is missing or talks nonsense is ignored"


def shim_tells(world: World, node: str) -> Path:
    """Check what the plugin hands on of a hook that answers, and return that hook."""
    hook = world.bin / "echo-hook"
    hook.write_text(_ECHO)
    hook.chmod(0o755)
    told = _drive(world, node, [str(hook)])
    assert told["system"]["system"] == ["first", "for session-start 1"], told
    assert told["again"]["system"] == ["for session-start 1"], "the brief must be the same bytes at every call"
    assert told["title"]["system"] == ["Make a title.\nNow."], "a request for a title is not ours"
    stored, sent = told["parts"][1], told["sent"][1]
    assert stored["text"] == sent["text"] == "for prompt 2" and stored["synthetic"] is True, told
    assert stored["ignored"] is True and sent["ignored"] is False, "what is stored would be in the title's request"
    assert told["compact"]["context"] == ["for pre-compact 3"], told
    asked = [line.split(" ", 1) for line in (world.bin / "asked").read_text().splitlines()]
    assert [event for event, _ in asked] == ["session-start", "prompt", "pre-compact"], asked
    assert json.loads(asked[1][1])["prompt"] == "which port?" and json.loads(asked[0][1])["cwd"] == "/here"
    return hook


def _drive(world: World, node: str, command: list[str]) -> dict[str, Any]:
    (world.project / "commonplace.mjs").write_text(render_opencode_plugin(Commands((), tuple(command))))
    (world.project / "driver.mjs").write_text(_DRIVER)
    done = world.run(node, "driver.mjs")
    assert done.status == 0, done.text
    told: dict[str, Any] = json.loads(done.text)
    return told


def runs(world: World) -> str:
    """A session with a scripted model: what the hook says reaches it."""
    hook = world.bin / "commonplace-hook"
    hook.write_text(_ECHO)
    world.connect(HOST)
    with scripted(()) as model:
        provider = {"anthropic": {"options": {"apiKey": "none", "baseURL": f"{model.address}/v1"}}}
        (world.project / "opencode.json").write_text(json.dumps({"provider": provider}))
        done = world.run(program("opencode"), "run", "-m", "anthropic/claude-sonnet-4-5", "hello")
    assert done.status == 0 and "done" in done.text, done.text
    answered = [asked for asked in model.asked if "for session-start" in asked]
    assert any("for prompt" in asked for asked in answered), f"nothing of ours in {len(model.asked)} requests"
    events = [line.split(" ", 1)[0] for line in (world.bin / "asked").read_text().splitlines()]
    assert set(events) == {"prompt", "session-start"}, events
    return "brief and recall in the model's context; hooks ran at the start and at the prompt"


def settle(world: World, model: Model) -> None:
    """The user's settings with comments, in an order of their own, and a plugin of theirs."""
    provider = json.dumps({"anthropic": {"options": {"baseURL": f"{model.address}/v1", "apiKey": "none"}}})
    folder = world.home / ".config" / "opencode"
    (folder / "plugins").mkdir(parents=True, mode=0o750)
    (folder / "opencode.json").write_text(
        '// mine\n{ "share" : "disabled", /* why not */\n\n'
        f'\t"provider":{provider}, "autoupdate": false, }} // no line end'
    )
    (folder / "opencode.json").chmod(0o640)
    (folder / "plugins" / "mine.js").write_text(_OWN_PLUGIN.replace("LOG", str(world.own_log)))
    (folder / "AGENTS.md").write_text("# Mine\r\nBe brief.")


_OWN_PLUGIN = """import { appendFileSync } from "node:fs"
export const Mine = async () => ({ "chat.message": async () => appendFileSync("LOG", "prompt\\n") })
"""


def ask(world: World, _: Model, number: int, prompt: str) -> Ran:
    line = ("run", "-m", "anthropic/claude-sonnet-4-5", *(["--continue"] if number else []), prompt)
    return world.run(program("opencode"), *line)


_WRITES = (
    "home/.cache*",
    "home/.config/opencode/.gitignore",
    "home/.config/opencode/node_modules*",
    "home/.config/opencode/package*.json",
    "home/.local",
    "home/.local/share*",
    "home/.local/state",
    "home/.local/state/opencode*",
    "home/.npm*",
)
SESSION = Session(settle, ask, _WRITES)

STEPS: tuple[Step, ...] = (
    ("opencode: load", loads),
    ("opencode: shim", shim_runs),
    ("opencode: run", runs),
    ("opencode: told", lambda world: tell(world, HOST, SESSION)),
)
