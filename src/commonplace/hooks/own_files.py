"""The write protocol for the memory files that a host keeps by itself: read, write, then the host's own index page.

Only where the user asked for it (`commonplace connect claude-code --protocol`), and only for calls on such files: the
host's own filter starts nothing for any other. What a session has read and written is kept in the state for half an
hour, as for our own tools; nothing is ever refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from commonplace.guard.classification import Operation, classify
from commonplace.guard.protocol import begin_call, finish_call
from commonplace.guard.protocol_notes import note_at_run_end, write_note
from commonplace.guard.protocol_state import CallOutcome, ProtocolState, state_key
from commonplace.guard.vocabulary import CallKind, Vocabulary, claude_code_vocabulary
from commonplace.model.errors import CommonplaceError

if TYPE_CHECKING:
    from commonplace.hooks.events import Event

_VOCABULARIES: Mapping[str, Callable[[str], Vocabulary]] = {"claude-code": claude_code_vocabulary}
_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "Write", "Edit", "MultiEdit"})


def began(event: Event, config_folder: str) -> Callable[[], None] | None:
    """What to remember of a call that is about to be made; None when it is none of the protocol's."""
    operation = _operation(event, config_folder)
    if operation is None:
        return None
    return lambda: _keep(event, begin_call(_known(event), event.asked.call or "", operation, event.now))


def ended(event: Event, config_folder: str) -> tuple[str, Callable[[], None]] | None:
    """What to say of a call that was made, and what to remember of it."""
    operation = _operation(event, config_folder)
    vocabulary = _vocabulary(event, config_folder)
    if operation is None or vocabulary is None:
        return None
    outcome = CallOutcome(ok=not event.asked.failed)
    state, findings = finish_call(_known(event), event.asked.call or "", outcome, event.now, operation)
    return write_note(findings, _TOOLS, vocabulary) or "", lambda: _keep(event, state)


def left_open(event: Event, config_folder: str) -> str:
    """What a run that ends has written and not put into the host's index."""
    vocabulary = _vocabulary(event, config_folder)
    return (note_at_run_end(_known(event), _TOOLS, vocabulary) or "") if vocabulary is not None else ""


def _vocabulary(event: Event, config_folder: str) -> Vocabulary | None:
    make = _VOCABULARIES.get(event.host)
    return make(config_folder) if make is not None and event.book.settings.protocol != "off" else None


def _operation(event: Event, config_folder: str) -> Operation | None:
    vocabulary, asked = _vocabulary(event, config_folder), event.asked
    if vocabulary is None or not asked.tool or event.book.state is None:
        return None
    operation = classify(asked.tool, asked.arguments, vocabulary)
    return operation if operation.kind is not CallKind.OTHER else None


def _key(event: Event) -> str:
    caller = event.book.caller
    return state_key(f"files of {event.host}", caller.project, caller.session, caller.agent)


def _known(event: Event) -> ProtocolState:
    if event.book.state is None:
        return ProtocolState()
    try:
        return ProtocolState.from_json(event.book.state.protocol_get(event.book.ground.space, _key(event), event.now))
    except CommonplaceError:
        return ProtocolState()


def _keep(event: Event, state: ProtocolState) -> None:
    if event.book.state is not None:
        event.book.state.protocol_put(event.book.ground.space, _key(event), state.to_json(), event.now)
