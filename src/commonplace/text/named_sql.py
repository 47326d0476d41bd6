"""Queries with names, from the text of a .sql file: SQL stays SQL, and a query is found by what it is called.

A block begins with `-- name: word` and goes on to the next; what stands before the first is a comment on the file.
"""

from __future__ import annotations

_MARK = "-- name:"


def parse_queries(text: str) -> dict[str, str]:
    """The queries of a file by name, in its order. A file that cannot be meant so is a ValueError: it ships with us."""
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
