"""Named queries: each block of a .sql file by its name, and files that cannot be meant so are refused."""

from __future__ import annotations

import pytest

from commonplace.text.named_sql import parse_queries


def test_blocks_by_name() -> None:
    """A block goes to the next name, comments in it stay, and the order is that of the file."""
    text = "-- About.\n\n-- name: b\nSELECT 1;\n\n--name: no\n-- why\n-- name: a_2  \r\nSELECT\r\n  2\n"
    assert list(parse_queries(text).items()) == [("b", "SELECT 1;\n\n--name: no\n-- why"), ("a_2", "SELECT\n  2")]
    assert parse_queries("") == parse_queries("-- only a comment") == {}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "SELECT 1;\n-- name: a\nSELECT 2",
        "-- name: a\n",
        "-- name: a\n-- name: b\nSELECT 1",
        "-- name: a\n-- nothing\n",
        "-- name: a\nSELECT 1\n-- name: a\nSELECT 2",
    ],
)
def test_what_cannot_be_meant(text: str) -> None:
    """SQL without a name, a name without SQL and a name given twice are errors."""
    with pytest.raises(ValueError, match=r"SQL before|is empty|two queries"):
        parse_queries(text)
