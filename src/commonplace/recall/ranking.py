"""Score what was found: a weighted sum of parts. All weights are in the tables below.

A lone note is scored by itself: how near it is to the question by meaning, and how well its words match. The turns of a
conversation are scored relative to each other, with what was said around them and by whom; then the best turn gets the
score that it would have as a lone note, and the others their share of it, so that turns and notes can be compared.

Both have in common: what the question quotes and names as it is, the time that it names, and what sinks or lifts a
hit a little whatever was asked. `make bench-recall` prints what each weight is worth on every set.

Where meaning is not known (searched by words alone, no vector yet, a script that the model cannot read), the words
stand for it. Lone notes that score nearly the same are put in the order of their time, latest first. A hit is strong if
it is well above the fifth best: no score tells an answer from none, but the strong ones are right twice as often.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from commonplace.index.values import EntryCandidate
from commonplace.model.lazy import lazy
from commonplace.model.memory import Trust
from commonplace.recall.candidates import (
    FoundEntry,
    get_memory_id,
    get_time,
    list_labels,
    make_time_key,
    measure_coverage,
)
from commonplace.recall.query import ParsedQuery
from commonplace.text.words import append_numbers, fold_text, has_phrase

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

BOTH = {
    "quoted": 0.3,  # share of the quoted phrases that it has; without quotes, whether it has the whole question
    "named": 0.3,  # share of the identifiers of the question that it has
    "when": 0.1,  # it is of the time that the question names
    "superseded": -1.0,
    "trust": 0.02,  # stored by a person: 1, from outside: -1
    "nearness": 0.01,  # of its scope
    "usage": 0.01,
}
LONE = {"words": 0.035}  # bm25 for each word of the question, beside the cosine
CONVERSATION = {
    "own": 0.53,  # what the turn says, by words and meaning
    "thread": 0.30,  # the best of what its conversation says
    "beside": 0.15,  # the better of the turns before and after it
    "author": 0.16,
    "question": -0.14,  # it only asks
}
OWN_WORDS = 0.6  # of what a turn says counts by its words, the rest by its meaning
BEST_BY_WORDS = 0.5  # the cosine that the best match by words stands for where nothing has a vector
BAND = 0.1  # share of a score: notes within it of the first count as equal, and the latest comes first
STRONG_MARGIN = 0.18  # above the fifth best
MIN_FIFTH = 0.2  # the least that is assumed for the fifth best: a small book may have fewer, or nothing near
LONG_TEXT = 4_000  # characters: the model reads about a quarter of that
_MAX_QUESTION_WORDS = 25  # words: a longer text with a question mark at its end also says something
_MARKS = "?!.,;: "  # around a question
_QUESTION_END = lazy(r"\?[\s\"'”’)]*\Z")


class ScoredCandidate(NamedTuple):
    """A candidate with its score, and what each part adds to it."""

    candidate: EntryCandidate
    score: float
    parts: Mapping[str, float]
    is_strong: bool = True
    later: EntryCandidate | None = None  # what may contradict it

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a conversation."""
        return self.candidate.entry.thread is not None


class Scorer:
    """Scores what was found for one question: roughly by what is known of it, then by its text."""

    def __init__(
        self, found: Mapping[int, FoundEntry], parsed: ParsedQuery, vectors: EntryVectors | None, folders: Sequence[str]
    ) -> None:
        self._parsed, self._folders = parsed, folders
        # Without quotes the whole question is the phrase: a note may have it word for word, as with a single word.
        self._phrases = parsed.terms.quoted or tuple(filter(None, [fold_text(parsed.text).strip(_MARKS)]))
        most_words = max([entry.words for entry in found.values()], default=0.0) or 1.0
        cosines = [entry.cosine for entry in found.values() if entry.cosine is not None]
        self._has_meaning = bool(cosines)
        low = vectors.mean_cosine if vectors is not None and cosines else 0.0
        # All that was found in one scope may be farther away than the mean of the book.
        spread = max(0.0, max(cosines, default=BEST_BY_WORDS) - low) or 1.0
        self._guesses = {no: low + spread * entry.words / most_words for no, entry in found.items()}
        self._parts: dict[int, dict[str, float]] = {}
        own: dict[int, float] = {}  # how well a turn itself answers, from 0 to 1
        for no, entry in found.items():
            meaning = self._guesses[no] if entry.cosine is None else entry.cosine
            words = entry.words / max(1, len(parsed.terms.words))
            self._parts[no] = {"meaning": meaning, **_weigh(LONE, {"words": words})}
            if entry.thread is not None:
                own[no] = OWN_WORDS * entry.words / most_words + (1 - OWN_WORDS) * max(0.0, (meaning - low) / spread)
        self._turn_scale = 1.0
        if own:
            self._measure_turns(found, own, vectors.find_neighbours() if vectors is not None else {})

    def score_roughly(self) -> dict[int, float]:
        """Return the score of each entry before its text is read, by number."""
        return {no: sum(parts.values()) for no, parts in self._parts.items()}

    def score(self, candidates: Sequence[EntryCandidate], uses: Mapping[str, int]) -> list[ScoredCandidate]:
        """Return the candidates with their scores, best first, and in the same order each time."""
        scored = []
        for item in candidates:
            parts = self._parts[item.no] | _weigh(BOTH, self._measure_both(item, uses))
            text = item.entry.text
            if "own" in parts and len(text.split()) <= _MAX_QUESTION_WORDS and _QUESTION_END.search(text):
                parts["question"] = self._turn_scale * CONVERSATION["question"]
            if "meaning" in parts and not self._has_meaning:  # then it counts how many of the question's words it has
                parts["meaning"] *= measure_coverage(item, self._parsed.terms.words)
            elif "meaning" in parts and len(text) > LONG_TEXT:  # of which the model reads the beginning only
                parts["meaning"] = max(parts["meaning"], self._guesses[item.no])
            parts = {name: value for name, value in parts.items() if value}
            scored.append(ScoredCandidate(item, round(sum(parts.values()), 6), parts))
        return sorted(
            scored,
            key=lambda hit: (-hit.score, hit.candidate.folder, hit.candidate.name, hit.candidate.entry.id),
        )

    def _measure_turns(
        self, found: Mapping[int, FoundEntry], own: Mapping[int, float], neighbours: Mapping[int, Sequence[int]]
    ) -> None:
        """Give turns of conversations the parts of their scores, before their texts are read."""
        places = {no: (found[no].folder, found[no].thread) for no in own}
        threads = {places[no]: own[no] for no in sorted(own, key=own.__getitem__)}  # the best is the last
        turns = {
            no: {
                "own": said,
                "thread": threads[places[no]],
                "beside": max([own.get(other, 0.0) for other in neighbours.get(no, ())], default=0.0),
                "author": float(self._parsed.is_by(found[no].author)),
            }
            for no, said in own.items()
        }
        best = max(sum(_weigh(CONVERSATION, parts).values()) for parts in turns.values())
        # Not below 0, where nothing is near: then the worst turn would come first.
        self._turn_scale = abs(max(sum(self._parts[no].values()) for no in own)) / (best or 1.0)
        self._parts |= {no: _weigh(CONVERSATION, parts, self._turn_scale) for no, parts in turns.items()}

    def _measure_both(self, item: EntryCandidate, uses: Mapping[str, int]) -> dict[str, float]:
        """Return the parts that notes and turns have in common."""
        parsed, folders, trust = self._parsed, self._folders, item.entry.trust
        nearer = takewhile(lambda folder: not f"{item.folder}/".startswith(f"{folder}/"), folders)
        # With the numbers behind letters, as the index has them: 2041 is in ERR2041.
        text = fold_text(append_numbers(" \n ".join([item.entry.text, *list_labels(item)])))
        return {
            "quoted": _measure_share(text, self._phrases),
            "named": _measure_share(text, parsed.identifiers),
            "when": float(parsed.span is not None and parsed.span.start <= get_time(item) < parsed.span.end),
            "superseded": float(item.status == "superseded"),
            "trust": float(trust is Trust.HUMAN) - (trust is Trust.EXTERNAL),
            "nearness": 1 - len([*nearer]) / max(1, len(folders)),
            "usage": 1 - 1 / (1 + uses.get(get_memory_id(item), 0)),  # the first use counts most
        }


def _weigh(weights: Mapping[str, float], parts: Mapping[str, float], scale: float = 1.0) -> dict[str, float]:
    """Return each part multiplied by its weight."""
    return {name: scale * weights[name] * value for name, value in parts.items()}


def _measure_share(text: str, phrases: Collection[str]) -> float:
    """Return the share of some phrases that a text has as they are."""
    return sum(has_phrase(text, phrase) for phrase in phrases) / max(1, len(phrases))


def order_hits(scored: Sequence[ScoredCandidate], *, wants_identifier: bool) -> list[ScoredCandidate]:
    """Return hits, best first, each strong or weak; of lone notes that score nearly the same the latest comes first.

    With `wants_identifier` the question names identifiers, and a hit that has none of them is weak.
    """
    fifth = max([MIN_FIFTH, *(item.score for item in scored[4:5])])
    ordered: list[ScoredCandidate] = []
    while len(ordered) < len(scored):
        best = scored[len(ordered)].score
        band = [item for item in scored[len(ordered) :] if item.score >= best - BAND * abs(best)]
        notes = sorted((it for it in band if not it.is_turn), key=lambda it: make_time_key(it.candidate))
        is_strong = best - fifth >= STRONG_MARGIN
        hits = [item if item.is_turn else notes.pop() for item in band]
        ordered += [
            hit._replace(is_strong=is_strong and ("named" in hit.parts or not wants_identifier)) for hit in hits
        ]
    return ordered
