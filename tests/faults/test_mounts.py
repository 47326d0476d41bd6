"""Reading on real disks: full to the last block, with blocks smaller than a page of memory, and without inodes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import StorageError
from tests.cli.calls import process
from tests.crash.diskfull import _fill_blocks, _fill_inodes
from tests.crash.mounts import Ext4, Unavailable, small_ext4
from tests.hooks.hooking import process as hook_process
from tests.hooks.hooking import text_of

pytestmark = pytest.mark.root
COMMANDS = (("recall", "zebra"), ("list",), ("show", "zebra"), ("timeline",), ("brief",), ("status",), ("doctor",))


@pytest.fixture(params=["1024", "4096"])
def disk(request: pytest.FixtureRequest) -> Iterator[Ext4]:
    """A small disk, with blocks of this size, and a book on it."""
    try:
        with small_ext4(8, "-m", "0", "-b", request.param, "-N", "512") as system:
            with Book.open(f"{system.place}/book", role="person") as book:
                book.store("The zebra is striped.", key="zebra", scope="global")
            yield system
    except Unavailable as reason:
        pytest.skip(str(reason))


def expect_answers(root: Path) -> None:
    """Every command that reads answers in a process of its own, and the index is not taken for damaged."""
    for words in COMMANDS:
        said = process(*words, "--root", str(root))
        assert said.status == 0, (words, said)
        if words[0] in ("recall", "list", "show", "timeline", "brief"):
            assert "The zebra is striped." in said.out, (words, said)
    assert not [name for name in os.listdir(root / ".commonplace") if "unusable" in name]


@pytest.mark.deep
@pytest.mark.parametrize("left", [0, pytest.param(20, id="20 KiB")])
def test_a_disk_that_is_full(disk: Ext4, left: int) -> None:
    """A full disk is read, whatever the size of its blocks; where SQLite's shared memory has no room, no signal ends
    the process; a store is refused, and accepted once there is room."""
    root = Path(disk.place) / "book"
    _fill_blocks(disk, f"{disk.place}/ballast", left)
    expect_answers(root)
    said = process("store", "No room. " * 9_000, "--key", "refused", "--root", str(root))
    assert said.status == 53 and "[disk_full]" in said.err, said
    shutil.rmtree(f"{disk.place}/ballast")
    assert process("store", "Room again.", "--key", "room", "--root", str(root)).status == 0


@pytest.mark.deep
def test_a_disk_without_inodes(disk: Ext4) -> None:
    """A disk on which no file can be made is read."""
    _fill_inodes(disk, f"{disk.place}/ballast", 0)
    expect_answers(Path(disk.place) / "book")


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_hook_on_a_disk_that_takes_nothing(how: str, disk: Ext4) -> None:
    """On a full disk and on a read-only one every hook ends with 0 and no complaint, the agent gets its brief, and
    nobody is nudged to save on the read-only one."""
    root = Path(disk.place) / "book"
    if how == "full":
        _fill_blocks(disk, f"{disk.place}/ballast", 0)
    else:
        subprocess.run(["mount", "-o", "remount,ro", disk.place], check=True)
    said = {"session_id": "s1", "cwd": "/", "source": "startup", "prompt": "Remember the zebra: is it striped?"}
    for event in ("session-start", "prompt", "stop", "pre-compact"):
        done = hook_process(root, [event, "--host", "claude-code"], json.dumps(said).encode())
        assert (done.returncode, done.stderr) == (0, b"")
        if event == "session-start":
            assert "The zebra is striped." in text_of(done.stdout)
        assert how == "full" or "Worth saving" not in text_of(done.stdout)


def test_a_disk_that_fills_up_under_an_open_book(disk: Ext4) -> None:
    """A book that is open while its disk becomes full goes on answering, with what others change; it says why it could
    not keep the index, and keeps it again once there is room."""
    root = Path(disk.place) / "book"
    with Book.open(root, role="person") as book:
        assert [item.key for item in book.list()] == ["zebra"]
        (root / "memories" / "global" / "emu.md").write_text("The emu is new.\n", encoding="utf-8")
        _fill_blocks(disk, f"{disk.place}/ballast", 0)
        with Book.open(root, role="person") as other:
            assert [item.key for item in other.list()] == ["emu", "zebra"] and "is full" in other.notice
            with pytest.raises(StorageError):
                other.store("No room. " * 9_000, key="refused", scope="global")
            shutil.rmtree(f"{disk.place}/ballast")
            assert other.store("Room again.", key="room", scope="global").action == "created"
            assert {item.key for item in other.list()} >= {"emu", "room", "zebra"} and not other.notice
            assert other.verify().ok
