"""What a state machine of a book stands on: the root, the model, and the check of one against the other."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from commonplace import Book
from commonplace.model.scope import Scope, ScopeKind
from commonplace.vault.paths import scope_folder
from tests.stateful.books import PROJECT, digest, index_of, leave, open_book
from tests.stateful.model import Model, Place

FOLDERS = {
    ScopeKind.PROJECT: Path(*scope_folder(Scope(ScopeKind.PROJECT, PROJECT)).parts),
    ScopeKind.GLOBAL: Path(*scope_folder(Scope(ScopeKind.GLOBAL)).parts),
}
WORD = re.compile(r"zq\d{5}x")


class Checked(RuleBasedStateMachine):
    """A book, its model, and what must be so after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="machine-"))
        self.root = self.home / "book"
        self.books = [open_book(self.root), open_book(self.root)]
        self.model = Model()
        self.words = 0
        self.edited: set[Place] = set()  # by hand, at some time
        self.deleted: set[Place] = set()  # by hand, at some time: the history may have it, if somebody had seen it
        self.came_from: dict[Place, set[Place]] = {}  # the keys that a note had before it was renamed by hand
        self.lines: list[tuple[Path, str]] = []

    def teardown(self) -> None:
        try:
            for book in self.books:
                book.close()
            self.check(self.root)
        finally:
            shutil.rmtree(self.home)

    def text(self, *, two_lines: bool = False) -> str:
        self.words += 1
        return f"Entry zq{self.words:05d}x{'.' + chr(10) + 'It has a second line' if two_lines else ''}."

    def path(self, place: Place) -> Path:
        return self.root / FOLDERS[place[0]] / f"{place[1]}.md"

    def some(self, data: st.DataObject) -> Place:
        return data.draw(st.sampled_from(sorted(self.model.notes)))

    # What must be so

    @invariant()
    def another_process_sees_it(self) -> None:
        """Whoever opens the book now, as it is on the disk, finds just what the model has."""
        copy = leave(self.root, self.home / "copy")
        try:
            self.check(copy)
        finally:
            shutil.rmtree(copy)

    def check(self, root: Path) -> None:
        notes = self.model.notes
        with open_book(root) as book:
            listed = {(item.scope, item.key): item.status == "superseded" for item in book.list(hidden=True)}
            assert listed == {place: note.hidden for place, note in notes.items()}
            for (scope, key), note in notes.items():
                assert [entry.text for entry in book.show(key, scope).entries] == note.texts
            self.check_words(book)
            self.check_history(book, root)
            before = digest(index_of(book))
            book.reindex()
            assert book.verify().differences == ()
            assert sorted(set(before) ^ set(digest(index_of(book)))) == []
        for page, line in self.lines:
            assert (root / page).read_text(encoding="utf-8").count(line) == 1

    def check_words(self, book: Book) -> None:
        """Each word finds the entry that has it, and that first; one that nothing has any more finds none that has it.

        The other hits are entries of the same memory that have it beside them.
        """
        current = {
            word: (*place, text)
            for place, note in self.model.notes.items()
            for text in note.texts
            for word in WORD.findall(text)
        }
        for number in range(1, self.words + 1):
            word = f"zq{number:05d}x"
            found = [(hit.scope, hit.key, hit.text) for hit in book.recall(word, mode="lexical").hits]
            wanted = [current[word]] if word in current else []
            assert [item for item in found if word in item[2]] == wanted == found[: len(wanted)]

    def check_history(self, book: Book, root: Path) -> None:
        """What a key ever said is in its history, or kept of another memory that had the key before."""
        for place in self.model.past.keys() | self.model.trash.keys():
            wanted = self.model.aside(place)
            if wanted:
                scope = FOLDERS[place[0]].relative_to("memories")
                paths = [root / item.path.lstrip("/") for item in book.history(place[1], place[0])]
                for kept in ("history", "trash"):
                    paths += (root / ".commonplace" / kept / scope / place[1]).glob("*.md")
                held = b"".join(path.read_bytes() for path in paths)
                assert [word for text in wanted for word in WORD.findall(text) if word.encode() not in held] == []

    def on_disk(self, word: str) -> bool:
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return any(word.encode() in path.read_bytes() for path in files)
