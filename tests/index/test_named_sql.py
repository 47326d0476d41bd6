"""Named queries: each block of a .sql file by its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import commonplace
from commonplace.index.sqlite_file import parse_queries


def test_blocks_by_name() -> None:
    """A block goes to the next name, comments in it stay, and the order is that of the file."""
    text = "-- About.\n\n-- name: b\nSELECT 1;\n\n--name: no\n-- why\n-- name: a_2  \nSELECT\n  2\n"
    assert list(parse_queries(text).items()) == [("b", "SELECT 1;\n\n--name: no\n-- why"), ("a_2", "SELECT\n  2")]
    assert parse_queries("") == parse_queries("-- only a comment") == {}


@pytest.mark.parametrize("path", [*Path(commonplace.__file__).parent.rglob("*.sql")], ids=str)
def test_no_name_is_given_twice(path: Path) -> None:
    """Each query of our own files has a name of its own: of two, only the last would be found."""
    text = path.read_text("utf-8")
    assert len(parse_queries(text)) == len(re.findall(r"^-- name:", text, re.M))
