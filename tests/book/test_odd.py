"""Odd input and odd places: a typed error or success each, nothing lost, never another exception."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from commonplace.model.errors import (
    CommonplaceError,
    InvalidContent,
    InvalidField,
    InvalidKey,
    SecretFound,
    TooLarge,
)
from commonplace.model.scope import ScopeKind
from tests.book.opened import files, holds, keys, open_book
from tests.depth import depths
from tests.guard.planted import plant

HALF = "\ud83d"  # of a surrogate pair
BROKEN = "\udce9"  # what Python makes of a byte that is no UTF-8


@pytest.mark.parametrize("lines", depths(5_000, 80_000))
def test_a_long_text_is_kept(root: Path, lines: int) -> None:
    """A text of 200 kB, or of almost 4 MB in `make deep`, is kept, found and shown whole, replaced and undone; one of
    10 MB is refused, and so is one that is too long for any file."""
    text = "".join(f"Line {number} of a long report about zebras.\n" for number in range(lines))
    with open_book(root) as book:
        book.store(text, key="report")
        assert book.show("report").entries[0].text == text
        assert keys(book, "zebras report") == ["report"]
        book.store("Short.", key="report", mode="replace")
        book.undo("report")
        assert book.show("report").entries[0].text == text and book.verify().ok
        with pytest.raises(TooLarge):
            book.store("x" * 10_000_000)
        with pytest.raises(InvalidContent):
            book.store("x" * 16_000_001)


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\u2003\u00a0", "a\0b", "\0", f"x{HALF}", BROKEN, f"{HALF}\n"])
def test_content_that_is_no_text_is_refused(root: Path, text: str) -> None:
    """Empty text, white space, NUL and halves of surrogate pairs are refused by every verb, and nothing is written."""
    with open_book(root) as book:
        book.store("One.", key="one")
        book.store("Two.", key="two")
        before = files(root, databases=False)
        verbs: list[Callable[[], object]] = [
            lambda: book.store(text), lambda: book.store(text, key="one"),
            lambda: book.store(text, key="one", mode="replace"), lambda: book.store_many([{"content": text}]),
            lambda: book.consolidate(["one", "two"], text),
        ]  # fmt: skip
        for verb in verbs:
            with pytest.raises(InvalidContent):
                verb()
        assert files(root, databases=False) == before


@pytest.mark.parametrize(
    "field", ["summary", "author", "thread", "occurred", "type", "decision", "mode", "key", "scope"]
)
@pytest.mark.parametrize("value", [HALF, BROKEN, "a\0b", "x" * 200_000])
def test_fields_that_are_no_words_are_refused(root: Path, field: str, value: str) -> None:
    """A field with NUL, half a surrogate pair or a book's length in it is refused, and nothing is written."""
    with open_book(root) as book:
        before = files(root, databases=False)
        with pytest.raises(CommonplaceError):
            book.store("Words.", **{field: value})  # type: ignore[arg-type]
        assert {name: data for name, data in files(root, databases=False).items() if "scope" not in name} == before
        assert book.verify().ok


QUESTIONS = [
    HALF, BROKEN, "a\0b", *depths("x" * 20_000, "x" * 1_000_000), '"', '""', "*", "a AND", "NEAR(", "(" * 5_000,
    "'; DROP TABLE memory; --",
    "-", "text:x", "^x", "\u202e", '"a" "b" OR',
]  # fmt: skip


@pytest.mark.parametrize("query", QUESTIONS)
def test_any_question_is_answered(root: Path, query: str) -> None:
    """Whatever is asked, by recall or by key, is an answer or a typed error, and the book is as it was."""
    with open_book(root) as book:
        book.store("Words about x.", key="words")
        assert book.recall(query).total in (0, 1)
        assert book.recall(query, as_of="2100-01-01", tags=[query]).hits == ()
        assert list(book.timeline(session=query)) == []
        for verb in (book.show, book.history, book.forget, book.undo, book.restore, book.related, book.data_get):
            with pytest.raises(CommonplaceError):
                verb(query)
        with pytest.raises(CommonplaceError):
            book.link("words", "relates_to", query * 400)
        assert keys(book, "words") == ["words"] and book.verify().ok


def test_long_keys_and_many_tags(root: Path) -> None:
    """A key that is too long is refused; thousands of tags are kept; a number too large for seq is refused."""
    with open_book(root) as book:
        for key in ("k" * 61, "/".join("abcde"), "a/" * 2_000 + "a", "k" * 100_000):
            with pytest.raises(CommonplaceError):
                book.store("x", key=key)
        deep = "/".join(["k" * 60] * 4)
        assert book.store("Deep.", key=deep).key == deep and keys(book, "deep") == [deep]
        tags = [f"tag-{number}" for number in range(5_000)]
        book.store("Many tags.", key="many", tags=tags)
        assert book.show("many").meta.tags == tuple(tags)
        assert [hit.key for hit in book.recall(tags=["tag-4999"]).hits] == ["many"]
        for bad in ("", "two words", "a,b", "1", "x" * 61, HALF, "a]b", "a\n"):
            with pytest.raises(InvalidField):
                book.store("x", tags=[bad])
        with pytest.raises(InvalidField):
            book.store("x", seq=2**70)
        assert book.verify().ok


@pytest.mark.parametrize(
    "ident", ["a\0b", HALF, BROKEN, "../x", "/", "a/b", "CON", "x" * 5_000, " ", "日本", "ÄÖ", "."]
)
@pytest.mark.parametrize("kind", ["session", "agent", "project"])
def test_any_id_of_a_scope_stays_inside(root: Path, kind: str, ident: str) -> None:
    """A session, agent or project of any name is stored under the book's memories or refused, with a typed error."""
    try:
        with Book.open(root, **{kind: ident}) as book:  # type: ignore[arg-type]
            path = root / book.store("Words.", key="words", scope=ScopeKind(kind)).path.lstrip("/")
            assert path.is_relative_to(root / "memories" / kind) and path.is_file() and not path.is_symlink()
            assert keys(book, "words") == ["words"]
    except CommonplaceError:
        pass
    assert {item.name for item in root.parent.iterdir()} <= {"book"}


@pytest.mark.parametrize("where", ["content", "summary", "tags", "author", "thread"])
def test_a_secret_is_refused_and_nowhere(root: Path, where: str) -> None:
    """A store with a secret in any of its texts is refused by rule and place; no file under the root has it."""
    token = plant("github classic", "line end", random.Random(5)).text.split()[-1]
    fields: Any = {"content": "How to push.", where: [token] if where == "tags" else f"use {token} here"}
    if where == "tags":
        assert len(token) <= 60
    with open_book(root) as book:
        book.store("Fine.", key="fine")
        verbs: list[Callable[[], object]] = [lambda: book.store(**fields), lambda: book.store_many([fields])]
        if where == "content":
            verbs.append(lambda: book.store(str(fields["content"]), key="fine", mode="replace"))
            verbs.append(lambda: book.consolidate(["fine", "x"], str(fields["content"])))
        for verb in verbs:
            with pytest.raises(SecretFound) as caught:
                verb()
            assert token not in str(caught.value) and token not in caught.value.hint
        assert holds(root, token) == []
        assert [item.key for item in book.list()] == ["fine"]
    assert holds(root, token) == []


def test_a_secret_is_no_key(root: Path) -> None:
    """A key becomes the name of a file: one that is a token is refused as in any other place."""
    token = f"xoxb-{random.Random(5).randrange(10**11, 10**12)}-4k2m9q7w8e3r5t1y6u0p"
    with open_book(root) as book:
        for store in (lambda: book.store("Words.", token), lambda: book.store_many([{"content": "x", "key": token}])):
            with pytest.raises(SecretFound) as caught:
                store()
            assert token not in str(caught.value)
    assert holds(root, token) == []


@pytest.mark.parametrize(
    "name", ["with spaces", "Bücher 本 📚", "a'b\"c", "-rf", "%20", "x" * 180, "a;b&c", "new\nline"]
)
def test_a_root_of_any_name(tmp_path: Path, name: str) -> None:
    """A book can be in a folder of any name that the file system takes, several levels of it new."""
    root = tmp_path / name / "deeper" / name
    for _ in range(2):
        with open_book(root) as book:
            book.store("Words.", key="words")
            assert keys(book, "words") == ["words"] and book.verify().ok
    assert (root / ".commonplace" / "index.db").exists()


def test_a_root_longer_than_sqlite_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A book whose path has more than the 512 bytes that SQLite takes has its databases in the state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path.joinpath("é" * 10, "x" * 200, "y" * 200, "z" * 200)
    for _ in range(2):
        with open_book(root) as book:
            book.store("Words.", key="words")
            assert keys(book, "words") == ["words"] and book.verify().ok
    assert not (root / ".commonplace" / "index.db").exists()
    assert [*(tmp_path / "state").rglob("index.db")]


def test_a_root_that_cannot_be_is_a_typed_error(tmp_path: Path) -> None:
    """A root that is a file, below a file, a link to nowhere, or no name at all is an error of ours."""
    (tmp_path / "file").write_text("mine", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "else")
    for bad in (
        tmp_path / "file",
        tmp_path / "file" / "below",
        tmp_path / "link",
        "a\0b",
        "x" * 5_000,
        "/proc/nowhere/x",
    ):
        with pytest.raises(CommonplaceError):
            Book.open(bad)
    assert (tmp_path / "file").read_text("utf-8") == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_closed_book_says_so(root: Path) -> None:
    """A verb on a book that was closed is an error of ours, and closing twice is none."""
    book = open_book(root)
    book.store("Words.", key="words")
    book.close()
    book.close()
    for verb in (lambda: book.store("More."), lambda: book.recall("words"), lambda: book.list()):
        with pytest.raises(CommonplaceError):
            verb()
    with pytest.raises(InvalidKey), open_book(root) as again:
        again.show("../x")
