"""Who reads does not wait for who writes, and needs not be able to write."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from commonplace.model.errors import ReadOnly
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from tests.book.opened import keys, open_book, texts


@contextmanager
def written_by_another(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another process holds the locks of the global scope and of the parent pages; waiting for one fails the test."""

    def waits(_: float) -> None:
        raise AssertionError("waited for a lock")

    vault = LocalVault.at(root)
    with vault.lock(LOCAL, "global", 0), vault.lock(LOCAL, "parents", 0), monkeypatch.context() as patched:
        clock = SimpleNamespace(monotonic=time.monotonic, sleep=waits)
        patched.setattr("commonplace.vault.local.time", clock)
        yield
    vault.close()


def changed(root: Path, key: str, old: str, new: str) -> None:
    note = root / "memories" / "global" / f"{key}.md"
    text = note.read_text(encoding="utf-8")
    assert old in text
    note.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def with_expired(root: Path) -> Path:
    """A book with an expired memory."""
    with open_book(root) as book:
        book.store("The zebra is striped.", key="zebra", scope="global")
    changed(root, "zebra", "status: active", "status: expired")
    with open_book(root) as book:
        book.list()
    return root


def test_what_is_expired_is_answered_while_another_writes(with_expired: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hit that would be revived is answered though its scope is locked; the next recall revives it."""
    with open_book(with_expired) as book:
        with written_by_another(with_expired, monkeypatch):
            assert [hit.key for hit in book.recall("zebra", expired=True).hits] == ["zebra"]
            assert book.show("zebra").meta.status == "expired"
        assert [hit.key for hit in book.recall("zebra", expired=True).hits] == ["zebra"]
        assert book.show("zebra").meta.status == "active"


def test_what_is_expired_is_answered_where_nothing_can_be_written(
    with_expired: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a root that is read-only an expired hit is answered, and stays as it is."""
    with open_book(with_expired) as book:
        real = os.open

        def refuse(path: object, flags: int, *rest: object, **more: object) -> int:
            if flags & os.O_CREAT and str(path).startswith(".cp-"):
                raise OSError(30, "read-only")
            return real(path, flags, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", refuse)
        assert [hit.key for hit in book.recall("zebra", expired=True).hits] == ["zebra"]
        assert book.show("zebra").meta.status == "expired"
        with pytest.raises(ReadOnly):
            book.store("No.", key="no", scope="global")


def test_an_outside_edit_while_another_writes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall waits for nobody to put away what was edited out of a note: it says what it knew of that note, all of what
    is new elsewhere, and once the lock is free the new text, with the old one in the history."""
    with open_book(root) as book:
        book.store("The okapi is at the harbour.", key="okapi", scope="global")
        book.store("The lynx is in the loft.", key="lynx", scope="global")
    changed(root, "okapi", "harbour", "station")
    changed(root, "lynx", "loft.", "loft. It sleeps.")
    (root / "memories" / "global" / "emu.md").write_text("The emu is new.\n", encoding="utf-8")
    with open_book(root) as book:
        with written_by_another(root, monkeypatch):
            assert keys(book, "emu new") == ["emu"] and texts(book, "okapi") == ["The okapi is at the harbour."]
            assert "station" in book.show("okapi").entries[0].text
        assert texts(book, "okapi") == ["The okapi is at the station."]
        assert [item.action for item in book.history("okapi")] == ["edited", "current"]
        book.undo("okapi")
        assert texts(book, "okapi") == ["The okapi is at the harbour."] and book.verify().ok
