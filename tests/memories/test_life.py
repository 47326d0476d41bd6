"""The life of a memory: stored, corrected, undone, forgotten, restored, purged, and what the files then say."""

from __future__ import annotations

import pytest

from commonplace.index.sqlite import SqliteIndex
from commonplace.memories import history, lifecycle, purge
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import (
    AlreadyExists,
    Conflict,
    InvalidKey,
    InvalidPath,
    NotFound,
    OutsideView,
    RevisionMismatch,
)
from commonplace.model.memory import Entry, MemoryType, Trust
from commonplace.model.scope import LOCAL
from commonplace.text.notes import parse
from commonplace.vault.paths import EVERYTHING, KEEPER, BookPath, view_of
from commonplace.vault.port import Delete, Write
from tests.memories.reading import page_faults

FOLDER = BookPath("memories", "global")


def say(
    keep: MemoryStore, key: str, text: str, labels: lifecycle.Labels | None = None, **options: str
) -> lifecycle.ChangeResult:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        kept = lifecycle.store(unit, key, Entry("", text, trust=Trust.AGENT), labels or lifecycle.Labels(), **options)
        unit.commit()
    return kept


def texts(keep: MemoryStore, key: str) -> list[str]:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        return [entry.text for entry in unit.get(key).note.entries]


def do(keep: MemoryStore, verb: str, key: str, *arguments: object) -> lifecycle.ChangeResult:
    with keep.unit(FOLDER, EVERYTHING) as unit:
        kept: lifecycle.ChangeResult = getattr(purge if verb == "purge" else lifecycle, verb)(unit, key, *arguments)
        unit.commit()
    return kept


def rewrite(keep: MemoryStore, key: str, text: str) -> lifecycle.ChangeResult:
    return do(keep, "rewrite", key, [Entry("", text, trust=Trust.HUMAN)], lifecycle.Labels(), "ann")


def page(keep: MemoryStore) -> str:
    return keep.vault.read(LOCAL, KEEPER, FOLDER / "index.md").data.decode()


def test_a_store_creates_and_the_next_appends(keep: MemoryStore) -> None:
    """A key's first store makes the memory, later ones add entries below, and the page names it once."""
    assert say(keep, "build", "Use make.").action == "created"
    assert say(keep, "build", "Use two jobs.").action == "appended"
    assert texts(keep, "build") == ["Use make.", "Use two jobs."]
    assert page(keep).count("](build.md)") == 1


def test_labels_replace_and_tags_unite(keep: MemoryStore) -> None:
    """What a store says about type and summary replaces what was there; tags are added to those that are there."""
    say(keep, "build", "Use make.", lifecycle.Labels(type=MemoryType.REFERENCE, tags=("a", "b"), summary="Old"))
    say(keep, "build", "Use ninja.", lifecycle.Labels(type=MemoryType.FEEDBACK, tags=("b", "c"), summary="New"))
    with keep.unit(FOLDER, EVERYTHING) as unit:
        meta = unit.get("build").note.meta
    assert (meta.type, meta.tags, meta.summary) == (MemoryType.FEEDBACK, ("a", "b", "c"), "New")
    assert ": New" in page(keep)
    assert ": Old" not in page(keep)


def test_an_append_leaves_the_earlier_bytes_alone(keep: MemoryStore) -> None:
    """Appending changes the frontmatter's `updated` and adds at the end: the body above stays as it was."""
    say(keep, "build", "Use make.")
    before = keep.vault.read(LOCAL, KEEPER, FOLDER / "build.md").data.split(b"---\n", 2)[2]
    say(keep, "build", "Use two jobs.")
    after = keep.vault.read(LOCAL, KEEPER, FOLDER / "build.md").data.split(b"---\n", 2)[2]
    assert after.startswith(before)


def test_a_rewrite_puts_the_old_text_aside(keep: MemoryStore) -> None:
    """Replacing keeps the file as it was, byte for byte, in the history, with who and why in its name."""
    say(keep, "build", "Use make.")
    old = keep.vault.read(LOCAL, KEEPER, FOLDER / "build.md").data
    rewrite(keep, "build", "Use ninja.")
    (aside,) = history.list_past(keep.files, history.HISTORY, FOLDER, "build")
    assert keep.vault.read(LOCAL, KEEPER, aside.path).data == old
    assert (aside.action, aside.who) == ("replaced", "ann")
    assert texts(keep, "build") == ["Use ninja."]


def test_undo_takes_back_an_append_then_a_rewrite(keep: MemoryStore) -> None:
    """Undo goes back one change at a time: first the entry that was added, then what was replaced."""
    say(keep, "build", "Use make.")
    rewrite(keep, "build", "Use ninja.")
    say(keep, "build", "With two jobs.")
    do(keep, "undo", "build", "ann")
    assert texts(keep, "build") == ["Use ninja."]


def test_undo_can_be_undone(keep: MemoryStore) -> None:
    """What an undo takes away is put aside too, so undoing again brings it back."""
    say(keep, "build", "Use make.")
    rewrite(keep, "build", "Use ninja.")
    do(keep, "undo", "build", None)
    assert texts(keep, "build") == ["Use make."]
    do(keep, "undo", "build", None)
    assert texts(keep, "build") == ["Use ninja."]


def test_there_is_nothing_to_undo_in_a_new_memory(keep: MemoryStore) -> None:
    """Undo of a memory that was never changed is an error that says so, and changes nothing."""
    say(keep, "build", "Use make.")
    with pytest.raises(Conflict):
        do(keep, "undo", "build", None)
    assert texts(keep, "build") == ["Use make."]


def test_forget_and_restore_give_the_same_bytes(keep: MemoryStore) -> None:
    """A forgotten memory leaves folder and page, waits in the trash, and comes back byte for byte."""
    say(keep, "build", "Use make.")
    before = keep.vault.read(LOCAL, KEEPER, FOLDER / "build.md").data
    do(keep, "forget", "build", "ann")
    assert keep.vault.stat(LOCAL, KEEPER, FOLDER / "build.md") is None
    assert "build.md" not in page(keep)
    do(keep, "restore", "build")
    assert keep.vault.read(LOCAL, KEEPER, FOLDER / "build.md").data == before
    assert "](build.md)" in page(keep)
    assert history.list_past(keep.files, history.TRASH, FOLDER, "build") == []


def test_restore_never_overwrites(keep: MemoryStore) -> None:
    """A key that is taken again is not replaced by what is in the trash; both texts are still there."""
    say(keep, "build", "Use make.")
    do(keep, "forget", "build", None)
    say(keep, "build", "Use ninja.")
    with pytest.raises(AlreadyExists):
        do(keep, "restore", "build")
    assert texts(keep, "build") == ["Use ninja."]
    assert len(history.list_past(keep.files, history.TRASH, FOLDER, "build")) == 1


def test_purge_leaves_only_the_id(keep: MemoryStore) -> None:
    """After a purge the text is nowhere in the book, and an empty tombstone holds the id."""
    say(keep, "build", "The word is xyzzy.")
    rewrite(keep, "build", "The word was xyzzy.")
    with keep.unit(FOLDER, EVERYTHING) as unit:
        ident = unit.get("build").note.meta.id
    do(keep, "forget", "build", None)
    do(keep, "purge", "build")
    stone = history.tombstone(ident)
    assert stone is not None
    assert keep.vault.read(LOCAL, KEEPER, stone).data == b""
    assert history.list_past(keep.files, history.HISTORY, FOLDER, "build") == []
    assert history.list_past(keep.files, history.TRASH, FOLDER, "build") == []
    with pytest.raises(NotFound):
        do(keep, "purge", "build")


def test_a_write_may_name_the_revision_it_read(keep: MemoryStore) -> None:
    """Compare-and-swap: the revision that was read succeeds once, and is refused after somebody else wrote."""
    first = say(keep, "build", "Use make.")
    say(keep, "build", "Use two jobs.", if_revision=first.revision)
    with pytest.raises(RevisionMismatch):
        say(keep, "build", "Use four jobs.", if_revision=first.revision)
    assert texts(keep, "build") == ["Use make.", "Use two jobs."]


def test_several_stores_in_one_unit_are_one_write(keep: MemoryStore) -> None:
    """What is staged twice under one key is both there after one commit."""
    with keep.unit(FOLDER, EVERYTHING) as unit:
        for text in ("one", "two", "three"):
            lifecycle.store(unit, "count", Entry("", text, trust=Trust.AGENT), lifecycle.Labels())
        unit.commit()
    assert texts(keep, "count") == ["one", "two", "three"]


def test_a_unit_that_is_not_committed_changes_nothing(keep: MemoryStore) -> None:
    """Staging alone leaves no file behind."""
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.store(unit, "build", Entry("", "Use make.", trust=Trust.AGENT), lifecycle.Labels())
    assert keep.vault.stat(LOCAL, KEEPER, FOLDER / "build.md") is None


def test_a_hand_written_file_keeps_its_text(keep: MemoryStore) -> None:
    """A store to a file that a person wrote adds an entry below and the frontmatter it lacks; their words stay."""
    theirs = b"---\nmood: good # today\n---\n\nI always use tabs.\n"
    keep.vault.apply(LOCAL, KEEPER, [Write(FOLDER / "My Habits.md", theirs)])
    with keep.unit(FOLDER, EVERYTHING) as unit:
        lifecycle.store(unit, "My Habits", Entry("", "Four wide.", trust=Trust.AGENT), lifecycle.Labels())
        unit.commit()
    data = keep.vault.read(LOCAL, KEEPER, FOLDER / "My Habits.md").data
    assert b"mood: good # today\n" in data
    assert [(entry.trust, entry.text) for entry in parse(data).entries] == [
        (Trust.HUMAN, "I always use tabs."),
        (Trust.AGENT, "Four wide."),
    ]


@pytest.mark.parametrize("key", ["", "Upper", "a b", "../x", "a/../b", "index", "_x", "con", "a" * 61, "a/b/c/d/e"])
def test_keys_we_make_are_strict(keep: MemoryStore, key: str) -> None:
    """A memory is never created under a key that some system or the book itself would misread."""
    with pytest.raises((InvalidKey, InvalidPath)):
        say(keep, key, "text")
    listed = keep.vault.list_folder(LOCAL, KEEPER, BookPath())
    assert "memories" not in [item.name for item in listed]


def test_a_view_decides_what_a_unit_may_change(keep: MemoryStore) -> None:
    """A caller whose view may only read a scope is refused before anything is written."""
    say(keep, "build", "Use make.")
    reader = view_of(frozenset({FOLDER}), frozenset())
    with pytest.raises(OutsideView), keep.unit(FOLDER, reader) as unit:
        lifecycle.store(unit, "build", Entry("", "Use ninja.", trust=Trust.AGENT), lifecycle.Labels())
    assert texts(keep, "build") == ["Use make."]


def test_another_process_is_seen(keep: MemoryStore) -> None:
    """What a second keep on the same vault wrote is on the pages that the first writes next."""
    other = MemoryStore(keep.vault, SqliteIndex(":memory:"))
    say(keep, "one", "First.")
    say(other, "two", "Second.")
    say(keep, "three", "Third.")
    assert all(f"]({name}.md)" in page(keep) for name in ("one", "two", "three"))
    assert page_faults(keep, FOLDER) == []


def test_a_file_that_was_deleted_outside_leaves_the_page(keep: MemoryStore) -> None:
    """After reconcile no page names what a person has removed, and what they added is named."""
    say(keep, "build", "Use make.")
    keep.vault.apply(LOCAL, KEEPER, [Write(FOLDER / "by-hand.md", b"Written in an editor.\n")])
    keep.vault.apply(LOCAL, KEEPER, [Delete(FOLDER / "build.md")])
    keep.reconcile(FOLDER)
    assert "build.md" not in page(keep)
    assert "- [by-hand](by-hand.md): Written in an editor.\n" in page(keep)
