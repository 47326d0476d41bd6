"""The hook's side of recall at the prompt by meaning: it asks a running MCP server, and has its answer checked.

`ask_server` returns None wherever anything is not as it should be, or takes too long: the hook then goes by words. It
is loaded only where a server is recorded. Nothing is sent before the folder, the socket and the user at the other end
are known to be this user's; and no memory is taken from an answer that is not in one of the caller's own scopes.
`context/prompt_servers.py` has what both sides agree on, and `mcp/prompt_socket.py` the other side.
"""

from __future__ import annotations

import _socket
import os
import stat as st
import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from commonplace.context.prompt_servers import (
    MAX_LINE,
    PATIENCE,
    SOCKET,
    PromptAnswer,
    PromptRequest,
    ToldMemory,
    choose_server,
    is_own_user,
    is_private,
    parse_answer,
)
from commonplace.context.records import BriefMemory, BriefSources
from commonplace.model.errors import CommonplaceError
from commonplace.model.memory import Entry
from commonplace.vault.paths import resolve

if TYPE_CHECKING:
    from commonplace.hooks.events import HookEvent

_FAMILY: int | None = getattr(_socket, "AF_UNIX", None)  # Windows has none
_CHUNK = 1 << 16
_MAX_ID = 200  # characters of an id, and of a revision


class ServerRecall(NamedTuple):
    """What a server adds to a prompt: the text, the memories in it, and what it says has changed, by path."""

    text: str
    memories: tuple[BriefMemory, ...]
    changed: Mapping[str, str]


def ask_server(event: HookEvent, folder: str, prompt: str, told: Mapping[str, str]) -> ServerRecall | None:
    """Return what the server of this hook's host adds to a prompt; None if the hook has to do it by itself.

    `folder` is that of the sockets.
    """
    try:
        cwd = event.input.cwd or ""
        record = choose_server(folder, os.path.realpath(event.root), event.host, cwd)
        if record is None:
            return None
        caller = event.caller
        folders = tuple(map(str, event.sources.folders.values()))
        agent = caller.agent or event.host
        request = PromptRequest(prompt, caller.session, event.input.cwd, agent, caller.sealed, folders, told)
        line = _exchange(os.path.join(folder, f"{record.pid}{SOCKET}"), request.to_line())
    except (OSError, ValueError):
        return None
    answer = parse_answer(line)
    return _check_answer(event.sources, answer, told) if answer is not None else None


def _exchange(path: str, request: bytes) -> bytes:
    """Return the line that a server answers. Raise OSError where that takes too long, or the server is not this user's.

    `_socket` is what `socket` is made of, and loads in a tenth of its time.
    """
    end = time.monotonic() + PATIENCE
    if _FAMILY is None or not is_private(path, st.S_IFSOCK):
        raise PermissionError
    with closing(_socket.socket(_FAMILY, _socket.SOCK_STREAM)) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(path)
        if not is_own_user(connection):
            raise PermissionError
        connection.sendall(request)
        parts: list[bytes] = []
        size = 0
        while size <= MAX_LINE:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
            part = connection.recv(_CHUNK)
            parts.append(part)
            size += len(part)
            if not part or part.endswith(b"\n"):
                break
    return b"".join(parts)


def _check_answer(sources: BriefSources, answer: PromptAnswer, told: Mapping[str, str]) -> ServerRecall | None:
    """Return an answer with its memories placed; None if one is not the caller's, or the text has odd characters."""
    is_text = all(char >= " " or char in "\n\t" for char in answer.text)
    memories = [_place(sources, memory) for memory in answer.memories]
    found = tuple(memory for memory in memories if memory is not None)
    if not is_text or len(found) < len(memories) or not answer.changed.keys() <= told.keys():
        return None
    return ServerRecall(answer.text, found, answer.changed)


def _place(sources: BriefSources, memory: ToldMemory) -> BriefMemory | None:
    """Return a memory that was told as the hook records it; None if it is in none of the caller's scopes."""
    if any(len(text) > _MAX_ID or not text.isprintable() for text in (memory.id, memory.revision)):
        return None
    try:
        place = sources.find_key(resolve(memory.path))
    except CommonplaceError:
        return None
    if place is None:
        return None
    return BriefMemory(
        *place, memory.path, memory.id, memory.revision, summary="", is_pinned=False, updated="",
        entry=Entry("", memory.text), has_more=False,
    )  # fmt: skip
