"""Notes and index pages as MCP resources: `book:///memories/global/KEY.md`, read through the caller's view, fenced."""

from __future__ import annotations

from typing import Any

from commonplace.book import Book
from commonplace.model.errors import InvalidPath, NotFound
from commonplace.text.fence import fence, visible
from commonplace.text.naming import unquote
from commonplace.tools.pair import address

_PAGE_SIZE = 100  # resources in one answer
_PREFIX = "book://"
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


def list_resources(book: Book, cursor: str | None) -> dict[str, Any]:
    """Return the index pages of the caller's scopes, then its memories, a hundred at a time."""
    start = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else 0
    if cursor and not start:
        raise NotFound("Unknown cursor.", hint="Start again without a cursor.")
    scopes = [scope for scope in book.status().scopes if scope.own and scope.memories]
    pages = [*_FIXED, *((f"{scope.path}/index.md", f"Memories of {scope.scope}") for scope in scopes)]
    found = [_resource(path, path.strip("/"), description) for path, description in pages]
    found += [_resource(item.path, f"{item.scope}/{item.key}", visible(item.shown_summary)) for item in book.list()]
    page = found[start : start + _PAGE_SIZE]
    more = {"nextCursor": str(start + _PAGE_SIZE)} if start + _PAGE_SIZE < len(found) else {}
    return {"resources": page, **more}


def read_resource(book: Book, uri: str) -> dict[str, Any]:
    """Return one page or note, fenced. Raise InvalidPath if the address is not one of ours."""
    if not uri.startswith(f"{_PREFIX}/"):
        raise InvalidPath("Resource addresses of this server start with book:///.")
    path = unquote(uri.removeprefix(_PREFIX))
    text = fence(book.page(path), {"source": path})
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}


def _resource(path: str, name: str, description: str) -> dict[str, Any]:
    return {"uri": address(path), "name": visible(name), "description": description, "mimeType": "text/markdown"}
