"""The server: what each request of MCP is answered with. The SDK speaks the protocol, in both of its eras.

Nothing of a book is opened before a client asks for something in it, so that a client that only lists the tools gets
them at once, and a book that cannot be opened is an error of one call.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server import CacheHint, Server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from commonplace.book import Book
from commonplace.mcp import prompts, resources
from commonplace.mcp.calling import Caller
from commonplace.mcp.shelf import Launch
from commonplace.mcp.stdio import standard_streams
from commonplace.mcp.worker import Worker
from commonplace.model.errors import CommonplaceError, InvalidInput, NotFound, Refused, StorageError
from commonplace.model.version import VERSION
from commonplace.tools.doctrine import instructions

_CLOSING = 0.3  # seconds for the books to be closed
_COMPLETE = {"resultType": "complete"}  # of the stateless era; the other leaves it out
_TEND_EVERY = 60.0  # seconds
_HOUR = 3_600_000  # milliseconds: the tools of a process never change


class BookServer:
    def __init__(self, launch: Launch) -> None:
        self._caller = Caller(launch)
        self._worker = Worker()
        self._listing = self._caller.listing()
        self._names = frozenset(self._caller.tools)
        self._tended = 0.0
        fixed, fresh = CacheHint(ttl_ms=_HOUR), CacheHint()
        offers: dict[str, Any] = {"on_list_tools": self._list_tools, "on_call_tool": self._call_tool}
        if self._names:
            offers |= {
                "on_list_resources": self._list_resources,
                "on_list_resource_templates": self._list_templates,
                "on_read_resource": self._read_resource,
                "on_list_prompts": self._list_prompts,
                "on_get_prompt": self._get_prompt,
            }
        self.sdk: Server[Any] = Server(
            "commonplace",
            version=VERSION,
            title="Commonplace",
            instructions=instructions(list(self._caller.tools.values())),
            cache_hints={
                "tools/list": fixed,
                "prompts/list": fixed,
                "resources/templates/list": fixed,
                "server/discover": fixed,
                "resources/list": fresh,
                "resources/read": fresh,
            },
            **offers,
        )
        self.sdk.middleware.clear()  # the SDK's tracing: what is asked of a memory is nobody else's business

    def close(self) -> None:
        self._worker.close(self._caller.shelf.close, _CLOSING)

    async def _list_tools(self, _context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | {"tools": self._listing}

    async def _call_tool(self, _context: object, params: Any) -> dict[str, Any]:
        tool = self._caller.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:60]!a}")
        answer = await self._worker.do(lambda: self._caller.call(tool, params.arguments or {}))
        if time.monotonic() - self._tended > _TEND_EVERY:
            self._tended = time.monotonic()
            self._worker.later(self._caller.tend)
        return _COMPLETE | answer

    async def _list_resources(self, _context: object, params: Any) -> dict[str, Any]:
        return await self._with_book(lambda book: resources.listing(book, params.cursor))

    async def _list_templates(self, _context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | {"resourceTemplates": resources.TEMPLATES}

    async def _read_resource(self, _context: object, params: Any) -> dict[str, Any]:
        return await self._with_book(lambda book: resources.read(book, str(params.uri)))

    async def _list_prompts(self, _context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | {"prompts": prompts.prompts_for(self._names)}

    async def _get_prompt(self, _context: object, params: Any) -> dict[str, Any]:
        return await self._with_book(
            lambda book: prompts.render(book, params.name, params.arguments or {}, self._names, self._caller.folder)
        )

    async def _with_book(self, job: Callable[[Book], dict[str, Any]]) -> dict[str, Any]:
        """Something that has no error of its own in MCP: what goes wrong is an error of the protocol."""

        def done() -> dict[str, Any]:
            book = self._caller.shelf.book(None, None)
            try:
                return job(book)
            except StorageError:
                self._caller.shelf.drop(book)
                raise

        try:
            return _COMPLETE | await self._worker.do(done)
        except CommonplaceError as error:
            asked = isinstance(error, (InvalidInput, NotFound, Refused))
            code = INVALID_PARAMS if asked else INTERNAL_ERROR
            raise MCPError(code, f"{error.message} {error.hint}", error.as_dict()) from None


async def _serve(server: BookServer) -> None:
    async with standard_streams() as (read, write):
        await server.sdk.run(read, write, server.sdk.create_initialization_options())


def serve(launch: Launch) -> int:
    """Serve until standard input ends or somebody says stop."""
    if not os.environ.get("COMMONPLACE_LOG"):
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        logging.getLogger("mcp").propagate = False
    server = BookServer(launch)
    gc.collect()
    gc.freeze()  # what was loaded stays: no collection need look at it again
    gc.enable()
    try:
        anyio.run(_serve, server)
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    finally:
        server.close()
    return 0
