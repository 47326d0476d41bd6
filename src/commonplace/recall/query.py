"""A question, as every surface asks it, checked once; and what it asks for apart from its words.

Parsing tells whom a question names, when it was, and what kind of answer it wants. It knows English; a question in
another language is simply its words. What is quoted must stand in a note as it is: the index knows words by their
stems, so its candidates are read once more. In alphabets of which a table of meaning knows little more than the letters
(Greek, Cyrillic, Hebrew, those of India, Georgian, Ethiopic) only words tell, by how they begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from commonplace.index.port import EntryCandidate
from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType
from commonplace.model.times import read_time
from commonplace.recall.dates import Span, find_span
from commonplace.text.words import (
    STOP_WORDS,
    QueryTerms,
    blank_quotes,
    fold_text,
    has_phrase,
    normalize_words,
    query_terms,
    stem,
)
from commonplace.vault.paths import JOURNAL

MODES = ("hybrid", "lexical", "semantic")
SORTS = ("score", "recency", "usage")
KINDS = ("memory", "journal")
MOST = 100
_JOURNAL = f"{JOURNAL}/"
COUNTED = 1_000  # matches: nobody reads more, and in a large book counting them would take longer than finding them


def of_total(shown: int, total: int) -> str:
    """How many are shown of how many."""
    return f"{shown:,} of {total:,}{' or more' if total >= COUNTED else ''} that match."


class RecallQuery(NamedTuple):
    query: str = ""
    folders: tuple[str, ...] = ()  # the scopes that are asked, nearest first
    type: str | None = None
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    limit: int = 10
    mode: str = "hybrid"
    sort: str = "score"
    budget_tokens: int | None = None
    expired: bool = False
    explain: bool = False
    session: str | None = None  # only what was stored in this one

    def checked(self) -> RecallQuery:
        """The same with its times as timestamps; InvalidField says what cannot be asked."""
        _one_of("mode", self.mode, MODES)
        _one_of("sort", self.sort, SORTS)
        if self.type is not None:
            _one_of("type", self.type, tuple(MemoryType))
        for kind in self.kinds:
            _one_of("kinds", kind, KINDS)
        if not 1 <= self.limit <= MOST:
            raise InvalidField(f"limit is a number from 1 to {MOST}.")
        if self.budget_tokens is not None and self.budget_tokens < 1:
            raise InvalidField("budget_tokens is a number greater than 0.")
        return self._replace(
            since=_time(self.since),
            until=_time(self.until, end=True),
            as_of=_time(self.as_of, end=True),
        )


def is_journal(folder: str) -> bool:
    """Whether an entry is of the journal, by where it stands."""
    return folder.startswith(_JOURNAL)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidField(f"{name} cannot be {value[:40]!a}.", hint=f"Use one of: {', '.join(allowed)}.")


def _time(text: str | None, *, end: bool = False) -> str | None:
    """A caller's time; a day alone means its beginning, or for an end its last second."""
    if text is None:
        return None
    return f"{text}T23:59:59Z" if end and len(text) == 10 and read_time(text) else read_time(text)


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


class ParsedQuery(NamedTuple):
    terms: QueryTerms  # the words to search for
    text: str  # what to embed
    authors: frozenset[str]  # who is named
    first_person: bool
    wants_time: bool
    wants_number: bool
    span: Span | None = None  # when it was
    vague: bool = False  # it asks for whatever was then, or for what somebody named did then
    dated: bool = False  # it says when, or who, in words that a note may have
    talked: ParsedQuery | None = (
        None  # the same as conversations are asked, without the names of authors, if it has any
    )

    @property
    def talk(self) -> ParsedQuery:
        return self.talked or self


def parse_query(query: str, authors: Iterable[str], now: str) -> ParsedQuery:
    """In a conversation the names of its authors say who spoke, and would drown what was said: there they are left out
    of the words and of the text. A lone note is about whom it names."""
    when = find_span(query, now)
    query = when.rest if query_terms(when.rest) else query
    outside = blank_quotes(query)  # what is quoted is to be found: it says neither who nor when
    plain = outside.lower()
    words = frozenset(_NAME.findall(plain))
    asks = not words.isdisjoint(_ASKING_WORDS)
    # In April nobody is meant who is called so.
    people = frozenset(_NAME.findall(blank_quotes(when.without).lower())) if when.date else words
    named = {author: parts for author in authors if (parts := _named(author, people))}
    without = frozenset(part for parts in named.values() for part in parts)
    vague = when.span is not None and words.isdisjoint(_PRECISE) and _is_vague(when.without, without)
    text = " ".join([*sorted(without), when.date]) if vague else query  # of that, only who and when tells anything
    terms = query_terms(text)
    if not terms:
        text, terms = query, query_terms(query)
    asked = ParsedQuery(
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
    known = _VAGUE.union(map(stem, map(normalize_words, names)))
    return not terms.all_of and all(part in known for word in terms.words for part in word)


def quoting(candidates: Sequence[EntryCandidate], terms: QueryTerms) -> set[int]:
    """The numbers of those that have all that is quoted."""
    if not terms.quoted:
        return {item.no for item in candidates}
    own = {item.no: [fold_text(place) for place in _own(item)] for item in candidates}
    having = [item for item in candidates if _have(own[item.no], terms)]
    # Most summaries are the beginning of the newest entry: then that one has it, and not those before.
    known = {(item.folder, item.name) for item in having}
    others = [item for item in candidates if (item.folder, item.name) not in known]
    summed = [item for item in others if item.row and _have([*own[item.no], fold_text(item.row.summary)], terms)]
    return {item.no for item in (*having, *summed)}


def _have(places: Sequence[str], terms: QueryTerms) -> bool:
    return all(any(has_phrase(place, phrase) for place in places) for phrase in terms.quoted)


def _own(candidate: EntryCandidate) -> list[str]:
    entry, row = candidate.recorded.entry, candidate.row
    labels = [candidate.name, *entry.tags, *(row.tags if row is not None else ())]
    return [entry.text, *labels, *(label.replace("-", " ").replace("_", " ") for label in labels)]


ENOUGH = 0.14  # of the letters of a question: with less in common, no answer is the better answer
_ALPHABETS = (("\u0370", "\u05ff"), ("\u0900", "\u0dff"), ("\u10a0", "\u139f"))
_LITTLE = 2  # letters: a word like this says nothing, if there are others
_SHORT = 4  # letters: a shorter word has to be there as it is
_BEGINNING = 0.6  # of a word


def is_spelled(text: str) -> bool:
    """Whether most letters of a text are of such an alphabet."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(first <= letter <= last for letter in letters for first, last in _ALPHABETS) > len(letters)


def share_of(text: str, asked: Iterable[Sequence[str]]) -> float:
    """How much of a question's words a text has in some form, from 0 to 1, by their letters."""
    words = "".join(letter if letter.isalnum() else " " for letter in normalize_words(text)).split()
    said = f" {' '.join(words)} "
    every = [part for word in asked for part in word]
    parts = [part for part in every if len(part) > _LITTLE] or every
    there = sum(len(part) for part in parts if _form(part) in said)
    return there / (sum(map(len, parts)) or 1)


def _form(part: str) -> str:
    """What has to be in a text, that it has a word; also behind a prefix."""
    return f" {part} " if len(part) < _SHORT else part[: max(_SHORT, round(_BEGINNING * len(part)))]
