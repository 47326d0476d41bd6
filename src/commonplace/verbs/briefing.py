"""The verb `brief`: what an agent would be told here and now, and what that costs. Nothing is counted as used."""

from __future__ import annotations

from commonplace.context.brief import build_brief
from commonplace.context.prompt_recall import recall_for_prompt
from commonplace.context.sessions import find_session
from commonplace.context.sources import BriefSources
from commonplace.model.results import BriefResult
from commonplace.recall.search import index_pending
from commonplace.text.tokens import estimate_tokens
from commonplace.verbs.desk import Desk


def find_session_folder(desk: Desk, session: str) -> str | None:
    """Return the folder in which a hook saw a session begin; None when none did, and for another's in a sealed book."""
    if desk.caller.sealed and session != desk.caller.session:
        return None
    found = find_session(desk.state, desk.keep.space, session)
    return (found.cwd or None) if found is not None else None


def build_caller_brief(desk: Desk, prompt: str | None, cwd: str | None) -> BriefResult:
    """The brief; with a prompt also what would be added to that, given the brief."""
    desk.caller.check_reads()
    if not desk.settings.enabled:
        return BriefResult("", 0, 0, "", 0, ())
    desk.asked(None)
    keep = desk.keep
    sources = BriefSources(keep.vault, keep.space, desk.view(), keep.index, desk.own(), desk.unproved)
    made = build_brief(sources, session=desk.caller.session, cwd=cwd)
    told = {memory.path: memory.revision for memory in made.memories}
    added, shown = "", made.memories
    if prompt:
        index_pending(keep.index, keep.space)
        found = recall_for_prompt(sources, prompt, told, keep.clock())
        added, shown = found.text, (*shown, *found.memories)
    refs = tuple(f"{memory.scope.kind}/{memory.key}" for memory in shown)
    return BriefResult(made.text, len(made.text), estimate_tokens(made.text), added, estimate_tokens(added), refs)
