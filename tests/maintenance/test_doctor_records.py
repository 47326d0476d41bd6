"""What doctor finds where files and what is recorded of them differ."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from commonplace.model.results import Finding
from commonplace.model.scope import LOCAL
from tests.book.opened import open_book, tick
from tests.maintenance.doctor_cases import codes, examined, flip, found, note, places, refuse, whole


def test_flipped_bytes_are_found(root: Path) -> None:
    """One flipped bit in each of 30 of 60 notes, wherever in the file, is found: 30 of 30, and no other note."""
    rnd = random.Random(15)
    with open_book(root) as book:
        book.store_many({"content": f"Number {n}: " + "words " * 40, "key": f"n{n}"} for n in range(60))
        paths = {item.key: item.path for item in book.list()}
    chosen = rnd.sample(sorted(paths), 30)
    for key in chosen:
        file = root / paths[key][1:]
        flip(file, rnd.randrange(file.stat().st_size))
    with open_book(root) as book:
        rotten = found(book, "bit_rot")
        assert sorted(finding.path for finding in rotten) == sorted(paths[key] for key in chosen)
        assert {finding.severity for finding in rotten} == {"error"} and places(book, "index_differs") == []


def test_bit_rot_is_still_found_after_others_looked(root: Path) -> None:
    """Reading, listing, writing another memory of the scope and a new index do not hide the damage."""
    with open_book(root) as book:
        book.store("Words about zebras.", key="rotten", scope="global")
        flip(root / "memories/global/rotten.md", -3 + (root / "memories/global/rotten.md").stat().st_size)
        book.list()
        book.recall("zebras")
        book.store("Others.", key="other", scope="global")
        assert places(book, "bit_rot") == ["/memories/global/rotten.md"]
        book.reindex()
        assert places(book, "bit_rot") == ["/memories/global/rotten.md"]


def test_a_note_that_was_edited_is_not_rotten(root: Path) -> None:
    """A note that a person changed, which its time tells, is no bit rot."""
    with open_book(root) as book:
        book.store("Words.", key="words", scope="global")
        path = root / "memories/global/words.md"
        path.write_bytes(path.read_bytes().replace(b"Words.", b"Birds."))
        os.utime(path, (1, 1))
        assert places(book, "bit_rot") == []


def test_flipped_bytes_in_history_and_trash_are_found(root: Path) -> None:
    """The name of a text that was put aside says its revision: a flipped bit in one is found."""
    with open_book(root) as book:
        book.store("Before.", key="kept", scope="global")
        book.store("After.", key="kept", scope="global", mode="replace")
        book.store("Gone.", key="gone", scope="global")
        book.forget("gone", scope="global")
        book.store("Back.", key="back", scope="global")
        book.forget("back", scope="global")
        book.restore("back", scope="global")
        assert book.doctor() == []
        files = [path for place in ("history", "trash") for path in (root / ".commonplace" / place).rglob("*.md")]
        chosen = [path for path in files if path.parent.name in ("kept", "gone")]
        for path in chosen:
            flip(path, 40)
        assert len(chosen) == 2
        assert places(book, "bit_rot") == sorted(f"/{path.relative_to(root).as_posix()}" for path in chosen)


def test_an_index_that_says_something_else(root: Path) -> None:
    """A row that is not what the file says is an error, and reindex mends it."""
    with open_book(root) as book:
        book.store("Words.", key="words", scope="global")
        with book.context.memories.index.transaction(LOCAL) as index:
            row, looks = index.get("/memories/global", "words"), index.stat_signatures("/memories/global")["words"]
            assert row is not None and looks is not None
            index.put(row._replace(summary="Other words."))
            index.record_stat("/memories/global", "words", looks)
        (finding,) = found(book, "index_differs")
        assert (finding.path, finding.severity) == ("/memories/global", "error")
        assert finding.message == "The index has another words." and "commonplace doctor reindex" in finding.hint
        book.reindex()
        assert book.doctor() == []


def test_a_page_that_says_something_else(root: Path) -> None:
    """A note that no page names yet, and a page's line for a note that went, are found; reindex mends both."""
    with open_book(root) as book:
        book.store("Words.", key="words", scope="global")
        page = root / "memories/global/index.md"
        before = page.read_bytes()
        (root / "memories/global/words.md").unlink()
        note(root, "global/hand.md", "By hand.\n")
        book.verify()  # which saves what the note said, and mends the page
        page.write_bytes(before)
        said = [finding.message for finding in found(book, "page_differs")]
        assert said == ["A page names words.md, which is not there.", "No page names hand.md."]
        book.reindex()
        assert book.doctor() == []


def test_a_scope_that_cannot_be_compared(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is named, and the rest of its scope is compared, as the others are."""
    with open_book(root) as book:
        book.store("Words.", key="people/alice", scope="global")
        for scope in ("global", "team"):
            note(root, f"{scope}/hand.md", "By hand.\n")
        refuse(monkeypatch, "people")
        assert places(book, "unreadable") == ["/memories/global/people"]
        assert places(book, "not_compared") == [] and places(book, "index_differs") == []
        assert places(book, "page_differs") == ["/memories/global", "/memories/team"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "missing"),
        ("---\nscope: project\n---\n", "missing"),
        ("---\nscope: project\nid: github.com/acme/other\n---\n", "None of the ids"),
        ("---\nscope: agent\nid: github.com/acme/app\n---\n", "names the scope 'agent'"),
        ("\n", "missing"),
    ],
)
def test_a_scope_page_that_is_missing_or_wrong(root: Path, text: str | None, said: str) -> None:
    """`_scope.md` must be there and name an id to which the folder's name belongs."""
    with open_book(root) as book:
        folder = root / Path(book.store("Words.", key="words").path[1:]).parent
    page = folder / "_scope.md"
    if text is None:
        page.unlink()
    else:
        page.write_text(text, "utf-8")
    (finding,) = [finding for finding in examined_as_nobody(root) if finding.code == "scope_page"]
    assert finding.path == f"/{page.relative_to(root).as_posix()}" and said in finding.message


def test_a_scope_page_after_a_rename(root: Path) -> None:
    """A folder whose name comes from an alias is in order, and so is one named for its id, without a page."""
    with open_book(root, agent="reviewer") as book:
        folder = root / Path(book.store("Words.", key="words").path[1:]).parent
        book.store("Words.", key="words", scope="agent")
    page = "---\nscope: project\nid: github.com/acme/new\naliases: [github.com/acme/app]\n---\n"
    (folder / "_scope.md").write_text(page, "utf-8")
    assert "scope_page" not in codes(root) and not (root / "memories/agent/reviewer/_scope.md").exists()


def examined_as_nobody(root: Path) -> list[Finding]:
    """Opened without a project: a broken `_scope.md` may keep its project from being opened."""
    with open_book(root, project=None) as book:
        return list(book.doctor())


def test_settings_that_cannot_be_used(root: Path) -> None:
    """A config.toml that was broken since the book was opened is an error that names the setting."""
    with open_book(root) as book:
        config = root / ".commonplace/config.toml"
        for text, said in (("colour = 1\n", "colour"), ("enabled = \n", "not valid TOML"), ("sealed = 3\n", "sealed")):
            config.write_text(text, "utf-8")
            config.chmod(0o600)
            (finding,) = book.doctor()
            assert (finding.code, finding.severity) == ("config_invalid", "error")
            assert finding.path == "/.commonplace/config.toml" and said in finding.message
        config.write_text("lock_timeout = 5\n", "utf-8")
        assert book.doctor() == []


def test_databases_that_were_put_aside(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged index that was moved aside is named with its size, in the book or where the databases are."""
    for state in (None, str(tmp_path / "elsewhere")):
        if state is not None:
            monkeypatch.setenv("COMMONPLACE_STATE", state)
        with open_book(root) as book:
            book.store("Words.", key="words", scope="global")
            folder = Path(book.status().index_file).parent
        for name in ("index.db", "state.db"):
            for beside in folder.glob(f"{name}-*"):
                beside.unlink()
            (folder / name).write_bytes(b"not a database" * 100)
        with open_book(root) as book:
            aside = found(book, "database_aside")
            names = [Path(finding.path).name for finding in aside]
            assert len(names) == 2 and all("(1,400 bytes)" in finding.message for finding in aside)
            assert names[0].startswith("index.db.unusable-") and names[1].startswith("state.db.aside-")
            parent = "/.commonplace" if state is None else str(folder)
            assert {str(Path(finding.path).parent) for finding in aside} == {parent}
            for name in names:
                (folder / name).unlink()


def test_trash_that_is_old(root: Path) -> None:
    """What was forgotten more than 30 days ago is a note; what was forgotten later is none."""
    with open_book(root) as book:
        tick(book)
        book.store("Old.", key="old", scope="global")
        book.forget("old", scope="global")
        book.context.memories.clock = lambda: "2026-01-30T00:00:00Z"
        book.store("New.", key="new", scope="global")
        book.forget("new", scope="global")
        assert book.doctor() == []
        book.context.memories.clock = lambda: "2026-02-02T00:00:00Z"
        (finding,) = book.doctor()
        assert finding.path.startswith("/.commonplace/trash/global/old/") and finding.severity == "note"
        assert finding.code == "old_trash"


def test_nothing_is_changed(root: Path) -> None:
    """Doctor leaves every byte, mode and time of a book in which everything is wrong as it was."""
    with open_book(root, session="s") as book:
        for number in range(60):
            book.store(f"Number {number}, see [[nobody]].", key=f"n{number}")
        book.store("Gone.", key="gone", scope="global")
        book.forget("gone", scope="global")
        flip(root / Path(book.show("n7").path[1:]), 30)
        copy = (root / Path(book.show("n8").path[1:])).read_bytes()
        for name, data in (("global/copy.md", copy), ("global/x.md", b"---\ntype: y\n\xff"), ("global/con.md", b"x"),
                           ("global/_y.md", b""), ("global/.cp-1-2.tmp", b"half"), ("planet/z.md", b"z")):  # fmt: skip
            note(root, name, data)
        (root / "memories/global/link.md").symlink_to("x.md")
        (root / "memories/global/index.md").unlink()
        (root / "memories/global/x.md").chmod(0o666)
        before = whole(root)
        said = {finding.code for finding in book.doctor()}
        assert len(said) > 10
        book.scan()
        assert whole(root) == before
    assert {finding.code for finding in examined(root)} == said
