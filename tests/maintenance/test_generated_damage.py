"""Whatever is damaged, and how: verbs that read answer, what is sound is answered as before, doctor names damage."""

from __future__ import annotations

import errno
import json
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.model.errors import CommonplaceError
from tests.depth import examples
from tests.maintenance.damage import (
    damageable,
    make_book,
    make_file,
    make_folder,
    make_huge,
    make_link,
    open_damaged,
    unreadable,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there, and modes are others")

OPENING = (".commonplace/config.toml", ".commonplace/book-id")  # without which only doctor, config and status need run
WRITING = (".commonplace/locks", ".commonplace/history")  # without which reindex may refuse, with an error of ours
READS: dict[str, Callable[[Book], object]] = {
    "recall": lambda book: book.recall("gate", everything=True),
    "list": lambda book: book.list(everything=True),
    "brief": lambda book: book.brief(),
    "timeline": lambda book: book.timeline(),
    "verify": lambda book: book.verify(),
    "scan": lambda book: book.scan(),
    "status": lambda book: book.status(),
    "files": lambda book: book.list_memories("/"),
    "runs": lambda book: book.recent_memory(),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("generated") / "book"
    make_book(root)
    (root / ".commonplace/config.toml").write_text('protocol = "guide"\n', "utf-8")
    (root / ".commonplace/config.toml").chmod(0o600)
    return root


def _answers(root: Path) -> dict[str, str]:
    """What recall says of each memory of a sound book, by its path."""
    with open_damaged(root) as book:
        return {item.path: book.show(item.key, item.scope).entries[0].text for item in book.list(everything=True)}


def _hits(place: str, path: str) -> bool:
    """Whether damage at a place takes a memory with it: its file or a folder above."""
    return path.lstrip("/") == place or path.lstrip("/").startswith(f"{place}/")


@examples(120, quick=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_generated_damage(sound: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Up to three damaged places anywhere in a book: see the module's first line."""
    before = _answers(sound)
    root = tmp_path_factory.mktemp("damaged") / "book"
    shutil.copytree(sound, root)
    everything = damageable(root)
    places = data.draw(st.lists(st.sampled_from(everything), min_size=1, max_size=3, unique=True))
    places = [place for place in places if not any(place != other and _hits(other, place) for other in places)]
    if data.draw(st.booleans()):
        (root / ".commonplace/index.db").unlink()
    with ExitStack() as stack:
        for place in places:
            path = root / place
            kinds = ["EACCES", "EIO", "link", *(["file"] if path.is_dir() else ["folder", "huge"])]
            kind = data.draw(st.sampled_from(kinds), label=f"damage to {place}")
            if kind in ("EACCES", "EIO"):
                stack.enter_context(unreadable(path, getattr(errno, kind)))
            else:
                {"link": make_link, "file": make_file, "folder": make_folder, "huge": make_huge}[kind](path)
        _check(root, places, before)


def _check(root: Path, places: list[str], before: dict[str, str]) -> None:
    is_closed = any(place in OPENING for place in places)
    with open_damaged(root, for_repair=True) as book:
        named = {finding.path.lstrip("/") for finding in book.doctor()}
        missing = {place for place in places if not any(_hits(place, path) for path in named)}
        assert not missing, (missing, named)
        book.status(), book.config()
    try:
        opened = open_damaged(root)
    except CommonplaceError:
        assert is_closed
        return
    with opened as book:
        for name, read in READS.items():
            is_about_journal = name == "runs" and any(place.startswith("journal") for place in places)
            with suppress(*([CommonplaceError] if is_about_journal else [])):
                assert json.dumps(read(book), default=str) is not None, name
        for path, text in before.items():
            if not any(_hits(place, path) for place in places):
                (item,) = [item for item in book.list(everything=True) if item.path == path]
                assert book.show(item.key, item.scope).entries[0].text == text
        with suppress(*([CommonplaceError] if any(place.startswith(WRITING) for place in places) else [])):
            book.reindex()
