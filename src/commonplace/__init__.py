"""Commonplace: durable memory for AI agents, kept as Markdown on the user's own disk."""

from importlib import import_module

from commonplace.model import VERSION

TYPE_CHECKING = False  # as in typing, which takes a third of `commonplace --version` to load
if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.context.coordinator import MEMORY_TURNS, brief_task, coordinator_preamble
    from commonplace.guard.protocol import Tracker
    from commonplace.verbs.toolset import toolset

__version__ = VERSION
__all__ = ["MEMORY_TURNS", "Book", "Tracker", "__version__", "brief_task", "coordinator_preamble", "toolset"]
_MODULES = {
    "Book": "book",
    "Tracker": "guard.protocol",
    "toolset": "verbs.toolset",
    **dict.fromkeys(("MEMORY_TURNS", "brief_task", "coordinator_preamble"), "context.coordinator"),
}


def __getattr__(name: str) -> object:
    """Load what is asked for when it is: a start that only wants the version pays for nothing else."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"commonplace.{_MODULES[name]}"), name)
