"""The verbs about the tree itself: what is in it, forgetting a source, and who is one person with whom."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from commonplace import verbs
from commonplace.guard.audit import Facts
from commonplace.index.values import Window
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.tree_results import EntityMerge, TreeForgetResult, TreeSourceInfo, TreeStatus
from commonplace.text.words import fold_text
from commonplace.tree.entities import ENTITY_KINDS
from commonplace.tree.forget import forget_source
from commonplace.tree.settle import count_pending
from commonplace.tree.store import TreeStore
from commonplace.verbs.context import BookContext
from commonplace.verbs.tree_opening import open_tree
from commonplace.verbs.tree_settling import drop_prefetch, settle_tree
from commonplace.verbs.verb import Access, Arg, NoRequest, verb

_NO_TOOL = "about the tree itself: for a person"
_ENTITY = Arg("an id, as tree search-entities shows it: person:ann@example.org", is_positional=True)


class TreeForgetRequest(NamedTuple):
    """What `tree_forget` is asked."""

    source: Annotated[str, Arg("the source's id, as tree sources shows it", is_positional=True)]


class EntityMergeRequest(NamedTuple):
    """What `merge_entities` is asked."""

    first: Annotated[str, _ENTITY._replace(metavar="A")]
    second: Annotated[str, _ENTITY._replace(help="the id of the same person or thing", metavar="B")]


class UndoMergeRequest(NamedTuple):
    """What `undo_merge` is asked."""

    entity: Annotated[str, _ENTITY._replace(metavar="A")]


@verb(Access.READ, command="tree status", examples=("commonplace tree status --json",), no_tool=_NO_TOOL)
def tree_status(context: BookContext, _: NoRequest) -> TreeStatus:
    """Show how much mail, chat and documents the tree has."""
    if not context.settings.enabled:
        return TreeStatus(0, 0, 0, 0, 0, 0)
    tree = open_tree(context)
    sources = tree.freshen()
    with tree.reading() as index:
        units = index.measure(Window([str(source.folder) for source in sources])).number
        entities, levels = index.count_labels(ENTITY_KINDS), index.count_nodes()
    summaries = sum(number for level, (number, _) in levels.items() if level)
    return TreeStatus(levels.get(0, (0, 0))[0], units, summaries, entities, len(sources), count_pending(tree))


@verb(
    Access.READ,
    command="tree sources",
    examples=("commonplace tree sources", "commonplace tree sources --json"),
    no_tool="memory_tree_query_source names sources",
)
def tree_sources(context: BookContext, _: NoRequest) -> list[TreeSourceInfo]:
    """List the sources of the tree: where each came from, how much it has, and from when to when."""
    if not context.settings.enabled:
        return []
    tree = open_tree(context)
    found = []
    for source in tree.freshen():
        with tree.reading() as index:
            span = index.measure(Window([str(source.folder)]))
        about = (source.id, source.kind, source.format, source.origin)
        found.append(TreeSourceInfo(*about, span.number, span.first, span.last, source.is_briefed))
    return found


@verb(
    Access.WHOLE_BOOK,
    audit=lambda result, _: {"units": result.units, "files": result.files, "moved": result.moved},
    command="tree forget",
    examples=("commonplace tree forget old-mail --yes",),
    no_tool=_NO_TOOL,
)
def tree_forget(context: BookContext, request: TreeForgetRequest) -> TreeForgetResult:
    """Forget a source: its files, their old versions, and what the index knows of them.

    What another source has too stays there. The original that you ingested is not touched; ingest it again to have it
    back.
    """
    context.check_enabled()
    tree = open_tree(context)
    source = tree.source(request.source)
    verbs.ingest.forget_signatures(context, source)
    drop_prefetch(context)
    done = forget_source(tree, source)
    settle_tree(context, tree)
    return done


def _describe_merge(result: EntityMerge, _: object) -> Facts:
    return {"action": result.state, "members": len(result.members)}


@verb(
    Access.WHOLE_BOOK,
    audit=_describe_merge,
    command="tree entity merge",
    examples=("commonplace tree entity merge person:ann@example.org person:ann@example.com",),
    no_tool=_NO_TOOL,
)
def merge_entities(context: BookContext, request: EntityMergeRequest) -> EntityMerge:
    """Say that two ids are one person or thing.

    It is a line of tree/people.md, which you may also edit. `tree entity undo` takes it back.
    """
    context.check_enabled()
    tree = open_tree(context)
    tree.freshen()
    first, second = (_find_entity(tree, name) for name in (request.first, request.second))
    if first.partition(":")[0] != second.partition(":")[0]:
        raise InvalidField("Only two of one kind can be one.", hint="Merge a person with a person.")
    people = tree.change_people(lambda known: known.merge(first, second))
    canonical = people.canonical(first)
    return EntityMerge(canonical, tuple(sorted(people.members(canonical))), "merged")


def _find_entity(tree: TreeStore, given: str) -> str:
    """Return the id that a person names; a name without a kind is a person's. Raises NotFound."""
    name = given.strip()
    name = name if name.partition(":")[0] in ENTITY_KINDS else f"person:{fold_text(name)}"
    with tree.reading() as index:
        if index.count_mentions([name]):
            return name
    raise NotFound(
        f"Nothing with the id {given[:80]!a} is mentioned.", hint="Look for it: commonplace tree search-entities NAME."
    )


@verb(
    Access.WHOLE_BOOK,
    audit=_describe_merge,
    command="tree entity undo",
    examples=("commonplace tree entity undo person:ann@example.com",),
    no_tool=_NO_TOOL,
)
def undo_merge(context: BookContext, request: UndoMergeRequest) -> EntityMerge:
    """Take back that an id is one with others. They are not proposed or merged by rule again."""
    context.check_enabled()
    tree = open_tree(context)
    name = request.entity.strip()
    name = name if name.partition(":")[0] in ENTITY_KINDS else f"person:{fold_text(name)}"
    people = tree.people()
    if len(people.members(people.canonical(name))) < 2:
        raise NotFound(f"{name[:80]!a} is merged with nothing.", hint="commonplace tree entity list shows what is.")
    people = tree.change_people(lambda known: known.undo(name))
    return EntityMerge(name, tuple(sorted(people.members(people.canonical(name)))), "apart")


@verb(Access.READ, command="tree entity list", examples=("commonplace tree entity list",), no_tool=_NO_TOOL)
def list_merges(context: BookContext, _: NoRequest) -> list[EntityMerge]:
    """List which ids are one person or thing, and which may be."""
    if not context.settings.enabled:
        return []
    people = open_tree(context).people()
    merged = [EntityMerge(group[0], tuple(group), "merged") for group in people.groups()]
    return [*merged, *(EntityMerge(pair[0], tuple(pair), "proposed") for pair in people.proposals())]
