"""What the protocol says: the note on a write, the note at the end of a run, and the refusal of strict mode.

A note follows a write in guide mode, a refusal replaces it in strict mode. Each says what was missed and names the
calls that mend it, with tools that this caller has; a caller that makes just these calls has mended it. Neither
contains memory text, and keys are quoted as the tools take them back, so that no key can pass for a line of ours.
guard/protocol.py finds what was missed; the tools and the hooks show what is said here.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from re import Match

from commonplace.guard.protocol_state import (
    Candidates,
    DuplicateCandidate,
    MemoryRef,
    MissedSteps,
    Operation,
    ProtocolState,
)
from commonplace.guard.vocabulary import OWN_TOOLS, Vocabulary
from commonplace.model.lazy import lazy
from commonplace.text.fence import visible

MARK = "[memory-protocol]"
CYCLE = "read, compare, write, index"
_PATIENCE = 2  # notes in a row before the whole cycle is repeated
_SHOWN = 3
_MOST_CALLS = 2  # that a note suggests
_MOST_QUERY, _MOST_CONTENT, _MOST_NAME = 80, 300, 200  # characters that a note repeats
_SLOT = lazy(r"\{(\w+)\}")


def write_note(
    findings: MissedSteps | None, callable_tools: Collection[str], vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the note to add to the result of a write; None when nothing was missed and nothing is left to do."""
    if findings is None or (findings.is_clean and not findings.unindexed):
        return None
    said = []
    if findings.missing_read:
        said.append("You wrote this without reading what is there about it.")
    if findings.near_duplicate:
        said.append(_describe_duplicates(findings.near_duplicate))
    if findings.drift:
        said.append(f"Earlier writes are not in the index: {_list_refs(findings.drift)}.")
    if findings.is_clean:
        said.append(f"Not in the index yet: {_list_refs(findings.unindexed)}.")
    if findings.missed_before >= _PATIENCE and not findings.is_clean:
        said.append(f"This is write {findings.missed_before + 1} in a row that skips a step; the cycle is {CYCLE}.")
    return " ".join([MARK, *said, *_next_part(_next_calls(findings, callable_tools, vocabulary))])


def note_at_run_end(
    state: ProtocolState, callable_tools: Collection[str] = (), vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the note about writes of an ended run that are not in the index; None when all of them are.

    It goes out with the next prompt: at the end of the run it would make the agent answer again.
    """
    if not state.unindexed:
        return None
    written = [item.ref for item in state.unindexed]
    call = _fill_first(vocabulary.update_index, callable_tools, _scope_slots(written[0].scope, vocabulary))
    return " ".join([f"{MARK} Written earlier, but not in the index: {_list_refs(written)}.", *_next_part([call])])


def build_refusal(
    findings: MissedSteps | None, callable_tools: Collection[str] = (), vocabulary: Vocabulary = OWN_TOOLS
) -> str | None:
    """Return the refusal of a write that makes a near duplicate or follows no read; None lets it pass.

    It says what is there already, and the decisions with which the same call succeeds.
    """
    if findings is None or not (findings.missing_read or findings.near_duplicate):
        return None
    found = findings.near_duplicate
    said = [MARK, "Not stored.", _describe_duplicates(found) if found else "You have not read what is there about it."]
    read = _read_call(findings, callable_tools, vocabulary) if findings.missing_read else None
    decisions = _list_decisions(findings, vocabulary)
    if decisions:
        first = f"Read first, with {read}, or repeat" if read else "Repeat"
        said.append(f"{first} the call with one of: {', '.join(decisions)}.")
    elif read:
        said.append(f"Read first, with {read}.")
    return " ".join(said)


def append_note(text: str, note: str, limit: int) -> str:
    """Return a result with its note, at most `limit` characters long: the result is cut, never the note."""
    room = limit - len(note) - 2
    if len(text) > room:
        text = text[: max(0, room - 1)] + "…" if room > 0 else ""
    return f"{text}\n\n{note}" if text else note


def _list_decisions(findings: MissedSteps, vocabulary: Vocabulary) -> list[str]:
    """Return the decisions with which the same call succeeds; none if its tool takes no decision."""
    operation = findings.operation
    rule = vocabulary.tools.get(operation.tool)
    if rule is None or "decision" not in rule.settled_in:
        return []
    decisions = ["decision=create"]
    for item in findings.near_duplicate[:_SHOWN]:
        likely = ("supersede", "update") if item.relation == "contradicts" else ("update", "supersede")
        place = _shown(_place(item, operation))
        decisions += [f"decision={verb}:{place}" for verb in likely if not _is_itself(verb, item, operation)]
    return decisions


def _describe_duplicates(found: Candidates) -> str:
    said = []
    for words, is_other in (("Nearly the same is already in", False), ("May contradict", True)):
        refs = [item.ref for item in found if (item.relation == "contradicts") is is_other]
        said += [f"{words} {_list_refs(refs)}."] if refs else []
    return " ".join(said)


def _next_part(calls: Sequence[str | None] | Iterator[str | None]) -> list[str]:
    made = [call for call in calls if call][:_MOST_CALLS]
    return [f"Next: {', then '.join(made)}"] if made else []


def _next_calls(findings: MissedSteps, tools: Collection[str], vocabulary: Vocabulary) -> Iterator[str | None]:
    """Yield the calls that mend a write: read what was unread, settle a duplicate, update the index.

    None stands for a step that the caller has no tool for.
    """
    operation = findings.operation
    if findings.missing_read:
        yield _read_call(findings, tools, vocabulary)
    for item in findings.near_duplicate[:1]:
        slots = _slots(operation, vocabulary) | _candidate_slots(item, operation)
        fix = vocabulary.supersede if item.relation == "contradicts" else vocabulary.merge
        yield _fill_first(fix, tools, slots)
    for ref in (findings.unindexed if findings.is_clean else findings.drift)[:1]:
        yield _fill_first(vocabulary.update_index, tools, _scope_slots(ref.scope, vocabulary))


def _read_call(findings: MissedSteps, tools: Collection[str], vocabulary: Vocabulary) -> str | None:
    """Return the call that reads what was not read: the most similar memory, or what there is about it."""
    slots = _slots(findings.operation, vocabulary)
    shown = [_candidate_slots(item, findings.operation) for item in findings.unread[:1]]
    found = [_fill_first(vocabulary.show, tools, slots | more) for more in shown]
    return next(filter(None, found), None) or _fill_first(vocabulary.read, tools, slots)


def _fill_first(calls: Mapping[str, str], tools: Collection[str], slots: Mapping[str, str]) -> str | None:
    """Return the first call that the caller has the tool for, with its slots filled; None if there is none."""

    def fill(match: Match[str]) -> str:
        return slots.get(match[1], match[0])

    return next((_SLOT.sub(fill, call) for tool, call in calls.items() if tool in tools), None)


def _slots(operation: Operation, vocabulary: Vocabulary) -> dict[str, str]:
    text = operation.about
    is_short = text and len(text) <= _MOST_CONTENT and visible(text) == text
    return {
        "about": _quoted(text[:_MOST_QUERY]) if text else "...",
        "content": json.dumps(text, ensure_ascii=False) if is_short else "...",
        "key": _quoted(operation.keys[0]) if operation.keys else "...",
        **_scope_slots(operation.scope, vocabulary),
    }


def _candidate_slots(item: DuplicateCandidate, operation: Operation) -> dict[str, str]:
    place = _place(item, operation)
    return {
        "other": _quoted(item.key),
        "other_scope": _quoted(item.scope),
        "other_place": _quoted(place),
        "other_file": _quoted(f"{item.scope}/{item.key}.md"),
        "supersede": _quoted(f"supersede:{place}"),
    }


def _place(item: DuplicateCandidate, operation: Operation) -> str:
    """Return how a write names another memory: KEY, or SCOPE/KEY if that is in another scope."""
    return item.key if item.scope == operation.scope else f"{item.scope}/{item.key}"


def _is_itself(verb: str, item: DuplicateCandidate, operation: Operation) -> bool:
    """Return whether a decision would make a memory supersede itself."""
    return verb == "supersede" and item.scope == operation.scope and item.key in operation.keys


def _scope_slots(scope: str, vocabulary: Vocabulary) -> dict[str, str]:
    return {"scope": _quoted(scope), "index": _quoted(f"{scope}/{vocabulary.index_file}")}


def _list_refs(places: Sequence[MemoryRef]) -> str:
    shown = []
    for place in places[:_SHOWN]:
        name = _quoted(place.key) if place.key else "a memory without a key"
        shown.append(f"{name} ({_shown(place.scope)})" if place.scope else name)
    more = len(places) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _quoted(text: str) -> str:
    """Return a text as a quoted argument on one line."""
    return '"' + _shown(text).replace('"', '\\"') + '"'


def _shown(text: str) -> str:
    """Return a name on one line, as the tools show it and take it back."""
    return visible(text[:_MOST_NAME]).replace("\n", "\\u{000a}").replace("\t", "\\u{0009}")
