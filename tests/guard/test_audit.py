"""The audit's lines and files by themselves: what can be in a line, and what happens to the files."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard import audit
from commonplace.guard.audit import MOST_BYTES, AuditLog, line, mask, who_of
from commonplace.vault.disk import open_disk
from tests.crash.simdisk import Left, PowerCut, SimDisk
from tests.guard.audit_lines import audit_folder, lines

ANY = st.text(st.characters())  # half surrogates, too
WHO = who_of("library", agent="scout")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "book"


def open_log(root: Path, days: int = 90) -> AuditLog:
    return AuditLog(open_disk(str(root), make=True), days)


def note(root: Path, key: str = "a-key", days: int = 90) -> None:
    """One line, by a process that comes and goes."""
    one = open_log(root, days)
    one.note("store", WHO, "ok", {"keys": [key]})
    one.close()


def joined(text: str) -> str:
    """Two halves of a surrogate pair are one character, in JSON as in any encoding."""
    return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


@given(agent=ANY, session=ANY, keys=st.lists(ANY, max_size=120), number=st.integers(0, 10**9), word=ANY)
def test_a_line_is_one_json_object_of_one_write(
    agent: str, session: str, keys: list[str], number: int, word: str
) -> None:
    """Whatever the names, a line is ASCII, ends once, is short enough for one write, and says what was given."""
    facts = {"keys": keys, "hits": number, "action": word, "dry": True, "entry": None}
    made = line("2026-11-15T17:20:00Z", "recall", who_of("mcp", agent=agent, session=session), "ok", facts)
    assert made.count(b"\n") == 1 and made.endswith(b"\n") and len(made) <= MOST_BYTES and made.isascii()
    said = json.loads(made)
    assert [said[name] for name in ("time", "verb", "outcome")] == ["2026-11-15T17:20:00Z", "recall", "ok"]
    assert (said.get("agent", ""), said.get("session", "")) == (joined(agent[:64]), joined(session[:64]))
    assert (said["hits"], said["action"], said["dry"]) == (number, joined(word[:64]), True) and "entry" not in said
    assert said["keys"] == [joined(key[:200]) for key in keys[: len(said["keys"])]]
    assert len(said["keys"]) + said.get("more_keys", 0) == len(keys)


def test_the_longest_names_fit_too() -> None:
    """With every name as long as can be, of characters that need the most room, the line says who, and no more."""
    odd = "\U0001f600" * 1_000
    who = who_of(odd, agent=odd, session=odd, host=odd)
    made = line("2026-11-15T17:20:00Z", "record_run", who, "ok", {"run": odd, "keys": [odd] * 9, "action": odd})
    assert len(made) <= MOST_BYTES
    assert json.loads(made)["session"] == odd[:64] and "run" not in json.loads(made)


def test_more_keys_than_fit_are_counted() -> None:
    """Of a hundred long keys a line names the first, says how many more there were, and keeps all that comes after."""
    keys = [f"project/{number:02d}-{'x' * 57}" for number in range(100)]
    said = json.loads(line("2026-11-15T17:20:00Z", "recall", WHO, "ok", {"keys": keys, "hits": 100}))
    assert said["keys"] == keys[: len(said["keys"])] and len(said["keys"]) > 10
    assert (len(said["keys"]) + said["more_keys"], said["hits"]) == (100, 100)


def test_files_are_the_owners_alone(root: Path) -> None:
    """The folder has mode 0700 and a day's file 0600, whatever the umask says."""
    before = os.umask(0)
    try:
        note(root)
    finally:
        os.umask(before)
    (day,) = audit_folder(root).iterdir()
    if os.name != "nt":
        assert stat.S_IMODE(audit_folder(root).stat().st_mode) == 0o700
        assert stat.S_IMODE(day.stat().st_mode) == 0o600
    assert day.name == f"{lines(root)[0]['time'][:10]}.jsonl"


def test_a_new_day_has_a_new_file_and_ends_the_oldest(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process that lives on: at midnight it turns to the next file, and what is older than the limit goes then."""
    folder = audit_folder(root)
    folder.mkdir(parents=True)
    kept = ["2026-08-18.jsonl", "2026-11-14.jsonl", "2026-01-01.jsonl.gz", "notes-2026.jsonl", "2026-01-01.txt"]
    for name in ["2026-08-17.jsonl", "2025-12-31.jsonl", *kept]:
        (folder / name).write_text("{}\n")
    (folder / "2026-01-02.jsonl").mkdir()
    one = open_log(root)
    for time in ("2026-11-15T23:59:59Z", "2026-11-16T00:00:00Z", "2026-11-16T00:00:01Z"):
        monkeypatch.setattr(audit, "now", lambda time=time: time)
        one.note("store", WHO, "ok", {})
        if time < "2026-11-16":
            assert (folder / "2026-08-17.jsonl").exists()  # 90 days ago, to the day
    one.close()
    assert [len(path.read_text().splitlines()) for path in sorted(folder.glob("2026-11-1[56]*"))] == [1, 2]
    assert {path.name for path in folder.iterdir()} == {
        *kept, "2026-11-15.jsonl", "2026-11-16.jsonl", "2026-01-02.jsonl",
    }  # fmt: skip


def test_the_sweep_is_not_of_every_call(root: Path) -> None:
    """Only who begins a day looks for what is too old: a later line of the same day leaves it."""
    note(root)
    (audit_folder(root) / "2001-01-01.jsonl").write_text("{}\n")
    note(root)
    assert (audit_folder(root) / "2001-01-01.jsonl").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("what", ["file", "hard link", "folder", "pipe"])
def test_a_link_is_not_followed(root: Path, tmp_path: Path, what: str) -> None:
    """Where the audit would be, a link out of the book, a second name or a pipe: nothing is written through it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine\n")
    note(root)
    (day,) = audit_folder(root).iterdir()
    day.unlink()
    if what == "file":
        day.symlink_to(outside / "file")
    elif what == "hard link":
        os.link(outside / "file", day)
    elif what == "pipe":
        os.mkfifo(day)
    else:
        audit_folder(root).rmdir()
        audit_folder(root).symlink_to(outside)
    note(root)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"file": "mine\n"}


def test_a_file_that_is_taken_away_is_begun_anew(root: Path) -> None:
    """Somebody deletes the audit while a process has it open: its next line is in a new one."""
    one = open_log(root)
    one.note("store", WHO, "ok", {})
    (day,) = audit_folder(root).iterdir()
    day.unlink()
    audit_folder(root).rmdir()
    one.note("forget", WHO, "ok", {})
    one.close()
    assert [item["verb"] for item in lines(root)] == ["forget"]


def test_a_line_that_was_cut_off_stays_alone(root: Path) -> None:
    """After a line that a full disk or a power cut left half, the next begins at a beginning."""
    note(root)
    (day,) = audit_folder(root).iterdir()
    day.write_bytes(day.read_bytes()[:-20])
    os.utime(day, (0, 0))  # nobody is writing it just now
    note(root, "next")
    half, whole = day.read_text().splitlines()
    assert not half.endswith("}") and json.loads(whole)["keys"] == ["next"]


def test_a_full_disk_is_tried_again_a_minute_later(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that cannot be written raises nothing, the next calls do not even try, and later ones are there again."""
    tries: list[int] = []

    def full(_fd: int, _data: bytes) -> int:
        tries.append(1)
        raise OSError(errno.ENOSPC, "full")

    one = open_log(root)
    for time, write in (("17:20:00", full), ("17:20:59", full), ("17:21:00", os.write)):
        monkeypatch.setattr(audit, "now", lambda time=time: f"2026-11-15T{time}Z")
        monkeypatch.setattr("commonplace.vault.disk.os.write", write)
        one.note("store", WHO, "ok", {"count": len(tries)})
    one.close()
    assert len(tries) == 1
    assert [item["time"] for item in lines(root)] == ["2026-11-15T17:21:00Z"]


def test_a_power_cut_in_it_takes_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut at each call of the disk, the book's other files are as they were, and the next line can be written."""
    monkeypatch.setattr(audit, "now", lambda: "2026-11-15T17:20:00Z")
    points = 0
    while True:
        disk = SimDisk()
        disk.fail_at = points + 1
        try:
            AuditLog(disk, 90).note("store", WHO, "ok", {})
        except PowerCut:
            points += 1
        else:
            break
        for seed in range(6):
            after = disk.after_power_cut(seed, Left.SCATTERED)
            AuditLog(after, 90).note("forget", WHO, "ok", {})
            assert [path for path in after.files() if not path.startswith("/.commonplace/audit/")] == []
            assert b'"forget"' in b"".join(after.files().values())
    assert points >= 3


def test_a_purged_key_is_masked_where_it_is_a_key(root: Path) -> None:
    """A key, with its scope or without, becomes stars of the same length; what merely looks like it stays."""
    one = open_log(root)
    one.note("store", who_of("cli", agent="cli"), "ok", {"keys": ["cli"], "action": "cli"})
    one.note("recall", WHO, "ok", {"keys": ["project/cli", "global/cli", "cli-2", "a/cli"], "hits": 4})
    one.note("store", WHO, "ok", {"keys": ['"quoted, [é]'], "action": "created"})
    mask(open_disk(str(root)), "cli")
    mask(open_disk(str(root)), '"quoted, [é]')
    one.note("store", WHO, "ok", {"keys": ["after"]})
    one.close()
    first, second, third, last = lines(root)
    assert (first["surface"], first["agent"], first["keys"], first["action"]) == ("cli", "cli", ["***"], "cli")
    assert second["keys"] == ["*" * 11, "*" * 10, "cli-2", "a/cli"] and second["hits"] == 4
    assert set(third["keys"][0]) == {"*"} and third["action"] == "created"
    assert last["keys"] == ["after"]


WRITER = """
import sys
from commonplace.guard.audit import AuditLog, who_of
from commonplace.vault.disk import open_disk
one = AuditLog(open_disk(sys.argv[1], make=True), 90)
print("ready", flush=True)
sys.stdin.readline()
for number in range(400):
    one.note("recall", who_of("library", agent=sys.argv[2]), "ok", {"keys": ["k" * (number % 190)] * 5, "hits": number})
one.close()
"""


def test_eight_processes_never_write_into_each_others_lines(root: Path) -> None:
    """Eight at once, 400 lines of any length each: every line is whole, and those of each are all there, in order."""
    words = [sys.executable, "-c", WRITER, str(root)]
    started = [
        subprocess.Popen([*words, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in "abcdefgh"
    ]
    for process in started:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [(process.communicate()[0], process.returncode) for process in started] == [("", 0)] * 8
    found: dict[str, list[int]] = {}
    for item in lines(root):
        found.setdefault(item["agent"], []).append(item["hits"])
    assert found == {name: list(range(400)) for name in "abcdefgh"}
