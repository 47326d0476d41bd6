"""The index is derived: killed at any commit, older than the files, deleted or damaged, it comes to say the same."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from commonplace.model.errors import StorageError
from tests.depth import IS_LONG, depths
from tests.stateful.books import answers, digest, drop_index, index_of, leave, notes, open_book
from tests.stateful.cuts import WORDS, Point, play

Played = tuple[list[Point], list[dict[str, bytes]]]


@pytest.fixture(scope="module", params=depths(97, 4, 1))
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The points, of which `make test` has every 97th, `make deep` every fourth and its long form every one."""
    place = tmp_path_factory.mktemp("cuts")
    return play(place / "book", place / "kept", request.param)


def differing(one: Mapping[str, object], other: Mapping[str, object]) -> list[object]:
    return [(one[name], other[name]) for name in one if one[name] != other[name]]


def check(root: Path, scratch: Path) -> int:
    """This root answers as one whose index is built from nothing; answers how many rows were compared."""
    before = notes(root)
    with open_book(root) as book:
        answered = answers(book, [*WORDS])  # first: what only this index knows goes to the history
    anew = leave(root, scratch / "anew")
    drop_index(anew)
    with open_book(anew) as fresh:
        said, rows = answers(fresh, [*WORDS]), digest(index_of(fresh))
    assert differing(answered, said) == []
    with open_book(root) as book:
        assert differing(answers(book, [*WORDS]), said) == []
        assert sorted(set(digest(index_of(book))) ^ set(rows)) == []
        book.reindex()
        assert book.verify().differences == ()
        assert sorted(set(digest(index_of(book))) ^ set(rows)) == []
    assert notes(root) == before
    shutil.rmtree(scratch)
    return len(rows)


def test_killed_at_a_commit(played: Played, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """At each point of an index commit the files are whole, and the index comes to say just what they say."""
    points, states = played
    rows = 0
    for number, point in enumerate(points):
        assert notes(point.root) in (states[max(point.operation - 1, 0)], states[point.operation]), point
        rows += check(leave(point.root, tmp_path / f"{number}"), tmp_path / "scratch")
    moments = {point.moment for point in points}
    assert moments == {"before BEGIN", "before COMMIT", "after COMMIT"}
    print(f"abort points {len(points)}, rows compared {rows}, differing 0")
    is_quick = request.node.callspec.id == "quick"
    assert len(points) >= (5 if is_quick else 50)


def test_an_index_older_than_the_files(played: Played, tmp_path: Path) -> None:
    """Commits are not synced: after a power cut the notes may be ahead of the index by any number of writes."""
    points, _ = played
    chance = random.Random(15)
    for number in range(len(points) // 4 if not IS_LONG else 400):
        old, new = sorted(chance.sample(range(len(points)), 2))
        root = leave(points[new].root, tmp_path / f"{number}", databases=points[old].root)
        check(root, tmp_path / "scratch")
        shutil.rmtree(root)


def test_a_commit_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the index cannot commit, the memory is stored all the same: its files are durable. The same book finds it,
    and goes on with the next one."""
    with open_book(tmp_path / "book") as book:
        book.store("Quartz.", key="first")
        index = index_of(book)
        real = index._execute

        def fail(statement: str) -> None:
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            real(statement)

        monkeypatch.setattr(index, "_execute", fail)
        assert book.store("Basalt.", key="second").action == "created"
        monkeypatch.undo()
        assert [hit.key for hit in book.recall("basalt", mode="lexical").hits] == ["second"]
        book.store("Granite.", key="third")
        assert [item.key for item in book.list()] == ["first", "second", "third"]
        assert book.verify().differences == ()


@pytest.mark.parametrize("number_of_notes", depths(150, 2_000, 10_000))
def test_deleted_and_built_again(tmp_path: Path, number_of_notes: int) -> None:
    """The index of many notes with a past is deleted; built again from the files, no row differs."""
    root = tmp_path / "book"
    with open_book(root) as book:
        keys = [f"{chr(97 + n % 26)}/note-{n}" if n % 3 else f"note-{n}" for n in range(number_of_notes)]
        book.store_many(
            {"content": f"Fact unique{n:05d} about {WORDS[n % 11]}.", "key": key, "tags": [WORDS[n % 7]]}
            for n, key in enumerate(keys)
        )
        book.store_many({"content": f"More about {key}.", "key": key} for key in keys[::7])
        book.store_many({"content": f"Instead of {key}.", "key": key, "mode": "replace"} for key in keys[::13])
        for key in keys[:60:2]:
            book.forget(key)
        book.consolidate(keys[1:9:2], "Four in one.", key="four")
        words = [f"unique{n:05d}" for n in range(0, number_of_notes, 40)]
        before, said = digest(index_of(book)), answers(book, words, "lexical")
    drop_index(root)
    with open_book(root) as book:
        assert differing(answers(book, words, "lexical"), said) == []
        after = digest(index_of(book))
        differ = sorted(set(before) ^ set(after))
        assert differ[:4] == []
        assert len(before) == len(after)
        assert book.verify().differences == ()
    print(f"notes {number_of_notes}, rows {len(after)}, differing {len(differ)}")


def flip(path: Path, chance: random.Random, *, start: int = 0) -> None:
    """Bit rot: one byte is another, and nothing that can be seen from outside has changed."""
    looks = path.stat()
    data = bytearray(path.read_bytes())
    data[chance.randrange(start, len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    os.utime(path, ns=(looks.st_atime_ns, looks.st_mtime_ns))


def works(root: Path) -> None:
    """A book is read; if its index turns out to be damaged, that is an error of ours once, and no longer when the same
    is asked again."""
    with open_book(root) as book:
        for last in (False, True):
            try:
                assert book.list() and book.recall("chalk").hits
                book.verify()
                return
            except StorageError:
                assert not last


@pytest.mark.parametrize("rounds", depths(1, 8, 60))
@pytest.mark.parametrize("flips", [1, 4, 64])
def test_a_damaged_index(tmp_path: Path, flips: int, rounds: int) -> None:
    """Whatever byte of the index is flipped, every note stays, can be read and be written, and a reindex mends it."""
    base = tmp_path / "base"
    with open_book(base) as book:
        book.store_many(
            {"content": f"Fact {n} about {word}.", "key": f"{word}-{n}"} for n in range(9) for word in WORDS
        )
        book.store("Replaced.", key="chalk-1", mode="replace")
        rows = digest(index_of(book))
    before, chance = notes(base), random.Random(flips)
    for number in range(rounds):
        root = leave(base, tmp_path / f"{flips}-{number}")
        for _ in range(flips):
            flip(root / ".commonplace" / "index.db", chance)
        works(root)
        with open_book(root) as book:
            book.reindex()
            assert book.verify().differences == ()
            assert sorted(set(digest(index_of(book))) ^ set(rows)) == []
            book.store("Still works.", key="works")
            assert [hit.key for hit in book.recall("still works", mode="lexical").hits] == ["works"]
            assert len(book.list()) == len(before) + 1
        after = notes(root)
        assert {name: data for name, data in after.items() if name in before} == before


@pytest.mark.parametrize("number_of_notes", depths(5, 40))
def test_bit_rot_in_a_note(tmp_path: Path, number_of_notes: int) -> None:
    """A flipped byte of a note is found by verify, whatever byte it is; mending deletes and changes no file."""
    root, chance = tmp_path / "book", random.Random(15)
    with open_book(root) as book:
        for number in range(number_of_notes):
            book.store(f"Fact {number} about {WORDS[number % 11]}.", key=f"fact-{number}")
    for path in sorted((root / "memories" / "project").rglob("fact-*.md")):
        flip(path, chance)
        before = notes(root)
        with open_book(root) as book:
            assert path.stem in " ".join(book.verify().differences)
            book.reindex()
            assert book.verify().differences == ()
        assert notes(root) == before
