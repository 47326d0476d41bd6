"""What each writing verb does, as the table of the specification has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace.model.errors import AlreadyExists, CommonplaceError, Conflict, InvalidField, NotFound, RevisionMismatch
from tests.bench.pairs import load
from tests.book.opened import files, holds, keys, open_book, texts

BAD_ITEMS: list[tuple[str, object]] = [
    ("content", ""), ("content", 5), ("key", "../x"), ("key", "X"), ("nme", "y"), ("type", "y"), ("tags", "y"),
    ("mode", "y"), ("scope", "team"), ("seq", "y"), ("occurred", "y"), ("author", 5), ("if_revision", "y"),
]  # fmt: skip
ODD = "Quagga facts nobody else states."


def test_store_answers_where_and_what(root: Path) -> None:
    """A store answers key, scope, scope id, path, revision, entry and action; the file and the page say the same."""
    with open_book(root, agent="claude") as book:
        answer = book.store("Tests run with pytest.", tags=["testing"], type="feedback")
        memory = book.show(answer.key)
    assert (answer.action, answer.scope, answer.scope_id) == ("created", "project", "github.com/acme/app")
    assert (memory.path, memory.revision, memory.entries[0].id) == (answer.path, answer.revision, answer.entry)
    assert (memory.meta.summary, memory.meta.tags) == ("Tests run with pytest.", ("testing",))
    note = root / answer.path.lstrip("/")
    assert "Tests run with pytest." in note.read_text("utf-8")
    assert answer.key in (note.parent / "index.md").read_text("utf-8")


def test_the_newest_text_again_is_unchanged(root: Path) -> None:
    """Text equal to the newest entry writes nothing, by key or by made key; equal to an older one it is appended."""
    with open_book(root) as book:
        first = book.store("One.", key="k")
        before = files(root, databases=False)
        again = book.store("One.", key="k")
        assert (again.action, again.revision, again.entry) == ("unchanged", first.revision, first.entry)
        assert book.store("One.", key="k", mode="replace").action == "unchanged"
        assert files(root, databases=False) == before
        assert book.store("Two.", key="k").action == "appended"
        assert book.store("One.", key="k").action == "appended"
        made = book.store("A fact of its own.")
        assert (book.store("A fact of its own.").action, book.store("A fact of its own.").key) == (
            "unchanged",
            made.key,
        )


def test_white_space_can_be_corrected(root: Path) -> None:
    """A replace that changes nothing but the indentation is a change; an append of it is none."""
    with open_book(root) as book:
        book.store("steps:\n- run: make", key="ci")
        assert book.store("steps:\n  - run: make", key="ci").action == "unchanged"
        assert book.store("steps:\n  - run: make", key="ci", mode="replace").action == "replaced"
        assert book.show("ci").entries[0].text == "steps:\n  - run: make"


def test_metadata_replaces_and_tags_unite(root: Path) -> None:
    """Type and summary that are given replace what was there, tags are added, also when the text is unchanged."""
    with open_book(root) as book:
        book.store("One.", key="k", type="user", tags=["a", "b"], summary="First")
        book.store("Two.", key="k", tags=["b", "c"])
        meta = book.show("k").meta
        assert (meta.type.value, meta.tags, meta.summary) == ("user", ("a", "b", "c"), "First")
        answer = book.store("Two.", key="k", type="reference", tags=["d"], summary="Second")
        meta = book.show("k").meta
        assert (meta.type.value, meta.tags, meta.summary) == ("reference", ("a", "b", "c", "d"), "Second")
        assert answer.action == "unchanged" and answer.revision == book.show("k").revision
        assert len(book.show("k").entries) == 2
        assert [hit.key for hit in book.recall(tags=["d", "a"], type="reference").hits] == ["k", "k"]
        assert book.verify().ok


def test_replace_puts_the_old_text_into_the_history(root: Path) -> None:
    """Replace leaves one entry, the text before is in the history with who and why, and undo brings it back."""
    with open_book(root, agent="claude") as book:
        first = book.store("Port 5432.", key="port")
        book.store("Port 6000.", key="port", mode="replace")
        assert texts(book, "port") == ["Port 6000."]
        old, current = book.history("port")
        assert (old.action, old.author, current.action) == ("replaced", "claude", "current")
        assert first.revision.startswith(old.revision)
        assert book.undo("port").action == "undone"
        assert texts(book, "port") == ["Port 5432."]
        assert book.undo("port").action == "undone" and texts(book, "port") == ["Port 6000."]
        assert book.store("Other.", key="new", mode="replace").action == "created"


def test_undo_takes_back_an_append_and_nothing_else(root: Path) -> None:
    """Undo after an append leaves the entries before it; a memory that was only made has nothing to undo."""
    with open_book(root) as book:
        book.store("One.", key="k")
        with pytest.raises(Conflict):
            book.undo("k")
        book.store("Two.", key="k")
        book.undo("k")
        assert [entry.text for entry in book.show("k").entries] == ["One."]
        assert [item.action for item in book.history("k")] == ["appended", "undone", "current"]


def test_a_revision_is_named_as_it_is_printed(root: Path) -> None:
    """The first 12 digits of a revision, which show and history print, or more, will do; fewer, or others, do not."""
    with open_book(root) as book:
        now = book.store("One.", key="k").revision
        for wrong in ("", now[:11], f"{now[:12]}zz", f"{now}0", now[1:13]):
            with pytest.raises(RevisionMismatch):
                book.store("Two.", key="k", if_revision=wrong)
        assert book.store("One.", key="k", if_revision=now[:12]).action == "unchanged"
        now = book.store("Two.", key="k", if_revision=now[:12]).revision
        now = book.store("Three.", key="k", mode="replace", if_revision=now[:20]).revision
        now = book.edit("k", b"Four.\n", if_revision=now[:12]).revision
        with pytest.raises(RevisionMismatch):
            book.forget("k", purge=True, if_revision="0" * 12)
        assert book.forget("k", if_revision=now[:12]).action == "forgotten"


def test_if_revision_compares_and_swaps(root: Path) -> None:
    """A write that names a revision happens only if the memory is still at it."""
    with open_book(root) as book:
        first = book.store("One.", key="k")
        second = book.store("Two.", key="k", if_revision=first.revision)
        for mode in ("append", "replace"):
            with pytest.raises(RevisionMismatch):
                book.store("Three.", key="k", mode=mode, if_revision=first.revision)
        with pytest.raises(RevisionMismatch):
            book.store("Two.", key="k", if_revision=first.revision)
        with pytest.raises(RevisionMismatch):
            book.forget("k", if_revision=first.revision)
        with pytest.raises(RevisionMismatch):
            book.store("x", key="not-there", if_revision=first.revision)
        assert book.forget("k", if_revision=second.revision).action == "forgotten"


def test_a_decision_updates_or_supersedes(root: Path) -> None:
    """update:KEY appends to that memory, supersede:KEY links the new one to it and sinks it; others are refused."""
    with open_book(root) as book:
        book.store("Staging listens on port 5432.", key="old")
        assert book.store("Staging is slow.", decision="update:old").key == "old"
        new = book.store("Staging listens on port 6000.", key="new", decision="supersede:old")
        assert new.action == "created" and book.show("old").meta.status.value == "superseded"
        assert [(link.rel, link.to) for link in book.show("new").meta.links] == [("supersedes", "old")]
        assert keys(book, "staging port")[0] == "new"
        for bad in ("merge:old", "update:", "supersede", "delete:old"):
            with pytest.raises(InvalidField):
                book.store("x", decision=bad)
        with pytest.raises(NotFound):
            book.store("x", key="x", decision="supersede:not-there")
        with pytest.raises(NotFound):
            book.store("x", decision="update:not-there")
        with pytest.raises(InvalidField):
            book.store("x", key="other", decision="update:old")
        with pytest.raises(InvalidField):
            book.store("x", key="old", decision="supersede:old")
        assert "x" not in [item.key for item in book.list()]
        book.undo("old")
        assert book.show("old").meta.status.value == "active" and len(book.show("old").entries) == 2


def test_a_decision_goes_where_the_memory_is(root: Path) -> None:
    """Without a scope, an update or a successor goes to the scope of the memory that the decision names."""
    with open_book(root) as book:
        book.store("Ann lives in Graz.", key="home", scope="global")
        assert book.store("Ann lives near the river.", decision="update:home").scope == "global"
        moved = book.store("Ann lives in Linz.", decision="supersede:home")
        assert (moved.scope, moved.action) == ("global", "created")
        assert book.show("home").meta.status.value == "superseded"
        assert [item.key for item in book.similar("Ann lives in Linz")] == [moved.key]


def test_a_book_of_labelled_memories_offers_the_right_one(root: Path) -> None:
    """Among many memories the one that says the same, or otherwise, is offered; one topic and two facts is not."""
    pairs = load()
    with open_book(root) as book:
        stored = book.store_many(
            {"content": text, "key": f"k{n}"} for n, text in enumerate({pair.one for pair in pairs})
        )
        known = {book.show(item.key).entries[0].text: item.key for item in stored}
        offers = [(pair.label, known[pair.one], book.similar(pair.other)) for pair in pairs]
    wanted = [(key, found) for label, key, found in offers if label != "different"]
    hits = sum(any(item.key == key for item in found) for key, found in wanted)
    wrong = sum(item.key != key for key, found in wanted for item in found)
    assert hits / len(wanted) >= 0.9
    assert wrong <= 10  # two wordings of one subject are in the book
    assert sum(bool(found) for label, _, found in offers if label == "different") <= 5


def test_similar_names_what_says_nearly_the_same(root: Path) -> None:
    """A near duplicate is stored and named with its scope, a contradiction as one; the memory itself is not named."""
    with open_book(root) as book:
        book.store("Integration tests need the --slow flag.", key="slow", scope="global")
        near = book.store("integration tests need the slow flag", key="slow")
        assert [(item.key, item.scope) for item in near.similar] == [("slow", "global")]
        assert book.similar("Integration tests have no need of the --slow flag!")[0].relation == "contradicts"
        denied = book.store("Integration tests do not need the --slow flag.", key="fast")
        assert {(item.key, item.relation) for item in denied.similar} == {("slow", "contradicts")}
        assert book.store("Integration tests write their results to a folder.").similar == ()
        alone = book.store("A fact about horses alone.")
        assert alone.similar == () and book.store("A fact about horses alone.").similar == ()


def test_forget_and_restore_are_byte_for_byte(root: Path) -> None:
    """A forgotten memory is found no more and comes back as it was; twice, or over another one, is an error."""
    with open_book(root) as book:
        path = root / book.store("One.", key="k", tags=["t"]).path.lstrip("/")
        data = path.read_bytes()
        assert book.forget("k").action == "forgotten"
        assert not path.exists() and keys(book, "one") == [] and book.list() == []
        assert [item.action for item in book.history("k")] == ["forgotten"]
        with pytest.raises(NotFound):
            book.forget("k")
        assert book.restore("k").action == "restored"
        assert path.read_bytes() == data and keys(book, "one") == ["k"]
        book.forget("k")
        book.store("Two.", key="k")
        with pytest.raises(AlreadyExists):
            book.restore("k")
        assert book.verify().ok


def test_clear_forgets_one_scope(root: Path) -> None:
    """Clear takes everything of one scope to the trash, hidden ones too, and nothing of another."""
    with open_book(root, session="s") as book:
        for number in range(25):
            book.store(f"Fact {number}.", key=f"fact-{number}", scope="session")
        book.consolidate(["fact-1", "fact-2"], "Facts.", key="facts", scope="session")
        book.store("Stays.", key="stays")
        assert book.clear("session") == 26 and book.clear("session") == 0
        assert [item.key for item in book.list(hidden=True)] == ["stays"]
        assert book.restore("fact-7").scope == "session"
        assert book.verify().ok


@pytest.mark.parametrize("forgotten", [False, True])
def test_purge_leaves_the_id_and_nothing_else(root: Path, forgotten: bool) -> None:
    """After a purge the text is in no file under the root, databases and logs included; a tombstone has the id."""
    with open_book(root) as book:
        book.store("Horses are fine.", key="horses")
        book.store(ODD, key="odd", tags=["quaggatag"], summary="Quaggasummary of it")
        ident = book.show("odd").meta.id
        book.store(f"More: {ODD}", key="odd")
        book.store("Quaggalast.", key="odd", mode="replace")
        assert keys(book, "quaggalast") == ["odd"] and keys(book, "horses") == ["horses"]
        if forgotten:
            book.forget("odd")
        assert book.forget("odd", purge=True).action == "purged"
        assert {hit.key for hit in book.recall("quagga facts").hits} == {"horses"}
        assert texts(book, "quagga", as_of="2100-01-01") == []
        with pytest.raises(NotFound):
            book.restore("odd")
        with pytest.raises(NotFound):
            book.history("odd")
        assert book.verify().ok
    for words in (ODD, "uagga", "quaggatag", ident):
        assert [name for name in holds(root, words) if "tombstones" not in name] == [], words
    stone = root / ".commonplace" / "tombstones" / ident
    assert stone.read_bytes() == b""
    with open_book(root) as book:
        assert keys(book, "horses") == ["horses"]


def test_consolidate_makes_one_of_several(root: Path) -> None:
    """The new memory links to the old ones, which are superseded, sink in recall, and can be made to stand again."""
    with open_book(root) as book:
        book.store("Staging runs on host alpha.", key="host")
        book.store("Staging listens on port 6000.", key="port")
        new = book.consolidate(["host", "port", "host"], "Staging: host alpha, port 6000.", key="staging")
        assert (new.action, new.key) == ("consolidated", "staging")
        assert {(link.rel, link.to) for link in book.show("staging").meta.links} == {
            ("supersedes", "host"), ("supersedes", "port"),
        }  # fmt: skip
        assert keys(book, "staging port 6000")[0] == "staging" and "port" in keys(book, "staging port 6000")
        assert [item.key for item in book.list()] == ["staging"]
        assert {item.key for item in book.related("staging")} == {"host", "port"}
        assert [item.action for item in book.history("host")] == ["superseded", "current"]
        assert book.undo("host").action == "undone"
        assert [item.key for item in book.list()] == ["host", "staging"]
        with pytest.raises(InvalidField):
            book.consolidate(["host"], "x")
        with pytest.raises(NotFound):
            book.consolidate(["host", "not-there"], "x", key="x")
        assert "x" not in [item.key for item in book.list(hidden=True)] and book.verify().ok


def test_store_many_writes_all_or_nothing(root: Path) -> None:
    """Many are answered in their order, over several scopes; one that cannot be stored stops all of them."""
    with open_book(root, session="s") as book:
        items: Any = [
            {"content": f"Fact {n}.", "scope": ("session", "global")[n % 2], "key": f"f-{n}"} for n in range(9)
        ]
        answers = book.store_many(items)
        assert [answer.key for answer in answers] == [f"f-{n}" for n in range(9)]
        assert book.store_many([{"content": "Same."}, {"content": "Same."}])[1].action == "unchanged"
        before = files(root, databases=False)
        fine: Any = {"content": "Fine.", "scope": "global", "key": "fine"}
        for name, bad in BAD_ITEMS:
            with pytest.raises(CommonplaceError):
                book.store_many([fine, {"content": "x", "scope": "session", name: bad}])  # type: ignore[misc]
        with pytest.raises(InvalidField):
            book.store_many([fine, {"key": "x"}])  # type: ignore[typeddict-item]
        assert files(root, databases=False) == before
