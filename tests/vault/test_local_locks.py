"""Locks between processes: who holds one is named, a killed holder is not in the way, a fork shares nothing."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.model.errors import LockTimeout, LockUnsupported
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, BookPath
from commonplace.vault.port import Write

START = """
import os, signal, sys
from commonplace.model.errors import LockTimeout
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault

vault = LocalVault.at(sys.argv[1])

def attempt():
    try:
        with vault.lock(LOCAL, "global", 0):
            return "held"
    except LockTimeout:
        return "refused"
"""
HOLD = (
    START
    + """
with vault.lock(LOCAL, "global", 0):
    print("held", flush=True)
    sys.stdin.readline()
"""
)
FORK_WHILE_HELD = (
    START
    + """
with vault.lock(LOCAL, "global", 0):
    child = os.fork()
    if not child:
        print(attempt(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(attempt(), flush=True)
"""
)
FORK_AFTER_HELD = (
    START
    + """
attempt()
ready, held = os.pipe()
child = os.fork()
if child:
    with vault.lock(LOCAL, "global", 0):
        os.write(held, b"x")
        os.waitpid(child, 0)
else:
    os.read(ready, 1)
    print(attempt(), flush=True)
    os._exit(0)
"""
)
KILLED_BESIDE_A_CHILD = (
    START
    + """
with vault.lock(LOCAL, "global", 0):
    if not os.fork():
        print(attempt(), flush=True)
        sys.stdin.readline()  # lives on when the parent is gone
        os._exit(0)
    signal.pause()
"""
)


@pytest.fixture
def vault(tmp_path: Path) -> LocalVault:
    return LocalVault.at(tmp_path / "book", make=True)


@contextmanager
def process(script: str, root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process with the book open; its input ends when the test does."""
    arguments = [sys.executable, "-c", script, str(root)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            assert started.stdin is not None
            started.stdin.close()
            started.wait(60)


def line(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline().strip()


def test_a_holder_in_another_process_is_named(vault: LocalVault, tmp_path: Path) -> None:
    """Who waits in vain for another process is told its id, and how long it waited; reading goes on."""
    path = BookPath("data", "a.md")
    vault.apply(LOCAL, EVERYTHING, [Write(path, b"x")])
    with process(HOLD, tmp_path / "book") as holder:
        assert line(holder) == "held"
        with pytest.raises(LockTimeout) as waited, vault.lock(LOCAL, "global", 0.01):
            pass
        assert f"pid={holder.pid} " in waited.value.message
        assert "global" in waited.value.message
        assert "0.01 s" in waited.value.message
        assert str(tmp_path) not in waited.value.message
        assert vault.read(LOCAL, EVERYTHING, path).data == b"x"
    with vault.lock(LOCAL, "global", 60) as held:
        assert held.generation == 2


def test_a_killed_holder_is_not_in_the_way(vault: LocalVault, tmp_path: Path) -> None:
    """SIGKILL frees the lock, and the count of holds goes on."""
    with process(HOLD, tmp_path / "book") as holder:
        assert line(holder) == "held"
        holder.kill()
        holder.wait(60)
        with vault.lock(LOCAL, "global", 0) as held:
            assert held.generation == 2


def test_two_vaults_of_one_process(vault: LocalVault, tmp_path: Path) -> None:
    """A second open book in the same process is another writer, and counts on where the first one was."""
    other = LocalVault.at(tmp_path / "book")
    with vault.lock(LOCAL, "global", 0), pytest.raises(LockTimeout), other.lock(LOCAL, "global", 0):
        pass
    with other.lock(LOCAL, "global", 0) as held:
        assert held.generation == 2


def test_a_deleted_lock_file(vault: LocalVault, tmp_path: Path) -> None:
    """Whoever still has the deleted file open does not take it for the lock that somebody else holds now."""
    with vault.lock(LOCAL, "global", 0):
        pass
    (tmp_path / "book" / ".commonplace" / "locks" / "global.lock").unlink()
    other = LocalVault.at(tmp_path / "book")
    with other.lock(LOCAL, "global", 0), pytest.raises(LockTimeout), vault.lock(LOCAL, "global", 0):
        pass
    with vault.lock(LOCAL, "global", 0), pytest.raises(LockTimeout), other.lock(LOCAL, "global", 0):
        pass


@pytest.mark.parametrize("text", [b"", b"garbage\xff\0", b"9" * 400, b"00000000000000000007 \x1b[31mred"])
def test_a_damaged_lock_file(vault: LocalVault, tmp_path: Path, text: bytes) -> None:
    """Whatever a lock file says, it can be taken, counts on from a number, and its text is shown only if it can be."""
    locks = tmp_path / "book" / ".commonplace" / "locks"
    locks.mkdir(parents=True)
    (locks / "global.lock").write_bytes(text)
    with vault.lock(LOCAL, "global", 0) as held:
        (locks / "global.lock").write_bytes(text)
        with pytest.raises(LockTimeout) as waited, LocalVault.at(tmp_path / "book").lock(LOCAL, "global", 0):
            pass
        assert waited.value.message.isprintable()
    with vault.lock(LOCAL, "global", 0) as again:
        assert again.generation > 0
        assert again.generation == held.generation


def test_a_forked_child_does_not_share_the_lock(vault: LocalVault, tmp_path: Path) -> None:
    """A child that is forked under the lock does not hold it, and does not give it back."""
    with process(FORK_WHILE_HELD, tmp_path / "book") as parent:
        assert (line(parent), line(parent)) == ("refused", "held")


def test_parent_and_child_exclude_each_other(vault: LocalVault, tmp_path: Path) -> None:
    """A child that is forked when its parent has the lock file open, but not held, is excluded like any other."""
    with process(FORK_AFTER_HELD, tmp_path / "book") as parent:
        assert line(parent) == "refused"


def test_a_child_does_not_keep_the_lock_of_a_dead_parent(vault: LocalVault, tmp_path: Path) -> None:
    """When the holder is killed, the lock is free, though a child that it forked under the lock lives on."""
    with process(KILLED_BESIDE_A_CHILD, tmp_path / "book") as parent:
        assert line(parent) == "refused"
        parent.kill()
        parent.wait(60)
        with vault.lock(LOCAL, "global", 0) as held:
            assert held.generation == 2


def test_a_file_system_without_locks(vault: LocalVault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where locks are not supported, the error says so instead of going on without one."""
    fcntl = pytest.importorskip("fcntl")

    def no_locks(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(LockUnsupported), vault.lock(LOCAL, "global", 0):
        pass


def test_closing_lets_go_of_files_and_can_be_taken_up_again(vault: LocalVault, tmp_path: Path) -> None:
    """After close the vault has no lock file open, and a later hold opens it again and counts on."""
    with vault.lock(LOCAL, "global", 0):
        vault.close()  # a lock that is held stays so
        with pytest.raises(LockTimeout), LocalVault.at(tmp_path / "book").lock(LOCAL, "global", 0):
            pass
    opened = len(os.listdir("/dev/fd")) if Path("/dev/fd").is_dir() else None
    vault.close()
    if opened is not None:
        assert len(os.listdir("/dev/fd")) == opened - 1
    with vault.lock(LOCAL, "global", 0) as held:
        assert held.generation == 2
