"""What is true of a book on a real disk only: modes, roots, what a failing or poor file system does."""

from __future__ import annotations

import errno
import logging
import os
import signal
import stat as st
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.model.errors import AlreadyExists, CommonplaceError, DiskFull, NotFound, WriteFailed
from commonplace.model.names import revision_of
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, KEEPER, ROOT, BookPath
from commonplace.vault.port import ABSENT, Delete, FileKind, Move, Write
from tests.vault.test_conformance import disk_tree

A = BookPath("data", "a.md")
DEEP = BookPath("data", "in", "deep", "d.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "book"


@pytest.fixture
def vault(root: Path) -> LocalVault:
    return LocalVault.at(root, make=True)


def mode(path: Path) -> int:
    return st.S_IMODE(path.stat().st_mode)


def put(vault: LocalVault, path: BookPath, data: bytes) -> None:
    vault.apply(LOCAL, EVERYTHING, [Write(path, data)])


def test_new_files_and_folders_are_the_users_alone(vault: LocalVault, root: Path) -> None:
    """What the vault makes can be read by its owner only: files 0600, folders 0700, locks too, whatever the umask."""
    old = os.umask(0)
    try:
        vault.apply(LOCAL, EVERYTHING, [Write(DEEP, b"x", ABSENT), Write(A, b"x")])
        with vault.lock(LOCAL, "global", 0):
            pass
    finally:
        os.umask(old)
    modes = {path.relative_to(root).as_posix(): mode(path) for path in root.rglob("*")}
    files = {"data/a.md", "data/in/deep/d.md", ".commonplace/locks/global.lock"}
    assert {name for name, bits in modes.items() if bits == 0o600} == files
    assert {bits for name, bits in modes.items() if name not in files} == {0o700}


@pytest.mark.parametrize("bits", [0o644, 0o640, 0o600, 0o444, 0o755])
def test_a_replaced_file_keeps_its_mode(vault: LocalVault, root: Path, bits: int) -> None:
    """A file that a person opened to others stays so when it is rewritten, and a move keeps it."""
    put(vault, A, b"old")
    (root / "data" / "a.md").chmod(bits)
    vault.apply(LOCAL, EVERYTHING, [Write(A, b"new", revision_of(b"old"))])
    assert mode(root / "data" / "a.md") == bits
    vault.apply(LOCAL, EVERYTHING, [Move(A, DEEP)])
    assert mode(root / "data" / "in" / "deep" / "d.md") == bits


@pytest.mark.parametrize("data", [b"", bytes(range(256)) * 20_000], ids=["empty", "5 MB"])
def test_bytes_are_plain_files(vault: LocalVault, root: Path, data: bytes) -> None:
    """A file in the book is exactly the bytes that were given, for any program that opens it."""
    put(vault, A, data)
    assert (root / "data" / "a.md").read_bytes() == data
    (root / "data" / "a.md").write_bytes(data + b"more")
    assert vault.read(LOCAL, EVERYTHING, A).data == data + b"more"


def test_a_reader_keeps_the_file_it_opened(vault: LocalVault, root: Path) -> None:
    """Replacing a file makes a new one: whoever has the old one open, or linked, still has all of it."""
    put(vault, A, b"old text")
    os.link(root / "data" / "a.md", root.parent / "backup")
    with (root / "data" / "a.md").open("rb") as reader:
        put(vault, A, b"new")
        assert reader.read() == b"old text"
    assert (root.parent / "backup").read_bytes() == b"old text"


def test_the_root_may_be_a_link(vault: LocalVault, root: Path) -> None:
    """A user may keep the book elsewhere and link to it: the root alone is followed."""
    put(vault, A, b"x")
    (root.parent / "link").symlink_to(root)
    linked = LocalVault.at(root.parent / "link")
    assert linked.read(LOCAL, EVERYTHING, A).data == b"x"
    put(linked, DEEP, b"y")
    assert vault.read(LOCAL, EVERYTHING, DEEP).data == b"y"


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    """Without a root everything is NotFound, in words that do not name the machine's folders."""
    vault = LocalVault.at(tmp_path / "nowhere")
    for action in (
        lambda: vault.list_folder(LOCAL, EVERYTHING, ROOT),
        lambda: vault.read(LOCAL, EVERYTHING, A),
        lambda: put(vault, A, b"x"),
        lambda: vault.lock(LOCAL, "x", 0).__enter__(),
    ):
        with pytest.raises(NotFound) as error:
            action()
        assert str(tmp_path) not in str(error.value.as_dict())
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_is_a_file(tmp_path: Path) -> None:
    """A root that is a file is refused with a typed error and stays as it is."""
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(CommonplaceError):
        put(LocalVault.at(tmp_path / "file", make=True), A, b"x")
    with pytest.raises(CommonplaceError):
        put(LocalVault.at(tmp_path / "file"), A, b"x")
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_file_that_goes_while_its_folder_is_listed(
    vault: LocalVault, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that vanishes during a listing is left out; the others are listed, as if it had gone before."""
    for name in ("a.md", "b.md", "c.md"):
        put(vault, BookPath("data", name), b"x")
    scandir = os.scandir

    @contextmanager
    def racing(fd: int) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(fd) as found:
            entries = list(found)
            (root / "data" / "b.md").unlink()
            yield entries

    monkeypatch.setattr(os, "scandir", racing)
    assert [item.name for item in vault.list_folder(LOCAL, EVERYTHING, BookPath("data"))] == ["a.md", "c.md"]


def test_names_no_book_can_hold(vault: LocalVault, root: Path) -> None:
    """Files whose names are no names of a book are not shown to callers, and the keeper can list past them."""
    put(vault, A, b"x")
    for name in (b"what?.md", b"bad\xff.md", b"con.md", b"dot."):
        (root / "data" / os.fsdecode(name)).write_bytes(b"x")
    assert [item.name for item in vault.list_folder(LOCAL, EVERYTHING, BookPath("data"))] == ["a.md"]
    assert len(vault.list_folder(LOCAL, KEEPER, BookPath("data"))) == 5


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_that_cannot_sync(
    vault: LocalVault, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    """Where fsync is not supported the write succeeds, and a log record says that it is not durable."""

    def unsupported(fd: int) -> None:
        raise OSError(number, "not here")

    monkeypatch.setattr(os, "fsync", unsupported)
    with caplog.at_level(logging.WARNING, "commonplace.vault"):
        put(vault, A, b"x")
    assert vault.read(LOCAL, EVERYTHING, A).data == b"x"
    assert {record.getMessage() for record in caplog.records} == {
        f"event=sync_unsupported errno={errno.errorcode[number]}"
    }


@pytest.mark.parametrize(("number", "error"), [(errno.EIO, WriteFailed), (errno.ENOSPC, DiskFull)])
@pytest.mark.parametrize("kind", [FileKind.FILE, FileKind.FOLDER])
def test_a_sync_that_fails(
    vault: LocalVault,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    error: type[CommonplaceError],
    kind: FileKind,
) -> None:
    """An error of fsync fails the write with a typed error and is not tried again on the same file; before the publish
    nothing has changed, after it the error says that a part may be visible."""
    put(vault, A, b"old")
    before = disk_tree(root)
    synced: list[int] = []

    def failing(fd: int) -> None:
        found = os.fstat(fd)
        if st.S_ISDIR(found.st_mode) == (kind is FileKind.FOLDER):
            synced.append(found.st_ino)
            raise OSError(number, "the disk is dying")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(error) as failed:
        put(vault, A, b"new")
    assert len(synced) == 1
    assert str(root) not in str(failed.value.as_dict())
    if kind is FileKind.FILE:
        assert disk_tree(root) == before
    else:
        assert "not acknowledged" in failed.value.hint
        assert set(disk_tree(root)) == set(before)


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_a_file_system_without_hard_links(
    vault: LocalVault, root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Where there are no hard links, create-only and moves do the same, and leave as little behind."""

    def no_links(*args: object, **named: object) -> None:
        raise OSError(number, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    vault.apply(LOCAL, EVERYTHING, [Write(A, b"first", ABSENT)])
    before = disk_tree(root)
    with pytest.raises(AlreadyExists):
        vault.apply(LOCAL, EVERYTHING, [Write(A, b"second", ABSENT)])
    assert disk_tree(root) == before
    vault.apply(LOCAL, EVERYTHING, [Move(A, DEEP)])
    with pytest.raises(AlreadyExists):
        vault.apply(LOCAL, EVERYTHING, [Write(A, b"third", ABSENT), Move(DEEP, DEEP)])
    assert {path: data for path, data in disk_tree(root).items() if data is not None} == {
        "/data/in/deep/d.md": b"first"
    }
    vault.apply(LOCAL, EVERYTHING, [Delete(DEEP)])


@pytest.mark.parametrize("links", [True, False], ids=["links", "no-links"])
def test_somebody_else_makes_the_file_first(
    vault: LocalVault, root: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """A file that appears between the check and the publish is not overwritten by a create-only write."""
    link = os.link

    def late(*args: str, **named: int) -> None:
        (root / "data" / "a.md").write_bytes(b"theirs")
        if not links:
            raise OSError(errno.EPERM, "no links here")
        link(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(AlreadyExists):
        vault.apply(LOCAL, EVERYTHING, [Write(A, b"ours", ABSENT)])
    assert disk_tree(root) == {"/data": None, "/data/a.md": b"theirs"}


def test_a_failed_sync_of_the_folder_comes_out_though_the_caller_went_on(
    vault: LocalVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller hears that all is visible while the folder is synced; that the sync failed is an error all the same,
    and counts more than what the caller ran into meanwhile."""
    put(vault, A, b"old")
    told: list[str] = []

    def failing(fd: int) -> None:
        if st.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, "broken")

    def visible(stats: object) -> None:
        told.append(f"{stats}")
        raise NotFound("Something else.")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(WriteFailed, match="finishing a write"):
        vault.apply(LOCAL, EVERYTHING, [Write(A, b"new")], lambda: None, visible)
    assert len(told) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_syncs_for_itself(vault: LocalVault) -> None:
    """A child has none of its parent's threads, and writes as well as its parent does."""

    def put_beside(data: bytes) -> None:
        vault.apply(LOCAL, EVERYTHING, [Write(A, data)], lambda: None, lambda _: None)

    put_beside(b"parent")
    child = os.fork()
    if not child:
        signal.alarm(60)  # or a child that waits for a thread it does not have would wait for ever
        put_beside(b"child")
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert vault.read(LOCAL, EVERYTHING, A).data == b"child"
    put_beside(b"parent again")
    assert vault.read(LOCAL, EVERYTHING, A).data == b"parent again"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no list of open files here")
def test_a_failed_sync_leaves_no_file_open(vault: LocalVault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the caller waited for the disk or not, after a failed write its temporary files are closed and gone."""
    put(vault, A, b"old")

    def failing(fd: int) -> None:
        raise OSError(errno.EIO, "broken", fd)

    writes: tuple[Callable[[], object], ...] = (
        lambda: vault.apply(LOCAL, EVERYTHING, [Write(A, b"new"), Write(DEEP, b"new")]),
        lambda: vault.apply(LOCAL, EVERYTHING, [Write(A, b"new")], lambda: None, lambda _: None),
    )
    for write in writes:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            before = len(os.listdir("/proc/self/fd"))
            with pytest.raises(WriteFailed):
                write()
            assert len(os.listdir("/proc/self/fd")) == before
        assert [item.name for item in vault.list_temp_files(LOCAL, A.parent)] == []
    assert vault.read(LOCAL, EVERYTHING, A).data == b"old"


def test_without_a_thread_more_the_disk_is_waited_for(vault: LocalVault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, a write takes its time, and is done."""

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    done: list[str] = []
    vault.apply(
        LOCAL, EVERYTHING, [Write(A, b"new")], lambda: done.append("meanwhile"), lambda _: done.append("visible")
    )
    assert done == ["meanwhile", "visible"] and vault.read(LOCAL, EVERYTHING, A).data == b"new"
