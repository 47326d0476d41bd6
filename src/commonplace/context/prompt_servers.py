"""The running MCP servers that answer hooks: where their sockets are, what is recorded of each, and what is exchanged.

A hook has no time to load a model, and the server that its host has started has one loaded. Both sides meet in a folder
of the user's own: PID.sock, on which a server listens, and PID.json, which says whose it is. The hook asks the server
that shares its nearest ancestor process. One JSON line goes each way: `PromptRequest` and `PromptAnswer`.

Nothing here is believed because it is there. A folder, record or socket that others could have put or opened counts as
none, both sides ask the system which user the other one is before they say anything, and a line is bounded and checked.
Windows has no such sockets; there a hook goes by words.
"""

from __future__ import annotations

import _socket
import json
import os
import stat as st
import struct
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from commonplace.memories.layout import current_user

VERSION = 1
MAX_LINE = 64_000  # bytes of a request, and of an answer
MAX_PROMPT = 8_000  # characters sent: the beginning and the end of a longer prompt
PATIENCE = 0.25  # seconds that a hook waits for an answer
RECORD, SOCKET = ".json", ".sock"
_MAX_RECORD = 16_000  # bytes
_MAX_RECORDS = 64
_MAX_ANCESTORS = 24
_MAX_TEXT = 10_000  # characters of an answer
_MAX_MEMORIES = 10
_PROC_PIDTBSDINFO, _BSD_INFO = 3, 136  # macOS: what to ask of a process, and the size of the answer
_LOCAL_PEERCRED, _XUCRED_BYTES = 1, 76  # macOS: what to ask of a connection; the user follows the version


# Who


def is_private(path: str, kind: int) -> bool:
    """Return whether a path is a file of this kind (as `stat.S_IFSOCK`), no link, this user's and no other's to use."""
    user = current_user()
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    is_own = found.st_uid == user and not found.st_mode & 0o077
    return is_own and st.S_IFMT(found.st_mode) == kind


class PeerSocket(Protocol):
    """A connected socket, as far as it is asked for the other side."""

    def getsockopt(self, level: int, option: int, size: int, /) -> bytes:
        """Return what the system knows of it."""


def find_peer_user(connection: PeerSocket) -> int | None:
    """Return the id of the user at the other end of a connection; None where the system does not tell."""
    user = None
    try:
        if sys.platform == "linux":
            peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, struct.calcsize("3i"))
            user = int(struct.unpack("3i", peer)[1])
        elif sys.platform == "darwin":
            peer = connection.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES)
            user = int(struct.unpack_from("=II", peer)[1])
    except (OSError, struct.error):
        return None
    return user


def is_own_user(connection: PeerSocket) -> bool:
    """Return whether the other end of a connection is a process of this user."""
    user = find_peer_user(connection)
    return user is not None and user == current_user()


def read_process(pid: int) -> tuple[int, str] | None:
    """Return the parent of a process and the time at which it was started, as the system writes it; None if unknown."""
    found: tuple[int, str] | None = None
    try:
        if sys.platform == "linux":
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read(4_000).rpartition(b")")[2].split()  # its name, before that, may have anything in it
            found = int(fields[1]), fields[19].decode("ascii")
        elif sys.platform == "darwin":
            import ctypes  # noqa: PLC0415 - for macOS alone

            info = ctypes.create_string_buffer(_BSD_INFO)
            library = ctypes.CDLL("/usr/lib/libproc.dylib")
            if library.proc_pidinfo(pid, _PROC_PIDTBSDINFO, ctypes.c_uint64(0), info, _BSD_INFO) == _BSD_INFO:
                seconds, micros = struct.unpack_from("=QQ", info, 120)
                found = struct.unpack_from("=I", info, 16)[0], f"{seconds}.{micros}"
    except (OSError, ValueError, IndexError, struct.error):
        return None
    return found


def list_ancestors(pid: int) -> list[str]:
    """Return the processes above one, nearest first, each as "PID START"; empty where the system does not tell."""
    found: list[str] = []
    known = read_process(pid)
    while known is not None and known[0] > 0 and len(found) < _MAX_ANCESTORS:
        parent = known[0]
        known = read_process(parent)
        if known is not None:
            found.append(f"{parent} {known[1]}")
    return found


class ServerRecord(NamedTuple):
    """What is recorded of a running server. The field names are the JSON names in its file."""

    pid: int
    started: str  # by the system's clock for processes
    root: str  # the real path of the book
    folder: str = ""  # where it was started
    host: str = ""  # what the client called itself
    agent: str = ""  # what it was started with
    ancestors: tuple[str, ...] = ()  # processes above it, nearest first, as "PID START"

    def to_json(self) -> bytes:
        """Return the text of its file."""
        return json.dumps(self._asdict()).encode()


def list_servers(folder: str) -> list[ServerRecord]:
    """Return the servers that are recorded in the folder of the sockets, dead ones too; none if it is not private."""
    if not is_private(folder, st.S_IFDIR):
        return []
    names = [name for name in sorted(os.listdir(folder))[: 4 * _MAX_RECORDS] if name.endswith(RECORD)]
    found = [_read_record(folder, name) for name in names[:_MAX_RECORDS]]
    return [record for record in found if record is not None]


def _read_record(folder: str, name: str) -> ServerRecord | None:
    """Return a record; None for a file that is not private, or not as we write it."""
    path = os.path.join(folder, name)
    if not is_private(path, st.S_IFREG):
        return None
    try:
        with open(path, "rb") as file:
            said = json.loads(file.read(_MAX_RECORD))
        record = ServerRecord(**said)
        ancestors = tuple(map(str, record.ancestors))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    texts = (record.started, record.root, record.folder, record.host, record.agent)
    is_ours = type(record.pid) is int and all(isinstance(text, str) for text in texts)
    return record._replace(ancestors=ancestors) if is_ours and name == f"{record.pid}{RECORD}" else None


def choose_server(folder: str, root: str, host: str, cwd: str) -> ServerRecord | None:
    """Return the running server of this book that a hook of this process asks; None if there is none.

    It is the one with the nearest common ancestor; of several the one of this folder, and of this host.
    """
    servers = [record for record in list_servers(folder) if record.root == root]
    if not servers:
        return None
    own = {name: place for place, name in enumerate(list_ancestors(os.getpid()))}

    def rank(record: ServerRecord) -> tuple[int, bool, bool, int]:
        distance = min((own[name] for name in record.ancestors if name in own), default=len(own))
        return distance, record.folder != cwd, host not in (record.agent, record.host), -record.pid

    for record in sorted(servers, key=rank):
        process = read_process(record.pid)
        is_related = not own or any(name in own for name in record.ancestors)
        if is_related and (process is None or process[1] == record.started) and (process is not None or not own):
            return record
    return None


# What is exchanged


class PromptRequest(NamedTuple):
    """What a hook asks a server. The field names are the JSON names."""

    prompt: str
    session: str | None
    cwd: str | None
    agent: str
    sealed: bool
    folders: tuple[str, ...]  # of the caller's scopes, as the hook found them: the server must find the same
    told: Mapping[str, str]  # path of a memory: its revision in the context window
    v: int = VERSION

    def to_line(self) -> bytes:
        """Return the request as a line. Raise ValueError if it is too long for one."""
        half = MAX_PROMPT // 2
        cut = f"{self.prompt[:half]}\n{self.prompt[-half:]}" if len(self.prompt) > MAX_PROMPT else self.prompt
        return _to_line(self._replace(prompt=cut)._asdict())


def parse_request(line: bytes) -> PromptRequest | None:
    """Return the request in a line; None if it is not one."""
    said = _parse_line(line)
    if said.keys() != set(PromptRequest._fields):
        return None
    folders = said["folders"]
    fits = (
        isinstance(said["prompt"], str)
        and all(isinstance(said[name], (str, type(None))) for name in ("session", "cwd"))
        and isinstance(said["agent"], str)
        and isinstance(said["sealed"], bool)
        and isinstance(folders, list)
        and all(isinstance(folder, str) for folder in folders)
        and _is_mapping_of_texts(said["told"])
    )
    return PromptRequest(**{**said, "folders": tuple(folders)}) if fits else None


class ToldMemory(NamedTuple):
    """A memory that an answer tells whole. The field names are the JSON names."""

    path: str
    revision: str
    id: str
    text: str  # for the hashes of what the agent was told


class PromptAnswer(NamedTuple):
    """What a server answers. The field names are the JSON names."""

    text: str  # to add to the prompt
    memories: tuple[ToldMemory, ...] = ()
    changed: Mapping[str, str] = {}  # the revisions now of what the text says has changed, by path
    v: int = VERSION

    def to_line(self) -> bytes:
        """Return the answer as a line. Raise ValueError if it is too long for one."""
        return _to_line({**self._asdict(), "memories": [memory._asdict() for memory in self.memories]})


DECLINED = b'{"v":1,"declined":true}\n'
"""The answer of a server that leaves a prompt to the hook."""


def parse_answer(line: bytes) -> PromptAnswer | None:
    """Return the answer in a line; None if it is not one, or too much to tell."""
    said = _parse_line(line)
    if said.keys() != set(PromptAnswer._fields):
        return None
    text, memories = said["text"], said["memories"]
    if not isinstance(text, str) or len(text) > _MAX_TEXT or not _is_mapping_of_texts(said["changed"]):
        return None
    if not isinstance(memories, list) or len(memories) > _MAX_MEMORIES:
        return None
    names = set(ToldMemory._fields)
    if not all(_is_mapping_of_texts(memory) and memory.keys() == names for memory in memories):
        return None
    return PromptAnswer(text, tuple(ToldMemory(**memory) for memory in memories), said["changed"])


def _to_line(fields: Mapping[str, object]) -> bytes:
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise ValueError("too long")
    return line


def _parse_line(line: bytes) -> dict[str, Any]:
    """Return the fields of a line of this version; none if it is not one."""
    try:
        said = json.loads(line) if len(line) <= MAX_LINE else None
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) and said.get("v") == VERSION else {}


def _is_mapping_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
