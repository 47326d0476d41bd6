"""Commonplace: durable memory for AI agents, kept as Markdown on the user's own disk."""

from typing import TYPE_CHECKING

from commonplace.model.version import VERSION

if TYPE_CHECKING:
    from commonplace.book import Book

__version__ = VERSION
__all__ = ["Book", "__version__"]


def __getattr__(name: str) -> object:
    """Load the book when it is asked for: a start that only wants the version pays for nothing else."""
    if name == "Book":
        from commonplace.book import Book  # noqa: PLC0415 - see above

        return Book
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
