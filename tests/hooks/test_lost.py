"""Hooks that give no answer are counted, and `doctor` and `connect --list` say so; a new book is no failure."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.hooks.events import HANDLERS
from commonplace.maintenance.lost_hooks import find_lost_hooks
from commonplace.model.settings import Settings
from commonplace.model.times import now, shift_time
from commonplace.vault.hook_runs import _DEFAULT_ROOT, MAX_BYTES, log_path, note_run
from tests.cli.calls import fine, run
from tests.hooks.hooking import RUN, SOURCE, hook, process, tell
from tests.hooks.test_process import STUCK

HOST = "claude-code"
SECRET = "the heron is called Gustav"
# The deadline passes before the first module of ours is loaded, as with a cold disk.
STUCK_LOADING = """
import builtins, time
real = builtins.__import__
def load(name, *rest, **more):
    if name == "commonplace.hooks.events": time.sleep(3600)
    return real(name, *rest, **more)
builtins.__import__ = load
"""


@pytest.fixture
def book(root: Path) -> Path:
    with Book.open(root) as made:
        made.store("Tests run with pytest.", "test-runner", "global")
        made.recall("tests")
    return root


def said(**more: object) -> dict[str, object]:
    return {"session_id": "s1", "cwd": "/", "source": "startup", "prompt": SECRET, **more}


def runs(root: Path) -> list[list[str]]:
    """The lines of the log of runs, without time and process."""
    lines = Path(log_path(str(root))).read_text("ascii").splitlines()
    return [[host, event, outcome] for _, host, event, _, outcome in map(str.split, lines)]


def lost(root: Path) -> dict[str, tuple[int, int, dict[str, int]]]:
    return {one.host: (one.lost, one.runs, dict(one.reasons)) for one in find_lost_hooks(str(root), now())}


def add_lines(root: Path, *lines: str) -> None:
    with Path(log_path(str(root))).open("a", encoding="ascii") as log:
        log.writelines(f"{line}\n" for line in lines)


def test_every_hook_that_answers_is_counted_once(book: Path) -> None:
    """One line for each run, whether it had something to say or not; none is lost, and nothing of a prompt is in it."""
    for event in HANDLERS:
        hook(book, event, HOST, said(transcript_path="/t"))
    assert runs(book) == [[HOST, event, "done"] for event in HANDLERS]
    assert lost(book) == {}
    assert "Gustav" not in Path(log_path(str(book))).read_text("ascii")


def test_what_answers_nothing_is_not_counted(book: Path, tmp_path: Path) -> None:
    """No line where memory is switched off, the event is unknown, or there is no book, where nothing is made either."""
    hook(book, "prompt", HOST, said(), COMMONPLACE_ENABLED="0")
    hook(book, "odd", HOST, said())
    hook(tmp_path / "none", "prompt", HOST, said())
    assert not Path(log_path(str(book))).exists() and not (tmp_path / "none").exists()


@pytest.mark.parametrize("program", [STUCK, STUCK_LOADING], ids=["a stuck disk", "slow to load"])
def test_a_passed_deadline_is_counted(program: str, book: Path) -> None:
    """A hook that ends at its deadline is lost for that reason, also if not one of our modules was loaded by then."""
    done = process(book, ["prompt", "--host", HOST], json.dumps(said()).encode(), program=program + RUN, deadline=50)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert runs(book)[-1] == [HOST, "prompt", "deadline"]
    assert lost(book) == {HOST: (1, 1, {"deadline": 1})}


def test_an_error_without_an_answer_is_counted(book: Path) -> None:
    """A hook that fails before it answers is lost, with the code of the error; one that answered before is not."""
    state = "from commonplace.hooks import events\ndef fail(*_): raise OSError\nevents.HookEvent.save = fail\n"
    done = process(book, ["prompt", "--host", HOST], json.dumps(said()).encode(), program=state + RUN)
    assert done.returncode == 0 and lost(book) == {}
    (book / ".commonplace" / "config.toml").write_text("odd = 1\n", "utf-8")
    assert hook(book, "prompt", HOST, said()) == b""
    assert lost(book) == {HOST: (1, 2, {"invalid_settings": 1})}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_a_hook_that_its_host_kills_is_counted(book: Path) -> None:
    """After half of its time a hook leaves a line; if it is killed then, no other follows, and it counts as killed."""
    environment = {**os.environ, "PYTHONPATH": SOURCE, "COMMONPLACE_ROOT": str(book)}
    environment["COMMONPLACE_HOOK_DEADLINE_MS"] = "200"
    killed = "import os\nfrom commonplace.hooks import main\nmain._end_run = lambda *_: os.kill(os.getpid(), 9)\n"
    command = [sys.executable, "-c", f"{killed}{STUCK}{RUN}", "prompt", "--host", HOST]
    done = subprocess.run(command, input=json.dumps(said()).encode(), env=environment, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert runs(book) == [[HOST, "prompt", "slow"]]
    assert lost(book) == {}  # it may be running
    (one,) = find_lost_hooks(str(book), shift_time(now(), 120))
    assert (one.lost, one.runs, one.reasons) == (1, 1, {"killed": 1})


def test_a_slow_hook_that_answers_is_not_lost(book: Path) -> None:
    """The line after half of the time counts no run of its own."""
    at = shift_time(now(), -600)
    add_lines(book, f"{at} {HOST} prompt 7 slow", f"{at} {HOST} prompt 7 done", f"{at} {HOST} prompt 7 slow")
    assert lost(book) == {HOST: (1, 2, {"killed": 1})}
    add_lines(book, f"{at} {HOST} prompt 7 slow", f"{at} {HOST} prompt 7 done")
    assert lost(book) == {HOST: (1, 3, {"killed": 1})}


def test_doctor_and_connect_say_it_in_a_line(book: Path) -> None:
    """Both name the host, how many of how many, why, and what to do; as JSON, too; a few are a note, many a warning."""
    at = now()
    add_lines(book, *[f"{at} {HOST} prompt {n} done" for n in range(38)])
    add_lines(book, *[f"{at} {HOST} prompt {n} deadline" for n in range(2)], f"{at} {HOST} stop 9 storage_error")
    words = ("--root", str(book))
    shown = run("connect", "--list", *words).out
    line = "3 of 41 hooks in the last 7 days gave no answer"
    assert (
        f"Claude Code: {line} (2 not done in time: the machine was busy, or a disk did not answer; 1 failed: " in shown
    )
    assert "If this goes on, give hooks more time: set COMMONPLACE_HOOK_DEADLINE_MS" in shown
    (found,) = [item["lost_hooks"] for item in fine("connect", "--list", *words)["hosts"] if item["lost_hooks"]]
    assert (found["lost"], found["runs"], found["reasons"]) == (3, 41, {"deadline": 2, "storage_error": 1})
    assert f"{HOST}: {line}" in run("doctor", *words).out
    with Book.open(book) as opened:
        (finding,) = [finding for finding in opened.doctor() if finding.code == "lost_hooks"]
    assert finding.severity == "note"
    add_lines(book, *[f"{at} {HOST} prompt {n} deadline" for n in range(5)])
    with Book.open(book) as opened:
        (finding,) = [finding for finding in opened.doctor() if finding.code == "lost_hooks"]
    assert finding.severity == "warning"


def test_only_the_last_week_counts(book: Path) -> None:
    """What is older is forgotten; lines that nobody of us wrote are passed over."""
    add_lines(
        book, f"{shift_time(now(), -8 * 86_400)} {HOST} prompt 1 deadline", "odd", "2026-99-99T99:99:99Z a b c odd",
        f"{now()} {HOST} prompt 2", f"{now()} {HOST} prompt 3 deadline extra", "\0\x1b[31m" * 5,
    )  # fmt: skip
    assert lost(book) == {}
    log = Path(log_path(str(book)))
    log.write_bytes(b"\xff\xfe\x00" * 1_000)
    assert lost(book) == {}


def test_the_log_of_runs_stays_small(book: Path) -> None:
    """When it is full it begins anew, with one before; then it is said how far back it goes."""
    log = Path(log_path(str(book)))
    line = f"{shift_time(now(), -86_400 - 60)} {HOST} prompt 1 done\n"
    log.write_text(line * (MAX_BYTES // len(line) + 1), "ascii")
    hook(book, "prompt", HOST, said())
    assert not log.exists() and log.with_name(f"{log.name}.1").exists()
    (book / ".commonplace" / "config.toml").write_text("odd = 1\n", "utf-8")
    hook(book, "prompt", HOST, said())
    (one,) = find_lost_hooks(str(book), now())
    assert one.days == 2 and "in the last 2 days" in one.message and one.runs > 2_000


@pytest.mark.parametrize("words", [["../x", "a b"], ["a\nb", "é"], ["", "x" * 50], ["--host", "\x1b[31m"]])
def test_a_host_or_event_is_a_word_or_unknown(words: list[str], book: Path) -> None:
    """Whatever the command line says, a line stays a line."""
    note_run({"COMMONPLACE_ROOT": str(book)}, words[0], words[1], "done")
    assert set(runs(book)[0]) <= {"unknown", "done", "--host"}


def test_the_default_root_is_that_of_the_settings() -> None:
    """The log of runs is in the book that every other part opens."""
    assert Settings().root == _DEFAULT_ROOT


@pytest.mark.parametrize("made_by", ["init", "a store"])
def test_a_book_without_an_index_is_no_failure(made_by: str, root: Path) -> None:
    """On a new book, and after its index was deleted, no event leaves a line in the log of failures."""
    Book.init(root)
    if made_by == "a store":
        with Book.open(root) as made:
            made.store("The heron nests in March.", "heron", "global")
        for file in (root / ".commonplace").glob("index.db*"):
            file.unlink()
    for event in HANDLERS:
        text = tell(root, event, HOST, said())
        assert ("heron nests" in text) == (made_by == "a store" and event in ("session-start", "subagent-start"))
    assert not (root / ".commonplace" / "hook.log").exists()
    assert lost(root) == {}
