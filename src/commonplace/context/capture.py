"""Facts worth proposing, found in a conversation by rule: what the user asked to remember, decisions, corrections,
preferences, and what was hard to find out.

No model reads along, so the rules are few and cautious, and all they find is proposed: somebody says yes before it
counts. What stands between <private> and </private>, in code, in quotes or in tags is not looked at; what the agent was
told by us is not news.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from commonplace.context.sessions import words_hash
from commonplace.context.transcripts import Turn
from commonplace.model.memory import MemoryType, Trust
from commonplace.model.patterns import lazy

MOST = 20  # of one reading
_LONGEST, _FEWEST_WORDS, _MOST_READ = 400, 4, 20_000
_PRIVATE = lazy(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_ASIDE = lazy(r"```.*?(?:```|\Z)|<([a-z][a-z_-]{0,40})\b[^>\n]{0,400}>.*?(?:</\1>|\Z)", re.DOTALL)
_QUOTED = lazy(r"^\s*(?:>|\||\$ |#!).*$", re.M)
_SENTENCE = lazy(r"(?<=[.!?])\s+|\n+")
_MARKUP = lazy(r"^[\s*#>-]+|\*\*|__")
_REMEMBER = lazy(
    r"\b(?:please )?(?:remember|note|keep in mind|don't forget|do not forget|make a note)(?: that|:|,)\s*(.+)", re.I
)
_RULES: tuple[tuple[str, re.Pattern[str], MemoryType, tuple[str, ...]], ...] = (
    (
        "preference",
        lazy(
            r"\bI(?:'d| would)? (?:always |really |strongly )?(?:prefer|hate|dislike|don't like|never want)\b"
            r"|^(?:please )?(?:always|never) [a-z]+\b|\bfrom now on\b",
            re.I,
        ),
        MemoryType.FEEDBACK,
        ("user",),
    ),
    (
        "correction",
        lazy(
            r"^(?:no|actually|that's wrong|that is wrong|that's not right|wrong)[,:.]? .*\b(?:is|are|not|use|has)\b",
            re.I,
        ),
        MemoryType.FEEDBACK,
        ("user",),
    ),
    (
        "decision",
        lazy(
            r"\b(?:we|I)(?:'ve| have)? (?:decided|chose|agreed|settled on|will go with|are going with|went with)\b"
            r"|\blet's (?:go with|use|stick with)\b",
            re.I,
        ),
        MemoryType.PROJECT,
        ("user", "assistant"),
    ),
    (
        "found out",
        lazy(r"\bturn(?:s|ed) out\b|\broot cause (?:is|was)\b|\bthe (?:real )?(?:problem|culprit) was\b", re.I),
        MemoryType.PROJECT,
        ("assistant", "user"),
    ),
)


class Fact(NamedTuple):
    text: str
    kind: MemoryType
    why: str  # the rule that found it
    trust: Trust
    role: str
    time: str


def facts(turns: Iterable[Turn], told: Collection[str]) -> list[Fact]:
    """What these turns say that is worth proposing, each once. `told` are the marks of what the agent had from us."""
    known = set(told)
    found: list[Fact] = []
    for turn in turns:
        for sentence in _sentences(turn.text):
            fact = _fact(sentence, turn)
            if fact is None:
                continue
            marks = {words_hash(sentence), words_hash(fact.text)} - {""}
            if not marks & known:
                found.append(fact)
            known |= marks
            if len(found) >= MOST:
                return found
    return found


def spoken(text: str) -> str:
    """What somebody said in their own words: nothing private, no code, nothing in tags, nothing quoted."""
    plain = _PRIVATE.sub("\n", text)[:_MOST_READ]
    return _QUOTED.sub("", _ASIDE.sub("\n", plain))


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(spoken(text)):
        sentence = " ".join(_MARKUP.sub("", part).split())
        if len(sentence) <= _LONGEST and len(sentence.split()) >= _FEWEST_WORDS and not sentence.endswith("?"):
            yield sentence


def _fact(sentence: str, turn: Turn) -> Fact | None:
    trust = Trust.EXTERNAL if turn.outside else Trust.AGENT
    asked = _REMEMBER.search(sentence)
    if asked and turn.role == "user" and len(asked[1].split()) >= _FEWEST_WORDS - 1:
        text = asked[1][:1].upper() + asked[1][1:]
        return Fact(text, MemoryType.PROJECT, "asked to remember", trust, turn.role, turn.time)
    for why, pattern, kind, roles in _RULES:
        if turn.role in roles and pattern.search(sentence):
            return Fact(sentence, kind, why, trust, turn.role, turn.time)
    return None
