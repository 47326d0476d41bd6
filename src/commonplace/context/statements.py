"""Judge by rule whether what a person typed holds for good, or only for the task in hand.

Each sign of `context/signs.py` has a weight, and a sentence holds for good if its signs reach a threshold; what
`context/passing.py` describes is out, whatever its weight. What is found stands alone: a sentence that only points is
told with those beside it, or left out. `context/capture.py` calls `find_statements`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from commonplace.context.passing import ADOPTED, OTHERS, OUT, TASK
from commonplace.context.signs import CORRECTION, SIGNS
from commonplace.model.lazy import lazy
from commonplace.text.words import significant_words, stem

ASKED = "asked to remember"
_MAX_SENTENCE, _MAX_STATEMENT, _MAX_MESSAGE = 400, 600, 20_000  # characters
_PASTED = 3_000  # characters of a message of which most was hardly typed
_MIN_WORDS, _MIN_TELLING, _MIN_POINTED = 3, 2, 3
_ENOUGH, _FIRST = 3, 1  # the weight of a statement, and what it has to weigh more in the first message, a task mostly
_HEARD = 4_000  # characters of what the agent said last

_PRIVATE = lazy(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_CODE_OR_TAG = lazy(r"```.*?(?:```|\Z)|<([a-z][a-z_-]{0,40})\b[^>\n]{0,400}>.*?(?:</\1>|\Z)", re.DOTALL)
_PASTED_LINE = lazy(
    r"^[ \t]*(?:>|\||\$ |#!|@@|[+-]{3} |at \S+\(|File \"|Traceback|(?:\S+ )?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b"
    r"|\S*(?:Error|Exception|Warning):|\[?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d).*$",
    re.M,
)
_QUOTE = lazy(r"[\"“„«]([^\"“”„«»\n]{1,1000})[\"”“»]")
_QUOTED_WORDS = 4  # of what somebody else said; fewer are a name or a term
_SENTENCE_END = lazy(r"(?<=[.!?…])\s+(?=\S)|\n+")
_NO_END = lazy(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|mr|mrs|dr|no)\.$", re.I)
_MARKUP = lazy(r"^\s*(?:[*#>-]+\s+)+|\*\*|__")
_FILLER = lazy(
    r"^(?:(?:no|nah|nope|yes|yep|yeah|ok|okay|k|right|sure|hm+|ah|oh|well|wait|great|good|nice|fine|cool|perfect|super"
    r"|sweet|thanks|thx|thank you|alright|sorry|actually|so|and|also|but|please|pls|btw|hold on|stop|listen|look)"
    r"(?:[,.:;!]+\s*|\s+(?=(?:and|also|but|please|pls|then|so|wait|actually|don'?t|do not|never|always|we|i|it|the|in)"
    r"\b)))+",
    re.I,
)
REMEMBER = lazy(
    r"\b(?:please |pls )?(?:remember|note|keep in mind|bear in mind|don'?t forget|do not forget|make a note"
    r"|for the record|for your information|fyi)(?: that|:|,)\s*(.+)",
    re.I,
)

_POINTING = lazy(r"^(?:it|that|this|they|those|these|he|she|there|them|one|same|thats|that's|its|it's)\b", re.I)
_VAGUE = frozenset(
    """
    one ones thing things same other another way stuff something anything good fine better let lets
    it's that's thats dont isnt im id ill ive wont cant doesnt didnt
    """.split()  # noqa: SIM905 - a list of these would be a page long
)


class LastingStatement(NamedTuple):
    """What a person said for good, in their words; the heavier, the surer."""

    text: str
    why: str
    weight: int


class _Sentence(NamedTuple):
    text: str
    why: str = ""
    weight: int = 0
    is_out: bool = False
    is_task: bool = False


def find_statements(text: str, heard: str = "", *, is_first: bool = False) -> Iterator[LastingStatement]:
    """Yield what a message of a person says for good: each a sentence, with those beside it that belong to it.

    `heard` is what the agent said before it; the first message of a conversation is mostly a task.
    """
    enough = _ENOUGH if len(text) <= _PASTED else 2 * _ENOUGH
    if is_first:
        enough += _FIRST
    answered = {stem(word) for word in significant_words(heard[-_HEARD:])} if heard else set[str]()
    group: list[_Sentence] = []
    is_out = False
    for sentence in split_sentences(text):
        judged = _judge(sentence, answered)
        if is_out and _POINTING.match(_FILLER.sub("", sentence)):
            judged = judged._replace(is_out=True)  # it is about what was not said for good
        is_out = judged.is_out
        fits = len(sentence) + sum(len(one.text) + 1 for one in group) <= _MAX_STATEMENT
        if judged.is_out or not fits:
            yield from _join(group, enough)
            group = []
        if not judged.is_out:
            group.append(judged)
    yield from _join(group, enough)


def _join(group: Sequence[_Sentence], enough: int) -> Iterator[LastingStatement]:
    """Yield a statement of adjacent sentences, if they weigh enough and can be understood alone."""
    best = max(group, key=lambda one: one.weight, default=_Sentence(""))
    if best.weight < enough:
        return
    while group[0] is not best and _is_beside(group[0]):
        group = group[1:]
    while group[-1] is not best and _is_beside(group[-1]):
        group = group[:-1]
    text = clean(" ".join(one.text for one in group))
    if _telling(text) >= (_MIN_POINTED if _POINTING.match(text) else _MIN_TELLING):
        yield LastingStatement(text, best.why, best.weight)


def _is_beside(sentence: _Sentence) -> bool:
    """Return whether a sentence at the edge of a statement adds nothing to it: a request, or a word or two."""
    return sentence.weight < _ENOUGH and (sentence.is_task or len(sentence.text.split()) < _MIN_WORDS)


def _judge(sentence: str, answered: Collection[str]) -> _Sentence:
    """Return a sentence with the weight of its signs; `answered` are the stems of what the agent said before."""
    asked = REMEMBER.search(sentence)
    plain = _FILLER.sub("", sentence)
    if asked and len(asked[1].split()) >= _MIN_WORDS and not sentence.endswith("?"):
        return _Sentence(asked[1], ASKED, 3 * _ENOUGH)
    if OUT.search(sentence) or OUT.search(plain) or (OTHERS.match(plain) and not ADOPTED.search(plain)):
        return _Sentence(sentence, is_out=True)
    found = [sign for sign in SIGNS if sign.pattern.search(sentence)]
    weight = sum(sign.weight for sign in found)
    is_task = TASK.match(plain) is not None
    if is_task:
        weight -= 2
    if weight > 0 and any(stem(word) in answered for word in significant_words(sentence)):
        weight += 1  # it answers the agent
    why = max(found, key=lambda sign: sign.weight).why if found else ""
    return _Sentence(sentence, why or CORRECTION, weight, is_task=is_task)


def _telling(text: str) -> int:
    return sum(word not in _VAGUE for word in significant_words(text))


def clean(text: str) -> str:
    """Return a statement without the words that only lead up to it, with a capital."""
    plain = _FILLER.sub("", text).strip(" ,;:-")
    return plain[:1].upper() + plain[1:]


def keep_own_words(text: str) -> str:
    """Return a message without private text, code, text in tags, quotes and what was pasted."""
    plain = _PRIVATE.sub("\n", text)[:_MAX_MESSAGE]
    typed = _PASTED_LINE.sub("", _CODE_OR_TAG.sub("\n", plain))
    return _QUOTE.sub(lambda quote: "\n" if len(quote[1].split()) >= _QUOTED_WORDS else quote[0], typed)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a message's own words, without markup."""
    before = ""
    for part in _SENTENCE_END.split(keep_own_words(text)):
        sentence = " ".join(f"{before} {_MARKUP.sub('', part)}".split())
        before = sentence if len(sentence) < _MAX_SENTENCE and _NO_END.search(sentence) else ""
        if sentence and not before and len(sentence) <= _MAX_SENTENCE:
            yield sentence
