"""What the trash still has when a key is used again, and what counts as a change that can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT


def revisions(key: str) -> list[dict[str, Any]]:
    return list(fine("history", key)["revisions"])


def actions(key: str) -> list[str]:
    return [item["action"] for item in revisions(key)]


def texts(key: str, *words: str) -> list[str]:
    return [entry["text"] for entry in fine("show", key, *words)["entries"]]


@pytest.fixture
def reused(book: Path) -> Path:
    """A book whose trash has a memory `kept`, while another memory was renamed to that key."""
    fine("store", "The old text.", "--key", "kept")
    fine("forget", "kept")
    fine("store", "Another text.", "--key", "other")
    fine("rename", "other", "kept")
    return book


def test_the_trash_lists_a_memory_whose_key_is_in_use(reused: Path) -> None:
    """A forgotten memory stays in the list when its key is used again, with its id, and comes back once it is free."""
    (item,) = [item for item in fine("restore")["trash"] if item["key"] == "kept"]
    assert (item["summary"], item["is_key_taken"]) == ("The old text.", True)
    answer = run("restore")
    assert "commonplace move kept --key NEW" in answer.err and "old-runner" not in answer.err
    error = run("restore", "kept", "--json").error()
    assert error["code"] == "already_exists" and "commonplace move kept --key NEW" in error["hint"]
    fine("rename", "kept", "moved-on")
    assert fine("restore", "kept")["action"] == "restored"
    assert fine("show", "kept")["id"] == item["id"]
    assert texts("kept") == ["The old text."] and texts("moved-on") == ["Another text."]
    assert fine("verify")["ok"]


def test_two_memories_with_one_key_have_two_histories(reused: Path) -> None:
    """History and undo of a memory pass over what another memory with its key left behind."""
    assert actions("kept") == ["renamed", "current"]
    fine("store", "A third text.", "--key", "kept", "--mode", "replace")
    fine("undo", "kept")
    assert texts("kept") == ["Another text."]
    old = next(item for item in fine("restore")["trash"] if item["key"] == "kept")
    revision = Path(old["path"]).name.split(".")[3]
    assert run("undo", "kept", "--to", revision, "--json").error()["code"] == "not_found"


def test_each_memory_that_had_a_key_is_in_the_trash(reused: Path) -> None:
    """Of several forgotten memories with one key all are listed, and the newest comes back first."""
    fine("forget", "kept")
    listed = [item for item in fine("restore")["trash"] if item["key"] == "kept"]
    assert [item["summary"] for item in listed] == ["Another text.", "The old text."]
    assert [item["is_key_taken"] for item in listed] == [False, False]
    fine("restore", "kept")
    assert texts("kept") == ["Another text."]
    assert [item["summary"] for item in fine("restore")["trash"] if item["key"] == "kept"] == ["The old text."]


def test_a_file_deleted_by_hand_stays_restorable(book: Path) -> None:
    """What was deleted outside is listed still after its key was used again, forgotten and restored."""
    fine("store", "By hand gone.", "--key", "kept")
    next((book / "memories" / "project").rglob("kept.md")).unlink()
    fine("store", "Another text.", "--key", "kept")
    fine("forget", "kept")
    fine("restore", "kept")
    assert [item["summary"] for item in fine("restore")["trash"] if item["key"] == "kept"] == ["By hand gone."]
    fine("rename", "kept", "moved-on")
    fine("restore", "kept")
    assert texts("kept") == ["By hand gone."] and actions("moved-on")[-1] == "current"
    assert "kept" not in [item["key"] for item in fine("restore")["trash"]] and fine("verify")["ok"]


def test_restore_all_names_what_it_left(reused: Path) -> None:
    """`restore --all` restores what it can, names each memory whose key is in use, and then has exit code 1."""
    fine("forget", "release-day")
    answer = run("restore", "--all", "--scope", "project")
    assert answer.status == 1 and "Restored old-runner" in answer.out
    assert "kept" not in answer.out and "commonplace move kept --key NEW" in answer.err
    outcome = run("restore", "--all", "--scope", "project", "--json")
    assert outcome.status == 1
    assert [item["key"] for item in outcome.answer()["not_restored"]] == ["kept"]
    assert outcome.answer()["restored"] == []
    assert run("restore", "--all", "--scope", "global").status == 0
    with Book.open(reused, project=PROJECT) as library:
        assert library.restore_all("project") == []
        assert [item.key for item in library.list_trash("project")] == ["kept"]


def test_a_gap_is_no_revision(book: Path) -> None:
    """A memory had no text while it was in the trash: history shows no revision for that, and undo takes none."""
    fine("store", "Still here.", "--key", "kept")
    fine("forget", "kept")
    fine("restore", "kept")
    assert [(item["action"], bool(item["revision"])) for item in revisions("kept")] == [
        ("forgotten", True), ("restored", False), ("current", True),
    ]  # fmt: skip
    for words in (("show", "kept", "--revision", "e3b0"), ("undo", "kept", "--to", "e3b0c44298fc")):
        assert run(*words, "--json").error()["code"] == "not_found"
    assert texts("kept") == ["Still here."]
    diffs = fine("history", "kept", "--diff")["revisions"]
    assert "-Still here." in diffs[0]["diff"] and "+Still here." in diffs[1]["diff"]


def test_an_undo_that_changes_nothing(book: Path) -> None:
    """An undo to the text that is there says that nothing changed and adds no revision, so an undo still undoes."""
    fine("store", "one", "--key", "counted")
    fine("store", "two", "--key", "counted", "--mode", "replace")
    first = revisions("counted")[0]["revision"]
    assert fine("undo", "counted", "--to", first)["action"] == "undone"
    before = revisions("counted")
    for revision in (first, before[-1]["revision"]):
        assert fine("undo", "counted", "--to", revision)["action"] == "unchanged"
        answer = run("undo", "counted", "--to", revision, "--agent", "bob")
        assert answer.out.startswith("Nothing changed in counted") and answer.status == 0
    assert revisions("counted") == before
    fine("undo", "counted")
    assert texts("counted") == ["two"]


def test_a_move_is_no_change_of_the_text(book: Path) -> None:
    """History calls a move a move, and undo says of a moved or renamed memory how that is taken back."""
    fine("store", "Only text.", "--key", "kept")
    fine("move", "kept", "--to", "global")
    fine("rename", "kept", "kept-2")
    assert actions("kept-2") == ["moved", "renamed", "current"]
    for words in ((), ("--steps", "2")):
        error = run("undo", "kept-2", *words, "--json").error()
        assert error["code"] == "conflict" and "`commonplace move`" in error["hint"]
    assert "has not been changed" in run("undo", "kept-2").err
    fine("store", "Never moved.", "--key", "still")
    assert "rename" not in run("undo", "still", "--json").error()["hint"]
