"""The one conformance suite of the vault, for each vault there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, KEEPER, ROOT, BookPath
from commonplace.vault.port import Change, Delete, FileKind, Move, Vault, Write
from tests.crash.simdisk import SimDisk
from tests.vault.conformance import VaultConformance
from tests.vault.memory import MemoryVault
from tests.vault.subject import Subject

LOCKS = "/.commonplace/locks"
TEMPS = [".cp-1f-0a0b0c0d0e0f.tmp", ".cp-.tmp"]
OURS_NOT = ["cp-1.tmp", ".cp-1", "x.tmp", ".cp-1.tmp.md"]


def disk_tree(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder of the real disk, but for the files of locks."""
    found: dict[str, bytes | None] = {}
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        found |= {"/" + (here / name).relative_to(root).as_posix(): None for name in folders}
        found |= {"/" + (here / name).relative_to(root).as_posix(): (here / name).read_bytes() for name in files}
    return {path: data for path, data in found.items() if not path.startswith(LOCKS)}


def sim_tree(disk: SimDisk) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    waiting = [("", 1)]
    while waiting:
        path, number = waiting.pop()
        for name, child in disk.nodes[number].names.items():
            node = disk.nodes[child]
            found[f"{path}/{name}"] = None if node.kind is FileKind.FOLDER else node.data
            if node.kind is FileKind.FOLDER:
                waiting.append((f"{path}/{name}", child))
    return {path: data for path, data in found.items() if not path.startswith(LOCKS)}


def port_tree(vault: Vault) -> dict[str, bytes | None]:
    """Everything that the port itself shows."""
    found: dict[str, bytes | None] = {}
    waiting = [ROOT]
    while waiting:
        folder = waiting.pop()
        for item in vault.list_folder(LOCAL, KEEPER, folder):
            path = folder / item.name
            is_folder = item.stat.kind is FileKind.FOLDER
            found[str(path)] = None if is_folder else vault.read(LOCAL, KEEPER, path).data
            waiting += [path] if is_folder else []
    return found


class TestLocalVault(VaultConformance):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> Subject:
        return Subject(LocalVault.at(tmp_path / "book", make=True), lambda: disk_tree(tmp_path / "book"))

    def test_half_made_files_are_hidden_and_swept(self, subject: Subject, tmp_path: Path) -> None:
        """What a killed writer left is in no listing; a sweep removes just that, in that folder."""
        subject.apply(Write(BookPath("data", "a.md"), b"a"), Write(BookPath("data", "in", "b.md"), b"b"))
        data = tmp_path / "book" / "data"
        for name in TEMPS + OURS_NOT:
            (data / name).write_bytes(b"half")
        (data / "in" / TEMPS[0]).write_bytes(b"half")
        (data / ".cp-folder.tmp").mkdir()
        assert subject.names(BookPath("data")) == sorted(["a.md", "in", *OURS_NOT])
        assert subject.vault.sweep(LOCAL, BookPath("data")) == len(TEMPS)
        left = {path.name for path in data.iterdir()}
        assert left == {"a.md", "in", ".cp-folder.tmp", *OURS_NOT}
        assert (data / "in" / TEMPS[0]).exists()


class TestLocalVaultOnSimDisk(VaultConformance):
    @pytest.fixture
    def disk(self) -> SimDisk:
        return SimDisk()

    @pytest.fixture
    def subject(self, disk: SimDisk) -> Subject:
        return Subject(LocalVault(disk), lambda: sim_tree(disk))

    def test_changes_become_visible_in_order(self, subject: Subject, disk: SimDisk) -> None:
        """Between any two steps of the disk, a reader sees the first so many changes of the group, whole."""
        a, b, c, d = (BookPath("data", *path) for path in (("a",), ("b",), ("in", "c"), ("d",)))
        subject.apply(Write(a, b"old-a"), Write(b, b"old-b"), Write(d, b"old-d"))
        states: list[dict[str, bytes]] = []

        def watch(what: str, call: int) -> None:
            seen = {path: data for path, data in disk.files().items() if "/.cp-" not in path}
            if not states or states[-1] != seen:
                states.append(seen)

        changes: list[Change] = [Write(c, b"new-c"), Delete(b), Write(a, b"new-a"), Move(d, b.parent / "e")]
        disk.fault = watch
        subject.vault.apply(LOCAL, EVERYTHING, changes)
        watch("end", 0)
        before = {"/data/a": b"old-a", "/data/b": b"old-b", "/data/d": b"old-d"}
        with_c = {**before, "/data/in/c": b"new-c"}
        without_b = {path: data for path, data in with_c.items() if path != "/data/b"}
        with_a = {**without_b, "/data/a": b"new-a"}
        twice = {**with_a, "/data/e": b"old-d"}  # a move adds the new name before it takes the old one
        moved = {path: data for path, data in twice.items() if path != "/data/d"}
        assert states == [before, with_c, without_b, with_a, twice, moved]


class TestMemoryVault(VaultConformance):
    @pytest.fixture
    def subject(self) -> Subject:
        vault = MemoryVault()
        return Subject(vault, lambda: port_tree(vault))
