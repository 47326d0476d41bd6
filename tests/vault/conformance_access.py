"""What every vault promises about who may see and change what, and about locks. Part of VaultConformance."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from commonplace.model.errors import CommonplaceError, InvalidPath, LockTimeout, NotFound, OutsideView
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.paths import EVERYTHING, KEEPER, ROOT, BookPath, View, resolve, view_of
from commonplace.vault.port import Change, Delete, Move, Write
from tests.vault.subject import Subject

MINE, THEIRS = BookPath("memories", "agent", "mine"), BookPath("memories", "agent", "theirs")
SHARED = BookPath("memories", "global")
OPEN = view_of(frozenset({MINE, SHARED}), frozenset({MINE}))
SEALED = view_of(frozenset({MINE}), frozenset({MINE}), sealed=True)
PRIVATE_FILE = BookPath(".commonplace", "config.toml")
ELSEWHERE = Space("acme", "bob")
FILES = [
    "/index.md",
    "/system/definition.md",
    "/data/table.csv",
    "/other/file.md",
    "/memories/index.md",
    "/memories/agent/index.md",
    "/memories/agent/mine/a.md",
    "/memories/agent/mine/people/b.md",
    "/memories/agent/mine-too/c.md",
    "/memories/agent/theirs/d.md",
    "/memories/global/e.md",
    "/.commonplace/config.toml",
    "/.commonplace/trash/agent/mine/f.md",
]
READABLE: list[tuple[View, set[str]]] = [
    (KEEPER, set(FILES)),
    (EVERYTHING, {name for name in FILES if not name.startswith("/.commonplace")}),
    (
        OPEN,
        {
            *("/index.md", "/system/definition.md", "/data/table.csv", "/memories/global/e.md"),
            *("/memories/agent/mine/a.md", "/memories/agent/mine/people/b.md"),
        },
    ),
    (SEALED, {"/memories/agent/mine/a.md", "/memories/agent/mine/people/b.md"}),
    (View(reads=frozenset(), writes=frozenset()), set()),
]
WRITABLE: list[tuple[View, set[str]]] = [
    (KEEPER, set(FILES)),
    (EVERYTHING, {name for name in FILES if not name.startswith("/.commonplace")}),
    (OPEN, {"/data/table.csv", "/memories/agent/mine/a.md", "/memories/agent/mine/people/b.md"}),
    (SEALED, {"/memories/agent/mine/a.md", "/memories/agent/mine/people/b.md"}),
    (View(reads=None, writes=frozenset()), set()),
]
NAMES = ["keeper", "everything", "own", "sealed", "nothing"]


def filled(subject: Subject) -> Subject:
    subject.apply(*(Write(resolve(name), name.encode()) for name in FILES), view=KEEPER)
    return subject


def refused(action: Callable[[], object]) -> bool:
    try:
        action()
    except OutsideView:
        return True
    return False


class ViewConformance:
    @pytest.mark.parametrize(("view", "readable"), READABLE, ids=NAMES)
    def test_reading_through_a_view(self, subject: Subject, view: View, readable: set[str]) -> None:
        """A view reads what it names and nothing else; whether the rest exists is not revealed."""
        filled(subject)
        for name in FILES:
            path = resolve(name)
            hidden = name not in readable
            assert refused(partial(subject.read, path, view)) == hidden
            assert refused(partial(subject.vault.stat, LOCAL, view, path)) == hidden
            if hidden:
                assert refused(partial(subject.read, path.parent / "not-there.md", view))

    @pytest.mark.parametrize(("view", "readable"), READABLE, ids=NAMES)
    def test_listing_through_a_view(self, subject: Subject, view: View, readable: set[str]) -> None:
        """Walking down from the root shows the files of the view and the folders on the way, and nothing beside."""
        filled(subject)
        if not readable:
            assert refused(partial(subject.names, ROOT, view))
            return
        found: set[str] = set()
        waiting = [ROOT]
        while waiting:
            folder = waiting.pop()
            for item in subject.vault.list_folder(LOCAL, view, folder):
                path = folder / item.name
                if item.stat.kind.value == "folder":
                    assert any(name.startswith(f"{path}/") for name in readable)
                    waiting.append(path)
                else:
                    found.add(str(path))
        assert found == readable

    def test_the_way_to_a_folder_can_be_listed_but_not_read(self, subject: Subject) -> None:
        """Above its own folder a caller sees the way there, not the pages that name the others."""
        filled(subject)
        assert subject.names(ROOT, SEALED) == ["memories"]
        assert subject.names(MINE.parent, SEALED) == ["mine"]
        for place in (THEIRS, BookPath("system"), BookPath(".commonplace")):
            with pytest.raises(OutsideView):
                subject.names(place, SEALED)
        with pytest.raises(OutsideView):
            subject.read(MINE.parent / "index.md", SEALED)

    @pytest.mark.parametrize(("view", "writable"), WRITABLE, ids=NAMES)
    def test_changing_through_a_view(self, subject: Subject, view: View, writable: set[str]) -> None:
        """A view changes what it names; one change outside it, either end of a move, refuses the whole group."""
        filled(subject)
        inside = Write(MINE / "fine.md", b"x")
        before = subject.raw()
        for name in FILES:
            path = resolve(name)
            moves = [Move(path, MINE / "to.md"), Move(MINE / "a.md", path)]
            changes: list[Change] = [Write(path, b"x"), Delete(path), *moves]
            for change in changes if name not in writable else []:
                for group in ([change], [inside, change], [change, inside]):
                    assert refused(partial(subject.apply, *group, view=view))
                    assert subject.raw() == before
        for name in writable:
            subject.apply(Write(resolve(name), b"new"), view=view)
            assert subject.read(resolve(name), KEEPER) == b"new"

    @pytest.mark.parametrize("name", [".commonplace", ".COMMONPLACE", ".Commonplace", ".common\u200cplace", "COMMON~1"])
    def test_private_in_every_spelling(self, subject: Subject, name: str) -> None:
        """The private folder stays so under each name by which some file system would find it."""
        path = BookPath(name, "config.toml")
        for view in (EVERYTHING, OPEN, SEALED):
            assert refused(partial(subject.read, path, view))
            assert refused(partial(subject.names, path.parent, view))
            assert refused(partial(subject.apply, Write(path, b"x"), view=view))

    def test_spaces_are_apart(self, subject: Subject) -> None:
        """Another space has files of its own, or is refused; it never has these."""
        filled(subject)
        vault = subject.vault
        actions: list[Callable[[], object]] = [
            lambda: vault.read(ELSEWHERE, KEEPER, MINE / "a.md"),
            lambda: vault.list_folder(ELSEWHERE, KEEPER, MINE),
            lambda: vault.apply(ELSEWHERE, KEEPER, [Delete(MINE / "a.md")]),
        ]
        for action in actions:
            with pytest.raises((NotFound, OutsideView)):
                action()
        before = {name: subject.read(resolve(name), KEEPER) for name in FILES}
        try:
            vault.apply(ELSEWHERE, KEEPER, [Write(MINE / "a.md", b"theirs")])
            assert vault.stat(ELSEWHERE, KEEPER, MINE / "people" / "b.md") is None
        except OutsideView:
            with pytest.raises(OutsideView):
                vault.stat(ELSEWHERE, KEEPER, MINE / "a.md")
            with pytest.raises(OutsideView):
                vault.sweep(ELSEWHERE, MINE)
            with pytest.raises(OutsideView), vault.lock(ELSEWHERE, "x", 0):
                pass
        assert {name: subject.read(resolve(name), KEEPER) for name in FILES} == before


class LockConformance:
    def test_the_generation_rises_by_one(self, subject: Subject) -> None:
        """Each hold of a name counts one more, whoever holds it, and names count for themselves."""
        seen = []
        for name in ("a", "a", "b", "a"):
            with subject.vault.lock(LOCAL, name, 0) as held:
                assert held.name == name
                seen.append(held.generation)
        assert seen == [1, 2, 1, 3]

    def test_one_holder_at_a_time(self, subject: Subject) -> None:
        """Threads that add to a number under the lock lose no addition, and every generation occurs once."""
        total = [0]
        generations: list[int] = []

        def add(_: int) -> None:
            with subject.vault.lock(LOCAL, "sum", 60) as held:
                before = total[0]
                generations.append(held.generation)
                subject.apply(Write(BookPath("data", "sum"), str(before + 1).encode()))
                total[0] = before + 1

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(add, range(80)))
        assert total == [80]
        assert subject.read(BookPath("data", "sum")) == b"80"
        assert sorted(generations) == list(range(1, 81))

    def test_who_waits_in_vain_is_told(self, subject: Subject) -> None:
        """A lock that is held is LockTimeout for others, which names the lock; other names are free."""
        with subject.vault.lock(LOCAL, "agent.mine", 0), ThreadPoolExecutor(1) as pool:

            def attempt(name: str) -> str:
                try:
                    with subject.vault.lock(LOCAL, name, 0):
                        return "held"
                except LockTimeout as error:
                    return error.message

            message = pool.submit(attempt, "agent.mine").result()
            assert "agent.mine" in message
            assert "0 s" in message
            assert pool.submit(attempt, "agent.theirs").result() == "held"

    def test_an_error_frees_the_lock(self, subject: Subject) -> None:
        """A lock is free again however its holder ended, and the error is the holder's own."""
        with pytest.raises(ZeroDivisionError), subject.vault.lock(LOCAL, "a", 0):
            raise ZeroDivisionError
        with subject.vault.lock(LOCAL, "a", 0) as held:
            assert held.generation == 2

    def test_reading_never_waits(self, subject: Subject) -> None:
        """While somebody holds every lock, another thread reads, lists and stats."""
        path = BookPath("memories", "global", "a.md")
        subject.apply(Write(path, b"x"))
        done = threading.Event()

        def look() -> None:
            if subject.read(path) == b"x" and subject.names(path.parent) == ["a.md"]:
                done.set()

        with subject.vault.lock(LOCAL, "global", 0), subject.vault.lock(LOCAL, "parents", 0):
            reader = threading.Thread(target=look)
            reader.start()
            reader.join(60)
            assert done.is_set()

    @pytest.mark.parametrize("name", ["../up", "../../../up", "a/b", "a\\b", "/abs", "nul\0", "c:x", "con", "x" * 300])
    def test_a_lock_is_a_single_name(self, subject: Subject, name: str) -> None:
        """A lock's name leads nowhere: one that is a path, or no file name, is InvalidPath and leaves nothing."""
        before = subject.raw()
        with pytest.raises(CommonplaceError) as wrong, subject.vault.lock(LOCAL, name, 0):
            pass
        assert isinstance(wrong.value, InvalidPath)
        assert subject.raw() == before


class AccessConformance(ViewConformance, LockConformance):
    """Views, spaces and locks."""
