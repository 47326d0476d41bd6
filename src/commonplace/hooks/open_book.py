"""A book as a hook opens it: for reading. It is never created, repaired, indexed or adopted, and nothing is waited for.

What is missing is done without: without an index, pages and notes are read; without a state, nothing is remembered of
the session; without a book, there is nothing to say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from commonplace.context.sources import BriefSources
from commonplace.index.sqlite.reader import SqliteIndexReader
from commonplace.memories.open_settings import book_root, find_database_folder, load_book_settings
from commonplace.model.caller import Caller, Role
from commonplace.model.errors import CommonplaceError, NotFound, StorageError
from commonplace.model.scope import LOCAL, Scope, ScopeKind, Space
from commonplace.model.settings import Settings, load_settings
from commonplace.project.identity import identify_caller
from commonplace.project.matching import ProjectMatch, match_project
from commonplace.state.port import State
from commonplace.state.sqlite import SqliteState
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import PRIVATE, BookPath, view_of
from commonplace.vault.scope_pages import find_folder

LogFailure = Callable[[str, BaseException], None]


class HookBook(NamedTuple):
    """An open book: its settings, the caller, what to read from, and the state if it can be opened."""

    root: str
    settings: Settings
    caller: Caller
    sources: BriefSources
    state: State | None

    def close(self) -> None:
        """Close the databases, in tests. A hook process just ends: closing a database may write and sync it."""
        if self.state is not None:
            self.state.close()
        if isinstance(self.sources.index_reader, SqliteIndexReader):
            self.sources.index_reader.close()


class _BookFiles(NamedTuple):
    vault: LocalVault
    space: Space = LOCAL


def find_root(environment: Mapping[str, str]) -> str | None:
    """Return the root of the book; None if there is no book."""
    root = book_root(load_settings({}, environment, {}))
    return root if os.path.isdir(os.path.join(root, PRIVATE.name)) else None


def open_book(
    root: str,
    environment: Mapping[str, str],
    *,
    session: str | None,
    agent: str,
    cwd: str | None,
    log_failure: LogFailure,
) -> HookBook | None:
    """Return the book at a root, for an agent; None if there is none, or memory is switched off."""
    vault = LocalVault.at(root)
    settings, _ = load_book_settings(vault, {}, environment)
    if not settings.enabled:
        return None
    try:
        folder = find_database_folder(vault, root, settings)
    except NotFound:
        return None
    state = _open_state(folder, log_failure)
    here = cwd if cwd is not None and os.path.isdir(cwd) else None
    identity = identify_caller(state, settings, root, here)
    match = match_project(_BookFiles(vault), identity) if identity is not None else None
    project = match.id if match is not None else settings.project
    caller = Caller(Role.AGENT, settings.session or session, settings.agent or agent, project, settings.sealed)
    folders = _find_folders(_BookFiles(vault), caller, match)
    view = view_of(frozenset(folders.values()), frozenset(), sealed=caller.sealed)
    index: SqliteIndexReader | None = None
    try:
        index = SqliteIndexReader(os.path.join(folder, "index.db"))
    except StorageError as error:
        log_failure("index", error)
    sources = BriefSources(vault, LOCAL, view, index, folders, match.unproved if match is not None else None)
    return HookBook(root, settings, caller, sources, state)


def _open_state(folder: str, log_failure: LogFailure) -> State | None:
    if not os.path.isdir(folder):
        return None
    try:
        return SqliteState.open(os.path.join(folder, "state.db"))
    except CommonplaceError as error:
        log_failure("state", error)
        return None


def _find_folders(files: _BookFiles, caller: Caller, match: ProjectMatch | None) -> dict[Scope, BookPath]:
    """Return the folders of the caller's scopes; a project that moved keeps the folder it had."""
    found: dict[Scope, BookPath] = {}
    for scope in caller.scopes():
        with suppress(CommonplaceError):  # one that cannot be found does not stop the others
            own = scope
            if scope.kind is ScopeKind.PROJECT and match is not None:
                own = Scope(ScopeKind.PROJECT, match.stored_as)
            found[scope] = find_folder(files, own)
    return found
