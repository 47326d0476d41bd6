"""Requests are values: what a verb is asked, declared once for every surface.

A request is a named tuple. Each field has a type, a default, and an `Arg` that says how it appears as an option of the
command line and as an argument of a tool:

    class UndoRequest(NamedTuple):
        key: Annotated[str, Arg("the memory's key", "KEY", is_positional=True)]
        scope: Annotated[str | None, SCOPE] = None

The parser of the command line (`cli.parser.add_request`), the schema of the tool (`tools.spec.request_properties`) and
the check of what a library's caller sent (`check_request`) all come from that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, cast, get_args, get_type_hints

from commonplace.model.errors import InvalidField


class Arg(NamedTuple):
    """How a field of a request appears on the surfaces."""

    help: str  # on the command line
    metavar: str = ""
    is_positional: bool = False
    choices: tuple[str, ...] = ()  # what it may be, on every surface
    tool_choices: tuple[str, ...] = ()  # what a tool may send, where the command line takes more
    tool_help: str = ""
    in_tool: bool = True
    min_length: int = 0  # of a text that a tool sends
    max_length: int = 0


class RequestField(NamedTuple):
    """One field of a request."""

    name: str
    kind: type  # str, int, bool or list (of texts)
    default: object
    is_required: bool
    arg: Arg


@cache
def read_fields(request: type) -> tuple[RequestField, ...]:
    """Return the fields of a request type, in order."""
    defaults: Mapping[str, object] = vars(request)["_field_defaults"]
    found = []
    for name, hint in get_type_hints(request, include_extras=True).items():
        annotated, arg = get_args(hint)[:2]
        found.append(RequestField(name, _kind_of(annotated), defaults.get(name), name not in defaults, arg))
    return tuple(found)


def _kind_of(annotated: Any) -> type:
    """Return the plain type of a field: what is left of it without `None`, and `list` for any sequence."""
    if annotated in (str, int, bool):
        return cast("type", annotated)
    if isinstance(None, get_args(annotated)[-1:] or ()):
        return _kind_of(get_args(annotated)[0])
    return list


def check_request(request: Any) -> None:
    """Refuse a field of another type than the request declares: a library's caller may send anything."""
    kind: Any = type(request)
    for field in read_fields(kind):
        value = getattr(request, field.name)
        if value is None and not field.is_required and field.default is None:
            continue
        if not _fits(field.kind, value):
            raise InvalidField(f"{field.name} is {_ARTICLES[field.kind]}, not {type(value).__name__}.")
        if field.arg.choices and value not in field.arg.choices:
            allowed = ", ".join(field.arg.choices)
            raise InvalidField(f"{field.name} cannot be {str(value)[:40]!a}.", hint=f"Use one of: {allowed}.")


def _fits(kind: type, value: object) -> bool:
    if kind is list:
        return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


_ARTICLES: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false", list: "a list of texts"}
SCOPE = Arg(
    "session, agent, project, global; or another's by its id, as project:ID",
    "SCOPE",
    tool_choices=("session", "agent", "project", "global"),
)
TYPE = Arg("user, feedback, project or reference", "TYPE", tool_choices=("user", "feedback", "project", "reference"))
IF_REVISION = Arg(
    "only if the memory is still at this revision (12 digits or more of it)", "REV", tool_help="compare-and-swap"
)
