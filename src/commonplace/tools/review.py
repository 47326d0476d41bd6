"""`memory_review`: the queue of what waits for a verdict, for whoever may give one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.model.errors import InvalidField
from commonplace.text.fence import fence, visible
from commonplace.tools import shown
from commonplace.tools.spec import (
    CONTENT,
    REVIEWERS,
    SCOPE,
    Answer,
    Arguments,
    Tool,
    answer,
    choice,
    rows,
    text,
)

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.model.results import Proposal


def _review(book: Book, given: Arguments) -> Answer:
    action = given.get("action", "list")
    if action == "list":
        waiting = book.review()
        lines = [_line(item) for item in waiting]
        said = f"{len(waiting)} wait for a verdict. {shown.REFERENCE}"
        return Answer(
            {"action": "listed", "waiting": [_data(item) for item in waiting]},
            f"{said}\n{fence(chr(10).join(lines), {'source': 'review'})}" if waiting else "Nothing waits.",
        )
    if "key" not in given:
        raise InvalidField(f"To {action} takes a key.", hint="Give the key, and the scope, that action=list named.")
    key, scope, rel, to = given["key"], given.get("scope"), given.get("rel"), given.get("to")
    if action == "reject":
        stored = book.reject(key, scope, rel=rel, to=to)
    else:
        stored = book.accept(key, scope, content=given.get("content"), rel=rel, to=to)
    return Answer(shown.stored_data(stored), shown.stored_text(stored))


def _data(item: Proposal) -> dict[str, Any]:
    return shown.with_known(
        kind=item.kind, key=visible(item.key), scope=item.scope, status=item.status, summary=visible(item.summary),
        updated=item.updated, rel=item.rel, to=shown.shown(item.to),
    )  # fmt: skip


def _line(item: Proposal) -> str:
    link = f" {item.rel} {item.to}" if item.rel else ""
    return f"{item.status} {item.kind}: {item.scope}/{item.key}{link}: {' '.join(item.summary.split())}"


TOOLS = (
    Tool(
        "memory_review", "Review", "review", "review",
        "Judge what agents proposed: captured facts, lessons, links. List first, memory_show what is unclear, then "
        "accept (with `content` to edit it) or reject. For a link give its rel and to. Accept only what is true, "
        "useful later and free of secrets.",
        {
            "action": choice("list", "accept", "reject"), "key": text(), "scope": SCOPE,
            "content": {**text(limit=CONTENT), "minLength": 1}, "rel": text(), "to": text(),
        },
        (),
        answer(
            "action",
            action="string", key="string", scope="string", revision="string",
            waiting=rows(
                kind="string", key="string", scope="string", status="string", summary="string", updated="string",
                rel="string", to="string",
            ),
        ),
        REVIEWERS, _review, read_only=False, destructive=True, idempotent=False,
    ),
)  # fmt: skip
