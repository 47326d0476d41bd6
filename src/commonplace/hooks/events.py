"""What is said at each event, and what is remembered of it once that is said.

session-start    the brief (not on resume); after a compaction a nudge, too
subagent-start   the brief
prompt           memories about it that were not told yet, what changed since it was told, a nudge that is due,
                 what the last turn wrote to the host's own memory files and not to their index
stop             nothing: text there makes an agent answer again, in place of what the user asked for. With
                 capture = auto a line in the spool
pre-compact      nothing; the spool; a nudge is due
pre-tool, post-tool    the write protocol for the host's own memory files, where the user asked for it
"""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from commonplace.context.choose import Chosen
from commonplace.context.nudges import after_compaction, counted, nudge
from commonplace.context.sessions import Session, find_session, keep_session
from commonplace.context.spool import SPOOL, Waiting
from commonplace.hooks.asked import Asked
from commonplace.hooks.opened import Opened
from commonplace.hooks.shapes import Shape
from commonplace.model import times
from commonplace.model.ids import short_hash

OWN_FILES: Mapping[str, str] = {"claude-code": "CLAUDE_CONFIG_DIR"}
"""Hosts with memory files of their own, and the variable that says where the host's folder is."""


class Said(NamedTuple):
    text: str
    after: Callable[[], None]  # to be done once the text is out


class Event(NamedTuple):
    name: str
    host: str
    shape: Shape
    asked: Asked
    book: Opened
    now: str
    config_folder: str = ""  # of the host, where it is not the usual one

    @property
    def can_carry(self) -> bool:
        return self.name in self.shape.carries

    def session(self) -> Session:
        """What is remembered of the session; of a host that names none, of the folder."""
        asked, caller = self.asked, self.book.caller
        ident = caller.session or f"@{self.host}/{short_hash(asked.cwd or '')}"
        found = None
        if self.book.state is not None:
            found = find_session(self.book.state, self.book.ground.space, ident)
        known = found or Session(ident, begun=self.now)
        return known._replace(
            host=self.host,
            agent=caller.agent or self.host,
            cwd=asked.cwd or known.cwd,
            transcript=asked.transcript or known.transcript,
            project=caller.project or "",
        )

    def keep(self, session: Session, used: Iterable[Chosen] = ()) -> None:
        state, space = self.book.state, self.book.ground.space
        if state is None:
            return
        keep_session(state, space, session)
        ids = [memory.id for memory in used if memory.id]
        if ids:
            state.used(space, ids, self.now)
            state.flush(lasting=False)

    def note(self, shown: Iterable[Chosen]) -> None:
        """A line in the audit: the agent was told of these because of what it was asked."""
        days = self.book.settings.audit_days
        keys = [f"{memory.scope.kind}/{memory.key}" for memory in shown]
        if not (days and keys):
            return
        from commonplace.guard.audit import AuditLog, who_of  # noqa: PLC0415 - only where something was told
        from commonplace.vault.disk import open_disk  # noqa: PLC0415 - the same

        caller = self.book.caller
        places = [folder.name for scope, folder in self.book.ground.folders.items() if scope.kind.value == "project"]
        who = who_of(
            "hook", role=caller.role.value, host=self.host, agent=caller.agent, session=caller.session,
            project=next(iter(places), None),
        )  # fmt: skip
        trail = AuditLog(open_disk(self.book.root), days)
        trail.note("recall", who, "ok", {"keys": keys, "hits": len(keys)})
        trail.close()


def run(name: str, host: str, shape: Shape, asked: Asked, book: Opened, environment: Mapping[str, str]) -> Said:
    event = Event(name, host, shape, asked, book, times.now(), environment.get(OWN_FILES.get(host, ""), ""))
    handler = {
        "session-start": _started,
        "subagent-start": _subagent,
        "prompt": _prompted,
        "stop": _stopped,
        "pre-compact": _compacting,
        "pre-tool": _tool_begins,
        "post-tool": _tool_ended,
    }.get(name)
    return handler(event) if handler is not None else Said("", _nothing)


def _started(event: Event) -> Said:
    session = event.session()._replace(begun=event.now)
    if event.asked.source == "resume":  # the window still has what it was told
        return Said("", lambda: event.keep(session))
    text, shown = _brief(event)
    session = session._replace(told={}, nudge="")
    if event.asked.source == "compact" and event.book.settings.capture != "off" and event.can_carry:
        text = "\n\n".join([text, nudge(after_compaction(session).nudge)]).strip()
    session = _told(session, shown) if event.can_carry else session
    return Said(text, lambda: event.keep(session, shown))


def _subagent(event: Event) -> Said:
    text, shown = _brief(event)
    before = event.session()
    # Its window is not the session's: what it was told is remembered only so that it is not captured.
    session = _told(before, shown)._replace(told=before.told)
    return Said(text, lambda: event.keep(session, shown))


def _brief(event: Event) -> tuple[str, tuple[Chosen, ...]]:
    if not event.can_carry:
        return "", ()
    from commonplace.context.brief import brief  # noqa: PLC0415 - a prompt does without
    from commonplace.context.caps import Caps  # noqa: PLC0415 - the same

    made = brief(
        event.book.ground,
        Caps(tokens=event.shape.tokens),
        session=event.book.caller.session,
        cwd=event.asked.cwd,
    )
    return made.text, made.shown


def _told(session: Session, shown: Iterable[Chosen]) -> Session:
    memories = list(shown)
    return session.with_told(
        {memory.path: memory.revision for memory in memories}, [memory.entry.text[:4_000] for memory in memories]
    )


def _prompted(event: Event) -> Said:
    session = event.session()
    nudges = event.book.settings.capture != "off"
    session = counted(session) if nudges else session
    parts: list[str] = []
    shown: tuple[Chosen, ...] = ()
    if event.can_carry and event.asked.prompt:
        from commonplace.context.prefetch import prefetch  # noqa: PLC0415 - the other events recall nothing

        found = prefetch(event.book.ground, event.asked.prompt, session.told, event.now)
        parts, shown = ([found.text] if found.text else []), found.shown
        session = _told(session._replace(told={**session.told, **found.changed}), shown)
    if nudges and session.nudge and event.can_carry:
        parts.append(nudge(session.nudge))
        session = session._replace(nudge="")
    if session.note and event.can_carry:
        parts.append(session.note)
        session = session._replace(note="")

    def after() -> None:
        event.keep(session, shown)
        event.note(shown)

    return Said("\n\n".join(parts), after)


def _stopped(event: Event) -> Said:
    """Say nothing, and remember what the next prompt has to say of this turn."""
    before = event.session()
    note = _left_open(event)
    noted = short_hash(note) if note else ""
    session = before if noted == before.noted else before._replace(note=note, noted=noted)

    def after() -> None:
        _spool(event, session)
        if session is not before:
            event.keep(session)

    return Said("", after)


def _left_open(event: Event) -> str:
    if event.host not in OWN_FILES:
        return ""
    from commonplace.hooks.own_files import left_open  # noqa: PLC0415 - other hosts do without

    return left_open(event, event.config_folder)


def _tool_begins(event: Event) -> Said:
    from commonplace.hooks.own_files import began  # noqa: PLC0415 - other events do without

    return Said("", began(event, event.config_folder) or _nothing)


def _tool_ended(event: Event) -> Said:
    from commonplace.hooks.own_files import ended  # noqa: PLC0415 - other events do without

    text, after = ended(event, event.config_folder) or ("", _nothing)
    return Said(text, after)


def _compacting(event: Event) -> Said:
    session = event.session()
    if event.book.settings.capture != "off":
        session = after_compaction(session)

    def after() -> None:
        _spool(event, session)
        event.keep(session._replace(told={}))  # what it was told will not be in the window any more

    return Said("", after)


def _spool(event: Event, session: Session) -> None:
    """Note how far a transcript goes now; whoever has time reads it."""
    state, path = event.book.state, session.transcript
    if event.book.settings.capture != "auto" or state is None or not path:
        return
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return
    if not st.S_ISREG(found.st_mode) or session.id.startswith("@"):
        return
    waiting = Waiting(path, found.st_size, session.id, session.host, session.agent)
    state.spool_put(event.book.ground.space, SPOOL, waiting.as_text(), event.now)


def _nothing() -> None:
    """There is nothing to remember."""
