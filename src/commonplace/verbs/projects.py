"""The verbs `project show` and `project adopt`: which project a folder is, and whose memories it gets."""

from __future__ import annotations

from commonplace.model.errors import Disabled, InvalidScope, NotPermitted
from commonplace.model.results import ProjectInfo
from commonplace.model.scope import Scope, ScopeKind
from commonplace.verbs.desk import Desk
from commonplace.verbs.entering import claim_project


def show_project(desk: Desk) -> ProjectInfo:
    """Return the project of the caller's folder. Raises InvalidScope where there is none."""
    desk.caller.check_reads()
    scope = desk.caller.scope("project")
    source = desk.identity.source if desk.identity is not None else "override"
    return ProjectInfo(scope.id or "", source, len(desk.listing(desk.asked("project"))), desk.unproved)


def adopt_project(desk: Desk, project_id: str) -> ProjectInfo:
    """Give the caller's folder the memories of a project, from now on. Only a person may: the folder proves nothing."""
    if not desk.settings.enabled:
        raise Disabled
    if not desk.sees_all:
        raise NotPermitted("Only a person decides which project a folder is.")
    identity = desk.identity
    if identity is None or identity.source == "override":
        raise InvalidScope(
            "No folder here can become a project's.", hint="Run it inside the folder, without --project."
        )
    page = claim_project(desk.keep, identity, project_id)
    scope = Scope(ScopeKind.PROJECT, page.id)
    return ProjectInfo(page.id, identity.source, len(desk.listing([desk.folder(scope)])), None)
