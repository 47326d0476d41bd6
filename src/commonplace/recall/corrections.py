"""Put notes that correct others before what they correct, and notes that the question names before similar ones.

`search.py` calls this for the first hits of an answer.

Notes are seldom marked as superseded: a note says that the move is done, and the one about the old place stays. Two
lone notes are taken to be about one thing if many of the telling words of the shorter one, its name and tags included,
are in the other. Vectors alone do not tell: by them all notes of one team are alike. The later note often does not say
what changed, so corrections are also looked for among the candidates that did not answer the question. A note that says
that something has changed, and names what hardly any other note names, needs no more in common than that name.

Two notes whose subjects differ by a number, an identifier or a name that the question names do not correct each other,
and the one that has it comes first: web-01 is not web-02, staging is not production. A sentence says before its verb
what it is about, and after it what is true of it. In "Staging listens on port 6000" the number is a value, which a
later note may correct; in "Port 6000 is for staging" it is the subject. The verbs known are English, with the most
common ones of a few other languages; without a known verb, the first three words are taken for the subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from commonplace.index.port import EntryCandidate
from commonplace.model.lazy import lazy
from commonplace.model.names import is_uuid7
from commonplace.recall.candidates import find_stems, get_time, make_time_key
from commonplace.recall.query import is_journal, list_labels
from commonplace.text.words import APOSTROPHE_ENDING, STOP_WORDS, normalize_words, significant_words, stem

if TYPE_CHECKING:
    from commonplace.recall.vectors import EntryVectors

MAX_COMPARED = 12  # hits among which corrections are put first
_MAX_MOVED = 40  # hits that may move up
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
ASSUMED_LIKENESS = 0.4  # the cosine of two notes without vectors: they must share more words
_SENTENCE = lazy(r"(?<=[.!?;])\s+|\n+")
_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*|:|=|->|→")
_IDENTIFIER = lazy(r".*[\d_./:@#+]|[a-z]{2,}[A-Z][a-z]")  # on-call is a word, and so are iOS and PyPI
_PART = lazy(r"\d+|[^\W\d_]+")
_WORD_AND_LETTER = lazy(r"[^\W_]{2,} [^\W\d_](?![\w'’])")  # a letter alone, with the word before it
_DEFAULT_SUBJECT_WORDS = 3  # words, where no verb is known
_MAX_SUBJECT_WORDS = 20  # words among which a verb is looked for
_VERBS = frozenset(
    """
    is are was were isn aren wasn has have had hasn haven will won would can cannot could must should may might does do
    did doesn don didn means uses use runs listens lives lies stands sits stays needs takes goes go comes come begins
    belongs costs holds keeps keep gets got moved allows serves contains includes expires reads writes fixes adds says
    said became becomes returns fails failed lasts covers replaces replaced wants likes prefers owns sends puts put
    ist sind war hat hatte kostet steht est sont sono es era tiene jest это : = -> →
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_BEFORE_VERBS = frozenset(("i", "we", "you", "he", "she", "it", "they"))
_AFTER_VERBS = frozenset(("a", "an", "the", "on", "at", "to", "by", "with", "our", "my", "its"))


class NoteComparison:
    """Decides, for one question, which notes correct which, and which are about what the question names."""

    def __init__(self, vectors: EntryVectors | None, question: str, scores: Mapping[int, float]) -> None:
        self._vectors = vectors
        self.scores = scores  # of those that answer by themselves, by number
        words = _space_words(question).split()
        self._stems = {stem(word) for word in words if word not in STOP_WORDS}
        self._identifiers = _find_identifiers(question)
        self._letter_pairs = {
            f" {word} {letter} "
            for word, letter in pairwise(words)
            if len(letter) == 1 and letter.isalpha() and word not in STOP_WORDS
        }
        self.shared_rare_words: dict[tuple[int, int], set[str]] = {}  # the rare words that two of them share, by number

    def score_correction(self, later: EntryCandidate, earlier: EntryCandidate) -> float:
        """Return how much a note is about the same thing as an earlier one; 0 if it does not correct it."""
        if not _is_later(later, earlier) or not (_is_lone(later) and _is_lone(earlier)) or later.status == "superseded":
            return 0.0
        text, earlier_text = later.recorded.entry.text, earlier.recorded.entry.text
        if max(len(text), len(earlier_text)) > _MAX_CORRECTED_TEXT:
            return 0.0
        shared = self.shared_rare_words.get((later.no, earlier.no), set())
        # A rare word that both have is a name if one of them writes it so.
        has_same_name = bool(shared) and not shared.isdisjoint(_find_names(text) | _find_names(earlier_text))
        if has_same_name and _CHANGE_WORD.search(text):
            other = _space_words(earlier_text)
            is_another = any(thing not in other for thing in _find_leading_identifiers(text))
            return 0.0 if is_another and self._is_named_apart(earlier, later) else 1.0
        same = self._score_same_topic(later, earlier)
        is_weaker = self.scores.get(later.no, 0.0) < _WEAKER_SHARE * self.scores.get(earlier.no, 0.0)
        if not (same or is_weaker) and _has_same_start(earlier_text, text):
            same = _MIN_SAME_TOPIC
        if not same or self._is_named_apart(earlier, later) or self._is_apart_by_name(earlier, later):
            return 0.0
        is_unsure = is_weaker and not _CHANGE_WORD.search(text)
        return 0.0 if is_unsure and self._has_other_start(earlier, later) else same

    def is_preferred(self, one: EntryCandidate, other: EntryCandidate) -> bool:
        """Return whether, of two similar notes, the question names what the first is about and not the second."""
        return (
            _is_lone(one)
            and _is_lone(other)
            and one.status != "superseded"
            and self._is_named_apart(one, other)
            and not self._is_named_apart(other, one)
            and self._score_same_topic(one, other) > 0
        )

    def _score_same_topic(self, one: EntryCandidate, other: EntryCandidate) -> float:
        """Return how much two notes are about the same thing, by their words; 0 if they are not."""
        likeness = ASSUMED_LIKENESS if self._vectors is None else self._vectors.measure_likeness(one.no, other.no)
        if likeness < _MIN_COSINE:
            return 0.0
        with_names = (one.folder, one.name) != (other.folder, other.name)  # in one memory they tell nothing
        ours, theirs = (
            find_stems(" ".join([*(list_labels(item) if with_names else ()), item.recorded.entry.text]))
            for item in (one, other)
        )
        size, common = min(len(ours), len(theirs)), len(ours & theirs)
        if common < max(_MIN_SHARED * size, _MIN_SHARED_WORDS - (size < _SHORT_NOTE)):
            return 0.0
        same = common / size + _COSINE_WEIGHT * likeness
        return same if same >= _MIN_SAME_TOPIC else 0.0

    def _is_named_apart(self, hit: EntryCandidate, other: EntryCandidate) -> bool:
        """Return whether a hit is about something that the question names, and another note is not.

        That is so if the question names what is in the hit and not in the other: before the verb; or after it, if the
        hit begins with a number or identifier that the other lacks, or with no word that it has.
        """
        text = hit.recorded.entry.text[:_MAX_SUBJECT_TEXT]
        things = (*self._identifiers, *self._find_letter_names(text))
        things_here = [thing for thing in things if thing in _space_note(hit)]
        if not things_here:
            return False
        elsewhere = _space_note(other)
        named = [thing for thing in things_here if thing not in elsewhere]
        there = [thing for thing in named if thing in _space_words(text)]
        if not there:  # what only the name has is what the note is about; else a name often has the value too
            return bool(named)
        words = {stem(word) for word in elsewhere.split()}
        for sentence in _SENTENCE.split(text):
            if not any(thing in _space_words(sentence) for thing in there):
                continue
            start, _ = _split_at_verb(sentence)
            lead = _space_words(" ".join(start))
            plain = {
                stem(normalize_words(word))
                for word in start
                if not _is_identifier(word) and word.lower() not in STOP_WORDS
            }
            if (
                any(thing in lead for thing in there)
                or any(thing not in elsewhere for thing in _find_leading_identifiers(sentence))
                or (plain and plain.isdisjoint(words))
            ):
                return True
        return False

    def _is_apart_by_name(self, hit: EntryCandidate, other: EntryCandidate) -> bool:
        """Return whether two notes begin alike up to the verb but for one word, which the question names and the other
        note lacks: staging listens, production listens.
        """
        (start, verb), (other_start, other_verb) = (_find_start(item.recorded.entry.text) for item in (hit, other))
        if len(start) != len(other_start) or verb != other_verb:
            return False
        differing = [word for word, another in zip(start, other_start, strict=True) if word != another]
        if len(differing) != 1 or (name := stem(differing[0])) not in self._stems:
            return False
        return not _has_word(other, name)

    def _has_other_start(self, hit: EntryCandidate, other: EntryCandidate) -> bool:
        """Return whether each of two notes begins with a word that the other lacks, and the question names the hit's
        word or a number that only the hit has.

        What Maria drinks is not what Jonas drinks.
        """
        first, second = (_find_first_word(item.recorded.entry.text) for item in (hit, other))
        text, elsewhere = (_space_words(item.recorded.entry.text) for item in (hit, other))
        named = first in self._stems or any(thing in text and thing not in elsewhere for thing in self._identifiers)
        return named and first != second and not (_has_word(other, first) or _has_word(hit, second))

    def _find_letter_names(self, text: str) -> list[str]:
        """Return the pairs of a word and a capital letter in a text that the question has too: plan B."""
        if not any(pair in _space_words(text) for pair in self._letter_pairs):
            return []
        pairs = [
            _space_words(pair) for pair in _WORD_AND_LETTER.findall(text) if pair[-1].isupper() and pair[-1] != "I"
        ]
        return [pair for pair in pairs if pair in self._letter_pairs]


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
        shares = {other.no: comparison.score_correction(other, hit) for other in others}
        if any(shares.values()):
            best = max(others, key=lambda other: (shares[other.no], make_time_key(other)))
            found[best.no] = best
    return list(found.values())


def move_up(
    hits: Sequence[EntryCandidate], passes: Callable[[EntryCandidate, EntryCandidate], float]
) -> tuple[list[EntryCandidate], set[int]]:
    """Return the hits in their order, but with each before the first that it passes; and the numbers of those moved.

    With `NoteComparison.score_correction`, corrections come before what they correct. With `is_preferred`, hits that
    the question names by a number or an identifier come before similar notes that have another: the static table hardly
    tells one number from the next.
    """
    order, moved = list(hits), set()
    for place in range(1, min(len(order), _MAX_MOVED)):
        hit = order[place]
        at = next((other for other in range(place) if passes(hit, order[other])), None)
        if at is not None:
            order.insert(at, order.pop(place))
            moved.add(hit.no)
    return order, moved


def _is_lone(candidate: EntryCandidate) -> bool:
    """Return whether a candidate is a memory outside a conversation.

    A turn of a conversation corrects nothing by coming later, and a journal entry corrects no memory.
    """
    return candidate.recorded.entry.thread is None and not is_journal(candidate.folder)


def _is_later(one: EntryCandidate, other: EntryCandidate) -> bool:
    """Return whether one entry is later than another. Within one second the ids decide: ours rise."""
    when, before = get_time(one), get_time(other)
    if when != before:
        return when > before
    ids = [item.recorded.entry.id for item in (one, other) if item.recorded.entry.occurred is None]
    return len(ids) == 2 and all(map(is_uuid7, ids)) and ids[0] > ids[1]


def _has_same_start(text: str, other: str) -> bool:
    """Return whether two texts begin with the same telling words up to the same verb: my passport is here, my passport
    is there.
    """
    start = _find_start(text)
    return bool(start[1]) and start == _find_start(other) and bool(_find_first_word(text))


def _find_first_word(text: str) -> str:
    """Return the stem of the first telling word before a text's verb, or an empty string."""
    words, _ = _find_start(text)
    return next((stem(word) for word in _space_words(" ".join(words)).split() if word not in STOP_WORDS), "")


@lru_cache(maxsize=256)
def _find_start(text: str) -> tuple[list[str], str]:
    """Return the words before a text's verb, without accents and case, and the verb."""
    words, verb = _split_at_verb(text)
    return [normalize_words(word) for word in words], verb


def _has_word(note: EntryCandidate, word: str) -> bool:
    """Return whether a note's name, tags or text have a word with this stem."""
    return word in map(stem, _space_note(note).split())


def _space_note(note: EntryCandidate) -> str:
    """Return `_space_words` of a note's name and tags, and of its text."""
    text = note.recorded.entry.text[:_MAX_SUBJECT_TEXT]
    return f"{_space_words(' '.join(list_labels(note)))}{_space_words(text)}"


def has_other_identifier(one: str, other: str) -> bool:
    """Return whether each of two texts begins with an identifier that the other lacks.

    A number alone may be the value: 8 workers run, and later 12 do.
    """
    return all(
        any(
            thing not in _space_words(there) and any(map(str.isalpha, thing))
            for thing in _find_leading_identifiers(here)
        )
        for here, there in ((one, other), (other, one))
    )


@lru_cache(maxsize=256)
def _space_words(text: str) -> str:
    """Return a text as its words and numbers with a space around each, so that `in` finds whole ones."""
    parts = (part.lstrip("0") or "0" for part in _PART.findall(normalize_words(APOSTROPHE_ENDING.sub("", text))))
    return f" {' '.join(parts)} "


def _find_identifiers(text: str) -> list[str]:
    """Return the numbers and identifiers of a text, and neighbouring ones also as one: 3 2 is not 2 3."""
    tokens = _TOKEN.findall(APOSTROPHE_ENDING.sub("", text))
    together = [f"{one} {other}" for one, other in pairwise(tokens) if _is_identifier(one) and _is_identifier(other)]
    return [_space_words(thing) for thing in (*filter(_is_identifier, tokens), *together)]


def _is_identifier(token: str) -> bool:
    """Return whether a token is a number or an identifier."""
    return token[0].isalnum() and _IDENTIFIER.match(token) is not None


def _find_leading_identifiers(text: str) -> list[str]:
    """Return the numbers and identifiers before a text's verb."""
    return [_space_words(word) for word in _split_at_verb(text)[0] if _is_identifier(word)]


def _split_at_verb(text: str) -> tuple[list[str], str]:
    """Return the words of a text's first sentence before its verb, and the verb; "" if none is known."""
    tokens = _TOKEN.findall(APOSTROPHE_ENDING.sub("", _SENTENCE.split(text, 1)[0]))
    words = ["", *map(str.lower, tokens[:_MAX_SUBJECT_WORDS]), ""]
    for at, (before, word, behind) in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if word in _VERBS or before in _BEFORE_VERBS or (at and behind in _AFTER_VERBS and _has_verb_ending(word)):
            return tokens[:at], word
    return tokens[:_DEFAULT_SUBJECT_WORDS], ""


def _has_verb_ending(word: str) -> bool:
    """Return whether a word may be a verb by its ending."""
    return word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "us")))
