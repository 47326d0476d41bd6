"""Nudges to save: every so many messages of the user, and after a compaction. What is worth saving, in a few lines.

A nudge that is due rides on the next event that can carry text on that host; a table of the hooks says which can.
"""

from __future__ import annotations

from commonplace.context.sessions import Session
from commonplace.model.value import replace

EVERY = 15  # messages of the user
MESSAGES, COMPACTION = "messages", "compaction"
RUBRIC = (
    "Worth saving: a decision with its reason; a correction; a preference; a fact that was hard to find. Never:"
    " secrets, what the repository already says, the state of a single task. One thing per memory, in few words, with"
    " the date where timing matters; look for the memory first and correct it in place. scope: project (default),"
    " global for what holds everywhere, session for this conversation only."
)
_WHY = {
    MESSAGES: "A while has passed since the last look.",
    COMPACTION: "The conversation was compacted: what is not saved is soon forgotten.",
}


def counted(session: Session) -> Session:
    """With one more message of the user; every so many, a nudge is due."""
    number = session.messages + 1
    due = MESSAGES if number % EVERY == 0 else ""
    return replace(session, messages=number, nudge=session.nudge or due)


def after_compaction(session: Session) -> Session:
    return replace(session, nudge=COMPACTION)


def nudge(reason: str) -> str:
    """The text of a nudge."""
    why = _WHY.get(reason, _WHY[MESSAGES])
    return f"[commonplace] {why} If this session taught something lasting, `store` it; if not, do nothing. {RUBRIC}"
