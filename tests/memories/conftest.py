"""What tests of keeping start from: a book in memory and one on disk, with a clock that can be read."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.index.sqlite import SqliteIndex
from commonplace.memories.layout import new_key_writes
from commonplace.memories.store import MemoryStore
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER
from commonplace.vault.port import Vault
from tests.vault.memory import MemoryVault


@pytest.fixture(params=["disk", "memory"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    vault = LocalVault.at(tmp_path / "book", make=True) if request.param == "disk" else MemoryVault()
    vault.apply(LOCAL, KEEPER, new_key_writes())
    return vault


@pytest.fixture
def clock() -> Callable[[], str]:
    """A clock that goes on by a second each time it is read."""
    seconds = itertools.count()
    return lambda: f"2026-11-15T09:{next(seconds) // 60:02d}:{next(seconds) % 60:02d}Z"


@pytest.fixture
def keep(vault: Vault, clock: Callable[[], str]) -> MemoryStore:
    return MemoryStore(vault, SqliteIndex(":memory:"), clock=clock)
