"""The newest entries: filtered, in order, and at the price of a tail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.journal import writer
from commonplace.journal.entries import ROLL_AT
from commonplace.model.errors import InvalidField
from commonplace.model.scope import Space
from commonplace.text.notes import parse
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath, View
from commonplace.vault.port import Document
from tests.book.opened import open_book
from tests.journal.runs import PLACE, manifest, small


@pytest.fixture
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many bytes each read of a file gave."""
    sizes: list[int] = []
    whole = LocalVault.read

    def counted(self: LocalVault, space: Space, view: View, path: BookPath) -> Document:
        document = whole(self, space, view, path)
        sizes.append(len(document.data))
        return document

    monkeypatch.setattr(LocalVault, "read", counted)
    yield sizes


def long_journal(root: Path, lines: int) -> int:
    """A timeline of so many lines in files as large as ours get, made without recording; answers how many bytes."""
    with open_book(root) as book:
        book.record_run(manifest("first", finished="2026-01-01T09:30:00Z"))
    folder = root / "journal" / PLACE
    data = (folder / "event-2026-01-01.md").read_bytes()
    at = data.index(b"## 2026-01-01T")
    head, entry = data[:at], data[at:] + b"\n"
    each = ROLL_AT // len(entry)
    written = total = 0
    number = 0
    while written < lines:
        marks = [b"%06d" % (number * each + n) for n in range(each)]
        runs = [entry.replace(b"first", b"r" + mark).replace(b"id=run-", b"id=run-" + mark, 1) for mark in marks]
        text = head + b"".join(runs)
        (folder / f"event-2026-{1 + number // 28:02d}-{1 + number % 28:02d}.md").write_bytes(text)
        written += text.count(b"\n")
        total += len(text)
        number += 1
    return total


def test_a_long_journal_answers_at_the_price_of_a_tail(root: Path, read_bytes: list[int]) -> None:
    """Of 100,000 lines, the newest twenty entries cost one file of at most 128 KiB, and the next twenty the same."""
    total = long_journal(root, 100_000)
    assert total > 20 * ROLL_AT
    with open_book(root) as book:
        read_bytes.clear()
        first = book.recent_memory()
        assert len(first.entries) == 20 and first.truncated
        assert sum(read_bytes) <= ROLL_AT * 1.1 and len(read_bytes) <= 3
        read_bytes.clear()
        second = book.recent_memory(cursor=first.next)
        assert sum(read_bytes) <= ROLL_AT * 2.2
    runs = [entry.run for entry in (*first.entries, *second.entries)]
    assert runs == sorted(runs, reverse=True) and len(set(runs)) == 40


def test_a_rare_status_ends_somewhere_and_can_be_gone_on_with(root: Path, read_bytes: list[int]) -> None:
    """A status that nothing has does not read the whole journal: the answer says where to go on."""
    long_journal(root, 130_000)
    with open_book(root) as book:
        read_bytes.clear()
        found = book.recent_memory(status="skipped")
        assert found.entries == () and found.next != ""
        assert len(read_bytes) <= 42
        files = len(list((root / "journal" / PLACE).glob("event-*.md")))
        asked = 1
        while found.truncated:
            found = book.recent_memory(status="skipped", cursor=found.next)
            asked += 1
        assert found.entries == () and 2 <= asked <= files // 39 + 1


def test_going_on_shows_every_run_once_in_order(root: Path) -> None:
    """Pages of any size, over days and rolled-over files, join to the whole timeline, newest first."""
    with open_book(root) as book:
        for number in range(25):
            book.record_run(small(f"r{number:02d}", finished=f"2026-11-{1 + number // 5:02d}T09:00:00Z"))
        for limit in (1, 4, 7, 100):
            runs: list[str] = []
            cursor = None
            while True:
                found = book.recent_memory(limit, cursor=cursor)
                runs += [entry.run for entry in found.entries]
                if not found.truncated:
                    break
                cursor = found.next
            assert runs == [f"r{number:02d}" for number in reversed(range(25))]
        for limit, cursor in ((0, None), (101, None), (1, "odd"), (1, "event-2026-11-09:x")):
            with pytest.raises(InvalidField):
                book.recent_memory(limit, cursor=cursor)


def test_filters(root: Path) -> None:
    """A worker's own tasks, by how they ended; a run is found by its outcome and by the statuses of its tasks."""
    with open_book(root) as book:
        book.record_run(manifest())
        book.record_run(small("run-2"))
        assert [entry.run for entry in book.recent_memory().entries] == ["run-2", "run-1"]
        assert [entry.run for entry in book.recent_memory(status="failed").entries] == ["run-1"]
        assert book.recent_memory(status="Error") == book.recent_memory(status="failed")
        assert [entry.run for entry in book.recent_memory(status="partial").entries] == ["run-1"]
        tester = book.recent_memory(worker="tester").entries
        assert [(entry.run, entry.task, entry.status) for entry in tester] == [
            ("run-2", "1", "done"), ("run-1", "test", "failed"),
        ]  # fmt: skip
        (failed,) = book.recent_memory(worker="tester", status="failed").entries
        assert (failed.kind, failed.path) == ("task", f"/journal/{PLACE}/worker-tester.md")
        assert book.recent_memory(worker="nobody").entries == ()


def test_files_roll_over_by_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the journal grows beyond its bound; the next part goes on, and both are on the index page."""
    bound = 32_768
    monkeypatch.setattr(writer, "ROLL_AT", bound)
    filler = "word " * 155
    runs = [small(f"r{n:02d}", result=filler, id="t" * 60, description=filler[:290]) for n in range(35)]
    with open_book(root) as book:
        for run in runs:
            book.record_run(run)
        newest = [entry.run for entry in book.recent_memory(30, worker="tester").entries]
        assert newest == [f"r{number:02d}" for number in range(34, 4, -1)]
        assert book.record_run(runs[0]).action == "unchanged"
        assert book.verify().ok
    folder = root / "journal" / PLACE
    parts = sorted(folder.glob("worker-tester*.md"))
    assert [path.name for path in parts] == ["worker-tester.2.md", "worker-tester.md"]
    counts = [len(parse(path.read_bytes()).blocks) for path in parts]
    assert sum(counts) == 35 and 0.5 * bound < parts[1].stat().st_size <= bound
    assert "(worker-tester.2.md)" in (folder / "index.md").read_text()
