"""How hits are shown: by recall and by the timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.cli.screen import Screen, minute, shown
from commonplace.model.results import Hit, HitKind
from commonplace.recall.ranking import ADJUSTMENT_BOUNDS

_MARKS = {
    "superseded": "superseded, a quarter of that",
    "corrects": "before an older one about the same",
    "named": "before what is like it and not named",
    "copy": "later, as a copy",
}


def show_hits(screen: Screen, hits: Sequence[Hit], explained: Sequence[Mapping[str, float]] = ()) -> None:
    for number, hit in enumerate(hits):
        source = [
            hit.scope if hit.kind is HitKind.MEMORY else hit.kind.value,
            shown(minute(hit.time_start)),
            *([shown(hit.author)] if hit.author else []),
        ]
        source += ["from outside"] if hit.trust == "external" else []
        source += [hit.mark] if hit.mark else []
        screen.line(f"{screen.paint(shown(hit.key), 'name')}  {screen.paint('  '.join(source), 'weak')}")
        screen.block(hit.text)
        if number < len(explained):
            screen.line(f"  {screen.paint(_why(hit, explained[number]), 'weak')}")


def _why(hit: Hit, parts: Mapping[str, float]) -> str:
    """What a score is made of, and what else gave the hit its place."""
    if not parts:
        return "no score: in order of time, or of what --sort says"
    added = [name for name in parts if name not in ("relevance", *ADJUSTMENT_BOUNDS, *_MARKS)]
    made = " + ".join(f"{name} {parts[name]:.3f}" for name in added)
    moved = ", ".join(f"{name} {100 * parts[name]:+.1f}%" for name in ADJUSTMENT_BOUNDS)
    marks = "".join(f"; {words}" for name, words in _MARKS.items() if name in parts)
    return f"score {hit.score:.3f}: {made or '0'} = relevance {parts['relevance']:.3f}; {moved}{marks}"
