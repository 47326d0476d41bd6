"""Identity and book together: memories stay reachable when a project's id changes."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest import mock

import pytest

from commonplace.memories import lookup
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import Conflict, NotFound, ReadOnly
from commonplace.model.scope import ScopeKind
from commonplace.project.identity import Identity
from commonplace.project.matching import KnownRepositories
from commonplace.vault.paths import BookPath, scope_folder
from commonplace.vault.scope_pages import find_folder, list_scope_pages, read_scope_page
from commonplace.verbs import project as project_verbs
from commonplace.verbs.project import enter_project
from tests.memories.test_scopes import project, store
from tests.project.repositories import Remembered, git, mark, needs_git, repository
from tests.project.test_identity import APP, claim


def identity(ident: str, *earlier: str, source: str = "remote") -> Identity:
    return Identity(ident, source, "/", earlier)


def adopt(keep: MemoryStore, claimed: Identity) -> BookPath:
    """The folder of a project's memories, after it was entered."""
    return find_folder(keep.files, project(enter_project(keep, claimed, KnownRepositories(None)).stored_as))


@needs_git
def test_a_remote_that_is_added_later(keep: MemoryStore, tmp_path: Path) -> None:
    """What was stored before a repository had a remote is reachable by the remote's id, and by the path still."""
    top = repository(tmp_path / "app")
    folder = store(keep, project(claim(top).id))
    git(top, "remote", "add", "origin", f"git@{APP.replace('/', ':', 1)}.git")
    assert adopt(keep, claim(top)) == folder
    assert find_folder(keep.files, project(APP)) == find_folder(keep.files, project(str(top))) == folder
    page = read_scope_page(keep.files, folder)
    assert page is not None
    assert (page.id, page.aliases) == (APP, (str(top),))
    assert adopt(keep, claim(top)) == folder


@needs_git
def test_a_marked_repository_that_moves(keep: MemoryStore, tmp_path: Path) -> None:
    """A marker made after the first memory, and then a move, lose nothing; a copy is shown nothing."""
    top = repository(tmp_path / "app")
    state = Remembered()
    folder = store(keep, project(claim(top, state).id))
    mark(top)
    assert adopt(keep, claim(top, state)) == folder
    copy = Path(shutil.copytree(top, tmp_path / "copy"))
    assert adopt(keep, claim(copy, state)) != folder
    moved = top.rename(tmp_path / "moved")
    assert adopt(keep, claim(moved, state)) == folder


@needs_git
def test_a_folder_that_becomes_part_of_a_repository(keep: MemoryStore, tmp_path: Path) -> None:
    """What was stored for a folder is the repository's that it becomes part of, and is found from its top too."""
    (tmp_path / "app" / "src").mkdir(parents=True)
    folder = store(keep, project(claim(tmp_path / "app" / "src").id))
    git(tmp_path / "app", "init", "--quiet")
    assert adopt(keep, claim(tmp_path / "app" / "src")) == folder
    assert adopt(keep, claim(tmp_path / "app")) == folder


def test_nothing_is_made_where_nothing_is_stored(keep: MemoryStore) -> None:
    """The folder of a project without memories is named, and not made."""
    assert adopt(keep, identity("a/new", "a/old")) == scope_folder(project("a/new"))
    assert adopt(keep, identity("a/new")) == scope_folder(project("a/new"))
    assert list_scope_pages(keep.files, ScopeKind.PROJECT) == []


def test_two_with_memories_are_left_apart(keep: MemoryStore) -> None:
    """When the current and the earlier id both have memories, each keeps its own and the current one answers."""
    old, new = store(keep, project("a/old")), store(keep, project("a/new"))
    before = list_scope_pages(keep.files, ScopeKind.PROJECT)
    assert adopt(keep, identity("a/new", "a/old")) == new != old
    assert list_scope_pages(keep.files, ScopeKind.PROJECT) == before


def test_the_nearest_earlier_id_is_taken(keep: MemoryStore) -> None:
    """Of several earlier ids with memories the nearest is taken over, also by an alias; the others stay."""
    far, near = store(keep, project("far")), store(keep, project("first"))
    lookup.rename_scope(keep, project("first"), "near")
    assert adopt(keep, identity("now", "none", "first", "far", source="repository")) == near
    assert find_folder(keep.files, project("far")) == far
    page = read_scope_page(keep.files, near)
    assert page is not None
    assert (page.id, set(page.aliases)) == ("now", {"first", "near"})


def test_an_override_takes_over_nothing(keep: MemoryStore) -> None:
    """A name that was set by hand, perhaps for one command, starts empty and renames nothing."""
    old = store(keep, project(APP))
    assert adopt(keep, identity("try-out", APP, source="override")) == scope_folder(project("try-out"))
    page = read_scope_page(keep.files, old)
    assert page is not None
    assert (page.id, page.aliases) == (APP, ())


def test_a_book_that_cannot_be_written(keep: MemoryStore) -> None:
    """In a read-only book nothing is renamed, and the memories are found where they are."""
    old = store(keep, project("a/old"))
    with mock.patch.object(project_verbs, "rename_scope", side_effect=ReadOnly()):
        assert adopt(keep, identity("a/new", "a/old")) == old


@pytest.mark.parametrize("error", [Conflict, NotFound])
def test_another_process_was_faster(keep: MemoryStore, error: type[Exception]) -> None:
    """When another process makes or takes over the folder first, its answer is taken."""
    store(keep, project("a/old"))

    def somebody_else(*_: object, **__: object) -> None:
        store(keep, project("a/new"))
        raise error

    with mock.patch.object(project_verbs, "rename_scope", side_effect=somebody_else):
        assert adopt(keep, identity("a/new", "a/old")) == scope_folder(project("a/new"))
