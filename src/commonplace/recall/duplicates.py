"""Find memories that say the same as a new text, exactly or in other words, or that contradict it.

Copies, and copies but for white space, are always found. The others are looked for among entries that share telling
words with the text, and compared word by word, so that a store loads no vectors. Telling words count most; common
verbs and numbers count less, because an update changes the value. Two texts about one thing contradict each
other if the value differs (8042 / 8043, Maria / Jonas), or if one denies what the other affirms. Such a memory is
offered to be superseded, and never taken for the same. A short form (DB, config) is the word that it stands for; where
both texts have the same numbers, words that differ are values only if they stand in the same place. Knows English; in
other languages only words and numbers.

A sentence says before its verb what it is about, and after it what is true of it. Two texts that each begin with an
identifier which the other lacks are about two things, however alike they are: web-01 is not web-02. The verbs known are
English, with the most common ones of a few other languages; without one, the first three words are the subject.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from operator import eq
from typing import NamedTuple

from commonplace.index.values import CurrentEntry
from commonplace.model.lazy import lazy
from commonplace.model.memory import mark_external
from commonplace.text.naming import make_summary
from commonplace.text.words import (
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
_TOKEN = lazy(
    r"(?:rather|better) than|instead of|over \d+|\d+(?:[.:,]\d+)*|\b[^\W\d_]\d+[^\W\d_]\b"  # the last as in k8s
    r"|[^\W\d_]+(?:['’]t\b)?|[^\W_]+|[,;.!?()]"
)
_FRAME_WEIGHT = 0.2  # how much it counts that both begin or end with the same words
_LIGHT_STEMS = frozenset(
    stem(word)
    for word in """
    use using run keep kept live find call named name need must want prefer like put go hold belong own make made set
    may might always every each also still sit stand stay take taken give given see show shown write written writ
    require required mandatory manage change touch ask add built build done work mean store stored anything way better
    rather instead allow allowed fine okay ok start begin new all both format word file place called says say
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
# What follows one of these, up to a preposition, is denied, and not the whole clause.
_EXCLUDING = r"\b(?:without|over(?! \d)|except|(?:rather|better) than|instead of)\b"
_EXCLUDED = lazy(
    rf"({_EXCLUDING}[^,;.!?()]*?)(?=\b(?:in|on|at|for|with|to|from|by|of|as|before|after|under|through|into)\b)"
)
_CLAUSE_BREAK = lazy(rf"[,;!?()]|\.(?!\d)|\b(?:and|but|which|because|when|if|since)\b|(?={_EXCLUDING})")
_NEGATION = lazy(
    rf"{_EXCLUDING}|(?:not?|never|none|neither|nor|cannot|can't|off|disabled?|dislikes?|hates?|avoids?)\Z|.*n['’]t\Z"
)
_DOUBLE_NEGATION = lazy(r"\b(?:not|never)\b([^,;.!?()]*)\bwithout\b")
_OPPOSITES = frozenset(
    frozenset(map(stem, pair.split()))
    for pair in """
    stay leave, short long, on off, top end, top bottom, first last, mandatory optional, local remote, allow forbid,
    allowed forbidden, enable disable, like dislike, up down, before after, public private, required optional,
    internal external, sync async, more less, minimum maximum, read write
    """.split(",")  # noqa: SIM905 - a list of these would be a page long
)
_BASE_FORMS = dict(
    map(str.split, ("kept keep", "built build", "rebuilt build", "written writ", "ran run", "sent send", "said say"))
)
_SUBJECT_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*|:|=|->|→")
_PART = lazy(r"\d+|[^\W\d_]+")
_SUBJECT_WORDS = 3  # where no verb is known
_VERBS = frozenset(
    """
    is are was were isn aren wasn has have had hasn haven will won would can cannot could must should may might does do
    did doesn don didn means uses use runs listens lives lies stands sits stays needs takes goes go comes come begins
    belongs costs holds keeps keep gets got moved allows serves contains includes expires reads writes fixes adds says
    said became becomes returns fails failed lasts covers replaces replaced wants likes prefers owns sends puts put pay
    pays meets works ist sind war hat hatte kostet steht est sont sono es era tiene jest это : = -> →
    """.split()  # noqa: SIM905 - a list of these would be a page long
)


class Likeness(NamedTuple):
    """How similar two texts are, and how they are related."""

    similarity: float  # from 0 to 1
    relation: str  # same, contradicts, or "" for two things


class _ParsedText(NamedTuple):
    """A text as it is compared."""

    tokens: list[str]  # words and marks as they stand
    weights: dict[str, float]  # of each telling stem
    denied: frozenset[str]  # stems that are denied


def is_same_text(one: str, other: str) -> bool:
    """Return whether two texts are the same but for white space."""
    return one.split() == other.split()


def compare_texts(one: str, other: str) -> Likeness:
    """Return how similar two texts are, and whether they say the same or contradict each other."""
    if is_same_text(one, other):
        return Likeness(1.0, SAME)
    left, right = (_parse_text(text[:_MAX_COMPARED_TEXT]) for text in sorted((one, other)))  # it has no direction
    if left.weights.keys().isdisjoint(right.weights):
        return Likeness(0.0, DIFFERENT)
    ours, theirs = _leave_out(left.weights, right.weights), _leave_out(right.weights, left.weights)
    common = sum(weight for word, weight in left.weights.items() if word not in ours)
    apart = sum(left.weights[word] for word in ours) + sum(right.weights[word] for word in theirs)
    similarity = min(1.0, common / (common + apart) + _FRAME_WEIGHT * _measure_frame(left.tokens, right.tokens))
    is_contradiction = _is_contradiction(left, right, ours, theirs)
    if is_contradiction and not (ours and theirs):
        similarity = max(similarity, MIN_SIMILARITY)  # the whole of a short text is in the other, and denied there
    if similarity < MIN_SIMILARITY or has_other_identifier(one, other):
        return Likeness(round(similarity, 3), DIFFERENT)  # web-01 is not web-02, however alike they are
    return Likeness(round(similarity, 3), CONTRADICTS if is_contradiction else SAME)


def _is_contradiction(left: _ParsedText, right: _ParsedText, ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two texts about one thing cannot both be true."""
    is_opposite = any(frozenset((one, other)) in _OPPOSITES for one in ours for other in theirs)
    is_turned = not left.weights.keys().isdisjoint(right.weights.keys() & (left.denied ^ right.denied))
    if is_opposite or is_turned:
        return is_opposite != is_turned
    # Both have words of their own that are heavy enough to be a value.
    values = [word for word in ours if left.weights[word] >= 0.5]
    others = [word for word in theirs if right.weights[word] >= 0.5]
    numbers, other_numbers = ({word for word in text.weights if word[0].isdigit()} for text in (left, right))
    if numbers and numbers == other_numbers:
        return not _find_places(left.tokens, values).isdisjoint(_find_places(right.tokens, others))
    return bool(values and others)


def _find_places(tokens: Sequence[str], words: Sequence[str]) -> set[str]:
    """Return the words that stand before those with these stems."""
    roots = ["", *(_find_root(token) for token in tokens if token[0].isalnum())]
    return {before for before, root in pairwise(roots) if root in words}


def _leave_out(words: Collection[str], others: Collection[str]) -> list[str]:
    """Return the words that are in no form among the others: reachable is a form of reach."""
    own = [word for word in words if word not in others]
    return [word for word in own if not any(_is_form(word, other) for other in others)]


def _is_form(one: str, other: str) -> bool:
    """Return whether one of two words begins with the other, and has little more: not so Java and JavaScript."""
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and long.startswith(short) and len(long) < len(short) + 5


def _measure_frame(left: list[str], right: list[str]) -> float:
    """Return how much of the shorter text both begin, or end, with."""
    both = (left, right), (left[::-1], right[::-1])
    return max(len([*takewhile(bool, map(eq, *pair))]) for pair in both) / min(len(left), len(right))


@lru_cache(maxsize=64)  # the new text is compared with every candidate
def _parse_text(text: str) -> _ParsedText:
    """Return a text as it is compared: its tokens, the weights of its stems, and which are denied."""
    plain = text.lower() if text.isascii() else normalize_words(index_words(text))
    weights: dict[str, float] = {}
    denied: set[str] = set()
    for clause in _CLAUSE_BREAK.split(_EXCLUDED.sub(r"\1,", _DOUBLE_NEGATION.sub(r"\1", plain))):
        words = _TOKEN.findall(clause)
        negations = [*filter(_NEGATION.match, words)]
        for word in words:
            if word[0].isalnum() and word not in negations and word not in STOP_WORDS:
                root = _find_root(word)
                weights[root] = 0.4 if root in _LIGHT_STEMS else 0.5 if root[0].isdigit() else 1.0
                denied.update([root] if len(negations) % 2 else [])
    return _ParsedText(_TOKEN.findall(plain), weights, frozenset(denied))


def _find_root(word: str) -> str:
    """Return what the forms of a word have in common, its short form included."""
    word = SHORT_FORMS.get(word, word)
    return stem(_BASE_FORMS.get(word, word)) or word


def has_other_identifier(one: str, other: str) -> bool:
    """Return whether each of two texts begins with an identifier that the other lacks."""
    return all(
        any(IDENTIFIER.match(word) and any(map(str.isalpha, word)) for word in _find_own_subject(here, there)[0])
        for here, there in ((one, other), (other, one))
    )


def has_other_subject(one: str, other: str) -> bool:
    """Return whether two texts begin alike up to the verb but for one word, which the other lacks: staging listens,
    production listens.
    """
    ours, theirs = _find_own_subject(one, other), _find_own_subject(other, one)
    return len(ours[0]) == len(theirs[0]) == 1 and ours[1:] == theirs[1:] and bool(ours[2])


def _find_own_subject(text: str, other: str) -> tuple[list[str], int, str]:
    """Return the words before the verb of a text that the other text lacks, how many words are there
    in all, and the verb: the fourth word if none is known.

    A number alone may be the value: 8 workers run, and later 12 do.
    """
    tokens = _SUBJECT_TOKEN.findall(text)
    places = (at for at, word in enumerate(tokens) if word.lower() in _VERBS)
    at = next(places, _SUBJECT_WORDS)
    verb = tokens[at].lower() if at < len(tokens) else ""
    own = [word for word in tokens[:at] if _space_words(word) not in _space_words(other)]
    return own, at, verb


@lru_cache(maxsize=256)
def _space_words(text: str) -> str:
    """Return a text as its words and numbers with a space around each, so that `in` finds whole ones."""
    return f" {' '.join(_PART.findall(normalize_words(text)))} "


class NearDuplicate(NamedTuple):
    """A memory that says the same as a new text, or contradicts it."""

    folder: str
    name: str
    similarity: float
    summary: str
    relation: str  # same, contradicts


def find_near_duplicates(text: str, candidates: Sequence[CurrentEntry], *, limit: int) -> list[NearDuplicate]:
    """Return the memories that say the same as a text or contradict it, most similar first, each once."""
    found: list[NearDuplicate] = []
    for item in candidates:
        similarity, relation = compare_texts(text, item.text)
        if relation and item.status != "superseded":
            summary = item.summary or make_summary(item.text)  # of the similar entry, not of the newest
            summary = mark_external(summary) if item.outside else summary
            found.append(NearDuplicate(item.folder, item.name, similarity, summary, relation))
    found.sort(key=lambda one: (-one.similarity, one.folder, one.name))
    best: dict[tuple[str, str], NearDuplicate] = {}
    for one in found:
        best.setdefault((one.folder, one.name), one)
    return list(best.values())[:limit]
