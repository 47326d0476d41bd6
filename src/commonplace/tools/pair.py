"""`search` and `fetch`: the pair that ChatGPT's connectors call, with the fields it expects, over recall and show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commonplace.model.errors import NotFound
from commonplace.text.fence import visible
from commonplace.text.naming import quote
from commonplace.tools import shown
from commonplace.tools.spec import QUERY, READERS, Answer, Arguments, Tool, answer, rows, text

if TYPE_CHECKING:
    from commonplace.book import Book


def address(path: str) -> str:
    """The address of a file of the book, as resources have it."""
    return f"book://{quote(path if path.startswith('/') else f'/{path}', safe='/')}"


def _search(book: Book, given: Arguments) -> Answer:
    results: dict[str, object] = {}  # one for each memory, at the place of its best entry
    for hit in book.recall(given["query"]).hits:
        title = f"{hit.mark}: {hit.summary or hit.key}" if hit.mark else hit.summary or hit.key
        found = {"id": visible(hit.ref), "title": visible(title), "url": address(hit.path)}
        results.setdefault(hit.ref, found)
    return _as_json({"results": list(results.values())})


def _fetch(book: Book, given: Arguments) -> Answer:
    scope, _, key = given["id"].partition("/")
    if not key:
        raise NotFound("That is no id of a search result.", hint="Use an id that `search` gave, such as project/KEY.")
    memory = book.show(key, scope)
    body, _ = shown.memory_text(memory)
    meta = memory.meta
    metadata = {"type": meta.type.value, "status": meta.status.value, "updated": meta.updated}
    title = visible(meta.summary or memory.key)
    return _as_json(
        {"id": visible(given["id"]), "title": title, "text": body, "url": address(memory.path), "metadata": metadata}
    )


def _as_json(data: dict[str, object]) -> Answer:
    """Both forms are the same JSON, as ChatGPT wants it."""
    return Answer(data, json.dumps(data, ensure_ascii=False))


TOOLS = (
    Tool(
        "search", "Search", "recall", "pair",
        "Find memories: ids and titles for `fetch`. For hosts that know only this pair; else use memory_recall.",
        {"query": text(limit=QUERY)}, ("query",),
        answer("results", results=rows(id="string", title="string", url="string")),
        READERS, _search, placed=False,
    ),
    Tool(
        "fetch", "Fetch", "show", "pair",
        "Read one result of `search` in full.",
        {"id": text()}, ("id",),
        answer(
            "id", "title", "text", "url",
            id="string", title="string", text="string", url="string", metadata="object",
        ),
        READERS, _fetch, placed=False,
    ),
)  # fmt: skip
