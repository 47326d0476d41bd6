"""A person is asked at a terminal: review, edit, and what cannot be undone. Typed answers, real effects."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.cli.call import ask
from tests.cli.calls import COMMAND, fine, run
from tests.cli.conftest import EDIT, PROJECT
from tests.cli.terminal import PATIENCE, Terminal

ASKED = "[q]uit? "


def waiting() -> list[str]:
    outcome = run("review", "--list", "--json")
    return [item["key"] for item in outcome.answer()["waiting"]]


@pytest.fixture
def three(root: Path) -> Path:
    """Three memories that wait: one, three, two."""
    with Book.open(root, project=PROJECT) as book:
        paths = [root / book.store(f"Lesson {key}.", key).path.lstrip("/") for key in ("one", "three", "two")]
    for path in paths:
        path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    return root


def test_accept_edit_reject(three: Path, editor: Path) -> None:
    """One is accepted, one edited first, one rejected; each verdict is in the book, and nothing is left over."""
    editor.write_text(EDIT + "path.write_text('A better lesson.\\n')\n", "utf-8")
    with Terminal("review") as terminal:
        for answer in ("a\n", "what\n", "e\n", "reject\n"):
            terminal.expect(ASKED)
            terminal.type(answer)
        status, text = terminal.end()
    assert status == 0 and "3 verdicts given, 0 left." in text and "Lesson one." in text
    assert text.count(ASKED) == 4  # "what" is no answer, and is asked again
    assert waiting() == []
    assert fine("show", "one")["status"] == "active"
    assert [entry["text"] for entry in fine("show", "three")["entries"]] == ["A better lesson."]
    assert run("show", "two").status == 1 and fine("restore", "two")["action"] == "restored"
    assert list(Path.home().glob("commonplace-edit-*")) == []


def test_accept_into_a_scope_that_stays(three: Path) -> None:
    """What waits can be accepted into another scope, which is asked for; nothing said is no verdict."""
    with Book.open(three, project=PROJECT, session="s1") as book:
        paths = [three / book.store(f"Fact {key}.", key, "session").path.lstrip("/") for key in ("four", "five")]
    for path in paths:
        path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    with Terminal("review") as terminal:
        for asked, answer in (
            (ASKED, "s\n"), (ASKED, "s\n"), (ASKED, "s\n"), (ASKED, "i\n"), ("NAME? ", "\n"),
            (ASKED, "i\n"), ("NAME? ", "global\n"),
        ):  # fmt: skip
            terminal.expect(asked)
            terminal.type(answer)
        status, text = terminal.end()
    assert status == 0 and "1 verdict given, 4 left." in text and text.count("[i]nto another scope") == 5
    assert waiting() == ["one", "three", "two", "five"]
    assert fine("show", "four")["scope"] == "global"


@pytest.mark.parametrize(
    ("answers", "verdicts", "left"),
    [
        (("s\n", "a\n", "s\n"), "1 verdict given, 2 left.", ["one", "two"]),
        (("a\n", "q\n"), "1 verdict given, 2 left.", ["three", "two"]),
        (("\x04",), "0 verdicts given, 3 left.", ["one", "three", "two"]),
    ],
    ids=["skip", "quit", "end of input"],
)
def test_skip_and_quit(answers: tuple[str, ...], verdicts: str, left: list[str], three: Path) -> None:
    """What is skipped waits on; quitting, or the end of input, asks no more and leaves the rest as it was."""
    with Terminal("review") as terminal:
        for answer in answers:
            terminal.expect(ASKED)
            terminal.type(answer)
        status, text = terminal.end()
    assert status == 0 and verdicts in text and text.count(ASKED) == len(answers)
    assert waiting() == left


def test_a_pin_is_asked_about(root: Path) -> None:
    """A proposal to pin is shown with the memory's text, offers no edit, and pins the memory once it is accepted."""
    assert run("store", "Never push to main.", "--key", "rule", "--pinned", "--agent", "bob").status == 0
    assert "pin: Never push to main." in run("review", "--list").out
    with Terminal("review") as terminal:
        terminal.expect(ASKED)
        terminal.type("a\n")
        status, text = terminal.end()
    assert status == 0 and "An agent wants this memory pinned:" in text and "[e]dit" not in text
    assert fine("show", "rule")["pinned"] and waiting() == []


def test_a_text_that_cannot_be_kept_is_not_lost(three: Path, editor: Path) -> None:
    """A secret typed while reviewing is refused, the text stays in a file that is named, and review goes on."""
    editor.write_text(EDIT + "path.write_text('Use ghp_' + 'x7Kp2mQ9vT4nR8sW1b' + 'Y6cF3hJ5dL0gZaEuIo')\n", "utf-8")
    with Terminal("review", columns=1000) as terminal:
        for answer in ("e\n", "a\n", "q\n"):
            terminal.expect(ASKED)
            terminal.type(answer)
        status, text = terminal.end()
    assert status == 0 and waiting() == ["one", "two"]
    kept = Path(text.split("Your text is kept in ")[1].split(". ")[0])
    assert kept.read_text().startswith("Use ghp_")


def test_nothing_waits(root: Path) -> None:
    """An empty queue is said, with status 1, at a terminal and without one."""
    with Terminal("review") as terminal:
        assert terminal.end() == (1, "Nothing waits.\n")
    assert (run("review").out, run("review").err) == ("", "Nothing waits.\n")


def test_ctrl_c_at_a_question(three: Path) -> None:
    """Ctrl-C ends a review with status 130 and no traceback; the verdict that was given stands."""
    with Terminal("review") as terminal:
        terminal.expect(ASKED)
        terminal.type("a\n")
        terminal.expect(ASKED)
        terminal.type("\x03")
        status, text = terminal.end()
    assert status == 130 and "Traceback" not in text and "[interrupted]" in text
    assert waiting() == ["three", "two"]


def test_ctrl_c_just_before_the_answer_is_waited_for() -> None:
    """Ctrl-C that Python notes without the reading being ended by it is not lost: the question ends all the same."""
    master, slave = os.openpty()
    asked, lost = threading.Event(), []

    def press() -> None:
        os.read(master, 100)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # noted in this thread: the one that asks sleeps on
        if not asked.wait(PATIENCE):
            lost.append("Ctrl-C was lost")
            os.write(master, b"\n")

    presser = threading.Thread(target=press)
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with open(slave, encoding="utf-8") as stdin, open(slave, "w", encoding="utf-8", closefd=False) as stdout:
            presser.start()
            with pytest.raises(KeyboardInterrupt):
                ask("Sure? ", stdin, stdout)
            asked.set()
            presser.join()
    finally:
        signal.signal(signal.SIGINT, old)
        os.close(master)
    assert lost == []


@pytest.mark.parametrize("lines", [True, False])
def test_two_answers_at_once(lines: bool) -> None:
    """Answers that are pasted together are read one by one, whether the terminal hands over lines or all there is."""
    import termios  # not on Windows, where the terminal above has this file skipped

    master, slave = os.openpty()
    modes = termios.tcgetattr(slave)
    modes[3] = modes[3] | termios.ICANON if lines else modes[3] & ~termios.ICANON
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    os.write(master, b"a\nr\n")
    late = threading.Timer(PATIENCE, os.write, (master, b"late\n\n"))
    late.start()
    with open(slave, encoding="utf-8") as stdin, open(slave, "w", encoding="utf-8", closefd=False) as stdout:
        assert [ask("Sure? ", stdin, stdout) for _ in range(2)] == ["a\n", "r\n"]
        assert late.is_alive()
    late.cancel()
    os.close(master)


def test_edit_in_the_editor(book: Path, editor: Path) -> None:
    """What the editor makes of the file is the memory; the text before is in its history; the copy is gone."""
    editor.write_text(EDIT + "path.write_text(path.read_text('utf-8').replace('6000', '7000'), 'utf-8')\n", "utf-8")
    with Terminal("edit", "staging-port") as terminal:
        status, text = terminal.end()
    assert status == 0 and "staging-port" in text
    assert fine("show", "staging-port")["entries"][0]["text"] == "Staging listens on port 7000."
    assert [item["action"] for item in fine("history", "staging-port")["revisions"]][-2:] == ["edited", "current"]
    assert list(Path.home().glob("commonplace-edit-*")) == [] and fine("verify")["ok"]
    editor.write_text("", "utf-8")
    assert fine("edit", "staging-port")["action"] == "unchanged"


def test_somebody_else_changes_it_meanwhile(book: Path, editor: Path) -> None:
    """An edit of a memory that was changed while the editor was open is refused, and its text is kept."""
    call = [*COMMAND, "store", "Meanwhile.", "--key", "lesson"]
    editor.write_text(f"{EDIT}import subprocess\nsubprocess.run({call!r})\npath.write_text('Mine.')\n", "utf-8")
    outcome = run("edit", "lesson", "--json")
    assert (outcome.status, outcome.error()["code"]) == (32, "revision_mismatch")
    kept = Path(outcome.error()["hint"].removeprefix("Your text is kept in ").split(". ")[0])
    assert kept.read_text() == "Mine."
    assert [entry["text"] for entry in fine("show", "lesson")["entries"]][-1] == "Meanwhile."


@pytest.mark.parametrize(
    ("line", "answer", "status"),
    [
        ("forget staging-port --purge", "y\n", 0),
        ("forget staging-port --purge", "n\n", 1),
        ("clear project", "yes\n", 0),
        ("clear project", "\n", 1),
        ("clear project", "\x04", 1),
        ("trust", "Y\n", 0),
        ("trust", "what\n", 1),
    ],
)
def test_what_cannot_be_undone_is_asked(line: str, answer: str, status: int, book: Path) -> None:
    """Only a yes does it; anything else, or no answer, changes nothing and says so. A script needs --yes."""
    fine("config", "set", "lock_timeout", "20")
    with (book / ".commonplace" / "config.toml").open("a") as config:
        config.write('embedder_key = "hunter2"\n')
    before = (fine("list"), fine("status")["trusted"])
    with Terminal(*line.split()) as terminal:
        terminal.expect("[y/N] ")
        terminal.type(answer)
        ended, text = terminal.end()
    assert ended == status
    assert ("Nothing was changed." in text) == (status == 1)
    assert ((run("list", "--json").answer(), fine("status")["trusted"]) != before) == (status == 0)
    if status:
        piped = run(*line.split())
        assert piped.status == 2 and "needs --yes, or a yes at the terminal" in piped.err
    if line == "trust":
        assert "lock_timeout = 20" in text and "embedder_key = set" in text
    assert "hunter2" not in text


def test_a_script_is_never_asked(book: Path) -> None:
    """With --json no question is put at a terminal either: standard output has nothing but the answer."""
    with Terminal("clear", "project", "--json") as terminal:
        status, text = terminal.end()
    assert status == 2 and "[y/N]" not in text


def test_a_source_is_asked_about_once(root: Path, tmp_path: Path) -> None:
    """Whether text of a source may stand in briefs is asked when it is new, and not when it is read again, with a path
    that is not there, or by `--update`."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "plan.md").write_text("# Plan\n\nThe launch is in May.\n", "utf-8")
    with Terminal("ingest", str(notes)) as terminal:
        terminal.expect("[y/N] ")
        terminal.type("y\n")
        assert terminal.end()[0] == 0
    for words in ((str(notes),), ("--update",), (str(tmp_path / "nowhere"),)):
        with Terminal("ingest", *words) as terminal:
            status, text = terminal.end()
        assert (status, "[y/N]" in text) == (int(words[0].endswith("nowhere")), False), text
    [source] = fine("tree", "sources")["sources"]
    assert source["brief"] is True
