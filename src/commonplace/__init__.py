"""Commonplace: durable memory for AI agents, kept as Markdown on the user's own disk."""

from typing import TYPE_CHECKING

from commonplace.model.version import VERSION

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.tools import toolset

__version__ = VERSION
__all__ = ["Book", "__version__", "toolset"]


def __getattr__(name: str) -> object:
    """Load what is asked for when it is: a start that only wants the version pays for nothing else."""
    if name == "Book":
        from commonplace.book import Book  # noqa: PLC0415 - see above

        return Book
    if name == "toolset":
        from commonplace.tools import toolset  # noqa: PLC0415 - see above

        return toolset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
