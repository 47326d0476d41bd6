"""The hook as a process: its status, its streams, its deadline, and what it loads."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.hooks.events import HANDLERS
from commonplace.hooks.main import apply_root, read_deadline, serve
from tests.hooks.hooking import RUN, SOURCE, close, process, repository, text_of

WORDS = ["session-start", "--host", "claude-code"]
FORBIDDEN = (
    "numpy",
    "yaml",
    "re2",
    "asyncio",
    "mcp",
    "logging",
    "subprocess",
    "commonplace.book",
    "commonplace.verbs",
    "commonplace.tree",
)
STUCK = """
import sys, time
from commonplace.vault import local
def read(*_): time.sleep(3600)
local.LocalVault.read = read
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", "https://github.com/acme/app")


@pytest.fixture
def book(root: Path, repo: Path) -> Path:
    with Book.open(root, cwd=repo) as made:
        made.store("Tests run with pytest.", "test-runner")
        made.recall("tests")
    return root


def start(repo: Path, **more: object) -> bytes:
    return json.dumps({"session_id": "ab12", "cwd": str(repo), "source": "startup", **more}).encode()


def test_a_session_starts_with_the_brief(book: Path, repo: Path) -> None:
    """The real process prints one JSON object with the brief, nothing on standard error, and ends with 0."""
    done = process(book, WORDS, start(repo))
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Tests run with pytest." in text_of(done.stdout)
    assert done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("joined", [True, False])
def test_the_line_may_name_the_book(at: int, joined: bool, book: Path, repo: Path, tmp_path: Path) -> None:
    """--root, anywhere on the line, names the book's folder, over the environment."""
    option = [f"--root={book}"] if joined else ["--root", str(book)]
    words = [*WORDS[:at], *option, *WORDS[at:]]
    printed: list[bytes] = []
    environment = apply_root(words, {"COMMONPLACE_ROOT": str(tmp_path / "none")})
    opened = serve(words, environment, lambda: start(repo), printed.append)
    assert opened is not None
    close(opened)
    assert "Tests run with pytest." in text_of(b"".join(printed))
    assert apply_root(["--root"], {"A": "b"}) == {"A": "b"}


def test_garbage_ends_with_0(book: Path) -> None:
    """Garbage on standard input is no error to anybody."""
    done = process(book, WORDS, b"\xff garbage {")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_input_beyond_the_limit_is_read_to_its_end(book: Path) -> None:
    """A host that sends far too much is not left with a broken pipe."""
    done = process(book, WORDS, b'{"prompt": "' + b"x" * 9_000_000 + b'"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_help_is_for_a_person(book: Path) -> None:
    """--help says what it is for, without a book or standard input."""
    done = process(book, ["--help"], b"")
    assert done.returncode == 0
    assert b"commonplace connect" in done.stdout


@pytest.mark.parametrize("words", [WORDS, ["prompt", "--host", "gemini"], ["stop", "--host", "codex"]])
def test_it_loads_nothing_heavy(words: list[str], book: Path, repo: Path) -> None:
    """No event loads numpy, yaml, re2, asyncio, the MCP SDK, logging, or a layer above context."""
    told = f"def told(_): print([m for m in {FORBIDDEN!r} if m in sys.modules], file=sys.stderr, flush=True); leave(0)"
    program = f"import os, sys\nleave = os._exit\n{told}\nos._exit = told\n{RUN}"
    more = {"prompt": "Which runner runs the tests, pytest?", "transcript_path": str(repo / ".git" / "config")}
    done = process(book, words, start(repo, **more), program=program, COMMONPLACE_CAPTURE="auto")
    assert done.stderr.strip() == b"[]"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are read otherwise there")
def test_a_host_that_leaves_standard_input_open_is_answered(book: Path, repo: Path) -> None:
    """The end of the object is the end of what is said: nobody waits for the end of the stream."""
    environment = {**os.environ, "PYTHONPATH": SOURCE, "COMMONPLACE_ROOT": str(book)}
    environment["COMMONPLACE_HOOK_DEADLINE_MS"] = "60000"
    command = [sys.executable, "-c", RUN, *WORDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(start(repo))
        running.stdin.flush()
        assert "Tests run with pytest." in text_of(running.stdout.read())
        assert running.wait(60) == 0


def test_a_stuck_disk_ends_at_the_deadline(book: Path, repo: Path) -> None:
    """A disk that never answers costs the deadline and no more: nothing printed, status 0."""
    done = process(book, WORDS, start(repo), program=STUCK + RUN, deadline=50)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "error=TimeoutError" in (book / ".commonplace" / "hook.log").read_text("utf-8")


def test_a_host_that_says_nothing_ends_at_the_deadline(book: Path) -> None:
    """Standard input that stays open and empty costs the deadline and no more."""
    environment = {**os.environ, "PYTHONPATH": SOURCE, "COMMONPLACE_ROOT": str(book)}
    environment["COMMONPLACE_HOOK_DEADLINE_MS"] = "50"
    command = [sys.executable, "-c", RUN, *WORDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as running:
        assert running.wait(60) == 0
        assert running.stdout is not None
        assert running.stdout.read() == b""


def test_a_locked_index_is_read_all_the_same(book: Path, repo: Path) -> None:
    """While another process has the index for itself, the brief is the same as without it; nobody waits for it."""
    free = process(book, WORDS, start(repo))
    holder = sqlite3.connect(book / ".commonplace" / "index.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = process(book, WORDS, start(repo))
    finally:
        holder.close()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Tests run with pytest." in text_of(done.stdout) and done.stdout == free.stdout


def test_a_locked_state_costs_nothing(book: Path, repo: Path) -> None:
    """While another process writes the state, the brief is printed all the same."""
    holder = sqlite3.connect(book / ".commonplace" / "state.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        done = process(book, WORDS, start(repo))
    finally:
        holder.close()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Tests run with pytest." in text_of(done.stdout)


def test_an_unreadable_root_is_nothing(book: Path, repo: Path, tmp_path: Path) -> None:
    """A root that cannot be read, is a file, or is no book prints nothing and ends with 0."""
    refused = "import os\nreal = os.open\ndef refuse(*_, **__): raise PermissionError(13, 'no')\nos.open = refuse\n"
    done = process(book, WORDS, start(repo), program=refused + RUN)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    file = tmp_path / "file"
    file.write_text("x", "utf-8")
    for place in (file, file / "below", tmp_path):
        done = process(place, WORDS, start(repo))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("given", "start", "other"),
    [("", 2.0, 0.8), ("500", 0.5, 0.5), ("odd", 2.0, 0.8), ("0", 2.0, 0.8), ("-5", 2.0, 0.8), ("9e9", 2.0, 0.8)],
)
def test_the_deadline_is_a_number_of_milliseconds(given: str, start: float, other: float) -> None:
    """Starts have 2 s, other events 800 ms; COMMONPLACE_HOOK_DEADLINE_MS is believed within reason."""
    environment = {"COMMONPLACE_HOOK_DEADLINE_MS": given}
    deadlines = {event: read_deadline(environment, event) for event in [*HANDLERS, "session-end", ""]}
    starts = {"session-start": start, "subagent-start": start}
    assert deadlines == {**dict.fromkeys(deadlines, other), **starts}
    assert (read_deadline({}, "session-start"), read_deadline({}, "prompt")) == (2.0, 0.8)


@pytest.mark.deep
@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_a_book_of_two_gigabytes_is_not_read(root: Path) -> None:
    """A note that grew to two gigabytes costs a hook nothing: with less memory than that, the others are told."""
    with Book.open(root) as book:
        huge = root / book.store("It will be huge.", key="huge", scope="global").path.lstrip("/")
        book.store("The port is 8042.", key="port", scope="global")
    os.truncate(huge, 2_000_000_000)  # a hole: it takes no room on the disk
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9)); {RUN}"
    said = json.dumps({"session_id": "s1", "cwd": str(root), "source": "startup"}).encode()
    done = process(root, ["session-start", "--host", "claude-code"], said, program=limited)
    assert done.returncode == 0 and "8042" in text_of(done.stdout)
