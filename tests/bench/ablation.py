"""What each number of the ranking is worth: the points that a set loses when the number is another.

The numbers are read from the modules themselves, so that none can be forgotten: every number and every table of numbers
that is named at the top level of recall/ranking.py and recall/later.py. Each is left out (0), halved and doubled; whole
numbers, which count something, are only halved and doubled. A number that a set cannot tell apart (no author is ever
named in it) shows no difference there; that is not a reason to drop it.

Leaving one set out says whether a number is fitted to the sets: the best of half, as it is and double is chosen on all
others, and then measured on the one that was left out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from commonplace.embed.port import Embedder
from commonplace.recall import later, ranking
from tests.bench.recall_data import DataSet
from tests.bench.recall_quality import (
    FilledBooks,
    LaterCount,
    QuestionScore,
    add_later_counts,
    ask_mode,
    count_later,
    get_figure,
    measure_quality,
    measure_strength,
)

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors

MAX_TURN_QUESTIONS = 150  # of a set of conversations, evenly spaced: asking all for every number would take hours
AS_IT_IS = 1.0
CHOICES = (0.5, AS_IT_IS, 2.0)
Number = float | Mapping[str, float]


class Constant(NamedTuple):
    """One number of the ranking: a weight of a table, or a number with a name of its own."""

    module: ModuleType
    name: str
    weight: str | None
    value: float

    @property
    def label(self) -> str:
        """The name that it has in the tables."""
        return self.name if self.weight is None else f"{self.name}[{self.weight}]"

    @property
    def factors(self) -> Sequence[float]:
        """What it is multiplied with."""
        return (0.5, 2.0) if isinstance(self.value, int) else (0.0, 0.5, 2.0)


class Variant(NamedTuple):
    """A constant multiplied with something."""

    constant: Constant
    factor: float


class SetAblation(NamedTuple):
    """The answers of one set with the numbers as they are (None) and with each variant."""

    data: DataSet
    scores: Mapping[Variant | None, Sequence[QuestionScore]]
    later: Mapping[Variant | None, LaterCount]


class Worth(NamedTuple):
    """What a variant changes, in points: on each set, and in what is said of the hits. Below 0, it is worse."""

    label: str
    value: float
    factor: float
    points: Mapping[str, float]


class LeftOut(NamedTuple):
    """What the factor chosen on all other sets gains on one set, in points."""

    label: str
    left_out: str
    factor: float
    points: float


class CachedEmbedder:
    """An embedder that embeds each question once: between two variants the questions stay the same."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.model, self.dimension = embedder, embedder.model, embedder.dimension
        self._rows: dict[tuple[str, ...], Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        if (key := tuple(texts)) not in self._rows:
            self._rows[key] = self._embedder.embed(texts)
        return self._rows[key]


def find_constants(*modules: ModuleType) -> list[Constant]:
    """Return every number that the modules name at their top level, in order."""
    found = []
    for module in modules:
        for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [item.id for target in targets if target for item in ast.walk(target) if isinstance(item, ast.Name)]
            for name in names:
                value = getattr(module, name)
                weights = value.items() if isinstance(value, Mapping) else [(None, value)]
                found += [Constant(module, name, weight, one) for weight, one in weights if _is_number(one)]
    return found


def ablate(data: DataSet, books: FilledBooks) -> SetAblation:
    """Ask a set with every variant of every constant that can matter to it."""
    sampled = _sample(data, books)
    for _, book in books:
        semantic = book.context.semantic_index()
        semantic.embedder = CachedEmbedder(semantic.embedder)
    scores: dict[Variant | None, Sequence[QuestionScore]] = {None: ask_mode(sampled)}
    named: dict[Variant | None, LaterCount] = {} if data.is_conversation else {None: count_later(books)}
    for constant in find_constants(ranking, later):
        other = "LONE" if data.is_conversation else "CONVERSATION"
        if constant.name == other or (constant.module is later and data.is_conversation):
            continue
        for factor in constant.factors:
            variant = Variant(constant, factor)
            with replace_constant(constant, factor):
                if constant.module is later:
                    named[variant] = count_later(books)
                else:
                    scores[variant] = ask_mode(sampled)
    return SetAblation(data, scores, named)


@contextmanager
def replace_constant(constant: Constant, factor: float) -> Iterator[None]:
    """Rank with a constant multiplied, wherever that has been imported to."""
    own: Number = getattr(constant.module, constant.name)
    value = round(constant.value * factor) if isinstance(constant.value, int) else constant.value * factor
    other: Number = {**own, str(constant.weight): value} if isinstance(own, Mapping) else value
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("commonplace.recall.")]
    with ExitStack() as stack:
        for module in modules:
            if vars(module).get(constant.name) is own:
                stack.enter_context(patch.object(module, constant.name, other))
        yield


def compute_worths(sets: Sequence[SetAblation]) -> list[Worth]:
    """Return what each variant changes on each set, in the order of the constants."""
    variants = dict.fromkeys(variant for one in sets for variant in (*one.scores, *one.later) if variant is not None)
    worths = []
    for variant in variants:
        points = {one.data.name: _compute_gain(one, variant) for one in sets if variant in one.scores}
        affected = [one for one in sets if variant in one.scores]
        before, after = (_measure_hits(affected, key) for key in (None, variant))
        points |= {name: value - before[name] for name, value in after.items() if name in before}
        counted = [one for one in sets if variant in one.later]
        was, now = (_measure_later([one.later[key] for one in counted]) for key in (None, variant))
        points |= {name: value - was[name] for name, value in now.items()}
        label, value = variant.constant.label, variant.constant.value
        worths.append(Worth(label, value, variant.factor, {name: round(one, 2) for name, one in points.items()}))
    return worths


def leave_one_out(sets: Sequence[SetAblation]) -> list[LeftOut]:
    """Return, for each constant and set, what the factor that is best on all other sets gains on this one."""
    found = []
    for constant in dict.fromkeys(variant.constant for one in sets for variant in one.scores if variant is not None):
        gains = {
            one.data.name: {factor: _compute_gain(one, Variant(constant, factor)) for factor in CHOICES}
            for one in sets
            if Variant(constant, 2.0) in one.scores
        }
        for name, gained in gains.items():
            others = [gain for other, gain in gains.items() if other != name]
            # of equal ones the shipped one: a number that changes nothing is not changed
            best = max(CHOICES, key=lambda factor: (sum(gain[factor] for gain in others), factor == AS_IT_IS))
            found.append(LeftOut(constant.label, name, best, round(gained[best], 2)))
    return found


def _compute_gain(one: SetAblation, variant: Variant) -> float:
    """Return the points that a set gains with a variant; none with the number as it is."""
    if variant.factor == AS_IT_IS:
        return 0.0
    after, before = (get_figure(measure_quality("", one.scores[key]), one.data.target) for key in (variant, None))
    return after - before


def _measure_hits(sets: Sequence[SetAblation], key: Variant | None) -> dict[str, float]:
    """Return, in percent, how much more often strong hits are right, and how often newer facts are in the first two."""
    scores = [score for one in sets for score in one.scores[key]]
    shares = {"strong": measure_strength(scores).gap, "newer": measure_quality("", scores).newer_in_two}
    return {name: 100 * share for name, share in shares.items() if share is not None}


def _measure_later(counts: Sequence[LaterCount]) -> dict[str, float]:
    """Return, in percent, how many updates are named, and how few others."""
    if not counts:
        return {}
    updates, right, others, wrong = add_later_counts(counts)
    return {"later": 100 * right / max(1, updates), "not later": 100 - 100 * wrong / max(1, others)}


def _sample(data: DataSet, books: FilledBooks) -> FilledBooks:
    """Return the books with fewer questions where they are conversations."""
    if not data.is_conversation:
        return books
    step = max(1.0, sum(len(contents.questions) for contents, _ in books) / MAX_TURN_QUESTIONS)
    place = 0
    sampled = []
    for contents, book in books:
        kept = [item for at, item in enumerate(contents.questions, place) if at // step != (at - 1) // step]
        place += len(contents.questions)
        sampled.append((contents._replace(questions=kept), book))
    return sampled


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
