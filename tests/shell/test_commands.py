"""The commands and forms that are ours: what they print, where they stop, and that no process is started."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.model.scope import LOCAL
from commonplace.shell import command, view_reader
from commonplace.shell.session import COMMANDS, ShellSession
from commonplace.shell.view_reader import ViewReader
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING

FILES: dict[str, bytes] = {
    "index.md": b"# Book\n",
    "data/people.json": b'[{"name": "Ann", "at": {"city": "Rome"}, "tags": ["a", "b"], "age": 3}, {"name": "Bo"}]',
    "data/runs.jsonl": b'{"id": 1, "ok": true}\n\n{"id": 2, "ok": false}\n{"id": 3, "ok": true}\n',
    "data/prices.csv": b'item,price\ntea,1\n"a, b",2\ntea,3\n',
    "data/broken.json": b"{",
    "data/tasks.json": b'[{"id": 1, "tasks": [{"who": "Ann", "tags": [["x"], "y"]}, {"who": "Bo"}]}, {"id": 2}]',
    "data/odd.jsonl": b'{"id": 1}\n{"id": \nnot json\n\xff\n{"id": 2}\n',
    "data/photo.png": b"\x89PNG\r\n\x1a\n\0\0",
    "memories/global/one.md": b"---\nkey: one\ntags: [x, y]\n---\n# one\n\nText.\n",
    "memories/global/two.md": b"---\nkey: two\ntags: [y]\n---\n# two\n\nOther.\n",
    "memories/global/.hidden": b"h\n",
}
STARTS = frozenset({"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.spawn"})
watching: list[str] | None = None


def _watch(event: str, _: object) -> None:
    if watching is not None and event in STARTS:
        watching.append(event)


sys.addaudithook(_watch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
        os.utime(tmp_path / name, (1_700_000_000, 1_700_000_000))
    return tmp_path


@pytest.fixture
def session(root: Path) -> ShellSession:
    vault = LocalVault.at(root)
    return ShellSession(lambda: ViewReader(vault, LOCAL, EVERYTHING))


@pytest.fixture
def started() -> Iterator[list[str]]:
    """What was started while a test ran."""
    global watching  # an audit hook cannot be taken away, only told to look elsewhere
    watching = []
    yield watching
    watching = None


def out(session: ShellSession, line: str) -> str:
    ran = session.run(line)
    assert (ran.exit_code, ran.stderr) == (0, b""), ran
    return ran.stdout.decode()


def test_a_place_is_kept_from_command_to_command(session: ShellSession) -> None:
    """cd goes where it is told, up by one, and back to the root; a place that is none leaves everything as it was."""
    assert out(session, "pwd") == "/\n"
    assert session.run("cd data").cwd == "/data"
    assert out(session, "ls prices.csv") == "prices.csv\n"
    assert session.run("cd prices.csv").exit_code == 1
    assert session.run("cd nope").stderr == b"cd: nope: No such file or directory\n"
    assert session.run("cd ../memories").exit_code == 1
    assert out(session, "pwd") == "/data\n"
    assert [session.run("cd ..").cwd, session.run("cd ..").cwd, session.run("cd memories/global").cwd] == [
        "/",
        "/",
        "/memories/global",
    ]
    assert session.run("cd").cwd == "/"


def test_long_listings_have_kind_size_time_and_name(session: ShellSession) -> None:
    """ls -l is the kind, the size in a column, the time in UTC and the name: no owner, no mode, no number of links."""
    assert out(session, "ls -l data/people.json index.md") == (
        "- 87 2023-11-14T22:13:20Z data/people.json\n-  7 2023-11-14T22:13:20Z index.md\n"
    )
    assert out(session, "ls -l data").count(" 2023-11-14T22:13:20Z ") == 7
    assert out(session, "ls -l").splitlines()[0].startswith("d - ")


def test_stat_says_path_kind_size_and_time(session: ShellSession) -> None:
    """stat prints four lines, with the path as the book has it."""
    session.run("cd data")
    assert out(session, "stat ./prices.csv") == (
        "path: /data/prices.csv\nkind: file\nsize: 32\nchanged: 2023-11-14T22:13:20Z\n"
    )
    assert out(session, "stat /data").splitlines()[:3] == ["path: /data", "kind: folder", "size: -"]
    assert session.run("stat nope").stderr == b"stat: cannot stat 'nope': No such file or directory\n"


def test_tree_draws_what_is_below(session: ShellSession) -> None:
    """tree draws folders and files by name, hides what is hidden, and stops at the level it is told."""
    assert out(session, "tree memories") == (
        "memories\n└── global/\n    ├── one.md\n    └── two.md\n\n1 folder, 2 files\n"
    )
    assert ".hidden" in out(session, "tree -a memories")
    assert out(session, "tree -L 1 memories") == "memories\n└── global/\n\n1 folder, 0 files\n"
    assert session.run("tree -L 0").exit_code == 1


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("/data/people.json --field name --equals Bo", [(2, {"name": "Bo"})]),
        ("/data/people.json --field=at.city --equals=Rome", [(1, None)]),
        ("/data/people.json --field tags --equals b", [(1, None)]),
        ("/data/people.json --field age --equals 3", [(1, None)]),
        ("/data/runs.jsonl --field ok --equals true", [(1, {"id": 1, "ok": True}), (4, {"id": 3, "ok": True})]),
        ("/data/prices.csv --field item --equals tea --limit 2", [(2, {"item": "tea", "price": "1"}), (4, None)]),
        ("/data/prices.csv --field item --equals 'a, b'", [(3, {"item": "a, b", "price": "2"})]),
        ("/data/tasks.json --field tasks.who --equals Bo", [(1, None)]),
        ("/data/tasks.json --field tasks.1.who --equals Bo", [(1, None)]),
        ("/data/tasks.json --field tasks.tags --equals x", [(1, None)]),
        ("/data/*.json* --field id --equals 2 --limit 9", [(5, {"id": 2}), (3, None), (2, None)]),
        ("/memories --field tags --equals x", [(1, {"key": "one", "tags": ["x", "y"]})]),
        ("/memories --field tags --equals y", [(1, None), (1, None)]),
    ],
)
def test_records_are_asked_by_a_field(session: ShellSession, asked: str, found: list[tuple[int, object]]) -> None:
    """query finds records of JSON, JSON Lines, CSV and notes by a field, a field below it, or an item of a list."""
    lines = [json.loads(line) for line in session.run(f"query {asked}").stdout.splitlines()]
    assert [line["number"] for line in lines] == [number for number, _ in found]
    for line, (_, record) in zip(lines, found, strict=True):
        assert record is None or line["record"] == record
        assert line["path"].startswith(asked.split()[0].rstrip("/").partition("*")[0])


def test_a_question_that_has_no_answer(session: ShellSession) -> None:
    """query answers 1 for nothing, 2 for what it cannot read, and says when the limit left something out."""
    assert session.run("query /data/people.json --field name --equals nobody")[:3] == (b"", b"", 1)
    assert session.run("query /data/broken.json --field a --equals b").exit_code == 2
    assert session.run("query /data/photo.png --field a --equals b").exit_code == 2
    assert session.run("query /data/people.json --field name").exit_code == 2
    limited = session.run("query /data/runs.jsonl --field ok --equals true --limit 1")
    assert limited.stdout.count(b"\n") == 1 and b"more than 1" in limited.stderr
    assert limited.truncated and "--limit" in limited.next
    assert session.run("query /data/tasks.json --field tasks.0.who --equals Bo").exit_code == 1


def test_a_bad_line_does_not_hide_the_others(session: ShellSession) -> None:
    """A line of JSON Lines that is not JSON is skipped, however it is broken, and how many there were is said."""
    for wanted, status in (("1", 0), ("2", 0), ("3", 1)):
        ran = session.run(f"query /data/odd.jsonl --field id --equals {wanted}")
        assert ran.exit_code == status and ran.stdout.count(b"\n") == 1 - status
        assert ran.stderr == b"query: /data/odd.jsonl: 3 lines that are not JSON were skipped, the first is line 2\n"


def test_nothing_below_the_last_level_is_passed_over_in_silence(session: ShellSession, root: Path) -> None:
    """A folder with more below it than a path can name is told, by every command that goes through folders."""
    deep = root.joinpath("data", *(f"l{level}" for level in range(11)))
    deep.mkdir(parents=True)
    assert not session.run("find /data").truncated
    (deep / "out-of-reach.txt").write_text("x", "utf-8")
    for line in ("find /data", "grep -r needle /data", "tree /data", "ls -R /data", "query /data --field a --equals b"):
        ran = session.run(line)
        assert ran.truncated and "12 levels" in ran.next and ran.next.encode() in ran.stderr, line
    assert not session.run("find /data -maxdepth 3").truncated


def test_words_that_name_files_may_be_patterns(session: ShellSession, root: Path) -> None:
    """Every command takes patterns for its files, and none for what only looks like a file name."""
    (root / "data" / "-n").write_bytes(b"dash\n")
    for line, printed in (
        ("ls /data/*.jsonl", "/data/odd.jsonl\n/data/runs.jsonl\n"),
        ("ls -l /memories/*/t*.md", "- 41 2023-11-14T22:13:20Z /memories/global/two.md\n"),
        ("cat /memories/global/.h*", "h\n"),
        ("find / -name *.csv", "/data/prices.csv\n"),
        ("find /mem* -maxdepth 0", "/memories\n"),
        ("grep -c pr* /data/prices.cs?", "1\n"),
        ("ls '/data/*.csv' /data/prices.csv", "/data/prices.csv\n"),
    ):
        assert session.run(line).stdout.decode() == printed, line
    assert session.run("cd /mem*/glob*").cwd == "/memories/global"
    session.run("cd /data")
    assert session.run("cat *").stdout.endswith(b"tea,3\n" + FILES["data/runs.jsonl"] + FILES["data/tasks.json"])
    assert session.run("cat *").stdout.startswith(b"dash\n")
    assert session.run("ls *.zip").stderr == b"ls: cannot access '*.zip': No such file or directory\n"


def test_what_is_not_there_is_said(session: ShellSession) -> None:
    """A command that is none, and one that would write, are answered with 127; an empty line with nothing."""
    for line in ("rm -rf /", "bash", "python -c 1", "/bin/ls", "CAT x"):
        ran = session.run(line)
        assert (ran.exit_code, ran.stdout) == (127, b"") and b": unknown command" in ran.stderr
    assert session.run("  ")[:3] == (b"", b"", 0)
    helped = out(session, "help")
    assert all(f"  {name}" in helped for name in COMMANDS)


def test_standard_input_is_nobodys(session: ShellSession) -> None:
    """A command without a file does not wait for input: it says that there is none."""
    for line in ("cat", "cat -", "head", "tail -", "wc", "grep a", "grep a -"):
        ran = session.run(line)
        assert ran.exit_code in (1, 2) and b"no standard input" in ran.stderr, line


def test_back_references_are_refused(session: ShellSession) -> None:
    """A pattern that cannot run in linear time is refused with the reason, in both kinds of patterns."""
    for line in (r"grep '\(a\)\1' index.md", r"grep -E '(a)\1' index.md"):
        ran = session.run(line)
        assert ran.exit_code == 2 and b"back-references are not supported" in ran.stderr


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"aa\|(b)", ["aa", "(b)"]), (r"\(a\)\{2\}", ["aa"]), (r"^a\+$", ["a", "aa"]), (r"ba\?$", ["ba"]),
        ("*a", ["*a"]), (r"\(*\)", ["*a"]), ("(b)", ["(b)"]), ("x{2}|y+?", ["x{2}|y+?"]), ("$5", ["$5"]),
        ("5^", ["5^"]), (r"a\{,1\}\Q{2}|", ["x{2}|y+?"]), ("a\n5$", ["a", "aa", "ba", "*a", "$5"]),
    ],
)  # fmt: skip
def test_the_basic_form_of_patterns(session: ShellSession, root: Path, pattern: str, found: list[str]) -> None:
    """Without -E the operators need a backslash, and stand for themselves without one or where they mean nothing."""
    (root / "data" / "lines").write_text("\n".join(["a", "aa", "ba", "*a", "(b)", "x{2}|y+?", "$5", "5^"]), "utf-8")
    assert out(session, f"grep '{pattern}' data/lines").splitlines() == found


@pytest.mark.parametrize(
    "pattern", [r"(?i)CAFÉ|\d{2}", r"\Acaf", r"(?-m)\bcaf.*$", r"é.", "[[:alpha:]]{3}[^a]", r"f\Qé"]
)
def test_extended_patterns_are_those_of_re2(session: ShellSession, root: Path, pattern: str) -> None:
    """With -E a pattern is RE2 syntax, tried on each line for itself, whether the file is valid UTF-8 or not."""
    (root / "data" / "lines").write_bytes(b"x\n\xff caf\xc3\xa9\xff 42\ncaf\xc3\xa9 42\n")
    lines = session.run(f"grep -cE '{pattern}' data/lines").stdout
    assert int(lines) == (1 if pattern == r"\Acaf" else 2)


@pytest.mark.parametrize("pattern", [r"\<a", r"a\>", r"\`a", "[:alpha:]", "a[", "a\\", r"a\{x\}", "a**", r"\{2\}"])
def test_what_would_mean_something_else_is_refused(session: ShellSession, pattern: str) -> None:
    """What grep and RE2 read differently, and what is incomplete, is refused with a message, and nothing is printed."""
    ran = session.run(f"grep '{pattern}' index.md")
    assert (ran.exit_code, ran.stdout) == (2, b"") and ran.stderr.startswith(b"grep: ")


def test_no_pattern_takes_long(session: ShellSession, root: Path) -> None:
    """Patterns that make other engines try every way through a line are answered, or refused for their size."""
    (root / "data" / "long").write_bytes(b"a" * 50_000 + b"!\n")
    for pattern in ("(a+)+$", "(a|a)*b", "(a*)*c", "(.*)(.*)(.*)(.*)x", "((a{1,100}){1,100}){1,100}"):
        assert session.run(f"grep -c -E '{pattern}' data/long").exit_code in (1, 2)


def test_nothing_is_too_deep(session: ShellSession, root: Path) -> None:
    """Groups in a pattern, and lists in a file, are searched however deep they are, or refused in words."""
    assert session.run(f"grep -E '{'(' * 900}B{')' * 900}' index.md").stdout == b"# Book\n"
    ran = session.run("grep '" + "\\(" * 900 + "' index.md")
    assert ran.exit_code == 2 and b"the pattern cannot be used: missing )" in ran.stderr
    for depth in (900, 950, 990, 5_000, 100_000):
        (root / "data" / "deep.json").write_text('[{"a": 1, "b": ' + "[" * depth + "]" * depth + "}]", "utf-8")
        ran = session.run("query data/deep.json --field a --equals 1")
        assert ran.exit_code in (0, 2) and (ran.exit_code == 0 or ran.stderr)


def test_output_ends_at_its_limit(session: ShellSession, root: Path) -> None:
    """What prints more than it may is cut there, and says so and how to go on, on stderr and in the answer."""
    (root / "data" / "big").write_bytes(b"0123456789\n" * 10_000)
    for line in ("cat data/big", "grep 0 data/big", "cat -n data/big data/big"):
        ran = session.run(line)
        assert len(ran.stdout) == view_reader.MAX_READ_BYTES and ran.truncated and ran.exit_code == 0
        assert ran.next.encode() in ran.stderr and "narrow" in ran.next
    whole = session.run("tail -n 5957 data/big")
    assert len(whole.stdout) == 65_527 and not whole.truncated


def test_walks_end_at_their_limit(session: ShellSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk through more than it may meet stops, with what it has, and says so."""
    monkeypatch.setattr(view_reader, "MAX_ENTRIES", 6)
    for line in ("find /", "grep -r key /", "tree /", "ls -R /"):
        ran = session.run(line)
        assert ran.truncated and "further down" in ran.next, line


def test_files_are_read_up_to_a_size(session: ShellSession, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """A file larger than is opened here is named and not read; many together end the command."""
    (root / "data" / "big").write_bytes(b"x" * 2_000)
    monkeypatch.setattr("commonplace.shell.view_reader.MAX_FILE_BYTES", 1_000)
    ran = session.run("cat data/big")
    assert (ran.exit_code, ran.stdout) == (1, b"") and b"2,000 bytes" in ran.stderr
    monkeypatch.setattr(view_reader, "MAX_COMMAND_BYTES", 100)
    assert session.run("grep -r a data").truncated


def test_errors_end_somewhere(session: ShellSession) -> None:
    """A thousand names that are not there do not make a megabyte of messages."""
    ran = session.run("cat " + " ".join(f"name-{number}" for number in range(1_000)))
    assert len(ran.stderr) == command.MAX_ERROR_BYTES and ran.exit_code == 1
    assert ran.truncated and "8,192" in ran.next


def test_a_link_is_named_and_never_opened(
    session: ShellSession, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A link in the book is listed; nothing reads through it, wherever it leads."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("sentinel", "utf-8")
    (root / "data" / "out").symlink_to(outside)
    (root / "data" / "file").symlink_to(outside / "secret")
    (root / "data" / "inside").symlink_to(root / "index.md")
    assert {"out", "file", "inside"} <= set(out(session, "ls data").split())
    for line in ("cat data/file", "cat data/out/secret", "ls data/out/", "head data/inside", "cd data/out"):
        ran = session.run(line)
        assert (
            ran.exit_code != 0
            and b"sentinel" not in ran.stdout + ran.stderr
            and str(outside).encode() not in ran.stderr
        )
    found = session.run("grep -r sentinel /")
    assert (found.stdout, found.exit_code) == (b"", 1)
    assert b"secret" not in session.run("find / -type f").stdout


def test_no_process_is_started(session: ShellSession, started: list[str]) -> None:
    """No command, and nothing that looks like one, starts a process."""
    lines = [
        "ls -laR /", "cat index.md", "head index.md", "tail index.md", "stat /", "find / -name '*.md' -newer index.md",
        "grep -rniE 'a|b' /", "wc index.md", "tree", "query /data/people.json --field name --equals Bo", "help", "pwd",
        "cd data", "ls; id", "cat $(id)", "cat `id`", "ls | sh", "bash -c id", "find / -exec id",
        "grep '`id`' index.md",
    ]  # fmt: skip
    for line in lines:
        session.run(line)
    assert started == []
    assert {line.split()[0] for line in lines} >= set(COMMANDS)
    with pytest.raises(OSError):
        os.posix_spawn("/not/there", ["x"], {}) if hasattr(os, "posix_spawn") else os.execv("/not/there", ["x"])
    assert started != []  # the watch would have noticed
