"""A small book for the tools: an agent's, with a project, and nothing of the machine's own settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Book


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book.open(tmp_path / "book", project="acme/app", agent="scout", session="s1", role="agent") as book:
        yield book
