"""Memories in files: the unit of work over vault and index, their life, pages, history and provenance."""
