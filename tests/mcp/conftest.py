"""What tests of the MCP server share: a place for a book, and one server that harmless tests may use together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.raw import Raw


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "book"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raw]:
    """A server of the 2025 era that the tests of one module take turns with."""
    root = tmp_path_factory.mktemp("shared") / "book"
    with Raw(root, "--project", "acme/app", "--agent", "scout", "--protocol", "off") as raw:
        yield raw
