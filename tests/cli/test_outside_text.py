"""Text that was replaced or deleted past the book: whatever command comes next, the history has the old text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import fine, run
from tests.depth import first_quick

OLD = "The vault opens with zebrafish."
FIRST = "The vault opens with quagga."


def _replace(text: bytes) -> Callable[[Path], None]:
    return lambda note: _write(note, text)


def _write(note: Path, data: bytes) -> None:
    note.write_bytes(data)


def _fill_with_nul(note: Path) -> None:
    note.write_bytes(b"\0" * note.stat().st_size)


def _take_frontmatter(note: Path) -> None:
    body = note.read_text("utf-8").split("---\n", 2)[2]
    note.write_text(body.replace("zebrafish", "okapi"), "utf-8")


def _change_id(note: Path) -> None:
    text = note.read_text("utf-8").replace("zebrafish", "okapi")
    note.write_text(re.sub(r"^id: .*$", "id: 0197a000-0000-7000-8000-000000000001", text, flags=re.M), "utf-8")


def _edit(note: Path) -> None:
    note.write_text(note.read_text("utf-8").replace("zebrafish", "okapi"), "utf-8")


def _check_out_older(note: Path) -> None:
    """As `git checkout` of the version before, which was kept beside the book."""
    note.write_bytes((note.parents[3] / "older.md").read_bytes())


EDITS: dict[str, Callable[[Path], None]] = {
    "emptied": _replace(b""),
    "NUL-filled": _fill_with_nul,
    "retyped": _replace(b"Something new.\n"),
    "frontmatter removed": _take_frontmatter,
    "id changed": _change_id,
    "edited": _edit,
    "older version": _check_out_older,
}
DELETIONS: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "folder deleted": lambda note: shutil.rmtree(note.parent),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "recall": ("recall", "zebrafish"),
    "doctor": ("doctor",),
    "verify": ("verify",),
    "reindex": ("reindex",),
    "append": ("store", "A later fact.", "--key", "k", "--scope", "global"),
    "replace": ("store", "A later fact.", "--key", "k", "--scope", "global", "--mode", "replace"),
    "store elsewhere": ("store", "A fact about something else.", "--key", "other", "--scope", "global"),
}


@pytest.fixture
def note(root: Path) -> Path:
    """The note `k`: a memory whose only text in a file is OLD, after it said FIRST alone."""
    fine("store", FIRST, "--key", "k", "--scope", "global")
    path = root / "memories" / "global" / "k.md"
    shutil.copy(path, root.parent / "older.md")
    fine("store", OLD, "--key", "k", "--scope", "global")
    return path


def saved(root: Path) -> list[str]:
    """The actions of the texts in the history of `k` that have OLD, by the files that `history` names."""
    revisions = fine("history", "k", "--scope", "global")["revisions"]
    texts = [(item["action"], (root / item["path"].lstrip("/")).read_text("utf-8")) for item in revisions]
    return [action for action, text in texts if OLD in text and action not in ("current", "appended")]


@pytest.mark.parametrize("command", first_quick(COMMANDS, 3))
@pytest.mark.parametrize("change", [*EDITS, *DELETIONS])
def test_the_old_text_is_in_the_history(root: Path, note: Path, change: str, command: str) -> None:
    """However a note was changed outside and whatever command sees it first, history has the old text, once, and the
    index is what a rebuild makes of the files."""
    {**EDITS, **DELETIONS}[change](note)
    run(*COMMANDS[command])
    wanted = "edited" if change in EDITS else "deleted"
    assert saved(root) == [wanted]
    assert fine("verify")["differences"] == []
    fine("reindex")
    run("list")
    assert saved(root) == [wanted] and fine("verify")["differences"] == []


@pytest.mark.parametrize("change", EDITS)
def test_undo_brings_an_edited_text_back(note: Path, change: str) -> None:
    """Undo gives back what a note said before it was replaced outside, and can itself be undone."""
    EDITS[change](note)
    fine("undo", "k", "--scope", "global")
    assert [entry["text"] for entry in fine("show", "k")["entries"]] == [FIRST, OLD]
    assert fine("verify")["differences"] == []


@pytest.mark.parametrize("change", DELETIONS)
def test_restore_brings_a_deleted_note_back(note: Path, change: str) -> None:
    """Restore gives back a note that was deleted outside, after every deletion anew."""
    for _ in range(2):
        DELETIONS[change](note)
        assert fine("restore", "k")["action"] == "restored"
        assert [entry["text"] for entry in fine("show", "k")["entries"]] == [FIRST, OLD]
    assert fine("verify")["differences"] == []


@pytest.mark.parametrize("change", [*EDITS, *DELETIONS])
def test_purge_takes_the_saved_text_too(root: Path, note: Path, change: str) -> None:
    """After a purge no file of the book has the text that was replaced or deleted outside."""
    {**EDITS, **DELETIONS}[change](note)
    fine("forget", "k", "--scope", "global", "--purge", "--yes")
    run("list")
    fine("reindex")
    held = [path for path in root.rglob("*") if path.is_file() and b"zebrafish" in path.read_bytes()]
    assert held == []
