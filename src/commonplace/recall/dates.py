"""Find the time that a question names: "last week", "two days ago", "in March", "since Monday", "2025-05-03".

English only, as all parsing. An expression becomes a span of time by the calendar and clock of this machine. Moments
are local and without a zone until the span is complete, so that a day in summer begins at midnight in winter too. The
words of an expression relative to now are taken out of the question: no note has them. Entries within the span are
preferred, never required, unless the question asks for nothing else; `since` and `until` are the filters. Quoted text
is never read as a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import blank_quotes

TimeGroups = Mapping[str, str]
"""The named groups of a matched expression that took part in the match."""
MomentRange = tuple[datetime, datetime]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3}
_CLOCK_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_YEAR_GROUPS = ("iso", "date_year", "us_year", "month_year", "nth_year")
_CALENDAR_GROUPS = ("month", "date_day", "us_day", "nth", "day", "on_day")  # expressions that do not count from now
_MAX_YEARS_BACK = 9  # so far back is a 29 February


def to_timestamp(moment: datetime) -> str:
    """Return a local moment as a timestamp."""
    try:
        there = moment.astimezone(UTC)
    except OSError:  # Windows does not know what the clocks said before 1970
        there = moment
    return f"{there.isoformat()[:19]}Z"


def read_moments(groups: TimeGroups, now_here: datetime) -> MomentRange:
    """Return the first and last moment that a matched expression means.

    Raises ValueError or OverflowError if there is no such time.
    """
    unit = groups.get("ago_unit") or groups.get("past_unit") or groups.get("one", "")
    if unit in _CLOCK_UNITS:
        return _read_clock(groups, _CLOCK_UNITS[unit], now_here)
    day = now_here.replace(hour=0, minute=0, second=0)
    for name, reader in _READERS.items():
        if name in groups:
            return reader(groups, day)
    raise ValueError("nothing was said of a time")


def read_range(first: TimeGroups, last: TimeGroups, now_here: datetime) -> MomentRange:
    """Return the span from the start of one expression to the end of another.

    If only one has a year, the other gets its year from it.
    """
    is_first_dated = not first.keys().isdisjoint(_YEAR_GROUPS)
    if is_first_dated and last.keys().isdisjoint(_YEAR_GROUPS) and not last.keys().isdisjoint(_CALENDAR_GROUPS):
        start = read_moments(first, now_here)[0]
        return start, read_moments(last, start + timedelta(days=364))[1]
    end = read_moments(last, now_here)[1]
    before = now_here if first.keys().isdisjoint(_CALENDAR_GROUPS) else end - timedelta(days=1)
    return read_moments(first, before)[0], end


def _make_day(start: datetime) -> MomentRange:
    """Return the day that begins at a moment."""
    return start, start + timedelta(days=1)


def _read_clock(groups: TimeGroups, unit: timedelta, now_here: datetime) -> MomentRange:
    """Return the span of an expression in minutes or hours; "two hours ago" has half as much on either side."""
    if "ago" in groups:
        back = unit * _read_number(groups["ago"])
        return now_here - back * 1.5, now_here - back * 0.5
    return now_here - unit * _read_number(groups.get("past", "one")), now_here + timedelta(seconds=1)


def _read_iso(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return the day or month of a date such as 2025-05-03 or 2025-05."""
    year, month, *days = map(int, groups["iso"].split("-"))
    start = day.replace(year=year, month=month, day=days[0] if days else 1)
    return _make_day(start) if days else _make_months(start, year * 12 + month - 1, 1)


def _read_named_day(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return today, yesterday or the day before it."""
    back = 2 if "day_before" in groups else int("yesterday" in groups)
    return _make_day(day - timedelta(days=back))


def _read_ago(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return the span around a time such as "three weeks ago": half a unit on either side."""
    unit = {"day": 1, "week": 7, "month": 30, "year": 365}[groups["ago_unit"]]
    then = day - timedelta(days=unit * _read_number(groups["ago"]))
    return then - timedelta(days=unit // 2), then + timedelta(days=unit // 2 + 1)


def _read_past(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return the span of an expression such as "the last three weeks", up to the end of today."""
    unit = {"day": 1, "week": 7, "month": 31, "year": 366}[groups["past_unit"]]
    return day - timedelta(days=unit * _read_number(groups["past"])), day + timedelta(days=1)


def _read_calendar_unit(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return this week, last month, the year before last: by the calendar, with weeks from Monday."""
    unit = groups.get("before_last") or groups["turn_unit"]
    back = 2 if "before_last" in groups else int(groups["turn"] != "this")
    monday = day - timedelta(days=day.weekday() + 7 * back)
    if unit == "week":
        return monday, monday + timedelta(days=7)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if unit == "year":
        return _make_months(day, (day.year - back) * 12, 12)
    months = day.year * 12 + day.month - 1
    if unit == "month":
        return _make_months(day, months - back, 1)
    return _make_months(day, months // 3 * 3 - 3 * back, 3)


def _read_weekday(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return the most recent day of this name.

    Today's name means today, but "last Friday" and "on Friday" mean one that is over.
    """
    name = groups.get("day") or groups["on_day"]
    back = (day.weekday() - _DAYS.index(name[:3])) % 7
    return _make_day(day - timedelta(days=7 if back == 0 and "strictly" in groups else back))


def _read_date(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return the day of a date; without a year, the most recent one."""
    kind = "date" if "date_day" in groups else "us"
    month, wanted = _MONTHS.index(groups[f"{kind}_month"][:3]) + 1, int(groups[f"{kind}_day"])
    year = groups.get(f"{kind}_year")
    if year is not None:
        return _make_day(day.replace(month=month, day=wanted, year=int(year)))
    for back in range(_MAX_YEARS_BACK):
        try:
            start = day.replace(month=month, day=wanted, year=day.year - back)
        except ValueError:
            continue
        if start <= day:
            return _make_day(start)
    raise ValueError("there is no such day")


def _read_nth(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return a day or week counted within a month; its first week is its first seven days."""
    start, end = _read_month({"month": groups["nth_month"], "month_year": groups.get("nth_year", "")}, day)
    size = timedelta(days=7 if groups["nth_unit"] == "week" else 1)
    if groups["nth"] == "last":
        return end - size, end
    start += size * _ORDINALS[groups["nth"]]
    return start, start + size


def _read_month(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return a month; without a year, the most recent one."""
    month = _MONTHS.index(groups["month"][:3]) + 1
    year = int(groups.get("month_year") or day.year - (month > day.month))
    return _make_months(day, year * 12 + month - 1, 1)


def _read_year(groups: TimeGroups, day: datetime) -> MomentRange:
    """Return a year."""
    return _make_months(day, int(groups["year"]) * 12, 12)


def _make_months(day: datetime, first: int, count: int) -> MomentRange:
    """Return `count` whole months; `first` is the number of the first since year 0."""
    start, end = (day.replace(year=at // 12, month=at % 12 + 1, day=1) for at in (first, first + count))
    return start, end


def _read_number(count: str) -> int:
    """Return the number of a count in digits or words."""
    return int(count) if count.isdigit() else _NUMBERS[count]


_READERS: Mapping[str, Callable[[TimeGroups, datetime], MomentRange]] = {
    "iso": _read_iso,
    "today": _read_named_day,
    "day_before": _read_named_day,
    "yesterday": _read_named_day,
    "before_last": _read_calendar_unit,
    "ago": _read_ago,
    "past": _read_past,
    "nth": _read_nth,
    "turn": _read_calendar_unit,
    "day": _read_weekday,
    "on_day": _read_weekday,
    "date_day": _read_date,
    "us_day": _read_date,
    "month": _read_month,
    "year": _read_year,
    "now": _read_named_day,
}
_MAX_READ = 4_000  # characters of a question
_COUNT = (
    r"(?:\d{1,3}|a couple of|couple of|a few|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = r"(?:minute|hour|day|week|month|year)"
_CALENDAR_UNIT = r"(?:week|weekend|month|quarter|year)"
# Without one of these, or a digit, a question says nothing of a time: the patterns are dear, and few need them.
_TIME_WORDS = frozenset(
    (
        "ago", "last", "past", "previous", "this", "today", "tonight", "yesterday", "since", "after", "before", "until",
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    )
)  # fmt: skip
# Expressions that count from now.
_RELATIVE_GROUPS = ("today", "day_before", "yesterday", "before_last", "ago", "past", "one", "turn", "day", "now")
_PREPOSITION = r"(?:(?P<open>since|after|before|until|from|between)\s+)?(?:(?:in|on|during|over|within)\s+)?"
# Each alternative is one way to say when; the first that matches, from the left, counts.
_EXPRESSION = lazy(
    rf"\b{_PREPOSITION}(?:"
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)(?!\d)"
    r"|(?P<today>today|tonight|this (?:morning|afternoon|evening))\b"
    r"|(?P<day_before>(?:the\s+)?day\s+before\s+yesterday)\b"
    r"|(?P<yesterday>yesterday|last night)\b"
    rf"|(?:the\s+)?(?P<before_last>{_CALENDAR_UNIT})\s+before\s+last\b"
    rf"|(?P<ago>{_COUNT})\s+(?P<ago_unit>{_UNIT})s?\s+ago\b"
    rf"|(?:the\s+)?(?:last|past|previous)\s+(?:(?P<past>{_COUNT})\s+(?P<past_unit>{_UNIT})s?|(?P<one>minute|hour))\b"
    rf"|(?:the\s+)?(?P<nth>first|second|third|fourth|last)\s+(?P<nth_unit>day|week)\s+of\s+(?P<nth_month>{_MONTH})\b"
    rf"(?:\s+(?:of\s+)?(?P<nth_year>\d{{4}})\b)?"
    rf"|(?:the\s+)?(?P<turn>this|last|past|previous)\s+(?P<turn_unit>{_CALENDAR_UNIT})\b(?!\s+of\b)"
    rf"|(?:last|past|previous)\s+(?P<day>{_DAY})\b"
    rf"|(?<=\bon\s)(?P<on_day>{_DAY})\b(?!,?\s+(?:the\s+)?(?:\d|{_MONTH}\b))"
    rf"|(?:the\s+)?(?P<date_day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<date_month>{_MONTH})\b(?:,?\s+(?P<date_year>\d{{4}}))?"
    rf"|(?P<us_month>{_MONTH})\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<us_year>\d{{4}}))?"
    rf"|(?P<month>{_MONTH})\s+(?:of\s+)?(?P<month_year>\d{{4}})\b"
    r")"
)
_WORD = lazy(r"[a-z]+")
_PREPOSITION_AND_MONTH = lazy(r"\b(?:in|from|during|between|of) (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_BARE_TIME = rf"(?:(?P<month>{_MONTH})|(?P<year>(?:19|20)\d\d)|(?P<day>{_DAY}))\b"
_BARE_EXPRESSION = lazy(rf"\b(?P<open>in|during|since|last|this|before|after|until|from|between)\s+{_BARE_TIME}")
_RANGE_END = lazy(rf"(?:{_BARE_TIME}|(?P<now>now)\b)")
_RANGE_WORDS = {"from": lazy(r"\s+(?:to|until|till|through)\s+"), "between": lazy(r"\s+and\s+")}
# "From March on", and not "notes from March on deploys".
_ONWARDS = lazy(r"\s+(?:onwards?|forward|on(?=\s*(?:$|[,.;:?!)])|\s+(?:i|we|you|they|he|she|it)\b))")
# What is so on a day of the week, and not what was.
_HABIT_WORD = lazy(r"\b(?:can|could|may|might|do|does|is|are|am|should|shall|will|would|must|never|always|usually)\b")
_PAST_WORD = lazy(r"\b(?:did|was|were|had|happened)\b")
_MONTH_VERBS = ("may", "march")
_SURE_DATE = lazy(r"^(?:on|in|since|after|before|until|from|between|the|during)\b|\d(?:st|nd|rd|th)\b|\bof\b|\d{4}$")
_ENDS_IN_PREPOSITION = lazy(r"\b(?:of|by|for|around|about|to|and)\s+$")


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
    plain = _lower_in_place(outside)
    if not _may_have_time(plain):
        return QuestionTime(None, question, question)
    # By the caller's clock: "yesterday" is theirs, not Greenwich's.
    now_here = datetime.fromisoformat(now).astimezone().replace(tzinfo=None, microsecond=0)
    matches = [*_EXPRESSION.finditer(plain), *_BARE_EXPRESSION.finditer(plain)]
    for match in sorted(matches, key=re.Match.start):
        try:
            found = _read_match(match, outside, plain, now_here)
        except (ValueError, OverflowError):  # the 31st of June, or what no calendar has
            continue
        if found is not None and found[0].start < found[0].end:
            span, end, is_relative = found
            end += 2 * (question[end : end + 2] in ("'s", "’s"))
            without_date = f"{question[: match.start()]} {question[end:]}".strip()
            if is_relative:
                return QuestionTime(span, without_date, without_date)
            return QuestionTime(span, question, without_date, question[match.start() : end])
    return QuestionTime(None, question, question)


def _lower_in_place(text: str) -> str:
    """Return a text in lower case and of the same length: one capital letter becomes two small ones."""
    plain = text.lower()
    return plain if len(plain) == len(text) else "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)


def _may_have_time(plain: str) -> bool:
    """Return whether a question may name a time. Most do not: then the long patterns are not compiled."""
    words = frozenset(_WORD.findall(plain))
    if not words.isdisjoint(_TIME_WORDS) or any(map(str.isdecimal, plain)):
        return True
    return _PREPOSITION_AND_MONTH.search(plain) is not None


def _read_match(
    match: re.Match[str], outside: str, plain: str, now_here: datetime
) -> tuple[TimeSpan, int, bool] | None:
    """Return the span of a match, where its expression ends, and whether it counts from now; None if it is not a time
    here.
    """
    groups, opening, end = _get_groups(match), match.group("open"), match.end()
    is_past = "on_day" in groups and _PAST_WORD.search(plain) is not None
    is_habit = "on_day" in groups and not is_past and _HABIT_WORD.search(plain) is not None
    if is_habit or not _is_month(match, groups, outside, plain):
        return None
    is_relative = is_past or not groups.keys().isdisjoint(_RELATIVE_GROUPS)
    if opening in _RANGE_WORDS:
        to = _RANGE_WORDS[opening].match(plain, end)
        last = (_EXPRESSION.match(plain, to.end()) or _RANGE_END.match(plain, to.end())) if to is not None else None
        if last is not None:
            others = _get_groups(last)
            span = TimeSpan(*map(to_timestamp, read_range(groups, others, now_here)))
            return span, last.end(), is_relative and not others.keys().isdisjoint(_RELATIVE_GROUPS)
        if opening == "between":
            return None
        onward = _ONWARDS.match(plain, end)
        opening, end = ("since", onward.end()) if onward is not None else (None, end)
    if "on_day" in groups or (opening is None and "day" in groups):
        groups["strictly"] = ""
    first, after = map(to_timestamp, read_moments(groups, now_here))
    bounds = {"since": (first, "9999"), "after": (after, "9999"), "before": ("0000", first), "until": ("0000", first)}
    return TimeSpan(*bounds.get(opening or "", (first, after))), end, is_relative


def _get_groups(match: re.Match[str]) -> dict[str, str]:
    """Return the named groups that took part in a match."""
    return {name: text for name, text in match.groupdict().items() if text is not None}


def _is_month(match: re.Match[str], groups: TimeGroups, outside: str, plain: str) -> bool:
    """Return whether "may" and "march" are months here: not in "this may fail"."""
    name = next((name for name in ("date_month", "us_month", "month") if name in groups), "")
    if groups.get(name) not in _MONTH_VERBS or groups.get("open", "this") != "this":
        return True
    if (at := match.start(name)) > 0 and outside[at].isupper():
        return True
    after = plain[match.end() :].lstrip()
    if not after or after[0] in ",.;:?!)":
        return True
    return (
        _SURE_DATE.search(match.group()) is not None or _ENDS_IN_PREPOSITION.search(plain, 0, match.start()) is not None
    )
