"""Collect the candidates for an answer: search by words and by vectors, combine both, filter, and read the best ones.

`search.py` calls the functions in the order in which they stand; `ranking.py` scores what they return.

A relevance is a weighted sum of parts, each from 0 to 1. All weights are in the tables below; `make bench-recall`
prints what each is worth. Entries of a conversation are scored relative to each other, with what was said around them.
A lone note is scored by itself, so that a score means the same whatever else was found, and "nothing found" is an
answer too.

The passage of a long entry is the stretch of whole lines with most of the question's words; marks show what was left
out. `commonplace show` gives the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.port import EntryCandidate, EntryInterval, Match, Transaction
from commonplace.recall.query import ParsedQuery, RecallQuery, find_quoting, is_journal, list_labels
from commonplace.text.words import QueryTerms, estimate_tokens, normalize_words, significant_stems

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

HIDDEN_STATUSES = ("expired", "proposed", "quarantined")
MIN_SOURCE_LIMIT = 120  # entries that the words, and the vectors, find
_MIN_FETCHED = 40  # of these are read in full
_BEST_BY_WORDS = 5  # of these for their words alone
_MAX_COVERAGE_TEXTS = 30  # of these are compared word by word
LIMIT_GROWTH, NO_LIMIT = 10, 1_000_000
CONVERSATION = {
    "own": 0.53,  # what the turn says, by words and meaning
    "thread": 0.30,  # the best of what its conversation says
    "beside": 0.15,  # the better of the turns before and after it
    "author": 0.16,
    "question": -0.14,
    "when": 0.12,
}
OWN_WORDS = 0.6  # of what a turn says counts by its words, the rest by its meaning
LONE = {"said": 0.45, "cosine": 0.55, "when": 0.1}
LONE_FOREIGN = {"coverage": 0.5, "said": 0.25, "cosine": 0.25, "when": 0.1}  # beyond Latin
# Whether there is an answer among lone notes: how good the best is, and how much of the question the best say together.
ANSWERED = {"best": 0.67, "together": 0.33}
LONE_ROUGH = {"words": 0.3, "meaning": 0.7}  # before the text is read
MAX_WHOLE_LENGTH = 2_400  # characters: up to here a text is shown whole
_MAX_PASSAGE = 1_600
OMISSION_MARK = "[...]"
_SOURCE_TOKENS = 12  # tokens: the line that says where a hit is from
_MARK_TOKENS = 6  # tokens: what was left out before and after
_MIN_PASSAGE = 8  # characters that are shown in however small a budget


def has_filters(question: RecallQuery) -> bool:
    """Return whether a question filters by time, type, session or tags."""
    times = (question.since, question.until, question.as_of, question.type, question.session)
    return bool(question.tags) or any(time is not None for time in times)


def list_hidden_statuses(question: RecallQuery) -> list[str]:
    """Return the statuses that keep a memory out of the answer, so that it is only counted.

    A memory that has expired today was valid at an earlier `as_of`; a proposed or quarantined one never was.
    """
    shows_expired = question.expired or question.as_of is not None
    return [status for status in HIDDEN_STATUSES if not (status == "expired" and shows_expired)]


def is_hidden(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Return whether a memory's status keeps it out of the answer."""
    return candidate.row is not None and candidate.row.status in list_hidden_statuses(question)


def is_allowed(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Return whether a candidate passes the question's scopes and filters."""
    if not question.covers(candidate.folder):
        return False
    recorded, row = candidate.recorded, candidate.row
    if question.as_of is not None:
        if recorded.start > question.as_of or (recorded.end is not None and recorded.end <= question.as_of):
            return False
    elif row is None or (recorded.end is not None and not (question.replaced and _was_said(recorded))):
        return False
    if row is not None:
        kind = "" if is_journal(row.folder) else row.type  # the journal has no types
        if question.type is not None and kind != question.type:
            return False
        if not {*question.tags} <= {*row.tags, *recorded.entry.tags}:
            return False
    if question.session is not None and recorded.entry.session != question.session:
        return False
    when = get_time(candidate)
    return not ((question.since and when < question.since) or (question.until and when > question.until))


def _was_said(recorded: EntryInterval) -> bool:
    """Return whether the book ever said an entry: one that was never accepted ends as it begins."""
    return recorded.start != recorded.end or recorded.start == recorded.entry.time


def is_by_time_and_author(candidate: EntryCandidate, parsed: ParsedQuery) -> bool:
    """Return whether an entry is from the time, and by one of the authors, that the question names."""
    then = parsed.span is None or parsed.span.contains(get_time(candidate))
    return then and (not parsed.authors or candidate.recorded.entry.author in parsed.authors)


def get_memory_id(candidate: EntryCandidate) -> str:
    """Return the id of an entry's memory; "" if the memory is no longer there."""
    return candidate.row.id if candidate.row is not None else ""


def get_time(candidate: EntryCandidate) -> str:
    """Return when an entry happened, or was stored."""
    entry = candidate.recorded.entry
    return entry.occurred or entry.time


def make_time_key(candidate: EntryCandidate) -> tuple[str, str]:
    """Return the key that sorts candidates by time: when it happened or was stored, then the entry's id."""
    return get_time(candidate), candidate.recorded.entry.id


def search_words(index: Transaction, parsed: ParsedQuery, question: RecallQuery) -> list[Match]:
    """Return the entries of the question's scopes that have its words; entries of other scopes are skipped."""
    # The best by words are enough for the best by score; for the latest or the most used all have to be looked at.
    found = _search_terms(index, parsed.terms, question)
    if parsed.without_authors is None:
        return found
    talk = _search_terms(index, parsed.for_conversations.terms, question)
    return [*(match for match in found if match.thread is None), *(match for match in talk if match.thread is not None)]


def _search_terms(index: Transaction, terms: QueryTerms, question: RecallQuery) -> list[Match]:
    """Return the matches for some terms in the question's scopes; with quoted terms, only exact ones."""
    limit = choose_source_limit(question) if question.sort == "score" and not has_filters(question) else NO_LIMIT
    while True:
        found = index.search(terms, limit)
        folders = set(filter(question.covers, {match.folder for match in found}))
        inside = [match for match in found if match.folder in folders]
        if terms.quoted:  # the index finds forms of the words as well
            exact = find_quoting(index.candidates([match.no for match in inside]), terms)
            inside = [match for match in inside if match.no in exact]
        if len(found) < limit or limit >= NO_LIMIT or len(inside) >= choose_source_limit(question) // 2:
            return inside
        limit *= LIMIT_GROWTH


def choose_source_limit(question: RecallQuery) -> int:
    """Return how many entries to take from the words, and how many from the vectors."""
    return max(MIN_SOURCE_LIMIT, 2 * question.limit)


class ScoredEntry(NamedTuple):
    """An entry that words or vectors found, with both scores; the cosine is None if it has no vector."""

    no: int
    folder: str
    thread: str | None
    author: str | None
    words: float
    cosine: float | None


def add_semantic_matches(
    word_matches: Sequence[Match], parsed: ParsedQuery, question: RecallQuery, vectors: EntryVectors | None
) -> dict[int, ScoredEntry]:
    """Return all that was found, with word score and cosine: the matches by words, and the nearest by vector."""
    cosines = vectors.get_cosines([match.no for match in word_matches]) if vectors is not None else {}
    found = {match.no: ScoredEntry(*match, cosines.get(match.no)) for match in word_matches}
    if vectors is not None and not parsed.terms.all_of:  # quoted words must occur: meaning only orders what has them
        for item in vectors.find_nearest(question):
            found.setdefault(item.no, item)
    return found


def compute_parts(
    found: Mapping[int, ScoredEntry], parsed: ParsedQuery, vectors: EntryVectors | None
) -> dict[int, dict[str, float]]:
    """Return the parts of each entry's score that need no text, scaled from 0 to 1.

    A turn of a conversation also has what is said around it: the best of the conversation, and the better of its two
    neighbours, which may not have been found themselves.
    """
    most = max([entry.words for entry in found.values()], default=0.0) or 1.0
    low = vectors.mean_cosine if vectors is not None else 0.0
    best = max([entry.cosine for entry in found.values() if entry.cosine is not None], default=low)
    spread = max(0.0, best - low) or 1.0  # what is quoted may be in entries that are no nearer than the mean

    def scale_parts(words: float, cosine: float | None) -> dict[str, float]:
        parts = {"words": words / most, "meaning": 0.0}
        if cosine is not None:
            parts |= {"meaning": max(0.0, (cosine - low) / spread), "cosine": cosine}
        return parts

    def measure_own(parts: Mapping[str, float]) -> float:
        return OWN_WORDS * parts["words"] + (1 - OWN_WORDS) * parts["meaning"] if "cosine" in parts else parts["words"]

    parts = {no: scale_parts(entry.words, entry.cosine) for no, entry in found.items()}
    threads: dict[tuple[str, str], list[int]] = {}
    for no, entry in found.items():
        if entry.thread is not None:
            parts[no] |= {"own": measure_own(parts[no]), "author": float(parsed.is_by(entry.author))}
            threads.setdefault((entry.folder, entry.thread), []).append(no)
    for numbers in threads.values():
        said = max(parts[no]["own"] for no in numbers)
        for no in numbers:
            parts[no]["thread"] = said
    if vectors is None or not threads:
        return parts
    neighbours = vectors.find_neighbours(no for numbers in threads.values() for no in numbers)
    beside = {other for pair in neighbours.values() for other in pair if other is not None}
    own = {no: parts[no]["own"] for no in beside & parts.keys()}
    own |= {
        no: measure_own(scale_parts(0.0, cosine)) for no, cosine in vectors.get_cosines(beside - own.keys()).items()
    }
    for no, pair in neighbours.items():
        parts[no]["beside"] = max(own.get(other, 0.0) if other is not None else 0.0 for other in pair)
    return parts


def fetch_best(
    index: Transaction,
    found: Mapping[int, ScoredEntry],
    parts: Mapping[int, Mapping[str, float]],
    question: RecallQuery,
) -> list[EntryCandidate]:
    """Return the best candidates that the question allows, read in full; those hidden by their status come last."""
    rough = {no: score_roughly(parts[no], item.thread) for no, item in found.items()}
    cut, bar, limit = 0.0, 0.0, max(_MIN_FETCHED, 2 * question.limit)
    if len(rough) > limit and question.sort == "score" and not has_filters(question):
        cut = sorted(rough.values(), reverse=True)[limit - 1]  # equals of the last one are in: order is no accident
        bar = sorted([item.words for item in found.values()], reverse=True)[_BEST_BY_WORDS]
    # Those that the words clearly put first are in, whatever meaning says: it knows nothing of most identifiers.
    fetched = index.candidates([no for no, value in rough.items() if value >= cut or found[no].words > bar])
    allowed = [item for item in fetched if is_allowed(item, question)]
    return sorted(allowed, key=lambda item: is_hidden(item, question))


def add_coverage(
    vectors: EntryVectors,
    parsed: ParsedQuery,
    candidates: Sequence[EntryCandidate],
    parts: Mapping[int, dict[str, float]],
) -> None:
    """Add to the parts of each lone note how much of the question it says in other words, alone and together."""
    lone = [item for item in candidates if item.recorded.entry.thread is None]
    lone.sort(key=lambda item: -score_roughly(parts[item.no], None))
    del lone[_MAX_COVERAGE_TEXTS:]
    passages = [cut_passage(item.recorded.entry.text, parsed.terms) for item in lone]
    # The vector of a long note mixes many topics: the passage that is shown may be nearer.
    cut = {item.no: text for item, text in zip(lone, passages, strict=True) if text != item.recorded.entry.text}
    for no, cosine in zip(cut, vectors.measure_nearness(list(cut.values())), strict=False):
        parts[no]["cosine"] = max(cosine, parts[no].get("cosine", -1.0))
    texts = [" ".join([*list_labels(item), text]) for item, text in zip(lone, passages, strict=True)]
    coverage = vectors.static.score_coverage(parsed.text, texts)
    for item, share in zip(lone, coverage.each, strict=True):
        parts[item.no] |= {"said": share, "together": coverage.together}


@lru_cache(maxsize=256)
def find_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's telling words."""
    return frozenset(significant_stems(text))


def sum_weighted(parts: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the sum of the parts, each multiplied by its weight; a missing part counts as 0."""
    total, part = 0.0, parts.get
    for name, weight in weights.items():
        total += weight * part(name, 0.0)
    return total


def score_roughly(parts: Mapping[str, float], thread: str | None) -> float:
    """Return an entry's score before its text is read; an entry without a vector is scored by its words."""
    if thread is not None:
        return sum_weighted(parts, CONVERSATION)
    return sum_weighted(parts, LONE_ROUGH) if "cosine" in parts else parts["words"]


def cut_passage(text: str, terms: QueryTerms, budget: int | None = None) -> str:
    """Return the text, or the best stretch of a long one; with a token budget, one that fits beside its source line."""
    shown = text if len(text) <= MAX_WHOLE_LENGTH else _cut_stretch(text, terms, _MAX_PASSAGE, len, _MAX_PASSAGE // 4)
    if budget is None or estimate_hit_tokens(shown) <= budget or len(text) <= _MIN_PASSAGE:
        return shown
    room = budget - _SOURCE_TOKENS - _MARK_TOKENS
    return _cut_stretch(text, terms, room, estimate_tokens, min(max(_MIN_PASSAGE, room // 2), _MAX_PASSAGE // 4))


def estimate_hit_tokens(shown: str) -> int:
    """Return the number of tokens of a hit that shows this text, its source line included."""
    return estimate_tokens(shown) + _SOURCE_TOKENS


def _cut_stretch(text: str, terms: QueryTerms, room: int, measure: Callable[[str], int], longest: int) -> str:
    """Return the piece with most of the question's words, and as many of the pieces around it as fit."""
    pieces = _split_pieces(text, longest)
    # How many of the question's words each has.
    weights = [
        sum(any(part in plain for part in word) for word in terms.words) for plain in map(normalize_words, pieces)
    ]
    best = max(range(len(pieces)), key=lambda at: (weights[at], -at))
    first = last = best
    size = measure(pieces[best])
    while True:  # grow to the side that has more of the words; else twice as far down, since what follows explains more
        above = weights[first - 1] if first > 0 else -1
        below = weights[last + 1] if last + 1 < len(pieces) else -1
        if above < 0 and below < 0:
            break
        up = above > below or (above == below and 2 * (best - first) < last - best)
        size += measure(pieces[first - 1 if up else last + 1])
        if size > room:
            break
        first, last = (first - 1, last) if up else (first, last + 1)
    shown = "".join(pieces[first : last + 1]).strip("\n")
    head = f"{OMISSION_MARK}\n" if first > 0 else ""
    tail = f"\n{OMISSION_MARK}" if last + 1 < len(pieces) else ""
    return f"{head}{shown}{tail}"


def _split_pieces(text: str, longest: int) -> list[str]:
    """Return the lines of a text with their line ends; a line that is too long is cut at spaces."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        while len(line) > longest:
            at = line.rfind(" ", 0, longest) + 1 or longest
            pieces.append(line[:at])
            line = line[at:]  # noqa: PLW2901 - what is left of it
        pieces.append(line)
    return pieces
