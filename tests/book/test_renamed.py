"""A note whose file was renamed by hand keeps its history: history, undo and purge follow it by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import NotFound
from tests.book.opened import holds, open_book
from tests.depth import examples

FIRST, SECOND = "The heron nests by the weir.", "The heron nests by the mill."


def rename(root: Path, old: str, new: str, scope: str = "global", to: str | None = None) -> None:
    """Rename the file of a memory, as `mv` or `git mv` does."""
    path = root / "memories" / (to or scope) / f"{new}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    (root / "memories" / scope / f"{old}.md").rename(path)


@pytest.mark.parametrize("new", ["bird", "birds/heron"])
@pytest.mark.parametrize("taken", [False, True])
def test_a_renamed_note_keeps_its_history(root: Path, new: str, taken: bool) -> None:
    """History names the texts from before the rename, undo brings them back, and a purge leaves nothing of them, though
    another memory may have the old key by now, which stays whole."""
    with open_book(root) as book:
        book.store(FIRST, key="heron", scope="global")
        book.store(SECOND, key="heron", scope="global", mode="replace")
        rename(root, "heron", new)
    with open_book(root) as book:
        if taken:
            book.context.memories.clock = lambda: "2027-01-01T00:00:00Z"  # another memory, made at another time
            book.store("A street.", key="heron", scope="global")
            book.store("A street in town.", key="heron", scope="global", mode="replace")
        assert [item.action for item in book.history(new, "global")] == ["replaced", "current"]
        book.undo(new, "global")
        assert [entry.text for entry in book.show(new, "global").entries] == [FIRST]
        assert [item.action for item in book.history(new, "global")] == ["replaced", "undone", "current"]
        book.undo(new, "global")
        assert [entry.text for entry in book.show(new, "global").entries] == [SECOND]
        assert book.verify().differences == ()
        book.forget(new, "global", purge=True)
        assert holds(root, FIRST) == holds(root, SECOND) == []
        if taken:
            assert len(book.history("heron", "global")) == 2
        assert book.verify().differences == ()


def test_a_purge_follows_a_note_through_scopes(root: Path) -> None:
    """Of a note that was moved to another scope by hand, a purge leaves nothing in the history of the old scope."""
    with open_book(root) as book:
        book.store(FIRST, key="heron", scope="project")
        book.store(SECOND, key="heron", scope="project", mode="replace")
        book.store("Another matter.", key="other", scope="project")
        (folder,) = (root / "memories" / "project").glob("app-*")
        rename(root, "heron", "bird", f"project/{folder.name}", to="global")
    with open_book(root) as book:
        assert [item.key for item in book.recall("where does the heron nest", scope="global").hits] == ["bird"]
        book.forget("bird", "global", purge=True)
        assert holds(root, FIRST) == holds(root, SECOND) == []
        assert book.verify().differences == ()


def test_a_note_moved_between_two_looks_is_never_in_one_file_alone(root: Path) -> None:
    """A note that was moved to another scope is known there as soon as it is missed at its old place: if it is deleted
    there before anybody asks for that scope, its text is in the history."""
    with open_book(root) as book:
        book.store("Another matter.", key="other", scope="global")
        book.store(FIRST, key="heron", scope="project")
        (folder,) = (root / "memories" / "project").glob("app-*")
        rename(root, "heron", "heron", f"project/{folder.name}", to="global")
    with open_book(root) as book:
        book.list(scope="project")  # which looks at no other scope
        (root / "memories" / "global" / "heron.md").unlink()
    with open_book(root) as book:
        book.list()
        assert holds(root, FIRST) != []
        assert book.restore("heron", "global").key == "heron"


@examples(40, quick=12)
@given(steps=st.lists(st.sampled_from(["rename", "replace", "append", "undo"]), min_size=2, max_size=8))
def test_nothing_is_left_of_a_note_with_many_names(steps: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """After any sequence of renames and changes, history still has every text that was replaced, and a purge leaves no
    text of the note in any file, databases included."""
    root = tmp_path_factory.mktemp("names") / "book"
    names, said = ["note-0"], ["Saying number 0 of a heron."]
    with open_book(root) as book:
        book.store(said[0], key="note-0", scope="global")
        for step in steps:
            if step == "rename":
                names.append(f"note-{len(names)}")
                rename(root, names[-2], names[-1])
            elif step == "undo":
                if len(book.history(names[-1], "global")) > 1:
                    book.undo(names[-1], "global")
            else:
                said.append(f"Saying number {len(said)} of a heron.")
                book.store(said[-1], key=names[-1], scope="global", mode=step)
        versions = [*book.history(names[-1], "global")]
        kept = b"".join((root / item.path.lstrip("/")).read_bytes() for item in versions)
        assert [text for text in said if text.encode() not in kept] == []
        assert book.verify().differences == ()
        book.forget(names[-1], "global", purge=True)
        assert [text for text in said if holds(root, text)] == []
        with pytest.raises(NotFound):
            book.history(names[-1], "global")
