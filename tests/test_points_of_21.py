"""The table of what issue 21 had to mend (`points_of_21.md`) names tests that exist, and has every point."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TABLE = Path(__file__).with_name("points_of_21.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([CD]\d+) \| (.*?) \| (.*) \|$", TABLE, re.M)
POINTS = [*(f"C{number}" for number in range(1, 8)), *(f"D{number}" for number in range(1, 13))]


def test_every_point_has_a_row() -> None:
    """The points are those of the findings, in their order, and each row names at least one test."""
    assert list(dict.fromkeys(point for point, _, _ in ROWS)) == POINTS
    assert all("::" in shown for _, _, shown in ROWS)


def test_every_test_of_the_table_exists() -> None:
    """Each test that the table names is a function of the file that it names, so that a new name cannot leave it."""
    root = Path(__file__).parents[1]
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TABLE)
    assert len(named) == TABLE.count("::")
    for path, name in named:
        tree = ast.parse((root / path).read_text("utf-8"))
        known = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert name in known, f"{path}::{name}"
