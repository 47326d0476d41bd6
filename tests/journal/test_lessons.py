"""Lessons: what repeats is proposed once, for a person to judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from commonplace.journal.entries import failure_signature, normalize_error, work_signature
from commonplace.model.errors import InvalidScope
from tests.book.opened import open_book
from tests.journal.runs import PLACE, PROJECT, journal_files, small

TRACE = "Traceback (most recent call last):\n"


def failing(book: Book, *runs: str, error: str = "TimeoutError: no answer after 30 s") -> list[tuple[str, ...]]:
    return [book.record_run(small(run, error=error, result=None, description=f"Fetch {run}")).lessons for run in runs]


def lead(root: Path) -> Book:
    return open_book(root, agent="lead", role="orchestrator")


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("TimeoutError: no answer after 30 s", "TimeoutError: no answer after 45 s", True),
        ("File '/tmp/a/x.py' not found", "File '/home/b/y.py' not found", True),
        ("commit 3f2a9c1b is bad\nmore", "commit 99aa77ff is bad\nless", True),
        (f"{TRACE}  File a\nKeyError: 'x'", f"{TRACE}  b\nKeyError: 'y'", True),
        ("permission denied", "connection refused", False),
        ("KeyError: x", "ValueError: x", False),
    ],
)  # fmt: skip
def test_signatures(one: str, two: str, same: bool) -> None:
    """Two errors are the same failure when they differ only in numbers, ids, quoted words and paths."""
    assert (failure_signature("w", one) == failure_signature("w", two)) is same
    assert failure_signature("other", one) != failure_signature("w", one)
    assert failure_signature("w", " \n") == work_signature("w", " ") == normalize_error("") == ""


def test_a_failure_that_comes_three_times_is_proposed_once(root: Path) -> None:
    """The third time makes a proposed memory in the agent's scope, hidden from recall until it is accepted; a fourth,
    and the same runs recorded again, make nothing new."""
    with lead(root) as book:
        assert failing(book, "a", "b") == [(), ()]
        ((key,),) = failing(book, "c")
        assert failing(book, "d", "a", "c") == [(), (), ()]
        (waiting,) = book.review()
        assert (waiting.key, waiting.scope, waiting.scope_id, waiting.status) == (key, "agent", "lead", "proposed")
        memory = book.show(key, "agent")
        assert memory.newest is not None and "failed 3 times in the same way: TimeoutError" in memory.newest.text
        assert "Runs: a, b, c." in memory.newest.text and memory.newest.trust == "agent"
        assert not [hit for hit in book.recall("keeps failing").hits if hit.kind == "memory"]
        book.accept(key, "agent")
        assert key in [hit.key for hit in book.recall("tester failed 3 times in the same way").hits]
        assert [lesson.state for lesson in book.lessons()] == ["proposed"]


def test_a_fix_after_failures_is_proposed(root: Path) -> None:
    """Work that succeeds after it failed is noted with the failures, and proposed with what worked."""
    with lead(root) as book:
        book.record_run(small("a", error="no hammer", description="Mend the roof"))
        done = book.record_run(small("b", description="mend  the ROOF", result="Used a stone."))
        assert book.record_run(small("c", description="Mend the roof")).lessons == ()
        (key,) = done.lessons
        text = str(book.show(key, "agent").newest)
        assert "no hammer" in text and "Used a stone." in text
        note = (root / "journal" / PLACE / "failure-tester.md").read_text()
        assert note.count("kind=fixed") == 1 and "What worked:\n> Used a stone." in note
        retry = small("d")
        retry["tasks"] = [
            {"worker": "x", "description": "Try", "error": "once"},
            {"worker": "x", "description": "Try", "result": "ok"},
        ]
        assert len(book.record_run(retry).lessons) == 1


def test_a_rejected_lesson_never_comes_back(root: Path) -> None:
    """Not after more of the same failure, not by asking for lessons, not when the trash is gone and the index new; and
    the journal does not tell what it said."""
    with lead(root) as book:
        ((), (), (key,)) = failing(book, "a", "b", "c")
        book.reject(key, "agent")
    with open_book(root, agent="lead") as book:
        book.forget(key, "agent", purge=True)
        assert failing(book, "d", "e") == [(), ()]
        assert [(lesson.key, lesson.state) for lesson in book.lessons()] == [(key, "proposed")]
        book.reindex()
        assert failing(book, "f") == [()] and book.review() == []
    (mark,) = (root / "journal" / PLACE / "_lessons").iterdir()
    assert "TimeoutError" not in mark.read_text()


def test_a_lesson_cut_off_between_memory_and_mark_is_not_proposed_again(root: Path) -> None:
    """When the mark is missing, the memory itself, or what is in the trash, tells that it was proposed."""
    with lead(root) as book:
        ((), (), (key,)) = failing(book, "a", "b", "c")
        (mark,) = (root / "journal" / PLACE / "_lessons").iterdir()
        wanted = mark.read_bytes()
        mark.unlink()
        assert failing(book, "c") == [()] and mark.is_file() and len(wanted) > 20
        mark.unlink()
        book.reject(key, "agent")
        assert failing(book, "c") == [()] and mark.is_file()
        assert book.review() == []


def test_without_an_agent_lessons_wait(root: Path) -> None:
    """Nothing falls back to another scope: the caller is told, and naming an agent later proposes them."""
    with open_book(root) as book:
        failing(book, "a", "b")
        done = book.record_run(small("c", error="TimeoutError: no answer after 1 s"))
        assert done.action == "recorded" and "A lesson waits" in done.warnings[0]
        assert [lesson.state for lesson in book.lessons(propose=False)] == ["new"]
        before = journal_files(root)
        with pytest.raises(InvalidScope):
            book.lessons()
        assert journal_files(root) == before
    with open_book(root, agent="lead") as book:
        (lesson,) = book.lessons()
        assert [item.key for item in book.review()] == [lesson.key]
    with open_book(root, agent="lead", project="other") as book:
        assert book.lessons() == [] and PROJECT not in str(book.recent_memory())
