"""The write protocol for the memory files that Claude Code keeps by itself: read, write, then its own index page.

It runs only where the user asked for it (`commonplace connect claude-code --protocol`), and only for calls on such
files: the host's own filter starts no hook for other calls. What a session has read and written is kept in the state
for half an hour, as for our own tools; nothing is ever refused here. `hooks/events.py` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from commonplace.guard import protocol
from commonplace.guard.protocol import note_at_run_end, write_note
from commonplace.guard.protocol_state import CallOutcome, ProtocolState, state_key
from commonplace.guard.vocabulary import CallKind, Operation, Vocabulary, classify, claude_code_vocabulary
from commonplace.model.errors import CommonplaceError
from commonplace.model.scope import LOCAL
from commonplace.state.port import State

if TYPE_CHECKING:
    from commonplace.hooks.events import HookEvent

_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "Write", "Edit", "MultiEdit"})


class OwnFilesProtocol(NamedTuple):
    """The protocol for one event of Claude Code."""

    event: HookEvent
    state: State

    def begin_call(self) -> None:
        """Remember a tool call that is about to be made, if the protocol covers it."""
        operation = self._operation()
        if operation:
            event = self.event
            self._save(protocol.begin_call(self._load(), event.input.call or "", operation, event.now))

    def finish_call(self) -> tuple[str, Callable[[], None] | None]:
        """Return what to say about a call that was made, and how to remember it; nothing if it is not covered."""
        operation = self._operation()
        if operation is None:
            return "", None
        given, now = self.event.input, self.event.now
        outcome = CallOutcome(ok=not given.has_failed)
        state, findings = protocol.finish_call(self._load(), given.call or "", outcome, now, operation)
        return write_note(findings, _TOOLS, self._vocabulary) or "", lambda: self._save(state)

    def describe_missing(self) -> str:
        """Return what to say about files that this run wrote and did not add to the host's index; maybe nothing."""
        return note_at_run_end(self._load(), _TOOLS, self._vocabulary) or ""

    @property
    def _vocabulary(self) -> Vocabulary:
        return claude_code_vocabulary(self.event.environment.get("CLAUDE_CONFIG_DIR", ""))

    def _operation(self) -> Operation | None:
        given = self.event.input
        if not given.tool:
            return None
        operation = classify(given.tool, given.arguments, self._vocabulary)
        return operation if operation.kind is not CallKind.OTHER else None

    @property
    def _key(self) -> str:
        caller = self.event.caller
        return state_key("files of claude-code", caller.project, caller.session, caller.agent)

    def _load(self) -> ProtocolState:
        try:
            return ProtocolState.from_json(self.state.protocol_get(LOCAL, self._key, self.event.now))
        except CommonplaceError:
            return ProtocolState()

    def _save(self, state: ProtocolState) -> None:
        self.state.protocol_put(LOCAL, self._key, state.to_json(), self.event.now)
