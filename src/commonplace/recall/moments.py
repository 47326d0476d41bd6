"""From what was said of a time to the moments it begins and ends, by the calendar and clock of this machine.

Moments are local and without a zone until they are done, so that a day in summer begins at midnight in winter too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

Said = Mapping[str, str | None]
Moments = tuple[datetime, datetime]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3}
_CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_YEARS = 9  # so far back is a 29 February


def local(now: str) -> datetime:
    """A timestamp by the caller's clock: "yesterday" is theirs, not Greenwich's."""
    return datetime.fromisoformat(now).astimezone().replace(tzinfo=None, microsecond=0)


def utc(moment: datetime) -> str:
    """A local moment as a timestamp."""
    try:
        there = moment.astimezone(UTC)
    except OSError:  # Windows does not know what the clocks said before 1970
        there = moment
    return f"{there.isoformat()[:19]}Z"


def read(said: Said, here: datetime) -> Moments:
    """When that was; ValueError or OverflowError if there is no such time."""
    unit = said.get("ago_unit") or said.get("past_unit") or said.get("one")
    if unit in _CLOCK:
        return _by_the_clock(said, _CLOCK[unit], here)
    day = here.replace(hour=0, minute=0, second=0)
    for name, reader in _READERS.items():
        if said.get(name):
            return reader(said, day)
    raise ValueError("nothing was said of a time")


def between(first: Said, last: Said, here: datetime) -> Moments:
    """From the beginning of one to the end of another. Where one has no year of its own, that of the other tells."""
    if _has_year(first) and not _has_year(last) and _is_of_the_calendar(last):
        start = read(first, here)[0]
        return start, read(last, start + timedelta(days=364))[1]
    end = read(last, here)[1]
    return read(first, end - timedelta(days=1) if _is_of_the_calendar(first) else here)[0], end


def _has_year(said: Said) -> bool:
    return any(said.get(name) for name in ("iso", "date_year", "us_year", "month_year", "nth_year"))


def _is_of_the_calendar(said: Said) -> bool:
    """A month, a date or a day of the week, of whatever year: not what counts from now."""
    return any(said.get(name) for name in ("month", "date_day", "us_day", "nth", "day", "on_day"))


def _by_the_clock(said: Said, unit: timedelta, here: datetime) -> Moments:
    """ "Two hours ago" is about then: half as long before and after."""
    if said.get("ago"):
        back = unit * _number(said["ago"])
        return here - back * 1.5, here - back * 0.5
    return here - unit * _number(said.get("past")), here + timedelta(seconds=1)


def _iso(said: Said, day: datetime) -> Moments:
    text = said["iso"] or ""
    if len(text) == 10:
        start = day.replace(year=int(text[:4]), month=int(text[5:7]), day=int(text[8:]))
        return start, start + timedelta(days=1)
    return _whole_month(day, int(text[:4]), int(text[5:7]))


def _today(_: Said, day: datetime) -> Moments:
    return day, day + timedelta(days=1)


def _yesterday(said: Said, day: datetime) -> Moments:
    back = 2 if said.get("day_before") else 1
    return day - timedelta(days=back), day - timedelta(days=back - 1)


def _ago(said: Said, day: datetime) -> Moments:
    """ "Three weeks ago" is about then: half a unit to either side."""
    unit = {"day": 1, "week": 7, "month": 30, "year": 365}[said["ago_unit"] or "day"]
    then = day - timedelta(days=unit * _number(said["ago"]))
    return then - timedelta(days=unit // 2), then + timedelta(days=unit // 2 + 1)


def _past(said: Said, day: datetime) -> Moments:
    unit = {"day": 1, "week": 7, "month": 31, "year": 366}[said["past_unit"] or "day"]
    return day - timedelta(days=unit * _number(said["past"])), day + timedelta(days=1)


def _turn(said: Said, day: datetime) -> Moments:
    """This week, last month, the year before last: of the calendar, weeks from Monday on."""
    unit = said.get("before_last") or said["turn_unit"]
    back = 2 if said.get("before_last") else int(said["turn"] != "this")
    monday = day - timedelta(days=day.weekday() + 7 * back)
    if unit == "week":
        return monday, monday + timedelta(days=7)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if unit == "year":
        return _whole_year(day, day.year - back)
    months = day.year * 12 + day.month - 1
    if unit == "month":
        return _months(day, months - back, 1)
    return _months(day, months // 3 * 3 - 3 * back, 3)


def _weekday(said: Said, day: datetime) -> Moments:
    """The last one that was. Today's name means today, but not as "last Friday" or "on Friday": that one is over."""
    back = (day.weekday() - _DAYS.index((said.get("day") or said.get("on_day") or "")[:3])) % 7
    back = 7 if back == 0 and said.get("strictly") else back
    return day - timedelta(days=back), day - timedelta(days=back - 1)


def _date(said: Said, day: datetime) -> Moments:
    name, number, year = (said[f"date_{part}"] or said[f"us_{part}"] for part in ("month", "day", "year"))
    month, wanted = _MONTHS.index((name or "")[:3]) + 1, int(number or 1)
    if year is not None:
        start = day.replace(month=month, day=wanted, year=int(year))
        return start, start + timedelta(days=1)
    for back in range(_YEARS):
        try:
            start = day.replace(month=month, day=wanted, year=day.year - back)
        except ValueError:
            continue
        if start <= day:
            return start, start + timedelta(days=1)
    raise ValueError("there is no such day")


def _nth(said: Said, day: datetime) -> Moments:
    """The first week of a month is its first seven days."""
    start, end = _month({"month": said["nth_month"], "month_year": said["nth_year"]}, day)
    size = timedelta(days=7 if said["nth_unit"] == "week" else 1)
    if said["nth"] == "last":
        return end - size, end
    start += size * _NTH[said["nth"] or "first"]
    return start, start + size


def _month(said: Said, day: datetime) -> Moments:
    month = _MONTHS.index((said["month"] or "")[:3]) + 1
    year = int(said.get("month_year") or day.year - (month > day.month))
    return _whole_month(day, year, month)


def _year(said: Said, day: datetime) -> Moments:
    return _whole_year(day, int(said["year"] or day.year))


def _months(day: datetime, first: int, count: int) -> Moments:
    """So many months, by the number of the first since year 0."""
    start, end = (day.replace(year=at // 12, month=at % 12 + 1, day=1) for at in (first, first + count))
    return start, end


def _whole_month(day: datetime, year: int, month: int) -> Moments:
    if not 1 <= month <= 12:
        raise ValueError("there is no such month")
    return _months(day, year * 12 + month - 1, 1)


def _whole_year(day: datetime, year: int) -> Moments:
    return _months(day, year * 12, 12)


def _number(said: str | None) -> int:
    return int(said) if said and said.isdigit() else _NUMBERS[said or "one"]


_READERS: Mapping[str, Callable[[Said, datetime], Moments]] = {
    "iso": _iso, "today": _today, "day_before": _yesterday, "yesterday": _yesterday, "before_last": _turn, "ago": _ago,
    "past": _past, "nth": _nth, "turn": _turn, "day": _weekday, "on_day": _weekday, "date_day": _date, "us_day": _date,
    "month": _month, "year": _year, "now": _today,
}  # fmt: skip
