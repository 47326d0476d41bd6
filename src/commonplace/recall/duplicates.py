"""What is there already: the same text, the same in other words, or something that denies it.

Exact and white-space variants are always found. The others are found among what shares telling words with the text, and
told apart word by word, so that a store loads no table of vectors. Telling words count most; verbs that many sentences
share, numbers and units count less, because the value is what an update changes. Two texts about one thing deny each
other when the value differs (8042 / 8043, Maria / Jonas) or when one says no to what the other says yes to: such a text
is offered to be superseded, and never taken for the same. Knows English; in other languages only words and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from commonplace.index.port import CurrentEntry
from commonplace.model.lazy import lazy
from commonplace.model.memory import mark_external
from commonplace.recall.subjects import are_named_apart
from commonplace.text.naming import make_summary
from commonplace.text.words import STOP_WORDS, index_words, normalize_words, stem

SAME, CONTRADICTS, DIFFERENT = "same", "contradicts", ""
NEAR = 0.5  # how alike two texts are that speak of one thing
_MOST = 4_000  # characters of a text that are compared
_TOKEN = lazy(r"\d+(?:[.:,]\d+)*|[^\W\d_]+(?:['’]t\b)?|[^\W_]+|[,;.!?()]")
_FRAME = 0.2  # how much it counts that both begin or end with the same words
_LIGHT = frozenset(
    stem(word)
    for word in """
    use using run keep kept live find call named name need must want prefer like put go hold belong own make made set
    may might always every each also still sit stand stay take taken give given see show shown write written writ
    require required mandatory manage change touch ask add built build done work mean store stored anything way better
    rather instead allow allowed fine okay ok start begin new all both day time format word file place called says say
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_UNITS = frozenset(
    stem(word)
    for word in """
    second minute hour day week month year night nightly hourly daily mb gb kb tb ms percent times
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december one two three four five six seven eight nine ten twelve first last
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_LIGHT -= _UNITS
_NO = frozenset(
    "not no never none neither nor cannot can't off disable disabled dislike dislikes hate hates avoid avoids".split()  # noqa: SIM905
)
_BUT_NOT = frozenset({"without", "over", "except", "not", "never"})  # what follows, and not the whole clause, is denied
_ASIDE = {("rather", "than"), ("better", "than"), ("instead", "of")}
_BREAKS = frozenset({",", ";", ".", "!", "?", "(", ")", "and", "but", "which", "because", "when", "if", "since"})
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
_LEVEL = {
    "kept": "keep",
    "built": "build",
    "rebuilt": "build",
    "written": "writ",
    "ran": "run",
    "sent": "send",
    "said": "say",
}


class Likeness(NamedTuple):
    similarity: float  # from 0 to 1
    relation: str  # same, contradicts, or "" for two things


class _Text(NamedTuple):
    tokens: tuple[str, ...]  # words and marks as they stand
    weights: dict[str, float]  # of each telling stem
    yes: frozenset[str]  # stems that are affirmed
    no: frozenset[str]  # stems that are denied


def same(one: str, other: str) -> bool:
    """The same text but for white space."""
    return one == other or one.split() == other.split()


def compare(one: str, other: str) -> Likeness:
    """How alike two texts are, and what they are to each other."""
    if same(one, other):
        return Likeness(1.0, SAME)
    left, right = (_read(text[:_MOST]) for text in sorted((one, other)))  # it has no direction
    if not left.weights or not right.weights:
        return Likeness(0.0, DIFFERENT)
    if 3 * len(left.weights.keys() & right.weights.keys()) < min(len(left.weights), len(right.weights)):
        return Likeness(0.0, DIFFERENT)  # most candidates end here: no forms of words make up for that
    ours, theirs = _unmatched(left, right)
    shared = [word for word in left.weights if word not in ours]
    common = sum(left.weights[word] for word in shared)
    apart = sum(left.weights[word] for word in ours) + sum(right.weights[word] for word in theirs)
    similarity = min(1.0, common / (common + apart) + _FRAME * _frame(left.tokens, right.tokens)) if common else 0.0
    if similarity < NEAR and common >= 2.0 and not (ours and theirs) and _deny(left, right, ours, theirs):
        similarity = NEAR  # the whole of a short text is in the other, and denied there
    if similarity < NEAR or common < 1.0 or are_named_apart(one, other):
        return Likeness(round(similarity, 3), DIFFERENT)  # web-01 is not web-02, however alike they are
    return Likeness(round(similarity, 3), CONTRADICTS if _deny(left, right, ours, theirs) else SAME)


def _deny(left: _Text, right: _Text, ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether two texts about one thing cannot both be true."""
    opposite = any(frozenset((one, other)) in _OPPOSITES for one in ours for other in theirs)
    both = (left.yes | left.no) & (right.yes | right.no)
    against = {word for word in both if (word in left.no) != (word in right.no)}
    weigh = left.weights.get
    turned = sum(weigh(word, 0.0) for word in against) * 2 > sum(weigh(word, 0.0) for word in both) or any(
        weigh(word, 0.0) >= 1.0 for word in against if word in left.yes ^ left.no and word in right.yes ^ right.no
    )
    if opposite or turned:
        return opposite != turned
    values = [_values(left, ours), _values(right, theirs)]
    return bool(values[0] and values[1])


def _values(text: _Text, words: Sequence[str]) -> list[str]:
    """Those of the words that say something of their own."""
    return [word for word in words if text.weights[word] >= 0.5]


def _unmatched(left: _Text, right: _Text) -> tuple[list[str], list[str]]:
    """The telling words of each text that the other has in no form."""
    ours = [word for word in left.weights if word not in right.weights]
    theirs = [word for word in right.weights if word not in left.weights]
    begun = {word[:4]: word for word in theirs}
    for word in list(ours):
        twin = begun.get(word[:4])
        if twin is not None and _is_form(word, twin):
            ours.remove(word)
            theirs.remove(begun.pop(word[:4]))
    return ours, theirs


def _is_form(one: str, other: str) -> bool:
    """Two forms of one word: reach and reachable."""
    size = min(len(one), len(other))
    return (
        size >= 4
        and one.isalpha()
        and other.isalpha()
        and one[:size] == other[:size]
        and abs(len(one) - len(other)) < 5
    )


def _frame(left: Sequence[str], right: Sequence[str]) -> float:
    """How much of the shorter text both begin, or end, with."""
    size = min(len(left), len(right))
    head = next((at for at in range(size) if left[at] != right[at]), size)
    tail = next((at for at in range(size) if left[-1 - at] != right[-1 - at]), size)
    return max(head, tail) / size if max(head, tail) >= 3 else 0.0


@lru_cache(maxsize=64)  # the new text is compared with every candidate
def _read(text: str) -> _Text:
    tokens = tuple(_TOKEN.findall(text.lower() if text.isascii() else normalize_words(index_words(text))))
    weights: dict[str, float] = {}
    yes: set[str] = set()
    no: set[str] = set()
    for clause in _clauses(tokens):
        denied = _is_denied(clause.words)
        for word in clause.words:
            if not word[0].isalnum() or _says_no(word) or word in STOP_WORDS:
                continue
            root = stem(_LEVEL.get(word, word)) or word
            weights[root] = 0.4 if root in _LIGHT else 0.5 if root in _UNITS or root[0].isdigit() else 1.0
            (no if denied != clause.turned else yes).add(root)
    return _Text(tokens, weights, frozenset(yes), frozenset(no))


class _Clause(NamedTuple):
    words: list[str]
    turned: bool  # it is what the sentence sets aside: `rather than npm`


def _clauses(tokens: Sequence[str]) -> list[_Clause]:
    """A text in parts that are affirmed or denied as one."""
    found = [_Clause([], turned=False)]
    for at, word in enumerate(tokens):
        here = found[-1]
        aside = word in _BUT_NOT and (not here.words or word in ("without", "over", "except"))
        if word == "over" and tokens[at + 1 : at + 2] and tokens[at + 1][0].isdigit():
            aside = False  # a number is exceeded, not set aside
        if at and (tokens[at - 1], word) in _ASIDE:
            aside = True
        if aside:
            # `not ... without` says yes twice over.
            twice = word == "without" and _is_denied(here.words)
            if twice:
                found[-1] = here._replace(turned=not here.turned)
            starts_sentence = not here.words and len(found) == 1
            found.append(_Clause([word] if starts_sentence else [], turned=not (twice or starts_sentence)))
        elif word in _BREAKS or (here.turned and here.words and word in _PREPOSITIONS):
            found.append(_Clause([], turned=False))
        else:
            here.words.append(word)
    return found


def _is_denied(words: Sequence[str]) -> bool:
    return sum(map(_says_no, words)) % 2 == 1


def _says_no(word: str) -> bool:
    return word in _NO or word.endswith(("n't", "n’t"))


class Similar(NamedTuple):
    folder: str
    name: str
    similarity: float
    summary: str
    relation: str  # same, contradicts


def near_duplicates(text: str, candidates: Sequence[CurrentEntry], *, limit: int) -> list[Similar]:
    """The memories that already say this, or say otherwise, most alike first, each once."""
    best: dict[tuple[str, str], Similar] = {}
    for candidate in candidates:
        if candidate.status == "superseded":
            continue
        found = compare(text, candidate.text)
        place = (candidate.folder, candidate.name)
        if found.relation and (place not in best or best[place].similarity < found.similarity):
            said = candidate.summary or make_summary(candidate.text)  # of what is alike, not of what is newest
            said = mark_external(said) if candidate.outside else said
            best[place] = Similar(*place, found.similarity, said, found.relation)
    return sorted(best.values(), key=lambda item: (-item.similarity, item.folder, item.name))[:limit]
