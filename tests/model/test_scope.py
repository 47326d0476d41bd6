"""Scopes: two ids never share a folder, and every folder can exist everywhere."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidScope
from commonplace.model.names import find_name_fault, fold_name, short_hash
from commonplace.model.scope import GLOBAL, HASH_LENGTH, TEAM, Caller, Scope, ScopeKind
from tests.depth import examples

with_id = st.sampled_from([ScopeKind.SESSION, ScopeKind.AGENT, ScopeKind.PROJECT])
printable = st.text(min_size=1, max_size=40).filter(str.isprintable)
near = st.text("aAbB0-_/. é", min_size=1, max_size=8)
devices = st.sampled_from(["con", "nul", "com1", "CON", "index", "_scope", "..", ".", "x", "-", "a" * 63, "a" * 64])
seeds = printable | near | devices


def folder(kind: ScopeKind, scope_id: str) -> str:
    """The folder of a scope that has an id."""
    name = Scope(kind, scope_id).folder_name
    assert name is not None
    return name


@st.composite
def rivals(draw: st.DrawFn) -> tuple[ScopeKind, str, str]:
    """A kind and two different ids, the second often made from the first one's folder or spelling."""
    kind = draw(with_id)
    first = draw(seeds)
    made = [
        folder(kind, first),
        folder(kind, first).upper(),
        folder(kind, folder(kind, first)),
        f"{first}-{short_hash(first, HASH_LENGTH)}",
        f"x-{short_hash(first, HASH_LENGTH)}",
        first.upper(),
        first + "/",
        "/" + first,
        "host/" + first,
        first + "-",
        first + ".",
        first + " ",
        "é" + first,
    ]
    second = draw(st.sampled_from(made) | seeds)
    assume(first != second and second.isprintable())
    return kind, first, second


@examples(1000)
@given(rivals())
def test_no_two_ids_share_a_folder(given_rivals: tuple[ScopeKind, str, str]) -> None:
    """Two different ids have two folders, also where case and composition do not count."""
    kind, first, second = given_rivals
    assert fold_name(folder(kind, first)) != fold_name(folder(kind, second))


@examples(300)
@given(with_id, seeds)
def test_every_folder_can_exist(kind: ScopeKind, scope_id: str) -> None:
    """The folder of any id is a plain lower-case name that every system can hold and the book does not reserve."""
    name = folder(kind, scope_id)
    assert find_name_fault(name) is None
    assert name.isascii()
    assert name == name.lower()
    assert not name.startswith(("_", "."))


def test_plain_ids_are_their_own_folder() -> None:
    """A plain agent or session id is readable on disk; a project always carries its hash."""
    assert folder(ScopeKind.AGENT, "claude-code") == "claude-code"
    assert folder(ScopeKind.SESSION, "0197a_b") == "0197a_b"
    assert folder(ScopeKind.PROJECT, "github.com/o/My Repo") == f"my-repo-{short_hash('github.com/o/My Repo')}"
    assert folder(ScopeKind.AGENT, "con") == f"con-{short_hash('con')}"
    assert folder(ScopeKind.AGENT, "日本") == f"x-{short_hash('日本')}"


def test_global_and_team_have_no_folder_of_their_own() -> None:
    """Global and team are one folder each, and take no id."""
    assert (GLOBAL.folder_name, TEAM.folder_name) == (None, None)
    for kind in (ScopeKind.GLOBAL, ScopeKind.TEAM):
        assert not kind.has_id
        with pytest.raises(InvalidScope):
            Scope(kind, "x")


@pytest.mark.parametrize("scope_id", [None, "", "a\nb", "a\x00", "\u202e", "\ud800", "x" * 1001])
@pytest.mark.parametrize("kind", ["session", "agent", "project"])
def test_ids_that_are_refused(kind: str, scope_id: str | None) -> None:
    """A scope that needs an id is an error without one, or with one that hides something."""
    with pytest.raises(InvalidScope):
        Scope(ScopeKind(kind), scope_id)


@pytest.mark.parametrize("kind", ["", "Session", "world", "global ", "session\n"])
def test_words_that_are_no_scope(kind: str) -> None:
    """Only the five words are scopes."""
    with pytest.raises(InvalidScope):
        Caller(session="x").scope(kind)


@given(with_id, printable)
def test_a_scope_as_text(kind: ScopeKind, scope_id: str) -> None:
    """A scope as text has both its parts, and only one without an id."""
    assert str(Scope(kind, scope_id)) == f"{kind.value}:{scope_id}"
    assert str(GLOBAL) == "global"
