"""Nudges to save: every so many messages of the user, and after a compaction. What is worth saving, in a few lines.

A nudge that is due rides on the user's next prompt, on hosts whose prompt hook can add text. It never asks for a turn
of its own, and tells the agent not to mention it: the answer belongs to what the user asked.
"""

from __future__ import annotations

from commonplace.context.sessions import Session

EVERY = 15  # messages of the user
MESSAGES, COMPACTION = "messages", "compaction"
RUBRIC = (
    "Worth saving: a decision and its reason, a correction, a preference, a fact that was hard to find. Not: secrets,"
    " what the repository already says, the state of one task. One thing per memory; look for an existing memory first"
    " and correct it in place. Scope: project (default), global, or session."
)
_WHY = {
    MESSAGES: f"A reminder after {EVERY} messages.",
    COMPACTION: "The conversation was compacted: what is not saved is soon forgotten.",
}


def counted(session: Session) -> Session:
    """With one more message of the user; every so many, a nudge is due."""
    number = session.messages + 1
    due = MESSAGES if number % EVERY == 0 else ""
    return session._replace(messages=number, nudge=session.nudge or due)


def after_compaction(session: Session) -> Session:
    return session._replace(nudge=COMPACTION)


def nudge(reason: str) -> str:
    """Return the text of a nudge."""
    why = _WHY.get(reason, _WHY[MESSAGES])
    request = "If this session taught you something lasting, `store` it; if not, do nothing."
    return f"[commonplace] {why} {request} Do not mention this reminder in your answer. {RUBRIC}"
