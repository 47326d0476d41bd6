"""The generated documents say what the code says."""

from __future__ import annotations

import json
import re

import pytest

from commonplace.cli.run import command_names
from tools import make_docs

MADE = ["cli-schemas.json", "cli.md", "errors.md", "hosts.md", "run-manifest.schema.json", "tools.md"]


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return make_docs.documents()


@pytest.mark.parametrize("name", MADE)
def test_the_committed_document_is_what_the_code_makes(name: str, made: dict[str, str]) -> None:
    """Each generated file is, to the byte, what `make docs-write` would write."""
    committed = (make_docs.DOCS / name).read_text(encoding="utf-8")
    assert committed == made[name], f"docs/{name} is old: run `make docs-write`"


def test_every_document_that_is_made_is_compared(made: dict[str, str]) -> None:
    """No generated file can be forgotten in the comparison above."""
    assert sorted(made) == MADE


def test_every_command_has_its_section_and_its_schema(made: dict[str, str]) -> None:
    """The page and the schemas name every command, each once, in the order of the overview."""
    there = command_names()
    sections = re.findall(r"^## ([a-z -]+)$", made["cli.md"], re.M)
    assert sections == there
    assert list(json.loads(made["cli-schemas.json"])["commands"]) == there


def test_the_exit_table_is_complete(made: dict[str, str]) -> None:
    """Every exit status of an error is in the first table, once, and so are those of the command line itself."""
    table = made["errors.md"].split("## Codes")[0]
    statuses = [int(word) for word in re.findall(r"^\| (\d+) \|", table, re.M)]
    coded = {cls.exit_code for cls in make_docs.all_errors()}
    assert sorted(statuses) == sorted({0, 1, 2, 10, 130} | coded)
