"""Timestamps as the book writes them (UTC, to the second, ending in Z): make, check, parse and shift them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
FORMAT = "%Y-%m-%dT%H:%M:%SZ"
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
_stamp = lazy(STAMP, re.ASCII)


def now() -> str:
    """Return the current time as a timestamp."""
    return time.strftime(FORMAT, time.gmtime())


def format_seconds(seconds: int) -> str:
    """Return the seconds since 1970 as a timestamp; nothing for a time outside the years 1000 to 9999."""
    try:
        stamp = time.strftime(FORMAT, time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return ""
    return stamp if is_timestamp(stamp) else ""


def never_before(clock: Callable[[], str], floor: Callable[[], str]) -> Callable[[], str]:
    """Return a clock that shows no time before `floor`, which is asked once, when the clock is first read."""
    earliest: str | None = None

    def read_clock() -> str:
        nonlocal earliest
        if earliest is None:
            earliest = floor()
        return max(clock(), earliest)

    return read_clock


def format_time(moment: datetime) -> str:
    """Return a datetime as a timestamp; one without a time zone counts as UTC."""
    utc = moment.astimezone(UTC) if moment.tzinfo else moment
    return utc.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"  # strftime does not pad years below 1000


def local_timestamp(moment: datetime) -> str:
    """Return a datetime as a timestamp; one without a time zone is local time, as everywhere in Python."""
    try:
        return format_time(moment.astimezone(UTC))
    except (ValueError, OverflowError, OSError):  # OSError: on Windows, a local time before 1970
        raise InvalidField(f"{moment!s} cannot be told in UTC.", hint="Give it a time zone.") from None


def is_timestamp(text: str) -> bool:
    """Whether a text has the form of a timestamp; the date itself is not checked."""
    return _stamp.fullmatch(text) is not None


def read_time(text: str) -> str:
    """Return an ISO 8601 time or date as a timestamp; raises InvalidField for any other text."""
    try:
        moment = datetime.fromisoformat(text)
        return text if is_timestamp(text) else format_time(moment)
    except (ValueError, OverflowError):  # overflow: in UTC it is before the year 1 or after 9999
        raise InvalidField(
            f"{text[:40]!a} is not a time.", hint="Write it as 2026-11-15 or 2026-11-15T09:30:00Z."
        ) from None


def shift_time(timestamp: str, seconds: int) -> str:
    """Return the timestamp so many seconds later (negative: earlier), within the years 1 to 9999."""
    try:
        moment = datetime.fromisoformat(timestamp if is_timestamp(timestamp) else "")
    except ValueError:
        raise InvalidField(
            f"{timestamp[:40]!a} is not a timestamp.", hint="Write it as 2026-11-15T09:30:00Z."
        ) from None
    try:
        return format_time(moment + timedelta(seconds=seconds))
    except OverflowError:
        return LAST if seconds > 0 else FIRST


def compact_time(timestamp: str) -> str:
    """Return a timestamp as part of a file name: 20261115T093000Z."""
    return timestamp.replace("-", "").replace(":", "")
