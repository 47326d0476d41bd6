"""Memories that move, change and come back: move, rename, history --diff, show --revision, undo, restore, and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT

WEB = "github.com/acme/web"


def actions(key: str, *words: str) -> list[str]:
    return [item["action"] for item in fine("history", key, *words)["revisions"]]


def texts(key: str, *words: str) -> list[str]:
    return [entry["text"] for entry in fine("show", key, *words)["entries"]]


@pytest.fixture
def changed(book: Path) -> Path:
    """The small book with a memory that says `one`, then `one` and `two`, then `three`, then `four`."""
    fine("store", "one", "--key", "counted")
    fine("store", "two", "--key", "counted")
    fine("store", "three", "--key", "counted", "--mode", "replace")
    fine("store", "four", "--key", "counted", "--mode", "replace")
    return book


def test_move_to_another_project(changed: Path) -> None:
    """A memory that is moved is there and no longer here, with its history and its id; moved back, it is as before."""
    before = fine("show", "counted")
    with Book.open(changed, project=WEB) as web:
        web.store("Something.", "something")
    moved = fine("move", "counted", "--to", "web")
    assert (moved["action"], moved["scope_id"]) == ("moved", WEB)
    assert run("show", "counted").status == 1
    assert texts("counted", "--project", WEB) == ["four"]
    assert fine("show", "counted", "--project", WEB)["id"] == before["id"]
    assert actions("counted", "--project", WEB) == ["appended", "replaced", "replaced", "moved", "current"]
    assert fine("undo", "counted", "--project", WEB)["action"] == "undone"
    assert texts("counted", "--project", WEB) == ["three"]
    assert "/memories/project/app-" in run("move", "counted", "--to", "project", "--scope", f"project:{WEB}").out
    assert texts("counted") == ["three"] and run("show", "counted", "--project", WEB).status == 1
    assert fine("verify")["ok"] and run("doctor").status == 0


def test_rename(changed: Path) -> None:
    """A renamed memory keeps text, id and history, its heading has the new key, and links to it lead there."""
    fine("link", "slow-tests", "relates_to", "counted")
    fine("link", "release-day", "relates_to", "project/counted")
    ident = fine("show", "counted")["id"]
    assert fine("rename", "counted", "numbers/counted")["action"] == "renamed"
    shown = fine("show", "numbers/counted")
    assert (shown["id"], [entry["text"] for entry in shown["entries"]]) == (ident, ["four"])
    assert actions("numbers/counted")[-2:] == ["renamed", "current"] and len(actions("numbers/counted")) == 5
    file = Path(run("show", "numbers/counted").out.split("file")[1].split()[0])
    assert "# numbers/counted\n" in file.read_text("utf-8") and "key: numbers/counted\n" in file.read_text("utf-8")
    assert [link["to"] for link in fine("show", "slow-tests")["links"]][-1:] == ["numbers/counted"]
    assert fine("show", "release-day")["links"][0]["to"] == "project/numbers/counted"
    fine("undo", "numbers/counted", "--steps", "3")
    assert texts("numbers/counted") == ["one"] and fine("verify")["ok"]


def test_a_move_that_cannot_be(book: Path) -> None:
    """A taken key, a memory that is there already and an unknown project are refused, and nothing is changed."""
    fine("store", "Another.", "--key", "lesson", "--scope", "global")
    before = fine("list", "--all")
    assert run("move", "lesson", "--scope", "project", "--to", "global", "--json").error()["code"] == "already_exists"
    assert run("rename", "slow-tests", "test-runner", "--json").error()["code"] == "already_exists"
    error = run("move", "slow-tests", "--to", "github.com/acme/ap", "--json").error()
    assert error["code"] == "invalid_scope" and f"Did you mean {PROJECT}?" in error["message"]
    assert fine("list", "--all") == before


def test_an_agent_moves_among_its_own_scopes(book: Path) -> None:
    """An agent may move what it may write; no other project can be named, and what waits for review stays."""
    assert run("move", "staging-port", "--to", "global", "--agent", "bob").status == 0
    for words in (("move", "staging-port", "--to", f"project:{WEB}"), ("move", "staging-port", "--to", WEB)):
        assert run(*words, "--agent", "bob", "--json").error()["code"] in ("not_permitted", "invalid_scope")
    assert run("rename", "lesson", "mine", "--agent", "bob", "--json").error()["code"] == "not_permitted"
    assert fine("show", "staging-port")["scope"] == "global"


def test_an_earlier_revision(changed: Path) -> None:
    """`show --revision` shows any text that history lists, by the first digits of its revision."""
    revisions = fine("history", "counted")["revisions"]
    two, three = [item["revision"] for item in revisions if item["revision"]][:2]
    assert texts("counted", "--revision", two[:6]) == ["one", "two"]
    assert texts("counted", "--revision", three) == ["three"]
    assert run("show", "counted", "--revision", "000000", "--json").error()["code"] == "not_found"


def test_what_each_change_did(changed: Path) -> None:
    """`history --diff` shows for each change who made it, and the lines that it took away and added."""
    out = run("history", "counted", "--diff").out
    parts = re.split(r"^\d{4}-\d\d-\d\d \d\d:\d\dZ  ", out, flags=re.M)[1:]
    assert [part.splitlines()[0].split("  ")[0] for part in parts] == ["appended by human"] + ["replaced by human"] * 2
    assert "  +two\n" in parts[0] and "-" not in parts[0].replace("@@", "").replace("--", "").split("+two")[1]
    assert "  -two\n" in parts[1] and "  +three\n" in parts[1] and "  -three\n" in parts[2] and "  +four\n" in parts[2]
    fine("store", "Only once.", "--key", "once")
    assert run("history", "once", "--diff").out == ""
    assert [bool(item["diff"]) for item in fine("history", "counted", "--diff")["revisions"]] == [True] * 3 + [False]


@pytest.mark.parametrize(
    ("steps", "wanted"), [("1", ["three"]), ("2", ["one", "two"]), ("3", ["one"])], ids=["one", "two", "three"]
)
def test_undo_more_than_one_step(steps: str, wanted: list[str], changed: Path) -> None:
    """`undo --steps N` brings back the text of N changes ago; that is a change, which one undo takes back."""
    fine("undo", "counted", "--steps", steps)
    assert texts("counted") == wanted
    fine("undo", "counted")
    assert texts("counted") == ["four"] and fine("verify")["ok"]


def test_undo_to_a_revision(changed: Path) -> None:
    """`undo --to REV` brings back that text; more steps than there are, or both options, are refused."""
    first = next(item["revision"] for item in fine("history", "counted")["revisions"] if item["revision"])
    fine("undo", "counted", "--to", first[:8])
    assert texts("counted") == ["one", "two"]
    error = run("undo", "counted", "--steps", "40", "--json").error()
    assert error["code"] == "conflict" and "changes to undo" in error["message"]
    assert run("undo", "counted", "--steps", "2", "--to", first).status == 15


def test_an_agent_undoes_no_verdict_in_many_steps(book: Path) -> None:
    """Several steps do not lead an agent across what a reviewer decided."""
    run("review", "--accept", "lesson")
    run("store", "More of it.", "--key", "lesson", "--agent", "bob")
    run("store", "And more.", "--key", "lesson", "--agent", "bob")
    assert run("undo", "lesson", "--steps", "3", "--agent", "bob", "--json").error()["code"] == "not_permitted"
    assert fine("show", "lesson")["status"] == "active"


def test_what_is_in_the_trash(book: Path) -> None:
    """`restore` without a key lists what was forgotten, with its summary, by whom and when, also outside."""
    run("forget", "release-day")
    next((book / "memories" / "project").rglob("slow-tests.md")).unlink()
    rows = run("restore").out.splitlines()
    assert sorted(row.split()[0] for row in rows) == ["old-runner", "release-day", "slow-tests"]
    assert re.search(
        r"^old-runner +project github.com/acme/app +\S+ \S+Z +human +Nose ran the tests.$", "\n".join(rows), re.M
    )
    assert [item["action"] for item in fine("restore")["trash"] if item["key"] == "slow-tests"] == ["deleted"]
    assert fine("restore", "slow-tests")["action"] == "restored" and texts("slow-tests") == ["Slow tests need --slow."]
    assert run("restore", "--since", "1h").status == 0 and len(fine("restore")["trash"]) == 2


def test_a_whole_scope_comes_back(book: Path) -> None:
    """After `forget --all`, `restore --all` brings back every memory of the scope as it was, with its links."""
    before = fine("list", "--scope", "project", "--hidden")
    run("forget", "old-runner")
    assert run("forget", "--all", "--scope", "project", "--yes").status == 0
    assert fine("restore", "--scope", "project")["trash"]
    restored = fine("restore", "--all", "--scope", "project", "--since", "1h")["restored"]
    assert {item["key"] for item in restored} >= {item["key"] for item in before["memories"]}
    after = {item["key"]: item for item in fine("list", "--scope", "project", "--hidden")["memories"]}
    for item in before["memories"]:
        assert (after[item["key"]]["summary"], after[item["key"]]["revision"]) == (item["summary"], item["revision"])
    assert fine("verify")["ok"]


def test_a_restore_of_what_is_there(book: Path) -> None:
    """A memory that was not forgotten is not called missing, with or without its scope; nor is one with no change."""
    for words in (("restore", "test-runner"), ("restore", "test-runner", "--scope", "project")):
        error = run(*words, "--json").error()
        assert error["code"] == "not_found" and error["message"] == "'test-runner' is not in the trash."
        assert error["hint"] == "It was not forgotten: `commonplace show test-runner` shows it."
    error = run("restore", "nothing", "--scope", "project", "--json").error()
    assert error["message"] == "'nothing' is not in the trash."
    assert error["hint"] == "`commonplace restore` lists what is."
    for steps in ((), ("--steps", "3")):
        message = run("undo", "release-day", *steps, "--json").error()["message"]
        assert message == "The text of 'release-day' has not been changed since it was made."


@pytest.mark.parametrize("line", ["show {}", "history {}", "undo {}", "forget {}", "pin {}", "move {} --to global"])
def test_the_key_that_was_meant(line: str, book: Path) -> None:
    """An unknown key names the nearest ones; a key of another project is found there, for a person."""
    error = run(*line.format("staging-prot").split(), "--json").error()
    assert error["code"] == "not_found" and "Did you mean 'staging-port'?" in error["message"]
    assert "Did you mean" not in run(*line.format("zebra").split(), "--json").error()["message"]


@pytest.mark.parametrize(
    "line", ["show gone", "undo gone", "rename gone here", "edit gone", "link gone supersedes lesson"]
)
def test_a_forgotten_key_is_said_to_be_in_the_trash(line: str, book: Path) -> None:
    """A command that needs a memory which was forgotten names the one that brings it back."""
    fine("store", "Soon forgotten.", "--key", "gone")
    fine("forget", "gone")
    assert run(*line.split(), "--json").error()["hint"] == (
        "It was forgotten: `commonplace restore gone` brings it back."
    )


def test_a_key_of_another_project(book: Path) -> None:
    """For a person, an unknown key that another scope has is named with the option that opens it; not for an agent."""
    words = ("show", "staging-port", "--project", WEB)
    assert f"--scope project:{PROJECT}" in run(*words, "--json").error()["hint"]
    assert PROJECT not in run(*words, "--agent", "bob").err
    with Book.open(book, project=PROJECT, agent="bob") as bob:
        bob.store("Mine.", "staging-poet", "agent")
    assert "staging-poet" not in run("show", "staging-pot", "--agent", "eve").err


def test_links_say_what_they_are(book: Path) -> None:
    """A link to what is not there is refused; an agent's says that it is proposed, and does nothing until accepted."""
    error = run("link", "staging-port", "relates_to", "slow-test", "--json").error()
    assert error["code"] == "not_found" and "Did you mean 'slow-tests'?" in error["message"]
    assert "links" not in fine("show", "staging-port") or fine("show", "staging-port")["links"] == []
    answer = run("link", "staging-port", "supersedes", "slow-tests", "--agent", "bob")
    assert answer.out.startswith("Proposed a link from staging-port") and "review" in answer.out
    assert run("show", "staging-port", "--related").status == 1
    assert fine("show", "slow-tests")["status"] == "active"
    run("review", "--accept", "staging-port", "--rel", "supersedes", "--to", "slow-tests")
    assert [item["key"] for item in fine("show", "staging-port", "--related")["memories"]] == ["slow-tests"]
    assert fine("show", "slow-tests")["status"] == "superseded"


def test_what_was_superseded_is_named(book: Path) -> None:
    """A store that decides to supersede, and a merge, say which memories they superseded."""
    out = run("store", "Days of release vary.", "--decision", "supersede:release-day").out
    assert "supersedes global/release-day" in out
    merged = fine("consolidate", "test-runner", "slow-tests", "--text", "Both.", "--into", "both")
    assert merged["superseded"] == ["project/test-runner", "project/slow-tests"]
