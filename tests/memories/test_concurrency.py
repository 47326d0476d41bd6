"""Many processes, one book: no write is lost, no page is wrong, nobody gets an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.model.scope import LOCAL
from commonplace.text.notes import parse
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER
from tests.depth import depths
from tests.memories.reading import FOLDER, files, follow, open_keep, page_faults, pages
from tests.memories.worker import __file__ as worker

PROCESSES = [f"{letter}-worker" for letter in "abcdefgh"]
FEW = PROCESSES[:3]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    LocalVault.at(tmp_path / "book", make=True)
    return tmp_path / "book"


def run(root: Path, processes: list[str], verb: str, count: int) -> dict[str, list[str]]:
    """Start all of them, wait for all of them; answers what each acknowledged. Any word on stderr is an error."""
    started = [
        subprocess.Popen(
            [sys.executable, worker, str(root), name, verb, str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in processes
    ]
    said = {name: process.communicate() for name, process in zip(processes, started, strict=True)}
    assert {name: errors for name, (_, errors) in said.items() if errors} == {}
    assert [process.returncode for process in started] == [0] * len(processes)
    return {name: output.splitlines() for name, (output, _) in said.items()}


def check_pages(root: Path, names: set[str]) -> None:
    """The pages name exactly these, as the last writer left them and after a rebuild, and nothing is half-made."""
    vault = LocalVault.at(root)
    assert page_faults(open_keep(vault), FOLDER) == []
    assert follow(vault) == names
    assert [path.name for path in root.rglob(".cp-*")] == []
    mended = open_keep(vault)
    mended.reconcile(FOLDER)
    before = pages(vault)
    mended.reconcile(FOLDER)
    assert pages(vault) == before
    assert follow(vault) == names


@pytest.mark.parametrize(("processes", "count"), depths((FEW, 20), (PROCESSES, 100)))
def test_distinct_memories_in_one_folder(root: Path, processes: list[str], count: int) -> None:
    """Several processes (eight in `make deep`) store many memories each into one folder: all are there, with their
    texts."""
    said = run(root, processes, "create", count)
    names = {f"{name}-{number:03d}" for name in processes for number in range(count)}
    assert {line.removeprefix("created ") for lines in said.values() for line in lines} == names
    found = files(LocalVault.at(root), FOLDER)
    for name in processes:
        for number in range(count):
            (entry,) = parse(found[f"{name}-{number:03d}.md"]).entries
            assert entry.text == f"{name} says {number}."
    check_pages(root, names)
    assert ("500+ memories" in (root / "index.md").read_text()) == (len(names) > 500)


@pytest.mark.parametrize(("processes", "count"), depths((FEW, 8), (PROCESSES, 20)))
def test_appends_to_one_memory(root: Path, processes: list[str], count: int) -> None:
    """Several processes (eight in `make deep`) append to one memory: all entries are there, each process's in order."""
    said = run(root, processes, "append", count)
    actions = [line for lines in said.values() for line in lines]
    assert sorted(actions) == ["appended shared"] * (len(processes) * count - 1) + ["created shared"]
    note = parse(LocalVault.at(root).read(LOCAL, KEEPER, FOLDER / "shared.md").data)
    texts = [entry.text for entry in note.entries]
    assert len(texts) == len({entry.id for entry in note.entries}) == len(processes) * count
    for name in processes:
        own = [text for text in texts if text.startswith(name)]
        assert own == [f"{name} says {number}." for number in range(count)]
    assert set(note.meta.tags) == set(processes)
    check_pages(root, {"shared"})


@pytest.mark.parametrize(("processes", "count"), depths((FEW, 5), (PROCESSES, 15)))
def test_memories_that_come_and_go(root: Path, processes: list[str], count: int) -> None:
    """Several processes (eight in `make deep`) store and forget in turn: the folder and its pages are empty, and the
    trash has them all."""
    run(root, processes, "churn", count)
    assert set(files(LocalVault.at(root), FOLDER)) == {"index.md"}
    assert len(list((root / ".commonplace" / "trash").rglob("*.md"))) == len(processes) * count
    check_pages(root, set())
