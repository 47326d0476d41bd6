"""Marked folders: an id that goes with its folder, and stays with one of two copies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commonplace.project.identity import identify
from tests.project.repositories import Remembered, git, mark, needs_git, repository
from tests.project.test_identity import APP, ask


@pytest.fixture
def state() -> Remembered:
    return Remembered()


@needs_git
def test_a_moved_repository_keeps_its_id(tmp_path: Path, state: Remembered) -> None:
    """A marked repository that moves is the same project, and says where it was."""
    top = repository(tmp_path / "app")
    mark(top)
    assert ask(top, state).id == "shop"
    moved = top.rename(tmp_path / "moved")
    answer = ask(moved, state)
    assert (answer.id, answer.source, answer.root) == ("shop", "marker", str(moved))
    assert str(top) in answer.earlier
    assert ask(moved, state).id == "shop"
    assert state == {"0123456789abcdef": str(moved)}


@needs_git
def test_a_copied_repository_is_another_project(tmp_path: Path, state: Remembered) -> None:
    """While the marker is where it was, a copy has an id of its own, always the same, and never the first one's."""
    top = repository(tmp_path / "app")
    mark(top)
    ask(top, state)
    copies = [Path(shutil.copytree(top, tmp_path / name)) for name in ("one", "two")]
    answers = [ask(copy, state) for copy in copies]
    assert answers == [ask(copy, state) for copy in copies]
    assert len({"shop", *(answer.id for answer in answers)}) == 3
    for answer in answers:
        assert answer.source == "marker"
        assert answer.id.startswith("shop-")
        assert "shop" not in answer.earlier
        assert str(top) not in answer.earlier
    assert ask(top, state).id == "shop"


@needs_git
def test_a_copy_whose_original_goes(tmp_path: Path, state: Remembered) -> None:
    """When the original is gone the copy is what is left of the project; its id as a copy is an earlier one."""
    top = repository(tmp_path / "app")
    mark(top)
    ask(top, state)
    copy = Path(shutil.copytree(top, tmp_path / "copy"))
    as_copy = ask(copy, state).id
    shutil.rmtree(top)
    assert ask(copy, state).id == "shop"
    assert as_copy in ask(copy, state).earlier


@needs_git
def test_another_folder_in_the_old_place(tmp_path: Path, state: Remembered) -> None:
    """A folder in the old place without that marker makes a move no copy, and is not taken over."""
    top = repository(tmp_path / "app")
    mark(top)
    ask(top, state)
    for name in ("moved", "again"):  # the second time with a marker of its own in the old place
        moved = Path(state["0123456789abcdef"]).rename(tmp_path / name)
        old = repository(tmp_path / ("app" if name == "moved" else "moved"))
        if name == "again":
            mark(old, "other", "another nonce")
        answer = ask(moved, state)
        assert answer.id == "shop"
        assert str(old) not in answer.earlier


def test_a_marked_folder_without_git(tmp_path: Path, state: Remembered) -> None:
    """A marker also marks a plain folder and all that is below it; a nearer one wins."""
    (tmp_path / "notes" / "deep" / "er").mkdir(parents=True)
    notes = (tmp_path / "notes").resolve()
    mark(notes)
    answer = ask(notes / "deep" / "er", state)
    assert (answer.id, answer.source, answer.root) == ("shop", "marker", str(notes))
    assert answer.earlier[1:] == (str(notes), str(notes / "deep" / "er"))
    mark(notes / "deep", "inner", "another nonce")
    assert ask(notes / "deep" / "er", state).id == "inner"


@needs_git
def test_a_marker_that_came_with_a_clone(tmp_path: Path, state: Remembered) -> None:
    """Beside a remote, a marker that was never seen here, or is a copy, is not even an earlier id."""
    top = repository(tmp_path / "app")
    mark(top)
    git(top, "add", ".")
    git(top, "commit", "--quiet", "--message=marker")
    git(tmp_path, "clone", "--quiet", str(top), "clone")
    git(tmp_path / "clone", "remote", "set-url", "origin", f"https://{APP}")
    for _ in ("never seen", "a copy"):
        answer = ask(tmp_path / "clone", state)
        assert (answer.id, answer.earlier) == (APP, (str((tmp_path / "clone").resolve()),))
        ask(top, state)
    assert state == {"0123456789abcdef": str(top)}


def test_without_a_memory_a_marker_is_believed(tmp_path: Path) -> None:
    """Who keeps no state is told what the marker says."""
    mark(tmp_path)
    assert identify(tmp_path).id == "shop"


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"id": 1' + b"0" * 5_000 + b"}", b'{"id": "shop"}']
    + [json.dumps({"id": ident, "nonce": "n"}).encode() for ident in ("", " shop", 7, "x" * 201, "a\nb", "\ud800")]
    + [json.dumps({"id": ident, "nonce": "n"}).encode() for ident in (APP, "/home/me/app", "C:\\app")]
    + [json.dumps({"id": "shop", "nonce": nonce}).encode() for nonce in ("", None, "\x00", ["n"])]
    + [json.dumps({"id": "shop", "nonce": "n", "more": "x" * 1_000_000}).encode()],
)
def test_a_marker_that_cannot_be_used(tmp_path: Path, state: Remembered, data: bytes) -> None:
    """A malformed marker, or one that claims a repository's or a folder's id, is passed over."""
    mark(tmp_path)
    (tmp_path / ".commonplace" / "project.json").write_bytes(data)
    answer = ask(tmp_path, state)
    assert (answer.id, answer.source) == (str(tmp_path.resolve()), "folder")
    assert state == {}
