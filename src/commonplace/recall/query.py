"""Validate a recall query and parse it: its words, whom and what time it names, and what it names or quotes as it is.

Parsing knows English; a question in another language is only its words.
"""

# Without postponed annotations: a named tuple would compile each of them at every start.
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.values import is_summary_folder
from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.memory import read_type
from commonplace.recall.dates import TimeSpan, find_time, read_when
from commonplace.text.words import (
    STOP_WORDS,
    QueryTerms,
    blank_quotes,
    find_identifiers,
    normalize_words,
    query_terms,
    stem,
)
from commonplace.vault.paths import JOURNAL

if TYPE_CHECKING:
    from commonplace.model.choices import KindName, SearchMode, SortOrder

# The words of the types, which take half a millisecond to make; a test compares them.
MODES: "tuple[SearchMode, ...]" = ("hybrid", "lexical", "semantic")
SORTS: "tuple[SortOrder, ...]" = ("score", "recency", "usage")
KINDS: "tuple[KindName, ...]" = ("memory", "journal")  # that are searched unasked
ALL_KINDS: "tuple[KindName, ...]" = (*KINDS, "leaf", "summary", "digest")
MAX_LIMIT = 100
_JOURNAL_PREFIX = f"{JOURNAL}/"
MAX_COUNTED = 1_000  # matches: in a large book counting more would take longer than finding the best


def format_total(shown: int, total: int) -> str:
    """Return the sentence that says how many hits are shown of how many."""
    return f"{shown:,} of {total:,}{' or more' if total >= MAX_COUNTED else ''} that match."


class RecallQuery(NamedTuple):
    """A question as every surface asks it, with its filters."""

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
    strong: bool = False  # only hits that are clearly better than the rest
    session: str | None = None  # only what was stored in this one
    names_later: bool = True  # with each hit, what may contradict it
    is_quick: bool = False  # for who waits: few entries are read, and no others are counted
    replaced: bool = False  # also what memories said that say something else now; for a question without words
    only: frozenset[int] | None = None  # of the entries with these numbers in the index; None: of all

    def covers(self, folder: str) -> bool:
        """Return whether a folder is one of the question's scopes, or below one."""
        if is_summary_folder(folder):
            return folder in self.folders
        return f"{folder}/".startswith(tuple([f"{place}/" for place in self.folders]))

    def validate(self) -> "RecallQuery":
        """Return the query with its times as timestamps; raise InvalidField for a value that is not allowed."""
        if self.type is not None:
            read_type(self.type)  # refuses a word that is none
        chosen: list[tuple[str, str, Sequence[str]]] = [("mode", self.mode, MODES), ("sort", self.sort, SORTS)]
        for name, value, allowed in [*chosen, *(("kinds", kind, ALL_KINDS) for kind in self.kinds)]:
            if value not in allowed:
                raise InvalidField(f"{name} cannot be {value[:40]!a}.", hint=f"Use one of: {', '.join(allowed)}.")
        if not 1 <= self.limit <= MAX_LIMIT:
            raise InvalidField(f"limit is a number from 1 to {MAX_LIMIT}.")
        if self.budget_tokens is not None and self.budget_tokens < 1:
            raise InvalidField("budget_tokens is a number greater than 0.")
        return self._replace(
            since=read_when(self.since) if self.since is not None else None,
            until=read_when(self.until, end=True) if self.until is not None else None,
            as_of=read_when(self.as_of, end=True) if self.as_of is not None else None,
        )


def is_journal(folder: str) -> bool:
    """Return whether a folder is in the journal."""
    return folder.startswith(_JOURNAL_PREFIX)


AuthorLookup = Callable[[Collection[str]], Iterable[str]]
_WORD = lazy(r"[^\W_]+")
_FIRST_PERSON_WORDS = frozenset("i me my mine we us our".split())  # noqa: SIM905
# A question for what was proposed is about what somebody else said.
_ADVICE_STEMS = frozenset(map(stem, "suggest suggestion advice advise recommend recommendation".split()))  # noqa: SIM905
# These ask for one thing, not for everything at a time.
_PRECISE_WORDS = frozenset("where who whom whose why how when".split())  # noqa: SIM905
_MIN_NAME_LETTERS = 3
USERS = frozenset(("human", "user", "me"))  # authors of what the user says or stores: one role
# A question of only these words and a time asks for everything of that time.
_VAGUE_STEMS = frozenset(map(stem, STOP_WORDS)) | frozenset(
    stem(word)
    for word in """
    anything changed changes decided decision did discussed done events everything going happened happen learned learnt
    memories new notes recorded remember something stored talked updates went worked d ll re s ve
    """.split()  # noqa: SIM905 - a list of these would be a page long
)


class ParsedQuery(NamedTuple):
    """A question taken apart: what to search for, and whom, when and what kind of answer it asks for."""

    terms: QueryTerms  # the words to search for; of a vague question only those that a note may have in it
    text: str  # what to embed
    talk: str  # the same without the names of authors, for conversations
    authors: frozenset[str]  # who is named
    is_first_person: bool  # it asks for what the user said
    identifiers: frozenset[str]  # what it names as it is written: web-01, ERR_2041
    span: TimeSpan | None  # the time it names
    is_vague: bool  # it asks for everything of a time, or of an author at that time

    def is_by(self, author: str | None) -> bool:
        """Return whether the question asks for what this author said: one that it names, or else the user."""
        if author is None:
            return False
        return author in self.authors or (self.is_first_person and not self.authors and author.lower() in USERS)


def parse_query(query: str, find_authors: "AuthorLookup", now: str) -> "ParsedQuery":
    """Return a question taken apart. `find_authors` returns the authors whose names have one of some words.

    The names of a conversation's authors say who spoke, and would outweigh what was said: there they are left out of
    what is embedded. A lone note is about whom it names, so there they stay.
    """
    when = find_time(query, now)
    query = when.rest if query_terms(when.rest) else query
    outside = blank_quotes(query)  # what is quoted is to be found: it says neither who nor when
    plain = outside.lower()
    words = frozenset(_WORD.findall(plain))
    people = frozenset(_WORD.findall(blank_quotes(when.without_date)))  # in a date, April is not a person
    authors = find_authors({word.lower() for word in people}) if people else ()
    named = {author: parts for author in authors if (parts := _find_author_words(author, people))}
    without = frozenset(part for parts in named.values() for part in parts)
    vague = not query.strip() or (
        when.span is not None and words.isdisjoint(_PRECISE_WORDS) and _is_vague(when.without_date, without)
    )
    text = " ".join([*sorted(without), when.date]) if vague else query  # of that, only who and when tells anything
    terms = query_terms(text)
    if not (terms or vague):
        text, terms = query, query_terms(query)
    talk = _WORD.sub(lambda match: "" if match.group().lower() in without else match.group(), text)
    return ParsedQuery(
        terms=terms,
        text=" ".join(text.split()),
        talk=" ".join((talk if query_terms(talk) else text).split()),  # nothing but a name: that is what is asked for
        authors=frozenset(named),
        is_first_person=not words.isdisjoint(_FIRST_PERSON_WORDS) and _ADVICE_STEMS.isdisjoint(map(stem, words)),
        identifiers=frozenset(find_identifiers(query)),
        span=when.span,
        is_vague=vague,
    )


def _find_author_words(author: str, words: Set[str]) -> frozenset[str]:
    """Return the words of a question that name an author, in lower case: one of a person's names, or the whole of a
    handle.

    A question about a code review does not name claude-code. Nor does the price of a bond name James Bond: a name that
    has a capital is one only where it is written with one.
    """
    if author.lower() in USERS:
        return frozenset()
    written = {*map(str.lower, words), *(word.capitalize() for word in words if word[0].isupper())}
    named: set[str] = set()
    for name in author.split():
        parts = _WORD.findall(name)
        forms = {part.capitalize() if part[0].isupper() else part.lower() for part in parts}
        if len(name) >= _MIN_NAME_LETTERS and forms <= written:
            named.update(map(str.lower, parts))
    return frozenset(named)


def _is_vague(rest: str, names: Set[str]) -> bool:
    """Return whether a question without its time and names asks for nothing in particular."""
    terms = query_terms(rest)
    known = _VAGUE_STEMS.union(map(stem, map(normalize_words, names)))
    return not terms.all_of and all(part in known for word in terms.words for part in word)
