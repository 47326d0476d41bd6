"""The commands with which a person decides what a project is: list, show, adopt, merge, split and undo."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.telling import FACT, ID, ONE, TWO, is_told, store
from tests.project.repositories import git, needs_git, repository

pytestmark = needs_git
OTHER = "git.example/clienttwo/app"


@pytest.fixture(autouse=True)
def by_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder tells the project, nothing else; a memory for everybody is there."""
    monkeypatch.delenv("COMMONPLACE_PROJECT")
    fine("store", "Everybody drinks tea.", "--key", "tea", "--scope", "global")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """The repository of client one, with the fact."""
    made = repository(tmp_path / "one", ONE)
    store(made)
    return made


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """The repository of client two, with a memory under the same key and one of its own."""
    made = repository(tmp_path / "two", TWO)
    os.chdir(made)
    fine("store", "Client two has another plan.", "--key", "secret-plan")
    fine("store", "Client two pays late.", "--key", "payment")
    return made


def listed(*words: str) -> dict[str, Any]:
    return {item["id"]: item for item in fine("project", "list", *words)["projects"]}


def keys() -> set[str]:
    return {item["key"] for item in fine("list", "--scope", "project")["memories"]}


def snapshot(root: Path) -> dict[str, bytes]:
    """Every note, old text and page of the projects, as they are on disk; not the generated pages."""
    tops = ("memories/project", "journal", ".commonplace/history", ".commonplace/trash")
    files = [path for top in tops for path in (root / top).rglob("*") if path.is_file()]
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in files
        if path.name != "index.md" and "_index" not in path.parts
    }


def test_the_list(one: Path, two: Path) -> None:
    """Every project is listed with its folders, its memories and its last change, and this folder's own is marked."""
    os.chdir(two)
    found = listed()
    assert {ident: (item["memories"], item["own"]) for ident, item in found.items()} == {
        ID: (1, False),
        OTHER: (2, True),
    }
    assert found[ID]["folders"] == [str(one)]
    assert found[ID]["updated"].startswith("20")
    assert f"* {OTHER}" in run("project", "list").out


def test_an_agent_sees_its_own_project_and_decides_nothing(one: Path, two: Path) -> None:
    """An agent lists and shows the project of its folder, and cannot adopt, merge, split or undo."""
    os.chdir(two)
    agent = ("--agent", "scout")
    assert list(listed(*agent)) == [OTHER]
    assert fine("project", "show", *agent)["others"] == []
    for words in (("adopt", ID), ("merge", ID), ("split",), ("undo",)):
        assert run("project", *words, *agent, "--json").error()["code"] == "not_permitted"
    assert len(keys()) == 2


def test_what_a_folder_is_and_why(one: Path) -> None:
    """`project show` says what proves the project, its other names and its folders."""
    os.chdir(one)
    git(one, "remote", "set-url", "origin", TWO)
    assert fine("project")["proof"] == "git"
    shown = fine("project", "show")
    assert (shown["id"], shown["source"], shown["proof"], shown["aliases"]) == (OTHER, "remote", "commit", [ID])
    assert shown["folders"] == [str(one)]
    text = run("project").out
    assert all(word in text for word in ("its root commit", ID, str(one), "1 memory"))


def test_projects_with_one_history_are_named(one: Path, tmp_path: Path) -> None:
    """`project show` names the fork of a project, and its original, also after somebody said that they are two."""
    git(tmp_path, "clone", "--quiet", f"file://{one}", "fork")
    git(tmp_path / "fork", "remote", "set-url", "origin", TWO)
    store(tmp_path / "fork", "Kept for the fork.")
    fine("project", "split")
    assert fine("project")["others"] == [ID]
    os.chdir(one)
    assert fine("project")["others"] == [OTHER]
    assert f"commonplace project adopt {OTHER}" not in run("project").out


def test_adopting_where_the_folder_has_memories_of_its_own(one: Path, two: Path, root: Path) -> None:
    """An adopted folder is the other project, is told where its own memories are, and undo gives them back."""
    before = snapshot(root)
    os.chdir(two)
    done = fine("project", "adopt", ID)
    assert (done["action"], done["id"], done["memories"], done["other"]) == ("adopted", ID, 1, OTHER)
    assert is_told(root, two)
    said = run("list")
    assert "payment" not in said.out
    assert f"2 memories are kept for {OTHER}" in said.err
    (two / "src").mkdir()
    assert is_told(root, two / "src")
    assert fine_noted("project", "undo")["undone"] == "adopt"
    assert keys() == {"secret-plan", "payment"}
    assert snapshot(root) == before


def test_adopt_and_split_are_opposites(one: Path, two: Path, root: Path) -> None:
    """A folder that is split off again is the project it was before it was adopted."""
    os.chdir(two)
    fine("project", "adopt", ID)
    fine_noted("project", "split")  # the note about its old memories goes first
    assert run("list").err == ""
    done = fine("project", "split")
    assert (done["id"], done["other"]) == (OTHER, ID)
    assert not is_told(root, two)
    assert keys() == {"secret-plan", "payment"}
    for _ in range(3):
        run("project", "undo")
    assert keys() == {"secret-plan", "payment"}


def test_splitting_one_of_two_clones(one: Path, tmp_path: Path, root: Path) -> None:
    """A clone that is split off starts empty and stays apart, wherever it moves; undo joins it to the other again."""
    git(tmp_path, "clone", "--quiet", f"file://{one}", "clone")
    clone = (tmp_path / "clone").resolve()
    git(clone, "remote", "set-url", "origin", ONE)
    assert is_told(root, clone)
    done = fine("project", "split")
    assert (done["other"], done["memories"]) == (ID, 0)
    assert not is_told(root, clone)
    store(clone, "Kept for the clone.")
    assert is_told(root, one)
    assert "Kept for the clone" not in run("list").out
    os.chdir(tmp_path)
    moved = clone.rename(tmp_path / "moved")
    assert not is_told(root, moved)
    assert "Kept for the clone" in run("list").out
    assert fine("project", "undo")["undone"] == "split"
    assert is_told(root, moved)
    assert "1 memory is kept for" in run("list").err


def test_merging_keeps_both_under_distinct_keys(one: Path, two: Path, root: Path) -> None:
    """Two projects become one: equal keys stay apart, links follow, history and trash come along, both folders see all
    of it, nothing needs mending, and undo puts every byte back."""
    os.chdir(two)
    fine("store", "Client two has a third plan.", "--key", "secret-plan", "--mode", "replace")
    fine("store", "An old rule.", "--key", "old-rule")
    fine("forget", "old-rule")
    fine("link", "payment", "relates_to", "secret-plan")
    before = snapshot(root)
    os.chdir(one)
    done = fine("project", "merge", OTHER)
    assert (done["action"], done["id"], done["moved"], done["renamed"]) == (
        "merged",
        ID,
        2,
        [["secret-plan", "secret-plan-2"]],
    )
    for folder in (one, two):
        os.chdir(folder)
        assert is_told(root, folder)
        assert keys() == {"secret-plan", "secret-plan-2", "payment"}
        assert fine("project")["id"] == ID
    assert "third plan" in run("show", "secret-plan-2").out
    assert "noon" in run("show", "secret-plan").out
    assert any(item["action"] == "replaced" for item in fine("history", "secret-plan-2")["revisions"])
    assert fine("show", "payment")["links"][0]["to"] == "secret-plan-2"
    assert run("restore", "old-rule").status == 0
    assert run("forget", "old-rule").status == 0
    assert fine("doctor", "verify")["ok"]
    assert not [item for item in fine("doctor")["findings"] if item["severity"] == "error"]
    assert fine("project", "undo")["undone"] == "merge"
    after = snapshot(root)
    assert {name: data for name, data in after.items() if "old-rule" not in name} == {
        name: data for name, data in before.items() if "old-rule" not in name
    }
    assert "An old rule." in "".join(data.decode() for name, data in after.items() if "old-rule" in name)
    assert fine("doctor", "verify")["ok"]
    os.chdir(two)
    assert keys() == {"secret-plan", "payment"}
    assert not is_told(root, two)


def test_merging_the_journals(root: Path) -> None:
    """The runs of both projects are in one journal after a merge, and apart again after undo."""
    run_of = {"goal": "Ship it", "tasks": [{"worker": "tester", "description": "Run", "error": "3 tests failed"}]}
    for name in ("a", "b"):
        with Book.open(root, project=name) as book:
            book.store(f"The fact of {name}.", "fact")
            assert book.record_run({"run_id": f"run-{name}", **run_of}).warnings == ()
    with Book.open(root, project="a") as book:
        done = book.merge_projects("b")
        assert (done.moved, done.renamed) == (1, (("fact", "fact-2"),))
    with Book.open(root, project="b") as book:
        assert {entry.run for entry in book.recent_memory(limit=10).entries} == {"run-a", "run-b"}
        assert book.verify().ok
        book.undo_project()
    for name in ("a", "b"):
        with Book.open(root, project=name) as book:
            assert {entry.run for entry in book.recent_memory(limit=10).entries} == {f"run-{name}"}
            assert book.verify().ok


def test_a_merge_into_a_name_that_was_given_by_hand(one: Path, root: Path) -> None:
    """A project that is named by hand gets the memories and folders of another, and not the folder of the command."""
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    os.chdir(elsewhere)
    assert fine("project", "merge", ID, "--project", "handbook")["id"] == "handbook"
    assert is_told(root, one)
    assert not is_told(root, elsewhere)
    assert listed()["handbook"]["folders"] == [str(one)]


def test_decisions_about_nothing(one: Path) -> None:
    """A project that is not there, one merged into itself, a folder that is set by hand, and an undo of nothing are
    errors that say what to do."""
    os.chdir(one)
    assert run("project", "adopt", "nowhere", "--json").error()["code"] == "not_found"
    assert run("project", "merge", ID, "--json").error()["code"] == "conflict"
    assert run("project", "split", "--project", "x", "--json").error()["code"] == "invalid_scope"
    assert run("project", "undo", "--json").error()["code"] == "not_found"
    assert FACT in run("show", "secret-plan").out


def fine_noted(*words: str) -> Any:
    """What a command answers that must work, whatever note comes with it."""
    outcome = run(*words, "--json")
    assert outcome.status == 0, outcome
    return outcome.answer()
