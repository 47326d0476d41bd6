"""Spans of days that a digest is of: a day, an ISO week, a month, a year, or any other as a window.

`settle` makes a digest of each period; `digest_page` writes its title. Names of months and days are English, whatever
the locale of the machine, because files are named and titled with them.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal, NamedTuple

PeriodKind = Literal["day", "week", "month", "year", "window"]
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Period(NamedTuple):
    """A span of days."""

    kind: PeriodKind
    start: date
    end: date  # its last day

    @property
    def name(self) -> str:
        """What its file and scripts call it: 2026-11-15, 2026-W47, 2026-11, 2026."""
        if self.kind == "week":
            year, week, _ = self.start.isocalendar()
            return f"{year:04}-W{week:02}"
        if self.kind == "window":
            return f"{self.start}..{self.end}"
        return self.start.isoformat()[: {"day": 10, "month": 7, "year": 4}[self.kind]]

    @property
    def title(self) -> str:
        """What people call it: Sunday, 15 November 2026."""
        start, end = self.start, self.end
        month = f"{MONTHS[start.month - 1]} {start.year}"
        if self.kind == "day":
            return f"{WEEKDAYS[start.weekday()]}, {start.day} {month}"
        if self.kind in ("month", "year"):
            return month if self.kind == "month" else str(start.year)
        days = f"{_tell_start(start, end)} to {end.day} {MONTHS[end.month - 1]}"
        if self.kind == "window":
            return f"{days} {end.year}"
        year, week, _ = start.isocalendar()
        return f"Week {week} of {year}: {days}{f' {end.year}' if start.year != end.year else ''}"

    @property
    def length(self) -> int:
        """How many days it has."""
        return (self.end - self.start).days + 1

    def days(self) -> tuple[date, ...]:
        """Return its days, in order."""
        return tuple(self.start + timedelta(days=step) for step in range(self.length))


def period_of(kind: PeriodKind, day: date) -> Period:
    """Return the day, week, month or year that a day is in; as a window, the day alone."""
    if kind == "week":
        start = day - timedelta(days=day.weekday())
        return Period(kind, start, start + timedelta(days=min(6, (date.max - start).days)))
    if kind == "month":
        following = (day.replace(day=28) + timedelta(days=4)).replace(day=1) if day.month < 12 else None
        return Period(kind, day.replace(day=1), following - timedelta(days=1) if following else day.replace(day=31))
    if kind == "year":
        return Period(kind, day.replace(month=1, day=1), day.replace(month=12, day=31))
    return Period(kind, day, day)


def _tell_start(start: date, end: date) -> str:
    """Return the first day of a window, with as much of its date as its last day does not say."""
    if start.year != end.year:
        return f"{start.day} {MONTHS[start.month - 1]} {start.year}"
    return str(start.day) if start.month == end.month else f"{start.day} {MONTHS[start.month - 1]}"
