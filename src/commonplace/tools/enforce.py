"""The write protocol around a call of a tool: read, dedupe, write, index. The same for every surface that has tools.

`guide` lets the write happen and adds a note when a step was missed, at the end of the text and as a field of the data,
so that neither a host that cuts texts nor one that shows data only loses it. `strict` refuses a write that would make a
near-duplicate, or that follows no read, with what is there and the decisions with which the same call succeeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from commonplace.guard import protocol
from commonplace.guard.classification import classify
from commonplace.guard.protocol_notes import append_note, build_refusal, write_note
from commonplace.guard.protocol_state import CallOutcome, DuplicateCandidate, MemoryRef
from commonplace.guard.vocabulary import OWN_TOOLS, CallKind
from commonplace.model.errors import DecisionNeeded
from commonplace.model.times import now
from commonplace.text.fence import fence, unescape_name
from commonplace.tools.check import checked
from commonplace.tools.spec import Answer, Tool

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.model.results import SimilarMemory

_CALL = "this"  # calls of one book are made one after the other
_MOST = 60_000  # characters of a result with its note


def enforced(
    tool: Tool, book: Book, arguments: Mapping[str, Any], *, mode: str, owner: int | str, has: Collection[str]
) -> Answer:
    """Call a tool in this mode. `owner` is the process or the token, `has` the tools that this caller could call."""
    given = checked(tool.properties, tool.required, arguments)
    operation = classify(tool.name, given, OWN_TOOLS)
    if mode == "off" or operation.kind is CallKind.OTHER:
        return tool.run(book, given)
    state = protocol.begin_call(book.protocol_state(owner), _CALL, operation, now())
    writes = operation.kind is CallKind.WRITE
    relevant = (
        protocol.find_relevant(protocol.read_queries(state), str(given.get("content", ""))) if writes else frozenset()
    )
    similar: tuple[SimilarMemory, ...] = ()
    if writes and "keys" not in given:
        similar = book.similar(str(given["content"]))
    candidates = tuple(DuplicateCandidate(item.key, item.scope, item.similarity, item.relation) for item in similar)
    if mode == "strict":
        refused = build_refusal(protocol.check_write(state, _CALL, candidates, relevant))
        if refused is not None:
            error = DecisionNeeded(refused.message)
            if similar:
                error.add_note(_listed(similar))
            raise error
    answer = tool.run(book, given)
    returned, complete = _returned(answer.data)
    written = MemoryRef(answer.data["scope"], unescape_name(answer.data["key"])) if writes else None
    outcome = CallOutcome(
        ok=True, returned=returned, complete=complete, written=written, candidates=candidates, relevant=relevant
    )
    state, findings = protocol.finish_call(state, _CALL, outcome, now(), operation)
    book.keep_protocol_state(owner, state)
    said = write_note(findings, has)
    return answer if said is None else Answer({**answer.data, "note": said}, append_note(answer.text, said, _MOST))


def _listed(similar: tuple[SimilarMemory, ...]) -> str:
    """What is there already, for a surface to show below the error."""
    lines = [f"{item.scope}/{item.key}: {' '.join(item.summary.split())}" for item in similar]
    return fence("\n".join(lines), {"source": "similar"})


def _returned(data: Mapping[str, Any]) -> tuple[tuple[MemoryRef, ...], bool]:
    """Which memories a read gave, and whether that was all there is."""
    rows = data.get("hits", data.get("memories"))
    if rows is not None:
        return tuple(_place(row) for row in rows), len(rows) >= data.get("total", len(rows))
    if "results" in data:
        return tuple(_named(row["id"]) for row in data["results"]), False
    if "id" in data:
        return (_named(data["id"]),), True
    return ((_place(data),) if {"scope", "key"} <= data.keys() else ()), True


def _place(row: Mapping[str, Any]) -> MemoryRef:
    return MemoryRef(row["scope"], unescape_name(row["key"]))


def _named(ref: str) -> MemoryRef:
    scope, _, key = unescape_name(ref).partition("/")
    return MemoryRef(scope, key)
