"""The clock of a source: what its local times are in UTC, and on which day something was there.

Readers of chats make one of `ReadOptions.timezone`; without a name it is the clock of this machine.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace.model.errors import InvalidField
from commonplace.model.times import format_time

_FAILURES = (ValueError, OverflowError, OSError)


class SourceClock:
    """The clock of the time zone that the user named for a source. Raises InvalidField for an unknown one."""

    def __init__(self, timezone: str) -> None:
        self._zone: tzinfo | None = None
        try:
            self._zone = ZoneInfo(timezone) if timezone else None
        except (ZoneInfoNotFoundError, *_FAILURES):
            raise InvalidField(f"Unknown time zone {timezone[:60]!a}.", hint="Write it as Europe/Berlin.") from None

    def to_utc(self, local: datetime) -> tuple[str, int | None]:
        """Return a local time as a timestamp, and how many minutes the clock was east of UTC; "" if that fails."""
        try:
            moment = local.replace(tzinfo=self._zone) if self._zone else local.astimezone()
            offset = moment.utcoffset()
            return format_time(moment), None if offset is None else int(offset.total_seconds() // 60)
        except _FAILURES:
            return "", None

    def find_day(self, seconds: float) -> str:
        """Return the day of a time in seconds since 1970, as 2026-11-15; "" if there is none."""
        try:
            return datetime.fromtimestamp(seconds, UTC).astimezone(self._zone).date().isoformat()
        except _FAILURES:
            return ""
