"""Compaction: old months become summaries, and everything that was written is still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from commonplace.journal import writer
from commonplace.text.notes import parse
from tests.book.opened import open_book
from tests.journal.runs import PLACE, journal_files, manifest, small

NOW = "2026-11-15T12:00:00Z"


def at(root: Path) -> Book:
    book = open_book(root)
    book.context.memories.clock = lambda: NOW
    return book


def filled(book: Book) -> None:
    for number, day in enumerate(["2026-05-03", "2026-05-03", "2026-06-30", "2026-08-31", "2026-11-14"]):
        book.record_run(manifest(f"r{number}", finished=f"{day}T09:00:00Z"))


def test_old_months_become_summaries_and_nothing_is_lost(root: Path) -> None:
    """Whole months that ended before ninety days ago: each run has its entry in the summary, each file is in the
    archive as it was, and every artifact stays; a second time there is nothing to do."""
    with at(root) as book:
        filled(book)
        before = journal_files(root)
        done = book.compact_journal()
        assert (done.months, done.runs) == (("2026-05", "2026-06"), 3)
        after = journal_files(root)
        old = {path for path in before if "/event-2026-05" in path or "/event-2026-06" in path}
        assert before.keys() - after.keys() == old and len(old) == len(done.archived) == 2
        for path in old:
            assert after[path.replace("/event-", "/_archive/event-")] == before[path]
        assert all(after[path] == before[path] for path in before if "/_artifacts/" in path)
        assert [entry.run for entry in book.recent_memory().entries if entry.run] == ["r4", "r3", "r2", "r1", "r0"]
        assert book.compact_journal() == ((), 0, ()) and journal_files(root) == after
        assert book.verify().ok


def test_what_a_summary_keeps(root: Path) -> None:
    """Counts by outcome and worker; for each run its goal, outcome, failed tasks and link, not what went well."""
    with at(root) as book:
        filled(book)
        book.compact_journal()
        hits = [hit.path for hit in book.recall("Ship the spring release in May", until="2026-05-31").hits]
        assert f"/journal/{PLACE}/summary-2026-05.md" in hits
        assert not [path for path in hits if "_archive" in path or "/event-2026-05" in path]
    text = (root / "journal" / PLACE / "summary-2026-05.md").read_text()
    assert "2026-05: 2 runs (2 partial)" in text and '- "tester": 2 failed' in text
    assert text.count("Run r0: partial. Ship the spring release") == 1 and "_artifacts/r0/run.json" in text
    assert "tester (test): failed. Run the suite. Error: AssertionError" in text and "planner (plan)" not in text
    assert parse(text.encode()).front.text("entry_count") == "3"


def test_a_run_of_a_compacted_month_is_still_recorded_once(root: Path) -> None:
    """Recording it again changes nothing; one that comes late is added, and the next compaction takes it in."""
    with at(root) as book:
        filled(book)
        book.compact_journal()
        before = journal_files(root)
        for number, day in enumerate(["2026-05-03", "2026-05-03", "2026-06-30"]):
            assert book.record_run(manifest(f"r{number}", finished=f"{day}T09:00:00Z")).action == "unchanged"
        assert journal_files(root) == before and book.journal_run("r0").complete
        assert book.record_run(manifest("late", finished="2026-05-03T10:00:00Z")).action == "recorded"
        done = book.compact_journal()
        assert (done.months, done.runs) == (("2026-05",), 1)
        assert done.archived == (f"/journal/{PLACE}/_archive/event-2026-05-03~2.md",)
        assert book.record_run(manifest("late", finished="2026-05-03T10:00:00Z")).action == "unchanged"
        assert book.verify().ok


def test_full_and_old_worker_notes_go_to_the_archive(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are full and older than the bound; the newest part, and what is younger, stay."""
    monkeypatch.setattr(writer, "ROLL_AT", 2_000)
    with at(root) as book:
        for number in range(12):
            month = "05" if number < 6 else "11"
            book.record_run(small(f"r{number:02d}", finished=f"2026-{month}-10T09:{number:02d}:00Z", result="x" * 200))
        before = {path: data for path, data in journal_files(root).items() if "/worker-tester" in path}
        assert len(before) >= 4
        done = book.compact_journal()
        after = journal_files(root)
        gone = before.keys() - after.keys()
        assert gone and all(before[path] == after[path.replace("/worker-", "/_archive/worker-")] for path in gone)
        assert {f"/{path}".replace("/worker-", "/_archive/worker-") for path in gone} <= set(done.archived)
        texts = b"".join(data for path, data in after.items() if path.startswith(f"journal/{PLACE}/worker-"))
        assert all(f"run=r{number:02d}".encode() in texts for number in range(6, 12))
        assert book.record_run(small("new", worker="tester")).action == "recorded" and book.verify().ok
