"""Times: UTC, to the second, ending in Z, and sorted as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidField
from commonplace.model.times import FIRST, LAST, compact_time, format_time, is_timestamp, now, read_time, shift_time
from tests.depth import examples
from tests.strategies import any_text

moments = st.datetimes(timezones=st.just(UTC))
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moments, moments)
def test_stamps_sort_as_times(first: datetime, second: datetime) -> None:
    """The stamp of any moment is a stamp, and stamps sort as the moments do."""
    assert is_timestamp(format_time(first))
    if first <= second:
        assert format_time(first) <= format_time(second)


@given(moments)
def test_a_stamp_is_read_back(moment: datetime) -> None:
    """A stamp says its moment to the second, and reading it gives it back."""
    text = format_time(moment)
    assert datetime.fromisoformat(text) == moment.replace(microsecond=0)
    assert read_time(text) == text


@given(st.datetimes().filter(lambda moment: 1 < moment.year < 9999), zones)
def test_times_of_any_zone_become_utc(moment: datetime, zone: timezone) -> None:
    """A time with an offset is the same moment in UTC; one without is UTC."""
    aware = moment.replace(tzinfo=zone)
    assert read_time(aware.isoformat()) == format_time(aware.astimezone(UTC))
    assert format_time(moment) == format_time(moment.replace(tzinfo=UTC))


@examples(500)
@given(any_text | st.text("0123456789-:TZ+. W", max_size=26))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    """Reading a time gives a stamp or the one error for it, never another."""
    try:
        assert is_timestamp(read_time(text))
    except InvalidField as error:
        assert "is not a time" in error.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-15", "2026-11-15T00:00:00Z"),
        ("2026-11-15T09:30", "2026-11-15T09:30:00Z"),
        ("2026-11-15 09:30:00+02:00", "2026-11-15T07:30:00Z"),
        ("2026-11-15T09:30:00.25Z", "2026-11-15T09:30:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
    ],
)
def test_forms_that_are_read(text: str, expected: str) -> None:
    """Dates and times in the usual forms of ISO 8601 are read."""
    assert read_time(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-13-01",
        "2026-02-30T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "\ud800",
    ],
)
def test_forms_that_are_refused(text: str) -> None:
    """What is no time, or is none in UTC, is refused."""
    with pytest.raises(InvalidField):
        read_time(text)


@pytest.mark.parametrize("text", ["2026-11-15T09:30:00Z\n", "2026-11-15T09:30:00", "٢026-11-15T09:30:00Z", " 2026"])
def test_what_is_no_stamp(text: str) -> None:
    """Only the exact form, in ASCII digits, is a stamp."""
    assert not is_timestamp(text)


def test_now_and_compact() -> None:
    """The present is a stamp of the present, and a stamp can be part of a file name."""
    before = datetime.now(UTC).replace(microsecond=0)
    assert before <= datetime.fromisoformat(now()) <= datetime.now(UTC)
    assert compact_time("2026-11-15T09:30:00Z") == "20261115T093000Z"


@given(moments, st.integers(-(10**9), 10**9))
def test_shifting(moment: datetime, seconds: int) -> None:
    """A shifted timestamp is the timestamp of the shifted moment, and the calendar's ends hold it."""
    try:
        wanted = format_time(moment + timedelta(seconds=seconds))
    except OverflowError:
        wanted = LAST if seconds > 0 else FIRST
    assert shift_time(format_time(moment), seconds) == wanted


@pytest.mark.parametrize("text", ["", "2026-11-15", "2026-11-15T09:30:00+00:00", "2026-02-30T00:00:00Z"])
def test_only_timestamps_are_shifted(text: str) -> None:
    """What is not a timestamp of a real moment is an error."""
    with pytest.raises(InvalidField):
        shift_time(text, 1)
    assert shift_time(LAST, 10**30) == LAST
    assert shift_time(FIRST, -1) == FIRST
