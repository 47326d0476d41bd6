"""A picture of the table: how well each way finds against how long it takes, as PNG.

A plotting library would be the largest thing we install, for one picture that few ask for. A PNG is a dozen lines of
the standard library, and the letters that its labels need are drawn below, by hand: what they look like is what is
written. The same results give the same bytes.
"""

import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from commonplace.bench.recall import Result

WIDTH, HEIGHT = 960, 600
LEFT, RIGHT, TOP, BOTTOM = 90, 930, 70, 520  # of the field in which the points are
PALETTE = (b"\xff\xff\xff", b"\x22\x22\x22", b"\xdd\xdd\xdd", b"\x77\x77\x77", b"\x1f\x5f\xa8", b"\xb0\x5a\x1a")
PAPER, INK, GRID, FAINT, OURS, PLAIN = range(len(PALETTE))
SIZE = 2  # pixels of each dot of a letter
ADVANCE, TALL = 6 * SIZE, 9 * SIZE
DOT = 7  # pixels from the middle of a point to its edge

# Five dots wide and nine high: two above for what reaches up, two below for what hangs down.
LETTERS = """
    a     b     c     d     e     f     g     h     i     j     k     l     m     n     o     p
  ..... #.... ..... ....# ..... ..##. ..... #.... ..#.. ...#. #.... .##.. ..... ..... ..... .....
  ..... #.... ..... ....# ..... .#... ..... #.... ..... ..... #.... ..#.. ..... ..... ..... .....
  .###. ####. .###. .#### .###. ####. .#### ####. .##.. ..##. #..#. ..#.. ##.#. ####. .###. ####.
  ....# #...# #.... #...# #...# .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.# #...# #...# #...#
  .#### #...# #.... #...# ##### .#... #...# #...# ..#.. ...#. ##... ..#.. #.#.# #...# #...# #...#
  #...# #...# #.... #...# #.... .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.# #...# #...# #...#
  .#### ####. .###. .#### .###. .#... .#### #...# .###. ...#. #..#. .###. #.#.# #...# .###. ####.
  ..... ..... ..... ..... ..... ..... ....# ..... ..... #..#. ..... ..... ..... ..... ..... #....
  ..... ..... ..... ..... ..... ..... .###. ..... ..... .##.. ..... ..... ..... ..... ..... #....
    q     r     s     t     u     v     w     x     y     z     0     1     2     3     4     5
  ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... .###. ..#.. .###. .###. ...#. #####
  ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... #...# .##.. #...# #...# ..##. #....
  .#### #.##. .#### ####. #...# #...# #.#.# #...# #...# ##### #..## ..#.. ....# ....# .#.#. ####.
  #...# ##... #.... .#... #...# #...# #.#.# .#.#. #...# ...#. #.#.# ..#.. ...#. ..##. #..#. ....#
  #...# #.... .###. .#... #...# #...# #.#.# ..#.. #...# ..#.. ##..# ..#.. ..#.. ....# ##### ....#
  #...# #.... ....# .#... #...# .#.#. #.#.# .#.#. #...# .#... #...# ..#.. .#... #...# ...#. #...#
  .#### #.... ####. ..##. .#### ..#.. .#.#. #...# .#### ##### .###. .###. ##### .###. ...#. .###.
  ....# ..... ..... ..... ..... ..... ..... ..... ....# ..... ..... ..... ..... ..... ..... .....
  ....# ..... ..... ..... ..... ..... ..... ..... .###. ..... ..... ..... ..... ..... ..... .....
    6     7     8     9     .     ,     -     :     @     %     _     (     )     C     D     G
  .###. ##### .###. .###. ..... ..... ..... ..... .###. ##..# ..... ...#. .#... .###. ####. .###.
  #.... ....# #...# #...# ..... ..... ..... .##.. #...# ##..# ..... ..#.. ..#.. #...# #...# #...#
  #.... ...#. #...# #...# ..... ..... ..... .##.. #.### ...#. ..... .#... ...#. #.... #...# #....
  ####. ..#.. .###. .#### ..... ..... .###. ..... #.#.# ..#.. ..... .#... ...#. #.... #...# #.###
  #...# ..#.. #...# ....# ..... ..... ..... .##.. #.##. .#... ..... .#... ...#. #.... #...# #...#
  #...# .#... #...# ....# .##.. .##.. ..... .##.. #.... #..## ..... ..#.. ..#.. #...# #...# #...#
  .###. .#... .###. .###. .##.. .##.. ..... ..... .###. #..## ##### ...#. .#... .###. ####. .###.
  ..... ..... ..... ..... ..... ..#.. ..... ..... ..... ..... ..... ..... ..... ..... ..... .....
  ..... ..... ..... ..... ..... .#... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....
"""


class Box(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int

    def meets(self, other: "Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Point(NamedTuple):
    label: str
    x: int
    y: int
    ours: bool

    @property
    def box(self) -> Box:
        return Box(self.x - DOT, self.y - DOT, self.x + DOT + 1, self.y + DOT + 1)


class Canvas:
    """Pixels, each the number of a colour of the palette. What is drawn outside is not drawn."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(width) for _ in range(height)]
        self._letters = _letters()

    def fill(self, box: Box, colour: int) -> None:
        left, right = max(box.left, 0), min(box.right, self.width)
        for row in self._rows[max(box.top, 0) : max(box.bottom, 0)]:
            row[left:right] = bytes([colour]) * max(right - left, 0)

    def disc(self, point: Point, colour: int) -> None:
        for down in range(-DOT, DOT + 1):
            half = math.isqrt(DOT * (DOT + 1) - down * down)
            self.fill(Box(point.x - half, point.y + down, point.x + half + 1, point.y + down + 1), colour)

    def text(self, left: int, top: int, text: str, colour: int = INK) -> None:
        for place, letter in enumerate(text):
            for down, across in self._letters.get(letter) or self._letters.get(letter.lower(), ()):
                x, y = left + place * ADVANCE + across * SIZE, top + down * SIZE
                self.fill(Box(x, y, x + SIZE, y + SIZE), colour)

    def png(self) -> bytes:
        """One byte a pixel, no filter: the picture is nearly all paper, so it is small all the same."""
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)
        rows = b"".join(b"\0" + bytes(row) for row in self._rows)
        parts = (b"IHDR", header), (b"PLTE", b"".join(PALETTE)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _letters() -> Mapping[str, Sequence[tuple[int, int]]]:
    """The dots of each letter, as (down, across)."""
    lines = LETTERS.strip("\n").split("\n")
    found: dict[str, list[tuple[int, int]]] = {}
    for start in range(0, len(lines), 10):
        for column, letter in enumerate(lines[start].split()):
            drawn = [line[2 + column * 6 : 7 + column * 6] for line in lines[start + 1 : start + 10]]
            found[letter] = [(down, x) for down, row in enumerate(drawn) for x, dot in enumerate(row) if dot == "#"]
    return found


def picture(name: str, results: Sequence[Result], ours: Sequence[str]) -> bytes:
    """nDCG@10 upwards, p50 latency to the right (each step ten times the last): up and left is better."""
    canvas = Canvas(WIDTH, HEIGHT)
    low, high = _powers([result.p50_ms for result in results])
    least, most = _tens([100 * result.ndcg10 for result in results])
    _axes(canvas, name, (low, high), (least, most))
    points = []
    for result in results:
        share = (math.log10(max(result.p50_ms, 1e-6)) - low) / (high - low)
        height = (100 * result.ndcg10 - least) / (most - least)
        label = f"{result.name} {100 * result.ndcg10:.1f}, {_milliseconds(result.p50_ms)}"
        x, y = LEFT + round(share * (RIGHT - LEFT)), BOTTOM - round(height * (BOTTOM - TOP))
        points.append(Point(label, x, y, result.name in ours))
    taken = [point.box for point in points]
    for point in points:
        colour = OURS if point.ours else PLAIN
        canvas.disc(point, colour)
        place = _free_place(point, taken)
        taken.append(place)
        canvas.text(place.left, place.top, point.label, colour)
    return canvas.png()


def _axes(canvas: Canvas, name: str, times: tuple[int, int], shares: tuple[int, int]) -> None:
    title = f"{name[:40]}: nDCG@10 in % against p50 latency"
    canvas.text(LEFT, 20, title)
    canvas.text(RIGHT - 24 * ADVANCE, TOP - TALL - 4, "up and left is better", FAINT)
    canvas.text(LEFT, HEIGHT - TALL - 8, "ours", OURS)
    canvas.text(LEFT + 5 * ADVANCE, HEIGHT - TALL - 8, "and plain ways to search the same texts", PLAIN)
    for share in range(shares[0], shares[1] + 1, 10):
        y = BOTTOM - round((share - shares[0]) / (shares[1] - shares[0]) * (BOTTOM - TOP))
        canvas.fill(Box(LEFT, y, RIGHT, y + 1), GRID)
        canvas.text(LEFT - 8 - len(str(share)) * ADVANCE, y - TALL // 2, str(share))
    for power in range(times[0], times[1] + 1):
        x = LEFT + round((power - times[0]) / (times[1] - times[0]) * (RIGHT - LEFT))
        canvas.fill(Box(x, TOP, x + 1, BOTTOM), GRID)
        label = _milliseconds(10.0**power)
        canvas.text(min(x - len(label) * ADVANCE // 2, WIDTH - len(label) * ADVANCE), BOTTOM + 10, label)
    canvas.fill(Box(LEFT, TOP, LEFT + 1, BOTTOM), INK)
    canvas.fill(Box(LEFT, BOTTOM, RIGHT, BOTTOM + 1), INK)


def _free_place(point: Point, taken: Sequence[Box]) -> Box:
    """Where a label touches nothing and stays in the picture, as near to its point as may be; else right of it."""
    places = list(_places(point))
    inside = Box(LEFT, TOP - TALL, WIDTH - 4, BOTTOM)
    for place in places:
        fits = place.left >= inside.left and place.right <= inside.right
        if fits and inside.top <= place.top and place.bottom <= inside.bottom and not any(map(place.meets, taken)):
            return place
    return places[0]


def _places(point: Point) -> Iterator[Box]:
    wide = len(point.label) * ADVANCE
    lefts = (point.x + DOT + 5, point.x - DOT - 5 - wide, point.x - wide // 2)
    for away in range(0, 6 * TALL, TALL // 2):
        for left in lefts:
            for top in (point.y - TALL // 2 - away, point.y - TALL // 2 + away):
                yield Box(left, top, left + wide, top + TALL)


def _powers(times: Sequence[float]) -> tuple[int, int]:
    """The powers of ten below and above all times."""
    logs = [math.log10(max(time, 1e-6)) for time in times] or [0.0]
    low = math.floor(min(logs))
    return low, max(math.ceil(max(logs)), low + 1)


def _tens(shares: Sequence[float]) -> tuple[int, int]:
    """The tens below and above all shares."""
    least = 10 * math.floor(min(shares, default=0.0) / 10)
    return least, max(10 * math.ceil(max(shares, default=0.0) / 10), least + 10)


def _milliseconds(value: float) -> str:
    return f"{value:.2g} ms" if value < 10 else f"{value:.0f} ms"
