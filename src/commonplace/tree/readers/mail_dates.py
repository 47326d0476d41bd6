"""When a mail was written: dates as headers have them, in every form that mail programs wrote over the years.

`mail_message` and `mbox` call it. A date that is none is None, never an exception.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from commonplace.model.times import format_time

_MAX_TEXT = 200  # characters of a header that are looked at
_MAX_OFFSET = 14 * 60  # minutes: no clock on Earth is further from UTC
_FIRST_YEAR = 1971  # before it there was no mail; a broken clock shows 1970
_MAX_AHEAD = timedelta(days=1)  # a clock that is set wrong, or its zone
_TIME = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?(?:[.,]\d+)?(?:\s*(?P<half>[AaPp])\.?[Mm]\b\.?)?"
)
_ZONE = r"\s*\(?(?P<zone>(?:GMT|UTC?)?[+-]\d\d?(?::?\d\d)?(?!\d)|[A-Za-z]{1,5}\b)?"
_FORMS = (
    # 15 Nov 2026 09:30:00 +0100
    re.compile(
        rf"(?<!\d)(?P<day>\d{{1,2}})[\s.-]+(?P<month>[A-Za-z]{{3}})[A-Za-z]*[\s.,-]+(?P<year>\d{{2,4}})[\s,]+{_TIME}{_ZONE}"
    ),
    # Nov 15 09:30:00 2026, Nov 15 09:30:00 +0100 2026, November 15, 2026 9:30 AM
    re.compile(
        rf"\b(?P<month>[A-Za-z]{{3}})[A-Za-z]*\.?\s+(?P<day>\d{{1,2}}),?\s+(?:(?P<year>\d{{4}}),?\s+)?{_TIME}{_ZONE}"
        r"(?:\s*(?P<last>\d{4}))?"
    ),
    # 2026-11-15T09:30:00Z
    re.compile(rf"(?<!\d)(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)[Tt\s]+{_TIME}{_ZONE}"),
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = {
    "UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "MET": 60, "CEST": 120,
    "MEST": 120, "EET": 120, "EEST": 180, "MSK": 180, "JST": 540, "KST": 540, "AEST": 600, "AEDT": 660, "NZST": 720,
    "NZDT": 780, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480,
    "PDT": -420, "AKST": -540, "AKDT": -480, "HST": -600,
}  # fmt: skip


class MailDate(NamedTuple):
    """A moment, and how many minutes the clock that showed it is east of UTC, if it says so."""

    moment: datetime  # in UTC
    offset: int | None

    @property
    def timestamp(self) -> str:
        """The moment as the book writes it."""
        return format_time(self.moment)


def read_mail_date(text: str) -> MailDate | None:
    """Return the date that a header has. A date without a zone, or with an unknown one, is in UTC."""
    text = text[:_MAX_TEXT]
    found = next(filter(None, (form.search(text) for form in _FORMS)), None)
    if found is None:
        return None
    parts = found.groupdict()
    year, month = parts["year"] or parts.get("last") or "", parts["month"].lower()
    number = int(month) if month.isdecimal() else _MONTHS.index(month) + 1 if month in _MONTHS else 0
    offset = _read_offset(parts["zone"] or "")
    if not year or (offset is not None and abs(offset) > _MAX_OFFSET):
        return None
    try:
        local = datetime(
            _read_year(year),
            number,
            int(parts["day"]),
            _read_hour(int(parts["hour"]), (parts["half"] or "").lower()),
            int(parts["minute"]),
            min(int(parts["second"] or 0), 59),  # a leap second
            tzinfo=UTC,
        )
        return MailDate(local - timedelta(minutes=offset or 0), offset)
    except (ValueError, OverflowError):  # no such day
        return None


def is_possible(moment: datetime, latest: datetime) -> bool:
    """Return whether a mail can be of a moment, where `latest` is when it was there at the latest."""
    return moment.year >= _FIRST_YEAR and moment - latest <= _MAX_AHEAD


def _read_year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 2:
        return year + (2000 if year < 50 else 1900)  # as RFC 5322 says
    return year + 1900 if len(digits) == 3 else year


def _read_hour(hour: int, half: str) -> int:
    if not half:
        return hour
    return hour % 12 + (12 if half == "p" else 0)


def _read_offset(zone: str) -> int | None:
    """Return the minutes of a zone east of UTC; None for one that is not known."""
    sign = max(zone.find("+"), zone.find("-"))
    if sign < 0:
        return _ZONES.get(zone.upper())
    digits = zone[sign + 1 :].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    total = int(hours) * 60 + int(minutes)
    return -total if zone[sign] == "-" else total
