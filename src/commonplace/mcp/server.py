"""The MCP server: how each request is answered. The SDK speaks the protocol, in both of its eras.

No book is opened before a client asks for something in it, so that a client that only lists the tools gets them at
once, and a book that cannot be opened fails one call. An error of a tool is a result, too, for the model to read.
`commonplace mcp` calls `serve`.

Besides tools there are resources and prompts. A resource is `book:///memories/global/KEY.md`, read through the caller's
view, fenced. The prompts, which a person calls by name, are `brief`, `remember` and `review`.
"""

import asyncio
import gc
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio
from mcp.server import CacheHint, Server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from commonplace import verbs
from commonplace.book import Book
from commonplace.context.prompt_servers import PromptRequest
from commonplace.mcp.book_pool import BookPool, BookThread, ServerOptions
from commonplace.mcp.prompt_socket import PromptSocket
from commonplace.mcp.stdio import standard_streams
from commonplace.model import VERSION
from commonplace.model.errors import (
    CommonplaceError,
    InvalidField,
    InvalidInput,
    InvalidPath,
    NotFound,
    Refused,
    StorageError,
)
from commonplace.model.lazy import Log
from commonplace.text.fence import fence, visible
from commonplace.text.naming import unquote
from commonplace.verbs.pair import resource_address
from commonplace.verbs.show import RESOURCE_PREFIX, has_page
from commonplace.verbs.tool import PLACE, Tool
from commonplace.verbs.toolset import call_with_protocol, doctrine, instructions, read_order, rubric, tools_for

log = Log("commonplace.mcp")

Handler = Callable[[Any, Any], Awaitable[dict[str, Any]]]
_CLOSE_SECONDS = 0.3  # to close the books
_COMPLETE = {"resultType": "complete"}  # of the stateless era; the other leaves it out
_MAINTAIN_EVERY = 60.0  # seconds
_RETIRE_EVERY = 6 * 3_600.0  # seconds
_HOUR = 3_600_000  # milliseconds: the tools of a process never change
_FIXED_ANSWERS = ("tools/list", "prompts/list", "resources/templates/list", "server/discover")


class BookServer:
    """The tools of one server and the handlers of its requests, over the SDK."""

    def __init__(self, options: ServerOptions) -> None:
        self.tools: Mapping[str, Tool] = {
            tool.name: tool for tool in tools_for(options.role, options.extra, read_only=options.read_only)
        }
        self.books = BookPool(options)
        self._options = options
        self._thread = BookThread()
        self._maintained = 0.0
        self._retired = time.monotonic() - _RETIRE_EVERY + 50  # retire for the first time after 50 seconds
        names = frozenset(self.tools)
        tools = [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.input_schema(placed=True),
                "outputSchema": tool.output,
                "annotations": tool.hints(),
            }
            for tool in self.tools.values()
        ]
        more: dict[str, Any] = {
            "cache_hints": {
                **dict.fromkeys(_FIXED_ANSWERS, CacheHint(ttl_ms=_HOUR)),
                **dict.fromkeys(("resources/list", "resources/read"), CacheHint()),
            },
            "on_list_tools": _answer({"tools": tools}),
            "on_call_tool": self._call_tool,
        }
        if names:
            more |= {
                "on_list_resources": self._answer_from_book(lambda book, params: list_resources(book, params.cursor)),
                "on_list_resource_templates": _answer({"resourceTemplates": TEMPLATES}),
                "on_read_resource": self._answer_from_book(lambda book, params: read_resource(book, str(params.uri))),
                "on_list_prompts": _answer({"prompts": prompts_for(names)}),
                "on_get_prompt": self._answer_from_book(
                    lambda book, params: render_prompt(book, params.name, params.arguments or {}, names, options.folder)
                ),
            }
        self.sdk: Server[Any] = Server(
            "commonplace",
            version=VERSION,
            title="Commonplace",
            instructions=instructions(list(self.tools.values())),
            **more,
        )
        self.sdk.middleware.clear()  # the SDK's tracing: queries to a memory are private
        self.prompts = PromptSocket(options, self._thread, self._answer_prompt, self._prepare_prompts)
        if "memory_recall" in names:
            self.sdk.middleware.append(self._note_client)

    def close(self) -> None:
        """Close the books."""
        self._thread.close(self.books.close, _CLOSE_SECONDS)

    def call(self, tool: Tool, arguments: Mapping[str, Any], began: int | None = None) -> dict[str, Any]:
        """Return the result of a call in MCP's form; `began` is when it arrived, as `read_order` told."""
        book: Book | None = None
        began = read_order() if began is None else began
        try:
            place = {name: arguments.get(name) for name in (PLACE if tool.placed else ())}
            for name, value in place.items():
                if not isinstance(value, (str, type(None))):
                    raise InvalidField(f"{name} must be text.")
            book = self.books.get(place.get("cwd"), place.get("session"))
            given = {name: value for name, value in arguments.items() if name not in place}
            mode = self._options.protocol or book.protocol
            answer = call_with_protocol(
                tool, book.context, given, mode=mode, owner=os.getpid(), names=self.tools, began=began
            )
            return {"content": _text_content(answer.text), "structuredContent": answer.data, "isError": False}
        except Exception as error:  # noqa: BLE001 - a broken book must not end the server
            is_harmless = isinstance(error, CommonplaceError) and not isinstance(error, StorageError)
            if book and not is_harmless:
                self.books.drop(book)
            if isinstance(error, CommonplaceError):
                return _error_result(**error.as_dict(), notes=getattr(error, "__notes__", ()))
            log.warning("event=call_failed tool=%s error=%s", tool.name, type(error).__name__)
            return _error_result(
                "internal_error",
                f"Commonplace itself failed ({type(error).__name__}); nothing was acknowledged.",
                "Try again; if it fails again, tell the user to run `commonplace doctor`.",
            )

    def _maintain(self) -> None:
        """Propose what the transcripts in the spool teach and, less often, retire old memories and proposals."""
        if "memory_store" not in self.tools:
            return
        is_due = time.monotonic() - self._retired > _RETIRE_EVERY  # it checks every memory: not each time
        self._retired = time.monotonic() if is_due else self._retired
        for book in self.books.open_books():
            with suppress(Exception):  # no caller waits, and the next call reports what is wrong
                book.capture()
                if is_due:
                    book.retire()

    async def _call_tool(self, context: Any, params: Any) -> dict[str, Any]:
        tool = self.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:60]!a}")
        arrived = context.request if isinstance(context.request, int) else read_order()
        answer = await self._thread.run(lambda: self.call(tool, params.arguments or {}, arrived))
        if time.monotonic() - self._maintained > _MAINTAIN_EVERY:
            self._maintained = time.monotonic()
            self._thread.run_later(self._maintain)
        return _COMPLETE | answer

    async def _note_client(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Answer a request; after the first one that tells which client this is, listen for its hooks, too."""
        result = await call_next(ctx)
        if ctx.method != "initialize":  # what the client says of itself is known after that
            client = ctx.session.client_params
            self.prompts.begin(client.client_info.name if client is not None else "")
        return result

    def _prepare_prompts(self, request: PromptRequest | None) -> None:
        if request is not None:
            verbs.at_prompt.prepare_for_hook(self.books.find(request.cwd, request.session).context, request)
        else:
            verbs.at_prompt.prepare_where_hooks_run(self.books.find(None, None).context)

    def _answer_prompt(self, request: PromptRequest) -> bytes:
        book = self.books.find(request.cwd, request.session)
        try:
            return verbs.at_prompt.answer_hook(book.context, request).to_line()
        except StorageError:
            self.books.drop(book)
            raise

    def _answer_from_book(self, job: Callable[[Book, Any], dict[str, Any]]) -> Handler:
        """Return a handler that does a job with the book of the server's own folder; errors become the protocol's."""

        def run(params: object) -> dict[str, Any]:
            book = self.books.get(None, None)
            try:
                return job(book, params)
            except StorageError:
                self.books.drop(book)
                raise

        async def handle(_context: object, params: object) -> dict[str, Any]:
            try:
                return _COMPLETE | await self._thread.run(lambda: run(params))
            except CommonplaceError as error:
                is_request_wrong = isinstance(error, (InvalidInput, NotFound, Refused))
                code = INVALID_PARAMS if is_request_wrong else INTERNAL_ERROR
                raise MCPError(code, f"{error.message} {error.hint}", error.as_dict()) from None

        return handle


def _answer(result: dict[str, Any]) -> Handler:
    """Return a handler whose answer is always the same."""

    async def handle(_context: object, _params: object) -> dict[str, Any]:
        return _COMPLETE | result

    return handle


def _error_result(code: str, message: str, hint: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return an error as text for the model, and as fields in _meta, because structured content must fit the schema."""
    error = {"code": code, "message": visible(message), "hint": visible(hint)}
    text = f"error [{code}]: {error['message']}\nwhat to do: {error['hint']}"
    return {"content": _text_content("\n".join([text, *notes])), "isError": True, "_meta": {"commonplace/error": error}}


def _text_content(text: str) -> Sequence[dict[str, str]]:
    return [{"type": "text", "text": text}]


async def _serve(server: BookServer) -> None:
    async with standard_streams() as (read, write):
        try:
            await server.sdk.run(read, write, server.sdk.create_initialization_options())
        finally:
            await server.prompts.close()


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


# Resources and prompts

_PAGE_SIZE = 100  # resources in one answer
_FIXED = (("/index.md", "Where to start: the folders of this book"), ("/system/definition.md", "How this memory works"))
TEMPLATES = [
    {
        "uriTemplate": "book:///{+path}",
        "name": "page",
        "title": "A note or an index page",
        "description": "By its path in the book, such as /memories/global/index.md; the index pages lead to the rest.",
        "mimeType": "text/markdown",
    }
]
_PROMPTS: Sequence[tuple[frozenset[str], dict[str, Any]]] = (  # each with the tools of which it needs one
    (
        frozenset({"memory_recall"}),
        {"name": "brief", "title": "Brief", "description": "What this memory knows: pinned and newest, by scope."},
    ),
    (
        frozenset({"memory_store"}),
        {
            "name": "remember",
            "title": "Remember",
            "description": "Save what was just learned, where it belongs and once.",
            "arguments": [{"name": "what", "description": "What to remember; all that was learned, if absent"}],
        },
    ),
    (
        frozenset({"memory_review", "memory_list"}),
        {"name": "review", "title": "Review", "description": "Judge what agents proposed."},
    ),
)
_REMEMBER_STEPS = (
    "First memory_recall the topic. If a memory is about it, correct or extend that one; else memory_store it."
)
_REVIEW = (
    "Review what waits: memory_review with action=list, then accept what is true, useful later and free of "
    "secrets, edit what is nearly so, and reject the rest. Say what you did and why."
)
_REVIEW_BY_HAND = (
    "Go through the memories: memory_list, then memory_show what looks old, doubtful or alike. Consolidate what "
    "says the same, correct what is wrong, forget what is obsolete. Ask before you forget what the user said."
)


def list_resources(book: Book, cursor: str | None) -> dict[str, Any]:
    """Return the index pages of the caller's scopes, then its memories, a hundred at a time."""
    start = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else 0
    if cursor and not start:
        raise NotFound("Unknown cursor.", hint="Start again without a cursor.")
    scopes = [scope for scope in book.status().scopes if scope.own and scope.memories]
    pages = [*_FIXED, *((f"{scope.path}/index.md", f"Memories of {scope.scope}") for scope in scopes)]
    found = [
        _resource(path, path.strip("/"), description) for path, description in pages if has_page(book.context, path)
    ]
    found += [_resource(item.path, f"{item.scope}/{item.key}", visible(item.shown_summary)) for item in book.list()]
    page = found[start : start + _PAGE_SIZE]
    more = {"nextCursor": str(start + _PAGE_SIZE)} if start + _PAGE_SIZE < len(found) else {}
    return {"resources": page, **more}


def read_resource(book: Book, uri: str) -> dict[str, Any]:
    """Return one page or note, fenced. Raise InvalidPath if the address is not one of ours."""
    if not uri.startswith(f"{RESOURCE_PREFIX}/"):
        raise InvalidPath("Resource addresses of this server start with book:///.")
    path = unquote(uri.removeprefix(RESOURCE_PREFIX))
    text = fence(book.page(path), {"source": path})
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}


def _resource(path: str, name: str, description: str) -> dict[str, Any]:
    return {
        "uri": resource_address(path),
        "name": visible(name),
        "description": description,
        "mimeType": "text/markdown",
    }


def prompts_for(names: frozenset[str]) -> list[dict[str, Any]]:
    """Return the prompts that make sense with these tools."""
    return [prompt for tools, prompt in _PROMPTS if tools & names]


def render_prompt(
    book: Book, name: str, arguments: Mapping[str, str], names: frozenset[str], cwd: str | None
) -> dict[str, Any]:
    """Return the answer to prompts/get. Raise NotFound or InvalidField if the name or an argument is unknown."""
    if name not in [prompt["name"] for prompt in prompts_for(names)]:
        raise NotFound(f"There is no prompt {name[:40]!a}.")
    unknown = arguments.keys() - ({"what"} if name == "remember" else set())
    if unknown:
        raise InvalidField(f"The prompt {name} has no argument {sorted(unknown)[0][:40]!a}.")
    if name == "brief":
        # What a hook gives at the start of a context window, for hosts without hooks.
        text = book.brief(cwd=cwd).text or "This memory is empty, or switched off."
    elif name == "remember":
        what = arguments.get("what", "").strip()
        request = f"Remember this: {what}" if what else "Save what this conversation taught that lasts."
        text = "\n".join([request, _REMEMBER_STEPS, doctrine(writes=True), rubric()])
    else:
        text = _REVIEW if "memory_review" in names else _REVIEW_BY_HAND
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
