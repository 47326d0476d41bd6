"""Candidates for an answer: what words and meaning find, what the question allows of it, and the best of it up close.

A question allows by its scopes, filters and times, and some statuses keep a memory out of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.index.port import EntryCandidate, Match, Transaction, within
from commonplace.recall.fusion import (
    CONVERSATION,
    LONE_ROUGH,
    WORDS_ONLY,
    ScoredEntry,
    passage,
    roughly,
    scale,
    scaled,
    weighed,
)
from commonplace.recall.query import ParsedQuery, RecallQuery, is_journal, quoting
from commonplace.text.words import QueryTerms

if TYPE_CHECKING:
    from commonplace.recall.meaning import Meanings

HIDDEN = ("expired", "proposed", "quarantined")


def has_filters(question: RecallQuery) -> bool:
    times = (question.since, question.until, question.as_of, question.type, question.session)
    return bool(question.tags) or any(time is not None for time in times)


def is_hidden(candidate: EntryCandidate, question: RecallQuery) -> bool:
    """Whether a memory's status keeps it out of the answer: then it is only counted. One that is expired today was said
    at the time that is asked for; what nobody has accepted never was."""
    row = candidate.row
    if row is None or row.status not in HIDDEN:
        return False
    return not (row.status == "expired" and (question.expired or question.as_of is not None))


def is_allowed(candidate: EntryCandidate, question: RecallQuery) -> bool:
    if not within(candidate.folder, question.folders):
        return False
    recorded, row = candidate.recorded, candidate.row
    if question.as_of is not None:
        if recorded.start > question.as_of or (recorded.end is not None and recorded.end <= question.as_of):
            return False
    elif recorded.end is not None or row is None:
        return False
    kind = "" if row is None or is_journal(row.folder) else row.type  # the journal has no types
    if row is not None and not _fits(kind, (*row.tags, *recorded.entry.tags), question):
        return False
    if question.session is not None and recorded.entry.session != question.session:
        return False
    when = recorded.entry.occurred or recorded.entry.time
    return not ((question.since and when < question.since) or (question.until and when > question.until))


def is_of_then(candidate: EntryCandidate, asked: ParsedQuery) -> bool:
    entry = candidate.recorded.entry
    then = asked.span is None or asked.span.has(entry.occurred or entry.time)
    return then and (not asked.authors or entry.author in asked.authors)


def _fits(kind: str, tags: Sequence[str], question: RecallQuery) -> bool:
    return (question.type is None or kind == question.type) and all(tag in tags for tag in question.tags)


def when_said(candidate: EntryCandidate) -> tuple[str, str]:
    entry = candidate.recorded.entry
    return (entry.occurred or entry.time, entry.id)


EACH = 120  # how many entries words and meaning find each
_CLOSELY = 40  # how many of them are looked at closely
_WORDED = 5  # how many of them because of their words alone
_LISTENED = 30  # how many of these word by word
MORE, ALL = 10, 1_000_000


def by_words(index: Transaction, asked: ParsedQuery, question: RecallQuery) -> list[Match]:
    """What the words find in the asked scopes. Others may be in between: then more is asked for."""
    # The best by words are enough for the best by score; for the latest or the most used all have to be looked at.
    found = _searched(index, asked.terms, question)
    if asked.talked is None:
        return found
    talk = _searched(index, asked.talk.terms, question)
    return [*(match for match in found if match.thread is None), *(match for match in talk if match.thread is not None)]


def _searched(index: Transaction, terms: QueryTerms, question: RecallQuery) -> list[Match]:
    limit = each(question) if question.sort == "score" and not has_filters(question) else ALL
    while True:
        found = index.search(terms, limit)
        folders = {folder for folder in {match.folder for match in found} if within(folder, question.folders)}
        inside = [match for match in found if match.folder in folders]
        if terms.quoted:  # the index finds forms of the words as well
            exact = quoting(index.candidates([match.no for match in inside]), terms)
            inside = [match for match in inside if match.no in exact]
        if len(found) < limit or limit >= ALL or len(inside) >= each(question) // 2:
            return inside
        limit *= MORE


def each(question: RecallQuery) -> int:
    return max(EACH, 2 * question.limit)


def with_meaning(
    by_words: Sequence[Match], asked: ParsedQuery, question: RecallQuery, meanings: Meanings | None
) -> dict[int, ScoredEntry]:
    """All that was found, with the words' score and the cosine of each; in conversations also what stands beside it."""
    if meanings is None:
        return {match.no: ScoredEntry(*match, None) for match in by_words}
    meanings.ask(asked.text, asked.talk.text)
    cosines = meanings.cosines([match.no for match in by_words])
    found = {match.no: ScoredEntry(*match, cosines.get(match.no)) for match in by_words}
    if not asked.terms.all_of:  # quoted words must occur: then meaning only orders what has them
        for item in meanings.nearest(question.folders, each(question)):
            if item.no not in found:
                found[item.no] = ScoredEntry(item.no, item.folder, item.thread, 0.0, item.cosine)
    return found


def weigh(found: Mapping[int, ScoredEntry], meanings: Meanings | None) -> dict[int, dict[str, float]]:
    """What is known of each without looking at its text; in a conversation also what was said beside it."""
    parts = scaled(found.values())
    talked = [no for no, item in found.items() if item.thread is not None]
    if meanings is None or not talked:
        return parts
    low, spread = scale(found.values())
    beside = meanings.beside(talked)
    cosines = meanings.cosines({other for pair in beside.values() for other in pair if other is not None})
    for no, pair in beside.items():
        for name, next_to in zip(("meaning_before", "meaning_after"), pair, strict=True):
            if next_to is not None:
                parts[no][name] = min(1.0, max(0.0, (cosines.get(next_to, low) - low) / spread))
    return parts


def look_closely(
    index: Transaction,
    found: Mapping[int, ScoredEntry],
    parts: Mapping[int, Mapping[str, float]],
    question: RecallQuery,
    meaning: bool,
) -> tuple[list[EntryCandidate], list[EntryCandidate]]:
    """The best of them, whole, without what the question does not allow; and those that are hidden for their status."""
    lone, talked = (LONE_ROUGH, CONVERSATION) if meaning else (WORDS_ONLY, WORDS_ONLY)
    rough = {no: weighed(parts[no], lone if item.thread is None else talked) for no, item in found.items()}
    if meaning:
        rough |= {no: roughly(parts[no], item.thread) for no, item in found.items() if item.cosine is None}
    cut, bar, most = 0.0, 0.0, max(_CLOSELY, 2 * question.limit)
    if len(rough) > most and question.sort == "score" and not has_filters(question):
        cut = sorted(rough.values(), reverse=True)[most - 1]  # equals of the last one are in: order is no accident
        bar = sorted([item.words for item in found.values()], reverse=True)[_WORDED]
    # Those that the words clearly put first are in, whatever meaning says: it knows nothing of most identifiers.
    fetched = index.candidates([no for no, value in rough.items() if value >= cut or found[no].words > bar])
    seen: list[EntryCandidate] = []
    unseen: list[EntryCandidate] = []
    for item in fetched:
        if is_allowed(item, question):
            (unseen if is_hidden(item, question) else seen).append(item)
    return seen, unseen


def listen(
    meanings: Meanings, asked: ParsedQuery, candidates: Sequence[EntryCandidate], parts: Mapping[int, dict[str, float]]
) -> None:
    """How much of the question each lone note says in other words, and the best of them together."""
    lone = [item for item in candidates if item.recorded.entry.thread is None]
    lone.sort(key=lambda item: -roughly(parts[item.no], None))
    del lone[_LISTENED:]
    shown = [passage(item.recorded.entry.text, asked.terms) for item in lone]
    _look_into(meanings, lone, shown, parts)
    texts = [
        " ".join([item.name, *item.recorded.entry.tags, *(item.row.tags if item.row else ()), text])
        for item, text in zip(lone, shown, strict=True)
    ]
    heard = meanings.said(asked.text, texts)
    for item, said in zip(lone, heard.each, strict=True):
        parts[item.no] |= {"said": said, "together": heard.together}


def _look_into(
    meanings: Meanings, lone: Sequence[EntryCandidate], shown: Sequence[str], parts: Mapping[int, dict[str, float]]
) -> None:
    """A long note means many things, and its vector none of them: what counts is the passage that is shown."""
    cut = [(item.no, text) for item, text in zip(lone, shown, strict=True) if text != item.recorded.entry.text]
    for (no, _), cosine in zip(cut, meanings.nearness([text for _, text in cut]), strict=False):
        parts[no]["cosine"] = max(cosine, parts[no].get("cosine", -1.0))
