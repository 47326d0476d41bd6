"""The verbs `show`, `list` and `page`: one memory whole, memories by key, and one Markdown file by its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from commonplace import verbs
from commonplace.memories import lookup
from commonplace.memories.rows import split_path
from commonplace.model.errors import CommonplaceError, InvalidKey, NotFound
from commonplace.model.lazy import lazy
from commonplace.model.memory import Memory, Status, Trust, read_type
from commonplace.model.results import MemoryItem
from commonplace.model.scope import Role, Scope, ScopeKind
from commonplace.recall.dates import read_when
from commonplace.text.fence import REFERENCE, fence, visible
from commonplace.text.naming import unquote
from commonplace.text.notes import find_wikilinks, parse
from commonplace.vault.paths import JOURNAL, MEMORIES, BookPath, journal_folder, note_path, resolve
from commonplace.vault.port import UNUSABLE
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import (
    ENTRY_FIELDS,
    ROWS,
    TEXTS,
    Answer,
    Arguments,
    Tool,
    cut_entries,
    entries_text,
    entry_data,
    field_schema,
    items_text,
    result_schema,
    rows_schema,
    shown_fields,
    text_schema,
    tool_fields,
)
from commonplace.verbs.verb import EVERYTHING, KEY, SCOPE, TYPE, Access, Arg, verb

JOURNAL_PLACE = "journal"
RESOURCE_PREFIX = "book://"
_PLACES = (*ScopeKind, JOURNAL_PLACE)
_UNIT_PREFIXES = ("u-", "leaf-")  # of what the tree has
_NODE = lazy(r"(?:L\d\d?|topic|digest)-")  # how the id of what stands above its leaves begins


class ShowRequest(NamedTuple):
    """What `show` is asked."""

    key: Annotated[
        str,
        KEY._replace(
            help="the memory's key, or its SCOPE/KEY or path as an answer shows it", tool_help="KEY or SCOPE/KEY"
        ),
    ]
    scope: Annotated[
        str | None, SCOPE._replace(help=f"{SCOPE.help}; or {JOURNAL_PLACE}", tool_choices=tuple(map(str, _PLACES)))
    ] = None
    revision: Annotated[
        str | None, Arg("an earlier text, by its revision in `commonplace history KEY`", "REV", in_tool=False)
    ] = None


class PageRequest(NamedTuple):
    """What `page` is asked."""

    path: Annotated[str, Arg()]


@verb(
    Access.READ,
    command="show",
    examples=(
        "commonplace show testing-framework",
        "commonplace show people/alice --scope global --json",
        "commonplace show staging-port --revision 05c022f7fdca",
        "commonplace show deploy --related",
    ),
)
def show(context: BookContext, request: ShowRequest) -> Memory:
    """Show one memory with all its entries.

    From the nearest of your scopes that has the key: session, agent, project, global. "also in" names the others; read
    one of them with --scope. Notes of the project's journal are shown in the same way. --related lists the memories
    that it links to instead.
    """
    memory = find_memory(context, request.key, request.scope)
    if request.revision is not None:
        return verbs.revision.find_revision(context, memory, request.revision)
    if memory.place in (JOURNAL_PLACE, "tree"):
        return memory
    context.record_uses([memory.meta.id])
    if memory.meta.status is Status.EXPIRED and context.revive([split_path(resolve(memory.path))]):
        memory = _load(context, memory.scope, memory.key) or memory
    is_nearest = request.scope is None and memory.key == request.key
    return memory._replace(also_in=_also_in(context, memory.scope, memory.key)) if is_nearest else memory


def find_memory(context: BookContext, ref: str, scope: str | None) -> Memory:
    """Return the memory, or the note of the journal, that a caller names. Raises NotFound.

    Whatever an answer gave can be given back: a key with its scope, a key alone, SCOPE/KEY, a path in the book, the
    address of a resource. A key goes before what could also be read as SCOPE/KEY.
    """
    memory = None
    if context.settings.enabled:
        page_path = _find_page(context, ShowRequest(ref, scope))
        if page_path is not None:
            how = f"Read it with `commonplace files read {page_path}`."
            raise InvalidKey(f"{visible(ref)} is an index page, not a memory.", hint=how)
        if scope is not None:
            memory = _load_in(context, scope, ref)
        elif ref.startswith(RESOURCE_PREFIX):
            memory = _load_path(context, unquote(ref.removeprefix(RESOURCE_PREFIX)))
        elif ref.startswith(("/", context.root)):
            memory = _load_path(context, ref)
        elif ref.startswith(_UNIT_PREFIXES):
            memory = verbs.tree_search.find_leaf(context, ref) or _load_nearest(context, ref)
        elif _NODE.match(ref):
            memory = verbs.tree_nodes.find_node(context, ref) or _load_nearest(context, ref)
        else:
            memory = _load_nearest(context, ref)
    if memory is not None:
        return memory
    raise verbs.unknown.unknown_key(context, ref, scope if scope != JOURNAL_PLACE else None)


def _load_nearest(context: BookContext, ref: str) -> Memory | None:
    fault: CommonplaceError | None = None
    for scope in context.caller.scopes():
        try:
            memory = _load(context, scope, ref)
        except (InvalidKey, *UNUSABLE) as error:  # another scope may have it
            fault = fault or error
            continue
        if memory is not None:
            return memory
    for place, key in _split_ref(context, ref):
        memory = _load_in(context, place, key)
        if memory is not None:
            return memory
    if fault is not None:
        raise fault
    project = context.caller.project is not None and not context.caller.sealed
    return _load_in(context, JOURNAL_PLACE, ref) if project else None


def _split_ref(context: BookContext, ref: str) -> list[tuple[str, str]]:
    """Return what SCOPE/KEY can mean. A person's answers also name other scopes, as KIND:ID/KEY."""
    place, _, key = ref.partition("/")
    if place in _PLACES:
        return [(place, key)] if key else []
    kind, is_named, rest = ref.partition(":")
    if not is_named or kind not in _PLACES or context.caller.role is not Role.PERSON:
        return []
    names = rest.split("/")
    return [(f"{kind}:{'/'.join(names[:at])}", "/".join(names[at:])) for at in range(1, len(names))]


def _load_in(context: BookContext, place: str, key: str) -> Memory | None:
    """Return a memory of one scope, or else a note of its journal; of the journal alone, if that is named."""
    kind, _, ident = place.partition(":")
    is_journal = kind == JOURNAL_PLACE
    scope = (
        context.caller.scope(f"project:{ident}" if ident else "project") if is_journal else context.caller.scope(place)
    )
    memory = None if is_journal else _load(context, scope, key)
    if memory is None and scope.kind is ScopeKind.PROJECT:
        folder = journal_folder(context.folder(scope))
        memory = lookup.load(context.memories, context.view_for(scope), scope, folder, key)
    return memory


def _load_path(context: BookContext, path: str) -> Memory | None:
    """Return the note at a path, if it is a memory or a note of the journal of one of the caller's own scopes."""
    place = context.resolve(path)
    view = context.view()
    if not (place.is_within(MEMORIES) or place.is_within(JOURNAL)) or len(place.parts) < 3 or not view.may_read(place):
        return None
    try:
        scope, key = context.locate(str(place.parent), place.name.removesuffix(".md"))
        folder = journal_folder(context.folder(scope)) if place.is_within(JOURNAL) else context.folder(scope)
        return lookup.load(context.memories, view, scope, folder, key) if place.name.endswith(".md") else None
    except (ValueError, InvalidKey):  # no folder of a scope, or a page
        return None


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
    targets = {link.to for link in memory.meta.links if link.status == Status.ACTIVE}
    targets |= {target for entry in memory.entries for target in find_wikilinks(entry.text)}
    found = [item for item in items if targets & {item.key, f"{item.scope}/{item.key}", item.path}]
    return [item for item in found if item.path != memory.path]


@verb(Access.READ, no_tool="the resources book:///")
def page(context: BookContext, request: PageRequest) -> str:
    """Return a Markdown file of the book by its path. A memory that is read so counts as used."""
    place = resolve(request.path)
    if not context.settings.enabled or not place.name.endswith(".md"):
        raise NotFound(f"There is no page {request.path[:200]!a}.")
    data = _read_page(context, place)
    with context.reading() as index:
        row = index.get(*split_path(place)) if len(place.parts) > 1 else None
    if row is not None:
        context.record_uses([row.id])
        if parse(data).meta.status is Status.EXPIRED and context.revive([split_path(place)]):
            data = _read_page(context, place)
    return data.decode("utf-8", "replace")


def _read_page(context: BookContext, place: BookPath) -> bytes:
    """Return a page as the caller sees it."""
    return verbs.files.view_reader(context).read(place)


def has_page(context: BookContext, path: str) -> bool:
    """Return whether `page` would find something. Pages that Commonplace makes are missing in a fresh clone."""
    place, view = resolve(path), context.view()
    return view.may_read(place) and context.memories.vault.stat(context.memories.space, view, place) is not None


def _render_memory(memory: Memory, _: ShowRequest) -> Answer:
    """Show a memory: in the data, the newest entry as a hit has it, and those before it."""
    meta = memory.meta
    entries, is_cut = cut_entries(memory)
    links = [f"{visible(link.rel)} {visible(link.to)} ({visible(link.status)})" for link in meta.links]
    data: dict[str, Any] = {
        "key": visible(memory.key), "scope": memory.place, "type": meta.type.value, "status": meta.status.value,
        "text": "", **(entry_data(entries[-1]) if entries else {}), "earlier": [*map(entry_data, entries[:-1])],
        "updated": meta.updated, "revision": memory.revision, "cut": is_cut, "links": links,
    }  # fmt: skip
    labels = f"{data['type']}, {data['status']}, revision {memory.revision[:12]}"
    lines = [f"{data['scope']}/{data['key']} ({labels}). {REFERENCE}", entries_text(memory, entries), *links]
    if memory.also_in:
        lines.append(f"{data['key']} is also in: {', '.join(memory.also_in)}. Name that scope to read it.")
    if is_cut:
        lines.append(f"Cut: older entries are in {visible(memory.path)}.")
    return Answer(data, "\n".join(lines))


_INDEX = "index"  # the name of a page, which no memory can have
_NAMED_PAGES = (_INDEX, *(f"{place}/{_INDEX}" for place in _PLACES))  # there is one, be it empty
_DOCTRINE = ("system", "definition.md")


def _show_tool(context: BookContext, given: Arguments) -> Answer:
    """Show a memory, or the index page that the key names."""
    request = ShowRequest(given["key"], given.get("scope"))
    path = _find_page(context, request)
    if path is None:
        return _render_memory(show(context, request), request)
    has_text = has_page(context, str(path))
    if not has_text and request.key not in _NAMED_PAGES:
        raise NotFound(
            f"There is no page {visible(str(path))}.", hint="Open the page of a scope, or the book's, with key=index."
        )
    text = page(context, PageRequest(str(path))) if has_text else ""
    data = {"key": visible(request.key), "text": visible(text), "trust": Trust.EXTERNAL.value, "revision": ""}
    data |= {"scope": request.scope} if request.scope else {}
    if not text:
        return Answer(data, "Nothing is stored there yet.")
    return Answer(data, f"{visible(str(path))}. {REFERENCE}\n{fence(text, {'source': str(path)})}")


def _find_page(context: BookContext, request: ShowRequest) -> BookPath | None:
    """Return the path of the page that a key names: `index` in a scope or of the book, one below it, a path as pages
    link to it, or an address."""
    name, place = request.key, request.scope
    if name.startswith(RESOURCE_PREFIX):
        name = unquote(name.removeprefix(RESOURCE_PREFIX))
    from_root = ("/", context.root)
    if place is None and not name.startswith(from_root):
        first, _, rest = name.partition("/")
        if first in _PLACES:
            name, place = rest, first
        elif rest.endswith(".md"):
            name = f"/{name}"
    if name.startswith(from_root):
        path = context.resolve(name)
        is_page = path.name == f"{_INDEX}.md" or f"_{_INDEX}" in path.parts or path.parts == _DOCTRINE
        return path if is_page else None
    name = name.removesuffix(".md")
    if name != _INDEX and not name.startswith(f"_{_INDEX}/"):
        return None
    if place is None:
        return resolve(f"/{name}.md")
    is_journal = place == JOURNAL_PLACE
    folder = context.folder(context.caller.scope("project" if is_journal else place))
    return resolve(f"{journal_folder(folder) if is_journal else folder}/{name}.md")


_UNLISTED = (Status.EXPIRED.value, Status.SUPERSEDED.value)
_NO_LIMIT = 1_000_000_000
_ITEM_FIELDS = ("key", "scope", "type", "status", "summary", "updated")


class ListRequest(NamedTuple):
    """What `list` is asked."""

    scope: Annotated[str | None, SCOPE] = None
    type: Annotated[str | None, TYPE] = None
    tag: Annotated[str | None, Arg("only with this tag; with all of A,B", in_tool=False, other_option="tags")] = None
    hidden: Annotated[bool, Arg("also superseded and expired memories", tool_help="also inactive")] = False
    outside: Annotated[bool, Arg("only memories from outside that you have not accepted yet", in_tool=False)] = False
    everything: Annotated[bool, EVERYTHING] = False
    since: Annotated[
        str | None, Arg("only changed then or later: 2026-11-15, 7d, 2h, yesterday", "TIME", in_tool=False)
    ] = None


@verb(
    Access.READ,
    command="list",
    examples=(
        "commonplace list",
        "commonplace list --scope global --json",
        "commonplace list --tag ci --since 7d",
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
    if request.type is not None:
        read_type(request.type)  # refuses a word that is none
    is_on = context.settings.enabled
    folders = context.folders_to_search(request.scope, everything=request.everything) if is_on else []
    unlisted = () if request.hidden else (*_UNLISTED, *context.unseen_statuses)
    tags = {word.strip().removeprefix("#") for word in (request.tag or "").split(",")} - {""}
    since = read_when(request.since) if request.since is not None else ""
    items = [
        item
        for item in context.list_memories(folders)
        if item.status not in unlisted
        and request.type in (None, item.type)
        and tags <= {*item.tags}
        and item.updated >= since
    ]
    return find_unaccepted(context, items) if request.outside else items


def find_unaccepted(context: BookContext, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Return those of some memories whose every entry came from outside and was never accepted."""
    places = [split_path(resolve(item.path)) for item in items]
    with context.reading() as index:
        folders = {folder for folder, _ in places}
        briefed = {(folder, name) for folder in folders for name, *_ in index.brief_candidates(folder, _NO_LIMIT)}
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
    rows = [shown_fields(item._replace(summary=item.shown_summary), *_ITEM_FIELDS) for item in page]
    data = {"memories": rows, "total": len(items)}
    if not page:
        return Answer(data, "No memories.")
    more = len(items) - start - len(page)
    lines = [f"{len(page)} of {len(items)} memories. {REFERENCE}", items_text(page)]
    lines += [f"{more} more: call again with after={visible(refs[start + len(page) - 1])}"] if more else []
    return Answer(data, "\n".join(lines))


_SHOW_FIELDS = {field.name: field_schema(field) for field in tool_fields(ShowRequest)}
TOOLS = (
    Tool(
        "memory_show", "Show", "show", "read",
        "Read one memory whole, before you correct it or when a hit was a passage. "
        "key=index opens the index page of a scope, or of the book.",
        _SHOW_FIELDS, ("key",),
        result_schema(
            "key", "text", "revision",
            **dict.fromkeys(("key", "scope", "type", "status", *ENTRY_FIELDS, "updated", "revision"), "string"),
            earlier=ROWS, links=TEXTS, cut="boolean",
        ),
        show.access.value, _show_tool,
    ),
    Tool(
        "memory_list", "List", "list", "read",
        "List keys and summaries.",
        {
            **{field.name: field_schema(field) for field in tool_fields(ListRequest)},
            "limit": {"type": "integer", "description": "at most", "minimum": 1, "maximum": 500, "default": 100},
            "after": text_schema("last SCOPE/KEY you got"),
        },
        (),
        result_schema(
            "memories", "total",
            memories=rows_schema("key", "scope", "summary"),
            total="integer",
        ),
        list_.access.value, _run_tool,
    ),
)  # fmt: skip
