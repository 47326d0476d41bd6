"""The parts that connect hosts: their data types, and what builds the parts that several hosts share.

Every host module describes its program with a `Host`, whose `build_parts` returns the parts for a `Target`; `connect`
writes them. The skill and the rules take their words from the templates that every book starts with, so that they say
the same as a brief. Nothing here writes a file.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.hosts.config_edit.commands import PROJECT_OPTION, Commands, quote_for_shell
from commonplace.hosts.config_edit.json_edit import JSON, render
from commonplace.hosts.config_edit.text_edit import Editor
from commonplace.memories.layout import template_text
from commonplace.model import VERSION
from commonplace.model.lazy import lazy

NAME = "commonplace"  # of our entry, wherever a host wants a name
USER, PROJECT = "user", "project"
SECONDS = 10  # a hook ends itself after 2 at most; this is for a host that would wait for ever
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


class Hook(NamedTuple):
    """One of our events under the host's own name."""

    event: str  # ours: one of EVENTS
    host_event: str
    matcher: str = ""  # which of the host's kinds of this event
    path_filter: str = ""  # the host starts the hook for files on these paths only
    is_protocol: bool = False  # written only where the user asked for protocol enforcement
    is_retired: bool = False  # written by earlier versions only: we find and remove it
    seconds: int = SECONDS  # that the host waits for it


CLAUDE_HOOKS = (  # under the names of Claude Code, which other hosts took over
    Hook("session-start", "SessionStart", matcher="startup|clear|compact"),
    Hook("prompt", "UserPromptSubmit"),
    Hook("stop", "Stop"),
    Hook("pre-compact", "PreCompact"),
    Hook("subagent-start", "SubagentStart"),
)
# A turn that was interrupted has no Stop. Claude Code allows 1.5 seconds, Codex 3.
SESSION_END = Hook("session-end", "SessionEnd", seconds=1)
WITH_COPILOT = (  # a note of both
    "VS Code runs the hooks of Copilot CLI, too: connect one of the two in a place, or a session there gets the brief "
    "twice."
)
AGENT_HOOKS = (Hook("session-start", "agentSpawn"), Hook("prompt", "userPromptSubmit"))  # of Amazon Q and Kiro 2


class Target(NamedTuple):
    """Where to connect a host, and which commands it should start."""

    scope: str  # user, project
    home: str  # the user's folder
    project: str  # the project's folder
    environment: Mapping[str, str]
    commands: Commands
    platform: str = "linux"  # as sys.platform has it
    has_protocol: bool = False  # with protocol enforcement
    has_retired: bool = False  # with hooks that only earlier versions wrote: to find them, never to write them
    state: str = ""  # the folder in which it is noted what is connected; empty: nothing is noted

    @property
    def is_project(self) -> bool:
        """Whether the files go into the project's folder."""
        return self.scope == PROJECT

    @property
    def base(self) -> str:
        """The folder of this scope: the project's or the user's."""
        return self.project if self.is_project else self.home

    def find_limits(self, base: str, file: str) -> tuple[str, ...]:
        """Return the folders inside which links may lead; also the host's own, wherever the environment names it."""
        if self.is_project:
            return (self.project,)
        return (self.home,) if base == self.home else (self.home, base, os.path.join(base, file.partition("/")[0]))

    def build_hook(self, event: str, host: str) -> list[str]:
        """Return the words that start the hook program for one event; one in a project's files says so."""
        return self.commands.build_hook(event, host, *self.project_option)

    @property
    def project_option(self) -> list[str]:
        """The option of hooks in a project's files: they say nothing where the user's own do."""
        return [PROJECT_OPTION] if self.is_project else []

    def find_host_folder(self, variable: str, folder: str) -> tuple[str, str]:
        """Return the host's folder as a base that exists and a path below it; a variable may name the user's."""
        given = "" if self.is_project else self.environment.get(variable)
        if not given:
            return self.base, folder
        return os.path.split(os.path.abspath(os.path.expanduser(given)))

    def find_config_folder(self) -> tuple[str, str]:
        """Return the base, and the path below it, where programs keep a user's settings on this platform."""
        if self.platform == "win32":
            return self.environment.get("APPDATA") or os.path.join(self.home, "AppData", "Roaming"), ""
        if self.platform == "darwin":
            return self.home, "Library/Application Support/"
        given = self.environment.get("XDG_CONFIG_HOME", "").rstrip("/")
        return (os.path.dirname(given), f"{os.path.basename(given)}/") if given else (self.home, ".config/")


class ConfigEntry(NamedTuple):
    """A value of ours in a configuration file of the host."""

    base: str  # a folder that we never create, such as the user's; no link below it is followed
    file: str  # below it
    path: tuple[str | None, ...]  # as `text_edit.EntryPath` has it
    value: object
    editor: Editor = JSON
    companion_of: str | None = None  # the member that needs this one beside it: both are added and removed together
    is_elsewhere: bool = False  # added by the host's own command where connect does not write: it is taken out


class OwnedFile(NamedTuple):
    """A file that is ours alone."""

    base: str
    file: str
    text: str
    is_executable: bool = False


class MarkedBlock(NamedTuple):
    """A block between two marks in a text file of the user."""

    base: str
    file: str
    text: str


Part = ConfigEntry | OwnedFile | MarkedBlock


class InstalledPlugin(NamedTuple):
    """A published plugin of ours that the host itself installed: it brings the server and the hooks."""

    name: str
    path: str  # of the file that tells
    remove: str  # the command that removes it
    has_our_place: bool = False  # its files are where ours would be


class Host(NamedTuple):
    """An agent program: its name, how to find it, its hooks, and the parts that connect it."""

    name: str
    title: str
    build_parts: Callable[[Target], Sequence[Part]]
    programs: tuple[str, ...] = ()  # one of these on PATH means that it is installed
    folders: tuple[str, ...] = ()  # so does one of these in the user's folder
    scopes: tuple[str, ...] = (USER, PROJECT)  # where it can be connected; the first is the default
    hooks: tuple[Hook, ...] = ()
    has_mcp: bool = True
    notes: tuple[str, ...] = ()  # what the user has to know or do after connecting
    find_plugin: Callable[[Target], InstalledPlugin | None] = lambda _: None

    def active_hooks(self, target: Target) -> list[Hook]:
        """Return the hooks to write at a target."""
        return [
            hook
            for hook in self.hooks
            if hook.is_protocol <= target.has_protocol and hook.is_retired <= target.has_retired
        ]

    def make_server(self, target: Target, **more: object) -> dict[str, object]:
        """Return our MCP server as most hosts write it."""
        program, *args = target.commands.build_mcp(self.name)
        return {"command": program, "args": args, **more}

    def make_server_entry(self, target: Target, file: str, **more: object) -> ConfigEntry:
        """Return the entry for our server in a JSON file of the target's folder, as most hosts write it."""
        return ConfigEntry(target.base, file, ("mcpServers", NAME), self.make_server(target, **more))

    def make_hook_line(self, target: Target, hook: Hook) -> str:
        """Return the command of a hook as one line for the shell of the target's platform."""
        return quote_for_shell(target.build_hook(hook.event, self.name), target.platform)

    def make_claude_hooks(self, target: Target, *, is_words: bool = False, units: int = 1) -> dict[str, list[object]]:
        """Return hooks by the host's event as Claude Code writes them: groups with a matcher and the commands to start.

        With `is_words` a command is a list of words and no shell reads it; else it is one line for the shell. A hook
        with a filter by path has the command once for each tool, limited to these paths. A host may count a second in
        so many units.
        """
        found: dict[str, list[object]] = {}
        for hook in self.active_hooks(target):
            start: dict[str, object] = {"command": self.make_hook_line(target, hook)}
            if is_words:
                program, *args = target.build_hook(hook.event, self.name)
                start = {"command": program, "args": args}
            command = {"type": "command", **start, "timeout": hook.seconds * units}
            tools = hook.matcher.split("|") if hook.path_filter else []
            filtered = [{"type": "command", "if": f"{tool}({hook.path_filter})", **command} for tool in tools]
            group = {"matcher": hook.matcher} if hook.matcher else {}
            found[hook.host_event] = [{**group, "hooks": filtered or [command]}]
        return found

    def make_agent_file(self, target: Target, file: str) -> OwnedFile:
        """Return an agent of Kiro 2 or Amazon Q: hooks and server in one file. Without `tools` it would have none.

        An agent of the project takes the place of the user's: its hooks never come on top of others.
        """
        hooks = {}
        for hook in self.active_hooks(target):
            line = quote_for_shell(target.commands.build_hook(hook.event, self.name), target.platform)
            hooks[hook.host_event] = [{"command": line, "timeout_ms": MILLISECONDS}]
        value = {
            "name": NAME,
            "description": "The default agent with the memory of Commonplace.",
            "tools": ["*"],
            "mcpServers": {NAME: self.make_server(target)},
            "includeMcpJson": True,
            "hooks": hooks,
        }
        return make_json_file(target.base, file, value)


# What several hosts share


def format_version() -> str:
    """Return our version as hosts want one: 0.1.0-dev.0 for 0.1.0.dev0."""
    return _PYTHON_VERSION.sub(r"\1-\2.\3", VERSION)


def make_hook_entries(base: str, file: str, hooks: Mapping[str, Sequence[object]]) -> list[ConfigEntry]:
    """Return hooks as elements of lists in a file that others write to, too."""
    return [
        ConfigEntry(base, file, ("hooks", event, None), group) for event, groups in hooks.items() for group in groups
    ]


def make_json_file(base: str, file: str, value: object) -> OwnedFile:
    """Return a JSON file of our own."""
    return OwnedFile(base, file, render(value) + "\n")


def make_skill_file(base: str, folder: str) -> OwnedFile:
    """Return the skill below a folder of the host."""
    return OwnedFile(base, f"{folder}/skills/{NAME}/SKILL.md", render_skill())


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


def render_opencode_plugin(commands: Commands, *more: str) -> str:
    """Return the plugin for OpenCode: opencode.js with our command line in it, and more options for the hook."""
    with open(os.path.join(os.path.dirname(__file__), "opencode.js"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace(
        "const COMMAND = [] // filled in when this file is made", f"const COMMAND = {json.dumps(commands.hook)}"
    )
    return text.replace("const MORE = []", f"const MORE = {json.dumps([*more, *commands.root_option])}")
