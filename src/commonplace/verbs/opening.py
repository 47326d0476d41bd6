"""Opening a book: settings, files, databases, and who is asking.

A root that cannot be written can still be read: then nothing is made in it, and the databases are elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing

from commonplace.guard.audit import AuditLog
from commonplace.index.port import Index
from commonplace.index.sqlite import SqliteIndex
from commonplace.memories.open_settings import BOOK_ID, book_root, find_database_folder, load_book_settings
from commonplace.memories.provenance import KEY
from commonplace.memories.scaffold import scaffold
from commonplace.memories.store import MemoryStore
from commonplace.model.caller import Caller, Role
from commonplace.model.errors import ReadOnly, SecretFound, StateUnusable
from commonplace.model.lazy import Log
from commonplace.model.results import ScaffoldResult
from commonplace.model.scope import LOCAL
from commonplace.model.settings import Settings, load_settings
from commonplace.project.identity import Identity, identify_caller
from commonplace.project.matching import ProjectMatch
from commonplace.state.port import State
from commonplace.state.sqlite import SqliteState
from commonplace.vault.disk import open_disk
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER, PRIVATE
from commonplace.verbs.desk import Desk
from commonplace.verbs.entering import enter_project, remember_evidence

log = Log("commonplace.book")

_BREAKS = str.maketrans(dict.fromkeys("-_./:", " "))


def open_desk(
    root: str | os.PathLike[str] | None,
    flags: Mapping[str, object],
    role: Role | None,
    cwd: str | os.PathLike[str] | None,
    surface: str = "library",
    environment: Mapping[str, str] | None = None,
) -> Desk:
    """Open the parts of a book: files, index, state; and find out who is asking."""
    environment = os.environ if environment is None else environment
    given = {"root": os.fspath(root) if root is not None else None, **flags}
    settings = load_settings(given, environment, {})
    is_agent = settings.agent is not None  # config.toml names a profile; only the caller says who is calling
    place = book_root(settings)
    vault = LocalVault.at(place, make=True)
    settings, config = load_book_settings(vault, given, environment)
    _check_ids(settings)
    _scaffold(vault, settings)
    folder = _database_folder(vault, place, settings)
    if vault.stat(LOCAL, KEEPER, KEY) is None:
        _settle(vault, folder, settings)
    index, state = _databases(folder)
    keep = MemoryStore(vault, index, lock_timeout=settings.lock_timeout)
    identity = identify_caller(state, settings, place, cwd)
    match = _enter_project(keep, state, identity) if identity is not None else None
    project = match.id if match is not None else settings.project
    if role is None:
        role = Role.AGENT if is_agent else Role.PERSON
    caller = Caller(role, settings.session, settings.agent, project, settings.sealed)
    trail = AuditLog(open_disk(place), settings.audit_days) if settings.enabled and settings.audit_days else None
    return Desk(
        keep, state, settings, caller, root=place, database_folder=folder, flags=given, config=config, trail=trail,
        surface=surface, identity=identity, match=match,
    )  # fmt: skip


def launch_settings(
    root: str | os.PathLike[str] | None, flags: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> Settings:
    """What `open_desk` would go by, for a server that has to know before anybody asks for something. Makes nothing."""
    environment = os.environ if environment is None else environment
    given = {"root": os.fspath(root) if root is not None else None, **flags}
    settings = load_settings(given, environment, {})
    place = book_root(settings)
    if not os.path.isdir(place):
        return settings
    vault = LocalVault.at(place)
    try:
        return load_book_settings(vault, given, environment)[0]
    finally:
        vault.close()


def make_book(
    root: str | os.PathLike[str] | None, template: str, environment: Mapping[str, str] | None = None
) -> ScaffoldResult:
    """Make what is missing of a book; answers where it is and what was made."""
    environment = os.environ if environment is None else environment
    settings = load_settings({"root": os.fspath(root) if root is not None else None}, environment, {})
    place = book_root(settings)
    vault = LocalVault.at(place, make=True)
    try:
        made = scaffold(vault, template, lock_timeout=settings.lock_timeout)
    finally:
        vault.close()
    return ScaffoldResult(place, tuple(str(path) for path in made if not path.is_within(PRIVATE)))


def _check_ids(settings: Settings) -> None:
    """Ids become names of folders, and stand in entries and in the audit: one that is a secret opens nothing."""
    for name in ("session", "agent", "project"):
        word = getattr(settings, name)
        if word is not None and _is_long(word):
            from commonplace.guard.secrets import find_secrets  # noqa: PLC0415 - most ids are plain at a glance

            for found in find_secrets(word)[:1]:
                raise SecretFound(
                    f"The {name} has what looks like a secret in its id: {found.rule}. Nothing was opened.",
                    hint=f"Give another {name}: its id becomes the name of a folder.",
                )


def _is_long(word: str) -> bool:
    """Whether a token could be in it: no piece of a UUID, a path or an address is so long."""
    pieces = word.translate(_BREAKS).split()
    return any(len(piece) > 20 or (len(piece) > 12 and not piece.isalpha()) for piece in pieces)


def _scaffold(vault: LocalVault, settings: Settings) -> None:
    try:
        scaffold(vault, lock_timeout=settings.lock_timeout)
    except ReadOnly:
        if vault.stat(LOCAL, KEEPER, BOOK_ID) is None:
            raise  # not a book, and none can be made here
        log.warning("event=read_only_root")


def _database_folder(vault: LocalVault, root: str, settings: Settings) -> str:
    folder = find_database_folder(vault, root, settings)
    LocalVault.at(folder, make=True)
    return folder


def _databases(folder: str) -> tuple[Index, State]:
    index = SqliteIndex(os.path.join(folder, "index.db"))
    try:
        return index, SqliteState.open(os.path.join(folder, "state.db"))
    except StateUnusable as error:  # losing the state loses no memory: go on without
        log.warning("event=state_unusable code=%s", error.code)
        return index, SqliteState.in_memory()


def _settle(vault: LocalVault, folder: str, settings: Settings) -> None:
    """Give a key to a book that has none, once. One with an index of before there were keys was kept here by a version
    that knew none. A later index tells nothing: it may be of a process that was killed before it made a key, of when
    the book was read-only, or, outside the book, of another with the same id."""
    from commonplace.index.sqlite.reader import is_from_before  # noqa: PLC0415 - once in the life of a book
    from commonplace.index.sqlite.schema import KEYED  # noqa: PLC0415 - the same
    from commonplace.memories.arrivals import create_book_key  # noqa: PLC0415 - the same

    own = is_from_before(os.path.join(folder, "index.db"), KEYED)
    with closing(SqliteIndex(":memory:")) as no_index:  # opening the book's own now would hide which version it is of
        try:
            create_book_key(MemoryStore(vault, no_index, lock_timeout=settings.lock_timeout), own=own)
        except ReadOnly:
            log.warning("event=no_key")


def _enter_project(keep: MemoryStore, state: State, identity: Identity) -> ProjectMatch:
    """Return the caller's project, and remember what its folder can be known by."""
    match = enter_project(keep, identity)
    if match.unproved is None:
        remember_evidence(keep, match, identity)
        if identity.new_marker is not None:
            nonce, path = identity.new_marker
            state.set_fact(LOCAL, f"marker/{nonce}", path)
    return match
