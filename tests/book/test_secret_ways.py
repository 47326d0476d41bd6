"""Every way into the book goes by the secret gate: names, links, ids and files of any encoding, not only texts."""

from __future__ import annotations

import codecs
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError, InvalidScope, NotFound, SecretFound
from commonplace.model.scope import Scope, ScopeKind
from tests.book.opened import open_book

_MADE = random.Random(11)
TOKEN = "gh" + "p_" + "".join(_MADE.choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=36))
NAME = "gl" + "pat-" + "".join(_MADE.choices("abcdefghijkmnpqrstuvwxyz23456789", k=20))  # one that a key could be


def nowhere(root: Path) -> bool:
    """Whether neither is anywhere on the disk, in a file or in a name."""
    words = [word.encode(encoding) for word in (TOKEN, NAME, TOKEN.lower()) for encoding in ("ascii", "utf-16-le")]
    for path in root.rglob("*"):
        if any(word.decode() in str(path) for word in words[::2]):
            return False
        if path.is_file() and any(word in path.read_bytes() for word in words):
            return False
    return True


def test_names_and_links_go_by_the_gate(root: Path) -> None:
    """A key to consolidate into, the end of a link and the name of a data file are refused like a text."""
    with open_book(root) as book:
        book.store("One walrus.", key="one")
        book.store("Two walruses.", key="two")
        ways: list[Callable[[], object]] = [
            lambda: book.consolidate(["one", "two"], "Three walruses.", key=NAME),
            lambda: book.link("one", "relates_to", TOKEN), lambda: book.link("one", "relates_to", f"project/{NAME}"),
            lambda: book.data_put(f"{TOKEN}.txt", b"x"), lambda: book.data_put(f"{NAME}/x.txt", b"x"),
            lambda: book.store("x", scope=Scope(ScopeKind.SESSION, TOKEN)),
            lambda: book.store("x", scope=Scope(ScopeKind.AGENT, NAME)),
            lambda: book.store_many([{"content": "x", "scope": Scope(ScopeKind.PROJECT, TOKEN)}]),
        ]  # fmt: skip
        for way in ways:
            with pytest.raises(SecretFound):
                way()
        assert [item.key for item in book.list()] == ["one", "two"] and book.data_list() == []
    assert nowhere(root)


@pytest.mark.parametrize(
    "data",
    [
        f"token={TOKEN}".encode(), f"caf\xe9 token={TOKEN}".encode("latin-1"), f"x {TOKEN}\n".encode("utf-16"),
        codecs.BOM_UTF16_BE + TOKEN.encode("utf-16-be"), TOKEN.encode("utf-16-le"), TOKEN.encode("utf-32-le"),
        b"\x00\x01\xff\xfe" * 50 + TOKEN.encode() + b"\x00\x07" * 9, b"\xff" + TOKEN.encode(),
    ],
)  # fmt: skip
def test_a_file_of_any_encoding_goes_by_the_gate(root: Path, data: bytes) -> None:
    """A token is found whether its file is UTF-8, Latin-1, UTF-16 with or without a mark, or no text at all."""
    with open_book(root) as book:
        with pytest.raises(SecretFound):
            book.data_put("notes.txt", data)
        assert book.data_list() == []
    assert nowhere(root)


def test_a_file_that_is_no_text_may_speak_of_passwords(root: Path) -> None:
    """In a program or a picture nobody can mark a line, so only what has the form of a token counts there."""
    binary = b"\x7fELF\x00\x01\xff password: Xk7#qTz9!mLp \x00\x00\xfe"
    with open_book(root) as book:
        book.data_put("program", binary)
        assert book.data_get("program") == binary
        with pytest.raises(SecretFound):
            book.data_put("program.txt", binary.replace(b"\0", b" "))


@pytest.mark.parametrize("name", ["session", "agent", "project"])
def test_an_id_that_is_a_secret_opens_nothing(root: Path, name: str) -> None:
    """Ids name folders and stand in the audit: a token given for one is refused before either is made."""
    with open_book(root):
        pass
    for word in (TOKEN, NAME):
        with pytest.raises(SecretFound, match=name):
            Book.open(root, **{name: word})  # type: ignore[arg-type]  # one of three that are texts
    assert nowhere(root)
    for word in (
        "01a1e198-a401-7385-a9f4-cad75ae537ef",
        "github.com/acme/authentication-service-2",
        "ses_5a7b9c1d3e5f7a9b",
    ):
        Book.open(root, **{name: word}).close()  # type: ignore[arg-type]


def test_what_was_asked_for_in_vain_is_not_in_the_audit(root: Path) -> None:
    """A token where a key belongs is in no line, whatever verb it was given to; another key is."""
    with open_book(root, session="s") as book:
        for verb in (
            lambda: book.forget(NAME), lambda: book.undo(NAME), lambda: book.restore(NAME), lambda: book.show(NAME),
            lambda: book.consolidate([NAME, "b"], "x"), lambda: book.link(NAME, "relates_to", "x"),
            lambda: book.store("x", key="y", decision=f"supersede:{NAME}"), lambda: book.data_remove(NAME),
        ):  # fmt: skip
            with pytest.raises(CommonplaceError):
                verb()
        with pytest.raises(NotFound):
            book.forget("an-honest-key-that-is-not-there")
        with pytest.raises(InvalidScope):
            book.recall("x", scope=NAME)  # type: ignore[arg-type]
    assert nowhere(root)
    lines = "".join(path.read_text() for path in (root / ".commonplace" / "audit").iterdir())
    assert "an-honest-key-that-is-not-there" in lines
