"""A file that is damaged, not ours or gone: it is kept under another name, and the state goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.model.scope import LOCAL
from commonplace.state.sqlite import SqliteState
from tests.state.conformance import BORN, at
from tests.state.files import aside, filled, opened, query


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def _header(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4080 + path.read_bytes()[4096:])


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _foreign(path: Path) -> None:
    path.unlink()
    query(path, "CREATE TABLE cookies AS SELECT 'theirs' AS value")


def _foreign_with_our_version(path: Path) -> None:
    _foreign(path)
    query(path, "PRAGMA user_version = 1")


def _link(path: Path) -> None:
    path.rename(path.with_name("target"))
    path.symlink_to("target")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [_garbage, _header, _truncated, _foreign, _foreign_with_our_version, _link, _folder])
def test_what_is_no_state_is_moved_aside(
    path: Path, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever stands in the state's place is kept under another name, with a warning, and a new state is begun."""
    filled(path)
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    with caplog.at_level(logging.WARNING, "commonplace.state"), opened(path, created_at=at(0)) as state:
        assert state.created_at(LOCAL) == at(0)
        assert not state.spool_take(LOCAL, "k", 9, at(0), 60)
        state.set_fact(LOCAL, "fact", "new")
    (kept,) = aside(path)
    assert [record.getMessage().split()[:2] for record in caplog.records] == [
        ["event=state_recovered", "reason=not_a_state"]
    ]
    assert (kept.read_bytes() if kept.is_file() else b"") == before
    with opened(path) as state:
        assert state.get_fact(LOCAL, "fact") == "new"
    assert aside(path) == [kept]


def test_bad_files_of_one_second_are_all_kept(path: Path) -> None:
    """Files moved aside in the same second do not replace each other."""
    for number in range(3):
        path.write_bytes(b"garbage %d" % number * 100)
        SqliteState(path).close()
    assert sorted(kept.read_bytes()[:9] for kept in aside(path)) == [b"garbage 0", b"garbage 1", b"garbage 2"]


def test_damage_inside_is_met_later(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Damage that opening does not see is moved aside when a call meets it, and the call succeeds on a new state."""
    data = filled(path)
    with opened(path) as state, caplog.at_level(logging.WARNING, "commonplace.state"):
        path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
        assert len(state.spool_take(LOCAL, "k", 100, at(0), 60)) in (0, 50)
        made = state.spool_put(LOCAL, "k", "after", at(0))
        assert made in {item.id for item in state.spool_take(LOCAL, "k", 100, at(0), 60)}
        assert state.created_at(LOCAL) != BORN
    assert len(aside(path)) == 1
    assert "reason=corrupt" in caplog.text


def _cut(path: Path) -> None:
    path.write_bytes(b"")


def _barely_begun(path: Path) -> None:
    path.unlink()
    query(path, "PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0


@pytest.mark.parametrize("spoil", [_cut, _barely_begun])
def test_an_empty_file_becomes_a_state(path: Path, spoil: Callable[[Path], None]) -> None:
    """A file cut to nothing, or left empty by a process killed while it began, is begun; there is nothing to keep."""
    filled(path)
    spoil(path)
    with opened(path, created_at=at(0)) as state:
        assert state.created_at(LOCAL) == at(0)
    assert aside(path) == []


@pytest.mark.parametrize("there", [False, True])
def test_a_log_without_its_file_is_kept_apart(path: Path, there: bool) -> None:
    """Leftovers of a state whose file was deleted or cut to nothing are moved aside, never mixed into the new one."""
    if there:
        path.touch()
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(f"state.db{end}").write_bytes(b"left over")
    with opened(path) as state:
        state.set_fact(LOCAL, "a", "x")
    assert [kept.name.rsplit("Z", 1)[1] for kept in aside(path)] == ["-journal", "-shm", "-wal"]


def test_deleted_while_open(path: Path) -> None:
    """A state deleted while it is in use is begun anew by the next call or open, and what is put after that is kept."""
    with opened(path, created_at=BORN) as state:
        state.spool_put(LOCAL, "k", "lost", at(0))
        path.unlink()
        with opened(path, created_at=at(7)) as other:
            assert not other.spool_take(LOCAL, "k", 9, at(0), 60)
            state.spool_put(LOCAL, "k", "kept", at(0))
            assert [item.payload for item in other.spool_take(LOCAL, "k", 9, at(0), 60)] == ["kept"]
            assert state.created_at(LOCAL) == at(7)
    with opened(path) as state:
        assert len(state.spool_take(LOCAL, "k", 9, at(60), 60)) == 1
