"""Which project a folder belongs to: the first rule that answers, and what else it may have answered to."""

from __future__ import annotations

import os
import shutil
import unicodedata
from pathlib import Path

import pytest

from commonplace.model.errors import InvalidScope
from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.identity import Backing, Identity, identify
from commonplace.vault.scope_pages import Evidence
from tests.project.repositories import Remembered, git, mark, needs_git, repository

APP = "host.example/acme/app"


def claim(folder: Path, state: Remembered | None = None, override: str | None = None) -> Identity:
    """What a folder claims to be, remembering its marker as a book does."""
    known = Remembered() if state is None else state
    answer = identify(folder, override=override, known_path=known.known_path)
    if answer.new_marker is not None:
        known.remember_path(*answer.new_marker)
    for ident in (answer.id, *answer.earlier):
        Scope(ScopeKind.PROJECT, ident)
    assert answer.id not in answer.earlier
    return answer


def ask(folder: Path, state: Remembered | None = None, override: str | None = None) -> Identity:
    """The same, without what it is proved with."""
    return claim(folder, state, override)._replace(backing=Backing(), new_marker=None)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def test_a_folder_without_git(tmp_path: Path) -> None:
    """Where there is no repository and no marker, a folder is its own project, by its real path."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "link").symlink_to("notes")
    real = str((tmp_path / "notes").resolve())
    assert ask(tmp_path / "link") == ask(tmp_path / "notes") == Identity(real, "folder", real)


@pytest.mark.parametrize("name", ["missing", "file", "a\x00b", "loop", "x" * 5_000])
def test_a_folder_that_is_not_there(tmp_path: Path, name: str) -> None:
    """What is no folder has no project, and the error is typed."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidScope):
        identify(os.path.join(tmp_path, name))


@needs_git
def test_the_rules_in_their_order(tmp_path: Path) -> None:
    """Override, remote, marker, repository, folder: each answers when those before it do not, and is named by them."""
    top = repository(tmp_path / "app")
    sub = top / "src"
    sub.mkdir()
    state = Remembered()
    assert ask(sub, state) == Identity(str(top), "repository", str(top), (str(sub),))
    mark(top)
    marked = ask(sub, state)
    assert (marked.id, marked.source, marked.root, marked.earlier[1:]) == (
        "shop",
        "marker",
        str(top),
        (str(top), str(sub)),
    )
    git(top, "remote", "add", "origin", f"https://{APP}.git")
    assert ask(sub, state) == Identity(APP, "remote", str(top), ("shop", str(top), str(sub)))
    wanted = Identity("mine", "override", str(sub), (APP, "shop", str(top), str(sub)))
    assert ask(sub, state, override=" mine ") == wanted


@pytest.mark.parametrize("override", ["a\nb", "x" * 1_001, "\ud800"])
def test_an_override_that_is_no_id(tmp_path: Path, override: str) -> None:
    """What the user set and cannot be used is an error, never another project; an empty one is none."""
    with pytest.raises(InvalidScope):
        identify(tmp_path, override=override)
    assert ask(tmp_path, override=" ").source == "folder"


@needs_git
def test_one_remote_in_every_form(tmp_path: Path) -> None:
    """A clone by ssh, by https with a token, or in scp form is the same project, and the token is nowhere."""
    top = repository(tmp_path / "app", "git@Host.example:acme/app.git")
    forms = ["ssh://git@host.example:22/acme/app", "https://me:hunter2@host.example/acme/app.git/", f"http://{APP}"]
    answers = [ask(top)]
    for form in forms:
        git(top, "remote", "set-url", "origin", form)
        answers.append(ask(top))
    assert {answer.id for answer in answers} == {APP}
    assert "hunter2" not in repr(answers)


@needs_git
def test_a_clone_of_a_folder_is_that_project(tmp_path: Path) -> None:
    """A clone whose remote is a path belongs to the repository at that path, however the path is written."""
    top = repository(tmp_path / "app")
    (tmp_path / "link").symlink_to("app")
    for name, source in (("one", "app"), ("two", str(tmp_path / "link")), ("three", top.as_uri() + "/.git")):
        git(tmp_path, "clone", "--quiet", source, name)
        assert ask(tmp_path / name).id == ask(top).id == str(top)


@needs_git
def test_worktrees_and_submodules(tmp_path: Path) -> None:
    """A worktree is the project of its repository, marked or not; a submodule is a project of its own."""
    library, top = repository(tmp_path / "library", f"https://{APP}"), repository(tmp_path / "app")
    git(top, "worktree", "add", "--quiet", "../other")
    git(top, "submodule", "--quiet", "add", str(library), "sub")
    other = ask(tmp_path / "other")
    assert (other.id, other.source, other.root) == (str(top), "repository", str(top))
    assert ask(top / "sub").id == str(library)
    git(top / "sub", "remote", "remove", "origin")
    assert ask(top / "sub").id == str(top / "sub")
    mark(top)
    assert ask(tmp_path / "other").id == ask(top).id == "shop"


@needs_git
def test_paths_in_any_script(tmp_path: Path) -> None:
    """Spaces, other scripts, composed or not, and what no terminal prints: each path gives one id, and a usable one."""
    for name in (
        "my app",
        "プロジェクト\u3000一",
        unicodedata.normalize("NFD", "Grün"),
        "new\nline",
        os.fsdecode(b"b\xff"),
    ):
        top = repository(tmp_path / name)
        git(top, "worktree", "add", "--quiet", str(tmp_path / "other"))
        answer = ask(tmp_path / "other")
        assert answer.source == "repository"
        assert answer.id == ask(top).id == unicodedata.normalize("NFC", answer.id)
        shutil.rmtree(tmp_path / "other")
    assert ask(tmp_path / "my app").id == str(tmp_path.resolve() / "my app")


@needs_git
def test_a_symlinked_path_is_the_same_project(tmp_path: Path) -> None:
    """A repository, or a subfolder of it, reached through a link is the project that it is by its real path."""
    top = repository(tmp_path / "app")
    (top / "src").mkdir()
    (tmp_path / "link").symlink_to("app")
    (tmp_path / "inner").symlink_to("app/src")
    assert {ask(tmp_path / name).id for name in ("app", "link", "link/src", "inner")} == {str(top)}


@needs_git
def test_broken_git_files_fall_to_the_folder(tmp_path: Path) -> None:
    """A worktree whose repository is gone is the folder it stands in, or what its marker says."""
    top = repository(tmp_path / "app", f"https://{APP}")
    git(top, "worktree", "add", "--quiet", "../other")
    shutil.rmtree(top)
    other = (tmp_path / "other").resolve()
    answer = ask(other)
    assert (answer.id, answer.source) == (str(other), "folder")
    mark(other)
    assert ask(other).id == "shop"


@needs_git
def test_a_remote_that_names_nothing(tmp_path: Path) -> None:
    """A remote without a usable address leaves the answer to the next rule."""
    top = repository(tmp_path / "app", "ext::sh -c secret")
    answer = ask(top)
    assert (answer.id, answer.source) == (str(top), "repository")
    assert "secret" not in repr(answer)


@needs_git
def test_asking_changes_nothing(tmp_path: Path) -> None:
    """Nothing is written into a repository, and the marker's memory is told a path once."""
    top = repository(tmp_path / "app")
    mark(top)
    before, state = files(top), Remembered()
    ask(top, state)
    assert files(top) == before
    assert state == {"0123456789abcdef": str(top)}
    assert identify(top, known_path=state.known_path).new_marker is None


def test_an_inode_alone_proves_little() -> None:
    """A `.git` that git made without a dated file is known by its inode, which can be used again: that proves nothing
    to a project that has a root commit."""
    dated, undated = (Backing(repository_place=f"git-{time}-77 /w") for time in (1763284000, 0))
    for commits, proofs in ((("0" * 40,), ("git", "")), ((), ("git", "git"))):
        evidence = Evidence(commits, (), ("git-1763284000-77 /w", "git-0-77 /w"))
        assert tuple(backing.find_proof("/w", evidence) for backing in (dated, undated)) == proofs
