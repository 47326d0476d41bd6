"""A long import or ingest says how far it is, to a person at a terminal and to nobody else."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from commonplace import Book
from commonplace.cli import screen
from commonplace.cli.main import main
from commonplace.vault.commit import MAX_OPEN
from tests.bench.mailbox_maker import make_mailbox
from tests.book.opened import open_book

NOTES = 40


@pytest.fixture
def source(tmp_path: Path) -> Path:
    lines = [
        {
            "type": "entity",
            "name": f"crane {number}",
            "entityType": "thing",
            "observations": [f"Crane {number} is red."],
        }
        for number in range(NOTES)
    ]
    path = tmp_path / "memory.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


class TerminalStream(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_each_item_of_an_import_is_progress(tmp_path: Path, source: Path) -> None:
    """The library's caller is told of every item, when it is checked and when it is placed, up to the last."""
    seen: list[tuple[int, int]] = []
    with open_book(tmp_path / "book") as book:
        book.on_progress(lambda done, total: seen.append((done, total)))
        book.import_from(source, scope="global")
    one_pass = [(number, NOTES) for number in range(1, NOTES + 1)]
    assert [step for step in seen if step[1] == NOTES][: 2 * NOTES] == one_pass * 2


def test_the_writing_of_an_import_is_progress(tmp_path: Path) -> None:
    """Most of a long import is the wait for the disk: the caller is told while notes are written, up to the last."""
    folder = tmp_path / "notes"
    folder.mkdir()
    number = 3 * MAX_OPEN
    for name in range(number):
        (folder / f"note-{name}.md").write_text(f"Crane {name} is red.\n", "utf-8")
    seen: list[tuple[int, int]] = []
    with open_book(tmp_path / "book") as book:
        book.on_progress(lambda done, total: seen.append((done, total)))
        book.import_from(folder, "scaffold", scope="global")
    third = seen[2 * number :]
    assert seen[2 * number - 1] == (number, number) and len(third) >= 3
    assert {total for _, total in third} == {number} and third == sorted(third) and third[-1] == (number, number)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_bar_is_for_a_terminal(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    """`commonplace import` draws it on standard error where that is a terminal, and takes it off in the end."""
    monkeypatch.setattr(screen, "_SHOW_AFTER", 0)
    monkeypatch.setattr(screen, "_DRAW_EVERY", 0)
    out, err = io.StringIO(), TerminalStream() if is_terminal else io.StringIO()
    with mock.patch.multiple(sys, stdout=out, stderr=err):
        status = main(("import", str(source), "--root", str(tmp_path / "book"), "--scope", "global"))
    assert status == 0 and "notes" not in out.getvalue()
    assert (f"{NOTES} of {NOTES} notes" in err.getvalue()) is is_terminal
    assert err.getvalue().endswith("\r\x1b[K") if is_terminal else err.getvalue() == ""


def test_the_rate_is_that_of_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work has several passes: how fast it goes, and the time that is left, count from the start of this one."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    bar = screen.ProgressBar(stream)
    for seconds, done in ((10.0, 100), (20.0, 1), (30.0, 51)):
        clock[0] = seconds
        bar(done, 100)
    last = stream.getvalue().rpartition("\r")[2]
    assert last.endswith("51 of 100 notes, 5 a second, 0:10 left")


def test_the_bar_says_what_comes_when_all_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all is read and the command goes on, the bar names the next step in place of a time that is over."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    bar = screen.ProgressBar(stream)
    bar.next_step = "now the index"
    clock[0] = 10.0
    bar(99, 100)
    bar(100, 100)
    assert stream.getvalue().endswith("100 of 100 notes; now the index")


def test_ingest_tells_how_much_of_the_file_is_read(tmp_path: Path) -> None:
    """Mail is read twice, and counted once: what is told never goes back, and ends with the size of the file."""
    mailbox = tmp_path / "mail.mbox"
    make_mailbox(mailbox, messages=400, threads=20)
    told: list[tuple[int, int]] = []
    with Book.open(tmp_path / "book") as book, mock.patch("commonplace.verbs.ingest._TELL_EVERY", 0):
        book.context.memories.progress = lambda done, total: told.append((done, total))
        book.ingest(str(mailbox))
    size = mailbox.stat().st_size // 1_000
    assert {total for _, total in told} == {size} and told == sorted(told)
    assert len(told) > 400 and told[-1] == (size, size) and told[-2] != told[-1]
