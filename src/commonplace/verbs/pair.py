"""The tools `search` and `fetch`: the pair that some hosts, as ChatGPT's connectors, call, with the fields they expect.

They are on request (`--tools pair`), and answer what `recall` and `show` find.
"""

from __future__ import annotations

import json

from commonplace.model.errors import NotFound
from commonplace.model.memory import Memory, Trust, mark_external
from commonplace.model.results import Hit
from commonplace.text.fence import visible
from commonplace.text.naming import quote
from commonplace.verbs.context import BookContext
from commonplace.verbs.recall import RecallRequest, recall
from commonplace.verbs.show import RESOURCE_PREFIX, ShowRequest, show
from commonplace.verbs.tool import (
    QUERY_LENGTH,
    Answer,
    Arguments,
    Tool,
    cut_entries,
    entries_text,
    entry_data,
    result_schema,
    rows_schema,
    text_schema,
)

_TRUSTED_LEAST = (Trust.EXTERNAL, Trust.AGENT, Trust.HUMAN)


def resource_address(path: str) -> str:
    """Return the address of a file of the book, as MCP resources have it."""
    return f"{RESOURCE_PREFIX}{quote(path if path.startswith('/') else f'/{path}', safe='/')}"


def _shown_summary(hit: Hit) -> str:
    """Return the summary of a hit that is shown without its trust."""
    return mark_external(hit.summary) if hit.trust == Trust.EXTERNAL else hit.summary


def _search_tool(context: BookContext, given: Arguments) -> Answer:
    results: dict[str, dict[str, object]] = {}  # one for each memory, at the place of its best entry
    for hit in recall(context, RecallRequest(given["query"])).hits:
        summary = _shown_summary(hit) or hit.key
        title = f"{hit.mark}: {summary}" if hit.mark else summary
        result = {
            "id": visible(hit.ref),
            "title": visible(title),
            "url": resource_address(hit.path),
            "strong": hit.strong,
        }
        results.setdefault(hit.ref, result)
    data = {"results": list(results.values())}
    return Answer(data, json.dumps(data, ensure_ascii=False))


def _fetch_tool(context: BookContext, given: Arguments) -> Answer:
    scope, _, key = given["id"].partition("/")
    if not key:
        raise NotFound(
            "That is not the id of a search result.", hint="Use an id that `search` returned, such as project/KEY."
        )
    memory = show(context, ShowRequest(key, scope))
    meta = memory.meta
    entries = cut_entries(memory)[0]
    rows = [entry_data(entry) for entry in entries]
    labels = {"type": meta.type.value, "status": meta.status.value, "updated": meta.updated}
    data = {
        "id": visible(given["id"]),
        "title": visible(_title(memory)),
        "text": "\n\n".join(row["text"] for row in rows),
        "url": resource_address(memory.path),
        "metadata": {
            **labels,
            "trust": str(min((entry.trust for entry in entries), key=_TRUSTED_LEAST.index, default=Trust.HUMAN)),
            "author": ", ".join(dict.fromkeys(row["author"] for row in rows if row.get("author"))),
        },
    }
    return Answer(data, json.dumps({**data, "text": entries_text(memory, entries)}, ensure_ascii=False))


def _title(memory: Memory) -> str:
    title = memory.meta.summary or memory.key
    return mark_external(title) if any(entry.trust is Trust.EXTERNAL for entry in memory.entries) else title


TOOLS = (
    Tool(
        "search", "Search", "recall", "pair",
        "Find ids and titles for `fetch`.",
        {"query": {**text_schema("plain words"), "maxLength": QUERY_LENGTH}}, ("query",),
        result_schema("results", results=rows_schema("id", "title", "url", strong="boolean")),
        recall.access.value, _search_tool, placed=False,
    ),
    Tool(
        "fetch", "Fetch", "show", "pair",
        "Read a `search` result in full.",
        {"id": text_schema("of a result of search")}, ("id",),
        result_schema(
            "id", "title", "text", "url",
            id="string", title="string", text="string", url="string", metadata="object",
        ),
        show.access.value, _fetch_tool, placed=False,
    ),
)  # fmt: skip
