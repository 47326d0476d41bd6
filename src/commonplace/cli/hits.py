"""How hits are shown: by recall and by the timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.cli.screen import Screen, minute, shown
from commonplace.model.hits import Hit, HitKind


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
            parts = "  ".join(f"{name} {value:+.3f}" for name, value in explained[number].items())
            screen.line(f"  {screen.paint(f'score {hit.score:.3f}  {parts}', 'weak')}")
