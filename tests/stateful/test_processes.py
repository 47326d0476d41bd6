"""Many processes use one book at once through the library: no acknowledged update is lost, nobody gets an error."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonplace.model.scope import ScopeKind
from tests.depth import depths
from tests.stateful.books import digest, drop_index, index_of, notes, open_book
from tests.stateful.worker import SHARED
from tests.stateful.worker import __file__ as worker


@dataclass(frozen=True)
class Amount:
    """How many processes there are, and how often each writes."""

    processes: int
    count: int


@pytest.fixture(scope="module", params=depths(Amount(3, 10), Amount(8, 40), Amount(8, 200)))
def amount(request: pytest.FixtureRequest) -> Amount:
    """Three processes in `make test`, eight in `make deep`."""
    found: Amount = request.param
    return found


@pytest.fixture(scope="module")
def said(amount: Amount, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, str]]]:
    """The processes start at once on a book that is not there yet; the root, and all that was acknowledged."""
    root = tmp_path_factory.mktemp("processes") / "book"
    started = [
        subprocess.Popen(
            [sys.executable, worker, str(root), name, str(amount.count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abcdefgh"[: amount.processes]
    ]
    finished = [process.communicate() for process in started]
    assert [errors for _, errors in finished if errors] == []
    assert [process.returncode for process in started] == [0] * amount.processes
    return root, [json.loads(line) for output, _ in finished for line in output.splitlines()]


def test_no_update_is_lost(said: tuple[Path, list[dict[str, str]]], amount: Amount) -> None:
    """What each process was told is kept: every text of its own memories, every line of the shared one, and no more."""
    root, lines = said
    wanted: dict[tuple[str, str], set[str]] = {}
    for line in lines:
        place = (line["scope"], line["key"])
        if line["verb"] == "append":
            wanted.setdefault(place, set()).add(line["text"])
        elif line["verb"] == "store":
            wanted[place] = {line["text"]}
        else:
            del wanted[place]
    with open_book(root) as book:
        found = {
            (item.scope, item.key): [entry.text for entry in book.show(item.key, item.scope).entries]
            for item in book.list(hidden=True)
        }
        assert found.keys() == wanted.keys()
        assert {place: sorted(texts) for place, texts in found.items()} == {
            place: sorted(texts) for place, texts in wanted.items()
        }
        shared = [*found[ScopeKind.PROJECT, SHARED], *found[ScopeKind.GLOBAL, SHARED]]
        assert len(shared) == amount.count // 5 * amount.processes
    print(f"processes {amount.processes}, acknowledged {len(lines)}, lost 0")


def test_everything_is_findable(said: tuple[Path, list[dict[str, str]]]) -> None:
    """Every text that stands is found by its own word, and what was replaced or forgotten is not."""
    root, lines = said
    last = {(line["scope"], line["key"], line["word"]): line for line in lines}
    with open_book(root) as book:
        for line in last.values():
            hits = {  # without the entries of the same memory that have the word beside them
                (hit.scope, hit.key, hit.text)
                for hit in book.recall(line["word"], mode="lexical", limit=100).hits
                if line["word"] in hit.text
            }
            if line["verb"] == "forget":
                assert hits == set()
            else:
                assert (line["scope"], line["key"], line["text"]) in hits
                assert len(hits) == (2 if line["key"].endswith(("/a", "/b")) else 1)


def test_the_index_is_what_the_files_say(said: tuple[Path, list[dict[str, str]]]) -> None:
    """The index and the pages that several writers left need no mending, and a new index is the same to the row."""
    root, _ = said
    with open_book(root) as book:
        book.list()
        assert book.verify().differences == ()
        before = digest(index_of(book))
    assert [path.name for path in root.rglob(".cp-*")] == []
    files = notes(root)
    drop_index(root)
    with open_book(root) as book:
        book.list()
        assert sorted(set(digest(index_of(book))) ^ set(before)) == []
    assert notes(root) == files
