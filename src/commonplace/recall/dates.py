"""Find the time that a question names: "last week", "two days ago", "in March", "since Monday", "2025-05-03".

English only, as all parsing. One pattern has every way to say when; what its groups matched becomes a span of time by
the calendar and clock of this machine. Moments are local and without a zone until the span is complete, so that a day
in summer begins at midnight in winter too. The words of an expression relative to now are taken out of the question: no
note has them. Entries within the span are preferred, never required, unless the question asks for nothing else; `since`
and `until` are the filters. Quoted text is never read as a time.
"""

# Without postponed annotations: a named tuple would compile each of them at every start.
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from commonplace.model import times
from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.text.words import blank_quotes

TimeGroups = Mapping[str, str]
"""The named groups of a matched expression that took part in the match, in lower case, without the digits in names."""
MomentRange = tuple[datetime, datetime]
_MONTH_STARTS, _DAY_STARTS = "janfebmaraprmayjunjulaugsepoctnovdec", "montuewedthufrisatsun"
_COUNT_WORDS = "a an one,two couple,three few,four,five,six,seven,eight,nine,ten,eleven,twelve"
_NUMBERS = {word: number for number, words in enumerate(_COUNT_WORDS.split(","), 1) for word in words.split()}
_DAY = timedelta(days=1)
_SECONDS = {
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_592_000, "year": 31_536_000,
}  # fmt: skip
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_MAX_READ = 4_000  # characters of a question

_COUNT = r"(?:\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|couple|few)"
_UNIT = r"(?:week|weekend|month|quarter|year)"
_LENGTH = r"(?:minute|hour|day|week|month|year)"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# "May" and "march" are months with a capital within a sentence, after some words, before a year, and at the end.
_MONTH = r"""(?:
    jan(?:uary)?|feb(?:ruary)?|mar|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?
    |dec(?:ember)?|(?-i:(?<=\W)Ma(?:y|rch))
    |(?:(?<=in\s)|(?<=of\s)|(?<=to\s)|(?<=on\s)|(?<=and\s)|(?<=last\s)|(?<=from\s)|(?<=since\s)|(?<=after\s)
        |(?<=until\s)|(?<=before\s)|(?<=during\s)|(?<=between\s))ma(?:y|rch)|(?<=\d\s)march
    |ma(?:y|rch)(?=(?:\s+\d\d?|)\s*(?:$|[,.;:?!)])|\s+(?:of\s+)?\d{4}\b|\s+\d\d?(?:st|nd|rd|th))
)"""
_MONTH_START = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
# Without one of these a question says nothing of a time: the pattern below is dear to compile, and few need it.
_TIME_WORD = lazy(
    rf"""\b(?:ago|last|past|previous|today|tonight|yesterday|{_WEEKDAY}|this\s(?:morning|afternoon|evening|{_UNIT})
        |(?:since|after|before|until|from)\snow)\b
    |\b(?:19|20)\d\d\b|\d\d\d\d-\d|\d(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH_START}
    |\b{_MONTH_START}[a-z]*\.?,?\s+(?:of\s+)?\d
    |\b(?:in|on|from|during|between|of|since|after|before|until|over|within|the)\s+{_MONTH_START}""",
    re.IGNORECASE | re.VERBOSE,
)
# Each alternative is one way to say when; the first that matches, from the left, counts.
_EXPRESSION = lazy(
    rf"""\b(?<!to\s)(?<!till\s)(?<!through\s)(?:(?P<open>since|after|before|until|from)\s+)?
    (?:(?P<near>in|on|during|over|within|last|past|previous|this)\s+)?(?:the\s+)?(?:
    (?P<year1>\d{{4}})-(?P<month1>\d\d)(?:-(?P<day1>\d\d))?(?!\d)
    |(?P<back1>today|tonight|this\s(?:morning|afternoon|evening)|yesterday|last\snight|day\s(?=before\syesterday))\b
        (?:before\syesterday\b)?
    |(?:a\s(?=couple|few))?(?P<ago>{_COUNT})(?:\sof)?\s+(?P<unit3>{_LENGTH})s?\s+ago\b
    |(?:last|past|previous)\s+(?:a\s(?=couple|few))?(?P<count4>{_COUNT})(?:\sof)?\s+(?P<unit4>{_LENGTH})s?\b
    |(?:last|past|previous)\s+(?P<count5>)(?P<unit5>minute|hour)\b
    |(?P<back6>this|last|past|previous)\s+(?P<unit6>{_UNIT})\b(?!\s+of\b)
    |(?P<day7>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month7>{_MONTH})\b(?:,?\s+(?P<year7>\d{{4}}))?
    |(?P<month8>{_MONTH})\.?\s+(?P<day8>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year8>\d{{4}}))?
    |(?P<month9>{_MONTH})\s+(?:of\s+)?(?P<year9>\d{{4}})\b
    |(?<!the\s)(?P<bare>(?P<month10>{_MONTH})(?!\.?,?\s+(?:of\s+)?\d)|(?P<year10>(?:19|20)\d\d)|(?<!from\s)now
        |(?P<weekday>{_WEEKDAY})(?!,?\s+(?:the\s+)?(?:\d\w*\s+(?:of\s+)?)?{_MONTH}\b))\b
    )(?!\s+(?:to|until|till|through)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_PAST_WORD = lazy(r"\b(?:did|was|were|had|happened)\b", re.IGNORECASE)
# A length of time back from now, as a caller's option gives it: 7d, 90min, "2 weeks ago".
_BACK = lazy(
    rf"""(?:a\s(?=couple|few))?(?P<count>{_COUNT})(?:\sof)?\s*(?P<unit>mo|[smhdwy])
    (?:(?<=s)ec(?:ond)?s?|(?<=m)in(?:ute)?s?|(?<=h)(?:r|our)s?|(?<=d)ays?|(?<=w)eeks?|(?<=y)ears?|(?<=mo)n(?:th)?s?)?(?:\s+ago)?""",
    re.IGNORECASE | re.VERBOSE,
)


class TimeSpan(NamedTuple):
    """A span of time from `start` up to `end`, as timestamps; either side may be open."""

    start: str
    end: str


class QuestionTime(NamedTuple):
    """The time that a question names, and the question without it."""

    span: TimeSpan | None
    rest: str  # the question without what only says when
    without_date: str  # the same without a date either, which a note may have in it
    date: str = ""  # that date


def find_time(question: str, now: str) -> QuestionTime:
    """Return the first time that a question names, and the question without it."""
    outside = blank_quotes(question)[:_MAX_READ]
    if _TIME_WORD.search(outside):
        # By the caller's clock: "yesterday" is theirs, not Greenwich's.
        now_here = datetime.fromisoformat(now).astimezone().replace(tzinfo=None, microsecond=0)
        for match in _EXPRESSION.finditer(outside):
            # the 31st of June, or what no calendar has
            with suppress(InvalidField, ValueError, OverflowError):
                span, is_date = _read_match(match, now_here)
                if span.start < span.end:
                    end = match.end()
                    end += 2 * (question[end : end + 2] in ("'s", "’s"))
                    without = f"{question[: match.start()]} {question[end:]}".strip()
                    date = question[match.start() : end] if is_date else ""
                    return QuestionTime(span, question if is_date else without, without, date)
    return QuestionTime(None, question, question)


def read_when(text: str, *, end: bool = False, now: str = "") -> str:
    """Return a time that a caller gives as a timestamp: as ISO 8601 writes it, 7d, 2h, yesterday, "2 weeks ago".

    A day, or a longer time of the calendar, means its first second, or with `end` its last; what is counted from now
    means that very moment. Raises InvalidField for any other text.
    """
    wanted = " ".join(text.split())
    with suppress(InvalidField):
        stamp = times.read_time(wanted)
        return f"{wanted}T23:59:59Z" if end and len(wanted) == 10 else stamp
    now = now or times.now()
    if wanted.lower() == "now":
        return now
    if back := _BACK.fullmatch(wanted.lower()):
        unit = next(unit for unit in _SECONDS if unit.startswith(back["unit"]))
        return times.shift_time(now, -_read_number(back["count"]) * _SECONDS[unit])
    found = find_time(f"on {wanted}", now)
    if found.span is not None and not found.without_date:
        return times.shift_time(found.span.end, -1) if end else found.span.start
    raise InvalidField(
        f"{text[:40]!a} is not a time.",
        hint='Write it as 2026-11-15, 2026-11-15T09:30:00Z, 7d, 2h, yesterday or "2 weeks ago".',
    )


def _read_match(match: re.Match[str], now_here: datetime) -> tuple[TimeSpan, bool]:
    """Return the span of a match, and whether it is a date, which a note may have in it.

    Raises ValueError if it is not a time here.
    """
    found = match.groupdict().items()
    groups = {name.rstrip("0123456789"): text.lower() for name, text in found if text is not None}
    opening, near = groups.get("open"), groups.get("near")
    if "bare" in groups and not (opening or near):
        raise ValueError("it is another word here")
    day = now_here.replace(hour=0, minute=0, second=0)
    is_date = "month" in groups or "year" in groups  # which do not count from now
    if "ago" in groups or "count" in groups:
        moments = _read_count(groups, day, now_here)
    elif is_date:
        moments = _read_date(groups, day)
    elif "weekday" in groups:  # today's name means today, but "last Friday" and "on Friday" mean one that is over
        back = (day.weekday() - _DAY_STARTS.index(groups["weekday"][:3]) // 3) % 7
        moments = _find_unit(day, "day", back or 7 * (near not in (None, "this")))
    else:
        said = groups.get("back", "today")
        back = 2 if said == "day " else int(not said.startswith("t"))  # today, tonight, this week
        moments = _find_unit(day, groups.get("unit", "day"), back)
    start, stop = map(times.local_timestamp, moments)
    if opening in ("before", "until"):
        start, stop = "0000", start
    elif opening == "after":
        start, stop = stop, "9999"
    elif opening == "since":
        stop = "9999"
    is_on_day = near == "on" and not _PAST_WORD.search(match.string)  # the meeting on Monday
    return TimeSpan(start, stop), is_on_day or is_date


def _read_number(text: str) -> int:
    return _NUMBERS.get(text) or int(text)


def _read_count(groups: TimeGroups, day: datetime, now_here: datetime) -> MomentRange:
    """Return the span of "the last three weeks", up to the end of today, or the week around "three weeks ago".

    Hours and minutes count from this very moment; "two hours ago" has an hour on either side.
    """
    length = timedelta(seconds=_SECONDS[groups["unit"]])
    back = length * _read_number(groups.get("ago") or groups["count"] or "a")
    is_short = length < _DAY
    if "ago" in groups:
        middle = (now_here if is_short else day + _DAY / 2) - back
        half = (back if is_short else length) / 2
        return middle - half, middle + half
    return (now_here - back, now_here + timedelta(seconds=1)) if is_short else (day - back, day + _DAY)


def _read_date(groups: TimeGroups, today: datetime) -> MomentRange:
    """Return the day, the month or the year of a date; without a year, the latest one."""
    month = groups.get("month", "1")
    number = int(month) if month.isdigit() else _MONTH_STARTS.index(month[:3]) // 3 + 1
    start = today.replace(int(groups.get("year", today.year)), number, int(groups.get("day", 1)))
    if start > today and "year" not in groups:
        start = start.replace(year=start.year - 1)
    return _find_unit(start, next(unit for unit in ("day", "month", "year") if unit in groups))


def _find_unit(day: datetime, unit: str, back: int = 0) -> MomentRange:
    """Return the day, week (from Monday), month or so of the calendar that a day is in, or one some units before it."""
    if size := _MONTHS_IN.get(unit):
        first = ((day.year * 12 + day.month - 1) // size - back) * size
        start, end = (day.replace(at // 12, at % 12 + 1, 1) for at in (first, first + size))
        return start, end
    if unit == "day":
        return day - back * _DAY, day - (back - 1) * _DAY
    monday = day - (day.weekday() + 7 * back) * _DAY
    return monday + (5 if unit == "weekend" else 0) * _DAY, monday + 7 * _DAY
