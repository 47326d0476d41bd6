"""The passage of a long text that answers a question, with enough around it to be understood.

A hit of ten pages helps nobody: what is shown of a long entry is the stretch of whole lines that has most of the
question's words, and marks where something was left out. The whole text is one `show` away. Where even that is more
than a budget has room for, it is a shorter stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.text.tokens import estimate_tokens
from commonplace.text.words import Terms, bare

LONG = 2_400  # characters: up to here a text is shown whole
_SHOWN = 1_600
LEFT_OUT = "[...]"
_SOURCE = 12  # tokens: the line that says where a hit is from
_MARKS = 6  # tokens: what was left out before and after
_SMALLEST = 8  # characters that are shown in however small a budget


def passage(text: str, terms: Terms, budget: int | None = None) -> str:
    """The text, or the best stretch of it; with a budget of tokens, one that it has room for beside its source."""
    shown = text if len(text) <= LONG else _stretch(text, terms, _SHOWN, len, _SHOWN // 4)
    if budget is None or cost(shown) <= budget or len(text) <= _SMALLEST:
        return shown
    room = budget - _SOURCE - _MARKS
    return _stretch(text, terms, room, estimate_tokens, min(max(_SMALLEST, room // 2), _SHOWN // 4))


def cost(shown: str) -> int:
    """How many tokens a hit takes that shows this."""
    return estimate_tokens(shown) + _SOURCE


def _stretch(text: str, terms: Terms, room: int, measure: Callable[[str], int], longest: int) -> str:
    """The piece that has most of the words, and of those around it as many as there is room for."""
    pieces = _pieces(text, longest)
    weights = [_weight(piece, terms) for piece in pieces]
    best = max(range(len(pieces)), key=lambda at: (weights[at], -at))
    first = last = best
    size = measure(pieces[best])
    while True:  # grow to the side that has more of the words; else twice as far down, since what follows explains more
        above = weights[first - 1] if first > 0 else -1.0
        below = weights[last + 1] if last + 1 < len(pieces) else -1.0
        if above < 0 and below < 0:
            break
        up = above > below or (above == below and 2 * (best - first) < last - best)
        size += measure(pieces[first - 1 if up else last + 1])
        if size > room:
            break
        first, last = (first - 1, last) if up else (first, last + 1)
    shown = "".join(pieces[first : last + 1]).strip("\n")
    head = f"{LEFT_OUT}\n" if first > 0 else ""
    tail = f"\n{LEFT_OUT}" if last + 1 < len(pieces) else ""
    return f"{head}{shown}{tail}"


def _pieces(text: str, longest: int) -> list[str]:
    """Lines with their ends; one that is too long is cut at spaces."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        while len(line) > longest:
            at = line.rfind(" ", 0, longest) + 1 or longest
            pieces.append(line[:at])
            line = line[at:]  # noqa: PLW2901 - what is left of it
        pieces.append(line)
    return pieces


def _weight(piece: str, terms: Terms) -> float:
    words: Sequence[Sequence[str]] = terms.words
    plain = bare(piece)
    return float(sum(any(part in plain for part in word) for word in words))
