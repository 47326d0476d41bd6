"""What is true of the state in a file only: how it begins, several processes, kill -9, when uses are written."""

from __future__ import annotations

import os
import sqlite3
import stat as st
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from commonplace.model.costs import ModelCost
from commonplace.model.errors import LockTimeout, StateUnusable
from commonplace.model.scope import LOCAL
from commonplace.model.times import is_timestamp
from commonplace.state import database
from commonplace.state import sqlite as sqlite_state
from commonplace.state.port import UseCount
from commonplace.state.sqlite import PendingUses, SqliteState
from tests.state.conformance import BORN, at
from tests.state.files import aside, filled, opened, query

BESIDE_ONLY = {"state.db", "state.db-opening"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def worker(path: Path, verb: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "tests.state.worker", str(path), verb]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_it_outlives_its_process(path: Path) -> None:
    """What was kept is there when the file is opened again, uses that were waiting included, and so is its birth."""
    with opened(path, created_at=BORN) as state:
        state.record_uses(LOCAL, ["a"], at(0))
        state.set_fact(LOCAL, "a", "x")
    with opened(path, created_at=at(0)) as state:
        assert state.usage(LOCAL, ["a"]) == {"a": UseCount(1, at(0))}
        assert state.get_fact(LOCAL, "a") == "x"
        assert state.created_at(LOCAL) == BORN
    assert {item.name for item in path.parent.iterdir()} == BESIDE_ONLY


def test_without_being_told_it_notes_the_time(path: Path) -> None:
    """A state that is given no time of birth takes the clock's."""
    with opened(path) as state:
        assert is_timestamp(state.created_at(LOCAL))


def test_only_its_owner_can_read_it(path: Path) -> None:
    """Every file of the state has mode 0600, a folder made for it 0700, whatever the umask."""
    before = os.umask(0)
    try:
        with opened(path.parent / "made" / "for" / "state.db") as state:
            state.spool_put(LOCAL, "k", "x", at(0))
            files = {item.name: st.S_IMODE(item.stat().st_mode) for item in (path.parent / "made" / "for").iterdir()}
    finally:
        os.umask(before)
    assert files == dict.fromkeys(["state.db", "state.db-opening", "state.db-shm", "state.db-wal"], 0o600)
    assert st.S_IMODE((path.parent / "made").stat().st_mode) == 0o700


def test_how_it_is_written(path: Path) -> None:
    """The journal is a WAL; a lasting connection syncs every commit, and waits for others for five seconds; one that
    writes for a reader does neither."""
    for mode, synchronous, wait in ((database.AccessMode.WRITE, 2, 5000), (database.AccessMode.WRITE_LIGHT, 1, 500)):
        with closing(database.connect(str(path), mode)) as connection:
            pragmas = {"journal_mode": "wal", "synchronous": synchronous, "busy_timeout": wait}
            assert {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas} == pragmas


def test_a_migration_and_its_number_are_one_transaction(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that fails half-way leaves neither its number nor any of its tables, and the state as it was."""
    filled(path)
    scripts = {"good.sql": {"a": "CREATE TABLE good (x)"}, "bad.sql": {"a": "CREATE TABLE half (x)", "b": "NONSENSE"}}
    shipped = database.sql
    monkeypatch.setattr(database, "sql", lambda name: scripts.get(name) or shipped(name))
    monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, "good.sql", "bad.sql"))
    with pytest.raises(StateUnusable):
        SqliteState(path)
    assert query(path, "PRAGMA user_version") == [(3,)]
    assert query(path, "SELECT name FROM sqlite_master WHERE name IN ('good', 'half')") == [("good",)]
    scripts["bad.sql"]["b"] = "CREATE TABLE mended (x)"
    with opened(path) as state:
        assert state.get_fact(LOCAL, "fact") == "kept"
    assert query(path, "PRAGMA user_version") == [(4,)]
    assert aside(path) == []


def test_a_state_of_version_1_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state from before there were costs and jobs keeps what it has, and can keep those."""
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", ("schema.sql",))
        filled(path)
    assert query(path, "PRAGMA user_version") == [(1,)]
    with opened(path) as state:
        assert state.get_fact(LOCAL, "fact") == "kept"
        assert len(state.spool_take(LOCAL, "k", 99, at(100), 60)) == 50
        assert state.claim_job(LOCAL, "job", at(0), 60)
        state.add_cost(LOCAL, ModelCost("2026-11-15", "m", 1, 2, 3, 4))
    with opened(path) as state:
        assert list(state.costs(LOCAL)) == [ModelCost("2026-11-15", "m", 1, 2, 3, 4)]
        assert not state.claim_job(LOCAL, "job", at(59), 60)
    assert aside(path) == []


def test_jobs_that_nobody_asks_for_go(path: Path) -> None:
    """A job that could have been claimed for a month is forgotten with the next claim of any."""
    with opened(path) as state:
        state.fail_job(LOCAL, "old", at(0))
        state.fail_job(LOCAL, "newer", at(86_400))
        assert state.claim_job(LOCAL, "other", at(60 + 30 * 86_400 + 1), 60)
    assert query(path, "SELECT name FROM jobs ORDER BY name") == [("newer",), ("other",)]


def test_a_first_migration_that_fails_begins_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that could not be begun is begun by the next who tries, and nothing is moved aside."""
    shipped = database.sql
    with monkeypatch.context() as patch:
        patch.setattr(database, "sql", lambda name: {**shipped(name), "last": "NONSENSE"})
        with pytest.raises(StateUnusable):
            SqliteState(path)
    assert query(path, "SELECT count(*) FROM sqlite_master") == [(0,)]
    with opened(path, created_at=BORN) as state:
        assert state.created_at(LOCAL) == BORN
    assert query(path, "PRAGMA application_id") == [(database.APPLICATION_ID,)]
    assert aside(path) == []


def test_a_newer_version_is_left_alone(path: Path) -> None:
    """A state of a later Commonplace is an error that says so, and its file stays as it is."""
    filled(path)
    query(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StateUnusable, match="version 99"):
        SqliteState(path)
    assert path.read_bytes() == before
    assert aside(path) == []


@pytest.mark.deep
def test_two_processes_never_lease_the_same(path: Path) -> None:
    """Four processes empty one spool together: each item is leased once, by one of them, and nobody gets an error."""
    with opened(path) as state:
        ids = [state.spool_put(LOCAL, "k", "x", at(0)) for _ in range(200)]
        processes = [worker(path, "take") for _ in range(4)]
        assert [process.stdout.readline() for process in processes if process.stdout] == ["ready\n"] * 4
        for process in processes:
            print(file=process.stdin, flush=True)
        said = [process.communicate() for process in processes]
        assert [errors for _, errors in said] == [""] * 4
        assert sorted(one for output, _ in said for one in output.split()) == sorted(ids)
        left = state.spool_take(LOCAL, "k", 999, at(60), 60)
        assert {item.tries for item in left} == {2}
        assert 0 < len(left) < 200


@pytest.mark.deep
@pytest.mark.parametrize("found", [b"", b"garbage" * 999])
def test_processes_begin_it_together_and_count_no_use_twice(path: Path, found: bytes) -> None:
    """Four processes that begin one state at once, a bad file in its place or not, agree on its birth, move that file
    aside once, and together count one use a minute per ref."""
    path.write_bytes(found)
    processes = [worker(path, "use") for _ in range(4)]
    said = [process.communicate() for process in processes]
    assert ["Traceback" in errors for _, errors in said] == [False] * 4
    assert len({output for output, _ in said}) == 1
    with opened(path) as state:
        counted = state.usage(LOCAL, ["shared", "own-7"])
        assert counted["own-7"] == UseCount(1, at(420))
        assert counted["shared"].last == at(19 * 60)
        assert counted["shared"].times <= 20
    assert [kept.read_bytes() for kept in aside(path)] == ([found] if found else [])


def test_kill_after_a_put(path: Path) -> None:
    """An item whose id was answered is there after its process was killed without warning."""
    process = worker(path, "put")
    assert process.stdout is not None
    made = process.stdout.readline().strip()
    process.kill()
    process.communicate()
    with opened(path) as state:
        (item,) = state.spool_take(LOCAL, "k", 9, at(0), 60)
    assert (item.id, item.payload) == (made, "kept")
    assert aside(path) == []


def test_uses_do_not_wait_for_a_busy_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process keeps the file locked, uses go on being counted; what must be written says who is at fault;
    afterwards nothing is missing."""
    monkeypatch.setattr(database, "WAIT", 0.01)
    refs = [f"r{number}" for number in range(200)]
    with opened(path) as state, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for ref in refs:
            state.record_uses(LOCAL, [ref], at(0))
        assert len(state.usage(LOCAL, refs)) == 200
        with pytest.raises(LockTimeout):
            state.flush()
        with pytest.raises(LockTimeout):
            state.spool_put(LOCAL, "k", "x", at(0))
        other.execute("ROLLBACK")
        state.flush()
        assert query(path, "SELECT count(*) FROM usage") == [(200,)]
        assert not state.spool_take(LOCAL, "k", 9, at(0), 60)


@pytest.mark.parametrize(("uses", "seconds"), [(64, 0), (2, 30), (2, -1)])
def test_when_uses_are_written(path: Path, uses: int, seconds: int) -> None:
    """Uses wait in memory until there are 64, or the first is 30 seconds old, or the clock was set back."""
    with opened(path) as state:
        for number in range(uses - 1):
            state.record_uses(LOCAL, [f"r{number}"], at(0))
        assert query(path, "SELECT count(*) FROM usage") == [(0,)]
        state.record_uses(LOCAL, ["last"], at(seconds))
        assert query(path, "SELECT count(*) FROM usage") == [(uses,)]


def test_uses_that_cannot_be_written_are_given_up_in_the_end() -> None:
    """However long the file stays locked, only the newest few thousand uses wait in memory."""
    uses = PendingUses()
    for number in range(5000):
        uses.add(LOCAL, [f"r{number}"], at(0))
    waiting = [ref for _, ref, _ in uses.waiting()]
    assert waiting == [f"r{number}" for number in range(5000 - 4096, 5000)]


def test_every_query_is_asked() -> None:
    """No query in the .sql file is without a use."""
    source = Path(sqlite_state.__file__).read_text("utf-8")
    assert [name for name in database.sql("queries.sql") if f'"{name}"' not in source] == []


def test_a_purge_leaves_no_trace(path: Path) -> None:
    """The name of a forgotten ref is in none of the state's files any more."""
    with opened(path) as state:
        state.record_uses(LOCAL, ["planted-name", "other"], at(0))
        state.flush()
        state.forget_uses(LOCAL, ["planted-name"])
        assert not [item for item in path.parent.iterdir() if b"planted-name" in item.read_bytes()]
        assert state.usage(LOCAL, ["other"])


def test_after_closing(path: Path) -> None:
    """A closed state answers with a typed error, and counting a use is still no error."""
    state = SqliteState(path)
    state.close()
    state.record_uses(LOCAL, ["a"], at(0))
    for call in (lambda: state.created_at(LOCAL), lambda: state.set_fact(LOCAL, "a", "x"), state.flush):
        with pytest.raises(StateUnusable):
            call()


def test_a_place_that_cannot_be(path: Path) -> None:
    """Below a path through a file nothing was kept, and to keep something there is a typed error."""
    path.write_text("a file")
    with opened(path / "state.db") as state:
        assert state.get_fact(LOCAL, "a") is None
        with pytest.raises(StateUnusable):
            state.set_fact(LOCAL, "a", "x")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_its_own_connections(path: Path) -> None:
    """A child may go on using the state it inherited; it and its parent keep what each of them put."""
    with opened(path) as state:
        state.spool_put(LOCAL, "k", "parent", at(0))
        child = os.fork()
        if child == 0:
            try:
                state.spool_put(LOCAL, "k", "child", at(1))
                state.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        state.spool_put(LOCAL, "k", "after", at(2))
        found = state.spool_take(LOCAL, "k", 9, at(3), 60)
        assert [item.payload for item in found] == ["parent", "child", "after"]
