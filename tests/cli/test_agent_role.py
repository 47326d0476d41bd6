"""An agent at the command line is an agent, whether it is named or only its program's variables tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Book, Role
from commonplace.cli.call import find_agent_host
from tests.cli.calls import Outcome, fine, run
from tests.cli.conftest import PROJECT
from tests.cli.terminal import Terminal

HOSTS = (
    ("CLAUDECODE", "1", "claude-code"), ("GEMINI_CLI", "1", "gemini"), ("OPENCODE", "1", "opencode"),
    ("CURSOR_AGENT", "1", "cursor"), ("CODEX_SANDBOX", "seatbelt", "codex"), ("CODEX_THREAD_ID", "ab", "codex"),
    ("AWS_EXECUTION_ENV", "AmazonQ-For-CLI Version/1.2", "amazonq"),
)  # fmt: skip
REFUSED = (
    ("list", "--all"), ("recall", "tests", "--all"), ("show", "note", "--scope", "agent:alice"),
    ("forget", "note", "--scope", "agent:alice"), ("clear", "global", "--yes"), ("clear", "agent:alice", "--yes"),
    ("forget", "test-runner", "--purge", "--yes"), ("review", "--accept", "lesson"), ("review", "--reject", "lesson"),
    ("review", "--list"), ("files", "list", "--all"), ("sh", "--all", "-c", "ls"), ("config", "set", "protocol", "off"),
    ("pin", "test-runner"), ("unpin", "test-runner"),
    ("trust", "--yes"), ("trust", "--memories", "--yes"), ("verify",), ("doctor",), ("reindex",), ("scan",),
)  # fmt: skip


def as_agent(way: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> Outcome:
    """A call by the agent bob, who is named by a flag, by the environment or by his program's variable."""
    if way == "flag":
        return run(*words, "--agent", "bob", "--json")
    monkeypatch.setenv(*{"variable": ("COMMONPLACE_AGENT", "bob"), "host": ("CLAUDECODE", "1")}[way])
    return run(*words, "--json")


@pytest.fixture(autouse=True)
def alices_note(book: Path) -> None:
    with Book.open(book, project=PROJECT, agent="alice") as alice:
        alice.store("What only Alice knows.", "note", "agent")


@pytest.mark.parametrize("way", ["flag", "variable", "host"])
def test_what_is_a_persons_is_refused(book: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """What only a person may do is refused to an agent, with what to do, and nothing is changed."""
    before = {path: path.read_bytes() for path in (book / "memories").rglob("*.md")}
    wrong = []
    for words in REFUSED:
        refused = as_agent(way, monkeypatch, *words)
        error = refused.error() if refused.err else {"code": "", "hint": ""}
        after = {path: path.read_bytes() for path in (book / "memories").rglob("*.md")}
        if error["code"] != "not_permitted" or "--person" not in error["hint"] or after != before:
            wrong.append((words, refused))
    assert wrong == []


@pytest.mark.parametrize("way", ["flag", "variable", "host"])
def test_what_is_an_agents_is_answered(book: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """An agent stores, recalls, lists and forgets in its own scopes, and the audit says that it was an agent."""
    assert as_agent(way, monkeypatch, "store", "Bob was here.", "--key", "bob").status == 0
    assert as_agent(way, monkeypatch, "list").status == 0
    assert "Alice" not in as_agent(way, monkeypatch, "recall", "What does only Alice know?").out
    assert as_agent(way, monkeypatch, "forget", "bob").status == 0
    (audit,) = (book / ".commonplace" / "audit").glob("*.jsonl")
    roles = {json.loads(line)["role"] for line in audit.read_text("utf-8").splitlines() if '"cli"' in line}
    assert roles == {"agent"}


@pytest.mark.parametrize(("variable", "value", "host"), HOSTS)
def test_the_program_is_known_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, host: str
) -> None:
    """What an agent's shell stores is signed with the program's name; switched off, the variable says nothing."""
    monkeypatch.setenv(variable, value)
    key = fine("store", "Signed.", "--scope", "global")["key"]
    (entry,) = fine("show", key)["entries"]
    assert (entry["author"], entry["trust"]) == (host, "agent")
    assert find_agent_host({variable: "0"}) is None
    assert find_agent_host({"CODEX_HOME": "/home/me/.codex", "CLAUDE_CONFIG_DIR": "x"}) is None


def test_a_person_in_an_agents_shell(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--person gives a person's rights back on a terminal, and is refused where there is none."""
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("list", "--all", "--person", "--json").error()["code"] == "not_permitted"
    with Terminal("list", "--all", "--person", columns=200) as terminal:
        terminal.expect("What only Alice knows.")
    with Terminal("list", "--all") as terminal:
        terminal.expect("not_permitted")


def test_the_library_goes_by_the_same_rule(book: Path) -> None:
    """Book.open with an agent's name is an agent's; without one, or with a role, it is as before."""
    for agent, role, wanted in ((None, None, "person"), ("bob", None, "agent"), ("bob", Role.PERSON, "person")):
        with Book.open(book, project=PROJECT, agent=agent, role=role) as opened:
            assert opened.role == wanted
