"""Choose the sentences of units that a summary keeps: word for word, each with its unit, in order of time.

`settle` makes the text of every node of the tree with it: of units at the first level, of the sentences of its children
above. A sentence scores by what it says: words of the thread's title and of the centre of the thread, names and
numbers, and what `cues` finds in it. What was taken already counts less, and so does what was not admitted. Courtesies,
rows of tables and what a machine printed win no place. The same input gives the same extract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from math import log
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import DENSE_RUN, STOP_WORDS, estimate_tokens
from commonplace.tree.courtesy import is_courtesy
from commonplace.tree.cues import Cues, find_words, read_cues
from commonplace.tree.sentences import split_sentences, strip_marks

_STEM = 6  # letters of a word that count: most endings come later
_MIN_STEM = 3
_MIN_STEMS, _MIN_WORDS, _MAX_TOKENS = 3, 3, 90  # of a sentence
_MIN_SIGNS = 0.7  # letters and digits among the signs that are no spaces
# A row of a table, a line of code, of a log, of a trace.
_PRINTED = lazy(
    r"\||[{}]|</?\w+>|==|=>|\(\);?\Z|;\Z|\":"
    r"|\A\W*(?:\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d|at \S+\(|File \"|Traceback)|\b(?:ERROR|WARN|INFO|DEBUG)\b"
)
_LIST_NUMBER = lazy(r"\d{1,3}[.)]\s")
_NUMBER = lazy(r"\d(?<![\w.,:/-].)[\w.,:/-]*")

# How much a sentence scores for what it does, and for each name or number.
_PLAIN, _DECIDES, _PROMISES, _ASKS, _REPORTS, _SPECIAL = 0.2, 0.8, 0.3, 0.3, 0.2, 0.15
_DATED_PROMISE, _DATE, _WEEKDAY = 0.4, 0.4, 0.2
_MOST_SPECIAL = 4
_OF_TITLE, _MOST_OF_TITLE = 0.3, 3  # for each word of the title
# What its score is multiplied with.
_EXCLAIMED, _HEADING, _QUOTED, _NOT_ADMITTED = 0.75, 0.5, 0.3, 0.1
_TAKEN_BEFORE = 0.3  # for each sentence taken that has the word
_OF_ONE_PASSAGE = 0.5  # what one more sentence of a passage costs
_SHORTEST = 12  # tokens that are added to all, so that short ones are not preferred too much


class Passage(NamedTuple):
    """A text to take sentences from, and what is known of it."""

    unit: str
    thread: str
    title: str
    author: str
    occurred: str
    text: str
    is_admitted: bool = True


class Extracted(NamedTuple):
    """A sentence of a passage, word for word but for white space."""

    passage: Passage
    text: str


class _PassageSentence(NamedTuple):
    passage: int
    at: int  # in its passage
    text: str
    words: list[str]
    stems: tuple[str, ...]  # in order, so that sums are the same in every process
    is_quoted: bool
    is_heading: bool


class _Candidate(NamedTuple):
    sentence: _PassageSentence
    value: float  # of what it says, for its length
    tokens: int  # about


def extract(passages: Sequence[Passage], most_tokens: int = 5_000, share: float = 0.15) -> list[Extracted]:
    """Return the sentences that say most, in order of time.

    They have at most `most_tokens`, and at most that share of the tokens of the passages; or there is a single
    sentence, if that is shorter than the passages. There is none if all are courtesies.
    """
    total = sum(estimate_tokens(passage.text) for passage in passages)
    sentences = list(_find_sentences(passages))
    candidates = _find_candidates(passages, sentences)
    taken = _choose(candidates, min(most_tokens, int(total * share)))
    if not taken:
        taken = _choose_one(candidates, sentences, min(most_tokens, total - 1))
    taken.sort(key=lambda one: (passages[one.passage].occurred, one.passage, one.at))
    return [Extracted(passages[one.passage], one.text) for one in taken]


def _find_sentences(passages: Sequence[Passage]) -> Iterator[_PassageSentence]:
    """Yield the sentences of the passages that are no courtesies."""
    for number, passage in enumerate(passages):
        for at, whole in enumerate(split_sentences(passage.text)):
            text = strip_marks(whole)
            words = find_words(text)
            if words and not is_courtesy(text, words):
                yield _PassageSentence(
                    number, at, text, words, _find_stems(text, words), whole[0] == ">", whole[0] == "#"
                )


def _find_stems(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return what the words of a sentence begin with, each once and in order, without stop words."""
    stems = [word[:_STEM] for word in words if len(word) >= _MIN_STEM and word not in STOP_WORDS]
    if not text.isascii():
        for run in DENSE_RUN.findall(text):
            stems += [run[at : at + 2] for at in range(len(run) - 1)]
    return tuple(dict.fromkeys(stems))


def _find_candidates(passages: Sequence[Passage], sentences: Sequence[_PassageSentence]) -> list[_Candidate]:
    """Return the sentences that may be taken, with their values."""
    centres = _find_centres(passages, sentences)
    titles = {title: frozenset(_find_stems(title, find_words(title))) for title in {one.title for one in passages}}
    found: list[_Candidate] = []
    for one in sentences:
        if not _is_telling(one):
            continue
        tokens = len(one.text) // 4 + 1 if one.text.isascii() else estimate_tokens(one.text)
        if tokens > _MAX_TOKENS:
            continue
        passage = passages[one.passage]
        centre = centres[passage.thread]
        score = sum(map(centre.__getitem__, one.stems)) / (len(one.stems) + 4)
        if passage.title:
            score += _OF_TITLE * min(_MOST_OF_TITLE, len(titles[passage.title].intersection(one.stems)))
        score = (score + _score_content(one, passage.occurred)) * _weigh_form(one)
        if not passage.is_admitted:
            score *= _NOT_ADMITTED
        found.append(_Candidate(one, score / (tokens + _SHORTEST) ** 0.5, tokens))
    return found


def _find_centres(
    passages: Sequence[Passage], sentences: Sequence[_PassageSentence]
) -> Mapping[str, Mapping[str, float]]:
    """Return for each thread how near each of its words is to what it is about: 1 is the nearest.

    A word is near if many sentences of the thread have it, and few passages of all.
    """
    spread, threads = Counter[str](), {one.thread: Counter[str]() for one in passages}
    in_passage, counted = set[str](), set[tuple[str, tuple[str, ...]]]()
    last = -1
    for one in sentences:
        if one.passage != last:
            spread.update(in_passage)
            in_passage, last = set(), one.passage
        in_passage.update(one.stems)
        thread = passages[one.passage].thread
        if (thread, one.stems) not in counted:  # what is repeated, as a footer is, is not nearer for it
            counted.add((thread, one.stems))
            threads[thread].update(one.stems)
    spread.update(in_passage)
    total = len(passages) + 1
    rareness = {stem: log(total / number) + 0.1 for stem, number in spread.items()}
    centres: dict[str, dict[str, float]] = {}
    for thread, counts in threads.items():
        weights = {stem: number * rareness[stem] for stem, number in counts.items()}
        most = max(weights.values(), default=1.0)
        centres[thread] = {stem: weight / most for stem, weight in weights.items()}
    return centres


def _is_telling(one: _PassageSentence) -> bool:
    """Return whether a sentence has words enough, and few other signs, and is no row of a table."""
    return (
        one.text[0] != "|"
        and len(one.stems) >= _MIN_STEMS
        and sum(map(len, one.words)) >= _MIN_SIGNS * (len(one.text) - one.text.count(" "))
    )


def _score_content(one: _PassageSentence, occurred: str) -> float:
    """Return how much a sentence says, wherever it stands."""
    cues = read_cues(one.text, one.words, occurred)
    words = one.text.split()
    names = sum(word[0].isupper() for word in words[1:])
    numbers = len(_NUMBER.findall(one.text)) - (_LIST_NUMBER.match(one.text) is not None)
    score = _PLAIN + _SPECIAL * min(_MOST_SPECIAL, names + numbers)
    return score + _score_cues(cues, has_number=numbers > 0)


def _score_cues(cues: Cues, *, has_number: bool) -> float:
    score = _DECIDES * cues.decides + _PROMISES * cues.promises + _ASKS * cues.asks + _REPORTS * cues.reports
    if cues.dates:
        score += (_DATE if has_number else _WEEKDAY) + _DATED_PROMISE * cues.promises
    return score


def _weigh_form(one: _PassageSentence) -> float:
    """Return what the score of a sentence is multiplied with for how it is written."""
    weight = _QUOTED if one.is_quoted or _PRINTED.search(one.text) else 1.0
    end = one.text.rstrip("*_")[-1:]
    if end in "!！":
        weight *= _EXCLAIMED
    elif end in ":：" or one.is_heading:
        weight *= _HEADING
    return weight


def _choose(candidates: Sequence[_Candidate], limit: int) -> list[_PassageSentence]:
    """Return the best sentences that have at most so many tokens together.

    The value of a sentence only falls when others are taken, so the top of the heap is the best if its value, found
    anew, has not fallen.
    """
    heap = [(-one.value, number) for number, one in enumerate(candidates)]
    heapify(heap)
    left = dict.fromkeys((stem for one in candidates for stem in one.sentence.stems), 1.0)
    from_passage, said = Counter[int](), set[frozenset[str]]()
    taken: list[_PassageSentence] = []
    while heap and limit > 0:
        negative, number = heap[0]
        one = candidates[number].sentence
        # It has no room, however well that is estimated, or it is said already.
        if candidates[number].tokens > 2 * limit or frozenset(one.stems) in said:
            heappop(heap)
            continue
        fresh = sum(map(left.__getitem__, one.stems)) / len(one.stems)
        value = candidates[number].value * fresh / (1 + _OF_ONE_PASSAGE * from_passage[one.passage])
        if value < -negative * (1 - 1e-9):
            heapreplace(heap, (-value, number))
            continue
        heappop(heap)
        tokens = estimate_tokens(one.text)
        if tokens <= limit:
            limit -= tokens
            taken.append(one)
            left.update((stem, left[stem] * _TAKEN_BEFORE) for stem in one.stems)
            from_passage[one.passage] += 1
            said.add(frozenset(one.stems))
    return taken


def _choose_one(
    candidates: Sequence[_Candidate], sentences: Sequence[_PassageSentence], limit: int
) -> list[_PassageSentence]:
    """Return the best sentence that has at most so many tokens; one that says little if there is no other."""
    best = sorted(candidates, key=lambda one: -one.value)
    others = sorted(sentences, key=lambda one: -len(one.stems))
    ordered = [one.sentence for one in best] + [one for one in others if len(one.words) >= _MIN_WORDS]
    return next(([one] for one in ordered if estimate_tokens(one.text) <= limit), [])
