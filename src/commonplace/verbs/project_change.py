"""The verbs with which a person decides what a project is: adopt, merge, split, and undo.

Adopt and split only change what two `_scope.md` say about a folder; no memory moves. Merge moves the memories of one
project into another. Each leaves in the state what it did, and `undo` takes the last one back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple

from commonplace.guard.audit import Facts
from commonplace.memories.lookup import change_scope_page, describe
from commonplace.memories.upkeep import MergePlan, is_empty, plan_merge, reverse_plan, run_plan
from commonplace.model.errors import Conflict, InvalidScope, NotFound, NotPermitted
from commonplace.model.names import new_id
from commonplace.model.projects import ProjectChange
from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.identity import Identity
from commonplace.project.matching import ProjectMatch, find_others, find_page, list_pages, new_own_id, project_folder
from commonplace.project.root_commit import gather_evidence
from commonplace.vault.paths import KEEPER, MEMORIES, BookPath
from commonplace.vault.port import ABSENT, Change, Delete, Write
from commonplace.vault.scope_pages import SCOPE_PAGE, Evidence, ScopePage
from commonplace.verbs.context import BookContext
from commonplace.verbs.project import count_memories
from commonplace.verbs.verb import Access, Arg, NoRequest, verb

_CHANGES = "project-change/"  # the names of facts in the state
_ID = "the project's id, as `commonplace project list` shows it"
_NO_TOOL = "only for a person"
Lists = Mapping[str, Iterable[str]]
"""Values of the list fields of a `_scope.md`, by the name of the field."""


class AdoptRequest(NamedTuple):
    """What `adopt_project` is asked."""

    project_id: Annotated[str, Arg(_ID, "ID", is_positional=True)]


class MergeRequest(NamedTuple):
    """What `merge_projects` is asked."""

    other: Annotated[str, Arg(f"{_ID}; its memories are moved", is_positional=True)]
    into: Annotated[
        str | None, Arg("the project they become part of, if not this folder's", is_positional=True, nargs="?")
    ] = None


def _describe(result: ProjectChange, _: object) -> Facts:
    return {"action": result.action, "count": result.moved or result.memories}


@verb(
    Access.READ,
    audit=_describe,
    command="project adopt",
    examples=("commonplace project adopt github.com/acme/app",),
    no_tool=_NO_TOOL,
)
def adopt_project(context: BookContext, request: AdoptRequest) -> ProjectChange:
    """Make this folder one of a project's, from now on.

    Its clones and worktrees come along if they are known by the same remote. What the folder stored until now stays
    where it is: `commonplace project merge` brings it along. `commonplace project undo` takes it back.
    """
    _check_person(context)
    identity, match = _find_identity(context)
    files = context.memories.files
    page = _get_page(context, request.project_id)
    known, backing = find_page(files, identity.id), identity.backing
    others = find_others(list_pages(files), page, backing)
    added = gather_evidence(backing, context.repositories)._asdict()
    gone = [item for item in page.elsewhere if item.partition(" ")[0] == backing.stamp]
    alias = [identity.id] if known is None else []
    done = [_change_lists(context, page.id, {**added, "aliases": alias, "related": others}, {"elsewhere": gone})]
    if known is not None and known.id != page.id:
        done.append(_send_elsewhere(context, known, backing.stamp, page.id))
    done += [_change_lists(context, other, {"related": [page.id]}, {}) for other in others]
    _record(context, "adopt", pages=done, id=match.id)
    left = match.id if match.id not in page.ids else None
    return ProjectChange("adopted", page.id, count_memories(context, page.id), left)


@verb(
    Access.READ,
    audit=_describe,
    command="project split",
    examples=("commonplace project split",),
    no_tool=_NO_TOOL,
)
def split_project(context: BookContext, _: NoRequest) -> ProjectChange:
    """Make this folder a project of its own.

    The memories stay with the project that it leaves. If the folder was a project of its own before it was adopted, it
    is that one again. Where a note names another project that this folder may be, this says that it is not, and the
    note goes. `commonplace project undo` takes it back.
    """
    _check_person(context)
    identity, match = _find_identity(context)
    files = context.memories.files
    left, known = find_page(files, match.id), find_page(files, identity.id)
    if match.hints or left is None or known is None:
        return _dismiss_hints(context, left or _make_page(context, match.id), match.hints)
    stamp, was = identity.backing.stamp, find_others(list_pages(files), left, identity.backing)
    ident = known.id if known.id != left.id else next(iter(was), new_own_id(identity.root, identity.backing))
    page = find_page(files, ident) or _make_page(context, ident)
    evidence = gather_evidence(identity.backing, context.repositories)._asdict()
    done = [
        _change_lists(context, page.id, evidence, {"related": left.ids}),
        _send_elsewhere(context, known, stamp, page.id),
        _change_lists(context, left.id, {}, {"places": evidence["places"], "related": page.ids}),
    ]
    _record(context, "split", pages=done, id=left.id)
    return ProjectChange("split", page.id, count_memories(context, page.id), left.id)


@verb(
    Access.READ,
    audit=_describe,
    command="project merge",
    examples=(
        "commonplace project merge github.com/acme/old-name",
        "commonplace project merge /home/me/app github.com/acme/app",
    ),
    no_tool=_NO_TOOL,
)
def merge_projects(context: BookContext, request: MergeRequest) -> ProjectChange:
    """Move the memories of another project into this folder's, and make the two one project.

    History, trash and journal move along. A key that both have gets a number: `deploy` becomes `deploy-2`. The folders
    of both projects then see all of it. `commonplace project undo` takes it back.
    """
    _check_person(context)
    memories, files = context.memories, context.memories.files
    source = _get_page(context, request.other)
    if request.into is not None:
        target = _get_page(context, request.into)
    else:
        own = context.caller.scope("project").id or ""
        target = find_page(files, own) or _make_page(context, own)
    if source.id == target.id:
        raise Conflict(f"{request.other!a} and {request.into or target.id!a} are the same project already.")
    here, there = project_folder(files, source.id), project_folder(files, target.id)
    name, record = _find_pending(context, here, there)
    plan = _read_plan(record)
    if record:
        run_plan(memories, here, there, plan)  # what a crash left undone, before new files are planned for
    more = plan_merge(memories, here, there)
    plan = MergePlan((*plan.moves, *more.moves), {**plan.renamed, **more.renamed})
    before = memories.files.read(here / SCOPE_PAGE).data.decode("utf-8", "surrogateescape")
    gained = {"aliases": source.ids, "elsewhere": source.elsewhere, **(source.evidence or Evidence())._asdict()}
    added = record.get("added") or {field: _missing(target, field, values) for field, values in gained.items()}
    record = {"source": here.name, "target": there.name, "page": before, "added": added, "done": False}
    record |= {"moves": plan.moves, "renamed": plan.renamed, "id": target.id, "other": source.id}
    name = _record(context, "merge", name=name, **record)
    _change_lists(context, target.id, gained, {"related": source.ids})
    _change_lists(context, source.id, {"related": [target.id]}, {})
    moved = run_plan(memories, here, there, plan)
    with memories.unit(here, KEEPER) as unit:
        if is_empty(memories, here):  # else somebody stored something there meanwhile, and still finds it
            unit.put_aside(Delete(here / SCOPE_PAGE))
        unit.commit()
    _record(context, "merge", name=name, **{**record, "done": True})
    renamed = tuple(plan.renamed.items())
    return ProjectChange("merged", target.id, count_memories(context, target.id), source.id, moved, renamed)


@verb(Access.READ, audit=_describe, command="project undo", examples=("commonplace project undo",), no_tool=_NO_TOOL)
def undo_project(context: BookContext, _: NoRequest) -> ProjectChange:
    """Take back the last adopt, merge or split that was made on this machine, whatever folder it was made in.

    After a merge, each memory goes back under the key it had; what was stored since stays where it is.
    """
    _check_person(context)
    memories, state = context.memories, context.state
    facts = state.list_facts(memories.space, _CHANGES)
    if not facts:
        raise NotFound("There is no adopt, merge or split to undo.")
    name = max(facts)
    record: dict[str, Any] = json.loads(facts[name])
    moved = 0
    if record["verb"] == "merge":
        here, there = (MEMORIES / "project" / record[field] for field in ("source", "target"))
        if memories.files.stat(here / SCOPE_PAGE) is None:
            _write_page(context, Write(here / SCOPE_PAGE, record["page"].encode("utf-8", "surrogateescape"), ABSENT))
        moved = run_plan(memories, there, here, reverse_plan(_read_plan(record)))
        _change_lists(context, record["id"], {}, record["added"])
        _change_lists(context, record["other"], {}, {"related": [record["id"]]})
    for folder, added, removed in reversed(record.get("pages", ())):
        _change_page(context, MEMORIES / "project" / folder, removed, added)
    state.set_fact(memories.space, name, None)
    return ProjectChange(
        "undone", record["id"], count_memories(context, record["id"]), record.get("other"), moved, undone=record["verb"]
    )


def _check_person(context: BookContext) -> None:
    context.check_enabled()
    if not context.sees_all:
        raise NotPermitted("Only a person decides which project a folder is.")


def _find_identity(context: BookContext) -> tuple[Identity, ProjectMatch]:
    identity, match = context.identity, context.match
    if identity is None or match is None or identity.source == "override":
        raise InvalidScope(
            "There is no folder here to decide about.", hint="Run it inside the folder, without --project."
        )
    return identity, match


def _get_page(context: BookContext, project_id: str) -> ScopePage:
    page = find_page(context.memories.files, project_id)
    if page is None:
        raise NotFound(
            f"There is no project {project_id!a} in this book.", hint="`commonplace project list` lists them."
        )
    return page


def _make_page(context: BookContext, project_id: str) -> ScopePage:
    """Make the page of a project that has no memories yet, with this folder as its own."""
    memories, folder = context.memories, project_folder(context.memories.files, project_id)
    evidence = (
        Evidence() if context.identity is None else gather_evidence(context.identity.backing, context.repositories)
    )
    page = describe(memories, Scope(ScopeKind.PROJECT, project_id), folder, evidence, ())
    if page is not None:
        _write_page(context, page)
    return _get_page(context, project_id)


def _write_page(context: BookContext, change: Change) -> None:
    """Make or remove a project's page."""
    with context.memories.unit(change.path.parent, KEEPER) as unit:
        unit.put_aside(change)
        unit.commit()


def _dismiss_hints(context: BookContext, page: ScopePage, hints: tuple[str, ...]) -> ProjectChange:
    """Record that a folder is none of the projects that it may be."""
    folder = project_folder(context.memories.files, page.id)
    change_scope_page(context.memories, folder, lambda _: {"related": []})
    _record(context, "split", pages=[(folder.name, {}, {"related": hints})], id=page.id)
    return ProjectChange("split", page.id, count_memories(context, page.id), next(iter(hints), None))


def _send_elsewhere(context: BookContext, known: ScopePage, stamp: str, project_id: str) -> tuple[str, Lists, Lists]:
    """Record that a folder, which claims one project, belongs to another."""
    old = [item for item in known.elsewhere if item.partition(" ")[0] == stamp]
    new = [f"{stamp} {project_id}"] if project_id != known.id else []
    return _change_lists(context, known.id, {"elsewhere": new}, {"elsewhere": old})


def _change_lists(context: BookContext, project_id: str, add: Lists, remove: Lists) -> tuple[str, Lists, Lists]:
    return _change_page(context, project_folder(context.memories.files, project_id), add, remove)


def _change_page(context: BookContext, folder: BookPath, add: Lists, remove: Lists) -> tuple[str, Lists, Lists]:
    """Add to the list fields of a project's page and remove from them; return its folder, and what really changed."""
    added, removed = dict[str, list[str]](), dict[str, list[str]]()

    def change(page: ScopePage) -> dict[str, str | list[str] | None]:
        fields = dict[str, str | list[str] | None]()
        for name in {**add, **remove}:
            old = _values(page, name)
            removed[name] = [value for value in remove.get(name, ()) if value in old]
            kept = [value for value in old if value not in removed[name]]
            added[name] = [value for value in add.get(name, ()) if value not in kept and value != page.id]
            if added[name] or removed[name]:
                fields[name] = [*kept, *added[name]] or (None if name in ("related", "elsewhere") else [])
        return fields

    change_scope_page(context.memories, folder, change)
    return folder.name, added, removed


def _values(page: ScopePage, field: str) -> tuple[str, ...]:
    source: Any = page if field in ScopePage._fields else page.evidence or Evidence()
    return getattr(source, field) or ()


def _missing(page: ScopePage, field: str, values: Iterable[str]) -> list[str]:
    return [value for value in values if value not in _values(page, field)]


def _record(context: BookContext, verb_name: str, *, name: str = "", **facts: object) -> str:
    """Write down what a change did, or is about to do, so that it can be taken back; return the name of that record."""
    name = name or _CHANGES + new_id()
    context.state.set_fact(context.memories.space, name, json.dumps({"verb": verb_name, **facts}))
    return name


def _find_pending(context: BookContext, source: BookPath, target: BookPath) -> tuple[str, dict[str, Any]]:
    """Return the record of a merge of these two that did not come to its end; empty if there is none."""
    for name, text in context.state.list_facts(context.memories.space, _CHANGES).items():
        record: dict[str, Any] = json.loads(text)
        is_same = (record.get("source"), record.get("target")) == (source.name, target.name)
        if is_same and not record["done"]:
            return name, record
    return "", {}


def _read_plan(record: Mapping[str, Any]) -> MergePlan:
    return MergePlan(tuple(map(tuple, record.get("moves", ()))), record.get("renamed", {}))
