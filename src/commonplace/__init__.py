"""Commonplace: durable memory for AI agents, kept as Markdown on the user's own disk."""

__version__ = "0.1.0.dev0"
__all__ = ["__version__"]
