"""What a question asks for, apart from its words: whom it names, when it was, and what kind of answer it wants.

Nothing here knows a language but English; a question in another is simply its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import NamedTuple

from commonplace.model.patterns import lazy
from commonplace.recall.dates import Span, find_span
from commonplace.text.words import STOP_WORDS, Terms, bare, query_terms, stem, unquoted

_NAME = lazy(r"[^\W_]+")
_WHEN = lazy(r"\b(?:when|what (?:date|day|time|year|month|week)|which (?:date|day|year|month|week)|how long)\b")
_HOW_MANY = lazy(r"\b(?:how (?:many|much|often|old|big|large|long)|what (?:number|percentage|share|price|port))\b")
_FIRST_PERSON = lazy(r"\b(?:i|me|my|mine|we|us|our)\b")
# What these patterns begin with: a question with none of these words need not compile them.
_OWN_WORDS = frozenset(("i", "me", "my", "mine", "we", "us", "our"))
_ASKING_WORDS = frozenset(("when", "what", "which", "how"))
_PRECISE = frozenset(("where", "who", "whom", "whose", "why", "how", "when"))  # these ask for one thing, not for all
_SHORTEST_NAME = 3
USER = "human"  # the author of what the user says or stores
# A question of these and a time asks for whatever was then.
_VAGUE = frozenset(
    stem(word)
    for word in (
        "anything", "changed", "changes", "decided", "decision", "did", "discussed", "done", "events", "everything",
        "going", "happened", "happen", "learned", "learnt", "memories", "new", "notes", "recorded", "remember",
        "something", "stored", "talked", "updates", "went", "worked", "d", "ll", "re", "s", "ve", *STOP_WORDS,
    )
)  # fmt: skip


class Asked(NamedTuple):
    terms: Terms  # the words to search for
    text: str  # what to embed
    authors: frozenset[str]  # who is named
    first_person: bool
    wants_time: bool
    wants_number: bool
    span: Span | None = None  # when it was
    vague: bool = False  # it asks for whatever was then, or for what somebody named did then
    dated: bool = False  # it says when, or who, in words that a note may have
    talked: Asked | None = None  # the same as conversations are asked, without the names of authors, if it has any

    @property
    def talk(self) -> Asked:
        return self.talked or self


def analyse(query: str, authors: Iterable[str], now: str) -> Asked:
    """In a conversation the names of its authors say who spoke, and would drown what was said: there they are left out
    of the words and of the text. A lone note is about whom it names."""
    when = find_span(query, now)
    query = when.rest if query_terms(when.rest) else query
    outside = unquoted(query)  # what is quoted is to be found: it says neither who nor when
    plain = outside.lower()
    words = frozenset(_NAME.findall(plain))
    asks = not words.isdisjoint(_ASKING_WORDS)
    # In April nobody is meant who is called so.
    people = frozenset(_NAME.findall(unquoted(when.without).lower())) if when.date else words
    named = {author: parts for author in authors if (parts := _named(author, people))}
    without = frozenset(part for parts in named.values() for part in parts)
    vague = when.span is not None and words.isdisjoint(_PRECISE) and _is_vague(when.without, without)
    text = " ".join([*sorted(without), when.date]) if vague else query  # of that, only who and when tells anything
    terms = query_terms(text)
    if not terms:
        text, terms = query, query_terms(query)
    asked = Asked(
        terms=terms,
        text=" ".join(text.split()),
        authors=frozenset(named),
        first_person=not words.isdisjoint(_OWN_WORDS) and _FIRST_PERSON.search(plain) is not None,
        wants_time=asks and _WHEN.search(plain) is not None,
        wants_number=asks and _HOW_MANY.search(plain) is not None,
        span=when.span,
        vague=vague,
        dated=bool(when.date or named),
    )
    if vague or not without:
        return asked
    text = _NAME.sub(lambda match: _unless_named(match, without, outside), query)
    talk = query_terms(text)
    if not talk:  # nothing but a name: then the name is what is asked for
        return asked
    return asked._replace(talked=asked._replace(terms=talk, text=" ".join(text.split())))


def _named(author: str, words: Set[str]) -> frozenset[str]:
    """Which words of a question name an author: one of a person's names, or a handle as a whole. Nobody who asks for a
    code review names claude-code."""
    if author == USER:
        return frozenset()
    names = [frozenset(_NAME.findall(name)) for name in author.lower().split()]
    return frozenset().union(*(name for name in names if name <= words and sum(map(len, name)) >= _SHORTEST_NAME))


def _unless_named(match: re.Match[str], names: Set[str], outside: str) -> str:
    return "" if match.group().lower() in names and not outside[match.start()].isspace() else match.group()


def _is_vague(rest: str, names: Set[str]) -> bool:
    """Whether what is left of a question without its time and names asks for nothing in particular."""
    terms = query_terms(rest)
    known = _VAGUE.union(map(stem, map(bare, names)))
    return not terms.all_of and all(part in known for word in terms.words for part in word)
