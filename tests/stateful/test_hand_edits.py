"""Random edits by hand between an agent's stores: no text is lost, and no byte of a person's changes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commonplace.model.choices import StoreMode
from commonplace.model.errors import CommonplaceError, NoteInConflict
from commonplace.text.frontmatter import split
from commonplace.text.notes import parse
from commonplace.vault.paths import BookPath
from tests.book.opened import open_book
from tests.depth import examples

KEYS = ("ant", "bee", "sub/cat")
BOM = b"\xef\xbb\xbf"
MARKS = "<<<<<<< HEAD\nours {0}\n=======\ntheirs {0}\n>>>>>>> main\n"
keys = st.sampled_from(KEYS)


class HandEdits(RuleBasedStateMachine):
    """One scope with a few notes, which a person and an agent change in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name, "book")
        self.book = open_book(self.root)
        self.known: set[str] = set()  # every text that an answer ever gave
        self.number = 0

    def teardown(self) -> None:
        self.book.close()
        self.folder.cleanup()

    def path(self, key: str) -> Path:
        return self.root / "memories" / "global" / f"{key}.md"

    def word(self) -> str:
        self.number += 1
        return f"saying-{self.number}"

    def change(self, key: str, data: bytes) -> None:
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    # The agent

    @rule(key=keys, mode=st.sampled_from(["append", "replace"]), tags=st.sampled_from([(), ("one",), ("two",)]))
    def store(self, key: str, mode: StoreMode, tags: tuple[str, ...]) -> None:
        """A store to a note, whatever a person made of it, keeps the bytes that it does not replace."""
        path = self.path(key)
        before = path.read_bytes() if path.exists() else b""
        in_conflict = parse(before).in_conflict
        try:
            self.book.store(f"{self.word()}\nand a second line", key=key, scope="global", mode=mode, tags=tags)
            assert not in_conflict
        except NoteInConflict:
            assert in_conflict and path.read_bytes() == before
            return
        after = path.read_bytes()
        assert after.startswith(BOM) == before.startswith(BOM)
        if mode == "append":
            old, new = parse(before), parse(after)
            rest = split(after.decode())[1]
            assert rest.startswith(split(before.decode())[1].rstrip("\r\n")) and old.hand_text == new.hand_text
        if b"mine: kept" in before:
            assert re.findall(rb"(?m)^mine: kept[^\n]*\n", after) == re.findall(rb"(?m)^mine: kept[^\n]*\n", before)
        if before and b"\r\n" not in before:
            assert b"\r\n" not in after

    @rule(key=keys)
    def undo(self, key: str) -> None:
        """An undo of whatever was last."""
        try:
            self.book.undo(key, "global")
        except CommonplaceError as error:
            assert error.code in ("not_found", "conflict", "note_in_conflict")

    # The person

    @rule(key=keys, bom=st.booleans(), eol=st.sampled_from(["\n", "\r\n"]), front=st.booleans(), title=st.booleans())
    def write(self, key: str, bom: bool, eol: str, front: bool, title: bool) -> None:
        """Write a file anew."""
        lines = ["---", "mine: kept  # why", "---"] if front else []
        lines += ["# A title", ""] if title else []
        text = eol.join([*lines, self.word(), "second line", ""])
        self.change(key, BOM * bom + text.encode())

    @rule(key=keys)
    def add(self, key: str) -> None:
        """Add a line at the end."""
        if self.path(key).exists():
            self.change(key, self.path(key).read_bytes() + f"\n{self.word()}\n".encode())

    @rule(key=keys, way=st.sampled_from(["to CRLF", "to LF", "bom", "no bom"]))
    def convert(self, key: str, way: str) -> None:
        """Save a file as another editor would."""
        if self.path(key).exists():
            data = self.path(key).read_bytes()
            lf = data.replace(b"\r\n", b"\n")
            bare = data.removeprefix(BOM)
            crlf = lf.replace(b"\n", b"\r\n")
            self.change(key, {"to CRLF": crlf, "to LF": lf, "bom": BOM + bare, "no bom": bare}[way])

    @rule(key=keys)
    def label(self, key: str) -> None:
        """Add a field to the frontmatter."""
        if self.path(key).exists():
            data = self.path(key).read_bytes()
            self.change(key, re.sub(rb"^((?:\xef\xbb\xbf)?---\r?\n)", rb"\1mine: kept\n", data, count=1))

    @rule(key=keys, new=keys)
    def rename(self, key: str, new: str) -> None:
        """Move a file, perhaps over another."""
        if self.path(key).exists() and not self.path(new).exists():
            self.path(new).parent.mkdir(parents=True, exist_ok=True)
            self.path(key).rename(self.path(new))

    @rule(key=keys)
    def delete(self, key: str) -> None:
        """Delete a file."""
        self.path(key).unlink(missing_ok=True)

    @rule(key=keys)
    def merge(self, key: str) -> None:
        """Leave a conflict in a file, as git does."""
        if self.path(key).exists():
            self.change(key, self.path(key).read_bytes() + f"\n{MARKS.format(self.word())}".encode())

    @rule(key=keys)
    def resolve(self, key: str) -> None:
        """Keep both sides of a conflict."""
        if self.path(key).exists():
            marks = rb"(?m)^(?:<<<<<<< |=======|>>>>>>> )[^\n]*\n"
            self.change(key, re.sub(marks, b"", self.path(key).read_bytes()))

    # What always holds

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every text that was ever given is in a note, the history or the trash; the index says what the files say."""
        self.book.context.memories.freshen(BookPath("memories", "global"))  # as every new process does
        said = [hit.text for hit in self.book.recall("", scope="global", limit=100).hits]
        assert not [text for text in said if text.startswith("ours") or "<<<<<<<" in text]
        self.known.update(line for text in said for line in re.findall(r"saying-\d+", text))
        files = b"\n".join(path.read_bytes() for path in self.root.rglob("*.md"))
        assert [word for word in self.known if not re.search(rf"{word}\b".encode(), files)] == []
        assert self.book.verify().differences == ()


TestHandEdits = HandEdits.TestCase
TestHandEdits.settings = examples(40, quick=6, stateful_step_count=12)
