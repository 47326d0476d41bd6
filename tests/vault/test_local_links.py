"""Links, pipes and devices inside a book: never followed, never opened, never a reason to hang."""

from __future__ import annotations

import os
import socket
import stat as st
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.model.errors import AlreadyExists, CommonplaceError, LinkRefused
from commonplace.model.names import revision_of
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, KEEPER, BookPath
from commonplace.vault.port import ABSENT, Change, Delete, FileKind, Move, Write
from tests.vault.test_conformance import disk_tree

SECRET = b"outside secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A book with a file, beside a folder that is none of its business."""
    outside = tmp_path / "outside"
    (outside / "in").mkdir(parents=True)
    (outside / "in" / "x.md").write_bytes(SECRET)
    (tmp_path / "book" / "data").mkdir(parents=True)
    (tmp_path / "book" / "data" / "a.md").write_bytes(b"a")
    return tmp_path / "book"


@pytest.fixture
def vault(root: Path) -> LocalVault:
    return LocalVault.at(root)


def outcome(action: Callable[[], object]) -> type[CommonplaceError] | object:
    """The error's type or the answer, within a minute: what hangs fails here."""
    result: list[object] = []

    def run() -> None:
        try:
            result.append(action())
        except CommonplaceError as error:
            result.append(type(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert result, "it hangs, or raised something else"
    return result[0]


def changes_of(path: BookPath) -> list[tuple[Change, type[CommonplaceError]]]:
    """Every way to change something at a path, with the error it gets when a link or special file is there."""
    a = BookPath("data", "a.md")
    return [
        (Write(path, b"x"), LinkRefused),
        (Write(path, b"x", ABSENT), AlreadyExists),
        (Write(path, b"x", revision_of(SECRET)), LinkRefused),
        (Delete(path), LinkRefused),
        (Delete(path, revision_of(SECRET)), LinkRefused),
        (Move(path, BookPath("data", "moved.md")), LinkRefused),
        (Move(a, path), AlreadyExists),
    ]


def make(kind: str, place: Path, outside: Path) -> None:
    """Put something at a place that is no file of the book."""
    if kind == "link to a file":
        place.symlink_to(outside / "in" / "x.md")
    elif kind == "link to a file of the book":
        place.symlink_to("a.md")
    elif kind == "link to a folder":
        place.symlink_to(outside / "in")
    elif kind == "dangling link":
        place.symlink_to(outside / "not-there")
    elif kind == "link to itself":
        place.symlink_to(place)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        here = Path.cwd()
        os.chdir(place.parent)  # the name of a socket is short
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(place.name)
        finally:
            os.chdir(here)
    else:
        try:
            os.mknod(place, st.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero, which never ends
        except PermissionError:
            pytest.skip("only root can make a device")


LINKS = ["link to a file", "link to a file of the book", "link to a folder", "dangling link", "link to itself"]
SPECIAL = [*LINKS, "pipe", "socket", "device"]


@pytest.mark.parametrize("kind", SPECIAL)
def test_never_read_or_changed(vault: LocalVault, root: Path, tmp_path: Path, kind: str) -> None:
    """What is no regular file is shown as `other`, and neither read, replaced, moved nor deleted."""
    make(kind, root / "data" / "odd", tmp_path / "outside")
    path = BookPath("data", "odd")
    assert outcome(lambda: vault.read(LOCAL, KEEPER, path)) is LinkRefused
    stat = vault.stat(LOCAL, KEEPER, path)
    assert stat is not None
    assert stat.kind is FileKind.OTHER
    listed = {item.name: item.stat.kind for item in vault.list_folder(LOCAL, KEEPER, BookPath("data"))}
    assert listed == {"a.md": FileKind.FILE, "odd": FileKind.OTHER}
    for change, error in changes_of(path):
        assert outcome(lambda change=change: vault.apply(LOCAL, KEEPER, [change])) is error  # type: ignore[misc]
    assert sorted(os.listdir(root / "data")) == ["a.md", "odd"]
    assert (tmp_path / "outside" / "in" / "x.md").read_bytes() == SECRET


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_never_a_way_to_another_folder(vault: LocalVault, root: Path, tmp_path: Path, depth: int) -> None:
    """A link to a folder, at any level above a path, is refused for reading, listing and every change."""
    levels = ["one", "two", "three", "x.md"]
    link = root.joinpath(*levels[:depth])
    link.parent.mkdir(parents=True, exist_ok=True)
    target = tmp_path / "outside" / "tree"
    target.joinpath(*levels[depth:-1]).mkdir(parents=True)
    target.joinpath(*levels[depth:]).write_bytes(SECRET)
    link.symlink_to(target)
    before = disk_tree(tmp_path / "outside")
    path = BookPath(*levels)
    assert outcome(lambda: vault.read(LOCAL, KEEPER, path)) is LinkRefused
    assert outcome(lambda: vault.stat(LOCAL, KEEPER, path)) is LinkRefused
    assert outcome(lambda: vault.list_folder(LOCAL, KEEPER, path.parent)) is LinkRefused
    assert outcome(lambda: vault.sweep(LOCAL, path.parent)) is LinkRefused
    for place in (path, path.parent / "new.md", path.parent / "new" / "deep.md"):
        for change, _ in changes_of(place):
            assert outcome(lambda change=change: vault.apply(LOCAL, KEEPER, [change])) is LinkRefused  # type: ignore[misc]
    assert disk_tree(tmp_path / "outside") == before
    assert (root / "data" / "a.md").read_bytes() == b"a"


@pytest.mark.parametrize("kind", SPECIAL)
def test_a_lock_that_is_no_file(vault: LocalVault, root: Path, tmp_path: Path, kind: str) -> None:
    """A lock file that is a link, a pipe or a device is refused: nothing is made or written where it leads."""
    (root / ".commonplace" / "locks").mkdir(parents=True)
    make(kind, root / ".commonplace" / "locks" / "global.lock", tmp_path / "outside")
    before = disk_tree(tmp_path / "outside")
    assert outcome(lambda: vault.lock(LOCAL, "global", 0).__enter__()) is LinkRefused
    assert disk_tree(tmp_path / "outside") == before


@pytest.mark.parametrize("level", [".commonplace", ".commonplace/locks"])
def test_a_folder_of_locks_that_is_a_link(vault: LocalVault, root: Path, tmp_path: Path, level: str) -> None:
    """Locks are never made in another folder."""
    (root / level).parent.mkdir(exist_ok=True)
    (root / level).symlink_to(tmp_path / "outside")
    before = disk_tree(tmp_path / "outside")
    assert outcome(lambda: vault.lock(LOCAL, "global", 0).__enter__()) is LinkRefused
    assert disk_tree(tmp_path / "outside") == before


def test_a_lock_that_is_another_name_of_a_file(vault: LocalVault, root: Path, tmp_path: Path) -> None:
    """A lock file is written in place, so one that is a hard link to something else is refused."""
    (root / ".commonplace" / "locks").mkdir(parents=True)
    os.link(tmp_path / "outside" / "in" / "x.md", root / ".commonplace" / "locks" / "global.lock")
    assert outcome(lambda: vault.lock(LOCAL, "global", 0).__enter__()) is LinkRefused
    assert (tmp_path / "outside" / "in" / "x.md").read_bytes() == SECRET


def test_a_hard_link_is_replaced_not_written_through(vault: LocalVault, root: Path, tmp_path: Path) -> None:
    """Writing to a file that has another name elsewhere leaves that one as it was."""
    os.link(tmp_path / "outside" / "in" / "x.md", root / "data" / "same.md")
    vault.apply(LOCAL, EVERYTHING, [Write(BookPath("data", "same.md"), b"ours")])
    assert (tmp_path / "outside" / "in" / "x.md").read_bytes() == SECRET
    assert (root / "data" / "same.md").read_bytes() == b"ours"


def test_temporary_files_that_are_links_are_not_swept(vault: LocalVault, root: Path, tmp_path: Path) -> None:
    """A sweep removes regular files only: what looks like ours but is a link stays, with what it leads to."""
    (root / "data" / ".cp-1.tmp").symlink_to(tmp_path / "outside" / "in" / "x.md")
    assert vault.sweep(LOCAL, BookPath("data")) == 0
    assert (root / "data" / ".cp-1.tmp").is_symlink()
    assert (tmp_path / "outside" / "in" / "x.md").read_bytes() == SECRET
