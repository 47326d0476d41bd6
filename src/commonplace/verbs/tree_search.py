"""The verbs that ask the tree: who and what is mentioned, what was said about it, what a source says, and leaves whole.

Agents have the tools where the book has a source. What is found is from outside: every outlet labels it, and only the
text of a leaf may be quoted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple

from commonplace import verbs
from commonplace.index.port import Transaction
from commonplace.index.values import Window
from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.memory import Memory, MemoryType, Meta, Trust
from commonplace.model.results import Hit, RecallResult
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.times import shift_time
from commonplace.model.tree_results import AuthorCount, Entity, EntityList, LeafList, TreeHits
from commonplace.recall.query import RecallQuery
from commonplace.text.fence import REFERENCE, fence, visible
from commonplace.text.naming import one_line
from commonplace.text.words import fold_text
from commonplace.tree.entities import ENTITY_KINDS, choose_names
from commonplace.tree.people import PeopleBook
from commonplace.tree.retrieve import UnitQuery, find_units, open_leaves
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.vault.paths import resolve
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import (
    QUERY_LENGTH,
    ROWS,
    TEXTS,
    Answer,
    hit_text,
    make_tool,
    result_schema,
    shown_fields,
)
from commonplace.verbs.tree_opening import has_tree, make_leaf_hit, make_unit_hits, open_tree
from commonplace.verbs.verb import Access, Arg, verb

_SOURCE_KINDS = ("email", "chat", "document")
_MOST_LABELS = 2_000  # that a query may name; those mentioned most are shown
_MOST_NEAREST = 5
_MOST_AUTHORS = 10
_MOST_NAMES = 20  # in texts that a query may mean
_EVERYTHING = 1_000_000_000
_WORD = lazy(r"[^\W_]+")
_DAY = 86_400  # seconds
_QUERY = Arg("rank by these words and their meaning", "QUERY", max_length=QUERY_LENGTH, tool_help="rank by this")
_WINDOW = Arg("only the last so many days", "DAYS", option="window", minimum=1, maximum=36_600, tool_help="last days")
_LIMIT = Arg("show at most so many (1 to 100)", minimum=1, maximum=100, tool_help="at most")


class SearchEntitiesRequest(NamedTuple):
    """What `search_entities` is asked."""

    query: Annotated[
        str,
        Arg("a name, an address, a ticket, a path, or a part of one", is_positional=True, max_length=QUERY_LENGTH,
            tool_help="name or part of it"),
    ]  # fmt: skip
    kinds: Annotated[
        Sequence[str], Arg(f"only of these kinds: {', '.join(ENTITY_KINDS)}", tool_help="person, ...")
    ] = ()
    limit: Annotated[int, _LIMIT] = 5


class QueryTopicRequest(NamedTuple):
    """What `query_topic` is asked."""

    entity_id: Annotated[
        str,
        Arg("an id, as tree search-entities shows it: person:ann@example.org", "ENTITY", is_positional=True,
            max_length=QUERY_LENGTH, tool_help="id from memory_tree_search_entities"),
    ]  # fmt: skip
    time_window_days: Annotated[int | None, _WINDOW] = None
    query: Annotated[str, _QUERY] = ""
    limit: Annotated[int, _LIMIT] = 10


class QuerySourceRequest(NamedTuple):
    """What `query_source` is asked."""

    source_id: Annotated[
        str | None, Arg("only this source, as tree sources shows it", "ID", option="source", tool_help="one source")
    ] = None
    source_kind: Annotated[
        str | None, Arg("only sources of this kind", option="kind", choices=_SOURCE_KINDS, tool_help="one kind")
    ] = None
    time_window_days: Annotated[int | None, _WINDOW] = None
    query: Annotated[str, _QUERY] = ""
    limit: Annotated[int, _LIMIT] = 10


class FetchLeavesRequest(NamedTuple):
    """What `fetch_leaves` is asked."""

    chunk_ids: Annotated[
        Sequence[str],
        Arg("ids of leaves or units, 1 to 20", "ID", is_positional=True, nargs="+", min_length=1, max_length=20,
            tool_help="refs of hits"),
    ]  # fmt: skip


@verb(
    Access.READ,
    command="tree search-entities",
    examples=('commonplace tree search-entities "ann lee"', "commonplace tree search-entities OPS-12 --kinds ticket"),
)
def search_entities(context: BookContext, request: SearchEntitiesRequest) -> EntityList:
    """Find people and things that mail, chat and documents mention.

    Each with its id, which `tree query-topic` takes, how often it is mentioned, and when last. All words of the query
    must be in its name or its id.
    """
    words = _WORD.findall(fold_text(request.query))
    unknown = [kind for kind in request.kinds if kind not in ENTITY_KINDS]
    if unknown:
        raise InvalidField(
            f"There are no entities of the kind {unknown[0][:40]!a}.", hint=f"Kinds: {', '.join(ENTITY_KINDS)}."
        )
    _check_limit(request.limit)
    if not words or not context.settings.enabled:
        return EntityList(())
    tree = open_tree(context)
    found = _find_entities(tree, tree.freshen(), words, request.kinds or ENTITY_KINDS)
    return EntityList(tuple(found[: request.limit]))


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= 100:
        raise InvalidField("limit is a number from 1 to 100.")


def _find_entities(
    tree: TreeStore, sources: Sequence[TreeSource], words: Sequence[str], kinds: Sequence[str]
) -> list[Entity]:
    """Return the entities that words name: those named in full first, then those mentioned most."""
    people = tree.people()
    with tree.reading() as index:
        labels = index.find_labels(words, kinds, _MOST_LABELS)
        surfaces = {label.name: label.surface for label in labels}
        for name in _find_no_names(index, sources, surfaces):
            del surfaces[name]
        members = {name: people.members(people.canonical(name)) for name in surfaces}
        counts = {
            item.name: item for item in index.count_mentions({one for names in members.values() for one in names})
        }
    entities: dict[str, Entity] = {}
    for name, names in members.items():
        known = [counts[one] for one in names if one in counts]
        if known:
            canonical = people.canonical(name)
            surface = max((surfaces.get(one, "") for one in names), key=len) or name.partition(":")[2]
            number, last = sum(item.number for item in known), max(item.last for item in known)
            entities[canonical] = Entity(canonical, canonical.partition(":")[0], surface, number, last)

    def rank(entity: Entity) -> tuple[bool, bool, int, str]:
        named = {*_WORD.findall(fold_text(f"{entity.surface} {entity.canonical_id}"))}
        is_whole = set(words) <= named
        return not is_whole, entity.kind != "person", -entity.mention_count, entity.canonical_id

    return sorted(entities.values(), key=rank)


def _find_no_names(index: Transaction, sources: Sequence[TreeSource], labels: Iterable[str]) -> list[str]:
    """Return the names in texts that are none: too few people use them, or one of them most of the time."""
    names = [name for name in labels if name.startswith("name:")]
    most = sorted(index.count_mentions(names), key=lambda item: item.number, reverse=True)[:_MOST_NAMES]
    everywhere = Window([str(source.folder) for source in sources])
    uses = {}
    for item in most:
        only = index.mentioning([item.name], everywhere, _EVERYTHING)
        uses[item.name] = dict(index.count_authors(everywhere._replace(only=only), _EVERYTHING))
    return sorted({*names} - choose_names(uses))


@verb(
    Access.READ,
    command="tree query-topic",
    examples=(
        "commonplace tree query-topic person:ann@example.org --window 30",
        "commonplace tree query-topic ticket:OPS-12 --query 'who decided'",
    ),
)
def query_topic(context: BookContext, request: QueryTopicRequest) -> TreeHits:
    """Find everything that mentions a person or a thing.

    Across all sources; the latest first, or the best for --query. Ids come from `tree search-entities`; for one that is
    not known, ids like it are named.
    """
    _check_limit(request.limit)
    if not context.settings.enabled:
        return TreeHits((), 0, truncated=False)
    tree = open_tree(context)
    sources, people = tree.freshen(), tree.people()
    labels = people.members(people.canonical(request.entity_id.strip()))
    with tree.reading() as index:
        is_known = bool(index.count_mentions(labels))
    if not is_known:
        words = fold_text(request.entity_id.partition(":")[2] or request.entity_id).replace("@", " ").split()
        near = _find_entities(tree, sources, words[:1], ENTITY_KINDS) if words else []
        return TreeHits((), 0, truncated=False, nearest=tuple(item.canonical_id for item in near[:_MOST_NEAREST]))
    since = _begin_window(tree, request.time_window_days)
    found = _ask(tree, sources, UnitQuery(sources, request.query, since, labels=sorted(labels), limit=request.limit))
    if request.time_window_days is not None:
        return found
    topics = verbs.tree_nodes.find_topic_hits(tree, sources, labels)
    hits = (*topics, *found.hits)[: request.limit]
    return found._replace(hits=hits, total=found.total + len(topics))


def _begin_window(tree: TreeStore, days: int | None) -> str:
    """Return when a window of the last days begins."""
    if days is None:
        return ""
    if days < 1:
        raise InvalidField("The window is a number of days, 1 or more.")
    return shift_time(tree.memories.clock(), -days * _DAY)


def _ask(tree: TreeStore, sources: Sequence[TreeSource], asked: UnitQuery) -> TreeHits:
    found = find_units(tree, asked)
    hits = make_unit_hits(tree, sources, found.hits, asked.query, is_listed=not asked.query.strip())
    authors = _join_authors(tree.people(), found.authors)
    return TreeHits(hits, found.total, found.total > len(hits), authors, notice=found.notice)


def _join_authors(people: PeopleBook, counted: Sequence[tuple[str, int]]) -> tuple[AuthorCount, ...]:
    """Return who wrote most, each person once by the name that they use most."""
    names: dict[str, str] = {}
    numbers = Counter[str]()
    for author, number in counted:
        person = people.canonical(f"person:{fold_text(author)}")
        names.setdefault(person, author)
        numbers[person] += number
    return tuple(AuthorCount(names[person], number) for person, number in numbers.most_common(_MOST_AUTHORS))


@verb(
    Access.READ,
    command="tree query-source",
    examples=(
        "commonplace tree query-source --kind email --window 7",
        "commonplace tree query-source --source work-chat --query 'when is the release'",
    ),
)
def query_source(context: BookContext, request: QuerySourceRequest) -> TreeHits:
    """Find what mail, chat or documents say: by source, by time, in your own words.

    The latest first, or the best for --query. The answer also names who wrote most in that window.
    """
    _check_limit(request.limit)
    if not context.settings.enabled:
        return TreeHits((), 0, truncated=False)
    tree = open_tree(context)
    sources = tree.freshen()
    chosen = [tree.source(request.source_id)] if request.source_id is not None else sources
    chosen = [source for source in chosen if request.source_kind in (None, source.kind)]
    since = _begin_window(tree, request.time_window_days)
    return _ask(tree, sources, UnitQuery(chosen, request.query, since, limit=request.limit))


@verb(Access.READ, command="tree fetch-leaves", examples=("commonplace tree fetch-leaves u-5f0c1e9a7b3d2c4e6f80",))
def fetch_leaves(context: BookContext, request: FetchLeavesRequest) -> LeafList:
    """Show leaves or units whole, in the order in which they are named.

    Only this text may be quoted. What is not there is named as missing.
    """
    ids = list(request.chunk_ids)
    if not 1 <= len(ids) <= 20 or not all(isinstance(ident, str) for ident in ids):
        raise InvalidField("chunk_ids are 1 to 20 ids.")
    if not context.settings.enabled:
        return LeafList((), tuple(ids))
    tree = open_tree(context)
    tree.freshen()
    found = open_leaves(tree, ids)
    hits = tuple(make_leaf_hit(found[ident]) for ident in ids if ident in found)
    return LeafList(hits, tuple(ident for ident in ids if ident not in found))


def add_leaves(context: BookContext, query: RecallQuery, found: RecallResult) -> RecallResult:
    """Return what recall found with the leaves of the tree among it, strong ones first, then by score."""
    is_other = query.type is not None or query.tags or query.session is not None or query.as_of is not None
    if is_other or not has_tree(context):
        return found
    tree = open_tree(context)
    sources = tree.freshen()
    asked = UnitQuery(
        sources,
        query.query,
        query.since or "",
        query.until or "",
        limit=query.limit,
        mode=query.mode,
        is_strong=query.strong,
    )
    leaves = find_units(tree, asked)
    hits = [*found.hits, *make_unit_hits(tree, sources, leaves.hits, query.query, is_listed=not query.query.strip())]
    if query.sort == "recency" or not query.query.strip():
        hits.sort(key=lambda hit: hit.time_start, reverse=True)
    else:
        hits.sort(key=lambda hit: (not hit.strong, -hit.score))
    notice = " ".join(filter(None, (found.notice, leaves.notice)))
    total = found.total + leaves.total
    return RecallResult(tuple(hits[: query.limit]), total, found.hidden, (), notice, "" if hits else found.reason)


def find_leaf(context: BookContext, ref: str) -> Memory | None:
    """Return a leaf or a unit as `show` answers: its units are the entries."""
    if not has_tree(context):
        return None
    tree = open_tree(context)
    tree.freshen()
    leaf = open_leaves(tree, [ref]).get(ref)
    if leaf is None:
        return None
    first, last = leaf.units[0], leaf.units[-1]
    path = resolve(f"{first.folder}/{first.name}.md")
    document = tree.memories.files.read(path)
    idents = {unit.id for unit in leaf.units}
    note = tree.memories.provenance.read(document.data, document.stat.time)
    entries = tuple(entry._replace(trust=Trust.EXTERNAL) for entry in note.entries if entry.id in idents)
    meta = Meta(
        key=ref, id=ref, type=MemoryType.REFERENCE, summary=first.title, created=first.occurred, updated=last.occurred
    )
    return Memory(meta, Scope(ScopeKind.GLOBAL), ref, str(path), document.revision, entries)


# Tools

_OUTSIDE = {"source": "tree", "trust": "external"}
_NOBODY = "No person or thing of that name is mentioned."


def unit_data(hit: Hit) -> dict[str, Any]:
    """Return a hit of the tree as data, its text bare, with its trust and its author beside it."""
    fields = shown_fields(hit, "ref", "text", "trust", "author", "title", "tree")
    return {
        **fields,
        "time": hit.time_start,
        "sources": list(map(visible, hit.sources)),
        "entities": list(map(visible, hit.entities[:8])),
    }


def hits_text(hits: Sequence[Hit], heading: str) -> str:
    """Return hits as text, each fenced, below a heading."""
    return "\n".join([f"{heading} {REFERENCE}", *map(hit_text, hits)]) if hits else heading


def _render_hits(found: TreeHits, _: object) -> Answer:
    data: dict[str, Any] = {
        "hits": [*map(unit_data, found.hits)],
        "total": found.total,
        "truncated": found.truncated,
        "authors": [{"author": visible(item.author), "units": item.units} for item in found.authors],
    }
    heading = f"{len(found.hits)} of {found.total}." if found.hits else "Nothing found."
    if found.nearest:
        data["nearest"] = [*map(visible, found.nearest)]
        heading = "Unknown id. Like it:\n" + fence("\n".join(map(one_line, found.nearest)), _OUTSIDE)
    lines = [hits_text(found.hits, heading)]
    if found.authors:
        names = "\n".join(f"{one_line(item.author)}: {item.units}" for item in found.authors)
        lines += ["Who wrote most:", fence(names, _OUTSIDE)]
    lines += [found.notice] if found.notice else []
    return Answer(data, "\n".join(lines))


def _render_entities(found: EntityList, _: object) -> Answer:
    rows = [shown_fields(item, *Entity._fields) for item in found.entities]
    lines = [
        one_line(f"{row['canonical_id']} ({row['surface']}): {row['mention_count']}, last {row['last_seen'][:10]}")
        for row in rows
    ]
    text = f"{REFERENCE}\n{fence(chr(10).join(lines), _OUTSIDE)}" if lines else _NOBODY
    return Answer({"entities": rows}, text)


def _render_leaves(found: LeafList, _: object) -> Answer:
    names = [*map(visible, found.missing)]
    data = {"hits": [*map(unit_data, found.hits)], "missing": names}
    missing = f"Missing: {', '.join(names)}" if names else ""
    return Answer(data, "\n".join(filter(None, (hits_text(found.hits, f"{len(found.hits)} found."), missing))))


_HITS = result_schema(
    "hits",
    "total",
    "truncated",
    hits=ROWS,
    total="integer",
    truncated="boolean",
    authors=ROWS,
)
TOOLS = (
    make_tool(
        search_entities, "memory_tree_search_entities", "Find people and things", "tree",
        "Find people, tickets, links, files that mail and chat mention; returns their canonical_id.",
        result_schema("entities", entities=ROWS),
        _render_entities,
    ),
    make_tool(
        query_topic, "memory_tree_query_topic", "Ask about a person or thing", "tree",
        "What mail, chat and documents say of an entity.", _HITS, _render_hits,
    ),
    make_tool(
        query_source, "memory_tree_query_source", "Search mail, chat, documents", "tree",
        "Search mail, chat, documents by source and time; also says who writes most.",
        _HITS, _render_hits,
    ),
    make_tool(
        fetch_leaves, "memory_tree_fetch_leaves", "Read leaves in full", "tree",
        "Read what hits name, whole. Quote only from this; cite as [^1] with a footnote `[^1]: REF · SOURCE`.",
        result_schema("hits", "missing", hits=ROWS, missing=TEXTS), _render_leaves,
    ),
)  # fmt: skip
