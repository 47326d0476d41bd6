"""What grows old goes, in every scope and whoever calls, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.memories import lifecycle
from commonplace.model.memory import Entry, Status
from commonplace.model.scope import GLOBAL, LOCAL, Scope, ScopeKind
from commonplace.model.times import now, shift_time
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER
from commonplace.verbs import forget as retire
from commonplace.verbs.store import Draft, store_draft
from tests.book.opened import at, believed_at, files, open_book

THEN, LATER = "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z"


def trash(root: Path) -> list[str]:
    return sorted(
        str(path.relative_to(root / ".commonplace/trash")) for path in root.glob(".commonplace/trash/**/*.md")
    )


@pytest.fixture
def lynxes(root: Path) -> Path:
    """A book with an ended session and a project that nobody opens any more."""
    with open_book(root, project="p1", session="s1", agent="a", role="agent") as book:
        book.store("A session lynx.", key="lynx", scope="session")
        book.store("A project lynx.", key="plynx")
        book.store("A global lynx.", key="glynx", scope="global")
        book.store("How they want it.", key="wanted", type="feedback")
    with open_book(root, project="p1") as book:
        book.store("A person said so.", key="said")
    return root


@pytest.mark.parametrize("role", ["agent", "person"])
def test_another_callers_scopes_grow_old_too(lynxes: Path, role: str) -> None:
    """An ended session goes to the trash and an unopened project is hidden, whoever tends the book; an agent is not
    told their keys, and what never expires stays."""
    with believed_at(open_book(lynxes, project="p2", session="s2", agent="b", role=role), LATER) as book:
        done = book.retire()
        assert (done.trashed, done.expired) == ((("lynx",), ("plynx",)) if role == "person" else ((), ()))
    assert len(trash(lynxes)) == 1 and trash(lynxes)[0].startswith("session/s1/lynx/")
    with open_book(lynxes, project="p1", session="s1") as book:
        status = {item.key: item.status for item in book.list(hidden=True)}
        assert status == {"plynx": "expired", "glynx": "active", "wanted": "active", "said": "active"}
        assert book.verify().ok


def test_a_proposal_waits_for_thirty_days(root: Path) -> None:
    """What was captured and not judged goes to the trash after a month, in any scope; another proposal stays."""
    with open_book(root, project="p1") as book:
        context = book.context
        for scope, tags in ((GLOBAL, ("captured",)), (Scope(ScopeKind.PROJECT, "p1"), ("captured",)), (GLOBAL, ())):
            text = f"A lynx of {scope.kind} with {len(tags)} tags."
            with context.memories.unit(context.folder(scope), KEEPER) as unit:
                labels = lifecycle.Labels(tags=tags, status=Status.PROPOSED)
                store_draft(context, unit, scope, Draft(Entry("", text), labels))
                unit.commit()
    for days, left in ((29, 3), (31, 1)):
        with believed_at(open_book(root, project="p1"), shift_time(now(), days * 86_400)) as book:
            book.retire()
            assert len(book.review()) == left


def test_who_is_sealed_in_tends_its_own(lynxes: Path) -> None:
    """A sealed caller changes nothing outside its session."""
    before = files(lynxes, databases=False)
    with believed_at(open_book(lynxes, session="s2", role="agent", sealed=True), LATER) as book:
        assert book.retire() == ((), (), 0)
    assert files(lynxes, databases=False) == before


def test_it_goes_on_where_it_stopped(lynxes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no time but for one scope in each call, every scope has its turn."""
    monkeypatch.setattr(retire, "_SECONDS", 0.0)
    with believed_at(open_book(lynxes, project="p2"), LATER) as book:
        calls = [book.retire() for _ in range(8)]
    assert [one.trashed for one in calls if one.trashed] == [("lynx",)]
    assert [one.expired for one in calls if one.expired] == [("plynx",)]


def test_a_scope_that_is_being_written_is_left_for_the_next(lynxes: Path) -> None:
    """Nobody is waited for, and the other scopes are tended."""
    vault = LocalVault.at(lynxes)
    with believed_at(open_book(lynxes, project="p2"), LATER) as book:
        with vault.lock(LOCAL, "session.s1", 0):
            assert book.retire().trashed == ()
        assert book.retire().trashed == ("lynx",)
    vault.close()


def test_the_trash_is_emptied_after_30_days(root: Path) -> None:
    """What was forgotten 30 days ago can be restored; what was forgotten a second before that is gone for good."""
    with open_book(root) as book:
        for key in ("old", "edge", "young"):
            book.store(f"The {key} lynx.", key=key)
            book.store(f"The {key} lynx again.", key=key, mode="replace")
        for key, time in (("old", "2025-12-01T23:59:59Z"), ("edge", "2025-12-02T00:00:00Z"), ("young", THEN)):
            at(book, time).forget(key)
        history = sorted(root.glob(".commonplace/history/**/*.md"))
        assert believed_at(book, THEN).retire().swept == 1
        assert [path.split("/")[2] for path in trash(root)] == ["edge", "young"]
        assert sorted(root.glob(".commonplace/history/**/*.md")) == history and book.verify().ok
        assert book.restore("edge").action == "restored" and book.restore("young").action == "restored"
        assert believed_at(book, LATER).retire().swept == 0


def test_what_is_not_ours_in_the_trash_stays(root: Path, tmp_path: Path) -> None:
    """A file of another name or with other bytes than its name says, a link, and what a link leads to: all left."""
    outside = tmp_path / "outside"
    outside.mkdir()
    with open_book(root) as book:
        for key in ("a", "b", "c", "d"):
            book.store(f"The {key} lynx.", key=key)
            at(book, THEN).forget(key)
        a, b, c, d = (root / ".commonplace/trash" / path for path in trash(root))
        a.write_text("Other bytes.", encoding="utf-8")
        b.rename(b.with_name("mine.md"))
        os.replace(c, outside / c.name)
        c.symlink_to(outside / c.name)
        os.replace(d, outside / d.name)
        d.parent.rmdir()
        d.parent.symlink_to(outside)
        here = sorted(str(path) for path in (root / ".commonplace/trash").rglob("*"))
        assert believed_at(book, LATER).retire().swept == 0
        assert sorted(str(path) for path in (root / ".commonplace/trash").rglob("*")) == here
        assert sorted(path.name for path in outside.iterdir()) == sorted([c.name, d.name])


def test_the_trash_of_a_scope_whose_folder_is_gone(lynxes: Path) -> None:
    """What an ended session left in the trash goes in its time, though somebody removed the session's folder."""
    with at(open_book(lynxes, project="p1", session="s1"), THEN) as book:
        book.forget("lynx", scope="session")
    for path in sorted((lynxes / "memories/session/s1").rglob("*"), reverse=True):
        path.unlink()
    (lynxes / "memories/session/s1").rmdir()
    with believed_at(open_book(lynxes, project="p2"), LATER) as book:
        assert book.retire().swept == 1 and trash(lynxes) == [] and book.verify().ok
        assert not (lynxes / "memories/session/s1").exists()


def test_the_command_line_sees_to_it_once_a_day(lynxes: Path) -> None:
    """A store at the command line empties the trash after it has answered, the first one of a day."""
    with at(open_book(lynxes, project="p1", session="s1"), "2020-01-01T00:00:00Z") as book:
        book.forget("lynx", scope="session")
        book.forget("glynx", scope="global")
        at(book, shift_time(now(), -86_400)).retire()
    first, second = (lynxes / ".commonplace/trash" / path for path in trash(lynxes))
    kept = second.read_bytes()
    second.unlink()
    words = ["store", "A new lynx.", "--scope", "global", "--root", str(lynxes), "--json"]
    for left in ([], [second.name]):
        done = subprocess.run([sys.executable, "-m", "commonplace", *words], capture_output=True, check=True, text=True)
        assert '"action"' in done.stdout and [Path(path).name for path in trash(lynxes)] == left
        second.parent.mkdir(parents=True, exist_ok=True)
        second.write_bytes(kept)
    assert first != second
