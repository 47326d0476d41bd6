"""The schema as the file has it is the schema as the index checks it."""

from __future__ import annotations

from pathlib import Path

from commonplace.index.sqlite import SqliteIndex
from commonplace.model.scope import LOCAL


def test_a_sound_index_is_not_moved_aside(tmp_path: Path) -> None:
    """Building an index anew in its own file leaves no other file behind: it was sound."""
    index = SqliteIndex(tmp_path / "index.db")
    with index.begin_anew(LOCAL):
        pass
    index.close()
    assert [path.name for path in tmp_path.iterdir() if "unusable" in path.name] == []
