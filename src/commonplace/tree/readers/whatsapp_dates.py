"""Read the dates of WhatsApp chats, which every phone writes as its own region does.

`split_head` takes a line apart; `DateOrder` sees all dates of a file, and then says which number is the day. A number
above 12 is no month. Where that leaves a choice, it is the order in which the days go back least often. Where that
leaves a choice too, the region decides as far as it shows: `4/3/26, 9:30 PM` has the month first, as in the US (with
slashes, a short year, no zeros in front, a clock of 12 hours), and everything else the day. A year above 2500 is
Buddhist. Times of other calendars are not known.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from commonplace.model.lazy import lazy

_LONGEST = 100  # characters before the name
_SPACES = "\u00a0\u2007\u2009\u202f\u3000"
_MARKS = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_HEAD = lazy(
    r"(?P<bracket>\[\s?)?(?P<a>\d{1,4})(?P<sep>[^\d\n\[\]]{1,4})(?P<b>\d{1,2})[^\d\n\[\]]{1,4}(?P<c>\d{1,4})(?!\d)"
    r"(?P<before>[^\d\n\[\]:]{1,24})(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?(bracket)(?:[:.](?P<second>\d\d))?)(?!\d)"
    r"(?P<after>[^\d\n\[\]:]{0,24}?)(?(bracket)\]|(?:\s[-\u2013\u2014]\s|(?P<comma>,\s)))\s?"
)
_KOREAN = lazy("오전|오후")  # before noon, after noon
_ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}  # where year, month and day are
_BUDDHIST = 543


class LineHead(NamedTuple):
    """The date and time with which a line begins, in the order of the line, and what follows them."""

    numbers: tuple[int, int, int]
    hour: int
    minute: int
    second: int
    marks: tuple[str, str]  # the last word before the time, and what follows it: one may say the half of the day
    has_slashes: bool
    has_zeros: bool  # in front of a number
    rest: str


class _Folding(dict[int, str]):
    """Characters as they are matched: digits of all scripts as ASCII, spaces and invisible marks as a space."""

    def __missing__(self, code: int) -> str:
        digit = unicodedata.decimal(chr(code), -1)
        self[code] = str(digit) if digit >= 0 else chr(code)
        return self[code]


_FOLDING = _Folding({ord(ch): " " for ch in _SPACES + _MARKS})


def split_head(line: str) -> LineHead | None:
    """Return the date with which a line begins, if it begins a message or a notice."""
    line = line.lstrip(_MARKS)
    start = line[:_LONGEST]
    folded = start if start.isascii() else start.translate(_FOLDING)
    if not folded[:1].isdigit() and not folded.startswith("["):
        return None
    head = _HEAD.match(folded)
    if head is None or (
        head["comma"] and not any(map(str.isalpha, head["sep"])) and not _KOREAN.search(head["before"])
    ):
        return None  # a comma ends the time only in Korea
    parts = (head["a"], head["b"], head["c"])
    return LineHead(
        numbers=(int(parts[0]), int(parts[1]), int(parts[2])),
        hour=int(head["hour"]),
        minute=int(head["minute"]),
        second=int(head["second"] or 0),
        marks=(_letters(head["before"].rstrip().rpartition(" ")[2]), _letters(head["after"])),
        has_slashes="/" in head["sep"],
        has_zeros=any(part.startswith("0") for part in parts),
        rest=line[head.end() :],
    )


class DateOrder:
    """What the dates of a file mean: `add` all of them, then `decide`, then ask."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int, int]] = {}
        self._faults: dict[str, list[int]] = {order: [0, 0] for order in _ORDERS}  # impossible, gone back
        self._has_slashes = self._has_zeros = self._has_long_years = False
        self._marks = Counter[tuple[str, str]]()
        self._later = Counter[tuple[str, str]]()  # how often a word comes after another one on a day, less the reverse
        self._before: LineHead | None = None
        self._order = "dmy"
        self._is_second_half: dict[tuple[str, str], bool] = {}

    def add(self, head: LineHead) -> None:
        """Take in a date."""
        for order in _ORDERS:
            date = _find_date(head.numbers, order)
            if date is None:
                self._faults[order][0] += 1
            else:
                self._faults[order][1] += date < self._last.get(order, date)
                self._last[order] = date
        self._has_slashes |= head.has_slashes
        self._has_zeros |= head.has_zeros
        self._has_long_years |= max(head.numbers) > 99
        before = self._before
        if before is not None and before.numbers == head.numbers and before.marks != head.marks:
            self._later[head.marks] += 1
            self._later[before.marks] -= 1
        self._before = head
        if head.marks in self._marks or len(self._marks) < 100:
            self._marks[head.marks] += 1

    def decide(self) -> None:
        """Choose what fits all the dates best."""
        known = {marks: not _AM.isdisjoint(marks) or not _PM.isdisjoint(marks) for marks in self._marks}
        if any(known.values()):
            self._is_second_half = {marks: not _PM.isdisjoint(marks) for marks in known if known[marks]}
        elif len(known) == 2:  # in a language that the lists lack, the words of a day say which half comes first
            self._is_second_half = {marks: self._later[marks] > 0 for marks in known if any(self._later.values())}
        is_american = self._has_slashes and not self._has_zeros and not self._has_long_years
        preferred = "mdy" if is_american and self._is_second_half else "dmy"
        self._order = min(_ORDERS, key=lambda order: (*self._faults[order], order != preferred))

    def is_head(self, head: LineHead) -> bool:
        """Return whether the date of a line exists; else the line is a part of a message."""
        return _find_date(head.numbers, self._order) is not None and head.hour < 25 and head.minute < 60

    def find_time(self, head: LineHead) -> datetime | None:
        """Return the local time of a line; None if it is not known."""
        date = _find_date(head.numbers, self._order)
        hour = head.hour
        is_second = self._is_second_half.get(head.marks)
        if is_second is not None and hour <= 12:
            hour = hour % 12 + (12 if is_second else 0)
        try:
            return datetime(*date, hour % 24, head.minute, head.second) if date and date[0] > 1900 else None  # noqa: DTZ001 - it is local
        except ValueError:
            return None


def _letters(text: str) -> str:
    """Return the letters of a word, without the dots and spaces in between, and without signs on them."""
    return "".join(filter(str.isalpha, text.casefold()))


# How languages write the halves of the day, as the locale data of Unicode has them.
_AM = frozenset(
    map(
        _letters,
        """
        am a πμ 오전 上午 午前 凌晨 清晨 早上 ص صباحا قظ قبلازظهر पूर्वाह्न öö sa de pd fm dop fh ก่อนเที่ยง
        """.split(),  # noqa: SIM905 - a list of these would be a page long
    )
)
_PM = frozenset(
    map(
        _letters,
        """
        pm p μμ 오후 下午 午後 中午 晚上 傍晚 م مساء بظ بعدازظهر अपराह्न ös ch du md em odp nm หลังเที่ยง
        """.split(),  # noqa: SIM905 - the same
    )
)


@lru_cache(maxsize=1_000)
def _find_date(numbers: tuple[int, int, int], order: str) -> tuple[int, int, int] | None:
    """Return year, month and day; None if there is no such day."""
    year, month, day = (numbers[at] for at in _ORDERS[order])
    if year < 100:
        year += 2000
    if not (1300 < year < 2700 and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    if year > 2500:
        year -= _BUDDHIST
    if year > 1900:
        try:
            datetime(year, month, day)  # noqa: DTZ001 - only a date
        except ValueError:
            return None
    return year, month, day
