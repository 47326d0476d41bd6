"""Find the names that were probably meant where one is unknown. Only loaded for a mistake: difflib takes a while."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST = 3
_LEAST_ALIKE = 0.7


def find_nearest_names(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names that are most like one that does not exist, the likeliest first; at most three.

    A name is compared whole, by its last part (`alice` for `people/alice`), and by its beginning.
    """
    known = list(dict.fromkeys(names))
    folded = {name: name.casefold() for name in known}
    word = wanted.casefold().strip()
    scores: dict[str, float] = {}
    for name, text in folded.items():
        last = text.rsplit("/", 1)[-1]
        score = max(_likeness(word, text), _likeness(word.rsplit("/", 1)[-1], last) - 0.01)
        if len(word) >= 3 and (text.startswith(word) or last.startswith(word)):
            score = max(score, 0.9)
        if score >= _LEAST_ALIKE:
            scores[name] = score
    return sorted(scores, key=lambda name: (-scores[name], name))[:_MOST]


def _likeness(one: str, other: str) -> float:
    matcher = difflib.SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < _LEAST_ALIKE or matcher.quick_ratio() < _LEAST_ALIKE:
        return 0.0
    return matcher.ratio()
