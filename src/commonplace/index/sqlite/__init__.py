"""The index in SQLite: the default on one machine. Derived: delete the file, and it is built again from the notes."""

from commonplace.index.sqlite.database import SqliteIndex

__all__ = ["SqliteIndex"]
