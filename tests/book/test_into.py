"""A proposal is accepted into another scope: it moves there whole, and the session it came from ends without it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from commonplace.memories import lifecycle
from commonplace.model.choices import ScopeChoice
from commonplace.model.errors import (
    AlreadyExists,
    CommonplaceError,
    Conflict,
    InvalidField,
    InvalidScope,
    NotFound,
    NotPermitted,
    SecretFound,
)
from commonplace.model.memory import Entry, Status, Trust
from commonplace.model.scope import Caller, Scope, ScopeKind
from commonplace.model.settings import Settings
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import EVERYTHING, BookPath
from commonplace.verbs import review
from commonplace.verbs.context import BookContext
from tests.book.opened import believed_at, holds, keys, open_book, texts, tick
from tests.crash.ops import open_keep
from tests.crash.simdisk import Left, PowerCut, SimDisk
from tests.memories.reading import page_faults

FACT = "The index is kept in SQLite."
SECRET = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"


def proposed(root: Path, scope: ScopeChoice = "session", *more: str) -> Path:
    """The fact waits in a scope of s1 and scout, linked to a memory beside it and to a global one."""
    with open_book(root, session="s1", agent="scout", role="agent") as agent:
        path = root / agent.store(FACT, key="engine", scope=scope, tags=["captured"]).path.lstrip("/")
        for text in more:
            agent.store(text, key="engine", scope=scope)
        for key, place in (("beside", scope), ("wide", "global")):
            agent.store(f"Of {key}.", key=key, scope=place)
            agent.link("engine", "relates_to", key if place == scope else f"{place}/{key}", scope)
            agent.forget(key, place)  # a link may outlive what it leads to
    path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed", 1), "utf-8")
    return path


def test_it_moves_whole(root: Path) -> None:
    """Id, entries, tags, type and summary are those it had, with the trust of who accepted it; it is recalled
    by the project, links say whose keys they name, and nothing of it is left in the session, nor after a rebuild."""
    old = proposed(root)
    before = parse(old.read_bytes())
    with open_book(root) as person:
        stored = person.accept("engine", Scope(ScopeKind.SESSION, "s1"), into="project")
        assert (stored.action, stored.scope, stored.key) == ("moved", "project", "engine")
        assert person.review()[0].to == "session/beside"  # its links still wait
        for _ in range(2):
            meta = person.show("engine", "project").meta
            assert meta.status == "active" and meta.updated >= before.meta.updated
            was = before.meta
            assert meta._replace(status=was.status, updated=was.updated, links=was.links) == was
            assert [link.to for link in meta.links] == ["session/beside", "global/wide"]
            assert person.verify().ok
            person.reindex()
    after = parse((root / stored.path.lstrip("/")).read_bytes())
    assert after.entries == tuple(entry._replace(trust=Trust.HUMAN) for entry in before.entries) and not old.exists()
    assert "github.com/acme/app" in (root / stored.path.lstrip("/")).with_name("_scope.md").read_text("utf-8")
    assert all("/project/" in f"/{name}" or "/" not in name.removeprefix(".commonplace/") for name in holds(root, FACT))
    with open_book(root, session="s2", agent="other", role="agent") as agent:
        assert keys(agent, "sqlite") == ["engine"] and agent.show("engine").entries[0].trust == "human"
    with open_book(root, session="s1") as book:
        assert book.list(scope="session") == []


def test_what_was_says_what_is_true_at_both_places(root: Path) -> None:
    """It is found as of no time before the verdict; history names it at the new place, and earlier texts came along;
    undo has nothing to bring back until it is changed there; the old place knows nothing."""
    proposed(root, "session", "It is one file.")
    with open_book(root) as person:
        tick(person, year=2030)
        person.accept("engine", Scope(ScopeKind.SESSION, "s1"), into="project")
        person.store("And stays so.", key="other")
        history = person.history("engine", "project")
        assert [item.action for item in history][-3:] == ["linked", "moved", "current"]
        assert history[-2].author == "human" and history[-2].path.startswith("/.commonplace/history/project/")
        with pytest.raises(Conflict, match="has not been changed since it was made"):
            person.undo("engine", "project")
        person.store("It may grow.", key="engine")
        person.undo("engine", "project")
        assert [entry.text for entry in person.show("engine").entries] == [FACT, "It is one file."]
        for lost in (person.history, person.undo, person.restore):
            with pytest.raises(NotFound):
                lost("engine", Scope(ScopeKind.SESSION, "s1"))
    for anew in (False, True):
        if anew:
            (root / ".commonplace/index.db").unlink()
        with open_book(root) as person:
            assert texts(person, as_of="2029-12-31") == []
            assert FACT in texts(person, as_of="2030-01-01T12:00:00Z")


def test_a_better_text_goes_there_and_a_purge_leaves_nothing(root: Path) -> None:
    """Edited while it is accepted, it stands with the new text; once purged there, no file has either text."""
    proposed(root)
    with open_book(root) as person:
        person.accept(
            "engine",
            Scope(ScopeKind.SESSION, "s1"),
            content="SQLite holds the index.",
            into=Scope(ScopeKind.AGENT, "writer"),
        )
        assert [entry.text for entry in person.show("engine", Scope(ScopeKind.AGENT, "writer")).entries] == [
            "SQLite holds the index."
        ]
        assert holds(root, FACT)
        person.forget("engine", Scope(ScopeKind.AGENT, "writer"), purge=True)
    assert holds(root, FACT) == [] and holds(root, "SQLite holds") == []


def test_it_lives_on_when_the_session_is_over(root: Path) -> None:
    """After a year the accepted fact is global, and the session's others are in the trash."""
    proposed(root)
    with open_book(root, session="s1", agent="scout", role="agent") as agent:
        agent.store("Only for today.", key="today", scope="session")
    with open_book(root) as person:
        person.accept("engine", Scope(ScopeKind.SESSION, "s1"), into="global")
        believed_at(person, "2036-01-01T00:00:00Z")
        assert person.retire().trashed == ("today",)
        assert [item.key for item in person.list()] == ["engine"]


def test_between_scopes_of_a_kind_links_stay_behind(root: Path) -> None:
    """An agent's scope cannot name another agent's keys: such a link is only in the text that was put aside."""
    proposed(root, "agent")
    with open_book(root) as person:
        person.accept("engine", Scope(ScopeKind.AGENT, "scout"), into=Scope(ScopeKind.AGENT, "writer"))
        assert [link.to for link in person.show("engine", Scope(ScopeKind.AGENT, "writer")).meta.links] == [
            "global/wide"
        ]
    assert len(holds(root, "to: beside")) > 0


def test_what_was_purged_and_came_back_stands_there(root: Path) -> None:
    """A file with a tombstone, from another book, is accepted into a scope: no tombstone is left, it is trusted, and it
    was not said there before."""
    path = proposed(root)
    data = path.read_bytes().replace(b"status: proposed", b"status: active").replace(b"trust=agent", b"trust=external")
    with open_book(root) as person:
        person.forget("engine", Scope(ScopeKind.SESSION, "s1"), purge=True)
        path.write_bytes(data)
        tick(person, year=2030)
        person.reindex()
        assert person.review()[0].status == "quarantined"
        person.accept("engine", Scope(ScopeKind.SESSION, "s1"), into="project")
        (entry,) = person.show("engine", "project").entries
        assert entry.trust == "human" and not [*root.glob(".commonplace/tombstones/*")]
        assert keys(person, "sqlite") == ["engine"] and texts(person, as_of="2029-12-31") == []
        assert person.verify().ok


def refused(book: Book, error: type[CommonplaceError], scope: ScopeChoice = "session", **given: Any) -> None:
    with pytest.raises(error):
        book.accept("engine", scope, **given)


def test_who_may_not_and_what_cannot(root: Path) -> None:
    """It takes a verdict and a store to that scope: not a coordinator, an agent, a worker, nor one who is sealed in.
    A key that is taken, a scope that is none, a secret, what does not wait: nothing is changed."""
    path = proposed(root)
    before = path.read_bytes()
    for role in ("coordinator", "orchestrator", "agent", "worker"):
        with open_book(root, session="s1", agent="scout", role=role) as book:
            refused(book, NotPermitted, into="project")
    with open_book(root, session="s1", sealed=True) as book:
        refused(book, InvalidScope, into="project")
    with open_book(root, session="s1") as person:
        person.store("Engines are loud.", key="engine", scope="global")
        refused(person, AlreadyExists, into="global")
        refused(person, InvalidScope, into="team")
        refused(person, InvalidScope, into="elsewhere")
        refused(person, InvalidField, into="project", rel="relates_to", to="beside")
        refused(person, Conflict, "global", into="project")  # it does not wait
        assert path.read_bytes() == before and person.show("engine", "global").newest is not None
        refused(person, SecretFound, into=f"agent:{SECRET}")
        path.write_bytes(before.replace(FACT.encode(), SECRET.encode()))  # by hand, past the gate
        refused(person, SecretFound, into="project")
        path.write_bytes(before)
        assert person.accept("engine", "session", into="session").action == "relabelled"  # it is there already
        assert [item.key for item in person.list(scope="session")] == ["engine"]


def test_a_crash_leaves_two_and_doctor_says_so(root: Path) -> None:
    """Where the old one could not be taken away, both are there; the id is of the accepted one, the other still waits,
    and a verdict on it gives it an id of its own."""
    path = proposed(root)
    data = path.read_bytes()
    with open_book(root) as person:
        tick(person, year=2030)
        new = person.accept("engine", Scope(ScopeKind.SESSION, "s1"), into="project").path
        path.write_bytes(data)
        (found,) = [item for item in person.doctor() if item.code == "duplicate_id"]
        assert found.path.endswith("session/s1/engine.md") and new in found.message
        person.accept("engine", Scope(ScopeKind.SESSION, "s1"))
        assert person.show("engine", Scope(ScopeKind.SESSION, "s1")).meta.id != person.show("engine", "project").meta.id
        assert person.show("engine", "project").meta.id == parse(data).meta.id


OLD, NEW = BookPath("memories", "session", "s1"), BookPath("memories", "global")


def _context(disk: SimDisk) -> BookContext:
    nothing: Any = None  # a verdict asks the state nothing
    caller = Caller(session="s1")
    return BookContext(open_keep(disk), nothing, Settings(), caller, root="", database_folder="", flags={}, config={})


def _at(disk: SimDisk, folder: BookPath) -> list[Note]:
    """The note there, if it is whole."""
    data = disk.files().get(f"{folder}/engine.md")
    note = parse(data) if data is not None else None
    assert note is None or [entry.text for entry in note.entries] == [FACT, "It is one file."]
    return [note] if note is not None else []


def test_cut_off_at_any_call_nothing_is_lost() -> None:
    """At every call, whatever the disk forgets: the proposal waits, or it stands in the new place with its past, or
    both; what was answered is done, and the pages are mended."""
    start = SimDisk()
    waits = lifecycle.Labels(status=Status.PROPOSED)
    with open_keep(start).unit(OLD, EVERYTHING) as unit:
        for text in (FACT, "It is one file."):
            lifecycle.store(unit, "engine", Entry("", text, trust=Trust.AGENT), waits)
        unit.commit()
    with open_keep(start).unit(OLD, EVERYTHING) as unit:
        lifecycle.relabel(unit, "engine", lifecycle.Labels(tags=("captured",)), why="relabelled")
        unit.commit()
    seen = set()
    for point in itertools.count(1):
        disk = start.copy()
        disk.calls, disk.fail_at = 0, point
        answered = True
        try:
            review.accept(_context(disk), review.AcceptRequest("engine", "session", into="global"))
        except PowerCut:
            answered = False
        for left in Left:
            state = disk.after_power_cut(point * 31, left)
            old, new = _at(state, OLD), _at(state, NEW)
            seen.add((len(old), len(new)))
            assert [note.meta.status for note in (*old, *new)] == ["proposed"] * len(old) + ["active"] * len(new)
            assert len({note.meta.id for note in (*old, *new)}) == 1 and (new or not answered)
            past = [path for path in state.files() if path.startswith("/.commonplace/history/global/engine/2")]
            assert not new or sorted(path.split(".")[2] for path in past) == ["moved", "relabelled"]
            mended = open_keep(state)
            for folder in (OLD, NEW):
                mended.reconcile(folder)
                assert page_faults(mended, folder) == []
        if answered:
            break
    assert point > 30 and seen == {(1, 0), (1, 1), (0, 1)}
