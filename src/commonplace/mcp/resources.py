"""What the server offers besides tools: notes and index pages as resources, and prompts that a person calls by name.

A resource is `book:///memories/global/KEY.md`, read through the caller's view, fenced. The prompts are `brief`,
`remember` and `review`. `server.py` calls all of these.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book import Book
from commonplace.model.errors import InvalidField, InvalidPath, NotFound
from commonplace.text.fence import fence, visible
from commonplace.text.naming import unquote
from commonplace.verbs.recall import resource_address
from commonplace.verbs.show import RESOURCE_PREFIX, has_page
from commonplace.verbs.toolset import doctrine, rubric

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
