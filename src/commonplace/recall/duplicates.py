"""What is there already: the same text, the same in other words, or something that denies it.

Exact and white-space variants are always found. The others are found among what shares telling words with the text, and
told apart by comparing words (recall/likeness.py): one that says the same is offered for an update, one that says
otherwise of the same thing (port 5432 / 6000, allowed / not allowed) to be superseded, and never taken for the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.index.port import Said
from commonplace.model.memory import from_outside
from commonplace.recall.likeness import compare, same
from commonplace.text.naming import make_summary

__all__ = ["Similar", "near_duplicates", "same"]


class Similar(NamedTuple):
    folder: str
    name: str
    similarity: float
    summary: str
    relation: str  # same, contradicts


def near_duplicates(text: str, candidates: Sequence[Said], *, limit: int) -> list[Similar]:
    """The memories that already say this, or say otherwise, most alike first, each once."""
    best: dict[tuple[str, str], Similar] = {}
    for candidate in candidates:
        if candidate.status == "superseded":
            continue
        found = compare(text, candidate.text)
        place = (candidate.folder, candidate.name)
        if found.relation and (place not in best or best[place].similarity < found.similarity):
            said = candidate.summary or make_summary(candidate.text)  # of what is alike, not of what is newest
            said = from_outside(said) if candidate.outside else said
            best[place] = Similar(*place, found.similarity, said, found.relation)
    return sorted(best.values(), key=lambda item: (-item.similarity, item.folder, item.name))[:limit]
