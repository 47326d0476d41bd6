"""The verbs `data_put`, `data_get`, `data_list` and `data_remove`: plain files beside the memories."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from commonplace.guard.secrets import check_data, check_secrets
from commonplace.memories import lookup
from commonplace.model.errors import NotFound
from commonplace.verbs.context import BookContext
from commonplace.verbs.verb import Access, Arg, NoRequest, verb

_NO_TOOL = "files: for programs and people"


class PutRequest(NamedTuple):
    """What `data_put` is asked."""

    name: Annotated[str, Arg()]
    content: Annotated[bytes, Arg()]


class NameRequest(NamedTuple):
    """What `data_get` and `data_remove` are asked."""

    name: Annotated[str, Arg()]


@verb(Access.WRITE, audit=lambda _, request: {"keys": (request.name,)}, no_tool=_NO_TOOL)
def data_put(context: BookContext, request: PutRequest) -> str:
    """Write a data file and return its path. Its content and its name are checked for secrets."""
    check_secrets(request.name)
    check_data(request.content)
    return str(lookup.put_data(context.memories, context.view(), request.name, request.content))


@verb(Access.READ, no_tool=_NO_TOOL)
def data_get(context: BookContext, request: NameRequest) -> bytes:
    """Return the bytes of a data file. Raise NotFound."""
    if not context.settings.enabled:
        raise NotFound("There is no data file: memory is switched off here.")
    return lookup.get_data(context.memories, context.view(), request.name)


@verb(Access.READ, no_tool=_NO_TOOL)
def data_list(context: BookContext, _: NoRequest) -> list[str]:
    """Return the names of all data files."""
    return lookup.list_data(context.memories, context.view()) if context.settings.enabled else []


@verb(Access.WRITE, audit=lambda _, request: {"keys": (request.name,)}, no_tool=_NO_TOOL)
def data_remove(context: BookContext, request: NameRequest) -> None:
    """Remove a data file. Raise NotFound."""
    lookup.remove_data(context.memories, context.view(), request.name)
