"""How lists of memories are shown: by list and related."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.cli.screen import Screen, minute
from commonplace.model.results import MemoryItem


def show_list(screen: Screen, memories: Sequence[MemoryItem]) -> None:
    rows = [
        (item.key, item.scope, item.type if item.status == "active" else item.status, minute(item.updated),
         item.shown_summary)
        for item in memories
    ]  # fmt: skip
    screen.table(("KEY", "SCOPE", "TYPE", "UPDATED", "SUMMARY"), rows, ("name", "weak", "weak", "weak"))
