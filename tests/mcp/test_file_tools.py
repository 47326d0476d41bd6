"""The file tools of a coordinator, over the real server: the cases of the design that they were modelled on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book, brief_task
from commonplace.text.fence import open_fences, visible
from tests.mcp.raw import HANGS, Raw, environment

PROJECT = "github.com/acme/app"
COORDINATOR = ("--project", PROJECT, "--role", "coordinator", "--agent", "lead")
RUNS: list[dict[str, Any]] = [
    {
        "run_id": f"run-{day}",
        "goal": f"Ship build {day}",
        "finished": f"2026-11-{day:02d}T10:00:00Z",
        "tasks": [
            {"id": "up", "worker": "shipper", "description": "Upload the release", "duration": 2.5, **outcome},
            {"id": "plan", "worker": "planner", "description": "Plan the day", "result": "Three steps."},
        ],
    }
    for day, outcome in (
        (1, {"error": "403 Forbidden: the token has expired"}),
        (2, {"error": "403 Forbidden: the token has expired"}),
        (3, {"result": "Uploaded."}),
    )
]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with memories, plain files of every kind, and a journal of three runs."""
    root = tmp_path_factory.mktemp("files") / "book"
    with Book.open(root, project=PROJECT) as book:
        for number in range(1, 6):
            book.store(f"Deploy note {number}: use the blue button.", "deploys", "global")
        book.store("Literal text: a.b|c and $HOME.", "quoting", "global")
        book.data_put("log.txt", "".join(f"line {number}\n" for number in range(1, 201)).encode())
        book.data_put("prices.csv", b"item,price\ntea,1\ncoffee,2\n")
        book.data_put("runs.jsonl", b'{"id": 1, "ok": true}\n{"id": 2, \nnot json\n{"id": 3, "ok": true}\n')
        book.data_put("photo.png", b"\x89PNG\r\n\x1a\n\0\0deploy")
        for run in RUNS:
            assert book.record_run(run).action == "recorded"
    return root


@pytest.fixture(scope="module")
def tools(root: Path) -> Iterator[Raw]:
    with Raw(root, *COORDINATOR) as raw:
        yield raw


def start(settings: dict[str, str], cwd: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Start a coordinator's server that nobody talks to, and wait until it has ended."""
    return subprocess.run(
        [sys.executable, "-m", "commonplace", "mcp", *COORDINATOR, *words],
        stdin=subprocess.DEVNULL, capture_output=True, env=settings, cwd=cwd, timeout=HANGS, check=False,
    )  # fmt: skip


def text_of(fenced: str) -> str:
    """What stands in the fence of a text of an answer; a text without a fence is itself."""
    fences = open_fences(fenced)
    return fences[0].text if fences else fenced


def test_list(tools: Raw) -> None:
    """A coordinator starts at / and goes down by the paths it is given: folders with counts, notes with summaries."""
    listed = tools.fine("list_memories")
    assert {"/data", "/journal", "/memories", "/index.md"} <= {item["path"] for item in listed["items"]}
    (note,) = [
        item
        for item in tools.fine("list_memories", path="/memories/global")["items"]
        if item["path"].endswith("/deploys.md")
    ]
    assert (note["kind"], note["entries"], note["status"]) == ("note", 5, "active") and note["summary"]
    assert tools.error("list_memories", path="/memories/nowhere")["code"] == "not_found"
    assert tools.error("list_memories", path="/../etc")["code"] == "invalid_path"


def test_read_with_tail(tools: Raw) -> None:
    """The last entries of a note, and the last lines of a plain file."""
    last = text_of(tools.fine("read_memory", path="/memories/global/deploys.md", tail_n=2)["text"])
    assert "Deploy note 4" in last and "Deploy note 5" in last and "Deploy note 3" not in last
    lines = text_of(tools.fine("read_memory", path="/data/log.txt", tail_n=3)["text"])
    assert lines.split() == ["line", "198", "line", "199", "line", "200"]


def test_search_fixed_and_regex(tools: Raw) -> None:
    """A query is text, in which nothing is special, unless it is said to be a pattern; paths narrow both."""
    (found,) = tools.fine("search_memory", query="a.b|c", paths=["/memories/global/quoting.md"])["matches"][-1:]
    assert "a.b|c" in text_of(found["text"]) and found["line"] > 1
    assert tools.fine("search_memory", query="note \\d:", paths=["/memories"])["matches"] == []
    found = tools.fine("search_memory", query="note [45]: use", paths=["/memories/global/deploys.md"], regex=True)
    assert len([one for one in found["matches"] if "note 4" in one["text"] or "note 5" in one["text"]]) >= 2
    assert tools.error("search_memory", query="(a", regex=True)["code"] == "invalid_pattern"


def test_recent_with_filters(tools: Raw) -> None:
    """Runs newest first, and tasks by worker and status, as data: who, how it ended, the error, when, and refs."""
    runs = tools.fine("recent_memory")["entries"]
    assert [one["run"] for one in runs] == ["run-3", "run-2", "run-1"]
    assert [one["status"] for one in runs] == ["done", "partial", "partial"]
    failed = tools.fine("recent_memory", worker="shipper", status="failed")["entries"]
    assert [(one["run"], one["task"], one["worker"], one["status"]) for one in failed] == [
        ("run-2", "up", "shipper", "failed"), ("run-1", "up", "shipper", "failed"),
    ]  # fmt: skip
    assert {one["error"] for one in failed} == {"403 Forbidden: the token has expired"}
    assert [one["time"] for one in failed] == ["2026-11-02T10:00:00Z", "2026-11-01T10:00:00Z"]
    for one in (*runs, *failed):
        assert one["run"] in tools.call("memory_show", key=one["ref"])["content"][0]["text"]
        assert not tools.fine("read_memory", path=one["path"])["binary"]
    page = tools.fine("recent_memory", limit=1)
    assert (
        page["truncated"] and tools.fine("recent_memory", limit=1, cursor=page["next"])["entries"][0]["run"] == "run-2"
    )
    run = tools.fine("journal_run", run_id="run-1")
    assert (run["complete"], run["truncated"], run["finished"]) == (True, False, "2026-11-01T10:00:00Z")
    (task,) = [task for task in run["tasks"] if task["id"] == "up"]
    assert (task["worker"], task["status"], task["duration"]) == ("shipper", "failed", 2.5)
    assert "expired" in text_of(tools.fine("read_memory", path=task["path"])["text"])


def test_what_was_found_goes_into_a_task(tools: Raw) -> None:
    """`brief_task` takes what each tool answered, as data or whole, and one failure is one hit of recall."""
    hits = tools.fine("memory_recall", query="upload release 403 forbidden expired")["hits"]
    failures = [hit for hit in hits if "403" in hit["text"] and "Fixed:" not in hit["text"]]
    assert [hit["key"] for hit in failures] == ["failure-shipper"] * 2
    for call, arguments in (
        ("memory_recall", {"query": "upload release 403 forbidden expired"}),
        ("recent_memory", {"worker": "shipper", "status": "failed"}),
        ("journal_run", {"run_id": "run-1"}),
        ("search_memory", {"query": "token has expired", "paths": ["/journal"]}),
        ("memory_shell", {"command": "grep -rh expired /journal"}),
        ("memory_show", {"key": "journal/failure-shipper"}),
    ):
        answer = tools.call(call, **arguments)
        for hits in (answer["structuredContent"], answer):
            briefed = brief_task("Upload the release.", hits)
            facts = open_fences(briefed)
            assert briefed.startswith("Upload the release.\n") and facts, call
            assert any("token has expired" in fact.text for fact in facts), call
            assert all("commonplace-memory" not in fact.text and '"text"' not in fact.text for fact in facts), call
    listed = tools.fine("list_memories", path="/memories/global")
    assert any("Deploy note" in fact.text for fact in open_fences(brief_task("Deploy.", listed)))


def test_shell_with_quoted_pipes_and_fixed_strings(tools: Raw) -> None:
    """A pipe in quotes is text, `--fixed-strings` takes it as it is, and outside quotes it is refused in words."""
    ran = tools.fine("memory_shell", command="grep --fixed-strings 'a.b|c' /memories/global/*.md")
    assert ran["exit_code"] == 0 and "a.b|c" in text_of(ran["stdout"])
    ran = tools.fine("memory_shell", command='grep -E -o "tea|coffee" /data/prices.csv')
    assert text_of(ran["stdout"]).split() == ["tea", "coffee"]
    ran = tools.fine("memory_shell", command="cat /data/log.txt | head -n 3")
    assert ran["exit_code"] == 2 and "joins two commands" in ran["stderr"] and ran["stdout"] == ""
    ran = tools.fine("memory_shell", command="ls *.csv", in_folder="/data")
    assert text_of(ran["stdout"]).strip() == "prices.csv" and ran["cwd"] == "/data"


def test_data_is_bare_with_its_trust(tools: Raw) -> None:
    """In the structured content of every file tool a text is bare, to its last character, with its trust beside it and
    the author where one is known; in the content it is fenced."""
    log, note = {"path": "/data/log.txt"}, {"path": "/memories/global/quoting.md"}
    bare: list[tuple[str, dict[str, Any], str, str, str | None]] = [
        ("read_memory", log, "line 200\n", "external", None),
        ("read_memory", note, "a.b|c and $HOME.\n", "human", "human"),
        ("memory_shell", {"command": "tail -n 1 /data/log.txt"}, "line 200\n", "external", None),
        ("search_memory", {"query": "line 200"}, "line 200", "external", None),
        ("search_memory", {"query": "a.b|c", "paths": [note["path"]]}, "a.b|c and $HOME.", "human", "human"),
        ("search_memory", {"query": "run-1", "paths": ["/journal"]}, "", "agent", None),
        ("recent_memory", {}, "", "agent", None),
        ("memory_show", {"key": "index"}, "<!-- commonplace:end -->\n", "external", None),
    ]
    for tool, given, end, trust, author in bare:
        answer = tools.call(tool, **given)
        data = answer["structuredContent"]
        row = (data.get("matches") or data.get("entries") or [data])[-1]
        text = row["stdout" if tool == "memory_shell" else "text"]
        assert visible(text) == text and text.endswith(visible(end)) and not open_fences(text), (tool, text)
        assert (row["trust"], row.get("author")) == (trust, author), (tool, given)
        assert open_fences(answer["content"][0]["text"]), tool
    assert tools.fine("journal_run", run_id="run-1")["trust"] == "agent"


def test_limits(root: Path) -> None:
    """Answers end at the limits of the settings, say so, and continue where they ended; a limit out of bounds ends the
    server at its start, with the bounds."""
    with Raw(root, *COORDINATOR, COMMONPLACE_MAX_READ_BYTES="1024", COMMONPLACE_MAX_SEARCH_RESULTS="3") as raw:
        part = raw.fine("read_memory", path="/data/log.txt")
        assert part["truncated"] and part["next_offset"] == 1_024 and part["next"]
        rest = raw.fine("read_memory", path="/data/log.txt", offset=part["next_offset"])
        whole = text_of(part["text"]) + text_of(rest["text"])
        assert not rest["truncated"] and whole.split() == " ".join(f"line {number}" for number in range(1, 201)).split()
        found = raw.fine("search_memory", query="line", paths=["/data/log.txt"], limit=50)
        assert len(found["matches"]) == 3 and found["truncated"] and found["next_offset"] == 3
        ran = raw.fine("memory_shell", command="cat /data/log.txt")
        assert ran["truncated"] and "1,024" in ran["next"]
        ran = raw.fine("memory_shell", command="query /data/runs.jsonl --field ok --equals true --limit 1")
        assert ran["truncated"] and "--limit" in ran["next"]
    ended = start(environment(root, COMMONPLACE_MAX_READ_BYTES="1"), root.parent)
    assert ended.returncode == 17 and b"max_read_bytes must be a number from 1,024 to 16,777,216" in ended.stderr


def test_binary_files(tools: Raw) -> None:
    """A binary is recognised by its first bytes: it is named and never printed; grep says that it matches."""
    read = tools.fine("read_memory", path="/data/photo.png")
    assert read["binary"] and read["text"] == ""
    paths = {one["path"] for one in tools.fine("search_memory", query="deploy", paths=["/"])["matches"]}
    assert paths and "/data/photo.png" not in paths
    ran = tools.fine("memory_shell", command="grep deploy /data/photo.png")
    assert ran["exit_code"] == 0 and "binary file matches" in ran["stderr"] and ran["stdout"] == ""


def test_bad_jsonl_lines(tools: Raw) -> None:
    """Lines that are not JSON are skipped and counted, and the records around them are found."""
    ran = tools.fine("memory_shell", command="query /data/runs.jsonl --field ok --equals true")
    assert ran["exit_code"] == 0 and text_of(ran["stdout"]).count('"ok": true') == 2
    assert "2 lines that are not JSON were skipped, the first is line 2" in ran["stderr"]


@pytest.mark.parametrize("kind", ["not there", "a file", "below a file"])
def test_missing_root(tmp_path: Path, kind: str) -> None:
    """A root that is not there, or cannot be one, ends the coordinator's server at its start, with what to do; nothing
    is made in its place."""
    (tmp_path / "file").write_text("x", "utf-8")
    missing = {"not there": tmp_path / "typo", "a file": tmp_path / "file", "below a file": tmp_path / "file" / "x"}[
        kind
    ]
    for words, settings in (((), environment(missing)), (("--root", str(missing)), environment(tmp_path / "other"))):
        ended = start(settings, tmp_path, *words)
        assert (ended.returncode, ended.stdout) == (17, b"")
        assert b"[invalid_settings]" in ended.stderr and b"--root" in ended.stderr and b"Traceback" not in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
