"""Small texts of the command line and of its tools: they name what can be typed, count rightly, and say things once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Book, NotFound, toolset
from commonplace.verbs import ALIASES
from tests.cli.calls import fine, run


def test_a_recall_without_strong_matches_names_the_option(book: Path) -> None:
    """The remark names `--strong`, as it is typed; the result for programs names the argument."""
    outcome = run("recall", "penguins marching on staging", "--strong")
    assert "Without `--strong` you see the weaker ones." in outcome.err


def test_a_bad_pattern_is_quoted_as_it_was_given(book: Path) -> None:
    """What is wrong with a regular expression is told without anything that we put before it."""
    error = run("files", "search", "port (", "--regex", "--json").error()
    assert error["code"] == "invalid_pattern" and "port (" in error["message"] and "(?i)" not in error["message"]
    assert fine("files", "search", "PORT [0-9]", "--regex")["matches"]


def test_a_key_with_an_umlaut_is_shown_as_it_was_typed(book: Path) -> None:
    """An invalid key, and one that is not there, stand in the message in their own letters."""
    assert "'Größe'" in run("rename", "staging-port", "Größe", "--json").error()["message"]


def test_a_file_that_is_too_large_is_named_once(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """grep says which file it did not search, as the GNU tools do, with its name once."""
    (book / "data").mkdir(exist_ok=True)
    (book / "data" / "big").write_bytes(b"x" * 6_000)
    monkeypatch.setattr("commonplace.shell.view_reader.MAX_FILE_BYTES", 5_000)
    outcome = run("files", "sh", "-c", "grep x /data/big")
    said = "grep: /data/big: File too large: 6,000 bytes; a file of up to 5,000 is read here"
    assert outcome.err.splitlines() == [said]


def test_a_path_that_is_too_deep_gets_a_hint_about_its_depth(book: Path) -> None:
    """A path of 13 levels is told how many there may be, and the hint is about that, not about dots."""
    error = run("files", "read", "/a/b/c/d/e/f/g/h/i/j/k/l/m", "--json").error()
    assert "12" in error["message"] and ".." not in error["hint"] and "fewer folders" in error["hint"]


def test_one_is_counted_as_one(book: Path) -> None:
    """The tools say `1 entry`, `1 task` and `1 line in 1 file`."""
    with Book.open(book, role="agent") as opened:
        tools = {tool.name: tool for tool in toolset(opened, extra=("files",))}
        found = tools["search_memory"](query="tea,1", paths=["/data/prices.csv"]).text
        listed = tools["list_memories"](path="/memories/global").text
        recorded = tools["journal_run"](run_id="run-1").text
    assert recorded.startswith("Run run-1, 1 task; ")
    assert found.startswith("1 line in 1 file.") and ", 1 entry)" in listed


def test_a_host_that_is_nearly_right_is_guessed(book: Path) -> None:
    """The beginning of an agent program's name is answered with the name that was probably meant."""
    assert run("connect", "claude", "--json").error()["message"] == "Unknown host 'claude'. Did you mean claude-code?"


def test_what_holds_for_all_hosts_is_said_once(book: Path) -> None:
    """That capture is on is said once, however many agent programs are connected."""
    assert run("connect", "codex", "gemini", "claude-code").out.count("Capture is on") == 1


def test_a_brief_says_what_it_counts(book: Path) -> None:
    """The memories that a brief counts are those that it tells in full; one that is cut is not among them."""
    fine("store", "A long story. " * 200, "--key", "story")
    told = fine("brief")
    assert f"({len(told['memories'])} memories in full; " in run("brief").out


def test_a_key_is_not_guessed_to_be_itself(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that goes away while a command reads it is not there; the same key is not offered in its place."""
    with Book.open(book) as opened:
        monkeypatch.setattr("commonplace.verbs.show._load_nearest", lambda *_: None)
        with pytest.raises(NotFound) as missing:
            opened.show("staging-port")
    assert "Did you mean 'staging-port'" not in missing.value.message


@pytest.mark.parametrize("line", ["list", "brief", "history", "restore", "review", "files list", "recall port"])
def test_a_memory_that_is_switched_off_says_so(line: str, book: Path) -> None:
    """Where memory is switched off, a command that finds nothing for that reason says so, and how to turn it on."""
    fine("config", "set", "enabled", "false")
    outcome = run(*line.split())
    assert "switched off" in outcome.err and "commonplace config set enabled true" in outcome.err
    assert "Nothing is stored" not in outcome.err
    fine("config", "set", "enabled", "true")
    assert "switched off" not in run(*line.split()).err


@pytest.mark.parametrize("name", ALIASES)
def test_old_spellings_work_and_are_hidden(name: str, book: Path) -> None:
    """A command of an earlier version has its help still, and the overview does not list it."""
    outcome = run(name, "--help")
    assert outcome.status == 0 and "usage:" in outcome.out.lower()
    assert not [line for line in run("--help").out.splitlines() if line.startswith(f"  {name} ")]


def test_the_schema_of_a_run_is_printed() -> None:
    """What a run may hold is printed from the installation, so that no hint has to name a file of the sources."""
    schema = json.loads(run("journal", "schema").out)
    assert "run_id" in schema["properties"]


def test_a_type_that_is_none_is_refused(book: Path) -> None:
    """`list --type` refuses a word that is no type, as a store and a recall do, in place of finding nothing."""
    for words in (("list", "--type", "foo"), ("recall", "port", "--type", "foo"), ("store", "x", "--type", "foo")):
        error = run(*words, "--json").error()
        assert error["message"] == "type cannot be 'foo'."
        assert error["hint"] == "Use one of: user, feedback, project, reference."
