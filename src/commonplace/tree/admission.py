"""Decide which units count for digests, topics and briefs, and note why.

`ingest` keeps the signals that `find_signals` finds with each unit. `is_admitted` reads nothing else, so whoever reads
a stored unit gets the same answer. Nothing is dropped here: what is not admitted can be searched.
"""

from __future__ import annotations

from itertools import islice

from commonplace.model.lazy import lazy
from commonplace.text.words import estimate_tokens, fold_text, has_phrase
from commonplace.tree.source import Person, SourceUnit

KEPT_OUT = frozenset({"bulk", "bot", "spam", "trash"})
"""Signals of what the source says is no message of a person to a person. One is enough to be kept out."""
WANTED = frozenset({"sent", "replied"})
"""Signals of what the user wrote or answered. One is enough to be admitted in spite of the others."""
_FEW_RECIPIENTS = 3  # with the user: of more, a message is to a group
_TINY, _SHORT = 8, 50  # tokens
_MIN_NAME = 2  # characters of a name that is looked for
_ENOUGH_WORDS, _MOST_WORDS = 50, 400  # from which on, and up to which, variety is measured: it falls with the length
_WORD = lazy(r"\w+")


def find_signals(unit: SourceUnit, text: str, me: frozenset[str]) -> frozenset[str]:
    """Return what tells how much a unit matters.

    `text` is its cleaned text, `me` the user's addresses and names, folded. Besides what the source says: `sent` (the
    user wrote it), `direct` (to the user and few others), `mentioned` (it names the user), `tiny` or `short`, and
    `few-words` (it says the same again and again, as a log does).
    """
    signals = set[str](unit.signals)
    if is_one_of(unit.author, me):
        signals.add("sent")
    if "sent" not in signals:
        if len(unit.recipients) <= _FEW_RECIPIENTS and any(is_one_of(person, me) for person in unit.recipients):
            signals.add("direct")
        if _is_mentioned(text, me):
            signals.add("mentioned")
    # A token has at most a few characters: a long text is not counted.
    tokens = estimate_tokens(text[: 20 * _SHORT])
    if tokens <= _SHORT:
        signals.add("tiny" if tokens <= _TINY else "short")
    if _has_few_words(text):
        signals.add("few-words")
    return frozenset(signals)


def is_admitted(signals: frozenset[str]) -> bool:
    """Return whether a unit with these signals may enter digests, topics and briefs."""
    return KEPT_OUT.isdisjoint(signals) or not WANTED.isdisjoint(signals)


def is_one_of(person: Person, me: frozenset[str]) -> bool:
    """Return whether a person is the user. A name counts only where there is no address: others may have it, too."""
    if "@" in person.address:
        return person.address.casefold() in me
    return bool({person.address.casefold(), person.name.casefold()} & me)


def _is_mentioned(text: str, me: frozenset[str]) -> bool:
    names = [name for name in me if len(name) >= _MIN_NAME]
    folded = fold_text(text) if names else ""
    return any(has_phrase(folded, fold_text(name)) for name in names)


def _has_few_words(text: str) -> bool:
    """Return whether less than a quarter of the words at the beginning of a text are different ones."""
    words = [match.group().lower() for match in islice(_WORD.finditer(text), _MOST_WORDS)]
    return len(words) >= _ENOUGH_WORDS and 4 * len(set(words)) < len(words)
