"""The picture of quality against latency, read back pixel by pixel."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.bench import plot
from commonplace.bench.recall import Result
from tests.cli.calls import fine
from tests.cli.cases import SMALL_SET

OURS = ("hybrid", "lexical", "semantic")
EMPTY = Result("", 10, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None, None, 0.0, 0.0, {}, {})


def way(name: str, quality: float, ms: float) -> Result:
    return EMPTY._replace(name=name, ndcg10=quality, p50_ms=ms)


def pixels(data: bytes) -> list[bytes]:
    """The rows of a picture, as a strict reader of PNG sees them: every chunk whole, in order, with its sum right."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + body),)
        chunks.append((kind, body))
        at += 12 + length
    assert [kind for kind, _ in chunks] == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, colours, rest) == (8, 3, [0, 0, 0])
    raw = zlib.decompress(chunks[2][1])
    assert len(raw) == height * (width + 1) and not any(raw[:: width + 1])
    rows = [raw[start + 1 : start + 1 + width] for start in range(0, len(raw), width + 1)]
    assert max(map(max, rows)) < len(chunks[1][1]) // 3
    return rows


def middle(rows: list[bytes], colour: int) -> tuple[int, int]:
    """Where the only point of a colour is: nothing else is as wide as the middle of one."""
    mark = bytes([colour]) * (2 * plot.DOT + 1)
    found = [(row.index(mark) + plot.DOT, y) for y, row in enumerate(rows) if mark in row]
    assert len({x for x, _ in found}) == 1 and len(found) < 2 * plot.DOT
    return found[len(found) // 2]


def test_points_are_where_the_figures_say() -> None:
    """The fastest and worst is in the lower left corner, ten times slower and ten points better in the upper right."""
    rows = pixels(plot.picture("set", [way("hybrid", 0.40, 1.0), way("fts5", 0.30, 0.1)], OURS))
    assert (len(rows[0]), len(rows)) == (plot.WIDTH, plot.HEIGHT)
    assert middle(rows, plot.OURS) == (plot.RIGHT, plot.TOP)
    assert middle(rows, plot.PLAIN) == (plot.LEFT, plot.BOTTOM)


def test_a_letter_is_drawn_as_it_is_written() -> None:
    """The dots of a letter on the canvas are those of the table, twice as large."""
    canvas = plot.Canvas(12, 20)
    canvas.text(0, 0, "l")
    rows = pixels(canvas.png())
    drawn = ["".join(".#"[rows[y][x]] for x in range(0, 10, 2)) for y in range(0, 18, 2)]
    assert drawn == [".##..", "..#..", "..#..", "..#..", "..#..", "..#..", ".###.", ".....", "....."]


def test_every_character_of_the_labels_has_a_letter() -> None:
    """What titles, axes, modes and plain ways are called can be written with the letters that there are."""
    said = "nDCG@10 in % against p50 latency up and left is better ours and plain ways to search the same texts"
    said += "hybrid lexical semantic grep fts5 vectors 0123456789., ms own_set locomo-dev"
    assert set(said) - {" "} <= set(plot._letters())
    assert all(plot._letters().values())


def test_labels_of_neighbours_do_not_cover_each_other() -> None:
    """Six ways with the same figures have six labels side by side, and the same results make the same picture."""
    results = [way(name, 0.5, 1.0) for name in (*OURS, "grep", "fts5", "vectors")]
    taken: list[plot.Box] = []
    for result in results:
        place = plot._free_place(plot.Point(result.name + " 50.0, 1 ms", 500, 300, ours=True), taken)
        assert not any(map(place.meets, taken))
        taken.append(place)
    assert plot.picture("set", results, OURS) == plot.picture("set", results, OURS)


@settings(max_examples=15, deadline=None)
@given(
    st.text(max_size=60),
    st.lists(st.builds(way, st.text(max_size=30), st.floats(0, 1), st.floats(0, 1e6, allow_nan=False)), max_size=7),
)
@example("none", [])
@example("nothing found in no time", [way("hybrid", 0.0, 0.0)])
def test_any_results_make_a_picture(name: str, results: list[Result]) -> None:
    """No name and no figures, however odd, break the picture."""
    assert len(pixels(plot.picture(name, results, OURS))) == plot.HEIGHT


def test_the_command_writes_the_picture(tmp_path: Path) -> None:
    """`bench recall --plot FILE` leaves a picture of all its ways there, ours and plain, and answers as ever."""
    file = tmp_path / "quality.png"
    found = fine("bench", "recall", "--data", SMALL_SET, "--plot", str(file), "--root", str(tmp_path / "book"))
    assert [result["name"] for result in found["results"]] == [*OURS, "grep", "fts5", "vectors"]
    drawn = {colour for row in pixels(file.read_bytes()) for colour in row}
    assert {plot.OURS, plot.PLAIN} <= drawn
