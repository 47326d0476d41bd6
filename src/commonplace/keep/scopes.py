"""`_scope.md`: the true id of a scope whose folder name is made from it, and the ids it had before.

An id changes when a repository is renamed, moved or gets a remote. Its memories stay where they are: the old folder
keeps its name, and the new id becomes the id in its `_scope.md`, the old one an alias.
"""

from commonplace.keep.evidence import Backing, Evidence
from commonplace.keep.evidence_gathering import gather_evidence, is_remembered
from commonplace.keep.identity import Identity
from commonplace.keep.scope_pages import (
    SCOPE_PAGE,
    ProjectMatch,
    ScopePage,
    find_folder,
    find_page,
    list_scope_folders,
    match_project,
    read_scope_page,
    scope_pages,
)
from commonplace.keep.unit import Keep
from commonplace.model.errors import CommonplaceError, Conflict, LinkRefused, NotFound, ReadOnly
from commonplace.model.keys import is_key_name
from commonplace.model.log import Log
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.vault.paths import JOURNAL, BookPath
from commonplace.vault.port import ABSENT, Kind, Write
from commonplace.vault.view import KEEPER

__all__ = [
    "SCOPE_PAGE",
    "ProjectMatch",
    "ScopePage",
    "claim_project",
    "describe",
    "enter_project",
    "find_folder",
    "read_scope_page",
    "remember_evidence",
    "rename_scope",
    "scope_folders",
    "scope_pages",
]

log = Log("commonplace.keep")

_KINDS = frozenset(kind.value for kind in ScopeKind)


def describe(keep: Keep, scope: Scope, folder: BookPath, evidence: Evidence | None = None) -> Write | None:
    """The write that makes a folder's `_scope.md`; None when it needs none or has one. `evidence`: what a project is
    to know its folders by."""
    path = folder / SCOPE_PAGE
    if scope.id is None or keep.vault.stat(keep.space, KEEPER, path) is not None or scope.folder_name == scope.id:
        return None
    return Write(path, _render(ScopePage(scope.kind.value, scope.id, (), evidence)), ABSENT)


def rename_scope(keep: Keep, scope: Scope, new_id: str) -> BookPath:
    """From now on this scope is `new_id`; everything stored under the old id stays reachable by both."""
    renamed = Scope(scope.kind, new_id)
    folder = find_folder(keep, scope)
    with keep.unit(folder, KEEPER) as unit:
        page = read_scope_page(keep, folder)
        if page is None:
            raise NotFound(f"There is nothing stored for {scope} that could be renamed.")
        taken = find_folder(keep, renamed)
        if taken != folder and keep.vault.stat(keep.space, KEEPER, taken) is not None:
            raise Conflict(f"{renamed} has memories of its own.", hint="Move or consolidate those first.")
        if page.id == new_id:
            return folder
        aliases = dict.fromkeys((*page.aliases, page.id))
        aliases.pop(new_id, None)
        document = keep.vault.read(keep.space, KEEPER, folder / SCOPE_PAGE)
        front, body = split(document.data.decode("utf-8", "surrogateescape"))
        front = front.put("id", new_id).put("aliases", list(aliases))
        data = (front.render() + body).encode("utf-8", "surrogateescape")
        unit.put_aside(Write(folder / SCOPE_PAGE, data, document.revision))
        unit.commit()
    return folder


def enter_project(keep: Keep, identity: Identity) -> ProjectMatch:
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


def remember_evidence(keep: Keep, match: ProjectMatch, identity: Identity) -> None:
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


def claim_project(keep: Keep, identity: Identity, project_id: str) -> ScopePage:
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
    keep: Keep, project_id: str, backing: Backing, *, alias: str | None = None, timeout: float | None = None
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


def _render(page: ScopePage) -> bytes:
    front = Frontmatter("---\n", (), "---\n").put("scope", page.kind).put("id", page.id)
    front = front.put("aliases", list(page.aliases))
    for name, values in zip(Evidence._fields, page.evidence or (), strict=False):
        front = front.put(name, list(values))
    body = f"# {page.kind}\n\nThe memories in this folder belong to the {page.kind} that is named above.\n"
    return (front.render() + body).encode()


def scope_folders(keep: Keep) -> list[BookPath]:
    """Every scope there is, by its folder."""
    return list_scope_folders(keep.vault, keep.space)


def journal_folders(keep: Keep) -> list[BookPath]:
    """The journal of every project that has one, by its folder."""
    try:
        listed = keep.vault.list_folder(keep.space, KEEPER, JOURNAL)
    except (NotFound, LinkRefused):
        return []
    names = [item.name for item in listed if item.stat.kind is Kind.FOLDER and is_key_name(item.name)]
    return [
        JOURNAL / name for name in names if name not in _KINDS
    ]  # no project's folder: what was put aside is named so
