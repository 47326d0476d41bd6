"""The words in which a host describes itself: its hooks and what each can carry, and the changes that connect it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

NAME = "commonplace"  # of our entry, wherever a host wants a name
USER, PROJECT = "user", "project"
EVENTS = ("session-start", "prompt", "stop", "pre-compact", "subagent-start", "pre-tool", "post-tool")

# What text a hook's answer can put before the model.
NOTHING = ""  # none: the hook may only note that something happened
CONTEXT = "context"  # any
INSTRUCTIONS = "instructions"  # of a compaction: what its summary should keep


class Hook(NamedTuple):
    """One of our events under the host's own name."""

    event: str  # ours: one of EVENTS
    theirs: str
    carries: str = CONTEXT
    matcher: str = ""  # which of the host's kinds of this event
    only: str = ""  # a filter of the host's own, so that it starts nothing for other calls
    protocol: bool = False  # wired only where the user asked for protocol enforcement
    retired: bool = False  # written by earlier versions: found and removed, and not written again


class Commands(NamedTuple):
    """How the host starts us: two command lines, without the words that differ per host and event."""

    program: tuple[str, ...]  # commonplace
    hook: tuple[str, ...]  # commonplace-hook
    root: str | None = None  # the book's folder, where it is not the default one

    def mcp(self, host: str) -> list[str]:
        return [*self.program, "mcp", "--agent", host, *self._more()]

    def on(self, event: str, host: str) -> list[str]:
        return [*self.hook, event, "--host", host, *self._more()]

    def _more(self) -> list[str]:
        return ["--root", self.root] if self.root else []


class Site(NamedTuple):
    """Where a host is to be connected, and what with."""

    scope: str  # user, project
    home: str  # the user's folder
    project: str  # the project's folder
    environment: Mapping[str, str]
    commands: Commands
    platform: str = "linux"  # as sys.platform has it
    protocol: bool = False
    retired: bool = False  # also what only earlier versions wrote: to find it, never to write it

    @property
    def base(self) -> str:
        return self.home if self.scope == USER else self.project


class Entry(NamedTuple):
    """A value of ours in a file of the host."""

    base: str  # a folder that is not ours to make, such as the user's; nothing below it may be a link
    file: str  # below it
    path: tuple[str | None, ...]  # as json_edit has it
    value: object
    format: str = "json"  # json, toml, yaml
    beside: str | None = None  # wanted by the host beside this entry: added where it is missing, gone with it


class Whole(NamedTuple):
    """A file that is ours alone."""

    base: str
    file: str
    text: str
    executable: bool = False


class Block(NamedTuple):
    """A marked block in a text file of the user."""

    base: str
    file: str
    text: str


Part = Entry | Whole | Block


class Host(NamedTuple):
    """An agent program: what it is called, how to find it, what it can carry, and what connects it."""

    name: str
    title: str
    programs: tuple[str, ...]  # any of these on PATH is it
    folders: tuple[str, ...]  # or any of these in the user's folder
    scopes: tuple[str, ...]  # where it can be connected; the first is meant where nobody says
    hooks: tuple[Hook, ...]
    parts: Callable[[Site], Sequence[Part]]
    mcp: bool = True
    notes: tuple[str, ...] = ()  # what the user has to know or do after connecting
    reads: str = ""  # for the documentation: where the host wants these things, and what is special about it

    def wired(self, site: Site) -> list[Hook]:
        """The hooks that are written there."""
        return [hook for hook in self.hooks if hook.protocol <= site.protocol and hook.retired <= site.retired]
