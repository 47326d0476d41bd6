"""A memory that was hidden or superseded stands again when it is stored to, and what was hidden when it is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.choices import ScopeChoice, StoreMode
from commonplace.model.results import StoreResult
from commonplace.vault.paths import KEEPER
from tests.book.opened import keys, open_book, texts

TEXT = "The release train leaves on Thursday."


def expired(root: Path, *names: str) -> dict[str, StoreResult]:
    """Memories that nobody has used for a long time, as `retire` leaves them."""
    with open_book(root, agent="a", role="agent") as book:
        kept = {name: book.store(TEXT, key=name) for name in names}
    for stored in kept.values():
        path = root / stored.path.lstrip("/")
        path.write_text(path.read_text("utf-8").replace("status: active", "status: expired"), "utf-8")
    return kept


def is_on_page(root: Path, stored: StoreResult) -> bool:
    page = (root / stored.path.lstrip("/")).parent / "index.md"
    return f"]({stored.key}.md)" in page.read_text("utf-8")


@pytest.mark.parametrize(("mode", "text"), [("append", TEXT), ("append", "On Monday."), ("replace", "On Friday.")])
def test_a_store_to_an_expired_memory_makes_it_stand(root: Path, mode: StoreMode, text: str) -> None:
    """Whatever is stored to an expired memory, the same text too, is found by recall and named by the page."""
    old = expired(root, "train")["train"]
    with open_book(root, agent="a", role="agent") as book:
        stored = book.store(text, key="train", mode=mode)
        assert stored.action == {"append": "appended", "replace": "replaced"}[mode]
        assert texts(book, text)[0] == text and is_on_page(root, old)
        assert book.store(text, key="train", mode=mode).action == "unchanged"
    with open_book(root) as person:
        assert person.verify().ok


@pytest.mark.parametrize(("mode", "text"), [("append", "Staging listens on port 5432."), ("append", "On 5432 again."),
                                            ("replace", "Staging listens on port 7000.")])  # fmt: skip
@pytest.mark.parametrize("keyed", [True, False])
def test_a_correction_back_stands(root: Path, mode: StoreMode, text: str, keyed: bool) -> None:
    """What was superseded and is said again is no duplicate: it is active, on the page, and no longer marked. Where it
    now contradicts what superseded it, that is proposed."""
    with open_book(root) as book:
        first = book.store("Staging listens on port 5432.")
        book.store("Staging listens on port 6000.", key="new", decision=f"supersede:{first.key}")
        assert not is_on_page(root, first)
        again = book.store(text, key=first.key if keyed or text != "Staging listens on port 5432." else None, mode=mode)
        assert (again.key, again.action == "unchanged") == (first.key, False)
        meta = book.show(first.key).meta
        assert meta.status == "active" and is_on_page(root, first)
        assert {link[:2] + link[3:] for link in meta.links} <= {("contradicts", "new", "proposed")}
        assert {item.key for item in book.list()} == {first.key, "new"}
        assert book.show("new").meta.status == "active" and book.verify().ok


def test_what_waits_for_a_verdict_is_not_made_to_stand(root: Path) -> None:
    """Storing to a quarantined memory leaves it in the queue: only a verdict takes it out."""
    path = root / expired(root, "train")["train"].path.lstrip("/")
    path.write_text(path.read_text("utf-8").replace("status: expired", "status: quarantined"), "utf-8")
    with open_book(root) as book:
        book.store("On Monday.", key="train")
        assert [item.key for item in book.review()] == ["train"] and keys(book, "Monday") == []


@pytest.mark.parametrize("scope", ["project", "global"])
@pytest.mark.parametrize("role", ["person", "agent"])
def test_what_superseded_it_is_forgotten(root: Path, scope: ScopeChoice, role: str) -> None:
    """With the memory that superseded it forgotten, by itself or for good, the old one is active, in whatever scope; a
    restore supersedes it again, unless somebody has written to it since."""
    with open_book(root, agent="a" if role == "agent" else None, role=role) as book:
        old = book.store("Staging listens on port 5432.", key="old", scope=scope)
        book.store("Staging listens on port 6000.", key="new", decision="supersede:old", scope="project")
        for _ in range(2):
            assert (book.show("old").meta.status, is_on_page(root, old)) == ("superseded", False)
            book.forget("new")
            meta = book.show("old").meta
            assert (meta.status, meta.links, is_on_page(root, old)) == ("active", (), True)
            assert [hit.status for hit in book.recall("staging port").hits] == ["active"]
            book.restore("new")
        assert [item.action for item in book.history("old")] == ["superseded", "stands"] * 2 + ["superseded", "current"]
        book.forget("new")
        book.store("And on 5433.", key="old", scope=scope)
        book.restore("new")
        assert book.show("old").meta.status == "active"
    with open_book(root) as person:
        person.store("On port 7000.", key="newest", decision="supersede:old", scope="project")
        person.forget("newest", purge=True)
        assert person.show("old").meta.status == "active" and person.verify().ok


def test_as_long_as_one_supersedes_it(root: Path) -> None:
    """A memory that several superseded stands with the last of them gone; one that was superseded in its turn leaves
    what it superseded as it is; and several that became one stand again without it."""
    with open_book(root) as book:
        for key in ("a", "b", "c"):
            book.store(f"The {key} of it.", key=key)
        book.consolidate(["a", "b"], "All of it.", key="one")
        book.link("c", "supersedes", "a")

        def standing() -> list[str]:
            return [item.key for item in book.list()]

        assert standing() == ["c", "one"]
        book.forget("one")
        assert standing() == ["b", "c"]
        book.undo("c")
        assert standing() == ["a", "b", "c"]
        book.restore("one")
        book.undo("c")
        assert standing() == ["c", "one"]
        book.undo("c")
        assert standing() == ["c", "one"]
        book.store("Else.", key="two", decision="supersede:one")
        book.forget("one")
        assert standing() == ["c", "two"] and book.verify().ok


def test_what_waited_waits_again(root: Path) -> None:
    """What nobody had accepted when a person superseded it goes back into the queue, not into what is recalled."""
    path = root / expired(root, "train")["train"].path.lstrip("/")
    path.write_text(path.read_text("utf-8").replace("status: expired", "status: quarantined"), "utf-8")
    with open_book(root) as person, open_book(root, agent="a", role="agent") as agent:
        person.store("On Monday.", key="new", decision="supersede:train")
        agent.forget("new")
        assert [item.key for item in person.review()] == ["train"] and keys(agent, "train") == []


READS: dict[str, Callable[[Book, StoreResult], str]] = {
    "show": lambda book, old: book.show(old.key).revision,
    "page": lambda book, old: book.page(old.path),
    "read_memory": lambda book, old: book.read_memory(old.path).revision,
    "recall": lambda book, old: book.recall("release train", expired=True).hits[0].text,
}


@pytest.mark.parametrize("verb", READS)
def test_reading_revives(root: Path, verb: str) -> None:
    """An expired memory that is read is hidden no more, and the answer is of the file as it is then."""
    old = expired(root, "train")["train"]
    with open_book(root, agent="a", role="agent") as book:
        assert keys(book, "release train") == []
        answer = READS[verb](book, old)
        assert keys(book, "release train") == ["train"] and is_on_page(root, old)
        if verb != "recall":
            assert answer == (book.page(old.path) if verb == "page" else book.list()[0].revision)


@pytest.mark.parametrize("verb", READS)
def test_reading_neither_waits_nor_fails_where_it_cannot_revive(
    root: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a lock that another holds, and where no file can be written, a read answers at once and revives later."""
    old = expired(root, "train")["train"]
    with open_book(root, agent="a", role="agent") as book:
        assert keys(book, "release train") == []
        keep, waits, real = book.context.memories, list[float](), os.open

        def spy(*asked: object, lock: Callable[..., AbstractContextManager[object]] = keep.vault.lock) -> object:
            waits.append(float(str(asked[-1])))
            return lock(*asked)

        def refuse(path: object, flags: int, *rest: object, **more: object) -> int:
            if flags & os.O_CREAT and str(path).startswith(".cp-"):
                raise PermissionError(13, "no")
            return real(path, flags, *rest, **more)  # type: ignore[arg-type]

        folder = book.context.folder(book.context.caller.scope("project"))
        with keep.unit(folder, KEEPER), monkeypatch.context() as patch:
            patch.setattr(keep.vault, "lock", spy)
            assert READS[verb](book, old)
        with monkeypatch.context() as patch:
            patch.setattr(keep.vault, "lock", spy)
            patch.setattr(os, "open", refuse)
            assert READS[verb](book, old)
        assert waits and set(waits) == {0.0}
        assert keys(book, "release train") == []
        READS[verb](book, old)
        assert keys(book, "release train") == ["train"]


def test_a_coordinator_reads_and_revives_nothing(root: Path) -> None:
    """Who writes no memories changes none by reading one."""
    old = expired(root, "train")["train"]
    with open_book(root, agent="a", role="coordinator") as book:
        for read in READS.values():
            read(book, old)
        assert keys(book, "release train") == []
