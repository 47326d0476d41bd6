"""Put notes that correct others before what they correct, and notes that the question names before similar ones.

Notes are seldom marked as superseded: somebody writes that the move is done, and the note about the old place stays.
Two lone notes are taken to be about one thing if many of the telling words of the shorter one, its name and tags
included, are in the other. Vectors alone do not tell: by them all notes of one team are alike.

The later note often does not say what changed, so corrections are also looked for among the candidates that did not
answer the question. A note that says that something has changed, and names what hardly any other note names, needs no
more in common than that name. Two notes whose subjects differ by a number or an identifier that the question names (see
subjects.py) do not correct each other, and the one that has it comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from commonplace.index.port import EntryCandidate
from commonplace.model.ids import is_uuid7
from commonplace.model.lazy import lazy
from commonplace.recall.query import is_journal
from commonplace.recall.subjects import NoteText, QuestionSubjects, has_leading_identifiers
from commonplace.text.words import significant_stems, significant_words

MAX_COMPARED = 12  # hits among which corrections are put first
_MAX_NAME_CHECKS = 40  # hits among which those that the question names are put first
_MAX_SUBJECT_TEXT = 4_000  # characters of a note that are read for its subjects
_MAX_LEADING = 2  # hits for which corrections are looked for among the other candidates
_MIN_COSINE = 0.1  # of two notes: checked first because it is cheap, and below it shared words are chance
_MIN_SHARED = 0.25  # of the telling words of the shorter note
_SHORT_NOTE, _MIN_SHARED_WORDS = 6, 3  # in words; a note shorter than _SHORT_NOTE needs one shared word less
_MIN_SAME_TOPIC, _COSINE_WEIGHT = 0.5, 0.5  # least share of words plus weighted cosine
_MAX_RARE = 2  # entries that have a word, for the word to count as rare
_MAX_NAMES = 24  # words of a hit that are looked up
_CHANGE_WORD = lazy(
    r"\b(?:no longer|not any ?more|anymore|replaced|retired|moved|migrat(?:ed|ion)|switched|finished|gone|goes away|"
    r"deleted|removed|renamed|deprecated|dropped|stopped|cancelled|postponed|paused|shut down|turned off|took over)\b",
    re.IGNORECASE,
)
_PUNCTUATION = "\"'“”‘’«»()[]{}<>*`,.;:!?"
# Characters: the minutes of two meetings have most words in common, and the later ones correct nothing.
_MAX_CORRECTED_TEXT = 2_000
_WEAKER_SHARE = 0.8  # of the earlier note's score: below it, the later one must show that it is about the same
_ASSUMED_COSINE = 0.4  # of two notes without vectors: they must share more words
LikenessFunction = Callable[[int, int], float]


class NoteComparison:
    """Decides which notes correct which, for one question; the words of each note are read once."""

    def __init__(self, likeness: LikenessFunction, question: str) -> None:
        self._likeness, self._subjects = likeness, QuestionSubjects(question)
        self.shared_rare_words: dict[tuple[int, int], set[str]] = {}  # the rare words that two of them share, by number
        self.scores: dict[int, float] = {}  # of those that answer by themselves
        self._stems: dict[tuple[int, bool], frozenset[str]] = {}

    def score_correction(self, later: EntryCandidate, earlier: EntryCandidate) -> float:
        """Return how much a note is about the same thing as an earlier one; 0 if it does not correct it."""
        if not _is_later(later, earlier) or not (_is_lone(later) and _is_lone(earlier)) or later.status == "superseded":
            return 0.0
        if max(len(item.recorded.entry.text) for item in (later, earlier)) > _MAX_CORRECTED_TEXT:
            return 0.0
        if self._has_same_name(later, earlier) and _CHANGE_WORD.search(later.recorded.entry.text):
            another = not has_leading_identifiers(later.recorded.entry.text, earlier.recorded.entry.text)
            return 0.0 if another and self._is_named_apart(earlier, later) else 1.0
        same = self._score_same_topic(later, earlier)
        if not (same or self._is_weaker_answer(later, earlier)):
            same = (
                _MIN_SAME_TOPIC
                if self._subjects.has_same_start(_get_note_text(earlier), _get_note_text(later))
                else 0.0
            )
        if same and (
            self._is_named_apart(earlier, later)
            or self._subjects.is_apart_by_name(_get_note_text(earlier), _get_note_text(later))
        ):
            return 0.0
        if same and self._is_weaker_answer(later, earlier) and not _CHANGE_WORD.search(later.recorded.entry.text):
            return 0.0 if self._subjects.has_other_start(_get_note_text(earlier), _get_note_text(later)) else same
        return same

    def _has_same_name(self, later: EntryCandidate, earlier: EntryCandidate) -> bool:
        """Return whether a rare word that two notes share is written as a name in one of them."""
        shared = self.shared_rare_words.get((later.no, earlier.no), set())
        return any(shared & _find_names(item.recorded.entry.text) for item in (later, earlier) if shared)

    def _is_weaker_answer(self, later: EntryCandidate, earlier: EntryCandidate) -> bool:
        """Return whether the later note answers the question much less well than the earlier one."""
        return self.scores.get(later.no, 0.0) < _WEAKER_SHARE * self.scores.get(earlier.no, 0.0)

    def has_named_thing(self, hit: EntryCandidate) -> bool:
        """Return whether a note has a number or an identifier that the question names."""
        usable = bool(self._subjects) and _is_lone(hit) and hit.status != "superseded"
        return usable and self._subjects.is_any_in(_get_note_text(hit))

    def is_preferred(self, one: EntryCandidate, other: EntryCandidate) -> bool:
        """Return whether, of two similar notes, the question names what the first is about and not the second."""
        is_named = _is_lone(other) and self._is_named_apart(one, other) and not self._is_named_apart(other, one)
        return is_named and self._score_same_topic(one, other) > 0

    def _score_same_topic(self, one: EntryCandidate, other: EntryCandidate) -> float:
        """Return how much two notes are about the same thing, by their words; 0 if they are not."""
        likeness = self._likeness(one.no, other.no)
        if likeness < _MIN_COSINE:
            return 0.0
        with_names = (one.folder, one.name) != (other.folder, other.name)  # in one memory they tell nothing
        ours, theirs = self._find_stems(one, with_names), self._find_stems(other, with_names)
        size, common = min(len(ours), len(theirs)), len(ours & theirs)
        if common < max(_MIN_SHARED * size, _MIN_SHARED_WORDS - (size < _SHORT_NOTE)):
            return 0.0
        same = common / size + _COSINE_WEIGHT * likeness
        return same if same >= _MIN_SAME_TOPIC else 0.0

    def _is_named_apart(self, hit: EntryCandidate, other: EntryCandidate) -> bool:
        """Return whether the question names what a hit is about, and another note is about something else."""
        return bool(self._subjects) and self._subjects.is_named_apart(_get_note_text(hit), _get_note_text(other))

    def _find_stems(self, candidate: EntryCandidate, with_names: bool) -> frozenset[str]:
        """Return the stems of a note's telling words, with or without those of its name and tags."""
        if (candidate.no, with_names) not in self._stems:
            entry, row = candidate.recorded.entry, candidate.row
            about = [candidate.name, *entry.tags, *(row.tags if row else ())] if with_names else []
            self._stems[candidate.no, with_names] = frozenset(significant_stems(" ".join([*about, entry.text])))
        return self._stems[candidate.no, with_names]


def assume_likeness(one: int, other: int) -> float:  # noqa: ARG001 - a LikenessFunction
    """Return the cosine that two notes are assumed to have when there are no vectors to compare."""
    return _ASSUMED_COSINE


def find_sharing_rare_words(hit: EntryCandidate, having: Callable[[str, int], Sequence[int]]) -> dict[int, set[str]]:
    """Return the other entries that share a rare word with a hit, each with those words."""
    words = [word for word in significant_words(hit.recorded.entry.text) if not word.isdecimal() and len(word) > 1]
    found: dict[int, set[str]] = {}
    for word in words[:_MAX_NAMES]:
        numbers = having(word, _MAX_RARE + 1)
        for no in numbers if len(numbers) <= _MAX_RARE else ():
            found.setdefault(no, set()).add(word)
    found.pop(hit.no, None)
    return found


def _find_names(text: str) -> set[str]:
    """Return the words of a text that are written as names are; in a script without capitals, all words.

    In a small book every word is rare, and so is every part of an identifier: rarity alone does not make a name.
    """
    if text.lower() == text.upper():
        return set(significant_words(text))
    found: set[str] = set()
    begins = True  # a sentence
    for token in text.split():
        word = token.strip(_PUNCTUATION)
        if any(map(str.isupper, word[1:] if begins else word)) and len(parts := significant_words(word)) == 1:
            found.update(parts)
        begins = token[-1] in ".!?:"
    return found


def pick_leading(hits: Sequence[EntryCandidate]) -> list[EntryCandidate]:
    """Return the first hits, without those that nothing can correct."""
    return [hit for hit in hits[:_MAX_LEADING] if _is_lone(hit)]


def find_corrections(
    hits: Sequence[EntryCandidate], others: Sequence[EntryCandidate], comparison: NoteComparison
) -> list[EntryCandidate]:
    """Return, for each hit, the candidate among the others that corrects it best."""
    found: dict[int, EntryCandidate] = {}
    for hit in hits:
        shares = {other.no: share for other in others if (share := comparison.score_correction(other, hit))}
        having = [other for other in others if other.no in shares]
        if having:
            best = max(having, key=lambda other: (shares[other.no], _get_time(other), other.recorded.entry.id))
            found[best.no] = best
    return list(found.values())


def put_corrections_first(hits: Sequence[EntryCandidate], comparison: NoteComparison) -> list[EntryCandidate]:
    """Return the hits in their order, but with each correction before what it corrects."""
    order = list(hits)
    for place in range(1, len(order)):
        _move_up(order, place, comparison.score_correction)
    return order


def put_named_first(hits: Sequence[EntryCandidate], comparison: NoteComparison) -> list[EntryCandidate]:
    """Return the hits in their order, but with those that the question names by a number or an identifier before
    similar notes that have another: the static table hardly tells one number from the next.
    """
    order = list(hits)
    for place in range(1, min(len(order), _MAX_NAME_CHECKS)):
        if comparison.has_named_thing(order[place]):
            _move_up(order, place, comparison.is_preferred)
    return order


def find_moved_up(before: Sequence[EntryCandidate], after: Sequence[EntryCandidate]) -> set[int]:
    """Return the numbers of the hits that now come before one that they came after."""
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
    """Move a hit before the first of those above it that it passes."""
    at = next((other for other in range(place) if passes(order[place], order[other])), place)
    order.insert(at, order.pop(place))


def _get_note_text(candidate: EntryCandidate) -> NoteText:
    """Return a candidate as the comparison of subjects reads it."""
    row, entry = candidate.row, candidate.recorded.entry
    return NoteText(" ".join([candidate.name, *entry.tags, *(row.tags if row else ())]), entry.text[:_MAX_SUBJECT_TEXT])


def _is_lone(candidate: EntryCandidate) -> bool:
    """Return whether a candidate is a memory outside a conversation.

    A turn of a conversation corrects nothing by coming later, and a journal entry corrects no memory.
    """
    return candidate.recorded.entry.thread is None and not is_journal(candidate.folder)


def _is_later(one: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether one entry is later than another. Within one second the ids decide: ours rise."""
    when, before = _get_time(one), _get_time(other)
    if when != before:
        return when > before
    ids = [item.recorded.entry.id for item in (one, other) if item.recorded.entry.occurred is None]
    return len(ids) == 2 and all(map(is_uuid7, ids)) and ids[0] > ids[1]


def _get_time(candidate: EntryCandidate) -> str:
    """Return when an entry happened, or was stored."""
    entry = candidate.recorded.entry
    return entry.occurred or entry.time
