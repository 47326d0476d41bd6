"""The MCP server: how each request is answered. The SDK speaks the protocol, in both of its eras.

No book is opened before a client asks for something in it, so that a client that only lists the tools gets them at
once, and a book that cannot be opened fails one call. `commonplace mcp` calls `serve`.
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
from commonplace.mcp.book_pool import BookThread, ServerOptions
from commonplace.mcp.prompts import prompts_for, render_prompt
from commonplace.mcp.resources import TEMPLATES, list_resources, read_resource
from commonplace.mcp.stdio import standard_streams
from commonplace.mcp.tool_calls import ToolRunner
from commonplace.model.errors import CommonplaceError, InvalidInput, NotFound, Refused, StorageError
from commonplace.model.version import VERSION
from commonplace.tools.doctrine import instructions

_CLOSE_SECONDS = 0.3  # to close the books
_COMPLETE = {"resultType": "complete"}  # of the stateless era; the other leaves it out
_MAINTAIN_EVERY = 60.0  # seconds
_HOUR = 3_600_000  # milliseconds: the tools of a process never change


class BookServer:
    """The handlers of one server, over the SDK."""

    def __init__(self, options: ServerOptions) -> None:
        self._runner = ToolRunner(options)
        self._thread = BookThread()
        self._tools = self._runner.list_tools()
        self._names = frozenset(self._runner.tools)
        self._maintained = 0.0
        fixed, fresh = CacheHint(ttl_ms=_HOUR), CacheHint()
        handlers: dict[str, Any] = {"on_list_tools": self._list_tools, "on_call_tool": self._call_tool}
        if self._names:
            handlers |= {
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
            instructions=instructions(list(self._runner.tools.values())),
            cache_hints={
                "tools/list": fixed,
                "prompts/list": fixed,
                "resources/templates/list": fixed,
                "server/discover": fixed,
                "resources/list": fresh,
                "resources/read": fresh,
            },
            **handlers,
        )
        self.sdk.middleware.clear()  # the SDK's tracing: queries to a memory are private

    def close(self) -> None:
        """Close the books."""
        self._thread.close(self._runner.books.close, _CLOSE_SECONDS)

    async def _list_tools(self, _context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | {"tools": self._tools}

    async def _call_tool(self, _context: object, params: Any) -> dict[str, Any]:
        tool = self._runner.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:60]!a}")
        answer = await self._thread.run(lambda: self._runner.call(tool, params.arguments or {}))
        if time.monotonic() - self._maintained > _MAINTAIN_EVERY:
            self._maintained = time.monotonic()
            self._thread.run_later(self._runner.maintain)
        return _COMPLETE | answer

    async def _list_resources(self, _context: object, params: Any) -> dict[str, Any]:
        return await self._with_book(lambda book: list_resources(book, params.cursor))

    async def _list_templates(self, _context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | {"resourceTemplates": TEMPLATES}

    async def _read_resource(self, _context: object, params: Any) -> dict[str, Any]:
        return await self._with_book(lambda book: read_resource(book, str(params.uri)))

    async def _list_prompts(self, _context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | {"prompts": prompts_for(self._names)}

    async def _get_prompt(self, _context: object, params: Any) -> dict[str, Any]:
        return await self._with_book(
            lambda book: render_prompt(
                book, params.name, params.arguments or {}, self._names, self._runner.options.folder
            )
        )

    async def _with_book(self, job: Callable[[Book], dict[str, Any]]) -> dict[str, Any]:
        """Do a job with the book of the server's own folder; an error becomes one of the protocol."""

        def run() -> dict[str, Any]:
            book = self._runner.books.get(None, None)
            try:
                return job(book)
            except StorageError:
                self._runner.books.drop(book)
                raise

        try:
            return _COMPLETE | await self._thread.run(run)
        except CommonplaceError as error:
            is_request_wrong = isinstance(error, (InvalidInput, NotFound, Refused))
            code = INVALID_PARAMS if is_request_wrong else INTERNAL_ERROR
            raise MCPError(code, f"{error.message} {error.hint}", error.as_dict()) from None


async def _serve(server: BookServer) -> None:
    async with standard_streams() as (read, write):
        await server.sdk.run(read, write, server.sdk.create_initialization_options())


def serve(options: ServerOptions) -> int:
    """Serve until standard input ends or a signal says stop."""
    if not os.environ.get("COMMONPLACE_LOG"):
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        logging.getLogger("mcp").propagate = False
    server = BookServer(options)
    gc.collect()
    gc.freeze()  # what is loaded now stays: no collection has to visit it again
    gc.enable()
    try:
        anyio.run(_serve, server)
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    finally:
        server.close()
    return 0
