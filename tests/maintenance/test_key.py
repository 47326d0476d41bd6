"""A key that was damaged or lost is named by doctor and status, and the brief says why it tells nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.memories.layout import KEY_CHECK
from tests.cli.calls import run
from tests.depth import examples
from tests.maintenance.doctor_cases import codes

FACT = "The gate opens at nine."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "book"
    with Book.open(place) as book:
        book.store(FACT, key="gate", scope="global")
    return place


def _key(root: Path) -> Path:
    return root / ".commonplace/key"


def _check(root: Path) -> Path:
    return root.joinpath(*KEY_CHECK.parts)


def _forget_index(root: Path) -> None:
    (root / ".commonplace/index.db").unlink()


@examples(300, quick=20)
@given(at=st.integers(0, 63), digit=st.sampled_from("0123456789abcdefX\xff\0 "))
def test_any_other_byte_in_the_key_is_found(tmp_path_factory: pytest.TempPathFactory, at: int, digit: str) -> None:
    """Whichever byte of the key changes, and to whatever, doctor and status say so; the sound key is no fault."""
    root = tmp_path_factory.mktemp("key") / "book"
    Book.init(root)
    key = _key(root)
    data = bytearray(key.read_bytes())
    is_other = data[at : at + 1] != digit.encode("latin-1")
    data[at : at + 1] = digit.encode("latin-1")
    key.write_bytes(data)
    with Book.open(root) as book:
        found = {finding.code for finding in book.doctor()} & {"key_damaged", "key_unusable"}
        assert bool(found) == is_other and bool(book.status().problems) == is_other


@pytest.mark.parametrize("damage", ["changed", "lost", "empty"])
def test_a_key_that_is_not_the_books_own(root: Path, damage: str) -> None:
    """doctor and status name it, the brief says why it is empty, and vouching for the memories settles it."""
    if damage == "lost":
        _key(root).unlink()
    else:
        _key(root).write_text(f"{'ab' * 32}\n" if damage == "changed" else "\n", "ascii")
    _forget_index(root)
    said = run("brief", "--root", str(root)).out
    assert "1 memory is kept here" in said and "commonplace doctor" in said
    assert {"key_damaged", "key_unusable"} & codes(root)
    if damage == "empty":
        return  # there is no key to vouch with
    assert "key" in run("status", "--root", str(root)).out
    with Book.open(root) as book:
        assert book.vouch() == 1
    with Book.open(root) as book:
        assert book.doctor() == [] and not book.status().problems and FACT in book.brief().text


def test_a_restored_key_is_no_fault(root: Path) -> None:
    """With the right key back in its place, everything is as it was."""
    data = _key(root).read_bytes()
    _key(root).write_text(f"{'ab' * 32}\n", "ascii")
    assert "key_damaged" in codes(root)
    _key(root).write_bytes(data)
    assert codes(root) == set()


def test_an_older_key_gains_a_check_value(root: Path) -> None:
    """The upkeep gives an older key its check value, if an entry proves that it is the right key."""
    _check(root).unlink()
    with Book.open(root) as book:
        book.retire()
    assert _check(root).exists() and codes(root) == set()
    _check(root).unlink()
    _key(root).write_text(f"{'ab' * 32}\n", "ascii")
    _forget_index(root)
    with Book.open(root) as book:
        book.retire()
        assert not _check(root).exists()
        (finding,) = book.doctor()
        assert finding.code == "from_outside" and finding.message.endswith(": 1.")


def test_the_check_value_does_not_leave_this_copy(root: Path) -> None:
    """It stands in a folder that `.gitignore` names, and cannot be the key."""
    assert "/vouched/" in (root / ".commonplace/.gitignore").read_text("utf-8")
    assert _check(root).read_text("ascii").strip() not in _key(root).read_text("ascii")
    assert os.stat(_check(root)).st_mode & 0o077 == 0
