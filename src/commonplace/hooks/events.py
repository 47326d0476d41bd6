"""What a hook does at each event: what it says, and what it remembers once that is said.

session-start    the brief (not on resume); after a compaction a nudge, too
subagent-start   the brief
prompt           memories about it that the agent has not seen, what changed since it saw them, a nudge that is due,
                 what the last turn wrote to the host's own memory files and not to their index
stop             nothing: text there makes an agent answer again, in place of what the user asked for. With
                 capture = auto a line in the spool
pre-compact      nothing; the spool; a nudge is due
pre-tool, post-tool    the write protocol for the host's own memory files, where the user asked for it
"""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.context.sessions import (
    TRANSCRIPT_SPOOL,
    SessionRecord,
    SpooledTranscript,
    find_session,
    save_session,
)
from commonplace.context.sources import BriefMemory
from commonplace.hooks.input import HookInput, parse_input, parse_words, read_standard_input
from commonplace.hooks.log import log_failure
from commonplace.hooks.open_book import HookBook, find_root, open_book
from commonplace.hooks.shapes import SHAPES, HookShape, format_answer
from commonplace.model import times
from commonplace.model.ids import short_hash
from commonplace.vault.disk import open_disk

if TYPE_CHECKING:
    from commonplace.hooks.own_files import OwnFilesProtocol

_CONFIG_VARIABLES: Mapping[str, str] = {"claude-code": "CLAUDE_CONFIG_DIR"}
"""Hosts with memory files of their own, and the variable that says where the host's folder is."""


def _do_nothing() -> None:
    """There is nothing to remember."""


class HookAnswer(NamedTuple):
    """What a hook says, and what it does once that is printed."""

    text: str = ""
    after: Callable[[], None] = _do_nothing


class HookEvent(NamedTuple):
    """One event of a host, with the book that answers it."""

    name: str
    host: str
    shape: HookShape
    input: HookInput
    book: HookBook
    now: str
    config_folder: str = ""  # of the host; empty: the usual one

    @property
    def can_carry(self) -> bool:
        """Whether the host takes text at this event."""
        return self.name in self.shape.carries

    @property
    def has_nudges(self) -> bool:
        """Whether the user wants reminders to save."""
        return self.book.settings.capture != "off"

    @property
    def own_files(self) -> OwnFilesProtocol:
        """The protocol for the host's own memory files."""
        from commonplace.hooks.own_files import OwnFilesProtocol  # noqa: PLC0415 - slow to load, and few events need it

        return OwnFilesProtocol(self.book, self.host, self.input, self.now, self.config_folder)

    def session(self) -> SessionRecord:
        """Return what is remembered of the session; if the host names none, of the folder."""
        caller = self.book.caller
        ident = caller.session or f"@{self.host}/{short_hash(self.input.cwd or '')}"
        found = None
        if self.book.state is not None:
            found = find_session(self.book.state, self.book.sources.space, ident)
        known = found or SessionRecord(ident, begun=self.now)
        return known._replace(
            host=self.host,
            agent=caller.agent or self.host,
            cwd=self.input.cwd or known.cwd,
            transcript=self.input.transcript or known.transcript,
            project=caller.project or "",
        )

    def save(self, session: SessionRecord, used: Iterable[BriefMemory] = ()) -> None:
        """Write the session's record, and count the use of these memories."""
        state, space = self.book.state, self.book.sources.space
        if state is None:
            return
        save_session(state, space, session)
        ids = [memory.id for memory in used if memory.id]
        if ids:
            state.record_uses(space, ids, self.now)
            state.flush(lasting=False)

    def audit(self, memories: Iterable[BriefMemory]) -> None:
        """Write a line to the audit log: the agent was shown these memories because of a prompt."""
        days = self.book.settings.audit_days
        keys = [f"{memory.scope.kind}/{memory.key}" for memory in memories]
        if not (days and keys):
            return
        from commonplace.guard.audit import (  # noqa: PLC0415 - only where something was told
            AuditLog,
            who_of,
        )

        caller = self.book.caller
        folders = self.book.sources.folders.items()
        projects = [folder.name for scope, folder in folders if scope.kind.value == "project"]
        who = who_of(
            "hook", role=caller.role.value, host=self.host, agent=caller.agent, session=caller.session,
            project=next(iter(projects), None),
        )  # fmt: skip
        trail = AuditLog(open_disk(self.book.root), days)
        trail.note("recall", who, "ok", {"keys": keys, "hits": len(keys)})
        trail.close()


def respond(
    words: Sequence[str],
    environment: Mapping[str, str],
    read: Callable[[], bytes] | None,
    write: Callable[[bytes], None],
) -> HookBook | None:
    """Answer one event and return the book, still open; None if there was nothing to do.

    The input is always read: a host may wait until it is.
    """
    name, host = parse_words(words)
    hook_input = parse_input((read or read_standard_input)())
    shape, handler = SHAPES.get(host), HANDLERS.get(name)
    if hook_input is None or shape is None or handler is None:
        return None
    root = find_root(environment)
    if root is None:
        return None
    if hook_input.cwd is None:
        hook_input = hook_input._replace(cwd=_working_folder())
    book = open_book(
        root,
        environment,
        session=hook_input.session,
        agent=host,
        cwd=hook_input.cwd,
        log_failure=lambda part, error: log_failure(environment, f"{name} {host} {part}", error),
    )
    if book is None:
        return None
    config_folder = environment.get(_CONFIG_VARIABLES.get(host, ""), "")
    answer = handler(HookEvent(name, host, shape, hook_input, book, times.now(), config_folder))
    output = format_answer(shape, name, answer.text)
    if output:
        write(output)
    answer.after()
    return book


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _start_session(event: HookEvent) -> HookAnswer:
    session = event.session()._replace(begun=event.now)
    if event.input.source == "resume":  # the context window still has what it was told
        return HookAnswer("", lambda: event.save(session))
    text, memories = _build_brief(event)
    session = session._replace(told={}, nudge="")
    if event.input.source == "compact" and event.has_nudges and event.can_carry:
        text = "\n\n".join([text, session.with_compaction().nudge_text()]).strip()
    session = _mark_told(session, memories) if event.can_carry else session
    return HookAnswer(text, lambda: event.save(session, memories))


def _start_subagent(event: HookEvent) -> HookAnswer:
    text, memories = _build_brief(event)
    before = event.session()
    # A sub-agent has its own context window: only the hashes are kept, so that what it repeats is not captured.
    session = _mark_told(before, memories)._replace(told=before.told)
    return HookAnswer(text, lambda: event.save(session, memories))


def _build_brief(event: HookEvent) -> tuple[str, tuple[BriefMemory, ...]]:
    if not event.can_carry:
        return "", ()
    from commonplace.context.brief import BriefLimits, build_brief  # noqa: PLC0415 - the end of a turn needs no brief

    limits = BriefLimits(tokens=event.shape.tokens)
    return build_brief(event.book.sources, limits, session=event.book.caller.session, cwd=event.input.cwd)


def _mark_told(session: SessionRecord, memories: Sequence[BriefMemory]) -> SessionRecord:
    revisions = {memory.path: memory.revision for memory in memories}
    return session.with_told(revisions, [memory.entry.text[:4_000] for memory in memories])


def _answer_prompt(event: HookEvent) -> HookAnswer:
    session = event.session()
    if event.has_nudges:
        session = session.with_message()
    parts: list[str] = []
    memories: tuple[BriefMemory, ...] = ()
    if event.can_carry and event.input.prompt:
        from commonplace.context.prompt_recall import recall_for_prompt  # noqa: PLC0415 - only prompts load recall

        text, memories, changed = recall_for_prompt(event.book.sources, event.input.prompt, session.told, event.now)
        parts.append(text)
        session = _mark_told(session._replace(told={**session.told, **changed}), memories)
    if event.can_carry and event.has_nudges and session.nudge:
        parts.append(session.nudge_text())
        session = session._replace(nudge="")
    if event.can_carry:
        parts.append(session.note)
        session = session._replace(note="")

    def after() -> None:
        event.save(session, memories)
        event.audit(memories)

    return HookAnswer("\n\n".join(part for part in parts if part), after)


def _end_turn(event: HookEvent) -> HookAnswer:
    """Say nothing, and remember what the next prompt has to say about this turn."""
    before = event.session()
    note = event.own_files.describe_missing() if event.host in _CONFIG_VARIABLES else ""
    noted = short_hash(note) if note else ""
    session = before if noted == before.noted else before._replace(note=note, noted=noted)

    def after() -> None:
        _spool_transcript(event, session)
        if session is not before:
            event.save(session)

    return HookAnswer("", after)


def _begin_tool_call(event: HookEvent) -> HookAnswer:
    return HookAnswer("", event.own_files.begin_call)


def _finish_tool_call(event: HookEvent) -> HookAnswer:
    return HookAnswer(*(event.own_files.finish_call() or ()))


def _prepare_compaction(event: HookEvent) -> HookAnswer:
    session = event.session()
    if event.has_nudges:
        session = session.with_compaction()

    def after() -> None:
        _spool_transcript(event, session)
        event.save(session._replace(told={}))  # what it was told will not be in the context window any more

    return HookAnswer("", after)


def _spool_transcript(event: HookEvent, session: SessionRecord) -> None:
    """Record how long a transcript is now; `capture` reads it later."""
    state, path = event.book.state, session.transcript
    if event.book.settings.capture != "auto" or state is None or not path:
        return
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return
    if not st.S_ISREG(found.st_mode) or session.id.startswith("@"):
        return
    spooled = SpooledTranscript(path, found.st_size, session.id, session.host, session.agent)
    state.spool_put(event.book.sources.space, TRANSCRIPT_SPOOL, spooled.to_json(), event.now)


HANDLERS: Mapping[str, Callable[[HookEvent], HookAnswer]] = {
    "session-start": _start_session,
    "prompt": _answer_prompt,
    "stop": _end_turn,
    "pre-compact": _prepare_compaction,
    "subagent-start": _start_subagent,
    "pre-tool": _begin_tool_call,
    "post-tool": _finish_tool_call,
}
