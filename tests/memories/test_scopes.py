"""Scopes on disk: the folder of an id, and ids that change."""

from __future__ import annotations

from unittest import mock

import pytest

from commonplace.memories import lifecycle
from commonplace.memories.lookup import describe, rename_scope
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import Conflict, NotFound
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import GLOBAL, Scope, ScopeKind
from commonplace.vault.paths import EVERYTHING, BookPath
from commonplace.vault.scope_pages import find_folder, read_scope_page


def project(ident: str) -> Scope:
    return Scope(ScopeKind.PROJECT, ident)


def store(keep: MemoryStore, scope: Scope) -> BookPath:
    folder = find_folder(keep.files, scope)
    with keep.unit(folder, EVERYTHING) as unit:
        page = describe(keep, scope, folder)
        if page is not None:
            unit.put_aside(page)
        lifecycle.store(unit, "fact", Entry("", "A fact.", trust=Trust.AGENT), lifecycle.Labels())
        unit.commit()
    return folder


def test_a_scope_page_says_the_true_id(keep: MemoryStore) -> None:
    """A folder whose name is made from an id holds the id itself."""
    folder = store(keep, project("github.com/acme/App"))
    page = read_scope_page(keep.files, folder)
    assert page is not None
    assert (page.kind, page.id, page.aliases) == ("project", "github.com/acme/App", ())


def test_plain_names_need_no_scope_page(keep: MemoryStore) -> None:
    """An agent with a plain name, and global, have no _scope.md: the folder says it all."""
    for scope in (GLOBAL, Scope(ScopeKind.AGENT, "reviewer")):
        assert read_scope_page(keep.files, store(keep, scope)) is None


def test_a_renamed_project_keeps_its_folder(keep: MemoryStore) -> None:
    """After a rename the old and the new id both lead to the old folder."""
    folder = store(keep, project("github.com/acme/old"))
    rename_scope(keep, project("github.com/acme/old"), "github.com/acme/new")
    assert find_folder(keep.files, project("github.com/acme/new")) == folder
    assert find_folder(keep.files, project("github.com/acme/old")) == folder
    page = read_scope_page(keep.files, folder)
    assert page is not None
    assert (page.id, page.aliases) == ("github.com/acme/new", ("github.com/acme/old",))


def test_renaming_back_leaves_one_alias(keep: MemoryStore) -> None:
    """An id that is current again is no alias any more."""
    folder = store(keep, project("one"))
    rename_scope(keep, project("one"), "two")
    rename_scope(keep, project("two"), "one")
    page = read_scope_page(keep.files, folder)
    assert page is not None
    assert (page.id, page.aliases) == ("one", ("two",))


def test_a_project_with_memories_is_not_swallowed(keep: MemoryStore) -> None:
    """Renaming to an id that has memories of its own is refused, and both keep theirs."""
    one, two = store(keep, project("one")), store(keep, project("two"))
    with pytest.raises(Conflict):
        rename_scope(keep, project("one"), "two")
    assert find_folder(keep.files, project("two")) == two != one


def test_what_was_never_stored_cannot_be_renamed(keep: MemoryStore) -> None:
    """A scope without a folder has nothing to rename."""
    with pytest.raises(NotFound):
        rename_scope(keep, project("nothing"), "something")


def test_two_ids_with_one_hash_never_share_a_folder(keep: MemoryStore) -> None:
    """If two ids ever give the same folder name, the second is refused rather than shown the first one's memories."""
    with mock.patch("commonplace.model.scope.short_hash", return_value="0123456789ab"):
        store(keep, project("a/app"))
        with pytest.raises(Conflict):
            find_folder(keep.files, project("b/app"))
