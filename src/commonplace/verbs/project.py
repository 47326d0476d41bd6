"""The verbs `project` and `list_projects`, and how a folder enters its project when a book is opened.

A project's memories are found under the id it has now, and its `_scope.md` records what its folders can be known by.
What a person decides about projects is in `project_change`.
"""

from __future__ import annotations

from contextlib import suppress

from commonplace.memories.lookup import change_scope_page, rename_scope
from commonplace.memories.store import MemoryStore, log
from commonplace.model.errors import CommonplaceError, Conflict, NotFound
from commonplace.model.projects import ProjectInfo, ProjectItem
from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.identity import Identity
from commonplace.project.matching import (
    KnownRepositories,
    ProjectMatch,
    find_kin,
    find_others,
    find_page,
    list_pages,
    match_project,
    project_folder,
)
from commonplace.project.root_commit import gather_evidence, is_remembered
from commonplace.vault.scope_pages import Evidence, ScopePage, list_scope_pages
from commonplace.verbs.context import BookContext
from commonplace.verbs.verb import Access, NoRequest, verb


@verb(
    Access.READ,
    command="project show",
    examples=("commonplace project", "commonplace project show --json"),
    no_tool="a session knows its folder",
)
def project(context: BookContext, _: NoRequest) -> ProjectInfo:
    """Show which project this folder is, and why.

    A folder is known by its git remote, its marker or its path. It gets the memories of that project if it can prove
    that it is the same one: by the root commit, by the marker's nonce, or because its `.git` was seen before. A shallow
    clone, or a folder from an archive, cannot. If you know better, `commonplace project adopt` gives it those memories.
    """
    scope = context.caller.scope("project")
    source = context.identity.source if context.identity is not None else "override"
    page = find_page(context.memories.files, scope.id or "")
    match, evidence = context.match, page.evidence if page is not None else None
    others: tuple[str, ...] = (*match.hints, *match.guesses) if match is not None and context.sees_all else ()
    if page is not None and context.sees_all:
        others = tuple(dict.fromkeys((*others, *find_kin(list_pages(context.memories.files), page))))
    return ProjectInfo(
        scope.id or "",
        source,
        count_memories(context, scope.id or ""),
        context.unproved,
        match.proof if match is not None else "",
        page.aliases if page is not None else (),
        evidence.paths if evidence is not None else (),
        others,
    )


@verb(
    Access.READ,
    command="project list",
    examples=("commonplace project list", "commonplace project list --json"),
    no_tool="a session knows its folder",
)
def list_projects(context: BookContext, _: NoRequest) -> list[ProjectItem]:
    """List the projects of this book: where they were seen, how many memories they have, and the last change.

    The last changed comes first. An agent is shown its own project only.
    """
    files = context.memories.files
    own = find_page(files, context.caller.project) if context.caller.project is not None else None
    found = []
    for folder, page in list_scope_pages(files, ScopeKind.PROJECT):
        is_own = own is not None and page.id == own.id
        if not (is_own or context.sees_all):
            continue
        context.memories.freshen(folder)
        items = context.list_memories([folder])
        updated = max((item.updated for item in items), default="")
        paths = page.evidence.paths if page.evidence is not None else ()
        found.append(ProjectItem(page.id, paths, len(items), updated, is_own))
    return sorted(found, key=lambda item: item.updated, reverse=True)


def count_memories(context: BookContext, project_id: str) -> int:
    """Return how many memories a project has."""
    folder = project_folder(context.memories.files, project_id)
    context.memories.freshen(folder)
    return len(context.list_memories([folder]))


def describe_hint(context: BookContext) -> str | None:
    """Return one line about memories of another project that this folder may be; None if there are none."""
    match = context.match
    if match is None or not (match.hints or (match.guesses and context.is_person)):
        return None
    counts = dict[str, int]()
    for ident in match.hints or match.guesses:
        with suppress(CommonplaceError):  # no command fails because of a note
            counts[ident] = count_memories(context, ident)
    counts = {ident: number for ident, number in counts.items() if number}
    if not counts:
        return None
    kept = ", ".join(f"{number} for {ident}" for ident, number in counts.items())
    first = next(iter(counts))
    number = f"{counts[first]} {'memory is' if counts[first] == 1 else 'memories are'} kept for {first}"
    text = f"{number if len(counts) == 1 else f'Memories are kept for other projects: {kept}'}, not shown here."
    text += f" If this folder is that project: commonplace project adopt {first}"
    if find_page(context.memories.files, match.stored_as) is not None:
        text += f" (or bring them here: commonplace project merge {first}; if it is not: commonplace project split)"
    return text


def enter_project(memories: MemoryStore, identity: Identity, repositories: KnownRepositories) -> ProjectMatch:
    """Return the project of a folder, whose memories it takes over if it stored them under an earlier id.

    Nothing is made where nothing is stored, and what has memories of its own is left alone.
    """
    match = match_project(memories.files, identity, repositories)
    stored = Scope(ScopeKind.PROJECT, match.stored_as)
    try:
        # A reader waits for no lock: the next one that opens the book tries again.
        if match.alias:
            folder = project_folder(memories.files, match.stored_as)
            change_scope_page(memories, folder, lambda page: {"aliases": [*page.aliases, match.alias]}, timeout=0)
        elif match.stored_as != match.id:
            rename_scope(memories, stored, match.id, timeout=0)
    except (Conflict, NotFound):  # another process was faster
        pass
    except CommonplaceError as error:  # a read-only book, or a full disk: it can still be read under the old id
        log.info("event=project_not_renamed code=%s", error.code)
        return match._replace(id=match.stored_as)
    return match._replace(stored_as=match.id)


def remember_evidence(
    memories: MemoryStore, match: ProjectMatch, identity: Identity, repositories: KnownRepositories
) -> ProjectMatch:
    """Remember what a project's folder can be known by, if the project does not yet. A reader does not wait for it.

    Return the match, with the other projects that a folder was in before it came to this one.
    """
    if identity.source == "override":
        return match
    page = find_page(memories.files, match.stored_as)
    if page is None or (page.evidence is not None and is_remembered(identity.backing, page.evidence)):
        return match
    evidence = gather_evidence(identity.backing, repositories)  # before the lock: it may ask git
    folder = project_folder(memories.files, match.stored_as)
    others = find_others(list_pages(memories.files), page, identity.backing)

    def add(page: ScopePage) -> dict[str, str | list[str] | None]:
        more = (page.evidence or Evidence()).with_more(evidence)._asdict()
        fields: dict[str, str | list[str] | None] = {name: list(values) for name, values in more.items()}
        return fields | ({"related": list(dict.fromkeys((*(page.related or ()), *others)))} if others else {})

    try:
        change_scope_page(memories, folder, add, timeout=0)
    except CommonplaceError as error:
        log.info("event=evidence_not_remembered code=%s", error.code)
    return match._replace(hints=tuple(dict.fromkeys((*match.hints, *others))))


def name_in_others(memories: MemoryStore, match: ProjectMatch, identity: Identity) -> None:
    """Write on the pages of projects that a folder was in before that it is this one now, for when it comes back."""
    for ident in match.hints:
        other, stamp = find_page(memories.files, ident), identity.backing.stamp
        if other is None or other.evidence is None or stamp not in other.evidence.stamps:
            continue
        if match.id not in (other.related or ()):
            folder = project_folder(memories.files, ident)
            with suppress(CommonplaceError):  # the next command tries again
                change_scope_page(
                    memories, folder, lambda page: {"related": [*(page.related or ()), match.id]}, timeout=0
                )
