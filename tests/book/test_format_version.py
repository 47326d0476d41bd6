"""A book says which format it has, and a program that is too old for it says so and leaves it alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.memories.layout import FORMAT_VERSION, check_format, read_format
from commonplace.model.errors import BookTooNew
from commonplace.model.scope import LOCAL
from commonplace.vault.paths import KEEPER, PRIVATE
from commonplace.vault.port import Write
from tests.book.opened import files, open_book
from tests.hooks.hooking import hook
from tests.mcp.raw import Raw
from tests.vault.memory import MemoryVault

SENTENCE = "This book needs Commonplace format 2; this program reads format 1."


def command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COMMONPLACE_ROOT": str(root)}
    return subprocess.run(
        [sys.executable, "-m", "commonplace", *words], capture_output=True, text=True, env=environment, check=False
    )


@pytest.fixture
def newer(root: Path) -> Path:
    """A book that a later program has written."""
    with open_book(root) as book:
        book.store("A lynx.", key="lynx")
    (root / ".commonplace/format").write_text("2\n", encoding="utf-8")
    return root


def test_a_new_book_says_its_format(root: Path) -> None:
    """A book that is made has one line with the number, which git does not ignore; `status` names it."""
    with open_book(root) as book:
        assert book.status().format == FORMAT_VERSION
    assert (root / ".commonplace/format").read_bytes() == b"1\n"
    assert "format" not in (root / ".commonplace/.gitignore").read_text(encoding="utf-8")


def test_an_older_book_gains_it(root: Path) -> None:
    """A book without the file is of format 1, and has the file after it was opened."""
    with open_book(root) as book:
        book.store("A lynx.", key="lynx")
    (root / ".commonplace/format").unlink()
    with open_book(root) as book:
        assert [hit.key for hit in book.recall("lynx").hits] == ["lynx"]
    assert (root / ".commonplace/format").read_bytes() == b"1\n"


@pytest.mark.parametrize(
    "words", [("recall", "lynx"), ("store", "A lynx."), ("status",), ("init",), ("list",), ("config",)]
)
def test_a_newer_book_is_refused_in_one_sentence(newer: Path, words: tuple[str, ...]) -> None:
    """Every command says which format is needed and how to get there, with a code, and changes nothing."""
    before = files(newer)
    done = command(newer, *words)
    assert done.returncode == BookTooNew.exit_code and "Traceback" not in done.stderr
    assert SENTENCE in done.stderr and "[book_too_new]" in done.stderr and "Upgrade Commonplace" in done.stderr
    assert files(newer) == before


def test_doctor_runs_on_a_newer_book(newer: Path) -> None:
    """`doctor` answers with a finding, as it does for whatever else is wrong, and changes nothing."""
    before = files(newer)
    done = command(newer, "doctor", "--json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["code"], finding["message"], done.returncode) == ("format_too_new", SENTENCE, 1)
    assert SENTENCE in command(newer, "doctor").stdout and files(newer) == before


def test_every_surface_refuses_it(newer: Path) -> None:
    """The library raises the typed error, an MCP tool answers with its code, and a hook says nothing."""
    before = files(newer)
    with pytest.raises(BookTooNew, match="format 2"):
        Book.open(newer)
    assert hook(newer, "session-start", "claude-code", {"session_id": "s", "cwd": str(newer)}) == b""
    with Raw(newer) as raw:
        assert raw.error("memory_recall", query="lynx")["code"] == "book_too_new"
    after = files(newer, databases=False)
    for name in ("hook.log", "hook.log.runs"):  # a hook leaves a line there, for whoever wonders
        after.pop(f".commonplace/{name}")
    assert after == {name: before[name] for name in after}


@pytest.mark.parametrize("content", [b"", b"two\n", b"\xff\xfe", b"-1\n", b"0\n", b"1e9"])
def test_a_damaged_number_locks_nobody_out(root: Path, content: bytes) -> None:
    """A file that says no number does not stop the book; `doctor` names it."""
    with open_book(root) as book:
        book.store("A lynx.", key="lynx")
    (root / ".commonplace/format").write_bytes(content)
    with open_book(root) as book:
        assert book.recall("lynx").hits and book.status().format is None
        assert "format_unreadable" in [finding.code for finding in book.doctor()]


@given(st.binary(max_size=40) | st.integers(-3, 10**12).map(lambda number: f"{number}\n".encode()))
def test_only_a_greater_number_refuses(content: bytes) -> None:
    """Whatever the file has in it: nothing but a number above ours refuses the book, and each of those does."""
    vault = MemoryVault()
    vault.apply(LOCAL, KEEPER, [Write(PRIVATE / "format", content)])
    version = read_format(vault)
    if version is not None and version > FORMAT_VERSION:
        with pytest.raises(BookTooNew):
            check_format(vault)
    else:
        check_format(vault)
    assert version == (int(content) if content.strip().isdigit() and int(content) > 0 else None)
