"""Find memories that say the same as a new text, exactly or in other words, or that contradict it.

Copies, and copies but for white space, are always found. The others are looked for among entries that share telling
words with the text, and compared word by word, so that a store loads no vectors. Telling words count most; common
verbs, numbers and units count less, because an update changes the value. Two texts about one thing contradict each
other if the value differs (8042 / 8043, Maria / Jonas), or if one denies what the other affirms. Such a memory is
offered to be superseded, and never taken for the same. A short form (DB, config) is the word that it stands for; where
both texts have the same numbers, words that differ are values only if they stand in the same place. Knows English; in
other languages only words and numbers.

A sentence says before its verb what it is about, and after it what is true of it. Two texts that each begin with an
identifier which the other lacks are about two things, however alike they are: web-01 is not web-02. The verbs known are
English, with the most common ones of a few other languages; without one, the first three words are the subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from commonplace.index.port import CurrentEntry
from commonplace.model.lazy import lazy
from commonplace.model.memory import mark_external
from commonplace.text.naming import make_summary
from commonplace.text.words import (
    APOSTROPHE_ENDING,
    IDENTIFIER,
    SHORT_FORMS,
    STOP_WORDS,
    index_words,
    normalize_words,
    stem,
)

SAME, CONTRADICTS, DIFFERENT = "same", "contradicts", ""
MIN_SIMILARITY = 0.5  # how alike two texts are that speak of one thing
_MAX_COMPARED_TEXT = 4_000  # characters of a text that are compared
_TOKEN = lazy(r"\d+(?:[.:,]\d+)*|[^\W\d_]+(?:['’]t\b)?|[^\W_]+|[,;.!?()]")
_FRAME_WEIGHT = 0.2  # how much it counts that both begin or end with the same words
_LIGHT_STEMS = frozenset(
    stem(word)
    for word in """
    use using run keep kept live find call named name need must want prefer like put go hold belong own make made set
    may might always every each also still sit stand stay take taken give given see show shown write written writ
    require required mandatory manage change touch ask add built build done work mean store stored anything way better
    rather instead allow allowed fine okay ok start begin new all both day time format word file place called says say
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_UNIT_STEMS = frozenset(
    stem(word)
    for word in """
    second minute hour day week month year night nightly hourly daily mb gb kb tb ms percent times
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december one two three four five six seven eight nine ten twelve first last
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_LIGHT_STEMS -= _UNIT_STEMS
_NEGATIONS = frozenset(
    "not no never none neither nor cannot can't off disable disabled dislike dislikes hate hates avoid avoids".split()  # noqa: SIM905
)
# What follows one of these is denied, not the whole clause.
_EXCLUDING_WORDS = frozenset({"without", "over", "except", "not", "never"})
_EXCLUDING_PAIRS = {("rather", "than"), ("better", "than"), ("instead", "of")}
_CLAUSE_BREAKS = frozenset({",", ";", ".", "!", "?", "(", ")", "and", "but", "which", "because", "when", "if", "since"})
_ARTICLES = frozenset(("a", "an", "the", "our", "my", "its"))
_MAX_SHORT_FORM = 4  # letters
_PREPOSITIONS = frozenset("in on at for with to from by of as before after under through into".split())  # noqa: SIM905
_OPPOSITES = frozenset(
    frozenset(map(stem, pair.split()))
    for pair in (
        "stay leave", "short long", "on off", "top end", "top bottom", "first last", "mandatory optional",
        "local remote", "allow forbid", "allowed forbidden", "enable disable", "like dislike", "up down",
        "before after", "public private", "required optional", "internal external", "sync async", "more less",
        "minimum maximum", "read write",
    )
)  # fmt: skip
_BASE_FORMS = {
    "kept": "keep",
    "built": "build",
    "rebuilt": "build",
    "written": "writ",
    "ran": "run",
    "sent": "send",
    "said": "say",
}
_SENTENCE = lazy(r"(?<=[.!?;])\s+|\n+")
_SUBJECT_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*|:|=|->|→")
_PART = lazy(r"\d+|[^\W\d_]+")
_DEFAULT_SUBJECT_WORDS, _MAX_SUBJECT_WORDS = 3, 20
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


class Likeness(NamedTuple):
    """How similar two texts are, and how they are related."""

    similarity: float  # from 0 to 1
    relation: str  # same, contradicts, or "" for two things


class _ParsedText(NamedTuple):
    """A text as it is compared."""

    tokens: tuple[str, ...]  # words and marks as they stand
    weights: dict[str, float]  # of each telling stem
    affirmed: frozenset[str]  # stems that are affirmed
    denied: frozenset[str]  # stems that are denied


def is_same_text(one: str, other: str) -> bool:
    """Return whether two texts are the same but for white space."""
    return one == other or one.split() == other.split()


def compare_texts(one: str, other: str) -> Likeness:
    """Return how similar two texts are, and whether they say the same or contradict each other."""
    if is_same_text(one, other):
        return Likeness(1.0, SAME)
    left, right = (_parse_text(text[:_MAX_COMPARED_TEXT]) for text in sorted((one, other)))  # it has no direction
    shorter = min(len(left.weights), len(right.weights))
    if not shorter or 3 * len(left.weights.keys() & right.weights.keys()) < shorter:
        return Likeness(0.0, DIFFERENT)  # most candidates end here: no forms of words make up for that
    ours, theirs = _find_unmatched(left, right)
    common = sum(weight for word, weight in left.weights.items() if word not in ours)
    apart = sum(left.weights[word] for word in ours) + sum(right.weights[word] for word in theirs)
    similarity = 0.0
    if common:
        frame = _FRAME_WEIGHT * _measure_frame(left.tokens, right.tokens)
        similarity = min(1.0, common / (common + apart) + frame)
    is_contradiction = _is_contradiction(left, right, ours, theirs)
    if is_contradiction and common >= 2.0 and not (ours and theirs):
        similarity = max(similarity, MIN_SIMILARITY)  # the whole of a short text is in the other, and denied there
    if similarity < MIN_SIMILARITY or common < 1.0 or has_other_identifier(one, other):
        return Likeness(round(similarity, 3), DIFFERENT)  # web-01 is not web-02, however alike they are
    return Likeness(round(similarity, 3), CONTRADICTS if is_contradiction else SAME)


def _is_contradiction(left: _ParsedText, right: _ParsedText, ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two texts about one thing cannot both be true."""
    opposite = any(frozenset((one, other)) in _OPPOSITES for one in ours for other in theirs)
    both = (left.affirmed | left.denied) & (right.affirmed | right.denied)
    against = {word for word in both if (word in left.denied) != (word in right.denied)}
    weigh = left.weights.get
    is_turned = sum(weigh(word, 0.0) for word in against) * 2 > sum(weigh(word, 0.0) for word in both) or any(
        weigh(word, 0.0) >= 1.0
        for word in against
        if word in left.affirmed ^ left.denied and word in right.affirmed ^ right.denied
    )
    if opposite or is_turned:
        return opposite != is_turned
    # Both have words of their own that are heavy enough to be a value.
    values = [word for word in ours if left.weights[word] >= 0.5]
    others = [word for word in theirs if right.weights[word] >= 0.5]
    numbers, other_numbers = ({word for word in text.weights if word[0].isdigit()} for text in (left, right))
    if values and others and numbers and numbers == other_numbers:
        places, other_places = _find_places(left.tokens, values), _find_places(right.tokens, others)
        return not places.isdisjoint(other_places)
    return bool(values and others)


def _find_places(tokens: Sequence[str], words: Sequence[str]) -> set[tuple[str, str]]:
    """Return where the words with these stems stand: after which word, and before which."""
    plain = [_find_root(token) for token in tokens if token[0].isalnum() and token not in _ARTICLES]
    found: set[tuple[str, str]] = set()
    for before, word, behind in zip(["", *plain], plain, [*plain[1:], ""], strict=False):
        if word in words:
            found |= {("after", before), ("before", behind)}
    return found


def _find_unmatched(left: _ParsedText, right: _ParsedText) -> tuple[list[str], list[str]]:
    """Return the telling words of each text that the other has in no form."""
    ours = [word for word in left.weights if word not in right.weights]
    theirs = [word for word in right.weights if word not in left.weights]
    begun = {word[:4]: word for word in theirs}
    for word in list(ours):
        twin = begun.get(word[:4], "")
        shorter, longer = sorted((word, twin), key=len)
        # Two forms of one word: reach and reachable.
        if len(shorter) >= 4 and longer.startswith(shorter) and longer.isalpha() and len(longer) < len(shorter) + 5:
            ours.remove(word)
            theirs.remove(begun.pop(word[:4]))
    for word in list(ours):
        written = [other for other in theirs if _is_short_form(*sorted((word, other), key=len))]
        if written:
            ours.remove(word)
            theirs.remove(written[0])
    return ours, theirs


def _is_short_form(short: str, long: str) -> bool:
    """Return whether a word is made of some consonants of another, in their order and from the first on: ctrl, svc."""
    if not short.isalpha() or len(short) > _MAX_SHORT_FORM or len(long) < len(short) + 2 or short in _UNIT_STEMS:
        return False
    letters = iter(long)
    return short[0] == long[0] and not set("aeiou") & set(short) and all(letter in letters for letter in short)


def _measure_frame(left: Sequence[str], right: Sequence[str]) -> float:
    """Return how much of the shorter text both begin, or end, with."""
    size = min(len(left), len(right))
    head = next((at for at in range(size) if left[at] != right[at]), size)
    tail = next((at for at in range(size) if left[-1 - at] != right[-1 - at]), size)
    return max(head, tail) / size if max(head, tail) >= 3 else 0.0


@lru_cache(maxsize=64)  # the new text is compared with every candidate
def _parse_text(text: str) -> _ParsedText:
    """Return a text as it is compared: its tokens, the weights of its stems, and which are affirmed or denied."""
    tokens = tuple(_TOKEN.findall(text.lower() if text.isascii() else normalize_words(index_words(text))))
    weights: dict[str, float] = {}
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in _split_clauses(tokens):
        chosen = denied if _is_denied(clause.words) != clause.is_excluded else affirmed
        for word in clause.words:
            if not word[0].isalnum() or _is_negation(word) or word in STOP_WORDS:
                continue
            root = _find_root(word)
            weights[root] = 0.4 if root in _LIGHT_STEMS else 0.5 if root in _UNIT_STEMS or root[0].isdigit() else 1.0
            chosen.add(root)
    return _ParsedText(tokens, weights, frozenset(affirmed), frozenset(denied))


def _find_root(word: str) -> str:
    """Return what the forms of a word have in common, its short form included."""
    word = SHORT_FORMS.get(word, word)
    return stem(_BASE_FORMS.get(word, word)) or word


class _Clause(NamedTuple):
    """A part of a text that is affirmed or denied as one."""

    words: list[str]
    is_excluded: bool  # it is what the sentence sets aside: `rather than npm`


def _split_clauses(tokens: Sequence[str]) -> list[_Clause]:
    """Return a text in clauses, each affirmed or denied as one."""
    found = [_Clause([], is_excluded=False)]
    for at, word in enumerate(tokens):
        here = found[-1]
        is_excluding = word in _EXCLUDING_WORDS and (not here.words or word in ("without", "over", "except"))
        if word == "over" and tokens[at + 1 : at + 2] and tokens[at + 1][0].isdigit():
            is_excluding = False  # a number is exceeded, not set aside
        if at and (tokens[at - 1], word) in _EXCLUDING_PAIRS:
            is_excluding = True
        if is_excluding:
            # `not ... without` says yes twice over.
            is_double_negation = word == "without" and _is_denied(here.words)
            if is_double_negation:
                found[-1] = here._replace(is_excluded=not here.is_excluded)
            starts_sentence = not here.words and len(found) == 1
            found.append(
                _Clause([word] if starts_sentence else [], is_excluded=not (is_double_negation or starts_sentence))
            )
        elif word in _CLAUSE_BREAKS or (here.is_excluded and here.words and word in _PREPOSITIONS):
            found.append(_Clause([], is_excluded=False))
        else:
            here.words.append(word)
    return found


def _is_denied(words: Sequence[str]) -> bool:
    """Return whether a clause has an odd number of negations."""
    return sum(map(_is_negation, words)) % 2 == 1


def _is_negation(word: str) -> bool:
    """Return whether a word is a negation."""
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))


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


def has_other_subject(one: str, other: str) -> bool:
    """Return whether two texts begin alike up to the verb but for one word, which the other lacks: staging listens,
    production listens.
    """
    (start, verb), (other_start, other_verb) = _split_at_verb(one), _split_at_verb(other)
    if not verb or verb != other_verb or len(start) != len(other_start):
        return False
    differing = [pair for pair in zip(start, other_start, strict=True) if pair[0].lower() != pair[1].lower()]
    return len(differing) == 1 and all(
        _space_words(word) not in _space_words(text) for word, text in zip(differing[0], (other, one), strict=True)
    )


def _find_leading_identifiers(text: str) -> list[str]:
    """Return the numbers and identifiers before the verb of a text's first sentence."""
    return [_space_words(word) for word in _split_at_verb(text)[0] if word[0].isalnum() and IDENTIFIER.match(word)]


def _split_at_verb(text: str) -> tuple[list[str], str]:
    """Return the words of a text's first sentence before its verb, and the verb; "" if none is known."""
    tokens = _SUBJECT_TOKEN.findall(APOSTROPHE_ENDING.sub("", _SENTENCE.split(text, 1)[0]))
    words = ["", *map(str.lower, tokens[:_MAX_SUBJECT_WORDS]), ""]
    for at, (before, word, behind) in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if word in _VERBS or before in _BEFORE_VERBS or (at and behind in _AFTER_VERBS and _has_verb_ending(word)):
            return tokens[:at], word
    return tokens[:_DEFAULT_SUBJECT_WORDS], ""


def _has_verb_ending(word: str) -> bool:
    """Return whether a word may be a verb by its ending."""
    return word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "us")))


class NearDuplicate(NamedTuple):
    """A memory that says the same as a new text, or contradicts it."""

    folder: str
    name: str
    similarity: float
    summary: str
    relation: str  # same, contradicts


def find_near_duplicates(text: str, candidates: Sequence[CurrentEntry], *, limit: int) -> list[NearDuplicate]:
    """Return the memories that say the same as a text or contradict it, most similar first, each once."""
    best: dict[tuple[str, str], NearDuplicate] = {}
    for candidate in candidates:
        if candidate.status == "superseded":
            continue
        found = compare_texts(text, candidate.text)
        place = (candidate.folder, candidate.name)
        if found.relation and (place not in best or best[place].similarity < found.similarity):
            summary = candidate.summary or make_summary(candidate.text)  # of the similar entry, not of the newest
            summary = mark_external(summary) if candidate.outside else summary
            best[place] = NearDuplicate(*place, found.similarity, summary, found.relation)
    return sorted(best.values(), key=lambda item: (-item.similarity, item.folder, item.name))[:limit]
