"""When a question asks about: "last week", "two days ago", "in March", "since Monday", "2025-05-03".

English only, as the rest of the parsing. An expression becomes a span of time, by the calendar and clock of this
machine; moments are local and without a zone until they are done, so that a day in summer begins at midnight in winter
too. The words of one that is relative to now are taken out of the question: no note has them in it. What falls into the
span is preferred, never required, unless nothing else is asked; whoever wants only that asks with `since` and `until`.
What is quoted is never read as a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import blank_quotes

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
_READ = 4_000  # characters of a question
_N = r"(?:\d{1,3}|a couple of|couple of|a few|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = r"(?:minute|hour|day|week|month|year)"
_SPAN = r"(?:week|weekend|month|quarter|year)"
# Without one of these, or a digit, a question says nothing of a time: the patterns are dear, and few need them.
_SIGNS = frozenset(
    (
        "ago", "last", "past", "previous", "this", "today", "tonight", "yesterday", "since", "after", "before", "until",
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    )
)  # fmt: skip
_BEFORE_MONTHS = frozenset(("in", "from", "during", "between", "of"))
_RELATIVE = ("today", "day_before", "yesterday", "before_last", "ago", "past", "one", "turn", "day", "now")
_OPENING = r"(?:(?P<open>since|after|before|until|from|between)\s+)?(?:(?:in|on|during|over|within)\s+)?"
# Each alternative is one way to say when; the first that matches, from the left, counts.
_EXPRESSION = lazy(
    rf"\b{_OPENING}(?:"
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)(?!\d)"
    rf"|(?P<today>today|tonight|this (?:morning|afternoon|evening))\b"
    rf"|(?P<day_before>(?:the\s+)?day\s+before\s+yesterday)\b"
    rf"|(?P<yesterday>yesterday|last night)\b"
    rf"|(?:the\s+)?(?P<before_last>{_SPAN})\s+before\s+last\b"
    rf"|(?P<ago>{_N})\s+(?P<ago_unit>{_UNIT})s?\s+ago\b"
    rf"|(?:the\s+)?(?:last|past|previous)\s+(?:(?P<past>{_N})\s+(?P<past_unit>{_UNIT})s?|(?P<one>minute|hour))\b"
    rf"|(?:the\s+)?(?P<nth>first|second|third|fourth|last)\s+(?P<nth_unit>day|week)\s+of\s+(?P<nth_month>{_MONTH})\b"
    rf"(?:\s+(?:of\s+)?(?P<nth_year>\d{{4}})\b)?"
    rf"|(?:the\s+)?(?P<turn>this|last|past|previous)\s+(?P<turn_unit>{_SPAN})\b(?!\s+of\b)"
    rf"|(?:last|past|previous)\s+(?P<day>{_DAY})\b"
    rf"|(?<=\bon\s)(?P<on_day>{_DAY})\b(?!,?\s+(?:the\s+)?(?:\d|{_MONTH}\b))"
    rf"|(?:the\s+)?(?P<date_day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<date_month>{_MONTH})\b(?:,?\s+(?P<date_year>\d{{4}}))?"
    rf"|(?P<us_month>{_MONTH})\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<us_year>\d{{4}}))?"
    rf"|(?P<month>{_MONTH})\s+(?:of\s+)?(?P<month_year>\d{{4}})\b"
    r")"
)
_WORD = lazy(r"[a-z]+")
_IN_MONTH = lazy(r"\b(?:in|from|during|between|of) (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_ALONE = rf"(?:(?P<month>{_MONTH})|(?P<year>(?:19|20)\d\d)|(?P<day>{_DAY}))\b"
_IN = lazy(rf"\b(?P<open>in|during|since|last|this|before|after|until|from|between)\s+{_ALONE}")
_END = lazy(rf"(?:{_ALONE}|(?P<now>now)\b)")
_TO = {"from": lazy(r"\s+(?:to|until|till|through)\s+"), "between": lazy(r"\s+and\s+")}
# "From March on", and not "notes from March on deploys".
_ONWARD = lazy(r"\s+(?:onwards?|forward|on(?=\s*(?:$|[,.;:?!)])|\s+(?:i|we|you|they|he|she|it)\b))")
# What is so on a day of the week, and not what was.
_HABIT = lazy(r"\b(?:can|could|may|might|do|does|is|are|am|should|shall|will|would|must|never|always|usually)\b")
_PAST = lazy(r"\b(?:did|was|were|had|happened)\b")
_VERBS = ("may", "march")
_SURELY = lazy(r"^(?:on|in|since|after|before|until|from|between|the|during)\b|\d(?:st|nd|rd|th)\b|\bof\b|\d{4}$")
_PREPOSED = lazy(r"\b(?:of|by|for|around|about|to|and)\s+$")


class Span(NamedTuple):
    """From when until when, as timestamps; either may be open."""

    start: str
    end: str

    def has(self, stamp: str) -> bool:
        return self.start <= stamp < self.end


class When(NamedTuple):
    span: Span | None
    rest: str  # the question without what only says when
    without: str  # the same without a date either, which a note may have in it
    date: str = ""  # that date


class _Found(NamedTuple):
    span: Span
    end: int  # where its expression ends in the question
    relative: bool


def find_span(question: str, now: str) -> When:
    """The first expression of time in a question."""
    outside = blank_quotes(question)[:_READ]
    plain = _small(outside)
    if not _may_say_when(plain):
        return When(None, question, question)
    here = local(now)
    for match in sorted([*_EXPRESSION.finditer(plain), *_IN.finditer(plain)], key=lambda match: match.start()):
        try:
            found = _found(match, outside, plain, here)
        except (ValueError, OverflowError):  # the 31st of June, or what no calendar has
            continue
        if found is not None:
            end = found.end + 2 * (question[found.end : found.end + 2] in ("'s", "’s"))
            without = f"{question[: match.start()]} {question[end:]}".strip()
            if found.relative:
                return When(found.span, without, without)
            return When(found.span, question, without, question[match.start() : end])
    return When(None, question, question)


def _small(text: str) -> str:
    """In small letters, each where it stood: one has two."""
    plain = text.lower()
    return plain if len(plain) == len(text) else "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)


def _may_say_when(plain: str) -> bool:
    """False for most questions: then nothing more is compiled or searched for."""
    words = frozenset(_WORD.findall(plain))
    if not words.isdisjoint(_SIGNS) or any(map(str.isdecimal, plain)):
        return True
    return not words.isdisjoint(_BEFORE_MONTHS) and _IN_MONTH.search(plain) is not None


def _found(match: re.Match[str], outside: str, plain: str, here: datetime) -> _Found | None:
    said, opening = match.groupdict(), match.group("open")
    was = bool(said.get("on_day")) and _PAST.search(plain) is not None
    if not _is_month(match, outside, plain) or (said.get("on_day") and not was and _HABIT.search(plain)):
        return None
    end, relative = match.end(), was or _is_relative(said)
    if opening in _TO:
        to = _TO[opening].match(plain, end)
        last = (_EXPRESSION.match(plain, to.end()) or _END.match(plain, to.end())) if to is not None else None
        if last is not None:
            moments = between(said, last.groupdict(), here)
            return _of(moments, None, last.end(), relative and _is_relative(last.groupdict()))
        if opening == "between":
            return None
        onward = _ONWARD.match(plain, end)
        opening, end = ("since", onward.end()) if onward is not None else (None, end)
    strictly = said.get("on_day") or (said.get("day") if opening is None else None)
    moments = read({**said, "strictly": strictly}, here)
    return _of(moments, opening, end, relative)


def _of(moments: tuple[datetime, datetime], opening: str | None, end: int, relative: bool) -> _Found | None:
    """A span, unless it would be over before it begins: 9999 is the end of all years."""
    first, last = utc(moments[0]), utc(moments[1])
    span = Span(first, last)
    if opening in ("since", "after"):
        span = Span(first if opening == "since" else last, "9999")
    elif opening in ("before", "until"):
        span = Span("0000", first)
    return _Found(span, end, relative) if span.start < span.end else None


def _is_relative(said: Mapping[str, str | None]) -> bool:
    return any(said.get(name) for name in _RELATIVE)


def _is_month(match: re.Match[str], outside: str, plain: str) -> bool:
    """Whether "may" and "march" are months here: "it may 3 times fail", "this may fail"."""
    said = match.groupdict()
    name = next((name for name in ("date_month", "us_month", "month") if said.get(name)), None)
    if name is None or said[name] not in _VERBS or (said.get("open") not in (None, "this")):
        return True
    if (at := match.start(name)) > 0 and outside[at].isupper():
        return True
    after = plain[match.end() :].lstrip()
    if not after or after[0] in ",.;:?!)":
        return True
    return _SURELY.search(match.group()) is not None or _PREPOSED.search(plain, 0, match.start()) is not None
