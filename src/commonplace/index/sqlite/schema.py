"""What tells our index file from any other, and the named queries of this room."""

from __future__ import annotations

import os

from commonplace.text.named_sql import parse_queries

APPLICATION_ID = 0x436F6D50  # "ComP": tells our file from any other database
VERSION = 6  # of the schema. One of before is not migrated: everything in it can be read again from the files


def named(file: str) -> dict[str, str]:
    """The queries of one of this room's .sql files."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as text:
        return parse_queries(text.read())
