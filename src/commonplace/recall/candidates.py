"""Collect the candidates for an answer: search by words and by vectors, combine both, filter, and read the best ones.

`search.py` calls the functions in the order in which they stand; `ranking.py` scores what they return.

The passage of a long entry is the stretch of whole lines with most of the question's words; marks show what was left
out. `commonplace show` gives the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.values import EntryCandidate, Match, Window, is_of_tree
from commonplace.recall.query import ParsedQuery, RecallQuery, is_journal
from commonplace.text.words import (
    QueryTerms,
    append_numbers,
    cut_ending,
    estimate_tokens,
    normalize_words,
    significant_words,
    stem,
)

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

HIDDEN_STATUSES = ("expired", "proposed", "quarantined")  # the first is shown where that is asked for
FOUND = 120  # entries that the words, and the vectors, find
_MIN_READ = 60  # of these are read in full
_BEST_BY_WORDS = 5  # of these for their words alone
NO_LIMIT = 1_000_000
MAX_WHOLE_LENGTH = 2_400  # characters: up to here a text is shown whole
_MAX_PASSAGE = 400  # tokens
OMISSION_MARK = "[...]"
_SOURCE_TOKENS = 12  # tokens: the line that says where a hit is from
_MARK_TOKENS = 6  # tokens: what was left out before and after
_MIN_PASSAGE = 8  # characters that are shown in however small a budget


def has_filters(question: RecallQuery) -> bool:
    """Return whether a question filters by time, type, session or tags."""
    return bool(question.since or question.until) or has_other_filters(question)


def has_other_filters(question: RecallQuery) -> bool:
    """Return whether a question filters by what is known of an entry only when it is read; then all are read."""
    return bool(question.tags) or any(item is not None for item in (question.as_of, question.type, question.session))


def window_of(question: RecallQuery) -> Window:
    """Return the scopes and the time of a question, as the index takes them."""
    return Window(question.folders, question.since or "", question.until or "", question.only)


def list_hidden_statuses(question: RecallQuery) -> Sequence[str]:
    """Return the statuses that keep a memory out of the answer, so that it is only counted.

    A memory that has expired today was valid at an earlier `as_of`; a proposed or quarantined one never was.
    """
    return HIDDEN_STATUSES[1:] if question.expired or question.as_of is not None else HIDDEN_STATUSES


def is_hidden(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Return whether a memory's status keeps it out of the answer."""
    return candidate.row is not None and candidate.row.status in list_hidden_statuses(question)


def is_allowed(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Return whether a candidate passes the question's scopes and filters."""
    if not question.covers(candidate.folder):
        return False
    row, entry = candidate.row, candidate.entry
    if question.as_of is not None:
        is_said = candidate.start <= question.as_of < (candidate.end or "9999")
    else:
        is_said = row is not None and (candidate.end is None or (question.replaced and _was_said(candidate)))
    kind, tags = (row.type, row.tags) if row is not None else (question.type, question.tags)
    return (
        is_said
        and question.type in (None, "" if is_journal(candidate.folder) else kind)  # the journal has no types
        and {*question.tags} <= {*tags, *entry.tags}
        and question.session in (None, entry.session)
        and (question.since or "") <= get_time(candidate) <= (question.until or "9999")
    )


def _was_said(candidate: EntryCandidate) -> bool:
    """Return whether the book ever said an entry: one that was never accepted ends as it begins."""
    return candidate.start != candidate.end or candidate.start == candidate.entry.time


def get_memory_id(candidate: EntryCandidate) -> str:
    """Return the id of an entry's memory; "" if the memory is no longer there."""
    return candidate.row.id if candidate.row is not None else ""


def get_time(candidate: EntryCandidate) -> str:
    """Return when an entry happened, or was stored."""
    entry = candidate.entry
    return entry.occurred or entry.time


def make_time_key(candidate: EntryCandidate) -> tuple[str, str]:
    """Return the key that sorts candidates by time: when it happened or was stored, then the entry's id."""
    return get_time(candidate), candidate.entry.id


def list_labels(candidate: EntryCandidate) -> list[str]:
    """Return the key and the tags of an entry and its memory; in the tree its title, whose file has a name of ours."""
    row = candidate.row
    if is_of_tree(candidate.folder):
        return [dict(candidate.entry.extra).get("title") or (row.summary if row is not None else "")]
    return [candidate.name, *candidate.entry.tags, *(row.tags if row is not None else ())]


def find_stems(candidate: EntryCandidate) -> frozenset[str]:
    """Return the stems of an entry's telling words, of its key and of its tags."""
    labels = " ".join(list_labels(candidate)).replace("-", " ").replace("_", " ")
    return find_text_stems(labels) | find_text_stems(candidate.entry.text)


@lru_cache(maxsize=2_048)
def find_text_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's telling words."""
    return frozenset(map(stem, significant_words(text)))


def measure_coverage(candidate: EntryCandidate, words: Sequence[Sequence[str]]) -> float:
    """Return the share of a question's words that an entry has in some form; of an identifier it has all parts."""
    text = normalize_words(append_numbers(" ".join([candidate.entry.text, *list_labels(candidate)])))
    return sum(all(re.search(_begin_word(part), text) for part in word) for word in words) / max(1, len(words))


def _begin_word(part: str) -> str:
    """Return a pattern for a form of a word; in scripts without spaces it may begin anywhere."""
    return (r"(?<![^\W_])" if part.isascii() else "") + re.escape(cut_ending(part))


class FoundEntry(NamedTuple):
    """An entry that words or vectors found, with both scores; the cosine is None if it has no vector."""

    no: int
    folder: str
    thread: str | None
    author: str | None
    words: float
    cosine: float | None
    has_quoted: bool = False  # the quoted phrases, in any form of their words


def find_entries(
    index: Transaction, parsed: ParsedQuery, question: RecallQuery, vectors: EntryVectors | None, limit: int
) -> dict[int, FoundEntry]:
    """Return what the words, and up to `limit` that the vectors find in the question's scopes, by number."""
    words = _search(index, parsed.terms._replace(all_of=()), question) if question.mode != "semantic" else {}
    # The words alone may put what is quoted too far behind.
    quoted = _search(index, parsed.terms, question) if words and parsed.terms.all_of else {}
    matches = quoted | words
    cosines = vectors.get_cosines(matches) if vectors is not None else {}
    found = {no: FoundEntry(*match, cosines.get(no), no in quoted) for no, match in matches.items()}
    for item in vectors.find_nearest(question, limit) if vectors is not None else ():
        found.setdefault(item.no, item)
    return found


def _search(index: Transaction, terms: QueryTerms, question: RecallQuery) -> dict[int, Match]:
    """Return the matches for some terms in the question's scopes, by number."""
    # The best by words are enough for the best by score; for the latest or the most used all have to be looked at.
    limit = FOUND if question.sort == "score" and not has_other_filters(question) else NO_LIMIT
    is_everywhere = question.only is None and not (question.since or question.until)
    if question.as_of is not None or is_everywhere:
        found = index.search(terms, limit)
        folders = set(filter(question.covers, {match.folder for match in found}))
        inside = {match.no: match for match in found if match.folder in folders}
        if question.as_of is not None or len(found) < limit or len(inside) >= FOUND // 2:
            return inside
    # There may be much else: only what is in the question's scopes and time is looked for.
    return {match.no: match for match in index.search(terms, limit, window_of(question))}


def read_best(
    index: Transaction, found: Mapping[int, FoundEntry], scores: Mapping[int, float], question: RecallQuery
) -> list[EntryCandidate]:
    """Return the best candidates that the question allows, read in full; hidden ones too."""
    limit = max(0 if question.is_quick else _MIN_READ, 2 * question.limit)
    cut, bar = float("-inf"), 0.0
    if len(scores) > limit and question.sort == "score" and not has_other_filters(question):
        cut = sorted(scores.values(), reverse=True)[limit - 1]  # equals of the last one are in: order is no accident
        bar = sorted([item.words for item in found.values()], reverse=True)[_BEST_BY_WORDS]
    # Those that the words clearly put first are in, whatever meaning says: it knows nothing of most identifiers. And
    # so are those that may have what is quoted: the index knows only the stems of its words.
    chosen = [no for no, score in scores.items() if score >= cut or found[no].words > bar or found[no].has_quoted]
    return [item for item in index.candidates(chosen) if is_allowed(item, question)]


def cut_passage(text: str, terms: QueryTerms, budget: int | None = None) -> str:
    """Return the text, or the best stretch of a long one; with a token budget, one that fits beside its source line."""
    room = _MAX_PASSAGE if budget is None else min(_MAX_PASSAGE, budget - _SOURCE_TOKENS - _MARK_TOKENS)
    if not text or (len(text) <= MAX_WHOLE_LENGTH and (budget is None or estimate_hit_tokens(text) <= budget)):
        return text
    # Pieces are whole lines; one that is too long is cut at spaces.
    longest = max(_MIN_PASSAGE, room)
    pieces = re.findall(rf".{{,{longest}}}\n|.{{1,{longest}}}(?: |\Z)|.{{1,{longest}}}", text)
    plain = [*map(normalize_words, pieces)]
    # How many of the question's words each has.
    weights = [sum(any(part in piece for part in word) for word in terms.words) for piece in plain]
    best = weights.index(max(weights))
    # Twice as far down as up, since what follows explains more.
    nearest = sorted(range(len(pieces)), key=lambda at: max(best - at, (at - best) / 2))
    sizes = accumulate(max(estimate_tokens(pieces[at]), len(pieces[at]) / 4) for at in nearest)
    shown = sorted(nearest[: sum(size <= room for size in sizes) or 1])
    head = f"{OMISSION_MARK}\n" if shown[0] > 0 else ""
    tail = f"\n{OMISSION_MARK}" if shown[-1] + 1 < len(pieces) else ""
    return head + "".join(pieces[at] for at in shown).strip("\n") + tail


def estimate_hit_tokens(shown: str) -> int:
    """Return the number of tokens of a hit that shows this text, its source line included."""
    return estimate_tokens(shown) + _SOURCE_TOKENS
