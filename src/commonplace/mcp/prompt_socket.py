"""The socket on which a server answers the hooks of its host: recall at the prompt by meaning, with the model loaded.

A hook has a quarter of a second, and falls back to words by itself; so nothing here waits. Where hooks ran of late, the
book is opened and the model loaded a second after the start. A prompt that comes before that is declined at once, and
both are done for the next one. Requests are answered by the book thread, one after the other, and skipped once nobody
waits for them.

Only this user's processes are answered. The folder is private, the socket and its record are for the user alone, and
the system is asked who calls before anything is read. Nothing of a prompt is logged, audited or kept.
`context/prompt_servers.py` has the other half of what both sides agree on.
"""

import asyncio
import os
import socket
import stat as st
import sys
from collections.abc import Callable
from contextlib import closing, suppress

from commonplace.context.prompt_servers import (
    DECLINED,
    MAX_LINE,
    PATIENCE,
    RECORD,
    SOCKET,
    PromptRequest,
    ServerRecord,
    is_own_user,
    is_private,
    list_ancestors,
    list_servers,
    parse_request,
    read_process,
)
from commonplace.mcp.book_pool import BookThread, ServerOptions
from commonplace.memories.layout import book_root, find_run_folder
from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import Log
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import DiskFolder
from commonplace.verbs.opening import launch_settings

log = Log("commonplace.mcp")
_EXCHANGE_SECONDS = 1.0  # for a request to come, and its answer to go
_MAX_CLIENTS = 64
_BACKLOG = 64

_MAX_FOLDERS = 64
_CLOSE_SECONDS = 0.2
_QUIET_SECONDS = 1.0  # after the start, before the model is loaded
_CONNECT_SECONDS = 0.05
_MAX_HOST = 100  # characters of a client's name
_FAMILY: int = getattr(socket, "AF_UNIX", 0)  # Windows has none, and nothing listens there
_ENDINGS = (RECORD, SOCKET)


class PromptSocket:
    """The socket of one server, from its first client on until it ends.

    `answer` returns the line for a request, and `prepare` loads what it takes, for a request that came or, with None,
    for those to come: both run on the book thread, and may raise anything, whereupon the hook goes by words.
    """

    def __init__(
        self,
        options: ServerOptions,
        thread: BookThread,
        answer: Callable[[PromptRequest], bytes],
        prepare: Callable[[PromptRequest | None], None],
    ) -> None:
        self._options, self._thread, self._answer, self._prepare = options, thread, answer, prepare
        self._starting: asyncio.Task[None] | None = None
        self._server: asyncio.Server | None = None
        self._folder: str | None = None  # where the socket and its record are, once they may be
        self._ready: set[str | None] = set()  # folders whose book was opened, and the model loaded
        self._preparing: dict[str | None, asyncio.Task[None]] = {}  # the same, before that is done
        self._clients = 0

    def begin(self, host: str) -> None:
        """Start to listen, in the background; `host` is what the client calls itself. Another call does nothing."""
        if self._starting is None and sys.platform != "win32":
            self._starting = asyncio.create_task(self._listen(host[:_MAX_HOST] if host.isprintable() else ""))

    async def close(self) -> None:
        """Stop listening, and remove the socket and its record."""
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=_CLOSE_SECONDS)
            self._starting.cancel()
        if self._server is not None:
            self._server.close()
        if self._folder is not None:
            with suppress(OSError), closing(open_disk(self._folder).open(())) as folder:
                _remove(folder, os.getpid())

    async def _listen(self, host: str) -> None:
        try:
            opened = await asyncio.wrap_future(self._thread.run_later(lambda: self._open(host)))
            if opened is not None and sys.platform != "win32":
                self._server = await asyncio.start_unix_server(self._serve, sock=opened, limit=MAX_LINE)
                # Not at once: the hook at the start of the session, and the first calls, come first.
                asyncio.get_running_loop().call_later(
                    _QUIET_SECONDS, self._begin_to_prepare, self._options.folder, None
                )
        except (CommonplaceError, OSError, ValueError) as error:  # hooks go by words then
            log.info("event=no_prompt_socket error=%s", type(error).__name__)

    def _open(self, host: str) -> socket.socket | None:
        """Return a socket that listens, with its record written; None where the folder is not private."""
        options, pid = self._options, os.getpid()
        settings = launch_settings(options.root, {})
        place = find_run_folder(settings.state)
        process = read_process(pid)
        record = ServerRecord(
            pid, process[1] if process else "", os.path.realpath(book_root(settings)), options.folder or "", host,
            options.agent or "", tuple(list_ancestors(pid)),
        )  # fmt: skip
        with closing(open_disk(place, make=True).open(())) as folder:
            if not is_private(place, st.S_IFDIR):
                return None
            _remove_stale(folder, place)
            _remove(folder, pid)
            self._folder = place
            listening = socket.socket(_FAMILY)
            try:
                path = os.path.join(place, f"{pid}{SOCKET}")
                listening.bind(path)
                os.chmod(path, 0o600)
                listening.listen(_BACKLOG)
                _write_record(folder, record)
            except BaseException:
                listening.close()
                raise
            return listening

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of one client. What is wrong with it, or slow, ends the connection."""
        self._clients += 1
        try:
            if self._clients <= _MAX_CLIENTS and is_own_user(writer.get_extra_info("socket")):
                async with asyncio.timeout(_EXCHANGE_SECONDS):
                    request = parse_request(await reader.readuntil(b"\n"))
                    writer.write(await self._reply(request) if request is not None else DECLINED)
                    await writer.drain()
        except (OSError, EOFError, asyncio.LimitOverrunError):  # a timeout is an OSError
            pass
        finally:
            self._clients -= 1
            writer.close()

    async def _reply(self, request: PromptRequest) -> bytes:
        if request.cwd not in self._ready:
            self._begin_to_prepare(request.cwd, request)
            return DECLINED
        try:
            async with asyncio.timeout(PATIENCE):  # a job that has not begun by then is skipped
                line: bytes = await asyncio.wrap_future(self._thread.run_later(lambda: self._answer(request)))
                return line
        except Exception as error:  # noqa: BLE001 - whatever it was, the hook goes by words
            log.info("event=prompt_declined error=%s", type(error).__name__)
            return DECLINED

    def _begin_to_prepare(self, folder: str | None, request: PromptRequest | None) -> None:
        if folder not in self._ready and folder not in self._preparing and len(self._preparing) < _MAX_FOLDERS:
            self._preparing[folder] = asyncio.create_task(self._make_ready(folder, request))

    async def _make_ready(self, folder: str | None, request: PromptRequest | None) -> None:
        try:
            await asyncio.wrap_future(self._thread.run_later(lambda: self._prepare(request)))
            if len(self._ready) >= _MAX_FOLDERS:
                self._ready.clear()
            self._ready.add(folder)
            log.info("event=prompts_prepared")
        except Exception as error:  # noqa: BLE001 - the next prompt tries again
            log.info("event=prompt_not_prepared error=%s", type(error).__name__)
        finally:
            del self._preparing[folder]


def _write_record(folder: DiskFolder, record: ServerRecord) -> None:
    """Write a server's record whole, under its name."""
    temp = f".{record.pid}.tmp"
    with suppress(FileNotFoundError):
        folder.remove(temp)  # of a process with this number that was killed
    with closing(folder.create(temp)) as file:
        file.write(record.to_json())
    folder.rename(temp, folder, f"{record.pid}{RECORD}")


def _remove(folder: DiskFolder, pid: int) -> None:
    for ending in _ENDINGS:
        with suppress(FileNotFoundError):
            folder.remove(f"{pid}{ending}")


def _remove_stale(folder: DiskFolder, place: str) -> None:
    """Remove what servers that were killed left: no such process runs, or a later one, and nothing listens."""
    started = {record.pid: record.started for record in list_servers(place)}
    stems = {name.partition(".")[0] for name in os.listdir(place) if name.endswith(_ENDINGS)}
    for pid in map(int, filter(str.isdecimal, stems)):
        process = read_process(pid)
        is_running = process is not None and started.get(pid, process[1]) == process[1]
        if not is_running and not _listens(os.path.join(place, f"{pid}{SOCKET}")):
            _remove(folder, pid)


def _listens(path: str) -> bool:
    """Return whether a process listens on a socket: it may run where this one cannot see it, as in a container."""
    with socket.socket(_FAMILY) as trial:
        trial.settimeout(_CONNECT_SECONDS)
        try:
            trial.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
        return True
