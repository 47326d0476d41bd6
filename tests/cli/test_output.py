"""What goes to standard output and what to standard error; names, paths and times that people can use."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.recall.dates import read_when
from tests.cli.calls import COMMAND, fine, process, run
from tests.cli.conftest import PROJECT

WEB = "github.com/acme/web"
NOW = "2026-11-19T06:00:00Z"
linux = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@pytest.mark.parametrize(
    "line",
    [
        "list",
        "list --tag x",
        "recall x",
        "history",
        "review",
        "files search penguins",
        "journal list",
        "restore",
        "project list",
        "files data list",
    ],
)
def test_no_answer_is_no_output(line: str, root: Path) -> None:
    """Where there is nothing, standard output is empty, a remark on standard error says so, and the status is 1."""
    outcome = run(*line.split())
    assert (outcome.status, outcome.out) == (1, "") and outcome.err.endswith(".\n")


@linux
@pytest.mark.parametrize("line", ["list", "show test-runner", "status", "recall tests", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written(line: str, unbuffered: str, book: Path) -> None:
    """A full disk below standard output is named as what it is: no report is asked for, and no traceback is shown."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *line.split()], stdout=full, stderr=subprocess.PIPE, check=False, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 56 and "[write_failed]" in done.stderr
    assert "report" not in done.stderr and done.stderr.count("\n") == 2


def test_an_editor_without_a_terminal(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal no editor is waited for: none is started if none is named, and a named one cannot read."""
    outcome = process("edit", "lesson", "--json")
    assert (outcome.status, outcome.error()["code"]) == (17, "invalid_settings") and "EDITOR" in outcome.error()["hint"]
    reader = "import sys; open('/dev/tty') if sys.platform != 'win32' else 0; sys.stdin.read()"
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' -c \"{reader}\"")
    assert process("edit", "lesson", "--json").status == 17


def test_what_is_wrong_with_no_text(root: Path) -> None:
    """An empty text is refused for being empty, not for its encoding; a closed book says that it is closed."""
    error = run("store", "", "--json").error()
    assert (error["message"], error["hint"]) == ("There is no text to store.", "Give the text of the memory.")
    book = Book.open(root, project=PROJECT)
    book.close()
    for verb in (
        lambda: book.show("x"),
        lambda: book.store("x"),
        lambda: book.history("x"),
        book.status,
        book.data_list,
    ):
        with pytest.raises(Exception, match="The book is closed") as caught:
            verb()
        assert caught.value.hint == "Open the book again."  # type: ignore[attr-defined]


def test_printed_paths_open(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths that store, show, history, status and doctor print are files on the disk, and `show` takes them."""
    printed = run("store", "Another fact.", "--key", "fact").out.splitlines()[1].strip()
    assert Path(printed).read_text("utf-8").endswith("Another fact.\n")
    assert fine("show", printed)["key"] == "fact" and "Another fact." in run("files", "read", printed).out
    run("store", "It changed.", "--key", "fact", "--mode", "replace")
    rows = run("history", "fact").out.splitlines()
    assert len(rows) == 2 and all(Path(row.split("  ")[-1]).is_file() for row in rows)
    folders = [row.split("  ")[-1] for row in run("status").out.splitlines() if row.startswith("global")]
    assert folders == [str(book / "memories" / "global")]
    (book / "memories" / "global" / "Bad Name.md").write_text("x", "utf-8")
    assert str(book / "memories" / "global" / "Bad Name.md") in run("doctor").out
    monkeypatch.chdir(book)
    near = run("show", "fact").out.split("file")[1].split()[0]
    assert near.startswith("memories") and Path(near).is_file() and fine("show", near)["key"] == "fact"


def test_who_and_where_of_each_memory(book: Path) -> None:
    """list --all, recall --all, history and show name the project, the agent and the session of what they list."""
    with Book.open(book, project=WEB, agent="scout", session="s7", role="agent") as scout:
        scout.store("The web app listens on port 8080.", "web-port")
    assert f"web-port      project {WEB}" in run("list", "--all").out and "session s1" in run("list", "--all").out
    listed = run("recall", "web port", "--all").out
    assert re.search(rf"^web-port  project {WEB}  .*  scout  session s7$", listed, re.M)
    lately = run("history", "--project", WEB).out
    assert re.search(r"^web-port  project  .*Z  scout  session s7$", lately, re.M)
    shown = run("show", "web-port", "--project", WEB).out
    assert f"project {WEB}" in shown and "scout  agent  session s7" in shown


def test_an_agent_is_not_told_other_sessions(book: Path) -> None:
    """An agent's recall has no id of another session: with it, that session's memories could be read."""
    with Book.open(book, project=WEB, agent="scout", session="s7", role="agent") as scout:
        scout.store("The web app listens on port 8080.", "web-port")
        assert scout.recall("web port").hits[0].session == "s7"
    answer = run("recall", "web port", "--project", WEB, "--agent", "bob", "--session", "s8", "--json").answer()
    assert answer["hits"][0]["session"] is None


def test_it_is_in_another_project(book: Path) -> None:
    """What is not found here and is elsewhere is said to be there, with the option that shows it; no agent is told."""
    words = ("recall", "pytest", "--project", WEB)
    assert run(*words).err.splitlines()[-1] == f"1 match in project {PROJECT} (--all shows it)."
    (book / "memories" / "global" / "release-day.md").unlink()
    assert f"4 memories in project {PROJECT} (--all shows them)." in run("list", "--project", WEB).err.splitlines()
    assert PROJECT not in run(*words, "--agent", "bob").err


def test_the_page_of_a_project_has_its_name(book: Path) -> None:
    """Index pages are titled with the project's id, also one that was titled by its folder; links stay as they were."""
    page = next((book / "memories" / "project").glob("*/index.md"))
    assert page.read_text("utf-8").startswith(f"# {PROJECT}\n")
    assert f"[{PROJECT}]({page.parent.name}/index.md)" in (page.parents[1] / "index.md").read_text("utf-8")
    journal = (book / "journal" / "index.md").read_text("utf-8")
    assert f"[{PROJECT}]({page.parent.name}/index.md)" in journal
    old = page.read_text("utf-8").replace(f"# {PROJECT}", f"# project / {page.parent.name}")
    page.write_text(f"{old}\nMine.\n", "utf-8")
    run("store", "One more.", "--key", "more")
    assert page.read_text("utf-8").startswith(f"# {PROJECT}\n") and page.read_text("utf-8").endswith("Mine.\n")


def test_a_store_from_the_home_folder(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first store from the home folder says that this became a project; a later one, or elsewhere, does not."""
    monkeypatch.delenv("COMMONPLACE_PROJECT")
    monkeypatch.chdir(tmp_path / "home")
    assert "is a project of its own now" in run("store", "From home.").err
    assert run("store", "Again.").err == ""
    monkeypatch.chdir(tmp_path / "here")
    assert run("store", "From a folder.").err == ""


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("7d", "2026-11-12T06:00:00Z", None),
        ("2h", "2026-11-19T04:00:00Z", None),
        ("90 min", "2026-11-19T04:30:00Z", None),
        ("2 weeks ago", "2026-11-05T06:00:00Z", None),
        ("an hour ago", "2026-11-19T05:00:00Z", None),
        ("3mo", "2026-08-21T06:00:00Z", None),
        ("yesterday", "2026-11-18T00:00:00Z", "2026-11-18T23:59:59Z"),
        ("Monday", "2026-11-16T00:00:00Z", "2026-11-16T23:59:59Z"),
        ("last week", "2026-11-09T00:00:00Z", "2026-11-15T23:59:59Z"),
        ("2026-11-15", "2026-11-15T00:00:00Z", "2026-11-15T23:59:59Z"),
    ],
)
def test_times_that_people_write(text: str, start: str, end: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time may be given as a length back from now, or as a day or week by its name."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert (read_when(text, now=NOW), read_when(text, end=True, now=NOW)) == (start, end or start)


@pytest.mark.parametrize(
    "line",
    [
        "recall tests --since 7d",
        "recall --until now --since yesterday",
        "recall tests --as-of now",
        "list --since 2h",
        "history --since 2w",
        "store x --occurred yesterday",
    ],
)
def test_every_option_takes_such_times(line: str, book: Path) -> None:
    """Each option that takes a time takes a relative one; what is no time is refused with examples."""
    assert run(*line.split()).status == 0
    words = line.split()
    words[-1] = "never"
    assert (run(*words).status, "yesterday" in run(*words).err) == (15, True)


def test_one_tag_or_several(book: Path) -> None:
    """--tag and --tags are the same option wherever there is one."""
    fine("store", "Tagged.", "--key", "tagged", "--tag", "a,b")
    for option in ("--tag", "--tags"):
        assert [item["key"] for item in fine("list", option, "a,b")["memories"]] == ["tagged"]
        assert [hit["key"] for hit in fine("recall", option, "b")["hits"]] == ["tagged"]


@pytest.mark.parametrize("line", ["index", "index --scope global", "/memories/global/index.md", "{book}/index.md"])
def test_showing_an_index_page_names_the_command(line: str, book: Path) -> None:
    """`show index` says that it is a page and which command prints it; that command does."""
    error = run("show", *line.format(book=book).split(), "--json").error()
    assert "index page" in error["message"]
    (command,) = re.findall(r"`commonplace (files read [^`]+)`", error["hint"])
    assert fine(*command.split())["text"].startswith("# ")
