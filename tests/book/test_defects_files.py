"""Defects that memory systems are known for: what a bad file, a repair or a lost database does to the rest."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError, StorageError
from commonplace.vault.disk import PosixFolder
from tests.book.opened import DATABASES, files, keys, open_book, texts
from tests.depth import first_quick

BAD_FILES = {
    "latin-1": b"---\nkey: bad\n---\nCaf\xe9 and zebra\n",
    "not closed": b"---\nkey: bad\ntags: [a, b\nzebra\n",
    "no yaml": b"---\n\t{]: [}\n: : :\n---\nzebra\n",
    "yaml bomb": b"---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nkey: !!python/object:os.system x\n---\nzebra\n",
    "wrong types": b"---\nid: [1]\nkey: {a: b}\ntype: 7\nstatus: x\ntags: 5\npinned: maybe\ncreated: x\n---\nzebra\n",
    "nul": b"zebra \0\0\0",
    "binary": bytes(range(256)) * 40,
    "empty": b"",
    "bom": b"\xef\xbb\xbf---\nkey: bad\n---\nzebra\n",
    "bad entry": b"## 2026-13-45T99:99:99Z\n<!-- entry id=../../x trust=god seq=x -->\nzebra\n",
    "surrogate": b"\xed\xa0\x80 zebra",
}


def _folder(root: Path, book: Book) -> Path:
    return root / book.store("Tests run with pytest.", key="tests").path.lstrip("/").rpartition("/")[0]


@pytest.mark.parametrize("name", BAD_FILES)
def test_one_bad_file_breaks_nothing(root: Path, name: str) -> None:
    """A note that no parser likes leaves everything else found, and itself as it was, byte for byte."""
    with open_book(root) as book:
        bad = _folder(root, book) / "bad.md"
    bad.write_bytes(BAD_FILES[name])
    with open_book(root) as book:
        assert keys(book, "pytest") == ["tests"]
        assert "tests" in [item.key for item in book.list()]
        assert book.show("bad").key == "bad"
        assert book.history("bad") and book.timeline()
        book.store("More about pytest.", key="more")
        book.reindex()
        assert bad.read_bytes() == BAD_FILES[name]
        assert set(keys(book, "pytest")) == {"tests", "more"}
        assert book.verify().ok
        assert book.store("A line added.", key="bad").action == "appended"
        assert book.show("bad").entries[-1].text == "A line added."
        book.forget("bad")
        assert keys(book, "line added") == []


def test_an_unreadable_file_breaks_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that the disk refuses to read is an error for whoever asks for it, and for nobody else."""
    with open_book(root) as book:
        (_folder(root, book) / "bad.md").write_text("zebra", "utf-8")
    read = PosixFolder.read

    def refuse(self: PosixFolder, name: str, limit: int | None = None) -> object:
        if name == "bad.md":
            raise PermissionError(13, "no")
        return read(self, name, limit)

    monkeypatch.setattr(PosixFolder, "read", refuse)
    with open_book(root) as book:
        assert keys(book, "pytest") == ["tests"]
        book.store("More about pytest.", key="more")
        assert set(keys(book, "pytest")) == {"tests", "more"}
        book.reindex()
        for verb in (book.show, book.forget, book.undo):
            with pytest.raises(CommonplaceError):
                verb("bad")
    monkeypatch.undo()
    with open_book(root) as book:
        assert keys(book, "zebra") == ["bad"]


@pytest.mark.parametrize("kind", ["file", "folder", "dangling", "loop", "scope", "fifo"])
def test_a_link_leads_nowhere(root: Path, tmp_path: Path, kind: str) -> None:
    """A symbolic link or special file in a scope is not followed, by no verb, and breaks nothing."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "zebra.md").write_text("The zebra is outside.", "utf-8")
    with open_book(root, session="s") as book:
        folder = _folder(root, book)
        if kind == "file":
            (folder / "zebra.md").symlink_to(outside / "zebra.md")
        elif kind == "folder":
            (folder / "sub").symlink_to(outside)
        elif kind == "dangling":
            (folder / "zebra.md").symlink_to(outside / "nothing.md")
        elif kind == "loop":
            (folder / "sub").symlink_to(folder)
        elif kind == "scope":
            (root / "memories" / "session").mkdir(parents=True, exist_ok=True)
            (root / "memories" / "session" / "s").symlink_to(outside)
        else:
            os.mkfifo(folder / "zebra.md")
    with open_book(root, session="s") as book:
        assert keys(book, "zebra") == [] and keys(book, "pytest") == ["tests"]
        assert [item.key for item in book.list()] == ["tests"]
        for key in ("zebra", "sub/zebra", "sub/tests"):
            for verb in (book.show, book.forget, book.history, book.undo):
                with pytest.raises(CommonplaceError):
                    verb(key)
        taken = {"folder": "sub/new", "loop": "sub/new", "scope": "new"}.get(kind, "zebra")
        with pytest.raises(CommonplaceError):
            book.store("Words.", taken, "session" if kind == "scope" else "project")
        book.store("More about pytest.", key="more")
        book.reindex()
    assert {path.name: path.read_text("utf-8") for path in outside.iterdir()} == {"zebra.md": "The zebra is outside."}


def _filled(root: Path) -> None:
    """A book with something of everything: history, trash, superseded, links, tags, several scopes, many notes."""
    with open_book(root, agent="claude", session="s") as book:
        book.store_many(
            {"content": f"Fact {number} about horses.", "key": f"fact-{number}", "tags": ["farm"]}
            for number in range(60)
        )
        for scope in ("session", "agent", "project", "global"):
            book.store(f"The staging port, said in {scope}.", key=f"port-{scope}", scope=scope, tags=["port"])
        book.store("The staging port is 6000 now.", key="port-global", scope="global", mode="replace")
        book.store("The staging port has a note.", key="people/alice", summary="Alice", author="Müller")
        book.consolidate(["fact-1", "fact-2"], "Facts 1 and 2 about horses.", key="facts")
        book.forget("fact-3")
        book.store("Back again.", key="fact-4")
        book.undo("fact-4")
        book.link("fact-5", "relates_to", "port-project")
        book.data_put("prices.csv", b"a,b")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object]]:
    """A filled book, to be copied, and what it answers."""
    root = tmp_path_factory.mktemp("template") / "book"
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
            patch.delenv(name)
        _filled(root)
        return root, _answers(root)


def _reopened(root: Path) -> list[object]:
    """The answers; damage that only shows while reading is an error once, and mended for whoever opens next."""
    try:
        return _answers(root)
    except StorageError as error:
        assert "again" in error.hint
        return _answers(root)


def _answers(root: Path) -> list[object]:
    with open_book(root, agent="claude", session="s") as book:
        found: list[object] = [book.list(hidden=True), book.history("port-global"), book.timeline(limit=100)]
        for query in ("staging port", "horses", "facts 1 and 2", '"fact 7"', ""):
            for as_of in (None, "2100-01-01"):
                answer = book.recall(query, as_of=as_of, limit=100)
                found.append(
                    (sorted((hit.path, hit.entry, hit.text, hit.summary) for hit in answer.hits), answer.total)
                )
        found.append([(item.key, item.scope) for item in book.related("fact-5")])
        assert book.verify().ok
        return found


def test_repair_has_nothing_to_do_after_a_write(root: Path) -> None:
    """Reindexing right after all kinds of writes changes not one byte of any file but the databases and locks."""
    _filled(root)
    before = files(root, databases=False)
    with open_book(root, agent="claude", session="s") as book:
        assert book.reindex() == book.verify().files
    assert files(root, databases=False) == before


def _foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.commit()
    connection.close()


def _corrupt(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[512:] = b"\xa5" * (len(data) - 512)
    path.write_bytes(data)


def _garbled_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8192 : len(data) // 2] = b"\xa5" * len(data[8192 : len(data) // 2])
    path.write_bytes(data)


def _folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x", "utf-8")


HARM: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "one page left": lambda path: os.truncate(path, 4096),
    "no database": lambda path: path.write_bytes(b"not a database" * 1000),
    "corrupt": _corrupt,
    "garbled middle": _garbled_middle,
    "foreign": _foreign,
    "folder": _folder_instead,
}


@pytest.mark.parametrize(
    "names", first_quick([DATABASES, DATABASES[:1], DATABASES[1:]]), ids=["both", "index", "state"]
)
@pytest.mark.parametrize("harm", HARM)
def test_losing_a_database_loses_nothing(
    root: Path, template: tuple[Path, list[object]], harm: str, names: tuple[str, ...]
) -> None:
    """Whatever happened to the index, the state or both, every answer is the same and no file is changed."""
    filled, before = template
    shutil.copytree(filled, root)
    notes = files(root, databases=False)
    for name in names:
        HARM[harm](root / ".commonplace" / name)
    assert _reopened(root) == before
    assert files(root, databases=False).items() >= notes.items()
    with open_book(root, agent="claude", session="s") as book:
        assert book.store("The staging port has moved.", key="port-project").action == "appended"
        assert "The staging port has moved." in texts(book, "staging port moved")


@pytest.mark.parametrize("harm", HARM)
def test_a_write_straight_after_a_lost_index_is_whole(
    root: Path, template: tuple[Path, list[object]], harm: str
) -> None:
    """The first thing done after the index broke may be a write: acknowledged once, it and all else is found."""
    shutil.copytree(template[0], root)
    HARM[harm](root / ".commonplace" / "index.db")
    try:
        with open_book(root) as book:
            book.store("Zebra.", key="zebra")
    except StorageError:
        with open_book(root) as book:
            book.store("Zebra.", key="zebra")
    with open_book(root, agent="claude", session="s") as book:
        assert book.forget("fact-6").action == "forgotten"
        assert [entry.text for entry in book.show("zebra").entries] == ["Zebra."]
        assert keys(book, '"fact 7"')[0] == "fact-7" and keys(book, "zebra") == ["zebra"]
        assert "fact-6" not in keys(book, '"fact 6"', limit=100)
        assert book.verify().ok
