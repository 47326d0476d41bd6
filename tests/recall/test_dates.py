"""When a question asks about."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.book import Book
from commonplace.recall.dates import find_span

NOW = "2026-11-15T10:00:00Z"  # a Sunday


@pytest.fixture
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's days begin at midnight UTC."""
    monkeypatch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):
        time.tzset()
    yield
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.mark.usefixtures("greenwich")
@pytest.mark.parametrize(
    ("question", "start", "end", "rest"),
    [
        ("what did we decide last week", "2026-11-02", "2026-11-09", "what did we decide"),
        ("bugs of this week", "2026-11-09", "2026-11-16", "bugs of"),
        ("deploys yesterday", "2026-11-14", "2026-11-15", "deploys"),
        ("deploys today", "2026-11-15", "2026-11-16", "deploys"),
        ("who joined two months ago", "2026-09-01", "2026-10-02", "who joined"),
        ("errors of the last 3 days", "2026-11-12", "2026-11-16", "errors of"),
        ("reviews last Friday", "2026-11-13", "2026-11-14", "reviews"),
        ("reviews since Monday", "2026-11-09", "9999", "reviews"),
        ("plans before last month", "0000", "2026-10-01", "plans"),
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
    span, left = find_span(question, NOW)
    assert span is not None and (span.start[:10], span.end[:10]) == (start, end) and left == rest


@pytest.mark.parametrize(
    "question",
    ["may I use tabs", "march on", "31 June", "every friday we deploy", "port 2024 is taken", "the last mile", "a day"],
)
def test_other_words_are_no_time(question: str) -> None:
    """A month's name that is another word, a date that is none, and habits leave a question as it is."""
    assert find_span(question, NOW) == (None, question)


@given(st.text(st.sampled_from("lastweek 0123456789-monthdyagofjun,"), max_size=40))
def test_any_text_has_a_span_or_none(question: str) -> None:
    """Whatever is asked, a span begins before it ends, and nothing is raised."""
    span, _ = find_span(question, NOW)
    assert span is None or span.start < span.end


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
