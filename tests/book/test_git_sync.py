"""A book shared by plain git: pulls never conflict in what is generated, and the next command makes it right again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.text.frontmatter import BEGIN, END
from tests.book.opened import open_book, tick

SETTINGS = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")


def git(folder: Path, *words: str, check: bool = True) -> str:
    """Run git with the user's own settings out of the way; return what it printed."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *SETTINGS, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def save(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "save")


def pull(folder: Path) -> list[str]:
    """Pull by merge, as a person types it; return the files that are left in conflict."""
    git(folder, "pull", "--quiet", "--no-rebase", "--no-edit", check=False)
    return git(folder, "diff", "--name-only", "--diff-filter=U").split()


class Clones:
    """One shared repository and two clones of a book."""

    def __init__(self, tmp_path: Path) -> None:
        self.shared, self.here, self.there = tmp_path / "shared.git", tmp_path / "here", tmp_path / "there"
        with open_book(self.here) as book:
            book.store("The first of all.", key="first", scope="global")
        git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(self.shared))
        git(self.here, "init", "--quiet", "--initial-branch=main")
        save(self.here)
        git(self.here, "remote", "add", "origin", str(self.shared))
        git(self.here, "push", "--quiet", "--set-upstream", "origin", "main")
        git(tmp_path, "clone", "--quiet", str(self.shared), str(self.there))

    def merge(self) -> list[str]:
        """Commit on both sides, push here, pull there; return what is left in conflict there."""
        save(self.here)
        git(self.here, "push", "--quiet")
        save(self.there)
        return pull(self.there)

    def spread(self) -> None:
        """Push what was merged there, and pull it here."""
        save(self.there)
        git(self.there, "push", "--quiet")
        assert pull(self.here) == []


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


def check_pages(book: Book, root: Path) -> None:
    """After one command, every page names what is there; after a store, all of them are as if written there."""
    book.list(everything=True)
    assert book.verify().differences == ()
    for scope in ("global", "project"):
        book.store(f"After the merge in {root.name}.", key=f"after-{root.name}", scope=scope)
    pages = {path: path.read_bytes() for path in sorted(root.rglob("*.md")) if _is_page(path)}
    for path, data in pages.items():
        assert data.count(BEGIN.encode()) == data.count(END.encode()) == 1, path
    book.reindex()
    assert {path: path.read_bytes() for path in sorted(root.rglob("*.md")) if _is_page(path)} == pages
    assert book.verify().differences == ()


def _is_page(path: Path) -> bool:
    return (path.name == "index.md" and "memories" in path.parts) or path.parent.name == "_index"


@pytest.mark.parametrize("number", [3, pytest.param(60, marks=pytest.mark.deep)])
def test_stores_in_two_clones_never_conflict(clones: Clones, number: int) -> None:
    """Two plain clones, many stores in each, also to a project that both make, and some forgotten: a pull has nothing
    to ask, every memory of both is there, and every page is right after the next command."""
    for root, word in ((clones.here, "apple"), (clones.there, "birch")):
        with open_book(root) as book:
            for at in range(number):
                book.store(f"Fact {at} about the {word}.", key=f"{'ax'[at % 2]}{word}-{at}", scope="global")
                book.store(f"Point {at} about the {word}.", key=f"p/{word}-{at}", scope="project")
            book.data_put(f"{word}.csv", b"1,2\n")
            if word == "apple":
                book.forget("first", "global")
    assert clones.merge() == []
    for root in (clones.there, clones.here):
        if root == clones.here:
            clones.spread()
        with open_book(root) as book:
            keys = {item.key for item in book.list(everything=True)}
            assert {f"{'ax'[at % 2]}{word}-{at}" for at in range(number) for word in ("apple", "birch")} <= keys
            assert {f"p/{word}-{at}" for at in range(number) for word in ("apple", "birch")} <= keys
            assert "first" not in keys
            check_pages(book, root)
            assert not [item for item in book.doctor() if item.severity == "error"]


def test_only_the_note_that_both_changed_conflicts(clones: Clones) -> None:
    """Where both sides added to one note, git asks about that note alone; doctor names it; resolved, it has both."""
    for root, word in ((clones.here, "heron"), (clones.there, "otter")):
        with open_book(root) as book:
            tick(book, day=1 if word == "heron" else 2)  # not in the same second
            book.store(f"The {word} was seen.", key="first", scope="global")
            book.store(f"Another {word}.", key=word, scope="global")
    assert clones.merge() == ["memories/global/first.md"]
    with open_book(clones.there) as book:
        assert [item.path for item in book.doctor() if item.code == "merge_conflict"] == ["/memories/global/first.md"]
        assert not [hit for hit in book.recall("who was seen").hits if "seen" in hit.text]
        note = clones.there / "memories" / "global" / "first.md"
        lines = note.read_text("utf-8").split("\n")
        note.write_text("\n".join(line for line in lines if not line.startswith(("<<<<", "====", ">>>>"))), "utf-8")
        said = [entry.text.strip() for entry in book.show("first", "global").entries]
        assert {"The heron was seen.", "The otter was seen."} <= set(said)
        check_pages(book, clones.there)


def test_what_a_person_wrote_on_a_page_survives_a_merge(clones: Clones) -> None:
    """Text above and below the generated lines, written in both clones, is on the page once after the merge."""
    for root, words in ((clones.here, "Written here."), (clones.there, "Written there.")):
        with open_book(root) as book:
            book.store("Stored, too.", key=root.name, scope="global")
        page = root / "memories" / "global" / "index.md"
        page.write_text(page.read_text("utf-8").replace(BEGIN, f"{words}\n\n{BEGIN}"), "utf-8")
    assert clones.merge() == []
    with open_book(clones.there) as book:
        check_pages(book, clones.there)
    text = (clones.there / "memories" / "global" / "index.md").read_text("utf-8")
    assert text.count("Written here.") == text.count("Written there.") == 1
    assert text.index("Written") < text.index(BEGIN)


def test_nothing_of_this_machine_is_tracked(clones: Clones) -> None:
    """Neither databases, locks, audit, keys nor temporary files are committed, and a clone has its own."""
    (clones.here / "memories" / "global" / ".cp-1.tmp").write_bytes(b"half")
    with open_book(clones.here) as book:
        for at in range(60):
            book.store(f"Fact {at}.", key=f"fact-{at}", scope="global")
        book.recall("fact")
    (clones.here / ".commonplace" / "hook.log").write_bytes(b"a hook's own log")
    save(clones.here)
    tracked = git(clones.here, "ls-files").split()
    private = [name for name in tracked if name.startswith(".commonplace/")]
    assert sorted(private) == [".commonplace/.gitignore", ".commonplace/book-id", ".commonplace/format"]
    assert not [name for name in tracked if name.endswith(".tmp") or "_index" in name]
    assert git(clones.here, "status", "--porcelain", "--ignored=no") == ""


def test_line_ends_are_not_converted(clones: Clones, tmp_path: Path) -> None:
    """A clone with core.autocrlf, as git for Windows sets it up, has the same bytes, so no memory looks changed."""
    save(clones.here)
    git(clones.here, "push", "--quiet")
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", str(clones.shared), "windows")
    name = Path("memories", "global", "first.md")
    assert (tmp_path / "windows" / name).read_bytes() == (clones.here / name).read_bytes()


def test_a_persons_git_files_are_kept(tmp_path: Path) -> None:
    """`init` adds our lines to a .gitignore and .gitattributes that are there, once, and keeps every line of theirs."""
    root = tmp_path / "book"
    root.mkdir()
    (root / ".gitignore").write_text("*.log\n", "utf-8")
    (root / ".gitattributes").write_text("*.csv text\r\n", "utf-8")
    git(root, "init", "--quiet")
    with open_book(root) as book:
        assert [item.path for item in book.doctor() if item.code == "git_files"] == ["/.gitattributes", "/.gitignore"]
    for _ in range(2):
        Book.init(root)
    with open_book(root) as book:
        assert not [item for item in book.doctor() if item.code == "git_files"]
    ignored, attributes = (root / ".gitignore").read_text("utf-8"), (root / ".gitattributes").read_bytes().decode()
    assert ignored.startswith("*.log\n") and ignored.count("# commonplace:begin") == 1 and "_index/" in ignored
    assert attributes.startswith("*.csv text\r\n") and attributes.count("merge=union") > 3
    (root / ".gitignore").write_text(f"{ignored}/mine\n", "utf-8")
    Book.init(root)
    assert (root / ".gitignore").read_text("utf-8") == f"{ignored}/mine\n"


def test_a_book_from_before_gets_its_git_files(tmp_path: Path) -> None:
    """A book that was made without them gets both when it is opened; where that cannot be done, it still opens."""
    root = tmp_path / "book"
    with open_book(root) as book:
        book.store("Kept.", key="kept", scope="global")
    for name in (".gitignore", ".gitattributes"):
        (root / name).unlink()
    (root / ".gitignore").symlink_to(tmp_path / "elsewhere")
    with open_book(root) as book:
        assert book.recall("kept").hits
    assert not (tmp_path / "elsewhere").exists()
    (root / ".gitignore").unlink()
    (root / ".gitattributes").unlink()
    with open_book(root):
        pass
    assert "merge=union" in (root / ".gitattributes").read_text("utf-8")
    assert "_index/" in (root / ".gitignore").read_text("utf-8")


def test_a_scope_page_of_two_machines_has_the_evidence_of_both(tmp_path: Path, clones: Clones) -> None:
    """Both clones make a project that has a repository on each machine: after the merge, either folder finds it."""
    for root in (clones.here, clones.there):
        place = tmp_path / f"work-{root.name}"
        place.mkdir()
        git(place, "init", "--quiet")
        git(place, "remote", "add", "origin", "https://github.com/acme/app.git")
        with Book.open(root, cwd=place) as book:
            book.store(f"Built on {root.name}.", key=root.name, scope="project")
    assert clones.merge() == []
    clones.spread()
    for root in (clones.here, clones.there):
        with Book.open(root, cwd=tmp_path / f"work-{root.name}") as book:
            assert {item.key for item in book.list(scope="project")} == {"here", "there"}
            assert not [item for item in book.doctor() if item.code == "scope_page"]
