"""A book as a hook opens it: read, never made, mended, indexed or adopted, and without waiting for anybody.

What is missing is done without: no index, and the pages and notes are read; no state, and nothing is remembered of the
session; no book, and there is nothing to say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from commonplace.context.ground import Ground
from commonplace.index.sqlite.reader import SqliteIndexReader
from commonplace.keep.caller import Caller, Role
from commonplace.keep.entrance import databases_of, project_of, root_of, settings_of
from commonplace.keep.scope_pages import ProjectMatch, find_folder, match_project
from commonplace.model.errors import CommonplaceError, NotFound, StorageError
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.settings import Settings, load_settings
from commonplace.model.space import LOCAL, Space
from commonplace.state.port import State
from commonplace.state.sqlite import SqliteState
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import PRIVATE, BookPath
from commonplace.vault.view import view_of

Complain = Callable[[str, BaseException], None]


class Opened(NamedTuple):
    root: str
    settings: Settings
    caller: Caller
    ground: Ground
    state: State | None

    def close(self) -> None:
        """Let go of the files. A hook never does: closing a database may write and sync it, and the process ends."""
        if self.state is not None:
            self.state.close()
        if isinstance(self.ground.reader, SqliteIndexReader):
            self.ground.reader.close()


class _Files(NamedTuple):
    vault: LocalVault
    space: Space = LOCAL


def find_root(environment: Mapping[str, str]) -> str | None:
    """The root of the book; None where there is none."""
    root = root_of(load_settings({}, environment, {}))
    return root if os.path.isdir(os.path.join(root, PRIVATE.name)) else None


def open_book(
    root: str,
    environment: Mapping[str, str],
    *,
    session: str | None,
    agent: str,
    cwd: str | None,
    complain: Complain,
) -> Opened | None:
    """The book at a root, for an agent; None when there is none, or memory is switched off."""
    vault = LocalVault.at(root)
    settings, _ = settings_of(vault, {}, environment)
    if not settings.enabled:
        return None
    try:
        folder = databases_of(vault, root, settings)
    except NotFound:
        return None
    state = _state(folder, complain)
    here = cwd if cwd is not None and os.path.isdir(cwd) else None
    identity = project_of(state, settings, root, here)
    match = match_project(_Files(vault), identity) if identity is not None else None
    project = match.id if match is not None else settings.project
    caller = Caller(Role.AGENT, settings.session or session, settings.agent or agent, project, settings.sealed)
    folders = _folders(_Files(vault), caller, match)
    view = view_of(frozenset(folders.values()), frozenset(), sealed=caller.sealed)
    reader: SqliteIndexReader | None = None
    try:
        reader = SqliteIndexReader(os.path.join(folder, "index.db"))
    except StorageError as error:
        complain("index", error)
    ground = Ground(vault, LOCAL, view, reader, folders, match.unproved if match is not None else None)
    return Opened(root, settings, caller, ground, state)


def _state(folder: str, complain: Complain) -> State | None:
    if not os.path.isdir(folder):
        return None
    try:
        return SqliteState.open(os.path.join(folder, "state.db"))
    except CommonplaceError as error:
        complain("state", error)
        return None


def _folders(files: _Files, caller: Caller, match: ProjectMatch | None) -> dict[Scope, BookPath]:
    """The folders of the caller's scopes; a project that moved is found where it was before, and stays there."""
    found: dict[Scope, BookPath] = {}
    for scope in caller.scopes():
        with suppress(CommonplaceError):  # one that cannot be found does not take the others with it
            own = scope
            if scope.kind is ScopeKind.PROJECT and match is not None:
                own = Scope(ScopeKind.PROJECT, match.stored_as)
            found[scope] = find_folder(files, own)
    return found
