"""What the protocol tells a caller: a short note after a write in guide mode, a refusal in strict mode.

A note says what was missed and suggests one next call, with a tool that this caller has. It contains no memory text,
and keys are quoted, so that no key can pass for a line of ours.
"""

from collections.abc import Collection, Mapping, Sequence
from re import Match
from typing import Final, NamedTuple

from commonplace.guard.protocol_state import DuplicateCandidate, MemoryRef, MissedSteps, ProtocolState
from commonplace.guard.vocabulary import OWN_TOOLS, Vocabulary
from commonplace.model.lazy import lazy

MARK: Final = "[memory-protocol]"
CYCLE: Final = "read, compare, write, index"
_PATIENCE = 2  # notes in a row before the whole cycle is repeated
_SHOWN = 3
_SLOT = lazy(r"\{(\w+)\}")


class Refusal(NamedTuple):
    """Why a write was refused, what is there already, and the decisions with which the same call succeeds."""

    message: str
    candidates: tuple[DuplicateCandidate, ...]
    decisions: tuple[str, ...]


def write_note(
    findings: MissedSteps | None, callable_tools: Collection[str], vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the note to add to the result of a write; None when nothing was missed."""
    if findings is None or findings.is_clean:
        return None
    said = []
    if findings.missing_read:
        said.append("You wrote this without reading what is there.")
    if findings.near_duplicate:
        said.append(_describe_duplicates(findings.near_duplicate))
    if findings.drift:
        said.append(f"Earlier writes are not in the index: {_list_refs(findings.drift)}.")
    if findings.missed_before >= _PATIENCE:
        said.append(f"This is write {findings.missed_before + 1} in a row that skips a step; the cycle is {CYCLE}.")
    call = _next_call(findings, frozenset(callable_tools), vocabulary)
    return " ".join([MARK, *said, *([f"Next: {call}"] if call else [])])


def note_at_run_end(
    state: ProtocolState, callable_tools: Collection[str] = (), vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the note about writes of an ended run that are not in the index; None when all of them are.

    It goes out with the next prompt: at the end of the run it would make the agent answer again.
    """
    if not state.unindexed:
        return None
    written = [item.ref for item in state.unindexed]
    first = written[0]
    call = _fill_first(
        vocabulary.update_index,
        frozenset(callable_tools),
        {"scope": first.scope, "index": _index_path(first, vocabulary)},
    )
    said = f"{MARK} Written earlier, but not in the index: {_list_refs(written)}."
    return f"{said} Next: {call}" if call else said


def build_refusal(findings: MissedSteps | None) -> Refusal | None:
    """Return the refusal of a write that makes a near duplicate or follows no read; None lets it pass."""
    if findings is None or not (findings.missing_read or findings.near_duplicate):
        return None
    found = findings.near_duplicate
    decisions = ["decision=create"]
    for item in found[:_SHOWN]:
        likely = ("supersede", "update") if item.relation == "contradicts" else ("update", "supersede")
        decisions += [f"decision={verb}:{item.key}" for verb in likely]
    what = _describe_duplicates(found) if found else "You have not read what is there."
    message = f"{MARK} Not stored. {what} Read first, or repeat the call with one of: {', '.join(decisions)}."
    return Refusal(message, found, tuple(decisions))


def append_note(text: str, said: str | None, limit: int) -> str:
    """Return a result with its note, at most `limit` characters long: the result is cut, never the note."""
    if said is None:
        return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"
    room = limit - len(said) - 2
    if len(text) > room:
        text = text[: max(0, room - 1)] + "…" if room > 0 else ""
    return f"{text}\n\n{said}" if text else said


def _describe_duplicates(found: tuple[DuplicateCandidate, ...]) -> str:
    same = [item.ref for item in found if item.relation != "contradicts"]
    other = [item.ref for item in found if item.relation == "contradicts"]
    said = []
    if same:
        said.append(f"Nearly the same is already in {_list_refs(same)}.")
    if other:
        said.append(f"May contradict {_list_refs(other)}.")
    return " ".join(said)


def _next_call(findings: MissedSteps, tools: frozenset[str], vocabulary: Vocabulary) -> str | None:
    """Return the call that helps most: first read what was unread, then resolve a duplicate, then update the index."""
    operation = findings.operation
    slots = {
        "about": operation.about or "...",
        "scope": operation.scope,
        "key": operation.keys[0] if operation.keys else "...",
        "index": _index_path(MemoryRef(operation.scope, ""), vocabulary),
    }
    steps: list[tuple[Mapping[str, str], dict[str, str]]] = []
    for item in findings.unread[:1]:
        steps.append((vocabulary.show, slots | _candidate_slots(item, operation.scope)))
    if findings.missing_read:
        steps.append((vocabulary.read, slots))
    for item in findings.near_duplicate[:1]:
        fix = vocabulary.supersede if item.relation == "contradicts" else vocabulary.merge
        steps.append((fix, slots | _candidate_slots(item, operation.scope)))
    for place in findings.drift[:1]:
        steps.append((vocabulary.update_index, slots | {"scope": place.scope, "index": _index_path(place, vocabulary)}))
    return next((call for calls, filled in steps if (call := _fill_first(calls, tools, filled))), None)


def _fill_first(calls: Mapping[str, str], tools: frozenset[str], slots: dict[str, str]) -> str | None:
    """Return the first call that the caller has the tool for, with its slots filled; None if there is none."""

    def fill(match: Match[str]) -> str:
        return _quoted(slots[match.group(1)]) if match.group(1) in slots else match.group()

    return next((_SLOT.sub(fill, call) for tool, call in calls.items() if tool in tools), None)


def _candidate_slots(item: DuplicateCandidate, scope: str) -> dict[str, str]:
    place = item.key if item.scope == scope else f"{item.scope}/{item.key}"
    file = f"{item.scope}/{item.key}.md"
    return {"other": item.key, "other_scope": item.scope, "other_place": place, "other_file": file}


def _index_path(place: MemoryRef, vocabulary: Vocabulary) -> str:
    return f"{place.scope}/{vocabulary.index_file}"


def _list_refs(places: Sequence[MemoryRef]) -> str:
    shown = [f"{_quoted(place.key)} ({ascii(place.scope[:200])[1:-1]})" for place in places[:_SHOWN]]
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _quoted(text: str) -> str:
    """Return a text as a quoted argument on one line; `...` stays for the caller to fill in."""
    if text == "...":
        return text
    safe = ascii(text[:200])[1:-1].replace('"', '\\"').replace("\\'", "'")
    return f'"{safe}"'
