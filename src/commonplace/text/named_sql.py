"""Parse .sql files with named queries: SQL stays SQL, and the databases look queries up by name.

A query begins with a line `-- name: word` and ends at the next such line. Before the first there are only comments.
"""

from __future__ import annotations

import re

from commonplace.model.lazy import lazy

_NAME = lazy(r"^-- name: *(\w+) *$", re.M | re.ASCII)


def parse_queries(text: str) -> dict[str, str]:
    """Return the queries of a file by name, in order."""
    _, *parts = _NAME.split(text)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
