"""Build the parts that several hosts share: server entries, hooks, agent files, the skill, rules and plugins.

The host modules call these. The skill and the rules take their words from the templates that every book starts with,
so that they say the same as a brief.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from commonplace.hosts.config_edit.commands import quote_for_shell
from commonplace.hosts.config_edit.json_edit import render
from commonplace.hosts.config_edit.targets import NAME, USER, Commands, ConfigEntry, Hook, Host, OwnedFile, Target
from commonplace.memories.scaffold import template_text
from commonplace.model.lazy import lazy
from commonplace.model.version import VERSION

SECONDS = 10  # a hook ends itself after 0.3; this is for a host that would wait for ever
MILLISECONDS = SECONDS * 1000
ABOUT = "Durable memory shared by every agent you run: Markdown files on your own disk."
_PYTHON_VERSION = lazy(r"(\d+\.\d+\.\d+)\.?(dev|a|b|rc)(\d+)")
_DESCRIPTION = (
    "Durable memory shared by every agent of this user. Use it at the start of a task to recall what is known "
    "about it, when the user asks to remember, correct or forget something, and when a decision, a correction, "
    "a preference or a fact that was hard to find is worth keeping."
)
_TOOLS = """\
The tools of the MCP server `commonplace` are the way in and out: `memory_recall` finds what is known, `memory_store`
keeps something, `memory_forget` takes something out. Without the server, `commonplace recall "..."` and
`commonplace store "..."` on the command line do the same.
"""


def format_version() -> str:
    """Return our version as hosts want one: 0.1.0-dev.0 for 0.1.0.dev0."""
    return _PYTHON_VERSION.sub(r"\1-\2.\3", VERSION)


def make_server(target: Target, host: str, **more: object) -> dict[str, object]:
    """Return an MCP server as most hosts write it."""
    program, *args = target.commands.build_mcp(host)
    return {"command": program, "args": args, **more}


def make_server_entry(target: Target, host: str, file: str, **more: object) -> ConfigEntry:
    """Return the entry for our server in a JSON file of the target's folder, as most hosts write it."""
    return ConfigEntry(target.base, file, ("mcpServers", NAME), make_server(target, host, **more))


def make_hook_line(target: Target, hook: Hook, host: str) -> str:
    """Return the command of a hook as one line for the shell of the target's platform."""
    return quote_for_shell(target.commands.build_hook(hook.event, host), target.platform)


def make_claude_hooks(
    host: Host, target: Target, *, is_words: bool = False, timeout: int = SECONDS
) -> dict[str, list[object]]:
    """Return hooks by the host's event as Claude Code writes them: groups with a matcher and the commands to start.

    With `is_words` a command is a list of words and no shell reads it; else it is one line for the shell.
    """
    found: dict[str, list[object]] = {}
    for hook in host.active_hooks(target):
        program, *args = target.commands.build_hook(hook.event, host.name)
        command = (
            {"command": program, "args": args} if is_words else {"command": make_hook_line(target, hook, host.name)}
        )
        group: dict[str, object] = {"matcher": hook.matcher} if hook.matcher else {}
        group["hooks"] = _filter_by_path(hook, {"type": "command", **command, "timeout": timeout})
        found.setdefault(hook.host_event, []).append(group)
    return found


def _filter_by_path(hook: Hook, command: dict[str, object]) -> list[object]:
    """Return the command once; or once per tool, each only for the paths that the hook is about."""
    if not hook.path_filter:
        return [command]
    return [{"type": "command", "if": f"{tool}({hook.path_filter})", **command} for tool in hook.matcher.split("|")]


def make_hook_entries(base: str, file: str, hooks: Mapping[str, Sequence[object]]) -> list[ConfigEntry]:
    """Return hooks as elements of lists in a file that others write to, too."""
    return [
        ConfigEntry(base, file, ("hooks", event, None), group) for event, groups in hooks.items() for group in groups
    ]


def make_agent_file(host: Host, target: Target, file: str, agent: str) -> OwnedFile:
    """Return an agent of Kiro 2 or Amazon Q: hooks and server in one file. Without `tools` it would have none."""
    hooks = {
        hook.host_event: [{"command": make_hook_line(target, hook, agent), "timeout_ms": MILLISECONDS}]
        for hook in host.active_hooks(target)
    }
    value = {
        "name": NAME,
        "description": "The default agent with the memory of Commonplace.",
        "tools": ["*"],
        "mcpServers": {NAME: make_server(target, agent)},
        "includeMcpJson": True,
        "hooks": hooks,
    }
    return make_json_file(target.base, file, value)


def make_json_file(base: str, file: str, value: object) -> OwnedFile:
    """Return a JSON file of our own."""
    return OwnedFile(base, file, render(value) + "\n")


def make_skill_file(base: str, folder: str) -> OwnedFile:
    """Return the skill below a folder of the host."""
    return OwnedFile(base, f"{folder}/skills/{NAME}/SKILL.md", render_skill())


def find_host_folder(target: Target, variable: str, folder: str) -> tuple[str, str]:
    """Return the host's folder as a base that exists and a path below it; for the user a variable may name another."""
    given = target.environment.get(variable, "") if target.scope == USER else ""
    if not given:
        return target.base, folder
    return os.path.split(os.path.abspath(os.path.expanduser(given)))


def find_config_folder(target: Target) -> tuple[str, str]:
    """Return the base, and the path below it, where programs keep a user's settings on this platform."""
    if target.platform == "win32":
        return target.environment.get("APPDATA") or os.path.join(target.home, "AppData", "Roaming"), ""
    if target.platform == "darwin":
        return target.home, "Library/Application Support/"
    given = target.environment.get("XDG_CONFIG_HOME", "").rstrip("/")
    return (os.path.dirname(given), f"{os.path.basename(given)}/") if given else (target.home, ".config/")


def render_skill() -> str:
    """Return SKILL.md: when to use the memory, and the whole rubric."""
    head = f"---\nname: commonplace\ndescription: {_DESCRIPTION}\nlicense: Apache-2.0\n---\n"
    return f"{head}\n# Memory\n\n{_TOOLS}\n{_read_doctrine('definition-full.md')}"


def render_rules() -> str:
    """Return a block for AGENTS.md and the like: the rubric in short."""
    return f"## Memory\n\n{_TOOLS}\n{_read_doctrine('definition-minimal.md')}"


def _read_doctrine(name: str) -> str:
    """Return a doctrine without its title and the paragraph about the page itself."""
    return template_text(name).split("\n\n", 2)[2]


def render_opencode_plugin(commands: Commands) -> str:
    """Return the plugin for OpenCode: opencode.js with our command line in it."""
    with open(os.path.join(os.path.dirname(__file__), "opencode.js"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace(
        "const COMMAND = [] // filled in when this file is made", f"const COMMAND = {json.dumps(commands.hook)}"
    )
    return text.replace("const MORE = []", f"const MORE = {json.dumps(commands.root_option)}")
