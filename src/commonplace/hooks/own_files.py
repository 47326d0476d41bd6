"""The write protocol for memory that a host keeps by itself: read, write, then its own index.

That is Claude Code's memory files, and whatever tools the `protocol_vocabulary` of a trusted config.toml describes. It
runs only where the user asked for it (`commonplace connect claude-code --protocol`, or hooks of their own), and only
for calls of such tools: the host's own filter starts no hook for other calls. What a session has read and written is
kept in the state for half an hour, as for our own tools; nothing is ever refused here. `hooks/events.py` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from commonplace.guard import protocol
from commonplace.guard.protocol_notes import note_at_run_end, write_note
from commonplace.guard.protocol_state import CallKind, CallOutcome, Operation, ProtocolState, state_key
from commonplace.guard.vocabulary import Vocabulary, classify, claude_code_vocabulary, read_vocabulary
from commonplace.memories.layout import TRUSTED, config_digest
from commonplace.model.errors import CommonplaceError
from commonplace.model.scope import LOCAL
from commonplace.model.settings import VOCABULARY
from commonplace.state.port import State

if TYPE_CHECKING:
    from commonplace.hooks.events import HookEvent


class _WatchedCall(NamedTuple):
    """A call that the protocol covers, and the vocabulary that knows it."""

    owner: str
    vocabulary: Vocabulary
    operation: Operation


class OwnFilesProtocol(NamedTuple):
    """The protocol for one event of a host."""

    event: HookEvent
    state: State

    def begin_call(self) -> None:
        """Remember a tool call that is about to be made, if the protocol covers it."""
        call = self._find_call()
        if call:
            event = self.event
            state = protocol.begin_call(self._load(call.owner), event.input.call or "", call.operation, event.now)
            self._save(call.owner, state)

    def finish_call(self) -> tuple[str, Callable[[], None] | None]:
        """Return what to say about a call that was made, and how to remember it; nothing if it is not covered."""
        call = self._find_call()
        if call is None:
            return "", None
        given, now, operation = self.event.input, self.event.now, call.operation
        state = self._load(call.owner)
        relevant = protocol.find_relevant(state, " ".join([operation.about, *operation.keys]))
        outcome = CallOutcome(ok=not given.has_failed, relevant=relevant)
        state, findings = protocol.finish_call(state, given.call or "", outcome, now, operation)
        note = write_note(findings, call.vocabulary.tools, call.vocabulary) or ""
        return note, lambda: self._save(call.owner, state)

    def describe_missing(self) -> str:
        """Return what to say about memories that this run wrote and did not add to the host's index; maybe nothing."""
        found = [note_at_run_end(self._load(owner), known.tools, known) for owner, known in self._vocabularies()]
        return "\n".join(filter(None, found))

    def _vocabularies(self) -> Iterator[tuple[str, Vocabulary]]:
        """Yield whose tools are known here, and what is known of them."""
        event = self.event
        given = event.config.get(VOCABULARY)
        if given is not None and self.state.get_fact(LOCAL, TRUSTED) == config_digest(event.sources.vault):
            yield "tools of protocol_vocabulary", read_vocabulary(given)
        if event.host == "claude-code":
            yield "files of claude-code", claude_code_vocabulary(event.environment.get("CLAUDE_CONFIG_DIR", ""))

    def _find_call(self) -> _WatchedCall | None:
        given = self.event.input
        for owner, vocabulary in self._vocabularies() if given.tool else ():
            operation = classify(given.tool or "", given.arguments, vocabulary, given.cwd or "/")
            if operation.kind is not CallKind.OTHER:
                return _WatchedCall(owner, vocabulary, operation)
        return None

    def _key(self, owner: str) -> str:
        caller = self.event.caller
        project = None if caller.session else caller.project  # a session may go from folder to folder
        return state_key(owner, project, caller.session, caller.agent)

    def _load(self, owner: str) -> ProtocolState:
        try:
            return ProtocolState.from_json(self.state.protocol_get(LOCAL, self._key(owner), self.event.now))
        except CommonplaceError:
            return ProtocolState()

    def _save(self, owner: str, state: ProtocolState) -> None:
        self.state.protocol_put(LOCAL, self._key(owner), state.to_json(), self.event.now)
