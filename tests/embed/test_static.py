"""The embedder inside the install: its table, what it knows, and that it is the same everywhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from commonplace.embed import StaticEmbedder, static_table
from commonplace.embed.static_table import MAX_PIECES, StaticTable, WordPiece
from commonplace.model.errors import EmbedderMissing
from tests.embed.conformance import find_known_rows
from tests.embed.near import NEAR
from tools import make_static_table

TABLE = Path(static_table.__file__).parent / "table"
EMBEDDER = StaticEmbedder()


def test_the_table_is_the_one_the_notice_tells_of() -> None:
    """The files have the hashes in NOTICE; whoever makes a new table must give the model a new name, here too."""
    notice = (TABLE / "NOTICE").read_text("utf-8")
    hashes = {name: hashlib.sha256((TABLE / name).read_bytes()).hexdigest() for name in ("pieces.txt", "vectors.bin")}
    assert all(f"{name:12} sha256 {found}" in notice for name, found in hashes.items())
    assert make_static_table.WHEEL_HASH in notice
    assert make_static_table.MODEL_HASH in notice
    assert (StaticEmbedder.model, hashes["vectors.bin"][:8]) == ("commonplace-256-int4-v2", "579af7e2")


def test_the_table_is_small() -> None:
    """All of the table is under 4.1 MB on disk."""
    assert sum(file.stat().st_size for file in TABLE.iterdir()) < 4_100_000


@pytest.mark.parametrize(("question", "answer", "other"), NEAR)
def test_meaning_is_found(question: str, answer: str, other: str) -> None:
    """A question is nearer to its answer in other words than to something else."""
    asked, right, wrong = EMBEDDER.embed([question, answer, other])
    assert asked @ right > asked @ wrong + 0.05


@pytest.mark.parametrize("text", ["?!", "---", "😀🎉", "\x00", "ꙮ", "a" * 101])
def test_what_is_not_in_the_table_has_no_vector(text: str) -> None:
    """A text of which no word is known has no vector, which is not a vector of zeros to be compared."""
    assert not find_known_rows(EMBEDDER.embed([text]))[0]


def test_the_same_on_every_machine() -> None:
    """Vectors are sums of whole numbers: these bits are expected of every machine."""
    vectors = EMBEDDER.embed(["Where do we keep the passwords?", "café £50", "the " * 5_000])
    found = hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest()
    assert found[:16] == "88bedab69baee548"


def test_punctuation_and_case_do_not_matter() -> None:
    """What is only written differently has the same vector."""
    one, other = EMBEDDER.embed(["Where do we keep the passwords?", "where... do WE keep the pásswords"])
    assert (one == other).all()


def test_a_long_text_is_read_to_its_limit() -> None:
    """Of a text without end the first pieces count, and their sum does not overflow."""
    start, more, other = EMBEDDER.embed(["kitten " * MAX_PIECES, "kitten " * MAX_PIECES + "tax " * 9_000, "kitten"])
    assert (start == more).all()
    assert np.allclose(start, other, atol=1e-6)
    assert 7 * 65_535 * MAX_PIECES < 2**31


def test_a_missing_table_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without its table, or with a part of it, there is an error and no guess."""
    monkeypatch.setattr(static_table, "_FOLDER", str(tmp_path))
    with pytest.raises(EmbedderMissing, match="cannot be read"):
        StaticEmbedder().embed(["x"])
    (tmp_path / "pieces.txt").write_text("a\nb", "utf-8")
    (tmp_path / "vectors.bin").write_bytes(b"x" * 100)
    with pytest.raises(EmbedderMissing, match="damaged"):
        StaticEmbedder().embed(["x"])


def test_rounding_keeps_what_it_can() -> None:
    """The maker of the table gets back what it packed, to within what four bits allow, and the order of lengths."""
    rows = np.random.default_rng(7).normal(size=(50, StaticEmbedder.dimension)) * np.arange(1, 51)[:, None]
    numbers, weights = make_static_table.quantised(rows)
    assert np.abs(numbers).max() <= 7
    back = numbers * weights[:, None].astype(float)
    cosines = (back * rows).sum(axis=1) / np.linalg.norm(back, axis=1) / np.linalg.norm(rows, axis=1)
    assert cosines.min() > 0.99
    table = StaticTable(WordPiece({}), make_static_table.packed(numbers).view(np.int8), weights)
    assert (table.unpack(range(50)) == numbers * weights[:, None].astype(np.int32)).all()
