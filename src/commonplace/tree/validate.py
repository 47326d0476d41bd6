"""Check what a model answered before it may stand in a summary.

A model can make things up, stop half-way, or obey a mail instead of summarising it. `check_summary` returns why an
answer may not be used, as one of these codes; "" if it may:

    cut                the model did not come to its end
    empty              no sentence, or one without text
    hidden_character   a control character, or one that changes how others are shown
    forged_mark        it looks like our fence, a tag, a citation, a link of notes, or the start of another line
    no_child           a sentence that names no child
    unknown_child      a sentence that names what is no child of the request
    too_long           not shorter than the input
    unknown_link       a link, host, address or file that the input lacks
    unknown_date       a day that the input lacks
    unknown_number     a number that the input lacks
    unknown_name       a name that the input lacks

One such sentence condemns the answer: a model that made up one thing may have made up others. A sentence that only may
have a name which the input lacks is left out alone: every word has a capital at the start of a sentence.
`summary_facts.py` says what cannot be found at all.
"""

from __future__ import annotations

from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.fence import is_hidden, visible
from commonplace.text.words import estimate_tokens
from commonplace.tree.summarise import SummaryAnswer, SummaryRequest, SummarySentence
from commonplace.tree.summary_facts import UNKNOWN_NAME, InputFacts

_JOINERS = "\u200c\u200d"  # within words of Persian and Hindi, and in emoji
_EMOJI_COLOUR = "\ufe0f"
_FORGED = lazy(r"<[a-zA-Z/!]|\[\[|\]\]|\[\^|<!--|-->|\[[a-z]{1,3}-[0-9a-f]{6,}\]|\A\s*(?:[#>|]|[-*+]\s|---|```|~~~)")


class CheckedSummary(NamedTuple):
    """Why an answer may not be used, or the sentences of it that may."""

    reason: str
    sentences: tuple[SummarySentence, ...] = ()


def check_summary(answer: SummaryAnswer, request: SummaryRequest) -> str:
    """Return why an answer may not be used; "" if it may."""
    return take_sentences(answer, request).reason


def take_sentences(answer: SummaryAnswer, request: SummaryRequest) -> CheckedSummary:
    """Return the sentences of an answer that may stand in a summary, or why none may."""
    reason = _check_whole(answer, request)
    if reason:
        return CheckedSummary(reason)
    facts = _read_facts(request)
    certain = []
    for sentence in answer.sentences:
        found = facts.check(sentence.text)
        if found.reason:
            return CheckedSummary(found.reason)
        if not found.is_doubtful:
            certain.append(sentence)
    return CheckedSummary("" if certain else UNKNOWN_NAME, tuple(certain))


def _check_whole(answer: SummaryAnswer, request: SummaryRequest) -> str:
    if not answer.is_whole:
        return "cut"
    if not answer.sentences:
        return "empty"
    joiners = {sign for sign in _JOINERS if any(sign in passage.text for passage in request.passages)}
    children = {passage.child for passage in request.passages}
    reasons = (_check_form(sentence, children, joiners) for sentence in answer.sentences)
    return next(filter(None, reasons), "") or ("" if _is_shorter(answer, request) else "too_long")


def _check_form(sentence: SummarySentence, children: set[str], joiners: set[str]) -> str:
    text = sentence.text
    if not text.strip():
        return "empty"
    if any(is_hidden(sign) and sign not in joiners for sign in text):
        return "hidden_character"
    plain = "".join(sign for sign in text if sign not in joiners and sign != _EMOJI_COLOUR)
    if visible(plain) != plain or _FORGED.search(plain):
        return "forged_mark"
    if not sentence.children:
        return "no_child"
    return "" if children.issuperset(sentence.children) else "unknown_child"


def _is_shorter(answer: SummaryAnswer, request: SummaryRequest) -> bool:
    """Return whether an answer is shorter than the input, in characters and in tokens."""
    written, given = ([item.text for item in items] for items in (answer.sentences, request.passages))
    return sum(map(len, written)) < sum(map(len, given)) and sum(map(estimate_tokens, written)) < sum(
        map(estimate_tokens, given)
    )


def _read_facts(request: SummaryRequest) -> InputFacts:
    facts = InputFacts()
    latest = max((passage.occurred for passage in request.passages), default="")
    facts.add_text(request.title, latest)
    facts.add_text(request.period, latest)
    for passage in request.passages:
        facts.add_name(passage.author)
        facts.add_text(passage.text, passage.occurred)
    return facts
