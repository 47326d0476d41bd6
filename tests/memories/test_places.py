"""Where the databases of a book are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonplace.memories import layout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "book" / ".commonplace").mkdir(parents=True)
    return tmp_path / "book"


def folder(root: Path, override: str | None = None) -> str:
    return layout.database_location(str(root), "book-1", override)


def test_a_local_book_has_them_inside(root: Path) -> None:
    """On a local disk that can be written, the databases are in the book."""
    assert folder(root) == str(root / ".commonplace")


def test_an_override_wins_and_is_per_book(root: Path, tmp_path: Path) -> None:
    """COMMONPLACE_STATE names a folder for all books: each has its own below, by its id."""
    assert folder(root, str(tmp_path / "state")) == str(tmp_path / "state" / "book-1")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "9p", "fuse.sshfs"])
def test_a_share_has_them_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A book on a network share keeps its notes there and its databases on this machine."""
    monkeypatch.setattr(layout, "_file_system", lambda _: kind)
    assert folder(root) == os.path.join(layout.user_state(), "book-1")


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse.ntfs-3g", ""])
def test_local_file_systems_are_local(root: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """File systems of this machine, also those in user space, count as local."""
    monkeypatch.setattr(layout, "_file_system", lambda _: kind)
    assert layout.is_local(str(root))


@pytest.mark.parametrize("name", ["Dropbox", "OneDrive - Acme", "iCloud Drive", "Nextcloud"])
def test_a_synced_folder_is_not_local(tmp_path: Path, name: str) -> None:
    """Folders that a program syncs are no place for a database that is being written."""
    assert not layout.is_local(str(tmp_path / name / "book"))


def test_a_book_that_cannot_be_written_has_them_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only book can be read: its databases are in the user's state folder."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere/state")
    monkeypatch.setattr("sys.platform", "linux")
    assert folder(root) == "/somewhere/state/commonplace/book-1"


def test_the_file_system_of_the_root_is_found() -> None:
    """Where the system has a table of mounts, every path is on something."""
    if not Path("/proc/self/mountinfo").exists():
        pytest.skip("no table of mounts here")
    assert layout._file_system("/proc/self") == "proc"
