"""The JSON that each verb answers, as schemas: from the values of the model, and the few shapes that verbs make.

A verb without a shape here cannot be documented, and `tools/make_docs.py` says so.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from commonplace.cli import run
from commonplace.model.file_results import FileList, FileText, LineMatches, ShellResult
from commonplace.model.host_results import ConnectResult, ConnectResults, HostStatus
from commonplace.model.journal_results import CompactResult, JournalRun, Lesson, RecentEntries, RecordRunResult
from commonplace.model.memory import Entry, Link, Memory, Meta
from commonplace.model.projects import ProjectChange, ProjectInfo, ProjectItem
from commonplace.model.results import (
    BookStatus,
    BriefResult,
    CaptureResult,
    Finding,
    ForgottenMemory,
    Hit,
    ImportResult,
    MemoryItem,
    Proposal,
    RecallResult,
    Revision,
    ScaffoldResult,
    ScanResult,
    StoreResult,
    VerifyResult,
)
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.settings import Setting
from commonplace.model.tree_results import EntityMerge, IngestResult, TopicInfo, TreeCost, TreeSourceInfo

Schema = dict[str, typing.Any]
_SCALARS: Mapping[object, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@dataclass(frozen=True)
class Shape:
    """An object that a verb makes itself: its fields by name, with the type of each."""

    required: Mapping[str, object]
    optional: Mapping[str, object] = field(default_factory=dict)


def _hints(cls: type, *names: str) -> dict[str, object]:
    hints = typing.get_type_hints(cls)
    return {name: hints[name] for name in names or hints}


_ENTRY = Shape(_hints(Entry, "id", "time", "author", "trust", "text", "session", "occurred", "thread", "seq", "tags"))
_MEMORY = Shape(
    {
        **_hints(Meta, "id"),
        **_hints(Memory, "key"),
        "scope": ScopeKind,
        "scope_id": _hints(Scope, "id")["id"],
        **_hints(Memory, "path", "revision", "also_in"),
        **_hints(Meta, "type", "status", "summary", "tags", "pinned", "created", "updated"),
        "links": tuple[Link, ...],
        "entries": (_ENTRY,),
    }
)
_HITS = tuple[Hit, ...]
_RECALL = _hints(RecallResult)
_INGEST_SUMS = ("added", "known", "replaced", "rejected", "redacted", "skipped_count", "skipped")
_INGESTS = Shape({"source": list[str], **_hints(IngestResult, *_INGEST_SUMS), "sources": tuple[IngestResult, ...]})
_TOUR = ("stored", "found", "acknowledged", "lost", "files", "differences")

COMMANDS: Mapping[str, Sequence[object]] = {
    "store": (StoreResult,),
    "recall": (
        Shape(
            {name: _RECALL[name] for name in ("hits", "total", "hidden")},
            {name: _RECALL[name] for name in ("explained", "notice", "reason")},
        ),
    ),
    "show": (_MEMORY, Shape({"memories": tuple[MemoryItem, ...]})),
    "list": (Shape({"memories": tuple[MemoryItem, ...]}),),
    "edit": (StoreResult,),
    "forget": (StoreResult, Shape({"scope": str, "forgotten": int})),
    "review": (Shape({"waiting": tuple[Proposal, ...]}), StoreResult, CaptureResult),
    "brief": (BriefResult,),
    "restore": (
        StoreResult,
        Shape({"trash": tuple[ForgottenMemory, ...]}),
        Shape({"restored": tuple[StoreResult, ...], "not_restored": tuple[ForgottenMemory, ...]}),
    ),
    "history": (Shape({"revisions": tuple[Revision, ...]}), Shape({"hits": _HITS})),
    "undo": (StoreResult,),
    "pin": (StoreResult,),
    "unpin": (StoreResult,),
    "timeline": (Shape({"hits": _HITS}),),
    "related": (Shape({"memories": tuple[MemoryItem, ...]}),),
    "journal list": (RecentEntries,),
    "journal show": (JournalRun,),
    "journal record": (RecordRunResult,),
    "journal lessons": (Shape({"lessons": tuple[Lesson, ...]}),),
    "journal compact": (CompactResult,),
    "journal schema": (
        Shape(
            {
                "$schema": str,
                "title": str,
                "description": str,
                "type": str,
                "properties": dict[str, object],
                "required": list[str],
                "additionalProperties": bool,
            }
        ),
    ),
    "files list": (FileList,),
    "files read": (FileText,),
    "files search": (LineMatches,),
    "files sh": (ShellResult,),
    "consolidate": (StoreResult,),
    "link": (StoreResult,),
    "clear": (Shape({"scope": str, "forgotten": int}),),
    "files data": (
        Shape({"files": tuple[str, ...]}),
        Shape({"action": str, "path": str}),
        Shape({"action": str, "path": str, "encoding": str, "content": str}),
    ),
    "import": (ImportResult,),
    "mcp": (Shape({"tools": (Shape({"name": str, "description": str}),)}),),
    "ingest": (IngestResult, _INGESTS),
    "tree cost": (Shape(_hints(TreeCost, "calls", "tokens_in", "tokens_out", "usd")),),
    "tree sources": (Shape({"sources": tuple[TreeSourceInfo, ...]}),),
    "tree topics": (Shape({"topics": tuple[TopicInfo, ...]}),),
    "tree entity list": (Shape({"entities": tuple[EntityMerge, ...]}),),
    "init": (ScaffoldResult,),
    "project show": (ProjectInfo,),
    "project list": (Shape({"projects": tuple[ProjectItem, ...]}),),
    **dict.fromkeys((f"project {action}" for action in ("adopt", "merge", "split", "undo")), (ProjectChange,)),
    "connect": (ConnectResult, ConnectResults, Shape({"hosts": tuple[HostStatus, ...]})),
    "disconnect": (ConnectResult, ConnectResults),
    "hosts": (Shape({"hosts": tuple[HostStatus, ...]}),),
    "status": (Shape({**_hints(BookStatus), "hosts": tuple[HostStatus, ...]}),),
    **dict.fromkeys(
        ("config list", "config get", "config set", "config unset"), (Shape({"settings": tuple[Setting, ...]}),)
    ),
    "config trust": (Shape({"trusted": bool}), Shape({"memories": int})),
    "doctor verify": (VerifyResult,),
    "doctor": (Shape({"ok": bool, "findings": tuple[Finding, ...]}),),
    "doctor scan": (ScanResult,),
    "capture": (CaptureResult,),
    "doctor reindex": (Shape({"files": int}, {"embedded": int, "notice": str}), Shape({"embedded": int})),
    "tour": (Shape({"root": str, **dict.fromkeys(_TOUR, int)}),),
    "completion": (Shape({"shell": str, "script": str}),),
}
ERROR = Shape({"error": Shape({"code": str, "message": str, "hint": str})})


class NoShape(Exception):
    """A verb answers JSON of which nothing is known."""


def schemas(names: Sequence[str]) -> Schema:
    """One document for all: `commands` by name, `error`, and the values they are made of in `$defs`."""
    defs: Schema = {}
    answers = {name: _any_of([_schema(shape, defs) for shape in _shapes_of(name)]) for name in names}
    error = _schema(ERROR, defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What `commonplace COMMAND --json` prints on standard output, and `error` on standard error",
        "commands": answers,
        "error": error,
        "$defs": dict(sorted(defs.items())),
    }


def _shapes_of(name: str) -> Sequence[object]:
    """The shapes of a command; of one that prints its verb's result as it is, that result."""
    if name in COMMANDS:
        return COMMANDS[name]
    verb = run.load_command(name).verb
    if verb is None:
        raise NoShape(f"tools/shapes.py has no shape for: {name}")
    result = typing.get_type_hints(verb.run)["return"]
    return (result,) if hasattr(result, "_fields") else (Shape({"result": result}),)


def _any_of(found: list[Schema]) -> Schema:
    return found[0] if len(found) == 1 else {"anyOf": found}


def _schema(hint: object, defs: Schema) -> Schema:
    """The schema of a type; a value of the model becomes a definition of its own."""
    if isinstance(hint, Shape):
        return _object({**hint.required, **hint.optional}, list(hint.required), defs)
    if isinstance(hint, tuple):
        return {"type": "array", "items": _schema(hint[0], defs)}
    if hint is object:
        return {}  # any JSON
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"type": "string", "enum": [item.value for item in hint]}
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        if hint.__name__ not in defs:
            defs[hint.__name__] = _object(_hints(hint, *hint._fields), hint._fields, defs)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return _generic(hint, defs)


def _generic(hint: object, defs: Schema) -> Schema:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if all(item in _SCALARS for item in inner):
            return {"type": [_SCALARS[item] for item in inner]}
        return _any_of([_schema(item, defs) for item in inner])
    if origin in (tuple, list):
        return {"type": "array", "items": _schema(inner[0], defs)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], defs)}
    raise NoShape(f"no schema for {hint!r}")


def _object(members: Mapping[str, object], required: Sequence[str], defs: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {name: _schema(hint, defs) for name, hint in members.items()},
        "required": list(required),
        "additionalProperties": False,
    }


def rendered(schema: Schema) -> str:
    """A schema as a person reads it in one look."""
    if not schema:
        return "any"
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "anyOf" in schema:
        return "\nor ".join(rendered(part) for part in schema["anyOf"])
    if "enum" in schema:
        return "|".join(f'"{value}"' for value in schema["enum"])
    kind = schema["type"]
    if kind == "array":
        return f"[{rendered(schema['items'])}, ...]"
    if kind == "object" and "properties" in schema:
        return f"{{{', '.join(_member(name, schema) for name in schema['properties'])}}}"
    if kind == "object":
        return f"{{NAME: {rendered(schema['additionalProperties'])}, ...}}"
    return kind if isinstance(kind, str) else " or ".join(kind)


def _member(name: str, schema: Schema) -> str:
    mark = "" if name in schema["required"] else "?"
    what = rendered(schema["properties"][name]).replace("\nor ", " or ")
    return f'"{name}"{mark}: {what}'
