"""What is seen of a book's files while a command loads: it saves time, and changes no answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.cli import main
from commonplace.vault import prestat
from tests.cli.calls import COMMAND, fine
from tests.cli.conftest import PROJECT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody looks while a command loads")

# A command as its script starts it, for a book that is large enough, on a machine that has processors enough.
STARTED = """
import os, signal, sys
import commonplace.vault.disk as disk
import commonplace.vault.prestat as prestat
from commonplace.cli.main import main
from commonplace.vault.local import LocalVault

prestat._LARGE, prestat._AT_LEAST = 0, 0
surveyed, looked = [], []
survey, taken, begin = LocalVault.survey, prestat.taken, prestat.begin

def noted_survey(self, space, view, path, ending):
    surveyed.append(str(path))
    return survey(self, space, view, path, ending)

def noted_taken(fd):
    seen = taken(fd)
    looked.append(seen is not None)
    return seen

def begun(*words):
    begin(*words)
    process = prestat._begun and prestat._begun[0]
    MEANWHILE

BEFORE
LocalVault.survey, disk.taken, prestat.begin = noted_survey, noted_taken, begun
status = main()
try:
    os.waitpid(-1, os.WNOHANG)
    left = True
except ChildProcessError:
    left = False
here = [path for path in surveyed if "/project/" in path]
print("SEEN", any(looked), len(here), left, file=sys.stderr)
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
end, most = prestat.end, resource.getrlimit(resource.RLIMIT_NOFILE)
def poor():
    sys.modules.pop("signal")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, most[1]))
    end()
    resource.setrlimit(resource.RLIMIT_NOFILE, most)
prestat.end = poor
"""
WAIT = "os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)"


def started(*words: str, before: str = "", meanwhile: str = "pass") -> tuple[dict[str, object], list[str]]:
    """What a command answers, and: whether a glance was taken, how often the project was looked at, whether a child is
    left."""
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


def test_a_glance_is_enough_where_nothing_has_changed(folder: Path) -> None:
    """A question about a folder that is as the index knows it is answered without looking at its files again."""
    answer, seen = started("recall", "harbour cranes", "--limit", "100")
    assert len(keys(answer)) == 30 and seen == ["True", "0", "False"]
    (folder / "NOT OURS?.md").write_text("Somebody's own.", "utf-8")  # no key, so no note: it changes nothing
    again, seen = started("recall", "harbour cranes", "--limit", "100")
    assert keys(again) == keys(answer) and seen == ["True", "0", "False"]
    assert started("list")[1] == ["True", "0", "False"]


@pytest.mark.deep
def test_what_somebody_changed_is_seen(folder: Path) -> None:
    """What was edited, added and removed by hand before the command began is in its answer."""
    old = folder / "crane-3.md"
    old.write_text(old.read_text("utf-8").replace("harbour has 3 cranes", "shipyard sold its zeppelin"), "utf-8")
    (folder / "crane-4.md").unlink()
    (folder / "by-hand.md").write_text("A zeppelin was moored here.\n", "utf-8")
    answer, seen = started("recall", "zeppelin")
    assert keys(answer) == {"crane-3", "by-hand"} and seen[0] == "True" and int(seen[1]) > 0
    assert "crane-4" not in keys(started("recall", "cranes", "--limit", "100")[0])
    assert fine("verify")["ok"]


def test_what_is_stored_after_the_glance_is_kept(folder: Path) -> None:
    """A note that was stored between the glance and the question is found, and stays in the index: the glance, which
    does not have it, is not believed."""
    store = [*COMMAND, "store", "A zeppelin landed.", "--key", "zeppelin"]
    meanwhile = f"{WAIT}; import subprocess; subprocess.run({store!r}, stdout=subprocess.DEVNULL, check=True)"
    answer, seen = started("recall", "zeppelin", meanwhile=meanwhile)
    assert keys(answer) == {"zeppelin"} and seen == ["True", "1", "False"]
    assert keys(fine("recall", "zeppelin")) == {"zeppelin"} and fine("verify")["ok"]


@pytest.mark.deep
def test_who_looks_may_die(folder: Path) -> None:
    """When the process that looks is killed, the command looks for itself, and answers the same."""
    dying = "prestat._glance = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    answer, seen = started("recall", "cranes", "--limit", "100", before=dying)
    assert len(keys(answer)) == 30 and seen == ["False", "1", "False"]


@pytest.mark.deep
def test_nobody_is_left_looking(folder: Path) -> None:
    """A question about another scope, which does not want the glance, leaves no process behind: not even where no file
    can be opened any more, which is how a command may have ended."""
    for before in ("", NO_FILES):
        assert started("recall", "cranes", "--scope", "global", before=before)[1] == ["False", "0", "False"]


@pytest.mark.deep
def test_who_wants_to_hear_of_no_child(folder: Path) -> None:
    """Where the end of children is ignored, which a program hands on to those that it starts, a command answers."""
    ignoring = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    answer, seen = started("recall", "cranes", "--limit", "100", meanwhile=ignoring)
    assert len(keys(answer)) == 30 and seen[2] == "False"
    assert started("recall", "cranes", "--scope", "global", meanwhile=ignoring)[1] == ["False", "0", "False"]


def test_a_store_needs_no_second_look(folder: Path) -> None:
    """A store into a folder that is as the index knows it looks at no file again, and its note is found."""
    fine("store", "A kite rose.", "--key", "kite")  # the first of a day sees to what is too old, after its answer
    _, seen = started("store", "A zeppelin landed.", "--key", "zeppelin")
    assert seen == ["True", "0", "False"]
    assert keys(fine("recall", "zeppelin")) == {"zeppelin"} and fine("verify")["ok"]


@pytest.mark.deep
def test_a_writer_that_died_after_the_glance(folder: Path, root: Path) -> None:
    """What a writer published and died before telling the index is seen by the store that comes next, though the
    glance was taken before: its note is in the index and on the page."""
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
    assert keys(fine("recall", "zeppelin")) == {"zeppelin"} and fine("verify")["ok"]


@pytest.mark.deep
def test_names_that_only_people_give(folder: Path) -> None:
    """Notes whose names end in a word, or have one in them, that begins or is the name of a page of ours are seen."""
    for name in ("Harbour index.md", "Harbour _draft.md", "1 2 3 _index.md"):
        (folder / name).write_text("A zeppelin was moored here.\n", "utf-8")
    answer, _ = started("recall", "zeppelin")
    assert keys(answer) == {"Harbour index", "Harbour _draft", "1 2 3 _index"}
    again, seen = started("recall", "zeppelin")
    assert keys(again) == keys(answer) and seen == ["True", "0", "False"]


@pytest.mark.deep
@pytest.mark.parametrize("second", ["lines", "{0.st_size} {0.st_mtime_ns} {0.st_ino} crane-4"])
def test_a_name_of_two_lines(folder: Path, second: str) -> None:
    """A file whose name has a line break in it is none of ours, and passes for none: not even for one that is gone."""
    old = folder / "crane-4.md"
    looks = old.stat()
    old.unlink()
    (folder / f"?\n{second.format(looks)}.md").write_text("Not ours.", "utf-8")
    answer, _ = started("recall", "cranes", "--limit", "100")
    assert len(keys(answer)) == 29 and "crane-4" not in keys(answer)
    again, seen = started("recall", "cranes", "--limit", "100")
    assert keys(again) == keys(answer) and seen == ["True", "0", "False"]


@pytest.mark.deep
def test_a_folder_that_is_new_after_the_glance(folder: Path) -> None:
    """A note that was stored between the glance and the question in a folder of its own stays in the index."""
    store = [*COMMAND, "store", "A zeppelin landed.", "--key", "air/zeppelin"]
    meanwhile = f"{WAIT}; import subprocess; subprocess.run({store!r}, stdout=subprocess.DEVNULL, check=True)"
    answer, seen = started("recall", "zeppelin", meanwhile=meanwhile)
    assert keys(answer) == {"air/zeppelin"} and seen[0] == "True"
    assert fine("verify")["ok"]


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        (["recall", "cranes"], True),
        (["--json", "list"], True),
        (["--root", "book", "--json", "--project=app", "timeline"], True),
        (["store", "A crane.", "--key", "crane"], True),
        (["store", "-", "--key", "crane"], False),  # by the end of what is typed the look would be old
        (["show", "--scope", "recall", "crane-1"], False),
        (["mcp", "--project", "list"], False),
        (["--project", "list", "status"], False),
    ],
)
def test_who_looks(line: list[str], looks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the verbs that look at the files have them looked at: a word that is called so elsewhere is no verb."""
    begun: list[str] = []
    monkeypatch.setattr(prestat, "begin", lambda memories, _: begun.append(memories))
    monkeypatch.setattr(main, "_run", lambda _: 0)
    monkeypatch.setattr(sys, "argv", ["commonplace", *line])
    assert main.main() == 0 and bool(begun) == looks


@pytest.mark.deep
@pytest.mark.parametrize(
    "lack",
    [
        "prestat._ROOM = 100",  # less than there is to see
        "os.sched_getaffinity = lambda _: os.open('/nowhere', os.O_RDONLY)",  # an OSError
        "os.fork = lambda: os.open('/nowhere', os.O_RDONLY)",
        FULL,
    ],
)
def test_where_nobody_can_look(folder: Path, lack: str) -> None:
    """Where there is no memory to share, or no process to be had, a command looks for itself."""
    answer, seen = started("recall", "cranes", "--limit", "100", before=lack)
    assert len(keys(answer)) == 30 and seen == ["False", "1", "False"]


@pytest.mark.deep
def test_nobody_else_is_ended(folder: Path) -> None:
    """Whoever looked, and has ended unheard, is not ended again: somebody else may have the number by now."""
    ended = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n    try: os.waitpid(process, 0)\n    except OSError: pass"
    kill = "os.kill = lambda *_: print('killed', file=sys.stderr)"
    assert started("recall", "cranes", "--scope", "global", before=kill, meanwhile=ended)[1] == ["False", "0", "False"]


def test_ctrl_c_while_loading(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C that comes before a verb is loaded ends the command as any other does, without a traceback."""

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["commonplace", "recall", "cranes"])
    for place, name in ((main, "_run"), (prestat, "begin")):
        monkeypatch.setattr(place, name, interrupted)
        assert main.main() == 130
        assert "[interrupted]" in capsys.readouterr().err
