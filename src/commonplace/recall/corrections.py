"""What was learned later comes before what it corrects.

Notes are seldom marked as superseded: somebody writes that the move is done, and the note about the old place stays.
Two lone notes are taken to be about one thing when many of the telling words of the shorter, of its name and tags too,
are in the other. By meaning alone all notes of one team are alike, and all in a language that the table hardly knows.
The later one often does not say what it is that changed, so it is also looked for among what did not answer the
question itself; and one that says that something has changed, and names what hardly any other note names, needs no
more in common than that name. Two notes whose subjects differ by a number or an identifier that the question names
(recall/subjects.py) do not correct each other, and the one that has it comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from commonplace.index.port import EntryCandidate
from commonplace.model.ids import is_uuid7
from commonplace.model.lazy import lazy
from commonplace.recall.query import is_journal
from commonplace.recall.subjects import Named, NoteSubjects, begins_within
from commonplace.text.words import significant_stems, significant_words

COMPARED = 12  # hits among which newer ones come first
_LOOKED_THROUGH = 40  # hits, for what the question names
_LONG = 4_000  # characters of a note, for the same
_LED = 2  # hits for which a newer one is looked for among the others
_ALIKE = 0.1  # cosine of two notes: it is cheaper than to compare words, and less would be chance
_SHARED = 0.25  # of the telling words of the shorter, at least
_SHORT, _SHARED_WORDS = 6, 3  # and so many of them, or one less if it has not as many words as this
_SAME_THING, _MEANING = 0.5, 0.5  # what they share, and half their cosine
_RARE = 2  # entries that name a thing, at most, so that naming it tells
_NAMES = 24  # words of a hit that may be such a name
_CHANGED = lazy(
    r"\b(?:no longer|not any ?more|anymore|replaced|retired|moved|migrat(?:ed|ion)|switched|finished|gone|goes away|"
    r"deleted|removed|renamed|deprecated|dropped|stopped|cancelled|postponed|paused|shut down|turned off|took over)\b",
    re.IGNORECASE,
)
_MARKS = "\"'“”‘’«»()[]{}<>*`,.;:!?"
_SAYS_MUCH = 2_000  # characters: minutes of two meetings have most words in common, and the later corrects nothing
_MUCH_LESS = 0.8  # of the score of an earlier note: then a later one has to show that it is about the same
_UNKNOWN = 0.4  # cosine of two that nobody compared by meaning: then they must share more words
Likeness = Callable[[int, int], float]


class Comparison:
    """Which notes correct which; the words of each are read once."""

    def __init__(self, likeness: Likeness, question: str) -> None:
        self._likeness, self._named = likeness, Named(question)
        self.kin: dict[tuple[int, int], set[str]] = {}  # the rare words that two of them share, by number
        self.scores: dict[int, float] = {}  # of those that answer by themselves
        self._words: dict[tuple[int, bool], frozenset[str]] = {}

    def corrects(self, later: EntryCandidate, earlier: EntryCandidate) -> float:
        """How much one note is about the same as another that was before it; 0 where it corrects nothing."""
        if not _is_later(later, earlier) or not (_is_lone(later) and _is_lone(earlier)) or later.status == "superseded":
            return 0.0
        if max(len(item.recorded.entry.text) for item in (later, earlier)) > _SAYS_MUCH:
            return 0.0
        if self._name_the_same(later, earlier) and _CHANGED.search(later.recorded.entry.text):
            another = not begins_within(later.recorded.entry.text, earlier.recorded.entry.text)
            return 0.0 if another and self._tell_apart(earlier, later) else 1.0
        same = self._same(later, earlier)
        if not (same or self._answers_less(later, earlier)):
            same = _SAME_THING if self._named.begin_alike(_note(earlier), _note(later)) else 0.0
        if same and (self._tell_apart(earlier, later) or self._named.tell_by_name(_note(earlier), _note(later))):
            return 0.0
        if same and self._answers_less(later, earlier) and not _CHANGED.search(later.recorded.entry.text):
            return 0.0 if self._named.begin_apart(_note(earlier), _note(later)) else same
        return same

    def _name_the_same(self, later: EntryCandidate, earlier: EntryCandidate) -> bool:
        shared = self.kin.get((later.no, earlier.no), set())
        return any(shared & _names(item.recorded.entry.text) for item in (later, earlier) if shared)

    def _answers_less(self, later: EntryCandidate, earlier: EntryCandidate) -> bool:
        return self.scores.get(later.no, 0.0) < _MUCH_LESS * self.scores.get(earlier.no, 0.0)

    def names(self, hit: EntryCandidate) -> bool:
        """Whether a note has a number or an identifier that the question names."""
        usable = bool(self._named) and _is_lone(hit) and hit.status != "superseded"
        return usable and self._named.are_in(_note(hit))

    def prefers(self, one: EntryCandidate, other: EntryCandidate) -> bool:
        """Whether of two notes that are alike, the question names what the first is about and not the second."""
        told = _is_lone(other) and self._tell_apart(one, other) and not self._tell_apart(other, one)
        return told and self._same(one, other) > 0

    def _same(self, one: EntryCandidate, other: EntryCandidate) -> float:
        """How much two notes are about the same, by their words; 0 where they are not."""
        likeness = self._likeness(one.no, other.no)
        if likeness < _ALIKE:
            return 0.0
        names = (one.folder, one.name) != (other.folder, other.name)  # in one memory they tell nothing
        ours, theirs = self._telling(one, names), self._telling(other, names)
        size, common = min(len(ours), len(theirs)), len(ours & theirs)
        if common < max(_SHARED * size, _SHARED_WORDS - (size < _SHORT)):
            return 0.0
        same = common / size + _MEANING * likeness
        return same if same >= _SAME_THING else 0.0

    def _tell_apart(self, hit: EntryCandidate, other: EntryCandidate) -> bool:
        return bool(self._named) and self._named.tell_apart(_note(hit), _note(other))

    def _telling(self, candidate: EntryCandidate, names: bool) -> frozenset[str]:
        if (candidate.no, names) not in self._words:
            entry, row = candidate.recorded.entry, candidate.row
            about = [candidate.name, *entry.tags, *(row.tags if row else ())] if names else []
            self._words[candidate.no, names] = frozenset(significant_stems(" ".join([*about, entry.text])))
        return self._words[candidate.no, names]


def unknown(one: int, other: int) -> float:  # noqa: ARG001 - a Likeness
    """For a question that is asked by words alone."""
    return _UNKNOWN


def naming_the_same(hit: EntryCandidate, having: Callable[[str, int], Sequence[int]]) -> dict[int, set[str]]:
    """The other entries that have a word of this one which hardly any has, and these words."""
    words = [word for word in significant_words(hit.recorded.entry.text) if not word.isdecimal() and len(word) > 1]
    found: dict[int, set[str]] = {}
    for word in words[:_NAMES]:
        numbers = having(word, _RARE + 1)
        for no in numbers if len(numbers) <= _RARE else ():
            found.setdefault(no, set()).add(word)
    found.pop(hit.no, None)
    return found


def _names(text: str) -> set[str]:
    """The words of a text that are written as a name is; all, in a script without capitals. In a small book any word is
    rare, and so is any part of an identifier."""
    if text.lower() == text.upper():
        return set(significant_words(text))
    found: set[str] = set()
    begins = True  # a sentence
    for token in text.split():
        word = token.strip(_MARKS)
        if any(map(str.isupper, word[1:] if begins else word)) and len(parts := significant_words(word)) == 1:
            found.update(parts)
        begins = token[-1] in ".!?:"
    return found


def leading(hits: Sequence[EntryCandidate]) -> list[EntryCandidate]:
    """The first hits, as far as something can correct them."""
    return [hit for hit in hits[:_LED] if _is_lone(hit)]


def unheard(
    hits: Sequence[EntryCandidate], others: Sequence[EntryCandidate], comparison: Comparison
) -> list[EntryCandidate]:
    """For each of some hits, the one of the others that corrects it best."""
    found: dict[int, EntryCandidate] = {}
    for hit in hits:
        shares = {other.no: share for other in others if (share := comparison.corrects(other, hit))}
        having = [other for other in others if other.no in shares]
        if having:
            best = max(having, key=lambda other: (shares[other.no], _when(other), other.recorded.entry.id))
            found[best.no] = best
    return list(found.values())


def newer_first(hits: Sequence[EntryCandidate], comparison: Comparison) -> list[EntryCandidate]:
    """The hits in their order, but for the later ones, which come before what they correct."""
    order = list(hits)
    for place in range(1, len(order)):
        _move_up(order, place, comparison.corrects)
    return order


def named_first(hits: Sequence[EntryCandidate], comparison: Comparison) -> list[EntryCandidate]:
    """The hits in their order, but for those that the question names by a number or an identifier, which come before
    what is like them and has another: a table of meaning hardly tells one number from the next."""
    order = list(hits)
    for place in range(1, min(len(order), _LOOKED_THROUGH)):
        if comparison.names(order[place]):
            _move_up(order, place, comparison.prefers)
    return order


def lifted(before: Sequence[EntryCandidate], after: Sequence[EntryCandidate]) -> set[int]:
    """The numbers of those that come before one that they came after."""
    place = {hit.no: at for at, hit in enumerate(before)}
    found, first = set(), len(before)
    for hit in reversed(after):
        if place[hit.no] > first:
            found.add(hit.no)
        first = min(first, place[hit.no])
    return found


def _move_up(
    order: list[EntryCandidate], place: int, passes: Callable[[EntryCandidate, EntryCandidate], float]
) -> None:
    """Put a hit before the first of those above it that it passes."""
    at = next((other for other in range(place) if passes(order[place], order[other])), place)
    order.insert(at, order.pop(place))


def _note(candidate: EntryCandidate) -> NoteSubjects:
    row, entry = candidate.row, candidate.recorded.entry
    return NoteSubjects(" ".join([candidate.name, *entry.tags, *(row.tags if row else ())]), entry.text[:_LONG])


def _is_lone(candidate: EntryCandidate) -> bool:
    """A turn of a conversation corrects nothing by coming later; what a run did corrects no memory, and no run."""
    return candidate.recorded.entry.thread is None and not is_journal(candidate.folder)


def _is_later(one: EntryCandidate, other: EntryCandidate) -> bool:
    """Whether one was said after another. Of two that were stored in one second the ids tell: those of ours rise."""
    when, before = _when(one), _when(other)
    if when != before:
        return when > before
    ids = [item.recorded.entry.id for item in (one, other) if item.recorded.entry.occurred is None]
    return len(ids) == 2 and all(map(is_uuid7, ids)) and ids[0] > ids[1]


def _when(candidate: EntryCandidate) -> str:
    entry = candidate.recorded.entry
    return entry.occurred or entry.time
