"""Prompts that a person can call by name in their host: `brief`, `remember`, `review`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace.book import Book
from commonplace.model.errors import InvalidField, NotFound
from commonplace.tools.doctrine import doctrine, rubric

_BRIEF = {"name": "brief", "title": "Brief", "description": "What this memory knows: pinned and newest, by scope."}
_REMEMBER = {
    "name": "remember",
    "title": "Remember",
    "description": "Save what was just learned, where it belongs and once.",
    "arguments": [{"name": "what", "description": "What to remember; all that was learned, if absent"}],
}
_REVIEW = {"name": "review", "title": "Review", "description": "Judge what agents proposed."}


def prompts_for(names: frozenset[str]) -> list[dict[str, Any]]:
    """Return the prompts that make sense with these tools."""
    found: list[dict[str, Any]] = [_BRIEF] if "memory_recall" in names else []
    found += [_REMEMBER] if "memory_store" in names else []
    return found + ([_REVIEW] if names & {"memory_review", "memory_list"} else [])


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
        text = _remember(arguments.get("what", ""))
    else:
        text = _review(may_review="memory_review" in names)
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _remember(what: str) -> str:
    request = f"Remember this: {what.strip()}" if what.strip() else "Save what this conversation taught that lasts."
    return "\n".join(
        [
            request,
            "First memory_recall the topic. If a memory is about it, correct or extend that one; else memory_store it.",
            doctrine(writes=True),
            rubric(),
        ]
    )


def _review(*, may_review: bool) -> str:
    if may_review:
        return (
            "Review what waits: memory_review with action=list, then accept what is true, useful later and free of "
            "secrets, edit what is nearly so, and reject the rest. Say what you did and why."
        )
    return (
        "Go through the memories: memory_list, then memory_show what looks old, doubtful or alike. Consolidate what "
        "says the same, correct what is wrong, forget what is obsolete. Ask before you forget what the user said."
    )
