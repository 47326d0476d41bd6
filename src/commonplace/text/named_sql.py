"""Queries with names, from the text of a .sql file: SQL stays SQL, and a query is found by what it is called.

A block begins with `-- name: word` and goes on to the next; what stands before the first is a comment on the file.
"""

from __future__ import annotations

import re

from commonplace.model.patterns import lazy

_NAME = lazy(r"^-- name: *([A-Za-z_][A-Za-z0-9_]*) *$", re.MULTILINE)


def parse_queries(text: str) -> dict[str, str]:
    """The queries of a file by name, in its order. A file that cannot be meant so is a ValueError: it ships with us."""
    head, *parts = _NAME.split(text.replace("\r\n", "\n"))
    if _without_comments(head):
        raise ValueError("SQL before the first name")
    found: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if name in found:
            raise ValueError(f"two queries are named {name}")
        if not _without_comments(body):
            raise ValueError(f"the query {name} is empty")
        found[name] = body.strip()
    return found


def _without_comments(sql: str) -> str:
    return re.sub(r"^\s*--.*$", "", sql, flags=re.MULTILINE).strip()
