"""Entering a project: its memories are found under the name it has now, and it learns what its folder is known by."""

from __future__ import annotations

from commonplace.memories.scopes import (
    log,
    rename_scope,
)
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError, Conflict, NotFound, ReadOnly
from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.evidence import Backing
from commonplace.project.identity import Identity
from commonplace.project.matching import ProjectMatch, find_page, match_project
from commonplace.project.root_commit import gather_evidence, is_remembered
from commonplace.text.frontmatter import split
from commonplace.vault.paths import KEEPER
from commonplace.vault.port import Write
from commonplace.vault.scope_pages import (
    SCOPE_PAGE,
    Evidence,
    ScopePage,
    find_folder,
    read_scope_page,
)


def enter_project(keep: MemoryStore, identity: Identity) -> ProjectMatch:
    """Return the project of a folder, whose memories it takes over if it stored them under an earlier id.

    Nothing is made where nothing is stored, and what has memories of its own is left alone.
    """
    match = match_project(keep, identity)
    if match.stored_as == match.id:
        return match
    try:
        rename_scope(keep, Scope(ScopeKind.PROJECT, match.stored_as), match.id)
    except ReadOnly:  # then it can still be read
        return match
    except (Conflict, NotFound):  # another process was faster
        pass
    return match._replace(stored_as=match.id)


def remember_evidence(keep: MemoryStore, match: ProjectMatch, identity: Identity) -> None:
    """Remember what a project's folder can be known by, if the project does not yet. A reader does not wait for it."""
    if identity.source == "override":
        return
    page = find_page(keep, match.stored_as)
    if page is None or (page.evidence is not None and is_remembered(identity.backing, page.evidence)):
        return
    try:
        _add_evidence(keep, match.stored_as, identity.backing, timeout=0)
    except CommonplaceError as error:
        log.info("event=evidence_not_remembered code=%s", error.code)


def claim_project(keep: MemoryStore, identity: Identity, project_id: str) -> ScopePage:
    """Make a folder one of a project's, because a person says so. Raises NotFound, or Conflict where the folder has
    memories of its own under the name it claims."""
    page = find_page(keep, project_id)
    if page is None:
        raise NotFound(f"There is no project {project_id!a} in this book.", hint="`commonplace list --all` names them.")
    known = find_page(keep, identity.id)
    if known is not None and known.id != page.id:
        raise Conflict(
            f"This folder is {known.id}, which has memories of its own.",
            hint=f"To work on the other one from here, give `--project {page.id}`.",
        )
    _add_evidence(keep, page.id, identity.backing, alias=identity.id if known is None else None)
    return page


def _add_evidence(
    keep: MemoryStore, project_id: str, backing: Backing, *, alias: str | None = None, timeout: float | None = None
) -> None:
    evidence = gather_evidence(backing)  # before the lock: it may ask git
    folder = find_folder(keep, Scope(ScopeKind.PROJECT, project_id))
    with keep.unit(folder, KEEPER, timeout=timeout) as unit:
        page = read_scope_page(keep, folder)
        if page is None:
            return
        document = keep.vault.read(keep.space, KEEPER, folder / SCOPE_PAGE)
        front, body = split(document.data.decode("utf-8", "surrogateescape"))
        if alias is not None:
            front = front.put("aliases", [*page.aliases, alias])
        for name, values in zip(Evidence._fields, (page.evidence or Evidence()).with_more(evidence), strict=True):
            front = front.put(name, list(values))
        data = (front.render() + body).encode("utf-8", "surrogateescape")
        if data != document.data:
            unit.put_aside(Write(folder / SCOPE_PAGE, data, document.revision))
            unit.commit()
