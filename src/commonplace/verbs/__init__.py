"""The verbs, by use case. `Book` has one method for each; each module is loaded when it is first used.

A command lives for a tenth of a second, and half of that would be loading what it never uses: `verbs.reading` loads
what a recall needs, and nothing of what a store needs. This table is the one place that imports by name.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.verbs import (
        altering,
        briefing,
        capturing,
        data_files,
        enforcing,
        files,
        import_from,
        opening,
        projects,
        reading,
        recording,
        reporting,
        retiring,
        reviewing,
        searching,
        storing,
        upkeep,
    )

__all__ = [
    "altering", "briefing", "capturing", "data_files", "enforcing", "files", "import_from", "opening", "projects",
    "reading", "recording", "reporting", "retiring", "reviewing", "searching", "storing", "upkeep",
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
