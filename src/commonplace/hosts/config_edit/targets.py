"""The data types of hosts: a host with its hooks, the target that it is connected at, and the parts that connect it.

Every host module describes its program with these; the other modules of this package read them. Nothing here reads or
writes a file.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

NAME = "commonplace"  # of our entry, wherever a host wants a name
USER, PROJECT = "user", "project"
EVENTS = ("session-start", "prompt", "stop", "pre-compact", "subagent-start", "pre-tool", "post-tool")

# The kinds of text that a hook's answer can put before the model.
NOTHING = ""  # none: the hook may only note that something happened
CONTEXT = "context"  # any text
INSTRUCTIONS = "instructions"  # for a compaction: what its summary should keep


class Hook(NamedTuple):
    """One of our events under the host's own name."""

    event: str  # ours: one of EVENTS
    host_event: str
    carries: str = CONTEXT
    matcher: str = ""  # which of the host's kinds of this event
    path_filter: str = ""  # the host starts the hook for files on these paths only
    is_protocol: bool = False  # written only where the user asked for protocol enforcement
    is_retired: bool = False  # written by earlier versions only: we find and remove it


class Commands(NamedTuple):
    """The two command lines that start us, without the words that differ per host and event."""

    program: tuple[str, ...]  # commonplace
    hook: tuple[str, ...]  # commonplace-hook
    root: str | None = None  # the book's folder, where it is not the default one

    def build_mcp(self, host: str) -> list[str]:
        """Return the words that start the MCP server for a host."""
        return [*self.program, "mcp", "--agent", host, *self.root_option]

    def build_hook(self, event: str, host: str) -> list[str]:
        """Return the words that start the hook program for one event of a host."""
        return [*self.hook, event, "--host", host, *self.root_option]

    @property
    def root_option(self) -> list[str]:
        """`--root DIR`, or nothing for the default book."""
        return ["--root", self.root] if self.root else []


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

    @property
    def is_project(self) -> bool:
        """Whether the files go into the project's folder."""
        return self.scope == PROJECT

    @property
    def base(self) -> str:
        """The folder of this scope: the project's or the user's."""
        return self.project if self.is_project else self.home


class ConfigEntry(NamedTuple):
    """A value of ours in a configuration file of the host."""

    base: str  # a folder that we never create, such as the user's; no link below it is followed
    file: str  # below it
    path: tuple[str | None, ...]  # as `text_edit.EntryPath` has it
    value: object
    format: str = "json"  # json, toml, yaml
    companion_of: str | None = None  # the member that needs this one beside it: both are added and removed together


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


class Host(NamedTuple):
    """An agent program: its name, how to find it, what its hooks can carry, and the parts that connect it."""

    name: str
    title: str
    build_parts: Callable[[Target], Sequence[Part]]
    documentation: str  # where the host reads these things, and what is special about it
    programs: tuple[str, ...] = ()  # one of these on PATH means that it is installed
    folders: tuple[str, ...] = ()  # so does one of these in the user's folder
    scopes: tuple[str, ...] = (USER, PROJECT)  # where it can be connected; the first is the default
    hooks: tuple[Hook, ...] = ()
    has_mcp: bool = True
    notes: tuple[str, ...] = ()  # what the user has to know or do after connecting

    def active_hooks(self, target: Target) -> list[Hook]:
        """Return the hooks to write at a target."""
        return [
            hook
            for hook in self.hooks
            if hook.is_protocol <= target.has_protocol and hook.is_retired <= target.has_retired
        ]
