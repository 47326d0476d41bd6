"""What tests of the command line start from: nothing of the machine's own settings, and a small real book."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from commonplace import Book
from tests.cli.cases import MAIL

PROJECT = "github.com/acme/app"
_SETTINGS = ("NO_COLOR", "COLUMNS", "LINES", "EDITOR", "VISUAL", "TERM", "PYTHONIOENCODING")


def make_book(root: Path) -> None:
    """A book with something of everything: entries, history, trash, links, what waits, a data file."""
    with Book.open(root, project=PROJECT) as book:
        book.store("Tests run with pytest.", "test-runner", "project", "feedback", ["ci"])
        book.store("Slow tests need --slow.", "slow-tests")
        book.store("Staging listens on port 5432.", "staging-port", tags=["ops"])
        book.store("Staging listens on port 6000.", "staging-port", mode="replace")
        book.store("Releases are on Thursdays.", "release-day", "global")
        book.store("Nose ran the tests.", "old-runner")
        book.forget("old-runner")
        book.link("test-runner", "relates_to", "slow-tests")
        path = root / book.store("A lesson that an agent learned.", "lesson").path.lstrip("/")
        book.data_put("prices.csv", b"tea,1\n")
        for number in (1, 2, 3):
            tasks = [{"worker": "tester", "description": "Run the suite", "error": f"{number} tests failed"}]
            book.record_run({"run_id": f"run-{number}", "goal": "Ship it", "tasks": tasks})
        book.ingest(MAIL)
    path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    with Book.open(root, project=PROJECT, agent="scout", session="s1", role="agent") as agent:
        agent.link("slow-tests", "contradicts", "release-day", "project")
        agent.store("The scout was here.", "note", "session")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "book"
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
            patch.delenv(name)
        make_book(root)
    return root


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the environment names as the book's; nothing is there yet."""
    for name in os.environ:
        if name.startswith("COMMONPLACE_") or name in _SETTINGS:
            monkeypatch.delenv(name)
    place, home, here = (tmp_path / name for name in ("book", "home", "here"))
    home.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setenv("COMMONPLACE_ROOT", str(place))
    monkeypatch.setenv("COMMONPLACE_PROJECT", PROJECT)
    return place


@pytest.fixture
def book(root: Path, template: Path) -> Path:
    """A copy of the small book, for one test to change."""
    shutil.copytree(template, root)
    return root


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that EDITOR names: Python, with the file's path in `path`. The test writes it."""
    script = tmp_path / "editor.py"
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{script}'")
    return script


EDIT = "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n"
