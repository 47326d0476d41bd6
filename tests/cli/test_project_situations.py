"""Every situation in the table of docs/projects.md: what a folder is told there, and how it gets what it is not told.

A test is named after its row. No folder is told another project's memories unasked, and none loses its own without a
line that says how to get them back.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.calls import fine, run
from tests.cli.situations import SITUATIONS, Place, rows, situation
from tests.cli.telling import FACT, ID, ONE, TWO, fine_quietly, store, unpack
from tests.project.repositories import git, mark, needs_git, repository

pytestmark = needs_git
NEW = "https://git.example/renamed/app.git"


@pytest.fixture(autouse=True)
def by_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder tells the project, nothing else; a memory for everybody is there."""
    monkeypatch.delenv("COMMONPLACE_PROJECT")
    fine("store", "Everybody drinks tea.", "--key", "tea", "--scope", "global")


# The same repository


@situation("Second clone")
def _(at: Place) -> None:
    assert at.told(at.clone(at.first(), "second"))


@situation("Worktree")
def _(at: Place) -> None:
    git(at.first(), "worktree", "add", "--quiet", "../side")
    assert at.told(at.top / "side")


@situation("Bare clone")
def _(at: Place) -> None:
    assert at.told(at.clone(at.first(), "bare.git", ONE, "--bare"))


@situation("Subfolder")
def _(at: Place) -> None:
    inner = at.first() / "src" / "deep"
    inner.mkdir(parents=True)
    assert at.told(inner)


@situation("Package folder of a monorepo")
def _(at: Place) -> None:
    top = at.first()
    for name in ("one", "two"):
        (top / "packages" / name).mkdir(parents=True)
        (top / "packages" / name / "package.json").write_text("{}", "utf-8")
        assert at.told(top / "packages" / name)


@situation("Submodule")
def _(at: Place) -> None:
    top, library = at.first(), repository(at.top / "library", TWO)
    git(top, "submodule", "--quiet", "add", str(library), "sub")
    assert at.apart(top / "sub")


@situation("Repository inside another")
def _(at: Place) -> None:
    assert at.apart(repository(at.first() / "inner"))


@situation("ssh instead of https")
def _(at: Place) -> None:
    top = at.first()
    git(top, "remote", "set-url", "origin", "git@git.example:clientone/app.git")
    assert at.told(top)


@situation("Letter case of the remote")
def _(at: Place) -> None:
    top = at.first()
    other = at.clone(top, "second", "https://Git.Example/ClientOne/App")
    assert at.told(other)
    assert at.told(top)


# Renamed and moved


@situation("Organisation or repository renamed")
def _(at: Place) -> None:
    top = at.first()
    git(top, "remote", "set-url", "origin", NEW)
    assert at.told(top)
    assert fine("project")["id"] == "git.example/renamed/app"
    assert fine("project")["aliases"] == [ID]


@situation("Transfer to another host")
def _(at: Place) -> None:
    top = at.first()
    git(top, "remote", "set-url", "origin", "git@other.example:team/app")
    assert at.told(top)


@situation("Renamed, deleted and cloned anew")
def _(at: Place) -> None:
    top = at.first()
    made = at.clone(top, "second", NEW)
    at.remove(top)
    os.chdir(made)
    assert "secret-plan" in run("list").out  # a hook cannot ask git, so a command comes first
    assert at.told(made)


@situation("Renamed, while another clone has the old remote")
def _(at: Place) -> None:
    top = at.first()
    other = at.clone(top, "second")
    assert at.told(other)
    git(top, "remote", "set-url", "origin", NEW)
    assert at.hinted(top)
    assert at.told(other)
    git(other, "remote", "set-url", "origin", NEW)
    assert at.told(top)
    assert at.told(other)


@situation("Remote added later")
def _(at: Place) -> None:
    top = at.first(None)
    git(top, "remote", "add", "origin", ONE)
    assert at.told(top)


@situation("Remote removed")
def _(at: Place) -> None:
    top = at.first()
    git(top, "remote", "remove", "origin")
    assert at.told(top)
    assert fine("project")["id"] == ID
    git(top, "remote", "add", "origin", ONE)
    assert at.told(top)


@situation("Remote changed to that of another known project")
def _(at: Place) -> None:
    top, other = at.first(), repository(at.top / "other", TWO)
    store(other, "Kept for client two.")
    git(top, "remote", "set-url", "origin", TWO)
    assert at.told(top)
    assert "Kept for client two" not in run("list").out
    assert "project adopt git.example/clienttwo/app" in run("list").err


@situation("Remote changed to that of its fork, which has memories")
def _(at: Place) -> None:
    top = at.first()
    fork = at.clone(top, "fork", TWO)
    store(fork, "Kept for the fork.")
    fine_quietly("project", "split")
    git(top, "remote", "set-url", "origin", TWO)
    for _ in range(2):
        assert at.hinted(top)
        assert "Kept for the fork" in run("list").out


@situation("Remote changed to a new one and back, while another clone stays")
def _(at: Place) -> None:
    top = at.first()
    other = at.clone(top, "second")
    assert at.told(other)
    git(top, "remote", "set-url", "origin", NEW)
    store(top, "Kept under the new remote.")
    git(top, "remote", "set-url", "origin", ONE)
    assert at.told(top)
    assert "1 memory is kept for git.example/renamed/app" in run("list").err


@situation("Moved repository, with a remote")
def _(at: Place) -> None:
    assert at.told(at.move(at.first(), "moved"))


@situation("Moved repository, without remote or marker")
def _(at: Place) -> None:
    moved = at.move(at.first(None), "moved")
    assert at.told(moved)
    assert fine("project")["id"] == str(moved)


@situation("Moved repository without a commit")
def _(at: Place) -> None:
    place = at.top / "first"
    place.mkdir()
    git(place, "init", "--quiet")
    store(place)
    assert at.told(at.move(place, "moved"))


@situation("Moved repository without a commit, to another disk")
def _(at: Place) -> None:
    place = at.top / "first"
    place.mkdir()
    git(place, "init", "--quiet")
    store(place)
    moved = Path(shutil.copytree(place, at.top / "moved"))  # other inodes, the same times
    at.remove(place)
    assert not at.told(moved)
    assert f"commonplace project adopt {place}" in run("list").err
    assert str(place) not in run("brief").out


@situation("Moved folder with a marker")
def _(at: Place) -> None:
    place = at.top / "first"
    place.mkdir()
    mark(place, "shop", "the real nonce")
    store(place)
    assert at.told(at.move(place, "moved"))


@situation("Moved folder without git or marker")
def _(at: Place) -> None:
    place = at.top / "first"
    place.mkdir()
    store(place)
    moved = at.move(place, "moved")
    assert not at.told(moved)
    assert f"commonplace project adopt {place}" in run("list").err
    assert str(place) not in run("brief").out
    fine("project", "adopt", str(place))
    assert at.told(moved)


# Copies and forks


@situation("Fork, with a clone of the original")
def _(at: Place) -> None:
    top = at.first()
    fork = at.clone(top, "fork", TWO)
    assert at.hinted(fork)
    store(fork, "Kept for the fork.")
    assert at.hinted(fork)
    assert at.told(top)
    assert "Kept for the fork" not in run("list").out
    os.chdir(fork)
    fine_quietly("project", "split")
    assert at.apart(fork)


@situation("Copied folder, with a remote")
def _(at: Place) -> None:
    assert at.told(Path(shutil.copytree(at.first(), at.top / "copy")))


@situation("Copied repository, without remote or marker")
def _(at: Place) -> None:
    top = at.first(None)
    assert at.hinted(unpack(top, at.top / "copy"), str(top))


@situation("Copied folder, with a marker")
def _(at: Place) -> None:
    top = repository(at.top / "first")
    mark(top, "shop", "the real nonce")
    store(top)
    assert not at.told(unpack(top, at.top / "copy"))
    assert at.told(top)


@situation("History of another project fetched")
def _(at: Place) -> None:
    top, other = at.first(), repository(at.top / "other", TWO)
    git(other, "fetch", "--quiet", f"file://{top}", "HEAD:refs/heads/theirs")
    at.remove(top)
    assert at.hinted(other)


# Another repository


@situation("Path used again by another repository")
def _(at: Place) -> None:
    top = at.first(None)
    moved = at.move(top, "moved")
    other = at.top / "first"
    other.mkdir()
    git(other, "init", "--quiet")
    git(other, "commit", "--quiet", "--allow-empty", "--message=another beginning")
    assert at.hinted(other, str(other))  # by its path, as long as no command has seen where the first one is now
    assert at.told(moved)
    assert at.apart(other)
    git(other, "remote", "add", "origin", TWO)
    assert at.apart(other)


@situation("Path of a deleted repository taken by a copy with memories")
def _(at: Place) -> None:
    top = at.first(None)
    copy = unpack(top, at.top / "copy")
    store(copy, "Kept for the copy.")
    at.remove(top)
    moved = at.move(copy, "first")
    os.chdir(moved)
    for _ in range(2):  # by the very first command, and by those after it
        assert f"1 memory is kept for {copy}" in run("list").err
    assert at.told(moved)


@situation("Deleted, and cloned again to the same path")
def _(at: Place) -> None:
    top = at.first()
    spare = at.clone(top, "spare")
    at.remove(top)
    assert at.told(at.clone(spare, "first"))


@situation("Archive that names a known remote")
def _(at: Place) -> None:
    at.first()
    forged = repository(at.top / "forged", ONE)
    git(forged, "commit", "--quiet", "--amend", "--allow-empty", "--message=forged")
    assert at.hinted(forged)


@situation("Forged marker")
def _(at: Place) -> None:
    real = repository(at.top / "real")
    mark(real, "shop", "the real nonce")
    store(real)
    (at.top / "forged").mkdir()
    mark(at.top / "forged", "shop", "a guess")
    assert at.hinted(at.top / "forged", "shop")
    assert at.told(real)


@situation("Forged .git that leads into another repository")
def _(at: Place) -> None:
    real, forged = at.first(), at.top / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {real / '.git'}\n", "utf-8")
    assert at.hinted(forged)


@situation("Shallow clone")
def _(at: Place) -> None:
    top = at.first()
    git(top, "commit", "--quiet", "--allow-empty", "--message=second")
    shallow = at.clone(top, "shallow", ONE, "--depth=1")
    assert at.hinted(shallow)
    fine_quietly("project", "adopt", ID)
    assert at.told(shallow)


# Without git


@situation("Folder without git")
def _(at: Place) -> None:
    place = at.top / "plain"
    place.mkdir()
    store(place)
    assert at.told(place)
    (place / "below").mkdir()
    assert not at.told(place / "below")


@situation("git init in a folder that has memories")
def _(at: Place) -> None:
    place = at.top / "plain"
    place.mkdir()
    store(place)
    git(place, "init", "--quiet")
    assert at.told(place)
    git(place, "commit", "--quiet", "--allow-empty", "--message=first")
    assert at.told(place)


@situation("The .git folder was deleted")
def _(at: Place) -> None:
    top = at.first()
    shutil.rmtree(top / ".git")
    assert not at.told(top)
    assert f"commonplace project adopt {ID}" in run("list").err
    fine("project", "adopt", ID)
    assert at.told(top)


@situation("git is not installed")
def _(at: Place) -> None:
    top = at.first()
    second = at.clone(top, "second")
    with at.patch.context() as without_git:
        without_git.setenv("PATH", "")
        assert at.told(top)
        assert at.told(second)
    git(top, "remote", "set-url", "origin", NEW)
    git(second, "remote", "set-url", "origin", NEW)
    with at.patch.context() as without_git:
        without_git.setenv("PATH", "")
        assert at.told(top)
        assert at.told(second)


@situation("COMMONPLACE_PROJECT is set")
def _(at: Place) -> None:
    top = at.first()
    with at.patch.context() as named:
        named.setenv("COMMONPLACE_PROJECT", "try-out")
        assert FACT not in run("brief").out + run("list").out + run("list").err
    assert at.told(top)


@situation("The state database was lost")
def _(at: Place) -> None:
    top = at.first()
    second = at.clone(top, "second")
    for file in at.root.rglob("state.db*"):
        file.unlink()
    assert at.told(top)
    assert at.told(second)


@situation("Renamed and cloned on another machine")
def _(at: Place) -> None:
    top = at.first()
    made = at.clone(top, "second", NEW)
    at.remove(top)
    for file in at.root.rglob("state.db*"):  # the book came without it
        file.unlink()
    assert at.hinted(made)
    fine_quietly("project", "adopt", ID)
    assert at.told(made)


def test_every_row_has_a_test() -> None:
    """The table of the page and the tests of this file name the same situations, each once."""
    assert sorted(rows()) == sorted(SITUATIONS)
    assert len(SITUATIONS) >= 20


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the row of this name says is what happens."""
    SITUATIONS[name](Place(root, tmp_path, monkeypatch))
