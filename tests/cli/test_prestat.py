"""Prestat: a child process stats a book's files while a command loads. It saves time, and changes no answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.cli import main, run
from commonplace.vault import prestat
from tests.cli.calls import COMMAND, fine
from tests.cli.conftest import PROJECT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a prestat")

# A command as its script starts it, for a book that is large enough, on a machine that has processors enough.
STARTED = """
import os, signal, sys
import commonplace.vault.disk as disk
import commonplace.vault.prestat as prestat
from commonplace.cli.main import main
from commonplace.vault.local import LocalVault

prestat._LARGE_FOLDER, prestat._MIN_PROCESSORS = 0, 0
surveyed, taken = [], []
survey, take, start = LocalVault.survey, prestat.take_prestat, prestat.start_prestat

def record_survey(self, space, view, path, ending):
    surveyed.append(str(path))
    return survey(self, space, view, path, ending)

def record_take(fd):
    seen = take(fd)
    taken.append(seen is not None)
    return seen

def start_and_wait(*words):
    start(*words)
    process = prestat._running and prestat._running[0]
    MEANWHILE

BEFORE
LocalVault.survey, disk.take_prestat, prestat.start_prestat = record_survey, record_take, start_and_wait
status = main()
try:
    os.waitpid(-1, os.WNOHANG)
    left = True
except ChildProcessError:
    left = False
here = [path for path in surveyed if "/project/" in path]
print("SEEN", any(taken), len(here), left, file=sys.stderr)
sys.exit(status)
"""
FULL = """
import mmap
shared = mmap.mmap
def full(*_):
    mmap.mmap = shared
    raise OSError("no more memory")
mmap.mmap = full
"""
NO_FILES = """
import resource
stop, most = prestat.stop_prestat, resource.getrlimit(resource.RLIMIT_NOFILE)
def poor():
    sys.modules.pop("signal")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, most[1]))
    stop()
    resource.setrlimit(resource.RLIMIT_NOFILE, most)
prestat.stop_prestat = poor
"""
WAIT = "os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)"


def started(*words: str, before: str = "", meanwhile: str = "pass") -> tuple[dict[str, object], list[str]]:
    """Return a command's answer, and: whether a prestat was taken, how often the project was surveyed, whether a child
    is left."""
    line = [sys.executable, "-c", STARTED.replace("MEANWHILE", meanwhile).replace("BEFORE", before), *words, "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    said, _, seen = done.stderr.rpartition("SEEN ")
    assert said == "" and "Traceback" not in seen, done.stderr
    return json.loads(done.stdout or "{}"), seen.split()


def keys(answer: dict[str, object]) -> set[str]:
    hits = answer["hits"]
    assert isinstance(hits, list)
    return {hit["key"] for hit in hits}


@pytest.fixture
def folder(root: Path) -> Path:
    """The folder of a project with thirty notes, of which the index knows."""
    with Book.open(root, project=PROJECT) as book:
        book.store_many(
            {"content": f"The harbour has {number} cranes.", "key": f"crane-{number}"} for number in range(30)
        )
        path = root / book.show("crane-1").path.lstrip("/")
    fine("recall", "cranes")
    return path.parent


def test_a_prestat_is_enough_when_nothing_has_changed(folder: Path) -> None:
    """A recall from a folder that is as the index knows it does not stat the files a second time."""
    answer, seen = started("recall", "harbour cranes", "--limit", "100")
    assert len(keys(answer)) == 30 and seen == ["True", "0", "False"]
    (folder / "NOT OURS?.md").write_text("Somebody's own.", "utf-8")  # no key, so no note: it changes nothing
    again, seen = started("recall", "harbour cranes", "--limit", "100")
    assert keys(again) == keys(answer) and seen == ["True", "0", "False"]
    assert started("list")[1] == ["True", "0", "False"]


@pytest.mark.deep
def test_changes_made_by_hand_are_seen(folder: Path) -> None:
    """What a person edited, added and removed before the command began is in its answer."""
    old = folder / "crane-3.md"
    old.write_text(old.read_text("utf-8").replace("harbour has 3 cranes", "shipyard sold its zeppelin"), "utf-8")
    (folder / "crane-4.md").unlink()
    (folder / "by-hand.md").write_text("A zeppelin was moored here.\n", "utf-8")
    answer, seen = started("recall", "zeppelin", "--mode", "lexical")
    assert keys(answer) == {"crane-3", "by-hand"} and seen[0] == "True" and int(seen[1]) > 0
    assert "crane-4" not in keys(started("recall", "cranes", "--limit", "100")[0])
    assert fine("verify")["ok"]


def test_a_note_stored_after_the_prestat_stays(folder: Path) -> None:
    """A note stored between the prestat and the recall is found, and stays in the index though the prestat lacks it."""
    store = [*COMMAND, "store", "A zeppelin landed.", "--key", "zeppelin"]
    meanwhile = f"{WAIT}; import subprocess; subprocess.run({store!r}, stdout=subprocess.DEVNULL, check=True)"
    answer, seen = started("recall", "zeppelin", "--mode", "lexical", meanwhile=meanwhile)
    assert keys(answer) == {"zeppelin"} and seen == ["True", "1", "False"]
    assert keys(fine("recall", "zeppelin", "--mode", "lexical")) == {"zeppelin"} and fine("verify")["ok"]


@pytest.mark.deep
def test_a_killed_child_changes_no_answer(folder: Path) -> None:
    """When the prestat child is killed, the command stats the files itself, and answers the same."""
    dying = "prestat._survey_to_bytes = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    answer, seen = started("recall", "cranes", "--limit", "100", before=dying)
    assert len(keys(answer)) == 30 and seen == ["False", "1", "False"]


@pytest.mark.deep
def test_no_child_is_left(folder: Path) -> None:
    """A recall from another scope, which never takes the prestat, leaves no child behind, even when no file can be
    opened any more."""
    for before in ("", NO_FILES):
        assert started("recall", "cranes", "--scope", "global", before=before)[1] == ["False", "0", "False"]


@pytest.mark.deep
def test_ignored_child_signals(folder: Path) -> None:
    """A command started with SIGCHLD ignored still answers, and leaves no child behind."""
    ignoring = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    answer, seen = started("recall", "cranes", "--limit", "100", meanwhile=ignoring)
    assert len(keys(answer)) == 30 and seen[2] == "False"
    assert started("recall", "cranes", "--scope", "global", meanwhile=ignoring)[1] == ["False", "0", "False"]


def test_a_store_needs_no_second_stat(folder: Path) -> None:
    """A store into a folder that is as the index knows it stats no file a second time, and its note is found."""
    fine("store", "A kite rose.", "--key", "kite")  # the first store of a day also retires old notes, after its answer
    _, seen = started("store", "A zeppelin landed.", "--key", "zeppelin")
    assert seen == ["True", "0", "False"]
    assert keys(fine("recall", "zeppelin", "--mode", "lexical")) == {"zeppelin"} and fine("verify")["ok"]


@pytest.mark.deep
def test_a_writer_killed_after_the_prestat(folder: Path, root: Path) -> None:
    """A note whose writer died before it updated the index is indexed and listed by the next store, though the prestat
    is older than the note."""
    page = folder / "index.md"
    before = page.read_text("utf-8")
    dies = f"""
from commonplace import Book
from commonplace.index.sqlite.transaction import SqliteTransaction
import os
book = Book.open({str(root)!r}, project={PROJECT!r})
book.list()
SqliteTransaction.set_generation = lambda *_: os._exit(9)
book.store("A zeppelin landed.", "zeppelin")
"""
    meanwhile = f"{WAIT}; import subprocess; assert subprocess.run([sys.executable, '-c', {dies!r}]).returncode == 9"
    _, seen = started("store", "A gull landed.", "--key", "gull", meanwhile=meanwhile)
    assert "zeppelin" not in before and seen[1] != "0"
    assert "zeppelin" in page.read_text("utf-8") and "gull" in page.read_text("utf-8")
    assert keys(fine("recall", "zeppelin", "--mode", "lexical")) == {"zeppelin"} and fine("verify")["ok"]


@pytest.mark.deep
def test_names_that_resemble_pages(folder: Path) -> None:
    """Notes with a word in their names that looks like one of our pages (`index`, `_draft`) are seen."""
    for name in ("Harbour index.md", "Harbour _draft.md", "1 2 3 _index.md"):
        (folder / name).write_text("A zeppelin was moored here.\n", "utf-8")
    answer, _ = started("recall", "zeppelin", "--mode", "lexical")
    assert keys(answer) == {"Harbour index", "Harbour _draft", "1 2 3 _index"}
    again, seen = started("recall", "zeppelin", "--mode", "lexical")
    assert keys(again) == keys(answer) and seen == ["True", "0", "False"]


@pytest.mark.deep
@pytest.mark.parametrize("second", ["lines", "{0.st_size} {0.st_mtime_ns} {0.st_ino} crane-4"])
def test_a_name_with_a_line_break(folder: Path, second: str) -> None:
    """A file whose name has a line break is no note, and cannot stand in for one that was removed."""
    old = folder / "crane-4.md"
    stat = old.stat()
    old.unlink()
    (folder / f"?\n{second.format(stat)}.md").write_text("Not ours.", "utf-8")
    answer, _ = started("recall", "cranes", "--limit", "100")
    assert len(keys(answer)) == 29 and "crane-4" not in keys(answer)
    again, seen = started("recall", "cranes", "--limit", "100")
    assert keys(again) == keys(answer) and seen == ["True", "0", "False"]


@pytest.mark.deep
def test_a_folder_made_after_the_prestat(folder: Path) -> None:
    """A note stored in a new folder between the prestat and the recall stays in the index."""
    store = [*COMMAND, "store", "A zeppelin landed.", "--key", "air/zeppelin"]
    meanwhile = f"{WAIT}; import subprocess; subprocess.run({store!r}, stdout=subprocess.DEVNULL, check=True)"
    answer, seen = started("recall", "zeppelin", "--mode", "lexical", meanwhile=meanwhile)
    assert keys(answer) == {"air/zeppelin"} and seen[0] == "True"
    assert fine("verify")["ok"]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        (["recall", "cranes"], True),
        (["--json", "list"], True),
        (["--root", "book", "--json", "--project=app", "timeline"], True),
        (["store", "A crane.", "--key", "crane"], True),
        (["store", "-", "--key", "crane"], False),  # by the time the text is typed, the prestat would be old
        (["show", "--scope", "recall", "crane-1"], False),
        (["mcp", "--project", "list"], False),
        (["--project", "list", "status"], False),
    ],
)
def test_which_commands_start_a_prestat(line: list[str], starts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only verbs that survey the files start a prestat; the same word elsewhere on the line does not count."""
    started_for: list[str] = []
    monkeypatch.setattr(prestat, "start_prestat", lambda memories, _: started_for.append(memories))
    monkeypatch.setattr("commonplace.cli.run.run_command", lambda _: 0)
    monkeypatch.setattr(sys, "argv", ["commonplace", *line])
    assert main.main() == 0 and bool(started_for) == starts


@pytest.mark.deep
@pytest.mark.parametrize(
    "lack",
    [
        "prestat._RESULT_BYTES = 100",  # less than the result needs
        "os.sched_getaffinity = lambda _: os.open('/nowhere', os.O_RDONLY)",  # an OSError
        "os.fork = lambda: os.open('/nowhere', os.O_RDONLY)",
        FULL,
    ],
)
def test_no_prestat_is_possible(folder: Path, lack: str) -> None:
    """Where no memory can be shared or no process started, a command stats the files itself."""
    answer, seen = started("recall", "cranes", "--limit", "100", before=lack)
    assert len(keys(answer)) == 30 and seen == ["False", "1", "False"]


@pytest.mark.deep
def test_no_other_process_is_killed(folder: Path) -> None:
    """A child that has ended is not killed: another process may have its number by now."""
    ended = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n    try: os.waitpid(process, 0)\n    except OSError: pass"
    kill = "os.kill = lambda *_: print('killed', file=sys.stderr)"
    assert started("recall", "cranes", "--scope", "global", before=kill, meanwhile=ended)[1] == ["False", "0", "False"]


def test_ctrl_c_while_loading(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C that comes before a verb is loaded ends the command as any other does, without a traceback."""

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["commonplace", "recall", "cranes"])
    for place, name in ((run, "run_command"), (prestat, "start_prestat")):
        monkeypatch.setattr(place, name, interrupted)
        assert main.main() == 130
        assert "[interrupted]" in capsys.readouterr().err
