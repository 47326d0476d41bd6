"""What the verbs about agent hosts answer: what connecting changed, and how a host's hooks fare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class HostFile(NamedTuple):
    """A file of a host, and what was done with it: created, changed, removed, unchanged."""

    path: str
    action: str


class ConnectResult(NamedTuple):
    """What `connect` or `disconnect` did."""

    host: str
    scope: str  # user, project
    action: str  # connected, disconnected, unchanged; would-connect, would-disconnect with --print
    installed: bool  # the host seems to be on this machine
    files: tuple[HostFile, ...]
    notes: tuple[str, ...]  # what the user should know or do next
    diff: str = ""  # with --print: what would change


class ConnectFailure(NamedTuple):
    """A host that could not be connected or disconnected."""

    host: str
    code: str
    message: str
    hint: str


class ConnectResults(NamedTuple):
    """What `connect` or `disconnect` did with several hosts."""

    results: tuple[ConnectResult, ...]
    errors: tuple[ConnectFailure, ...]


class LostHooks(NamedTuple):
    """The hooks of a host that gave no answer lately."""

    host: str
    lost: int
    runs: int  # of all its hooks, as far as is known
    days: int  # that were looked at
    reasons: Mapping[str, int]  # deadline, killed, or the code of an error: how many
    message: str
    hint: str


class HostConnection(NamedTuple):
    """How a host is connected at one level."""

    scope: str  # user, project
    source: str  # connect, or `plugin NAME`: one that the host installed by itself
    since: str | None  # None: not known
    command: tuple[str, ...]  # what the host's files start: the installation of Commonplace
    works: bool  # the command exists and runs, and the files are complete
    problems: tuple[str, ...]
    repair: str = ""  # the command that repairs it
    hint: str = ""  # what to do where no command repairs it
    path: str = ""  # one of the host's files: that with the first problem, if any


class HostStatus(NamedTuple):
    """Whether a host is installed, connected and working."""

    host: str
    title: str
    installed: bool
    connected: tuple[str, ...]  # user, project
    works: bool  # connected, its files are complete and the server can be started
    problems: tuple[str, ...]
    connections: tuple[HostConnection, ...] = ()  # one for each level at which it is connected
    lost_hooks: LostHooks | None = None  # None: every hook gave its answer, or none ran
