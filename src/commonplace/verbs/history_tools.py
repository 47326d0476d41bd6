"""The tools `memory_history` and `memory_undo`: how a memory came to be, what was stored lately, and the way back.

Each stands for two verbs, as models find one tool more easily than two; the verbs stay apart, so that a command loads
only its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.model.results import Revision
from commonplace.text.fence import fence
from commonplace.verbs.context import BookContext
from commonplace.verbs.edit import HistoryRequest, UndoRequest, history, undo
from commonplace.verbs.forget import RestoreRequest, restore
from commonplace.verbs.recall import TimelineRequest, render_timeline, timeline
from commonplace.verbs.tool import (
    ROWS,
    Answer,
    Arguments,
    Tool,
    change_schema,
    field_schema,
    render_change,
    result_schema,
    rows_schema,
    shown_fields,
    text_schema,
    tool_fields,
)
from commonplace.verbs.verb import KeyRequest

_LATEST = 20  # entries of the timeline
_REVISION_FIELDS = ("revision", "time", "action", "author")
_FIELDS = {field.name: field for request in (HistoryRequest, TimelineRequest) for field in tool_fields(request)}


def _history_tool(context: BookContext, given: Arguments) -> Answer:
    if "key" in given:
        request = HistoryRequest(given["key"], given.get("scope"))
        return _render_history(history(context, request), request)
    asked = {name: given[name] for name in TimelineRequest._fields if name in given}
    return render_timeline(timeline(context, TimelineRequest(**{"limit": _LATEST, **asked})))


def _render_history(revisions: Sequence[Revision], request: HistoryRequest) -> Answer:
    data = [shown_fields(item, *_REVISION_FIELDS) for item in revisions]
    lines = [
        f"{item.time} {item.action} by {item.author or 'unknown'} ({item.revision[:12] or 'no revision'})"
        for item in revisions
    ]
    return Answer({"revisions": data}, fence("\n".join(lines), {"source": f"history of {request.key}"}))


def _undo_tool(context: BookContext, given: Arguments) -> Answer:
    key, scope = given["key"], given.get("scope")
    if given.get("action") == "restore":
        return render_change(restore(context, RestoreRequest(key, scope)))
    return render_change(undo(context, UndoRequest(key, scope)))


TOOLS = (
    Tool(
        "memory_history", "History", "history", "read",
        "With key: a memory's revisions. Without: what all sessions stored lately.",
        {
            **{name: field_schema(field) for name, field in _FIELDS.items() if name != "limit"},
            "limit": field_schema(_FIELDS["limit"]._replace(default=_LATEST)),
        },
        (),
        result_schema(revisions=rows_schema("revision", "action"), hits=ROWS),
        history.access.value, _history_tool,
    ),
    Tool(
        "memory_undo", "Undo", "undo", "write",
        "Bring back the text before a memory's last change; action=restore: a forgotten memory.",
        {
            **{field.name: field_schema(field) for field in tool_fields(KeyRequest)},
            "action": {**text_schema("what to do"), "enum": ["undo", "restore"]},
        },
        ("key",),
        change_schema(), undo.access.value, _undo_tool, read_only=False, idempotent=False,
    ),
)  # fmt: skip
