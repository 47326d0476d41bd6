"""Reading never needs writing. Whatever is wrong with the disk or with other processes, each command that reads answers
as it would without, or says what is missing; hooks too. Nothing fails, waits for a lock, or takes a sound index for
damaged. test_mounts.py fills real disks.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from tests.faults.reader import BROKEN_NOTE, COMMANDS, FAULTS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the limits and locks of Linux")
CHECKS = ("verify", "doctor")
REPOSITORY = Path(__file__).parents[2]
NOT_COMPARED = ("notice", "index_bytes", "state_bytes", "score", "unembedded", "tokens", "prompt_tokens", "characters")


def make_book(root: Path) -> None:
    """A book with a few memories, and changes made outside that the index does not know yet."""
    with Book.open(root, role="person") as book:
        for key, text in (
            ("staging", "The staging database uses port 5433."),
            ("zebra", "The zebra is striped."),
            ("okapi", "The okapi is at the harbour."),
            ("broken", "This one stands on a bad sector."),
        ):
            book.store(text, key=key, scope="global")
        book.recall("zebra")
    folder = root / "memories" / "global"
    (folder / "emu.md").write_text("The emu is new, and faster than the zebra.\n", encoding="utf-8")
    okapi = folder / "okapi.md"
    okapi.write_text(okapi.read_text(encoding="utf-8").replace("harbour.", "harbour. It sleeps."), encoding="utf-8")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    make_book(tmp_path / "book")
    return tmp_path / "book"


@contextmanager
def another_process(doing: str, root: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.faults.holder", doing, str(root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        yield
        assert running.stdin is not None
        running.stdin.close()


def read(book: Path, fault: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what every command says of a copy of the book, and what it says of the book with a fault."""
    copy = book.parent / "copy"
    if not copy.exists():
        shutil.copytree(book, copy)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    environment["XDG_STATE_HOME"] = str(book.parent / "state")
    command = [sys.executable, "-m", "tests.faults.reader", str(copy), str(book), fault]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr.decode()
    expected, found = json.loads(done.stdout)
    return expected, found


def comparable(said: dict[str, Any]) -> object:
    """Return an answer without what depends on where the book is, and on what was used before."""
    text = said["out"].replace("/copy", "/book")
    return _without(json.loads(text)) if text.startswith("{") else text


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(item) for name, item in value.items() if name not in NOT_COMPARED}
    return [_without(item) for item in value] if isinstance(value, list) else value


def expect_same(book: Path, fault: str, *, notice: str, may_lack: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read with the fault, and a copy of the book without: the answers are the same, but for some commands'.

    Each command says the notice, if it is about anything that the command could not do.
    """
    expected, found = read(book, fault)
    for name, said in found.items():
        if name in CHECKS:
            assert_only_pages_lag(name, said)
        elif name not in may_lack:
            assert said["status"] == expected[name]["status"], said
            assert comparable(said) == comparable(expected[name]), name
        if said["out"].startswith("{"):
            answer = json.loads(said["out"])
            assert notice in answer.get("notice", ""), (name, said)
            assert not notice or f"note: {answer['notice']}" in said["err"] or name.startswith("recall"), (name, said)
    assert not [path.name for path in (book / ".commonplace").iterdir() if "unusable" in path.name]
    return found


def assert_only_pages_lag(name: str, said: dict[str, Any]) -> None:
    """A page that could not be written is the only thing that `doctor` and `verify` find, or a note it names."""
    assert said["status"] in (0, 1), said
    answer = json.loads(said["out"])
    if name == "verify":
        assert all("page" in difference or "cannot be read" in difference for difference in answer["differences"]), said
    else:
        codes = {item["code"] for item in answer["findings"] if item["severity"] != "note"}
        assert codes <= {"page_differs", "unreadable"}, said


FULL = "the disk, or your quota on it, is full. This answer was made from the files instead."


@pytest.mark.parametrize("fault", ["no growth", "no room"])
def test_a_full_disk(book: Path, fault: str) -> None:
    """On a full disk every command gives its whole answer, and says that the index could not be brought up to date."""
    expect_same(book, fault, notice=FULL if fault == "no room" else "This answer was made from the files instead.")


def test_a_read_only_book(book: Path) -> None:
    """A book in which nothing may be written gives its whole answers; its index is then kept elsewhere."""
    try:
        expect_same(book, "read-only", notice="", may_lack=("status",))
    finally:
        for folder, _, _ in os.walk(book):
            os.chmod(folder, 0o700)


def test_an_index_that_the_disk_does_not_give(book: Path) -> None:
    """With EIO on the index every command answers from the notes; a hook says that it did without the index."""
    notice = "the disk reported an error. This answer was made from the files instead."
    found = expect_same(book, "index error", notice=notice, may_lack=("session-start", "prompt"))
    assert "The index could not be opened: the disk reported an error." in found["prompt"]["out"]
    assert "The index could not be opened: the disk reported an error." in found["session-start"]["out"]
    assert "port 5433" in found["session-start"]["out"]


def test_a_state_that_the_disk_does_not_give(book: Path) -> None:
    """With EIO on the state every command gives its whole answer, and says that earlier uses do not count in it."""
    notice = "The state could not be read: the disk reported an error. What was used before does not count"
    expect_same(book, "state error", notice=notice)


def test_a_note_that_the_disk_does_not_give(book: Path) -> None:
    """With EIO on one note all others are answered in full, and `doctor` names that one."""
    found = expect_same(book, "note error", notice="")
    findings = json.loads(found["doctor"]["out"])["findings"]
    assert [item["code"] for item in findings if item["path"].endswith(BROKEN_NOTE)] == ["unreadable"]


def test_another_process_that_waits_for_its_disk(book: Path) -> None:
    """While another process is in the middle of a store, every command gives its whole answer and waits for nothing."""
    shutil.copytree(book, book.parent / "copy")
    with another_process("fsync", book):
        _, found = read(book, "none")
    assert {said["status"] for said in found.values()} <= {0, 1}
    keys = {item["key"] for item in json.loads(found["list"]["out"])["memories"]}
    assert {"staging", "zebra", "okapi", "broken", "emu"} <= keys
    assert [hit["key"] for hit in json.loads(found["recall by words"]["out"])["hits"]] == ["zebra", "emu"]
    assert "port 5433" in found["session-start"]["out"] and "port 5433" in found["prompt"]["out"]


def test_a_writer_that_holds_every_lock(book: Path) -> None:
    """While another process holds every lock there is, every command gives its whole answer, and says what it could
    not bring up to date."""
    shutil.copytree(book, book.parent / "copy")
    with another_process("locks", book):
        expected, found = read(book, "none")
    for name, said in found.items():
        if name in CHECKS:
            assert_only_pages_lag(name, said)
        else:
            assert comparable(said) == comparable(expected[name]), name
    notice = "another process is writing to it. This answer was made from the files instead."
    assert notice in json.loads(found["list"]["out"])["notice"] and notice in found["list"]["err"]


def test_few_file_handles(book: Path) -> None:
    """With too few handles for two databases and the notes, every command answers from a copy of the databases."""
    found = expect_same(book, "few handles", notice="")
    assert "too many files are open" in json.loads(found["list"]["out"])["notice"]


def test_no_file_handles(book: Path) -> None:
    """With no handle left nothing can be read, and each command says so, in our words."""
    _, found = read(book, "no handles")
    assert {name: said["status"] for name, said in found.items() if said["status"]} == dict.fromkeys(COMMANDS, 55)
    assert all('"code": "too_many_files"' in found[name]["err"] for name in COMMANDS), found


def test_every_fault_is_tested() -> None:
    """No fault of the reader is without a test here."""
    text = Path(__file__).read_text(encoding="utf-8")
    assert [fault for fault in FAULTS if f'"{fault}"' not in text] == []
