"""A note in which git left two texts is named, kept, not shown and not written to; a note about git is a note."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import NoteInConflict
from commonplace.text.notes import IN_CONFLICT, parse
from tests.book.opened import files, open_book
from tests.cli.calls import run

OLD = "The heron nests by the weir."
MARKS = "<<<<<<< HEAD\nThe heron nests by the mill.\n=======\nThe heron nests by the lock.\n>>>>>>> origin/main\n"


@pytest.fixture
def note(root: Path) -> Path:
    """A note that a merge left in conflict, after an agent's store."""
    with open_book(root) as book:
        book.store(OLD, key="heron", scope="global")
        book.store("Otters are shy.", key="otter", scope="global")
        book.list()
    path = root / "memories" / "global" / "heron.md"
    path.write_text(path.read_text("utf-8").replace(f"{OLD}\n", MARKS), "utf-8")
    return path


def test_neither_text_of_a_conflict_is_shown(root: Path, note: Path) -> None:
    """Recall, list, brief, pages, files and the timeline give neither of the two texts, nor a mark; show says what is
    the matter; what the note said before is in the history."""
    with open_book(root, agent="ada", role="agent") as book:
        answers = [
            str(book.recall("where does the heron nest")), str(book.recall("")), str(book.list()), str(book.brief()),
            str(book.timeline()), book.page("/memories/global/heron.md"),
            str(book.read_memory("/memories/global/heron.md")),
        ]  # fmt: skip
        assert not [answer for answer in answers if "<<<<" in answer or "mill" in answer or "lock" in answer]
        assert [item.summary for item in book.list() if item.key == "heron"] == [IN_CONFLICT]
        with pytest.raises(NoteInConflict):
            book.show("heron")
        assert [item.action for item in book.history("heron", "global")] == ["edited"]
    with open_book(root) as book:
        assert book.verify().differences == ()


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_a_note_in_conflict_is_not_written_to(root: Path, note: Path, mode: str) -> None:
    """A store onto a note in conflict is refused with a code of its own, and changes nothing of it."""
    before = note.read_bytes()
    outcome = run(
        "store", "It left.", "--key", "heron", "--scope", "global", "--mode", mode, "--root", str(root), "--json"
    )
    assert outcome.status == NoteInConflict.exit_code and "note_in_conflict" in outcome.err + outcome.out
    with open_book(root) as book, pytest.raises(NoteInConflict):
        book.link("heron", "relates_to", "otter", "global")
    assert note.read_bytes() == before


def test_doctor_names_a_note_in_conflict(root: Path, note: Path) -> None:
    """Doctor names the note as an error, and nothing else about it."""
    with open_book(root) as book:
        found = [(item.code, item.severity) for item in book.doctor() if item.path == "/memories/global/heron.md"]
    assert found == [("merge_conflict", "error")]


@pytest.mark.parametrize("way", ["by hand", "edit", "undo", "forget"])
def test_the_ways_out_of_a_conflict(root: Path, note: Path, way: str) -> None:
    """A person resolves it in the file or through `edit`, takes the merge back, or forgets it; every text stays."""
    with open_book(root) as book:
        data, revision = book.source("heron", "global")
        assert data == note.read_bytes()
        mended = data.decode().replace(MARKS, "The heron nests by the mill.\n")
        if way == "by hand":
            note.write_text(mended, "utf-8")
        elif way == "edit":
            with pytest.raises(NoteInConflict):
                book.edit("heron", data + b"\nmore\n", "global")
            book.edit("heron", mended.encode(), "global", if_revision=revision)
        elif way == "undo":
            book.undo("heron", "global")
        else:
            book.forget("heron", "global")
        if way == "forget":
            assert "heron" not in [hit.key for hit in book.recall("heron").hits]
            book.restore("heron", "global")
            assert note.read_bytes() == data
        else:
            said = OLD if way == "undo" else "The heron nests by the mill."
            assert [entry.text for entry in book.show("heron", "global").entries] == [said]
            assert said in [hit.text for hit in book.recall("where does the heron nest").hits]
            book.store("It left.", key="heron", scope="global")
        assert book.verify().differences == ()
        book.reindex()
        assert book.verify().differences == ()
    assert any(OLD.encode() in data for data in files(root, databases=False).values())


@pytest.mark.parametrize(
    "text",
    [
        MARKS,
        f"Git shows:\n{MARKS}Then run git mergetool.",
        f"\\{MARKS}",
        "<<<<<<< HEAD",
        ">>>>>>> main",
        f"```\n{MARKS}```",
    ],
)
def test_a_text_about_conflicts_is_stored_like_any_other(root: Path, text: str) -> None:
    """Text that an agent stores is never taken for a conflict, whatever it quotes, and comes back as it was given."""
    with open_book(root) as book:
        book.store(text, key="git", scope="global")
        book.store(f"{text}\nAgain.", key="git", scope="global", tags=["git"])
        book.store("More.", key="git", scope="global")
        assert [entry.text for entry in book.show("git").entries] == [text, f"{text}\nAgain.", "More."]
        assert book.verify().differences == ()


@pytest.mark.parametrize(
    "text",
    [
        f"Git shows:\n\n```text\n{MARKS}```\n",
        f"~~~~\n{MARKS}~~~~\n",
        f"```\n{MARKS}",  # a code block that is never closed
        "".join(f"    {line}\n" for line in MARKS.split("\n")),
        "".join(f"> {line}\n" for line in MARKS.split("\n")),
        "<<<<<<< is what git writes, then ======= and >>>>>>>\n",
        "A heading\n=======\n\n>>>>>>> quoted\n",
    ],
)
def test_a_file_about_conflicts_is_no_conflict(root: Path, text: str) -> None:
    """What a person writes about conflicts in a code block, indented, quoted or within a line is served as text."""
    with open_book(root) as book:
        book.list()
        (root / "memories" / "global" / "git.md").write_text(text, "utf-8")
        assert book.show("git").entries[0].text == text.strip("\r\n")
        book.store("More.", key="git", scope="global")
        assert not [item for item in book.doctor() if item.code == "merge_conflict"]


_LINES = ["a", "", "=======", "```", "~~~", "|||||||", "## 2026-11-15T09:30:00Z", "<!-- entry id=1 -->"]
_side = st.lists(st.sampled_from(["a", "b", "", "text", "## 2026-11-15T09:30:00Z", "<!-- entry id=1 -->"]), max_size=3)


@given(st.lists(st.sampled_from(_LINES[:3] + _LINES[6:])), _side, _side, st.sampled_from(["\n", "\r\n"]))
def test_every_conflict_outside_code_is_seen(above: list[str], ours: list[str], theirs: list[str], eol: str) -> None:
    """Whatever stands above and in the two sides, what git writes for a conflict is seen, its bytes stay, and no text
    of it is given."""
    lines = [*above, "<<<<<<< HEAD", *ours, "=======", *theirs, ">>>>>>> 1234567 (subject)", "below"]
    note = parse(eol.join(lines).encode())
    assert note.in_conflict and note.entries == () and note.hand_text == ""
    assert note.render() == eol.join(lines).encode()
