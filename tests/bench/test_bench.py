"""`make bench` measures what it says, on a small scale; how fast that was is no matter here."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace.book import Book
from commonplace.embed.port import Embedder
from commonplace.model import DISTRIBUTION
from tests.bench import scratch_books
from tests.bench.__main__ import SECTIONS, main
from tests.bench.measure import Amount, Duration, Growth, Measure, Note, Start, tables
from tests.bench.processes import required_packages, size_mb

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors


def run(folder: Path, capsys: pytest.CaptureFixture[str], *sections: str) -> list[dict[str, object]]:
    only = [word for name in sections for word in ("--only", name)]
    sizes = ("--rounds", "2", "--large", "20", "--largest", "40")
    assert main(["--json", "--where", str(folder / "where"), *sizes, *only]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.deep
def test_parts_are_measured_as_they_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The parts that are asked for are measured, each to its end, and nothing is left behind."""
    found = run(tmp_path, capsys, "recall", "open", "growth", "store", "bulk")
    assert [row for row in found if "not_measured" in row] == []
    names = {str(row["name"]) for row in found}
    assert {
        "recall, warm, 20, without the question's vector, against bare FTS5",
        "recall, warm, 20, against bare vectors",
    } <= names
    assert {"recall, warm, 40, against 20", "store_many of 20", "change check of 20 files"} <= names
    grown = [row["ms"] for row in found if row["section"] == "growth"]
    assert len(grown) == 5 and all(list(ms) == ["11", "20", "40"] for ms in grown if isinstance(ms, dict))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.deep
@pytest.mark.skipif(sys.platform == "win32", reason="on Windows a hook goes by words")
def test_the_hooks_of_one_part_leave_the_next_something_to_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The prompts of one part are in sessions of their own: the next part, in the same book, is told as much."""
    found = run(tmp_path, capsys, "starts", "prompts")
    assert [row for row in found if "not_measured" in row] == []
    assert {row["section"] for row in found} == {"starts", "prompts"}


def test_a_part_that_breaks_is_said_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that fails is a row that says so, the others go on, and the build does not fail."""

    def broken(_: object) -> list[Measure]:
        raise OSError("no disk")

    monkeypatch.setitem(SECTIONS, "bulk", broken)
    first, *rest = run(tmp_path, capsys, "bulk", "install")
    assert first == {"section": "bulk", "name": "bulk", "not_measured": "it failed: OSError: no disk"}
    assert [row["section"] for row in rest] == ["install", "install"]


def test_a_large_book_is_not_embedded_text_by_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry of a large book has a vector under the name that recall looks for, and few texts were embedded."""
    monkeypatch.setattr(scratch_books, "_MAX_EMBEDDED", 10)
    with Book.open(tmp_path / "book", project="bench/1") as book:
        book.store_many({"content": text} for text in scratch_books.texts(40))
        semantic = book.context.semantic_index()
        semantic.embedder = counting = CountingEmbedder(semantic.embedder)
        scratch_books.embed_whole(book)
        assert semantic.count_pending() == 0 and counting.texts == 10


class CountingEmbedder:
    """An embedder that counts the texts that it was given."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.model, self.dimension = embedder, embedder.model, embedder.dimension
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text."""
        self.texts += len(texts)
        return self._embedder.embed(texts)


def test_an_install_is_what_we_require_and_no_more() -> None:
    """The default install is found by walking requirements: ours and theirs, none of an extra or of development."""
    names = required_packages(DISTRIBUTION)
    assert {DISTRIBUTION, "mcp", "numpy", "pyyaml", "pydantic-core"} <= set(names)
    assert not {"pytest", "mypy", "onnxruntime", "tokenizers"} & set(names)
    listed = [Path(str(file.locate())) for file in importlib.metadata.files("numpy") or []]
    assert size_mb("numpy") >= sum(path.stat().st_size for path in listed if path.is_file()) / 1e6 > 1


def test_tables_say_what_is_within_and_what_is_over() -> None:
    """Each kind of row is in a table of its own, with its verdict; a budget of a start grows with the floor."""
    rows = [
        Measure("fast", 1.0, 2.0, 3.0),
        Measure("slow", 1.0, 4.0, 3.0),
        Measure("free", 1.0, 4.0, None),
        Start("start", 26.0, 136.0, 60.0),
        Duration("work", 1.5, None),
        Amount("weight", 300, "MB", 200.0),
        Growth("store", {10: 1.0, 100: 2.5}),
        Note("rest", "it was late"),
    ]
    blocks = [block.splitlines() for block in tables(rows).split("\n\n")]
    assert [len(block) for block in blocks] == [4, 2, 2, 2, 2, 2]
    assert [line.split()[-1] for line in blocks[0][1:]] == ["within", "OVER", "-"]
    assert blocks[1][1].split()[-2:] == ["120.0", "within"]
    assert blocks[2][1].split() == ["work", "1.500", "-", "-"] and blocks[3][1].endswith("OVER")
    assert "(x2.5)" in blocks[4][1] and "it was late" in blocks[5][1]
