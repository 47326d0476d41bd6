"""Commonplace: durable memory for AI agents, kept as Markdown on the user's own disk."""

from commonplace.model.version import VERSION

TYPE_CHECKING = False  # as in typing, which takes a third of `commonplace --version` to load
if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.context.coordinator import MEMORY_TURNS, brief_task, coordinator_preamble
    from commonplace.tools import toolset

__version__ = VERSION
__all__ = ["MEMORY_TURNS", "Book", "__version__", "brief_task", "coordinator_preamble", "toolset"]


def __getattr__(name: str) -> object:
    """Load what is asked for when it is: a start that only wants the version pays for nothing else."""
    if name == "Book":
        from commonplace.book import Book  # noqa: PLC0415 - see above

        return Book
    if name in ("MEMORY_TURNS", "brief_task", "coordinator_preamble"):
        from commonplace.context import coordinator  # noqa: PLC0415 - see above

        return getattr(coordinator, name)
    if name == "toolset":
        from commonplace.tools import toolset  # noqa: PLC0415 - see above

        return toolset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
