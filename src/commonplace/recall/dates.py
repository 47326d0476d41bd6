"""When a question asks about: "last week", "two days ago", "in March", "since Monday", "2025-05-03".

English only, as the rest of the analysis. An expression becomes a span of time, in the caller's own days. The words of
one that is relative to now are taken out of the question: no note has them in it. What falls into the span is
preferred, never required, unless nothing else is asked; whoever wants only that asks with `since` and `until`. What is
quoted is never read as a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from commonplace.model.patterns import lazy
from commonplace.recall.moments import between, local, read, utc
from commonplace.text.words import unquoted

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
    outside = unquoted(question)[:_READ]
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
