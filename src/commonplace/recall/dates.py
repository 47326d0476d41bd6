"""When a question asks about: "last week", "two days ago", "in March", "since Monday", "2025-05-03".

English only, as the rest of the analysis. An expression becomes a span of time, in the caller's own days. The words of
one that is relative to now are taken out of the question: no note has them in it. What falls into the span is
preferred, never required; whoever wants only that asks with `since` and `until`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from commonplace.model.patterns import lazy
from commonplace.model.value import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_N = r"(?:\d{1,3}|a couple of|couple of|a few|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = r"(?:day|week|month|year)"
# Without one of these, or a digit, a question says nothing of a time: the patterns are dear, and few need them.
_SIGNS = frozenset(
    ("ago", "last", "past", "previous", "this", "today", "tonight", "yesterday", "since", "after", "before", "until")
)
_BEFORE_MONTHS = frozenset(("in", "from", "during"))
_RELATIVE = ("today", "yesterday", "ago", "past", "turn", "day")
_OPENING = r"(?:(?P<open>since|after|before|until|from)\s+)?(?:(?:in|on|during|over|within)\s+)?"

# Each alternative is one way to say when; the first that matches, from the left, counts.
_EXPRESSION = lazy(
    rf"\b{_OPENING}(?:"
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)(?!\d)"
    rf"|(?P<today>today|tonight|this (?:morning|afternoon|evening))\b"
    rf"|(?P<yesterday>yesterday|last night)\b"
    rf"|(?P<ago>{_N})\s+(?P<ago_unit>{_UNIT})s?\s+ago\b"
    rf"|(?:the\s+)?(?:last|past|previous)\s+(?P<past>{_N})\s+(?P<past_unit>{_UNIT})s?\b"
    rf"|(?:the\s+)?(?P<turn>this|last|past|previous)\s+(?P<turn_unit>week|weekend|month|year)\b"
    rf"|(?:last|past|previous)\s+(?P<day>{_DAY})\b"
    rf"|(?:the\s+)?(?P<date_day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<date_month>{_MONTH})\b(?:,?\s+(?P<date_year>\d{{4}}))?"
    rf"|(?P<us_month>{_MONTH})\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<us_year>\d{{4}}))?"
    rf"|(?P<month>{_MONTH})\s+(?:of\s+)?(?P<month_year>\d{{4}})\b"
    r")"
)
_WORD = lazy(r"[a-z]+")
_IN_MONTH = lazy(r"\b(?:in|from|during) [jfmasond][a-z]+\b")
_IN = lazy(
    rf"\b(?P<open>in|during|since|last|this|before|after|until|from)\s+(?:(?P<month>{_MONTH})|(?P<year>(?:19|20)\d\d)|(?P<day>{_DAY}))\b"
)


class Span(NamedTuple):
    """From when until when, as timestamps; either may be open."""

    start: str
    end: str

    def has(self, stamp: str) -> bool:
        return self.start <= stamp < self.end


class When(NamedTuple):
    span: Span | None
    rest: str  # the question without what only says when


def find_span(question: str, now: str) -> When:
    """The first expression of time in a question."""
    plain = question.lower()
    if not _may_say_when(plain):
        return When(None, question)
    match = _EXPRESSION.search(plain) or _IN.search(plain)
    if match is None:
        return When(None, question)
    try:
        found = _read(match.groupdict(), _moment(now))
    except (ValueError, OverflowError):  # the 31st of June
        return When(None, question)
    if found is None:
        return When(None, question)
    span = _opened(found, match.group("open"))
    said = match.groupdict()
    if not any(said.get(name) for name in _RELATIVE):
        return When(span, question)
    return When(span, f"{question[: match.start()]} {question[match.end() :]}".strip())


def _may_say_when(plain: str) -> bool:
    """False for most questions: then nothing more is compiled or searched for."""
    words = frozenset(_WORD.findall(plain))
    if not words.isdisjoint(_SIGNS) or any(map(str.isdecimal, plain)):
        return True
    return not words.isdisjoint(_BEFORE_MONTHS) and _IN_MONTH.search(plain) is not None


def _moment(now: str) -> datetime:
    """Midnight of the caller's day: "yesterday" is theirs, not Greenwich's."""
    here = datetime.fromisoformat(now).astimezone()
    return here.replace(hour=0, minute=0, second=0, microsecond=0)


def _read(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime] | None:
    readers: dict[str, Callable[[dict[str, str | None], datetime], tuple[datetime, datetime] | None]] = {
        "iso": _iso, "today": _today, "yesterday": _yesterday, "ago": _ago, "past": _past, "turn": _turn,
        "day": _weekday, "date_day": _date, "us_day": _date, "month": _month, "year": _year,
    }  # fmt: skip
    for name, reader in readers.items():
        if said.get(name):
            return reader(said, day)
    return None


def _iso(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    text = said["iso"] or ""
    if len(text) == 10:
        start = day.replace(year=int(text[:4]), month=int(text[5:7]), day=int(text[8:]))
        return start, start + timedelta(days=1)
    return _whole_month(day, int(text[:4]), int(text[5:7]))


def _today(_: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    return day, day + timedelta(days=1)


def _yesterday(_: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    return day - timedelta(days=1), day


def _ago(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    """ "Three weeks ago" is about then: half a unit to either side."""
    unit = {"day": 1, "week": 7, "month": 30, "year": 365}[said["ago_unit"] or "day"]
    then = day - timedelta(days=unit * _number(said["ago"]))
    return then - timedelta(days=unit // 2), then + timedelta(days=unit // 2 + 1)


def _past(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    unit = {"day": 1, "week": 7, "month": 31, "year": 366}[said["past_unit"] or "day"]
    return day - timedelta(days=unit * _number(said["past"])), day + timedelta(days=1)


def _turn(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    """This week, last month: of the calendar, weeks from Monday on."""
    back = 0 if said["turn"] == "this" else 1
    monday = day - timedelta(days=day.weekday() + 7 * back)
    if said["turn_unit"] == "week":
        return monday, monday + timedelta(days=7)
    if said["turn_unit"] == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if said["turn_unit"] == "month":
        months = day.year * 12 + day.month - 1 - back
        return _whole_month(day, months // 12, months % 12 + 1)
    return _whole_year(day, day.year - back)


def _weekday(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    """The last one that was; today's name means today."""
    back = (day.weekday() - _DAYS.index((said["day"] or "")[:3])) % 7
    return day - timedelta(days=back), day - timedelta(days=back - 1)


def _date(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    name, number, year = (said[f"date_{part}"] or said[f"us_{part}"] for part in ("month", "day", "year"))
    start = day.replace(month=_MONTHS.index((name or "")[:3]) + 1, day=int(number or 1), year=int(year or day.year))
    if year is None and start > day:
        start = start.replace(year=day.year - 1)
    return start, start + timedelta(days=1)


def _month(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    month = _MONTHS.index((said["month"] or "")[:3]) + 1
    year = int(said.get("month_year") or day.year - (month > day.month))
    return _whole_month(day, year, month)


def _year(said: dict[str, str | None], day: datetime) -> tuple[datetime, datetime]:
    return _whole_year(day, int(said["year"] or day.year))


def _whole_month(day: datetime, year: int, month: int) -> tuple[datetime, datetime]:
    start = day.replace(year=year, month=month, day=1)
    return start, start.replace(year=year + month // 12, month=month % 12 + 1)


def _whole_year(day: datetime, year: int) -> tuple[datetime, datetime]:
    return day.replace(year=year, month=1, day=1), day.replace(year=year + 1, month=1, day=1)


def _number(said: str | None) -> int:
    return int(said) if said and said.isdigit() else _NUMBERS[said or "one"]


def _opened(found: tuple[datetime, datetime], opening: str | None) -> Span:
    start, end = (moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for moment in found)
    if opening in ("since", "from"):
        return Span(start, "9999")
    if opening == "after":
        return Span(end, "9999")
    return Span("0000", start) if opening in ("before", "until") else Span(start, end)
