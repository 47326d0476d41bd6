"""The write protocol for the memory files that a host keeps by itself: read, write, then the host's own index page.

It runs only where the user asked for it (`commonplace connect claude-code --protocol`), and only for calls on such
files: the host's own filter starts no hook for other calls. What a session has read and written is kept in the state
for half an hour, as for our own tools; nothing is ever refused here. `hooks/events.py` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from commonplace.guard import protocol
from commonplace.guard.classification import Operation, classify
from commonplace.guard.protocol_notes import note_at_run_end, write_note
from commonplace.guard.protocol_state import CallOutcome, ProtocolState, state_key
from commonplace.guard.vocabulary import CallKind, Vocabulary, claude_code_vocabulary
from commonplace.hooks.input import HookInput
from commonplace.hooks.open_book import HookBook
from commonplace.model.errors import CommonplaceError

_VOCABULARIES: Mapping[str, Callable[[str], Vocabulary]] = {"claude-code": claude_code_vocabulary}
_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "Write", "Edit", "MultiEdit"})


class OwnFilesProtocol(NamedTuple):
    """The protocol for one event of a host with memory files of its own."""

    book: HookBook
    host: str
    input: HookInput
    now: str
    config_folder: str  # of the host; empty: the usual one

    def begin_call(self) -> None:
        """Remember a tool call that is about to be made, if the protocol covers it."""
        operation = self._operation()
        if operation is not None:
            self._save(protocol.begin_call(self._load(), self.input.call or "", operation, self.now))

    def finish_call(self) -> tuple[str, Callable[[], None]] | None:
        """Return what to say about a call that was made, and how to remember it; None if it is not covered."""
        operation, vocabulary = self._operation(), self._vocabulary()
        if operation is None or vocabulary is None:
            return None
        outcome = CallOutcome(ok=not self.input.has_failed)
        state, findings = protocol.finish_call(self._load(), self.input.call or "", outcome, self.now, operation)
        return write_note(findings, _TOOLS, vocabulary) or "", lambda: self._save(state)

    def describe_missing(self) -> str:
        """Return what to say about files that this run wrote and did not add to the host's index; maybe nothing."""
        vocabulary = self._vocabulary()
        return (note_at_run_end(self._load(), _TOOLS, vocabulary) or "") if vocabulary is not None else ""

    def _vocabulary(self) -> Vocabulary | None:
        build = _VOCABULARIES.get(self.host)
        return build(self.config_folder) if build is not None and self.book.settings.protocol != "off" else None

    def _operation(self) -> Operation | None:
        vocabulary = self._vocabulary()
        if vocabulary is None or not self.input.tool or self.book.state is None:
            return None
        operation = classify(self.input.tool, self.input.arguments, vocabulary)
        return operation if operation.kind is not CallKind.OTHER else None

    def _key(self) -> str:
        caller = self.book.caller
        return state_key(f"files of {self.host}", caller.project, caller.session, caller.agent)

    def _load(self) -> ProtocolState:
        if self.book.state is None:
            return ProtocolState()
        try:
            return ProtocolState.from_json(self.book.state.protocol_get(self.book.sources.space, self._key(), self.now))
        except CommonplaceError:
            return ProtocolState()

    def _save(self, state: ProtocolState) -> None:
        if self.book.state is not None:
            self.book.state.protocol_put(self.book.sources.space, self._key(), state.to_json(), self.now)
