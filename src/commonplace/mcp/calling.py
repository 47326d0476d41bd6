"""One call of a tool: which book, which arguments, what came of it, as MCP has it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book import Book
from commonplace.mcp.shelf import Launch, Shelf
from commonplace.model.errors import CommonplaceError, InvalidField, StorageError
from commonplace.model.log import Log
from commonplace.text.fence import visible
from commonplace.tools import tools_for
from commonplace.tools.enforce import enforced
from commonplace.tools.spec import PLACE, Answer, Tool

log = Log("commonplace.mcp")

_RETIRE_EVERY = 6 * 3_600.0  # seconds


class Caller:
    """The tools of one server, called one at a time."""

    def __init__(self, launch: Launch) -> None:
        self.tools: Mapping[str, Tool] = {
            tool.name: tool for tool in tools_for(launch.role, launch.extra, read_only=launch.read_only)
        }
        self.shelf = Shelf(launch)
        self._launch = launch
        self._retired = time.monotonic() - _RETIRE_EVERY + 50  # the first time when it has run for a while

    def listing(self) -> list[dict[str, Any]]:
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

    @property
    def folder(self) -> str | None:
        return self._launch.folder

    def tend(self) -> None:
        """What a book needs now and then: read what hooks left in the spool, let go of what is too old."""
        if self._launch.read_only or "memory_store" not in self.tools:
            return
        old = time.monotonic() - self._retired > _RETIRE_EVERY  # it looks at every memory: not each time
        self._retired = time.monotonic() if old else self._retired
        for book in self.shelf.open_books():
            try:
                book.capture()
                if old:
                    book.retire()
            except Exception as error:  # noqa: BLE001 - nobody waits for it, and the next call says what is wrong
                log.warning("event=tending_failed error=%s", type(error).__name__)

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call; what went wrong is a result, too, for the model to read."""
        book: Book | None = None
        try:
            place = {name: _word(name, arguments.get(name)) for name in (PLACE if tool.placed else ())}
            book = self.shelf.book(place.get("cwd"), place.get("session"))
            given = {name: value for name, value in arguments.items() if name not in place}
            mode = self._launch.protocol or book.protocol
            return _result(enforced(tool, book, given, mode=mode, owner=os.getpid(), has=self.tools))
        except CommonplaceError as error:
            if book is not None and isinstance(error, StorageError):
                self.shelf.drop(book)
            return failed(**error.as_dict(), below=getattr(error, "__notes__", ()))
        except Exception as error:  # noqa: BLE001 - a broken book must not end the server
            if book is not None:
                self.shelf.drop(book)
            log.warning("event=call_failed tool=%s error=%s", tool.name, type(error).__name__)
            return failed(
                "internal_error",
                f"Commonplace itself failed ({type(error).__name__}); nothing was acknowledged.",
                "Try again; if it stays, tell the user to run `commonplace doctor`.",
            )


def _word(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidField(f"{name} is a text.")
    return value


def _result(answer: Answer) -> dict[str, Any]:
    return {"content": _text(answer.text), "structuredContent": answer.data, "isError": False}


def failed(code: str, message: str, hint: str, below: Sequence[str] = ()) -> dict[str, Any]:
    """An error as a model reads it; the same as fields in _meta, because structured content must fit the schema."""
    error = {"code": code, "message": visible(message), "hint": visible(hint)}
    said = f"error [{code}]: {error['message']}\nwhat to do: {error['hint']}"
    return {"content": _text("\n".join([said, *below])), "isError": True, "_meta": {"commonplace/error": error}}


def _text(text: str) -> Sequence[dict[str, str]]:
    return [{"type": "text", "text": text}]
