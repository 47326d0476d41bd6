"""Capture: finding in a transcript what is worth proposing as a memory, by rule and without a model.

What the user asked to remember, prefers, corrected or decided comes first; then commands that worked after another form
of them had failed, and what the agent found out. Every fact is only proposed, for a person to accept. Text in <private>
tags, code, quotes, other tags and pasted logs is ignored, and so is what we told the agent. The verb `capture` calls
`find_facts`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from commonplace.context.commands import find_lessons
from commonplace.context.records import hash_sentences, hash_words
from commonplace.context.signs import DECISION
from commonplace.context.statements import ASKED, clean, find_statements, split_sentences
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType, Trust
from commonplace.text.transcripts import Transcript

WORKED, FOUND_OUT = "worked after failing", "found out"
_USER = "user"
_MOST = 40  # facts of one transcript
_MIN_WORDS = 4
_MOST_TEXT = 200_000  # characters of the user that are judged: nobody types more, and each costs time
_FINDING = lazy(r"\bturn(?:s|ed) out\b|\broot cause (?:is|was)\b|\bthe (?:real )?(?:problem|culprit) was\b", re.I)
_OF_WORK = lazy(r"\?$|\b(?:I(?:'ll|'d| will| would)|let me|should I|shall I)\b", re.I)


class Fact(NamedTuple):
    """A statement worth proposing as a memory."""

    text: str
    kind: MemoryType
    why: str  # the rule that found it
    trust: Trust
    role: str
    time: str
    weight: int = 0  # the heavier, the surer


def find_facts(transcript: Transcript, told: Collection[str], since: int = 0) -> list[Fact]:
    """Return the facts of a transcript, each once, best first: the user's words, then the agent's.

    `told` has the hashes of the sentences that the agent got from us. What begins before the offset `since` was read
    earlier: it is only the context of what follows.
    """
    known = set(told)
    found: list[Fact] = []
    for fact in (*_said(transcript, since), *_worked(transcript, since)):
        whole, sentences = hash_words(fact.text), hash_sentences(fact.text)
        is_known = whole in known or (bool(sentences) and known.issuperset(sentences))
        if whole and not is_known:
            found.append(fact)
        known.update(hashed for hashed in (whole, *sentences) if hashed)
    return sorted(found, key=lambda fact: (fact.role != _USER, -fact.weight))[:_MOST]


def _said(transcript: Transcript, since: int) -> Iterator[Fact]:
    """Yield what the user and the agent said for good."""
    heard: list[str] = []
    is_first = True
    left = _MOST_TEXT
    for turn in transcript.turns:
        trust = Trust.EXTERNAL if turn.is_external else Trust.AGENT
        if turn.role != _USER:
            heard.append(turn.text)
            for sentence in split_sentences(turn.text) if turn.at >= since else ():
                if _is_finding(sentence):
                    yield Fact(clean(sentence), MemoryType.PROJECT, FOUND_OUT, trust, turn.role, turn.time)
            continue
        is_judged = turn.at >= since and left > 0
        left -= len(turn.text) if is_judged else 0
        for statement in find_statements(turn.text, "\n".join(heard), is_first=is_first) if is_judged else ():
            kind = MemoryType.PROJECT if statement.why in (ASKED, DECISION) else MemoryType.FEEDBACK
            yield Fact(statement.text, kind, statement.why, trust, turn.role, turn.time, statement.weight)
        is_first = is_first and not any(split_sentences(turn.text))  # a command of the program is no message
        heard.clear()


def _is_finding(sentence: str) -> bool:
    """Return whether an agent says what it found out, and not what it is about to do."""
    return bool(_FINDING.search(sentence)) and not _OF_WORK.search(sentence) and len(sentence.split()) >= _MIN_WORDS


def _worked(transcript: Transcript, since: int) -> Iterator[Fact]:
    """Yield the commands that worked after another form of them had failed."""
    for lesson in find_lessons(transcript.runs):
        run = lesson.worked
        if run.at >= since:
            trust = Trust.EXTERNAL if run.is_external else Trust.AGENT
            text = f"`{lesson.failed}` fails here; `{run.command}` works."
            yield Fact(text, MemoryType.PROJECT, WORKED, trust, "assistant", run.time, 1)
