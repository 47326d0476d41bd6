"""Which repository a folder belongs to, against repositories that git made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonplace.project.git import MAX_BYTES, Repository, find_objects, find_repository
from tests.project.repositories import git, needs_git, repository

pytestmark = needs_git
URL = "https://host.example/acme/app.git"


def found(folder: Path) -> Repository:
    answer = find_repository(os.path.realpath(folder))
    assert answer is not None
    return answer


def tree(folder: Path) -> Path:
    answer = found(folder)
    assert answer.readable
    return Path(answer.tree)


def test_the_top_and_what_is_below(tmp_path: Path) -> None:
    """A repository's top, its subfolders and the inside of its .git are that repository; above it there is none."""
    top = repository(tmp_path / "app")
    (top / "src" / "deep").mkdir(parents=True)
    assert {tree(place) for place in (top, top / "src" / "deep", top / ".git", top / ".git" / "hooks")} == {top}
    assert find_repository(str(tmp_path)) is None


def test_worktrees_are_their_main_working_tree(tmp_path: Path) -> None:
    """A linked worktree, and its subfolders, answer with the main working tree, by absolute and by relative links."""
    top = repository(tmp_path / "app")
    git(top, "worktree", "add", "--quiet", "../other")
    (tmp_path / "other" / "src").mkdir()
    assert tree(tmp_path / "other" / "src") == top
    (tmp_path / "other" / ".git").write_text("gitdir: ../app/.git/worktrees/other\r\n", "utf-8")
    assert tree(tmp_path / "other") == top


def test_a_submodule_is_its_own_repository(tmp_path: Path) -> None:
    """A submodule, its own worktrees and its git folder are the submodule, not the project around it."""
    library = repository(tmp_path / "library")
    top = repository(tmp_path / "app", URL)
    git(top, "submodule", "--quiet", "add", str(library), "sub")
    assert (top / "sub" / ".git").is_file()
    git(top / "sub", "worktree", "add", "--quiet", str(tmp_path / "other"))
    for place in (top / "sub", tmp_path / "other", top / ".git" / "modules" / "sub"):
        assert (found(place).tree, found(place).remote) == (str(top / "sub"), str(library))


def test_bare_repositories(tmp_path: Path) -> None:
    """A bare repository is its own path, for a worktree of it too, and also where a .git file leads into it."""
    repository(tmp_path / "app")
    bare = tmp_path / "hub" / ".bare"
    git(tmp_path, "clone", "--quiet", "--bare", "app", str(bare))
    git(bare, "worktree", "add", "--quiet", "../main")
    (tmp_path / "hub" / ".git").write_text("gitdir: ./.bare\n", "utf-8")
    for place in (bare, bare / "refs", tmp_path / "hub", tmp_path / "hub" / "main"):
        assert tree(place) == bare.resolve()


def test_a_git_folder_elsewhere(tmp_path: Path) -> None:
    """With the git folder kept elsewhere, by a file or by a link, the working tree is where the files are."""
    (tmp_path / "one").mkdir()
    git(tmp_path / "one", "init", "--quiet", "--separate-git-dir", str(tmp_path / "one.git"))
    two = repository(tmp_path / "two", URL)
    (two / ".git").rename(tmp_path / "two.git")
    (two / ".git").symlink_to(tmp_path / "two.git")
    assert tree(tmp_path / "one") == (tmp_path / "one").resolve()
    assert (found(two).tree, found(two).remote) == (str(two), URL)
    assert (found(two).git_folder, found(tmp_path / "one").git_folder) == ("", "")


def remote_of(top: Path) -> str | None:
    return found(top).remote


def test_which_remote(tmp_path: Path) -> None:
    """Origin, wherever it stands; without it the current branch's; else the first."""
    top = repository(tmp_path / "app")
    assert remote_of(top) is None
    git(top, "remote", "add", "first", "host.example:first")
    git(top, "remote", "add", "up", "host.example:up")
    assert remote_of(top) == "host.example:first"
    git(top, "config", "branch.main.remote", "up")
    assert remote_of(top) == "host.example:up"
    git(top, "worktree", "add", "--quiet", "-b", "side", "../other")
    assert remote_of(tmp_path / "other") == "host.example:up"
    git(top, "checkout", "--quiet", "--detach")
    assert remote_of(top) == "host.example:first"
    git(top, "remote", "add", "origin", URL)
    git(top, "remote", "set-url", "--add", "origin", "host.example:second")
    assert remote_of(top) == URL


def test_an_empty_address_takes_back_those_before_it(tmp_path: Path) -> None:
    """An address that was emptied is none, and one that is given after that counts."""
    top = repository(tmp_path / "app", URL)
    with (top / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write('[remote "origin"]\nurl =\n')
    assert remote_of(top) is None
    git(top, "config", "--add", "remote.origin.url", "host.example:new")
    assert remote_of(top) == "host.example:new"


def test_addresses_that_are_rewritten(tmp_path: Path) -> None:
    """The repository's own insteadOf is applied as git applies it: the longest prefix wins."""
    top = repository(tmp_path / "app", "gh:acme/app")
    git(top, "config", "url.https://host.example/.insteadOf", "gh:")
    git(top, "config", "--add", "url.https://host.example/.insteadOf", "other:")
    assert remote_of(top) == git(top, "remote", "get-url", "origin").strip() == "https://host.example/acme/app"
    git(top, "config", "url.git@Corp.example:.insteadOf", "gh:acme/")
    git(top, "config", "url.https://short.example/.insteadOf", "gh")
    assert remote_of(top) == git(top, "remote", "get-url", "origin").strip() == "git@Corp.example:app"


def test_the_environment_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR and GIT_WORK_TREE, which hooks of git set, do not make a folder another project."""
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    monkeypatch.setenv("GIT_DIR", str(two / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(two))
    assert tree(one) == one


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"gitdir:",
        b"gitdir: ",
        b"gitdir: \n",
        b"gitdir: nowhere\n",
        b"gitdir: .git\n",
        b"gitdir: .\n",
        b"gitdir: a\x00b\n",
        b"gitdir: " + b"x/" * 5_000,
        b"gitdir: " + b"x" * 2 * MAX_BYTES,
        b"ref: refs/heads/main",
    ],
)
def test_a_broken_git_file(tmp_path: Path, data: bytes) -> None:
    """A .git file that leads nowhere, or to itself, gives the folder it is in, never the repository around that."""
    top = repository(tmp_path / "app", URL)
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "sub" / ".git").write_bytes(data)
    assert found(top / "sub" / "deep") == Repository(str(top / "sub"), None, readable=False)


def test_folders_that_lead_in_circles(tmp_path: Path) -> None:
    """Git files that lead to each other, a common folder that is its own, and links in a circle are each an end."""
    top = repository(tmp_path / "app")
    for name, target in (("a", "../b/.git"), ("b", "../a/.git")):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_text(f"gitdir: {target}\n", "utf-8")
        assert not found(tmp_path / name).readable
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / ".git").symlink_to(".git")
    assert find_repository(str(tmp_path / "c")) is None
    (top / ".git" / "commondir").write_text(".\n", "utf-8")
    assert tree(top) == top
    (top / ".git" / "commondir").write_text("commondir\n", "utf-8")
    assert find_repository(str(top)) is None


def test_an_empty_git_folder_is_no_repository(tmp_path: Path) -> None:
    """A folder that is called .git and is none is passed over, as git does."""
    top = repository(tmp_path / "app")
    (top / "sub" / ".git").mkdir(parents=True)
    assert tree(top / "sub") == top


@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff" * 500, b"[remote", b'[remote "origin"]\nurl\n', b'[core]\nworktree="\n']
)
def test_a_broken_config(tmp_path: Path, data: bytes) -> None:
    """A repository whose config says nothing that can be used is still a repository."""
    top = repository(tmp_path / "app", URL)
    (top / ".git" / "config").write_bytes(data)
    assert (found(top).tree, found(top).remote, found(top).readable) == (str(top), None, True)


def test_a_config_that_is_no_file(tmp_path: Path) -> None:
    """A pipe, a folder or nothing in the place of the config is not waited for, and says nothing."""
    top = repository(tmp_path / "app", URL)
    config = top / ".git" / "config"
    config.unlink()
    assert remote_of(top) is None
    os.mkfifo(config)
    assert remote_of(top) is None
    config.unlink()
    config.mkdir()
    assert remote_of(top) is None


def test_a_huge_config(tmp_path: Path) -> None:
    """What is in the first megabyte counts; an address that the limit cuts through does not."""
    top = repository(tmp_path / "app", URL)
    config = top / ".git" / "config"
    before = config.read_bytes()
    config.write_bytes(before + b"# filler\n" * 500_000)
    assert remote_of(top) == URL
    header = b'[remote "origin"]\nurl = https://host.example/acme/'
    for cut in (b"app-and-more", b"app\\\n-and-more"):
        config.write_bytes(b"#" * (MAX_BYTES - len(header) - 6) + b"\n" + header + cut + b"\n")
        assert remote_of(top) is None


def test_which_objects_a_repository_has(tmp_path: Path) -> None:
    """Every commit is found, loose or in one of several packs, and no other name is."""
    top = repository(tmp_path / "app")
    for number in range(12):
        git(top, "commit", "--quiet", "--allow-empty", f"--message=commit {number}")
        if number in (4, 8):
            git(top, "repack", "--quiet", "-d")
    commits = set(git(top, "rev-list", "HEAD").split())
    others = {commit[::-1] for commit in commits} - commits
    assert find_objects(str(top / ".git"), commits | others) == commits
    assert find_objects(str(top / ".git"), others) == set()
    assert find_objects(str(tmp_path / "nowhere"), commits) == set()
