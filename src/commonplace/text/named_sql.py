"""Parse .sql files with named queries: SQL stays SQL, and the databases look queries up by name.

A query begins with a line `-- name: word` and ends at the next such line. Before the first there are only comments.
"""

from __future__ import annotations

_MARK = "-- name:"


def parse_queries(text: str) -> dict[str, str]:
    """Return the queries of a file by name, in order; raises ValueError for a malformed file."""
    blocks: list[tuple[str, list[str]]] = [("", [])]
    for line in text.replace("\r\n", "\n").split("\n"):
        name = line[len(_MARK) :].strip(" ") if line.startswith(_MARK) else ""
        if name.isidentifier() and name.isascii():
            blocks.append((name, []))
        else:
            blocks[-1][1].append(line)
    if not _is_comment(blocks[0][1]):
        raise ValueError("SQL before the first name")
    found: dict[str, str] = {}
    for name, lines in blocks[1:]:
        if name in found:
            raise ValueError(f"two queries are named {name}")
        if _is_comment(lines):
            raise ValueError(f"the query {name} is empty")
        found[name] = "\n".join(lines).strip()
    return found


def _is_comment(lines: list[str]) -> bool:
    return all(line.lstrip().startswith("--") or not line.strip() for line in lines)
