"""When a question asks about."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.book import Book
from commonplace.recall.dates import TimeSpan, find_time

NOW = "2026-11-15T10:00:00Z"  # a Sunday


ZONES = ["UTC", "Asia/Tokyo", "America/Los_Angeles", "Pacific/Kiritimati", "Europe/Berlin", "Asia/Kathmandu"]


@contextmanager
def clocks_of(place: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", place)
    if hasattr(time, "tzset"):
        time.tzset()
    yield
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.fixture
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's days begin at midnight UTC."""
    with clocks_of("UTC", monkeypatch):
        yield


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine stands in another time zone."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system does not take its zone from the environment")
    with clocks_of(request.param, monkeypatch):
        yield


@pytest.mark.usefixtures("greenwich")
@pytest.mark.parametrize(
    ("question", "start", "end", "rest"),
    [
        ("what did we decide last week", "2026-11-02", "2026-11-09", "what did we decide"),
        ("bugs of this week", "2026-11-09", "2026-11-16", "bugs of"),
        ("deploys yesterday", "2026-11-14", "2026-11-15", "deploys"),
        ("deploys today", "2026-11-15", "2026-11-16", "deploys"),
        ("who joined two months ago", "2026-09-01", "2026-10-01", "who joined"),
        ("errors of the last 3 days", "2026-11-12", "2026-11-16", "errors of"),
        ("reviews last Friday", "2026-11-13", "2026-11-14", "reviews"),
        ("reviews since Monday", "2026-11-09", "9999", "reviews"),
        ("plans before last month", "0000", "2026-10-01", "plans"),
        ("yesterday's deploys", "2026-11-14", "2026-11-15", "deploys"),
        ("reviews the day before yesterday", "2026-11-13", "2026-11-14", "reviews"),
        ("emails from last week", "2026-11-02", "2026-11-09", "emails"),
        ("plans this quarter", "2026-10-01", "2027-01-01", "plans"),
        ("plans of last quarter", "2026-07-01", "2026-10-01", "plans of"),
        ("what did we ship on Monday", "2026-11-09", "2026-11-10", "what did we ship"),
        ("what was said on Sunday", "2026-11-08", "2026-11-09", "what was said"),
        ("meeting on Monday", "2026-11-09", "2026-11-10", "meeting on Monday"),
        ("notes from March", "2026-03-01", "2026-04-01", "notes from March"),
        ("notes from March on caching", "2026-03-01", "2026-04-01", "notes from March on caching"),
        ("notes since March", "2026-03-01", "9999", "notes since March"),
        ("what happened may 3", "2026-05-03", "2026-05-04", "what happened may 3"),
        ("the talk May 3 in Rome", "2026-05-03", "2026-05-04", "the talk May 3 in Rome"),
        ("it may 3 times fail since yesterday", "2026-11-14", "9999", "it may 3 times fail"),
        ("İzmir deploys yesterday", "2026-11-14", "2026-11-15", "İzmir deploys"),
        ("the outage on 3 May 2023", "2023-05-03", "2023-05-04", "the outage on 3 May 2023"),
        ("the outage on May 3rd", "2026-05-03", "2026-05-04", "the outage on May 3rd"),
        ("the 24th of December", "2025-12-24", "2025-12-25", "the 24th of December"),
        ("releases in December", "2025-12-01", "2026-01-01", "releases in December"),
        ("releases in December 2024", "2024-12-01", "2025-01-01", "releases in December 2024"),
        ("releases after 2024", "2025-01-01", "9999", "releases after 2024"),
        ("what is 2025-05-03", "2025-05-03", "2025-05-04", "what is 2025-05-03"),
    ],
)
def test_an_expression_of_time_is_a_span(question: str, start: str, end: str, rest: str) -> None:
    """What is relative to now leaves the question; a date stays in it, since notes may have it in them."""
    when = find_time(question, NOW)
    assert when.span is not None and (when.span.start[:10], when.span.end[:10]) == (start, end)
    assert when.rest == rest


@pytest.mark.usefixtures("greenwich")
@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("in the last 24 hours", "2026-11-14T10:00:00Z", "2026-11-15T10:00:01Z"),
        ("the past hour", "2026-11-15T09:00:00Z", "2026-11-15T10:00:01Z"),
        ("an hour ago", "2026-11-15T08:30:00Z", "2026-11-15T09:30:00Z"),
        ("20 minutes ago", "2026-11-15T09:30:00Z", "2026-11-15T09:50:00Z"),
    ],
)
def test_hours_go_by_the_clock(question: str, start: str, end: str) -> None:
    """What counts hours or minutes is of this very moment, and not of its day."""
    assert find_time(question, NOW) == (TimeSpan(start, end), "", "", "")


@pytest.mark.parametrize("zone", ["Europe/Berlin"], indirect=True)
@pytest.mark.usefixtures("zone")
def test_a_day_begins_at_its_own_midnight() -> None:
    """A day in summer that is asked for in winter begins at midnight of the summer's clock."""
    assert find_time("on 4 July 2026", NOW).span == TimeSpan("2026-07-03T22:00:00Z", "2026-07-04T22:00:00Z")
    assert find_time("on 4 January 2026", NOW).span == TimeSpan("2026-01-03T23:00:00Z", "2026-01-04T23:00:00Z")


@pytest.mark.parametrize(
    "question",
    [
        "may I use tabs", "march on", "31 June", "every friday we deploy", "port 2024 is taken", "the last mile",
        "a day", "it may 3 times fail", "which 3 may fail", "what if this may fail", "May 3 people join",
        "I march 5 miles", "the last week of the project", "the last week of October", "between March we rest",
        "since 9999-05-03", '"last week" retrospective', "“yesterday” deploy", '"in March"', "«2026-11-06»",
    ],
)  # fmt: skip
def test_other_words_are_no_time(question: str) -> None:
    """A month's name that is another word, a date that is none, and habits leave a question as it is."""
    assert find_time(question, NOW) == (None, question, question, "")


PIECES = (
    "the", "last", "this", "first", "week", "day", "of", "before", "yesterday", "today", "from", "to", "until", "and",
    "between", "on", "in", "since", "after", "ago", "an", "3", "31st", "29", "999", "hours", "years", "quarter",
    "month", "now", "Monday", "sunday", "March", "may", "feb", "december", "2024", "9999", "0001", "0001-01-01",
    "9999-12-31", "2024-02-29", "2026-13-45", '"', "“", "İ", "'s", ",", "?", "9999-12", "0000-01", "0000-00-00", "1999",
)  # fmt: skip
QUESTIONS = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)
NOWS = st.sampled_from(
    [NOW, "2024-02-29T23:59:59Z", "2026-01-01T00:00:00Z", "2026-03-29T01:30:00Z", "2026-10-25T00:30:00Z"]
)


def check(question: str, now: str) -> None:
    """What always holds of what is found."""
    found = find_time(question, now)
    if found.span is None:
        assert found == (None, question, question, "")
    else:
        assert found.span.start < found.span.end
        assert found.date in question
        assert found.rest in (question, found.without_date)
        assert len(found.without_date) < len(question)


@given(
    st.one_of(st.text(st.sampled_from("lastweek 0123456789-monthdyagofjun,"), max_size=40), st.text(max_size=60)), NOWS
)
def test_any_text_has_a_span_or_none(question: str, now: str) -> None:
    """Whatever is asked, a span begins before it ends, and nothing is raised."""
    check(question, now)


@pytest.mark.parametrize("zone", ZONES, indirect=True)
@pytest.mark.usefixtures("zone")
def test_any_words_of_time_have_a_span_or_none_anywhere() -> None:
    """The same of whatever is put together from words that say when, in every time zone."""

    @given(QUESTIONS, NOWS)
    def anywhere(question: str, now: str) -> None:
        check(question, now)

    for question in ("0001-01-01", "9999-12-31", "until 0001-01-01", "since 9999-12-31", "999 years ago"):
        check(question, NOW)
    anywhere()


@given(QUESTIONS, QUESTIONS)
def test_what_is_quoted_is_no_time(before: str, quoted: str) -> None:
    """Words in quotes change nothing of what the words outside say."""
    before, quoted = (text.replace('"', "").replace("“", "") for text in (before, quoted))
    said = find_time(f"{before} | ", NOW)
    assert find_time(f'{before} | "{quoted}x"', NOW)[::3] == said[::3]


def test_recall_prefers_what_was_then(tmp_path: Path) -> None:
    """Of notes with the same words, that of the asked week comes first; a question of time alone gets all of it."""
    now = datetime.now(UTC)
    with Book.open(tmp_path / "book", project="p") as book:
        for key, days in (("old", 60), ("mid", 8), ("new", 0)):
            when = (now - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
            book.store(f"The pump was serviced by {key} staff.", key=key, occurred=when)
        assert book.recall("who serviced the pump two months ago").hits[0].key == "old"
        assert {hit.key for hit in book.recall("what happened in the last 10 days?").hits} == {"mid", "new"}
        assert book.recall("who serviced the pump").hits[0].key != "old"


DIARY = {
    "march": ("We chose PostgreSQL for billing.", "2026-03-04T10:00:00Z", "maria"),
    "april": ("Jobs go through RabbitMQ.", "2026-04-10T10:00:00Z", "tomasz"),
    "june": ("Version 2.0 went out to everybody.", "2026-06-18T12:00:00Z", "jonas"),
    "fourth": ("Internet Explorer is no longer supported.", "2026-11-04T10:00:00Z", "priya"),
    "sixth": ("The search moved from Elasticsearch.", "2026-11-06T10:00:00Z", "tomasz"),
    "saturday": ("Release candidate cut, tests green.", "2026-11-14T16:00:00Z", "claude-code"),
    "midnight": ("The certificate was rotated.", "2026-11-15T00:00:00Z", None),
    "contract": ("The contract ends on 31 December 2026.", "2026-01-15T10:00:00Z", None),
}


@pytest.fixture
def diary(tmp_path: Path, greenwich: None) -> Iterator[Book]:
    """A book of which it is NOW, with a few days of a year in it."""
    with Book.open(tmp_path / "book", project="p") as book:
        for key, (text, when, author) in DIARY.items():
            book.store(text, key=key, occurred=when, author=author)
        book.context.memories.clock = lambda: NOW  # the one thing that a caller cannot set
        yield book


def keys(book: Book, question: str, since: str | None = None, until: str | None = None) -> set[str]:
    return {hit.key for hit in book.recall(question, since=since, until=until, strong=True).hits}


@pytest.mark.parametrize(
    ("question", "then"),
    [
        ("what did we do in March", {"march"}),
        ("decisions from March", {"march"}),
        ("what happened in june 2026", {"june"}),
        ("what changed on 4 November", {"fourth"}),
        ("what happened 2026-11-06", {"sixth"}),
        ("what did we do last week", {"fourth", "sixth"}),
        ("what happened last quarter", set()),
        ("what happened on Friday", set()),
        ("what happened yesterday", {"saturday"}),
        ("what did Tomasz do last week", {"sixth"}),
        ("what did Tomasz do in April", {"april"}),
        ("what was done on 31 December 2026", {"contract"}),
    ],
)
def test_what_happened_then_is_all_that_was_then(diary: Book, question: str, then: set[str]) -> None:
    """A question of nothing but a time, or a time and a name, gets what was then, by whoever is named; and where
    nothing was, what names the date."""
    assert keys(diary, question) == then


def test_what_the_caller_allows_stays_so(diary: Book) -> None:
    """A time in the question narrows what since and until allow, and never widens it."""
    assert keys(diary, "what happened last week", since="2026-11-05") == {"sixth"}
    assert keys(diary, "what happened last week", until="2026-11-05") == {"fourth"}
    found = diary.recall("what happened in March", since="2026-11-05").hits
    assert {hit.key for hit in found} <= {"sixth", "saturday", "midnight"} and not any(hit.strong for hit in found)


@pytest.mark.parametrize("zone", ["Asia/Tokyo"], indirect=True)
@pytest.mark.usefixtures("zone")
def test_a_date_before_all_calendars_is_only_words(tmp_path: Path) -> None:
    """East of Greenwich the first day of the first year begins in no year at all: it is asked for as it is written."""
    with Book.open(tmp_path / "book", project="p") as book:
        book.store("The calendar begins with 0001-01-01.", key="first")
        assert [hit.key for hit in book.recall("what happened 0001-01-01").hits] == ["first"]
