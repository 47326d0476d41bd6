"""The verbs `show`, `list` and `page`: one memory whole, memories by key, and one Markdown file by its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from commonplace.memories import lookup
from commonplace.memories.rows import split_path
from commonplace.model.errors import NotFound
from commonplace.model.memory import Memory, Status
from commonplace.model.results import MemoryItem
from commonplace.model.scope import Scope
from commonplace.text.fence import visible
from commonplace.text.notes import find_wikilinks, parse
from commonplace.vault.paths import note_path, resolve
from commonplace.vault.port import UNUSABLE
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import (
    REFERENCE,
    TEXTS,
    Answer,
    Arguments,
    Tool,
    field_schema,
    items_text,
    make_tool,
    memory_text,
    result_schema,
    rows_schema,
    shown_fields,
    text_schema,
)
from commonplace.verbs.verb import EVERYTHING, SCOPE, TYPE, Access, Arg, KeyRequest, read_fields, verb


class PageRequest(NamedTuple):
    """What `page` is asked."""

    path: Annotated[str, Arg()]


@verb(
    Access.READ,
    command="show",
    examples=(
        "commonplace show testing-framework",
        "commonplace show people/alice --scope global --json",
        "commonplace show deploy --related",
    ),
)
def show(context: BookContext, request: KeyRequest) -> Memory:
    """Show one memory with all its entries.

    From the nearest of your scopes that has the key: session, agent, project, global. "also in" names the others; read
    one of them with --scope. --related lists the memories that it links to instead.
    """
    key, fault = request.key, None
    for scope in scopes_to_search(context, request.scope):
        try:
            memory = _load(context, scope, key)
        except UNUSABLE as error:
            fault = fault or error  # another scope may have it
            continue
        if memory is None:
            continue
        context.record_uses([memory.meta.id])
        if memory.meta.status is Status.EXPIRED and context.revive([split_path(resolve(memory.path))]):
            memory = _load(context, scope, key) or memory
        return memory if request.scope is not None else memory._replace(also_in=_also_in(context, scope, key))
    raise fault or NotFound(f"There is no memory {key!a} in your scopes.")


def _load(context: BookContext, scope: Scope, key: str) -> Memory | None:
    return lookup.load(context.memories, context.view_for(scope), scope, context.folder(scope), key)


def scopes_to_search(context: BookContext, scope: str | None) -> Sequence[Scope]:
    """Return the scopes in which a key is looked for, nearest first; none if memory is switched off."""
    if not context.settings.enabled:
        return []
    return context.caller.scopes() if scope is None else [context.caller.scope(scope)]


def _also_in(context: BookContext, nearest: Scope, key: str) -> tuple[str, ...]:
    """Return the caller's other scopes that have a key. A file is read only where the index has the key."""
    with context.reading() as index:
        others = {
            scope: folder
            for scope, folder in context.own_folders().items()
            if scope != nearest and index.get(*split_path(note_path(folder, key))) is not None
        }
    return tuple(scope.kind.value for scope in lookup.find_scopes(context.memories, context.view(), others, key))


def find_linked(memory: Memory, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Return those of some memories that a memory links to."""
    targets = {link.to for link in memory.meta.links if link.status != "rejected"}
    targets |= {target for entry in memory.entries for target in find_wikilinks(entry.text)}
    found = [item for item in items if item.key in targets or f"{item.scope}/{item.key}" in targets]
    return [item for item in found if item.path != memory.path]


@verb(Access.READ, no_tool="the resources book:///")
def page(context: BookContext, request: PageRequest) -> str:
    """Return a Markdown file of the book by its path. A memory that is read so counts as used."""
    place = resolve(request.path)
    if not context.settings.enabled or not place.name.endswith(".md"):
        raise NotFound(f"There is no page {request.path[:200]!a}.")
    memories = context.memories
    document = memories.vault.read(memories.space, context.view(), place)
    with context.reading() as index:
        row = index.get(*split_path(place)) if len(place.parts) > 1 else None
    if row is not None:
        context.record_uses([row.id])
        if parse(document.data).meta.status is Status.EXPIRED and context.revive([split_path(place)]):
            document = memories.vault.read(memories.space, context.view(), place)
    data = document.data if context.is_person else memories.provenance.limit_file_trust(place, document.data)
    return data.decode("utf-8", "replace")


def _render_memory(memory: Memory, _: KeyRequest) -> Answer:
    body, is_cut = memory_text(memory)
    meta = memory.meta
    links = [f"{visible(link.rel)} {visible(link.to)} ({visible(link.status)})" for link in meta.links]
    data: dict[str, object] = {
        "key": visible(memory.key), "scope": memory.scope.kind.value,
        "type": meta.type.value, "status": meta.status.value, "text": body,
        "updated": meta.updated, "revision": memory.revision, "cut": is_cut,
        "links": links,
    }  # fmt: skip
    labels = f"{data['type']}, {data['status']}, revision {memory.revision[:12]}"
    lines = [f"{data['scope']}/{data['key']} ({labels}). {REFERENCE}", body, *links]
    if memory.also_in:
        lines.append(f"{data['key']} is also in: {', '.join(memory.also_in)}. Name that scope to read it.")
    if is_cut:
        lines.append(f"Cut: older entries are in {visible(memory.path)}.")
    return Answer(data, "\n".join(lines))


_UNLISTED = (Status.EXPIRED.value, Status.SUPERSEDED.value)
_NO_LIMIT = 1_000_000_000


class ListRequest(NamedTuple):
    """What `list` is asked."""

    scope: Annotated[str | None, SCOPE] = None
    type: Annotated[str | None, TYPE] = None
    tag: Annotated[str | None, Arg("only with this tag", in_tool=False)] = None
    hidden: Annotated[bool, Arg("also superseded and expired memories", tool_help="not just active ones")] = False
    outside: Annotated[bool, Arg("only memories from outside that you have not accepted yet", in_tool=False)] = False
    everything: Annotated[bool, EVERYTHING] = False


@verb(
    Access.READ,
    command="list",
    examples=(
        "commonplace list",
        "commonplace list --scope global --json",
        "commonplace list --all --hidden",
        "commonplace list --all --outside",
    ),
)
def list_(context: BookContext, request: ListRequest) -> list[MemoryItem]:
    """List memories by scope and key.

    Superseded and expired memories are shown only with --hidden. --outside shows those that came from outside, by
    import, clone or sync, until you accept them (`commonplace review --accept KEY`).
    """
    context.check_all(request.everything)
    is_on = context.settings.enabled
    folders = context.folders_to_search(request.scope, everything=request.everything) if is_on else []
    unlisted = () if request.hidden else (*_UNLISTED, *context.unseen_statuses)
    tag = request.tag.removeprefix("#") if request.tag is not None else None
    items = [
        item
        for item in context.list_memories(folders)
        if item.status not in unlisted and request.type in (None, item.type) and (tag is None or tag in item.tags)
    ]
    return find_unaccepted(context, items) if request.outside else items


def find_unaccepted(context: BookContext, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Return those of some memories whose every entry came from outside and was never accepted."""
    places = [split_path(resolve(item.path)) for item in items]
    with context.reading() as index:
        folders = {folder for folder, _ in places}
        briefed = {(folder, name) for folder in folders for name in index.brief_candidates(folder, _NO_LIMIT)}
        return [
            item
            for item, place in zip(items, places, strict=True)
            if place not in briefed and not ((row := index.brief_row(*place, 1)) and row.entries)
        ]


def _run_tool(context: BookContext, given: Arguments) -> Answer:
    """List one page: the items after the last one that the model got."""
    items = list_(context, ListRequest(given.get("scope"), given.get("type"), hidden=given.get("hidden", False)))
    refs = [f"{item.scope}/{item.key}" for item in items]
    after = given.get("after")
    start = refs.index(after) + 1 if after in refs else 0
    page = items[start : start + given.get("limit", 100)]
    names = ("key", "scope", "type", "status", "summary", "updated")
    rows = [shown_fields(item._replace(summary=item.shown_summary), *names) for item in page]
    data = {"memories": rows, "total": len(items)}
    if not page:
        return Answer(data, "No memories.")
    more = len(items) - start - len(page)
    lines = [f"{len(page)} of {len(items)} memories. {REFERENCE}", items_text(page)]
    lines += [f"{more} more: call again with after={visible(refs[start + len(page) - 1])}"] if more else []
    return Answer(data, "\n".join(lines))


TOOLS = (
    make_tool(
        show, "memory_show", "Show", "read",
        "Read one memory whole: every entry, its links, the revision for if_revision. Use it before you correct one, "
        "or when a hit was only a passage. Without scope: the nearest that has it.",
        result_schema(
            "key", "scope", "text", "revision",
            key="string", scope="string", type="string", status="string", text="string", updated="string",
            revision="string", links=TEXTS, cut="boolean",
        ),
        _render_memory,
    ),
    Tool(
        "memory_list", "List", "list", "read",
        "List memories by key with one-line summaries: to see what there is, or what to consolidate.",
        {
            **{field.name: field_schema(field) for field in read_fields(ListRequest) if field.arg.in_tool},
            "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 100},
            "after": text_schema("last SCOPE/KEY you got"),
        },
        (),
        result_schema(
            "memories", "total",
            memories=rows_schema(
                key="string", scope="string", type="string", status="string", summary="string", updated="string"
            ),
            total="integer",
        ),
        list_.access.value, _run_tool,
    ),
)  # fmt: skip
