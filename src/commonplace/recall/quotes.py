"""What is quoted in a question must stand in a note as it is.

The index knows words by their stems, and finds `make test` for "make tests". Its candidates are read once more here: a
phrase has to be in a note's own text, key, summary or tags, as whole words; case and white space may differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.index.port import Candidate
from commonplace.text.words import Terms, folded, has_phrase


def quoting(candidates: Sequence[Candidate], terms: Terms) -> set[int]:
    """The numbers of those that have all that is quoted."""
    if not terms.quoted:
        return {item.no for item in candidates}
    own = {item.no: [folded(place) for place in _own(item)] for item in candidates}
    having = [item for item in candidates if _have(own[item.no], terms)]
    # Most summaries are the beginning of the newest entry: then that one has it, and not those before.
    known = {(item.folder, item.name) for item in having}
    others = [item for item in candidates if (item.folder, item.name) not in known]
    summed = [item for item in others if item.row and _have([*own[item.no], folded(item.row.summary)], terms)]
    return {item.no for item in (*having, *summed)}


def _have(places: Sequence[str], terms: Terms) -> bool:
    return all(any(has_phrase(place, phrase) for place in places) for phrase in terms.quoted)


def _own(candidate: Candidate) -> list[str]:
    entry, row = candidate.recorded.entry, candidate.row
    labels = [candidate.name, *entry.tags, *(row.tags if row is not None else ())]
    return [entry.text, *labels, *(label.replace("-", " ").replace("_", " ") for label in labels)]
