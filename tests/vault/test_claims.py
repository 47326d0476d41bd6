"""Two machines on a file system whose locks exclude nobody: no acknowledged write is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.book import Book
from commonplace.memories import layout, lifecycle
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import LockTimeout
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import LOCAL
from commonplace.text.notes import parse
from commonplace.vault import claims, local
from commonplace.vault.disk_port import DiskFolder, LockFile
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, KEEPER, LOCKS, BookPath
from commonplace.vault.port import Write
from tests.crash.ops import FOLDER, open_keep
from tests.crash.simdisk import SimDisk, SimFolder, SimLock
from tests.depth import DEPTH, depths

HOLDER = "/.commonplace/locks/global.holder"


class FreeLock(SimLock):
    """A lock that everyone gets who asks."""

    def try_hold(self) -> bool:
        return True

    def release(self) -> None:
        pass


class FreeFolder(SimFolder):
    """A folder whose lock files lock nothing."""

    def open_folder(self, name: str) -> SimFolder:
        return FreeFolder(self._disk, super().open_folder(name)._number)

    def open_lock(self, name: str) -> LockFile:
        super().open_lock(name)
        return FreeLock(self._disk, self._node(name), name)


class FreeDisk(SimDisk):
    """A disk of the network without working locks."""

    def open(self, parts: Sequence[str]) -> DiskFolder:
        folder: SimFolder = FreeFolder(self, 1)
        for name in parts:
            folder = folder.open_folder(name)
        return folder


@contextmanager
def machine(name: str) -> Iterator[None]:
    """Be another machine, as far as locks can tell."""
    with mock.patch.object(local, "this_machine", lambda: f"host={name} boot={name}-1"):
        yield


def append(store: MemoryStore, text: str) -> None:
    with store.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.store(unit, "shared", Entry("", text, trust=Trust.AGENT), lifecycle.Labels())
        unit.commit()


def texts(disk: SimDisk) -> list[str]:
    return [entry.text for entry in parse(disk.files()[f"{FOLDER}/shared.md"]).entries]


@settings(max_examples={"": 60, "1": 600}.get(DEPTH, 120))
@given(st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_two_machines_without_locks(points: list[int]) -> None:
    """A second machine comes in at any calls of the first one's write, where locks lock nothing: it is refused, or both
    texts are there."""
    disk = FreeDisk()
    one, other = open_keep(disk), open_keep(disk)
    append(one, "start")
    wanted = ["start", "first"]
    disk.calls = 0

    def come_in(_: str, call: int) -> None:
        if call in points:
            with machine("b"):
                try:
                    append(other, f"second {call}")
                    wanted.append(f"second {call}")
                except LockTimeout as error:
                    assert "global is being written by" in error.message

    disk.fault = come_in
    with machine("a"):
        append(one, "first")
    disk.fault = None
    assert sorted(texts(disk)) == sorted(wanted)
    assert HOLDER not in disk.files()


def test_a_claim_that_was_taken_over_is_noticed() -> None:
    """A write whose claim another machine has taken over is refused before anything of it can be seen."""
    disk = FreeDisk()
    store = open_keep(disk)
    append(store, "start")
    with pytest.raises(LockTimeout, match="host=b"), store.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.store(unit, "shared", Entry("", "lost", trust=Trust.AGENT), lifecycle.Labels())
        folder = disk.open(LOCKS.parts)
        folder.remove("global.holder")
        folder.create("global.holder").write(b"pid=1 host=b boot=b-1 since=now\n")
        unit.commit()
    assert texts(disk) == ["start"]
    assert disk.files()[HOLDER].startswith(b"pid=1 host=b")  # theirs stays


@pytest.fixture
def vault(tmp_path: Path) -> LocalVault:
    """A book on a file system of the network, whose locks work among the processes of this machine."""
    vault = LocalVault.at(tmp_path / "book", make=True)
    vault.claim_locks(lambda: True)
    return vault


def leave_claim(tmp_path: Path, line: str, age: float) -> Path:
    """What a machine leaves that died so many seconds ago, while it had the lock."""
    path = tmp_path / "book" / ".commonplace" / "locks" / "global.holder"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    then = path.stat().st_mtime - age
    os.utime(path, (then, then))
    return path


def test_a_live_claim_of_another_machine_is_named(vault: LocalVault, tmp_path: Path) -> None:
    """Where flock excludes only this machine's processes, the claim of another one is respected, and named."""
    left = leave_claim(tmp_path, "pid=7 host=other boot=1234 since=2026-11-15T09:30:00Z x\n", age=50)
    with pytest.raises(LockTimeout, match="pid=7 host=other boot=1234"), vault.lock(LOCAL, "global", 0):
        pass
    assert left.read_text().startswith("pid=7")


@pytest.mark.parametrize("age", [70, 1_000_000])
def test_a_claim_of_a_machine_that_died_is_taken_over(vault: LocalVault, tmp_path: Path, age: float) -> None:
    """A claim that nobody has renewed for more than a minute is taken over, and given back like any other."""
    left = leave_claim(tmp_path, "pid=7 host=other boot=1234 since=2026-11-15T09:30:00Z x\n", age)
    with vault.lock(LOCAL, "global", 0):
        assert "pid=7 " not in left.read_text()
        assert f"pid={os.getpid()} " in left.read_text()
    assert not left.exists()


@pytest.mark.skipif(not Path("/proc/sys/kernel/random/boot_id").exists(), reason="this system does not tell its boots")
def test_a_killed_process_of_this_machine_is_not_waited_for(vault: LocalVault, tmp_path: Path) -> None:
    """This machine's lock is free, so the process of this machine that made the claim is gone: it is taken over now."""
    left = leave_claim(tmp_path, f"pid=7 {local.this_machine()} since=2026-11-15T09:30:00Z x\n", age=0)
    with vault.lock(LOCAL, "global", 0):
        pass
    assert not left.exists()


def test_an_old_claim_is_renewed_before_anything_is_visible(
    vault: LocalVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that takes long has a fresh claim when it becomes visible, so nobody takes it over in the middle."""
    monkeypatch.setattr(claims, "_RENEW_AFTER", -1.0)
    with vault.lock(LOCAL, "global", 0):
        held = tmp_path / "book" / ".commonplace" / "locks" / "global.holder"
        os.utime(held, (1, 1))
        vault.apply(LOCAL, KEEPER, [Write(BookPath("data", "a.md"), b"x")])
        assert held.stat().st_mtime > 1


def test_no_claims_on_a_disk_of_this_machine(tmp_path: Path) -> None:
    """A local disk that locks has no claims: nothing is created or removed for a lock."""
    vault = LocalVault.at(tmp_path / "book", make=True)
    with vault.lock(LOCAL, "global", 0):
        assert os.listdir(tmp_path / "book" / ".commonplace" / "locks") == ["global.lock"]
    line = (tmp_path / "book" / ".commonplace" / "locks" / "global.lock").read_text()
    assert line[21:].startswith(f"pid={os.getpid()} {local.this_machine()} since=")
    assert vault.can_lock(LOCAL)


def test_a_book_on_the_network_has_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A book that is opened on NFS excludes other machines while it writes, and leaves nothing behind."""
    seen: list[bool] = []
    monkeypatch.setattr(layout, "_file_system", lambda _: "nfs4")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Book.open(tmp_path / "book", project="acme/app") as book:
        locks = tmp_path / "book" / ".commonplace" / "locks"
        confirm = claims.Claim.confirm

        def look(self: claims.Claim) -> bytes | None:
            seen.append(any(locks.glob("*.holder")))
            return confirm(self)

        with mock.patch.object(claims.Claim, "confirm", look):
            book.store("Use pytest.", key="tests")
    assert seen and all(seen)
    assert not list(locks.glob("*.holder")) and not list(locks.glob(".cp-*"))


def no_flock(patches: ExitStack) -> None:
    fcntl = pytest.importorskip("fcntl")
    patches.enter_context(mock.patch.object(fcntl, "flock", lambda fd, operation: None))


def test_status_says_that_nothing_locks(tmp_path: Path) -> None:
    """`status` says so where locks exclude nobody, whether or not this process has written before."""
    with ExitStack() as patches, Book.open(tmp_path / "book", project="acme/app") as book:
        assert book.status().can_lock
        no_flock(patches)
        patches.enter_context(mock.patch.object(book.context.memories.vault, "_locks", _fresh_locks(book)))
        assert not book.status().can_lock
        book.store("Use pytest.", key="tests")
        assert not book.status().can_lock


def _fresh_locks(book: Book) -> object:
    vault = book.context.memories.vault
    assert isinstance(vault, LocalVault)
    return type(vault._locks)(vault._open_lock, vault._lock_folder)


HOST = """
import fcntl, sys
import commonplace.vault.local as local
root, name, count, status = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
fcntl.flock = lambda fd, operation: None
local.this_machine = lambda: f"host={name} boot={name}"
if status:
    from commonplace.cli.main import main
    sys.exit(main(["status", "--root", root]))
from commonplace.book import Book
print("ready", flush=True)
sys.stdin.readline()
with Book.open(root, project="acme/app") as book:
    for number in range(count):
        book.store(f"{name} says {number}.", key="shared")
        print(f"{name} says {number}.", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="flock")
@pytest.mark.parametrize("count", depths(12, 200))
def test_two_hosts_hammer_one_memory(tmp_path: Path, count: int) -> None:
    """Two processes with other host names, in both of which flock does nothing, append to one memory at once: every
    acknowledged text is there, and `status` says that nothing locks."""
    root = tmp_path / "book"
    Book.init(root)
    with Book.open(root, project="acme/app") as book:
        book.store("start", key="shared")
    environment = {**os.environ, "COMMONPLACE_LOCK_TIMEOUT": "300"}
    commands = [[sys.executable, "-c", HOST, str(root), name, str(count)] for name in "ab"]
    said: list[str] = []
    with ExitStack() as stack:
        hosts = [
            stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            )
            for command in commands
        ]
        assert [host.stdout.readline() for host in hosts if host.stdout] == ["ready\n"] * 2
        for host in hosts:
            assert host.stdin is not None
            host.stdin.write("go\n")
            host.stdin.flush()
        for host in hosts:
            assert host.stdout is not None
            said += host.stdout.read().splitlines()
    assert len(said) == 2 * count
    (note,) = root.glob("memories/project/*/shared.md")
    assert sorted(entry.text for entry in parse(note.read_bytes()).entries) == sorted([*said, "start"])
    assert not list(root.rglob("*.holder"))
    done = subprocess.run(
        [sys.executable, "-c", HOST, str(root), "a", "0", "status"], capture_output=True, text=True, check=True
    )
    assert "this file system does not lock: use the book from one machine at a time" in done.stdout
