"""The tools of a server: their list, and one call at a time, from its arguments to its result in MCP's form."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book import Book
from commonplace.mcp.book_pool import BookPool, ServerOptions
from commonplace.model.errors import CommonplaceError, InvalidField, StorageError
from commonplace.model.lazy import Log
from commonplace.text.fence import visible
from commonplace.tools import tools_for
from commonplace.tools.enforce import enforced
from commonplace.tools.spec import PLACE, Tool

log = Log("commonplace.mcp")

_RETIRE_EVERY = 6 * 3_600.0  # seconds


class ToolRunner:
    """The tools of one server, called one at a time."""

    def __init__(self, options: ServerOptions) -> None:
        self.tools: Mapping[str, Tool] = {
            tool.name: tool for tool in tools_for(options.role, options.extra, read_only=options.read_only)
        }
        self.books = BookPool(options)
        self.options = options
        self._retired = time.monotonic() - _RETIRE_EVERY + 50  # retire for the first time after 50 seconds

    def list_tools(self) -> list[dict[str, Any]]:
        """Return the answer to tools/list."""
        return [
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

    def maintain(self) -> None:
        """Capture the transcripts that hooks left in the spool and, less often, retire old memories."""
        if self.options.read_only or "memory_store" not in self.tools:
            return
        is_due = time.monotonic() - self._retired > _RETIRE_EVERY  # it checks every memory: not each time
        self._retired = time.monotonic() if is_due else self._retired
        for book in self.books.open_books():
            try:
                book.capture()
                if is_due:
                    book.retire()
            except Exception as error:  # noqa: BLE001 - no caller waits, and the next call reports what is wrong
                log.warning("event=tending_failed error=%s", type(error).__name__)

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a call; an error is a result, too, for the model to read."""
        book: Book | None = None
        try:
            place = {name: _check_text(name, arguments.get(name)) for name in (PLACE if tool.placed else ())}
            book = self.books.get(place.get("cwd"), place.get("session"))
            given = {name: value for name, value in arguments.items() if name not in place}
            mode = self.options.protocol or book.protocol
            answer = enforced(tool, book, given, mode=mode, owner=os.getpid(), has=self.tools)
            return {"content": _text_content(answer.text), "structuredContent": answer.data, "isError": False}
        except CommonplaceError as error:
            if book is not None and isinstance(error, StorageError):
                self.books.drop(book)
            return _error_result(**error.as_dict(), notes=getattr(error, "__notes__", ()))
        except Exception as error:  # noqa: BLE001 - a broken book must not end the server
            if book is not None:
                self.books.drop(book)
            log.warning("event=call_failed tool=%s error=%s", tool.name, type(error).__name__)
            return _error_result(
                "internal_error",
                f"Commonplace itself failed ({type(error).__name__}); nothing was acknowledged.",
                "Try again; if it fails again, tell the user to run `commonplace doctor`.",
            )


def _check_text(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidField(f"{name} must be text.")
    return value


def _error_result(code: str, message: str, hint: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return an error as text for the model, and as fields in _meta, because structured content must fit the schema."""
    error = {"code": code, "message": visible(message), "hint": visible(hint)}
    text = f"error [{code}]: {error['message']}\nwhat to do: {error['hint']}"
    return {"content": _text_content("\n".join([text, *notes])), "isError": True, "_meta": {"commonplace/error": error}}


def _text_content(text: str) -> Sequence[dict[str, str]]:
    return [{"type": "text", "text": text}]
