"""Tools that write: store, forget, consolidate, link. Each says the protocol before the first write breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.tools import shown
from commonplace.tools.spec import (
    CONTENT,
    SCOPE,
    WRITERS,
    Answer,
    Arguments,
    Tool,
    answer,
    choice,
    request_properties,
    rows,
    text,
    texts,
)
from commonplace.verbs.storing import StoreRequest

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.model.results import StoreResult

_STORED = ("key", "scope", "action", "revision")
_CONTENT = {**text(limit=CONTENT), "minLength": 1}
_CHANGED = answer(*_STORED, **dict.fromkeys(_STORED, "string"))


def _said(stored: StoreResult) -> Answer:
    return Answer(shown.stored_data(stored), shown.stored_text(stored))


def _store(book: Book, given: Arguments) -> Answer:
    return _said(book.store(**given))


def _forget(book: Book, given: Arguments) -> Answer:
    return _said(book.forget(given["key"], given.get("scope"), if_revision=given.get("if_revision")))


def _consolidate(book: Book, given: Arguments) -> Answer:
    return _said(book.consolidate(**given))


def _link(book: Book, given: Arguments) -> Answer:
    return _said(book.link(**given))


TOOLS = (
    Tool(
        "memory_store", "Store", "store", "write",
        "Keep a fact for later sessions and other agents: a decision with its reason, a correction, a preference, a "
        "fact that was hard to find. Never secrets, what the repository already says, or the state of a single task.\n"
        "scope: project (default) holds in this repository, 'integration tests need --slow'; global holds everywhere "
        "for this user, 'never push to main without asking'; agent only you need; session this conversation only.\n"
        "type: user who they are; feedback how they want the work done; project facts and decisions (default); "
        "reference where things are.\n"
        "Protocol: read, dedupe, write. First memory_recall the topic. If a memory is about it, give its key: append "
        "adds, replace corrects. If `similar` memories are named, settle it with decision. Index pages are "
        "kept for you.",
        request_properties(StoreRequest),
        ("content",),
        answer(
            *_STORED, **dict.fromkeys(_STORED, "string"),
            similar=rows(key="string", scope="string", similarity="number", relation="string", summary="string"),
            note="string",
        ),
        WRITERS, _store, read_only=False,
    ),
    Tool(
        "memory_forget", "Forget", "forget", "write",
        "Move a memory to the trash (for 30 days): it is wrong and nothing replaces it, or the user asks. To correct "
        "one, memory_store with mode=replace; to replace it by another, decision=supersede:KEY.",
        {"key": text(), "scope": SCOPE, "if_revision": text()},
        ("key",), _CHANGED, WRITERS, _forget, read_only=False, destructive=True,
    ),
    Tool(
        "memory_consolidate", "Consolidate", "consolidate", "write",
        "Make one memory of several of one scope that belong together; the old ones are superseded and linked, not "
        "lost. Protocol: memory_show each first; keep in content every fact that still holds.",
        {"keys": texts(least=2), "content": _CONTENT, "key": text("of the new one"), "scope": SCOPE},
        ("keys", "content"), answer(*_STORED, **dict.fromkeys(_STORED, "string"), note="string"),
        WRITERS, _consolidate, read_only=False, idempotent=False,
    ),
    Tool(
        "memory_link", "Link", "link", "write",
        "Propose a link from one memory to another, for review. Say contradicts when two cannot both hold.",
        {"key": text(), "rel": choice("relates_to", "supersedes", "contradicts"), "to": text("KEY or SCOPE/KEY"),
         "scope": SCOPE},
        ("key", "rel", "to"), _CHANGED, WRITERS, _link, read_only=False,
    ),
)  # fmt: skip
