"""The verbs `project` and `adopt_project`, and how a folder enters its project when a book is opened.

A project's memories are found under the id it has now, and its `_scope.md` records what its folders can be known by.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from commonplace.memories.lookup import rename_scope
from commonplace.memories.store import MemoryStore, log
from commonplace.model.errors import (
    CommonplaceError,
    Conflict,
    Disabled,
    InvalidScope,
    NotFound,
    NotPermitted,
    StorageError,
)
from commonplace.model.results import ProjectInfo
from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.identity import Backing, Identity, ProjectMatch, find_page, match_project
from commonplace.project.root_commit import gather_evidence, is_remembered
from commonplace.text.frontmatter import split
from commonplace.vault.paths import KEEPER
from commonplace.vault.port import Write
from commonplace.vault.scope_pages import SCOPE_PAGE, Evidence, ScopePage, find_folder, read_scope_page
from commonplace.verbs.context import BookContext
from commonplace.verbs.verb import Access, Arg, NoRequest, verb


class AdoptRequest(NamedTuple):
    """What `adopt_project` is asked."""

    project_id: Annotated[str, Arg("the project's id, as `commonplace status` shows it", "ID", is_positional=True)]


@verb(
    Access.READ,
    command="project show",
    examples=("commonplace project", "commonplace project show --json"),
    no_tool="a session knows its folder",
)
def project(context: BookContext, _: NoRequest) -> ProjectInfo:
    """Show which project this folder is.

    A folder is known by its git remote, its marker or its path. It gets the memories of that project if it can prove
    that it is the same one: by the root commit, by the marker's nonce, or because it is where it was. A shallow clone,
    or a folder from an archive, cannot. If you know better, `commonplace project adopt` gives it those memories.
    """
    scope = context.caller.scope("project")
    source = context.identity.source if context.identity is not None else "override"
    count = len(context.list_memories(context.folders_to_search("project")))
    return ProjectInfo(scope.id or "", source, count, context.unproved)


@verb(
    Access.READ,
    audit=lambda info, _: {"count": info.memories},
    command="project adopt",
    examples=("commonplace project adopt github.com/acme/app",),
    no_tool="only for a person",
)
def adopt_project(context: BookContext, request: AdoptRequest) -> ProjectInfo:
    """Give this folder the memories of a project, from now on."""
    if not context.settings.enabled:
        raise Disabled
    if not context.sees_all:
        raise NotPermitted("Only a person decides which project a folder is.")
    identity = context.identity
    if identity is None or identity.source == "override":
        raise InvalidScope(
            "No folder here can become a project's.", hint="Run it inside the folder, without --project."
        )
    page = claim_project(context.memories, identity, request.project_id)
    scope = Scope(ScopeKind.PROJECT, page.id)
    return ProjectInfo(page.id, identity.source, len(context.list_memories([context.folder(scope)])), None)


def enter_project(memories: MemoryStore, identity: Identity) -> ProjectMatch:
    """Return the project of a folder, whose memories it takes over if it stored them under an earlier id.

    Nothing is made where nothing is stored, and what has memories of its own is left alone.
    """
    match = match_project(memories.files, identity)
    if match.stored_as == match.id:
        return match
    try:
        rename_scope(memories, Scope(ScopeKind.PROJECT, match.stored_as), match.id, timeout=0)
    except StorageError:  # a reader needs no new name, and waits for none: the next one that opens the book tries again
        return match
    except (Conflict, NotFound):  # another process was faster
        pass
    return match._replace(stored_as=match.id)


def remember_evidence(memories: MemoryStore, match: ProjectMatch, identity: Identity) -> None:
    """Remember what a project's folder can be known by, if the project does not yet. A reader does not wait for it."""
    if identity.source == "override":
        return
    page = find_page(memories.files, match.stored_as)
    if page is None or (page.evidence is not None and is_remembered(identity.backing, page.evidence)):
        return
    try:
        _add_evidence(memories, match.stored_as, identity.backing, timeout=0)
    except CommonplaceError as error:
        log.info("event=evidence_not_remembered code=%s", error.code)


def claim_project(memories: MemoryStore, identity: Identity, project_id: str) -> ScopePage:
    """Make a folder one of a project's, because a person says so. Raises NotFound, or Conflict where the folder has
    memories of its own under the name it claims."""
    page = find_page(memories.files, project_id)
    if page is None:
        raise NotFound(f"There is no project {project_id!a} in this book.", hint="`commonplace list --all` names them.")
    known = find_page(memories.files, identity.id)
    if known is not None and known.id != page.id:
        raise Conflict(
            f"This folder is {known.id}, which has memories of its own.",
            hint=f"To work on the other one from here, give `--project {page.id}`.",
        )
    _add_evidence(memories, page.id, identity.backing, alias=identity.id if known is None else None)
    return page


def _add_evidence(
    memories: MemoryStore, project_id: str, backing: Backing, *, alias: str | None = None, timeout: float | None = None
) -> None:
    evidence = gather_evidence(backing)  # before the lock: it may ask git
    folder = find_folder(memories.files, Scope(ScopeKind.PROJECT, project_id))
    with memories.unit(folder, KEEPER, timeout=timeout) as unit:
        page = read_scope_page(memories.files, folder)
        if page is None:
            return
        document = memories.vault.read(memories.space, KEEPER, folder / SCOPE_PAGE)
        front, body = split(document.data.decode("utf-8", "surrogateescape"))
        if alias is not None:
            front = front.put("aliases", [*page.aliases, alias])
        for name, values in zip(Evidence._fields, (page.evidence or Evidence()).with_more(evidence), strict=True):
            front = front.put(name, list(values))
        data = (front.render() + body).encode("utf-8", "surrogateescape")
        if data != document.data:
            unit.put_aside(Write(folder / SCOPE_PAGE, data, document.revision))
            unit.commit()
