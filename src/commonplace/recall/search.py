"""From a question to candidates to an answer, and the count of what was left out and why.

Words and meaning each find a few hundred entries by number alone. Those are weighed roughly; the best are fetched
whole, and only they are looked at closely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial

from commonplace.index.port import Candidate, Index, Match, Readable, Transaction, Wanted, within
from commonplace.model.errors import DiskFull, EmbedderError
from commonplace.model.lean import TYPE_CHECKING
from commonplace.model.log import Log
from commonplace.model.space import Space
from commonplace.model.value import NamedTuple
from commonplace.recall.analysis import Asked, analyse
from commonplace.recall.corrections import (
    COMPARED,
    Comparison,
    leading,
    lifted,
    named_first,
    naming_the_same,
    newer_first,
    unheard,
    unknown,
)
from commonplace.recall.fusion import CONVERSATION, LONE_ROUGH, WORDS_ONLY, Found, roughly, scale, scaled, weighed
from commonplace.recall.passages import cost, passage
from commonplace.recall.question import COUNTED, Question, is_journal
from commonplace.recall.quotes import quoting
from commonplace.recall.ranking import Scored, apart, is_written, score
from commonplace.text.words import Terms, query_terms

if TYPE_CHECKING:
    from commonplace.recall.meaning import Meanings

_EACH = 120  # how many entries words and meaning find each
_CLOSELY = 40  # how many of them are looked at closely
_WORDED = 5  # how many of them because of their words alone
_LISTENED = 30  # how many of these word by word
_BESIDE_EACH = 4  # how many that are like it are looked at for each of the first hits
_MORE, _ALL = 10, 1_000_000
_NEAREST, _AT_ALL = 3, 0.2  # how many are named where nothing answers, and how much each has to have to do with it
_A_MOMENT = 1.0  # seconds that a question may spend on embedding what has no vector yet
log = Log("commonplace.recall")
HIDDEN = ("expired", "proposed", "quarantined")
Uses = Callable[[Sequence[str]], Mapping[str, int]]
Superseded = Callable[[Candidate, str], bool]
"""Whether the memory of a candidate was superseded at a moment."""
Judge = Callable[..., list[Scored]]
"""What gives candidates their scores."""


class Answer(NamedTuple):
    hits: list[Scored]
    total: int  # how many matched, shown or not; counted to a thousand
    hidden: Mapping[str, int]
    nearest: Sequence[Scored] = ()  # without hits: the best of what is below the floor
    notice: str = ""  # what was not searched by meaning


def _never(_: Candidate, __: str) -> bool:
    return False


def find(
    index: Index,
    space: Space,
    question: Question,
    *,
    now: str,
    uses: Uses,
    meanings: Meanings | None = None,
    superseded: Superseded = _never,
) -> Answer:
    """The best entries for a question. Without words in it: all, by time."""
    if not question.folders:
        return Answer([], 0, {})
    if not question.query.strip():
        with index.reading(space) as reading:
            return _latest(reading, question, uses, superseded)
    if question.mode != "semantic":
        fill(index, space)
    notice = _embed(index, space, question, now, meanings) if meanings is not None else ""
    answer = find_filled(index, space, question, now=now, uses=uses, meanings=meanings, superseded=superseded)
    return answer._replace(notice=notice) if notice else answer


def find_filled(
    index: Readable,
    space: Space,
    question: Question,
    *,
    now: str,
    uses: Uses,
    meanings: Meanings | None = None,
    superseded: Superseded = _never,
) -> Answer:
    """The same for a question with words in it, from what is findable already: changes nothing."""
    with index.reading(space) as reading:
        asked = analyse(question.query, reading.authors(), now)
        if not asked.terms:
            return Answer([], 0, {})
        if asked.vague:
            then = _latest(reading, question, uses, superseded, asked)
            if then.hits or not asked.dated:  # else there may be notes that only name that time
                return then
        by_words = _by_words(reading, asked, question) if question.mode != "semantic" else []
        found = _with_meaning(by_words, asked, question, meanings)
        parts = _parts(found, meanings)
        candidates, unseen = _closely(reading, found, parts, question, meanings is not None)
        if meanings is not None:
            _listen(meanings, asked, [*candidates, *unseen], parts)
        candidates = _as_then(candidates, question, superseded)
        # With filters, all that the words find was looked at, and what is scored is all that matches.
        cut = len(by_words) >= _each(question) and not _has_filters(question)
        counted = question.mode != "semantic" and cut
        matched = reading.matches(asked.terms, question.folders, COUNTED) if counted else 0
    used = uses([candidate.row.id for candidate in candidates if candidate.row is not None])
    quotes = bool(asked.terms.all_of) or is_written(asked)  # what must occur as it is
    spelled = meanings is not None and not quotes and meanings.only_spells(asked.text)
    judge = partial(
        score, parts=parts, asked=asked, folders=question.folders, uses=used, now=now, meaning=meanings is not None,
        spelled=spelled,
    )  # fmt: skip
    scored, hidden = _scored(candidates, unseen, judge)
    nearest = _nearest(judge(candidates, floor=False)) if not scored and not quotes and not spelled else ()
    if asked.span is None:  # who asks for a time wants what was said then
        near = partial(_near, index, space, question, meanings, {} if quotes else found, parts, superseded)
        comparison = Comparison(meanings.likeness if meanings is not None and not spelled else unknown, asked.text)
        scored = _newer_first(scored, near, comparison, judge)
    if question.sort == "recency":
        scored.sort(key=lambda item: _when(item.candidate), reverse=True)
    elif question.sort == "usage":
        scored.sort(key=lambda item: -used.get(item.candidate.row.id if item.candidate.row else "", 0))
    else:
        scored = apart(scored, question.limit)
    shown = _within_budget(scored[: question.limit], question)
    return Answer(shown, max(len(scored), matched) if scored else 0, dict(hidden), nearest)


def _scored(
    candidates: Sequence[Candidate], unseen: Sequence[Candidate], judge: Judge
) -> tuple[list[Scored], Counter[str]]:
    """What may be shown with its scores, and how many would have been but for their status."""
    everything = judge([*candidates, *unseen])
    shut = frozenset(item.no for item in unseen)
    rows = [item.candidate.row for item in everything if item.candidate.no in shut]
    hidden = Counter(row.status for row in rows if row is not None)
    return [item for item in everything if item.candidate.no not in shut], hidden


def _nearest(scored: Sequence[Scored]) -> Sequence[Scored]:
    """The best of each of a few memories, below the floor as they are."""
    best: dict[tuple[str, str], Scored] = {}
    for item in scored:
        if item.parts["relevance"] >= _AT_ALL:
            best.setdefault((item.candidate.folder, item.candidate.name), item)
    return tuple(best.values())[:_NEAREST]


def _newer_first(
    scored: list[Scored],
    near: Callable[[Sequence[Candidate], Set[int], Comparison], Sequence[Candidate]],
    comparison: Comparison,
    judge: Judge,
) -> list[Scored]:
    """The same, with what was learned later before what it corrects, even if it did not answer by itself; and what the
    question names by number before what is like it."""
    hits = [item.candidate for item in scored]
    comparison.scores |= {item.candidate.no: item.score for item in scored}
    first = leading(hits)
    if not first:
        return scored
    known = frozenset(hit.no for hit in hits)
    brought = unheard(first, near(first, known, comparison), comparison)
    more = judge(brought, floor=False) if brought else []
    items = {item.candidate.no: item for item in (*scored, *more)}
    given = [*hits[:COMPARED], *(item.candidate for item in more)]
    newer = newer_first(given, comparison)
    order = named_first([*newer, *hits[COMPARED:]], comparison)
    for name, numbers in (("corrects", lifted(given, newer)), ("named", lifted([*newer, *hits[COMPARED:]], order))):
        for no in numbers:
            items[no] = items[no]._replace(parts={**items[no].parts, name: 1.0})
    return [items[hit.no] for hit in order]


def _near(
    index: Readable,
    space: Space,
    question: Question,
    meanings: Meanings | None,
    found: Mapping[int, Found],
    parts: dict[int, dict[str, float]],
    superseded: Superseded,
    hits: Sequence[Candidate],
    known: Set[int],
    comparison: Comparison,
) -> list[Candidate]:
    """What was found besides some hits and means nearly the same as one of them, and what names the same rare thing as
    the first, as far as the question allows it and it is not known already."""
    if not found or meanings is None:
        return []
    numbers = [hit.no for hit in hits]
    lone = [no for no, item in found.items() if item.thread is None and no not in numbers]
    with index.reading(space) as reading:
        same = naming_the_same(hits[0], reading.having)
        comparison.kin |= {(no, numbers[0]): words for no, words in same.items()}
        for no, cosine in meanings.cosines(same.keys() - parts.keys()).items():
            parts[no] = {"words": 0.0, "meaning": 0.0, "cosine": cosine}
        alike = meanings.alike(numbers, lone, _BESIDE_EACH)
        fetched = reading.candidates(sorted({*alike, *(same.keys() & parts.keys())} - known))
    shown = [item for item in fetched if _allowed(item, question) and not _is_hidden(item, question)]
    return _as_then(shown, question, superseded)


def _as_then(items: Sequence[Candidate], question: Question, superseded: Superseded) -> list[Candidate]:
    """The same, but what is superseded today or gone has the status it had then."""
    moment = question.as_of
    if moment is None:
        return list(items)
    return [
        item._replace(then="superseded" if superseded(item, moment) else "active")
        if item.row is None or item.row.status == "superseded"
        else item
        for item in items
    ]


def _latest(
    index: Transaction, question: Question, uses: Uses, superseded: Superseded, asked: Asked | None = None
) -> Answer:
    limit = _EACH if question.sort != "usage" else _ALL
    while True:
        found = index.latest(limit)
        fitting = [item for item in found if _allowed(item, question) and (asked is None or _is_of_then(item, asked))]
        allowed = [item for item in fitting if not _is_hidden(item, question)]
        if len(found) < limit or limit >= _ALL or len(allowed) >= question.limit:
            break
        limit *= _MORE
    hidden = Counter(item.row.status for item in fitting if _is_hidden(item, question) and item.row is not None)
    scored = [Scored(candidate, 0.0, {}) for candidate in allowed]
    if question.sort == "usage":
        counts = uses([item.row.id for item in allowed if item.row is not None])
        scored.sort(key=lambda item: -counts.get(item.candidate.row.id if item.candidate.row else "", 0))
    else:
        scored.sort(key=lambda item: _when(item.candidate), reverse=True)
    shown = _within_budget(scored[: question.limit], question)
    then = _as_then([item.candidate for item in shown], question, superseded)
    total = len(scored)
    if len(found) == limit:  # there may be more than were looked at
        total = max(total, index.number(_wanted(question, asked), COUNTED))
    return Answer([Scored(candidate, 0.0, {}) for candidate in then], total, dict(hidden))


def _wanted(question: Question, asked: Asked | None) -> Wanted:
    """What `_latest` looks for, as the index counts it: that which is allowed, of then, and not hidden."""
    span = asked.span if asked is not None else None
    return Wanted(
        # the journal has no types
        [folder for folder in question.folders if question.type is None or not is_journal(folder)],
        [status for status in HIDDEN if status != "expired" or not (question.expired or question.as_of)],
        question.type or "", question.tags, question.session, [*asked.authors] if asked is not None else [],
        max(question.since or "", span.start if span is not None else ""), question.until or "",
        span.end if span is not None else "", question.as_of or "",
    )  # fmt: skip


def fill(index: Index, space: Space) -> None:
    """Make what was stored last findable. On a full disk what is findable already must do."""
    with index.reading(space) as reading:
        if not reading.has_unfilled():
            return
    try:
        with index.transaction(space) as writing:
            writing.fill_words()
    except DiskFull as error:
        log.warning("event=words_wait code=%s", error.code)


def _embed(index: Index, space: Space, question: Question, now: str, meanings: Meanings) -> str:
    """Let what was stored last be found by its meaning; where that takes long, some of it. Answers what there is to
    say of the rest."""
    if not meanings.is_quick:
        with index.reading(space) as reading:
            asked = analyse(question.query, reading.authors(), now)
        if not asked.terms or (asked.vague and not asked.dated):
            return ""
        meanings.hear(asked.text)  # before anything else: who cannot do this need not be waited for
    why = ""
    try:
        meanings.fill(None if meanings.is_quick else _A_MOMENT)
    except (DiskFull, EmbedderError) as error:
        log.warning("event=vectors_wait code=%s", error.code)
        why = f" {error.message}"
    if not meanings.waiting:
        return ""
    return (
        f"{meanings.waiting:,} of {meanings.total:,} entries are not embedded yet, and were judged by words alone.{why}"
        " Each question goes on with it; `commonplace reindex --vectors` does the rest at once."
    )


def _by_words(index: Transaction, asked: Asked, question: Question) -> list[Match]:
    """What the words find in the asked scopes. Others may be in between: then more is asked for."""
    # The best by words are enough for the best by score; for the latest or the most used all have to be looked at.
    found = _searched(index, asked.terms, question)
    if asked.talked is None:
        return found
    talk = _searched(index, asked.talk.terms, question)
    return [*(match for match in found if match.thread is None), *(match for match in talk if match.thread is not None)]


def _searched(index: Transaction, terms: Terms, question: Question) -> list[Match]:
    limit = _each(question) if question.sort == "score" and not _has_filters(question) else _ALL
    while True:
        found = index.search(terms, limit)
        folders = {folder for folder in {match.folder for match in found} if within(folder, question.folders)}
        inside = [match for match in found if match.folder in folders]
        if terms.quoted:  # the index finds forms of the words as well
            exact = quoting(index.candidates([match.no for match in inside]), terms)
            inside = [match for match in inside if match.no in exact]
        if len(found) < limit or limit >= _ALL or len(inside) >= _each(question) // 2:
            return inside
        limit *= _MORE


def _each(question: Question) -> int:
    return max(_EACH, 2 * question.limit)


def _with_meaning(
    by_words: Sequence[Match], asked: Asked, question: Question, meanings: Meanings | None
) -> dict[int, Found]:
    """All that was found, with the words' score and the cosine of each; in conversations also what stands beside it."""
    if meanings is None:
        return {match.no: Found(*match, None) for match in by_words}
    meanings.ask(asked.text, asked.talk.text)
    cosines = meanings.cosines([match.no for match in by_words])
    found = {match.no: Found(*match, cosines.get(match.no)) for match in by_words}
    if not asked.terms.all_of:  # quoted words must occur: then meaning only orders what has them
        for item in meanings.nearest(question.folders, _each(question)):
            if item.no not in found:
                found[item.no] = Found(item.no, item.folder, item.thread, 0.0, item.cosine)
    return found


def _parts(found: Mapping[int, Found], meanings: Meanings | None) -> dict[int, dict[str, float]]:
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


def _closely(
    index: Transaction,
    found: Mapping[int, Found],
    parts: Mapping[int, Mapping[str, float]],
    question: Question,
    meaning: bool,
) -> tuple[list[Candidate], list[Candidate]]:
    """The best of them, whole, without what the question does not allow; and those that are hidden for their status."""
    lone, talked = (LONE_ROUGH, CONVERSATION) if meaning else (WORDS_ONLY, WORDS_ONLY)
    rough = {no: weighed(parts[no], lone if item.thread is None else talked) for no, item in found.items()}
    if meaning:
        rough |= {no: roughly(parts[no], item.thread) for no, item in found.items() if item.cosine is None}
    cut, bar, most = 0.0, 0.0, max(_CLOSELY, 2 * question.limit)
    if len(rough) > most and question.sort == "score" and not _has_filters(question):
        cut = sorted(rough.values(), reverse=True)[most - 1]  # equals of the last one are in: order is no accident
        bar = sorted([item.words for item in found.values()], reverse=True)[_WORDED]
    # Those that the words clearly put first are in, whatever meaning says: it knows nothing of most identifiers.
    fetched = index.candidates([no for no, value in rough.items() if value >= cut or found[no].words > bar])
    seen: list[Candidate] = []
    unseen: list[Candidate] = []
    for item in fetched:
        if _allowed(item, question):
            (unseen if _is_hidden(item, question) else seen).append(item)
    return seen, unseen


def _listen(
    meanings: Meanings, asked: Asked, candidates: Sequence[Candidate], parts: Mapping[int, dict[str, float]]
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
    meanings: Meanings, lone: Sequence[Candidate], shown: Sequence[str], parts: Mapping[int, dict[str, float]]
) -> None:
    """A long note means many things, and its vector none of them: what counts is the passage that is shown."""
    cut = [(item.no, text) for item, text in zip(lone, shown, strict=True) if text != item.recorded.entry.text]
    for (no, _), cosine in zip(cut, meanings.nearness([text for _, text in cut]), strict=False):
        parts[no]["cosine"] = max(cosine, parts[no].get("cosine", -1.0))


def _has_filters(question: Question) -> bool:
    times = (question.since, question.until, question.as_of, question.type, question.session)
    return bool(question.tags) or any(time is not None for time in times)


def _is_hidden(candidate: Candidate, question: Question) -> bool:
    """Whether a memory's status keeps it out of the answer: then it is only counted. One that is expired today was said
    at the time that is asked for; what nobody has accepted never was."""
    row = candidate.row
    if row is None or row.status not in HIDDEN:
        return False
    return not (row.status == "expired" and (question.expired or question.as_of is not None))


def _allowed(candidate: Candidate, question: Question) -> bool:
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


def _is_of_then(candidate: Candidate, asked: Asked) -> bool:
    entry = candidate.recorded.entry
    then = asked.span is None or asked.span.has(entry.occurred or entry.time)
    return then and (not asked.authors or entry.author in asked.authors)


def _fits(kind: str, tags: Sequence[str], question: Question) -> bool:
    return (question.type is None or kind == question.type) and all(tag in tags for tag in question.tags)


def _when(candidate: Candidate) -> tuple[str, str]:
    entry = candidate.recorded.entry
    return (entry.occurred or entry.time, entry.id)


def _within_budget(scored: list[Scored], question: Question) -> list[Scored]:
    """As many as the budget has room for, by what is shown of each. The first one is there in any case: it is cut."""
    if question.budget_tokens is None:
        return scored
    terms, shown, spent = query_terms(question.query), 0, 0
    for item in scored:
        spent += cost(passage(item.candidate.recorded.entry.text, terms))
        if spent > question.budget_tokens:
            break
        shown += 1
    return scored[: max(shown, 1)]
