"""What a hook does at each event: what it says, and what it remembers once that is said.

session-start    the brief (not on resume); after a compaction a nudge is due. A host that takes no text there gets the
                 brief with the next prompt
subagent-start   the brief
prompt           memories about it that the agent has not seen, what changed since it saw them, a new digest of mail, a
                 nudge that is due, what the last turn wrote to the host's own memory files and not to their index
stop             nothing: text there makes an agent answer again, in place of what the user asked for. With
                 capture = auto, the default, a line in the spool: a transcript and how far it goes
session-end      nothing; the spool
pre-compact      nothing; the spool; a nudge is due
pre-tool, post-tool    the write protocol for the host's own memory files, where the user asked for it

A hook opens the book for reading. It is never created, repaired, indexed or adopted, and nothing is waited for. What is
missing is done without: without an index, pages and notes are read; without a state, nothing is remembered of the
session; without a book, there is nothing to say. `hooks/main.py` calls `respond`.
"""

from __future__ import annotations

# The log comes first: at a deadline while the rest is still loading, it can then be written.
from commonplace.hooks.host_io import (
    SHAPES,
    HookInput,
    HookShape,
    format_answer,
    log_failure,
    parse_input,
    read_standard_input,
)

# isort: split

import os
import stat as st
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from commonplace.context.records import (
    TRANSCRIPT_SPOOL,
    BriefMemory,
    BriefSources,
    SessionRecord,
    SpooledTranscript,
    find_session,
    save_session,
)
from commonplace.guard import find_secret_in_id
from commonplace.index.sqlite.reader import SqliteIndexReader
from commonplace.memories.layout import book_root, find_database_folder, find_run_folder, load_book_settings
from commonplace.model import times
from commonplace.model.errors import CommonplaceError, NotFound, StorageError, TooManyFiles
from commonplace.model.names import short_hash
from commonplace.model.scope import LOCAL, Caller, Role, Scope, ScopeKind
from commonplace.model.settings import VOCABULARY, Settings, load_settings
from commonplace.project.identity import identify_caller
from commonplace.project.matching import KnownRepositories, match_project
from commonplace.state.port import State
from commonplace.state.sqlite import SqliteState
from commonplace.vault.disk import open_disk
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import PRIVATE, BookPath, view_of
from commonplace.vault.port import VaultHandle
from commonplace.vault.scope_pages import find_folder


class _LazyModule:
    """Stands in for a module, which is loaded when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        module = __import__(f"commonplace.{self._name}", fromlist=[name])  # `importlib` itself would take time to load
        return getattr(module, name)


if TYPE_CHECKING:
    from commonplace.context import brief, nudges, prompt_recall
    from commonplace.guard import audit
    from commonplace.hooks import digests, own_files, prompt_client, user_level
else:  # slow to load, and few events need one
    names = (
        "context.brief", "context.nudges", "context.prompt_recall", "guard.audit", "hooks.digests", "hooks.own_files",
        "hooks.prompt_client", "hooks.user_level",
    )  # fmt: skip
    brief, nudges, prompt_recall, audit, digests, own_files, prompt_client, user_level = map(_LazyModule, names)


HookAnswer = tuple[str, Callable[[], None] | None]
"""What a hook says, and what it does once that is printed."""


class HookEvent(NamedTuple):
    """One event of a host, with the book that answers it."""

    name: str
    host: str
    shape: HookShape
    input: HookInput
    environment: Mapping[str, str]
    now: str
    root: str  # of the book
    settings: Settings
    caller: Caller
    sources: BriefSources
    state: State | None  # None if it cannot be opened
    database_folder: str
    config: Mapping[str, object] = {}  # what config.toml says

    @property
    def can_carry(self) -> bool:
        """Whether the host takes text at this event."""
        return self.name in self.shape.carries

    @property
    def has_nudges(self) -> bool:
        """Whether the user wants reminders to save, and something could be saved here."""
        return self.settings.capture != "off" and self.state is not None and os.access(self.root, os.W_OK)

    @property
    def own_files(self) -> own_files.OwnFilesProtocol | None:
        """The protocol for memory that the host keeps by itself; None if no tools of it are known, or it is off."""
        is_known = self.host == "claude-code" or VOCABULARY in self.config
        if not is_known or self.settings.protocol == "off" or self.state is None:
            return None
        return own_files.OwnFilesProtocol(self, self.state)

    def session(self) -> SessionRecord:
        """Return what is remembered of the session; if the host names none, of the folder."""
        caller = self.caller
        ident = caller.session or f"@{self.host}/{short_hash(self.input.cwd or '')}"
        found = None
        if self.state:
            found = find_session(self.state, LOCAL, ident)
        is_new = self.state is not None and self.shape.has_brief_at_prompt
        known = found or SessionRecord(ident, begun=self.now, awaits_brief=is_new)
        return known._replace(
            host=self.host,
            agent=caller.agent or self.host,
            cwd=self.input.cwd or known.cwd,
            transcript=self.input.transcript or known.transcript,
            project=caller.project or "",
        )

    def save(self, session: SessionRecord, used: Iterable[BriefMemory] = ()) -> None:
        """Write the session's record, and count the use of these memories."""
        if self.state is None:
            return
        save_session(self.state, LOCAL, session)
        ids = [memory.id for memory in used if memory.id]
        if ids:
            self.state.record_uses(LOCAL, ids, self.now)
            self.state.flush(lasting=False)

    def audit(self, memories: Iterable[BriefMemory]) -> None:
        """Write a line to the audit log: the agent was shown these memories because of a prompt."""
        days = self.settings.audit_days
        keys = [f"{memory.scope.kind}/{memory.key}" for memory in memories]
        if not (days and keys):
            return
        caller = self.caller
        folders = self.sources.folders.items()
        projects = (folder.name for scope, folder in folders if scope.kind is ScopeKind.PROJECT)
        who = audit.who_of(
            "hook", role=caller.role.value, host=self.host, agent=caller.agent, session=caller.session,
            project=next(projects, None),
        )  # fmt: skip
        log = audit.AuditLog(open_disk(self.root), days)
        log.note("recall", who, "ok", {"keys": keys, "hits": len(keys)})
        log.close()


def open_event(
    name: str,
    host: str,
    shape: HookShape,
    given: HookInput,
    environment: Mapping[str, str],
    *,
    has_handles: bool = True,
) -> HookEvent | None:
    """Return an event with the book that the environment names; None if there is no book, or memory is switched off.

    Without handles for files of databases there is no state, and the index is read into memory.
    """
    root = book_root(load_settings({}, environment, {}))
    if not os.path.isdir(os.path.join(root, PRIVATE.name)):
        return None
    vault = LocalVault.at(root)
    settings, config = load_book_settings(vault, {}, environment)
    if not settings.enabled:
        return None
    try:
        folder = find_database_folder(vault, root, settings)
    except NotFound:
        return None
    state: State | None = None
    if has_handles and os.path.isdir(folder):
        try:
            state = SqliteState(os.path.join(folder, "state.db"))
        except CommonplaceError as error:
            log_failure(environment, f"{name} {host} state", error)
    if any(map(find_secret_in_id, (settings.session, settings.agent, settings.project))):
        return None  # as every other command refuses it
    session = settings.session or given.session
    if find_secret_in_id(given.session):  # as if the host had named none
        session = settings.session
    if settings.sealed and not session:  # there is no scope that it could be told of
        return None
    here = given.cwd if os.path.isdir(given.cwd or "") else None
    identity = identify_caller(state, settings, root, here)
    files = VaultHandle(vault, LOCAL)
    match = match_project(files, identity, KnownRepositories(state)) if identity else None
    project = match.id if match else settings.project
    caller = Caller(Role.AGENT, session, settings.agent or host, project, settings.sealed)
    folders: dict[Scope, BookPath] = {}
    for scope in caller.scopes():
        with suppress(CommonplaceError):  # one that cannot be found does not stop the others
            own = scope
            if match and scope.kind is ScopeKind.PROJECT:  # one that moved keeps the folder it had
                own = Scope(scope.kind, match.stored_as)
            folders[scope] = find_folder(files, own)
    view = view_of(frozenset(folders.values()), frozenset(), sealed=caller.sealed)
    index, notice = None, ""
    try:
        index = _open_index(root, folder, has_handles=has_handles)
    except StorageError as error:
        log_failure(environment, f"{name} {host} index", error)
        notice = error.message
    sources = BriefSources(vault, LOCAL, view, index, folders, match.unproved if match else None, notice)
    return HookEvent(
        name, host, shape, given, environment, times.now(), root, settings, caller, sources, state, folder, config
    )  # fmt: skip


def _open_index(root: str, folder: str, *, has_handles: bool) -> SqliteIndexReader | None:
    """Return the index; None in a book that has none yet, which is no failure. Raises StorageError."""
    # A book that cannot be written now may have its index elsewhere, or not made there yet.
    paths = [os.path.join(place, "index.db") for place in (folder, os.path.join(root, PRIVATE.name))]
    path = next(filter(os.path.lexists, paths), None)
    return SqliteIndexReader(path, in_memory=not has_handles) if path else None


def respond(
    name: str,
    host: str,
    environment: Mapping[str, str],
    read: Callable[[], bytes] | None,
    write: Callable[[bytes], None],
    *,
    is_project: bool = False,
) -> HookEvent | None:
    """Answer one event and return it, with the book still open; None if there was nothing to do.

    The input is always read: a host may wait until it is. A hook of a project's files leaves the answer to the user's.
    """
    hook_input = parse_input((read or read_standard_input)())
    shape, handler = SHAPES.get(host), HANDLERS.get(name)
    if hook_input is None or shape is None or handler is None:
        return None
    if is_project and user_level.is_connected_for_user(host, environment):
        return None
    if hook_input.cwd is None:
        with suppress(OSError):
            hook_input = hook_input._replace(cwd=os.getcwd())
    event, answer = None, None
    try:
        event = open_event(name, host, shape, hook_input, environment)
        answer = handler(event) if event else ("", None)
    except (TooManyFiles, OSError):
        event = None
    if answer is None:  # what the first try had open is closed by now
        event = open_event(name, host, shape, hook_input, environment, has_handles=False)
        answer = handler(event) if event else ("", None)
    if event is None:
        return None
    text, after = answer
    output = format_answer(shape, name, text)
    if output or event.can_carry:  # nothing to say is an answer, too; at other events the work is what counts
        write(output)
    if after:
        after()
    return event


def _start_session(event: HookEvent) -> HookAnswer:
    session = event.session()._replace(begun=event.now)
    if event.input.source == "resume":  # the context window still has what it was told
        return "", lambda: event.save(session)
    session = session if event.shape.keeps_told else session.with_empty_window()
    session = session._replace(nudge="", awaits_brief=event.shape.has_brief_at_prompt)
    if event.input.source == "compact" and event.has_nudges:
        session = session.with_compaction()
    text, told, memories = _tell_brief(event, session)
    return text, lambda: event.save(told, memories)


def _start_subagent(event: HookEvent) -> HookAnswer:
    before = event.session()
    text, session, memories = _tell_brief(event, before, is_subagent=True)
    # A sub-agent has its own context window: only the hashes are kept, so that what it repeats is not captured.
    return text, lambda: event.save(session._replace(told=before.told), memories)


def _tell_brief(
    event: HookEvent, session: SessionRecord, *, is_subagent: bool = False
) -> tuple[str, SessionRecord, tuple[BriefMemory, ...]]:
    """Return the brief, the session as it is once that is told, and the memories in it."""
    if not event.can_carry:
        return "", session, ()
    # Where the brief is in the system prompt, whose bytes have to stay, the digest comes with the first prompt.
    digest = "" if is_subagent or event.shape.keeps_told else digests.read_digest(event) or ""
    made = brief.build_brief(
        event.sources,
        brief.BriefLimits(tokens=event.shape.tokens),
        session=event.caller.session,
        cwd=event.input.cwd,
        knows_doctrine=event.shape.knows_doctrine,
        is_subagent=is_subagent,
        digest=digest,
    )
    session = session.with_memories(made.memories)
    return made.text, session.with_digest(digest) if made.has_digest else session, made.memories


def _answer_prompt(event: HookEvent) -> HookAnswer:
    session = event.session()
    parts: list[str] = []
    memories: tuple[BriefMemory, ...] = ()
    briefed: tuple[BriefMemory, ...] = ()
    if event.can_carry and session.awaits_brief:
        text, session, briefed = _tell_brief(event, session._replace(awaits_brief=False))
        parts.append(text)
    if event.can_carry and event.input.prompt:
        told = session.told
        text, memories, changed = _recall_for_prompt(event, event.input.prompt, told)
        parts.append(text)
        session = session._replace(told={**told, **changed}).with_memories(memories)
    if event.can_carry:
        text, session = digests.next_digest(event, session)
        parts.append(text)
    if event.can_carry and event.has_nudges and event.state:
        stored = nudges.find_stored(event.state, LOCAL, event.caller)
        session, nudge = nudges.next_nudge(session, event.input.prompt or "", stored)
        parts.append(nudge)
    if event.can_carry:
        parts.append(session.note)
        session = session._replace(note="")

    def after() -> None:
        event.save(session, (*briefed, *memories))
        event.audit(memories)

    return "\n\n".join(part for part in parts if part), after


def _recall_for_prompt(
    event: HookEvent, prompt: str, told: Mapping[str, str]
) -> prompt_recall.PromptRecall | prompt_client.ServerRecall:
    """Return what to add to a prompt: by meaning from the server that the host has started, else by words."""
    run_folder = find_run_folder(event.settings.state)
    with suppress(OSError):
        found = prompt_client.ask_server(event, run_folder, prompt, told) if os.listdir(run_folder) else None
        if found is not None:
            return found
    try:
        return prompt_recall.recall_for_prompt(event.sources, prompt, told, event.now)
    except StorageError as error:  # the agent is told that memory was not looked up
        log_failure(event.environment, f"{event.name} {event.host} index", error)
        sources = event.sources._replace(index_reader=None, notice=error.message)
        return prompt_recall.recall_for_prompt(sources, prompt, told, event.now)


def _end_turn(event: HookEvent) -> HookAnswer:
    """Say nothing, and remember what the next prompt has to say about this turn."""
    before = event.session()
    protocol = event.own_files
    note = protocol.describe_missing() if protocol else ""
    noted = short_hash(note) if note else ""
    session = before if noted == before.noted else before._replace(note=note, noted=noted)

    def after() -> None:
        _spool_transcript(event, session)
        if session is not before:
            event.save(session)

    return "", after


def _end_session(event: HookEvent) -> HookAnswer:
    """Say nothing: hosts allow a moment only, and nobody would read it."""
    return "", lambda: _spool_transcript(event, event.session())


def _begin_tool_call(event: HookEvent) -> HookAnswer:
    protocol = event.own_files
    return "", protocol.begin_call if protocol else None


def _finish_tool_call(event: HookEvent) -> HookAnswer:
    protocol = event.own_files
    return protocol.finish_call() if protocol else ("", None)


def _prepare_compaction(event: HookEvent) -> HookAnswer:
    before = event.session()
    if event.shape.checks_compaction and event.input.source == "auto":
        return "", lambda: _spool_transcript(event, before)
    # What it was told will not be in the context window any more.
    session = before.with_empty_window()._replace(awaits_brief=event.shape.has_brief_at_prompt)
    if event.has_nudges:
        session = session.with_compaction()

    def after() -> None:
        _spool_transcript(event, session)
        event.save(session)

    return "", after


def _spool_transcript(event: HookEvent, session: SessionRecord) -> None:
    """Record how long a transcript is now; `capture` reads it later."""
    state, path = event.state, session.transcript
    if event.settings.capture != "auto" or event.caller.sealed or state is None or not path:
        return
    try:
        found = os.lstat(path)  # a link may lead anywhere
    except (OSError, ValueError):
        return
    if not st.S_ISREG(found.st_mode) or session.id.startswith("@"):
        return
    spooled = SpooledTranscript(path, found.st_size, session.id, session.host, session.agent, session.project)
    state.spool_put(LOCAL, TRANSCRIPT_SPOOL, spooled.to_json(), event.now)


HANDLERS: Mapping[str, Callable[[HookEvent], HookAnswer]] = {
    "session-start": _start_session,
    "prompt": _answer_prompt,
    "stop": _end_turn,
    "pre-compact": _prepare_compaction,
    "session-end": _end_session,
    "subagent-start": _start_subagent,
    "pre-tool": _begin_tool_call,
    "post-tool": _finish_tool_call,
}
