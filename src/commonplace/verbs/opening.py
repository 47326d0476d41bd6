"""Opening a book: settings, files, databases, and who calls.

A book that cannot be written can still be read: on a read-only or full disk nothing is made in it, the databases are
elsewhere or in memory, and nothing is waited for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Self

from commonplace import verbs
from commonplace.guard import find_secret_in_id
from commonplace.guard.audit import AuditLog, who_of
from commonplace.index.port import Index
from commonplace.index.sqlite.database import SqliteIndex
from commonplace.memories.layout import (
    BOOK_ID,
    KEY,
    book_root,
    check_format,
    find_database_folder,
    is_network,
    load_book_settings,
    read_config,
    scaffold,
)
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import (
    CommonplaceError,
    InvalidScope,
    InvalidSettings,
    NotFound,
    SecretFound,
    StateUnusable,
    StorageError,
    TooManyFiles,
)
from commonplace.model.results import ScaffoldResult
from commonplace.model.scope import LOCAL, Caller, Role, Scope, ScopeKind, read_role
from commonplace.model.settings import Settings, load_settings, split_config
from commonplace.project.identity import Identity, identify_caller
from commonplace.project.matching import KnownRepositories, ProjectMatch
from commonplace.project.root_commit import ask_root_commit
from commonplace.state.port import State, last_look
from commonplace.state.sqlite import SqliteState
from commonplace.vault.disk import open_disk, try_to_make_folder
from commonplace.vault.disk_port import converting_os_errors
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER, PRIVATE, SOURCE_PAGE, TREE
from commonplace.vault.port import Vault
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.project import enter_project, name_in_others, remember_evidence

if TYPE_CHECKING:
    from commonplace.model.choices import RoleChoice

_IDS = ("session", "agent", "project")


def open_context(
    root: str | os.PathLike[str] | None,
    flags: Mapping[str, object],
    role: Role | None,
    cwd: str | os.PathLike[str] | None,
    surface: str,
    *,
    for_repair: bool,
) -> BookContext:
    """Open the parts of a book: files, index and state; and find out who calls.

    `for_repair` opens a book whose settings, id or databases cannot be used: the context names them as its `faults`,
    and refuses all verbs but those that say what is wrong and mend it.
    """
    given = {**_root_flag(root), **flags}
    settings = load_settings(given, os.environ, {})
    is_agent = settings.agent is not None  # config.toml names a profile; only the caller says who is calling
    place = book_root(settings)
    vault = _open_root(place)
    vault.claim_locks(partial(is_network, place))
    faults: list[CommonplaceError] = []
    if for_repair:
        check_format(vault)
        config, faults = read_valid_config(vault)
        settings = load_settings(given, os.environ, config)
    else:
        settings, config = load_book_settings(vault, given, os.environ)
    check_ids(settings)
    try:
        _scaffold(vault, settings)
        folder, index, state = _open_databases(vault, place, settings)
    except CommonplaceError as error:
        if not for_repair:
            raise
        faults.append(error)
        folder, index, state = os.path.join(place, PRIVATE.name), SqliteIndex(":memory:"), SqliteState(None)
    memories = MemoryStore(vault, index, lock_timeout=settings.lock_timeout, floor=lambda: last_look(state, LOCAL))
    try:
        identity, match = _identify(memories, state, settings, place, cwd)
    except TooManyFiles as error:
        index.detach(error)
        state.detach()
        identity, match = _identify(memories, state, settings, place, cwd)
    project = match.id if match is not None else settings.project
    if role is None:
        role = Role.AGENT if is_agent else Role.PERSON
    caller = Caller(role, settings.session, settings.agent, project, settings.sealed)
    audit_log = AuditLog(open_disk(place), settings.audit_days) if settings.enabled and settings.audit_days else None
    return BookContext(
        memories, state, settings, caller, root=place, database_folder=folder, flags=given, config=config,
        audit_log=audit_log, surface=surface, identity=identity, match=match, faults=faults,
    )  # fmt: skip


def read_valid_config(vault: Vault) -> tuple[dict[str, object], list[CommonplaceError]]:
    """Return the settings in config.toml that can be used, and what is wrong with the others, or with the file."""
    try:
        config, invalid = split_config(read_config(vault)[0])
    except CommonplaceError as error:
        return {}, [error]
    faults: list[CommonplaceError] = [*invalid]
    for name in [name for name in _IDS if name in config]:
        try:
            check_ids(load_settings({}, {}, {name: config[name]}))
        except (SecretFound, InvalidScope) as error:
            del config[name]
            hint = f"`commonplace config unset {name}` removes it."
            faults.append(InvalidSettings(f"{name} in config.toml cannot be used. {error.message}", hint=hint))
    return config, faults


def _root_flag(root: str | os.PathLike[str] | None) -> dict[str, object]:
    return {"root": os.fspath(root) if root is not None else None}


def has_sources(root: str | os.PathLike[str] | None) -> bool:
    """Return whether a book has mail, chat or documents, so that a server knows which tools to offer. Opens no book."""
    try:
        tree = os.path.join(book_root(load_settings(_root_flag(root), os.environ, {})), TREE.name)
        with os.scandir(tree) as items:
            return any(os.path.isfile(os.path.join(item.path, SOURCE_PAGE)) for item in items)
    except (CommonplaceError, OSError, ValueError):
        return False


def launch_settings(root: str | os.PathLike[str] | None, flags: Mapping[str, object]) -> Settings:
    """Return the settings that `open_context` would use, for a server that needs them first. Nothing is made."""
    given = {**_root_flag(root), **flags}
    settings = load_settings(given, os.environ, {})
    place = book_root(settings)
    if not os.path.isdir(place):
        return settings
    vault = LocalVault.at(place)
    try:
        return load_book_settings(vault, given, os.environ)[0]
    finally:
        vault.close()


def check_root(root: str | os.PathLike[str] | None, *, must_exist: bool = False) -> None:
    """Raise InvalidSettings if a root that was set, or another setting of the environment, is unusable.

    It is for a server that opens no book yet, and makes nothing.

    With `must_exist`, for a caller that only reads, a root that is missing is unusable: else a mistake in it would
    be an empty memory. The default root is not checked: what is wrong with it may be repaired while the server runs.
    """
    settings = load_settings(_root_flag(root), os.environ, {})
    if root is None and not os.environ.get("COMMONPLACE_ROOT"):
        return
    place = book_root(settings)
    try:
        if os.path.isdir(place):
            os.scandir(place).close()
            return
        if must_exist and not os.path.lexists(place):
            hint = "Correct --root or COMMONPLACE_ROOT, or make a book there: `commonplace init --root PATH`."
            raise InvalidSettings(f"There is no book at {place[:200]!a}.", hint=hint)
        above = place
        while not os.path.lexists(above) and above != os.path.dirname(above):
            above = os.path.dirname(above)
        try_to_make_folder(above)  # then the root can be made there, too
    except (OSError, ValueError) as error:
        raise _unusable_root(error, f"{place[:200]!a} ") from None


def _unusable_root(error: Exception, name: str = "") -> InvalidSettings:
    why = getattr(error, "strerror", None) or type(error).__name__
    return InvalidSettings(f"The root {name}cannot be used: {why}.", hint="Set another: --root, COMMONPLACE_ROOT.")


def _open_root(place: str) -> LocalVault:
    """Open the folder of a book, and make it if it is missing. Raises InvalidSettings where no folder can be made."""
    try:
        return LocalVault.at(place, make=True)
    except NotFound as error:  # what is above it is a file, or no folder can be made there
        raise _unusable_root(error.__cause__ if isinstance(error.__cause__, OSError) else error) from None


def make_book(root: str | os.PathLike[str] | None, template: str) -> ScaffoldResult:
    """Make a book, or what is missing in one; return where it is and what was made."""
    settings = load_settings(_root_flag(root), os.environ, {})
    place = book_root(settings)
    vault = _open_root(place)
    try:
        check_format(vault)
        made = scaffold(vault, template, lock_timeout=settings.lock_timeout, mends=True)
    finally:
        vault.close()
    return ScaffoldResult(place, tuple(str(path) for path in made if not path.is_within(PRIVATE)))


def check_ids(settings: Settings) -> None:
    """Refuse an id that no scope can have, or that contains a secret: ids name folders, and stand in entries and in the
    audit. Raises InvalidScope and SecretFound."""
    for name in _IDS:
        word = getattr(settings, name)
        if word is not None:
            Scope(ScopeKind(name), word.strip())
        rule = find_secret_in_id(word)
        if rule is not None:
            raise SecretFound(
                f"The {name} has what looks like a secret in its id: {rule}.",
                hint=f"Give another {name}: its id becomes the name of a folder.",
            )


def _scaffold(vault: LocalVault, settings: Settings) -> None:
    is_book = vault.stat(LOCAL, KEEPER, BOOK_ID) is not None
    try:
        scaffold(vault, lock_timeout=0 if is_book else settings.lock_timeout)
    except StorageError as error:
        if not is_book:
            raise  # and none can be made here
        log.warning("event=not_scaffolded code=%s", error.code)


def _open_databases(vault: LocalVault, root: str, settings: Settings) -> tuple[str, Index, State]:
    """Return the folder of the databases, and both of them open; a book without a key gets one first."""
    folder = find_database_folder(vault, root, settings)
    try:
        LocalVault.at(folder, make=True)
    except StorageError as error:
        log.warning("event=no_database_folder code=%s", error.code)
    if vault.stat(LOCAL, KEEPER, KEY) is None:
        verbs.doctor.create_key(vault, folder, settings)
    return folder, *_databases(folder)


def _databases(folder: str) -> tuple[Index, State]:
    index = SqliteIndex(os.path.join(folder, "index.db"))
    path: str | None = os.path.join(folder, "state.db")
    try:
        return index, SqliteState(path)
    except TooManyFiles as error:
        index.detach(error)
    except StateUnusable as error:  # losing the state loses no memory: go on without
        log.warning("event=state_unusable code=%s", error.code)
        path = None
    return index, SqliteState(path)


def _identify(
    memories: MemoryStore, state: State, settings: Settings, place: str, cwd: str | os.PathLike[str] | None
) -> tuple[Identity | None, ProjectMatch | None]:
    """Return what the caller's folder claims to be, and the project that it is."""
    identity = identify_caller(state, settings, place, cwd)
    return identity, _enter_project(memories, state, identity) if identity is not None else None


def _enter_project(memories: MemoryStore, state: State, identity: Identity) -> ProjectMatch:
    """Return the caller's project, and remember what its folder can be known by."""
    repositories = KnownRepositories(state, ask_root_commit)
    match = remember_evidence(memories, enter_project(memories, identity, repositories), identity, repositories)
    name_in_others(memories, match, identity)
    if identity.new_marker is not None and not match.is_refused:
        nonce, path = identity.new_marker
        try:
            state.set_fact(LOCAL, f"marker/{nonce}", path)
        except StorageError as error:
            log.warning("event=marker_not_remembered code=%s", error.code)
    return match


def record_connection(
    root: str | None, environment: Mapping[str, str], verb: str, host: str, facts: Mapping[str, object], outcome: str
) -> None:
    """Write the audit line of `connect` or `disconnect` into the book that the host was connected to.

    No book is opened or made for it. It never raises: the host's files are changed already.
    """
    flags = {"root": root}
    try:
        place = book_root(load_settings(flags, environment, {}))
        settings, _ = load_book_settings(LocalVault.at(place), flags, environment)
        if not (settings.enabled and settings.audit_days):
            return
        audit_log = AuditLog(open_disk(place, make=True), settings.audit_days)
    except (CommonplaceError, OSError) as error:
        log.warning("event=audit_failed error=%s", type(error).__name__)
        return
    ids = {"agent": settings.agent, "session": settings.session}
    audit_log.note(verb, who_of("cli", role="person", **ids, host=host), outcome, facts)
    audit_log.close()


def is_capturing(root: str | None, environment: Mapping[str, str]) -> bool:
    """Return whether conversations of connected agents are read, as the settings of their book say. Opens no book."""
    flags = {"root": root}
    try:
        place = book_root(load_settings(flags, environment, {}))
        settings, _ = load_book_settings(LocalVault.at(place), flags, environment)
    except (CommonplaceError, OSError):
        return False
    return settings.capture == "auto" and settings.enabled and not settings.sealed


def read_launch(root: str | os.PathLike[str] | None, session: str | None) -> tuple[str | None, bool]:
    """Return the session of a caller that opens this book here, and whether it is sealed. Nothing is opened."""
    settings = launch_settings(root, {"session": session})
    return settings.session, settings.sealed


class OpenBook:
    """A book that is open for one caller: how it is opened and closed, and what it says of itself."""

    def __init__(self, context: BookContext) -> None:
        self._context = context

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] | None = None,
        *,
        project: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        sealed: bool | None = None,
        role: RoleChoice | None = None,
        cwd: str | os.PathLike[str] | None = None,
        surface: str = "library",
        for_repair: bool = False,
    ) -> Self:
        """Open a book, and create what is missing in it.

        `cwd` is the folder that tells the project, if `project` does not. `surface` is how the audit names where calls
        come from. Without a `role`, the caller is an agent if `agent` or COMMONPLACE_AGENT names one, else a person.
        `for_repair` opens a book whose settings or databases cannot be used: `problems` says what is wrong, and only
        `doctor`, `status`, `config` and `configure` work.
        """
        flags = {"project": project, "agent": agent, "session": session, "sealed": sealed}
        who = read_role(role) if role is not None else None
        with converting_os_errors("opening the book"):
            return cls(open_context(root, flags, who, cwd, surface, for_repair=for_repair))

    @classmethod
    def init(cls, root: str | os.PathLike[str] | None = None, *, template: str = "minimal") -> ScaffoldResult:
        """Create a book, or what is missing in one. Nothing that exists is changed."""
        return make_book(root, template)

    @property
    def context(self) -> BookContext:
        """What the verbs work on. For the surfaces of this package, not for programs."""
        return self._context

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be used when the book was opened for repair, and what to do about it."""
        return tuple(f"{error.message} {error.hint}" for error in self._context.faults)

    def close(self) -> None:
        """Close the files and databases."""
        self._context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def as_role(self, role: RoleChoice) -> Self:
        """Return this book for another role: any for a person, else one that may do less. It closes with this book."""
        return type(self)(self._context.for_role(read_role(role)))

    @property
    def role(self) -> str:
        """The caller's role."""
        return self._context.caller.role.value

    @property
    def notice(self) -> str:
        """Why the index could not be used or brought up to date for the last answer, and what follows; else empty."""
        return self._context.notice

    @property
    def protocol(self) -> str:
        """How strictly agents must look before they write: off, guide or strict."""
        return self._context.settings.protocol

    def watch(self) -> None:
        """See outside changes to the files within a second. For a process that runs for long."""
        self._context.watch()

    def on_progress(self, progress: Callable[[int, int], None] | None) -> None:
        """Call `progress(done, total)` while many notes are read or embedded."""
        self._context.memories.progress = progress
