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
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from commonplace.model import times
from commonplace.model.errors import InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.times import read_time, shift_time
from commonplace.text.words import blank_quotes

TimeGroups = Mapping[str, str]
"""The named groups of a matched expression that took part in the match, in lower case, without the digits in names."""
MomentRange = tuple[datetime, datetime]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_ORDINALS = ("first", "second", "third", "fourth")
_DAY = timedelta(days=1)
_LENGTHS = {
    "minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": _DAY, "week": 7 * _DAY, "month": 30 * _DAY,
    "year": 365 * _DAY,
}  # fmt: skip
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_MAX_YEARS_BACK = 9  # so far back is a 29 February
_MAX_READ = 4_000  # characters of a question

_COUNT = (
    r"(?:\d{1,3}|a couple of|couple of|a few|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
# "May" and "march" are months with a capital within a sentence, after some words, before a year, and at the end.
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|(?-i:(?<=\W)Ma(?:y|rch))|"
    r"(?:(?<=in )|(?<=of )|(?<=to )|(?<=on )|(?<=and )|(?<=last )|(?<=from )|(?<=since )|(?<=after )|(?<=until )|"
    r"(?<=before )|(?<=during )|(?<=between ))ma(?:y|rch)|(?<=\d )march|"
    r"ma(?:y|rch)(?=(?:\s+\d\d?|)\s*(?:$|[,.;:?!)])|\s+(?:of\s+)?\d{4}\b|\s+\d\d?(?:st|nd|rd|th)))"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = r"(?:week|weekend|month|quarter|year)"
_MONTH_START = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
# Without one of these a question says nothing of a time: the pattern below is dear to compile, and few need it.
_TIME_WORD = lazy(
    rf"\b(?:ago|last|past|previous|today|tonight|yesterday|{_WEEKDAY}|this (?:morning|afternoon|evening|{_UNIT})"
    r"|(?:since|after|before|until|from) now)\b"
    rf"|\b(?:19|20)\d\d\b|\d\d\d\d-\d|\d(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH_START}|\b{_MONTH_START}[a-z]*\.?,?\s+(?:of\s+)?\d"
    rf"|\b(?:in|on|from|during|between|of|since|after|before|until|over|within|the)\s+{_MONTH_START}|week of|day of",
    re.IGNORECASE,
)
# Each alternative is one way to say when; the first that matches, from the left, counts.
_EXPRESSION = lazy(
    r"\b(?:(?P<open>since|after|before|until|from|between)\s+)?"
    r"(?:(?P<near>in|on|during|over|within|last|past|previous|this)\s+)?(?:the\s+)?(?:"
    r"(?P<year1>\d{4})-(?P<month1>\d\d)(?:-(?P<day1>\d\d))?(?!\d)"
    r"|(?P<back1>today|tonight|this (?:morning|afternoon|evening)|yesterday|last night|day (?=before yesterday))\b"
    r"(?:before yesterday\b)?"
    rf"|(?P<unit2>{_UNIT})\s+(?P<back2>before)\s+last\b"
    rf"|(?P<ago>{_COUNT})\s+(?P<length3>minute|hour|day|week|month|year)s?\s+ago\b"
    rf"|(?:last|past|previous)\s+(?:(?P<count>{_COUNT})\s+(?P<length4>minute|hour|day|week|month|year)s?"
    r"|(?P<length5>minute|hour))\b"
    rf"|(?P<nth>first|second|third|fourth|last)\s+(?P<unit6>day|week)\s+of\s+(?P<month6>{_MONTH})\b"
    r"(?:\s+(?:of\s+)?(?P<year6>\d{4})\b)?"
    rf"|(?P<back7>this|last|past|previous)\s+(?P<unit7>{_UNIT})\b(?!\s+of\b)"
    rf"|(?P<day8>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month8>{_MONTH})\b(?:,?\s+(?P<year8>\d{{4}}))?"
    rf"|(?P<month9>{_MONTH})\.?\s+(?P<day9>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year9>\d{{4}}))?"
    rf"|(?P<month10>{_MONTH})\s+(?:of\s+)?(?P<year10>\d{{4}})\b"
    rf"|(?<!the )(?P<bare>(?P<month11>{_MONTH})|(?P<year11>(?:19|20)\d\d)|(?<!from )now"
    rf"|(?P<weekday>{_WEEKDAY})(?!,?\s+(?:the\s+)?(?:\d\w*\s+(?:of\s+)?)?{_MONTH}\b))\b"
    r")",
    re.IGNORECASE,
)
# A length of time back from now, as a caller's option gives it: 7d, 90min, "2 weeks ago".
_UNIT_LETTERS = {
    "s": "second",
    "m": "minute",
    "h": "hour",
    "hr": "hour",
    "hrs": "hour",
    "d": "day",
    "w": "week",
    "y": "year",
}
_BACK = lazy(
    rf"(?P<count>\d{{1,5}}|{_COUNT})\s*(?P<unit>[smhdwy]|secs?|mins?|hrs?|mo|mons?|(?:second|minute|hour|day|week|month|year)s?)"
    r"(?:\s+ago)?",
    re.IGNORECASE,
)
_RANGE_WORD = lazy(r"\s+(?:to|until|till|through|and)\s+", re.IGNORECASE)
# "From March on", and not "notes from March on deploys".
_ONWARDS = lazy(r"\s+(?:onwards?|forward|on(?=\s*(?:$|[,.;:?!)])|\s+(?:i|we|you|they|he|she|it)\b))", re.IGNORECASE)
# A question for what is so on a day of the week, and for what was.
_HABIT_WORD = lazy(
    r"\b(?:can|could|may|might|do|does|is|are|am|should|shall|will|would|must|never|always|usually)\b", re.IGNORECASE
)
_PAST_WORD = lazy(r"\b(?:did|was|were|had|happened)\b", re.IGNORECASE)


class TimeSpan(NamedTuple):
    """A span of time from `start` up to `end`, as timestamps; either side may be open."""

    start: str
    end: str

    def contains(self, stamp: str) -> bool:
        """Return whether a timestamp is within the span."""
        return self.start <= stamp < self.end


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
            with suppress(LookupError, ValueError, OverflowError):  # the 31st of June, or what no calendar has
                span, end, is_date = _read_match(match, outside, now_here)
                if span.start < span.end:
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
        return f"{wanted}T23:59:59Z" if end and len(wanted) == 10 and read_time(wanted) else read_time(wanted)
    now = now or times.now()
    back = _BACK.fullmatch(wanted)
    if back is not None or wanted.lower() == "now":
        return shift_time(now, -_count_seconds(back) if back is not None else 0)
    for phrase in (wanted, f"on {wanted}"):
        found = find_time(phrase, now)
        if found.span is not None and not found.without_date:
            return shift_time(found.span.end, -1) if end else found.span.start
    raise InvalidField(
        f"{text[:40]!a} is not a time.",
        hint='Write it as 2026-11-15, 2026-11-15T09:30:00Z, 7d, 2h, yesterday or "2 weeks ago".',
    )


def _count_seconds(back: re.Match[str]) -> int:
    """Return how many seconds a matched length has."""
    count, unit = back["count"].lower(), back["unit"].lower()
    number = int(count) if count.isdigit() else _NUMBERS[count]
    name = _UNIT_LETTERS.get(unit) or next(name for name in (*_LENGTHS, "second") if unit.startswith(name[:2]))
    return number * (int(_LENGTHS[name].total_seconds()) if name in _LENGTHS else 1)


def _read_match(match: re.Match[str], outside: str, now_here: datetime) -> tuple[TimeSpan, int, bool]:
    """Return the span of a match, where its expression ends, and whether it is a date, which a note may have in it.

    Raises ValueError if it is not a time here.
    """
    groups, end = _get_groups(match), match.end()
    opening, near = groups.get("open", ""), groups.get("near", "")
    is_date = _is_date(groups) or (near == "on" and not _PAST_WORD.search(outside))
    is_habit = is_date and "weekday" in groups and _HABIT_WORD.search(outside)
    if is_habit or ("bare" in groups and not opening + near):
        raise ValueError("it is another word here")
    if opening in ("from", "between"):
        to = _RANGE_WORD.match(outside, end)
        last = _EXPRESSION.match(outside, to.end()) if to is not None else None
        if last is not None:
            others = _get_groups(last)
            span = TimeSpan(*map(to_timestamp, read_range(groups, others, now_here)))
            return span, last.end(), is_date or _is_date(others)
        if opening == "between":
            raise ValueError("it has no other end")
        onward = _ONWARDS.match(outside, end)
        opening, end = ("since", onward.end()) if onward is not None else ("", end)
    first, after = map(to_timestamp, read_moments(groups, now_here))
    bounds = {"since": (first, "9999"), "after": (after, "9999"), "before": ("0000", first), "until": ("0000", first)}
    return TimeSpan(*bounds.get(opening, (first, after))), end, is_date


def _get_groups(match: re.Match[str]) -> dict[str, str]:
    """Return the named groups that took part in a match."""
    return {name.rstrip("0123456789"): text.lower() for name, text in match.groupdict().items() if text is not None}


def _is_date(groups: TimeGroups) -> bool:
    """Return whether an expression names a month or a year, which do not count from now."""
    return "month" in groups or "year" in groups


def to_timestamp(moment: datetime) -> str:
    """Return a local moment as a timestamp."""
    try:
        there = moment.astimezone(UTC)
    except OSError:  # Windows does not know what the clocks said before 1970
        there = moment
    return f"{there.isoformat()[:19]}Z"


def read_moments(groups: TimeGroups, now_here: datetime) -> MomentRange:
    """Return the first and last moment that a matched expression means.

    Raises LookupError, ValueError or OverflowError if there is no such time.
    """
    day = now_here.replace(hour=0, minute=0, second=0)
    if "length" in groups:
        return _read_count(groups, day, now_here)
    if _is_date(groups):
        return _read_date(groups, day)
    if "weekday" in groups:  # today's name means today, but "last Friday" and "on Friday" mean one that is over
        back = (day.weekday() - _DAYS.index(groups["weekday"][:3])) % 7
        return _find_unit(day, "day", back or 7 * (groups.get("near", "this") != "this"))
    said = groups.get("back", "today")
    back = 2 if said in ("before", "day ") else int(not said.startswith("t"))  # today, tonight, this week
    return _find_unit(day, groups.get("unit", "day"), back)


def read_range(first: TimeGroups, last: TimeGroups, now_here: datetime) -> MomentRange:
    """Return the span from the start of one expression to the end of another.

    If only one has a year, the other gets its year from it.
    """
    if "year" in first and "month" in last and "year" not in last:
        start = read_moments(first, now_here)[0]
        return start, read_moments(last, start + 364 * _DAY)[1]
    end = read_moments(last, now_here)[1]
    counts_from_now = "length" in first or "back" in first
    return read_moments(first, now_here if counts_from_now else end - _DAY)[0], end


def _read_count(groups: TimeGroups, day: datetime, now_here: datetime) -> MomentRange:
    """Return the span of "the last three weeks", up to the end of today, or the week around "three weeks ago".

    Hours and minutes count from this very moment; "two hours ago" has an hour on either side.
    """
    length = _LENGTHS[groups["length"]]
    count = groups.get("ago") or groups.get("count", "one")
    back = length * (int(count) if count.isdigit() else _NUMBERS[count])
    least, today, vague = (_DAY, day, length) if length >= _DAY else (timedelta(seconds=1), now_here, back)
    if "ago" not in groups:
        return today - back, today + least
    start = today - back - (vague - least) / 2
    return start, start + vague


def _read_date(groups: TimeGroups, today: datetime) -> MomentRange:
    """Return the day, the month, a day or week of the month, or the year of a date; without a year, the latest one."""
    month, year = groups.get("month", "1"), groups.get("year")
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    for back in range(_MAX_YEARS_BACK):
        with suppress(ValueError):
            start = today.replace(int(year or today.year - back), number, int(groups.get("day", "1")))
            if year or start <= today:
                break
    else:
        raise ValueError("there is no such day")
    first, after = _find_unit(start, next((unit for unit in ("day", "month") if unit in groups), "year"))
    if "nth" not in groups:
        return first, after
    size = _LENGTHS[groups["unit"]]
    if groups["nth"] == "last":
        return after - size, after
    first += size * _ORDINALS.index(groups["nth"])
    return first, first + size


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
