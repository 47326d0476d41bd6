"""Hooks that gave no answer: read from the log of hook runs, counted by host for the last seven days.

`commonplace doctor` and `commonplace connect --list` report them. A hook that reached its deadline or failed wrote so
itself (`vault/hook_runs.py`). One that its host killed, or that ended with the machine, left the line it wrote when
half of its time had passed, and no other: it counts as killed.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from datetime import datetime
from typing import NamedTuple

from commonplace.maintenance.findings import NOTE, FindingList
from commonplace.model.errors import InvalidField
from commonplace.model.host_results import LostHooks
from commonplace.model.times import now, read_time, shift_time
from commonplace.vault.disk import open_disk
from commonplace.vault.hook_runs import DEADLINE, DONE, MAX_BYTES, NAME, SLOW, log_path
from commonplace.vault.paths import PRIVATE

DAYS = 7
_DAY_SECONDS = 86_400
_RUNNING_SECONDS = 90  # no hook takes longer: its deadline is 60 s at most
_KILLED = "killed"
_MANY = 3  # fewer are never a warning
_REASONS = {
    DEADLINE: "not done in time: the machine was busy, or a disk did not answer",
    _KILLED: "killed before they were done",
}
_REMEDIES = {
    DEADLINE: "give hooks more time: set COMMONPLACE_HOOK_DEADLINE_MS (5000, for example) where the agent program runs",
    _KILLED: "see whether its settings give hooks less than 5 seconds",
}
_REMEDY = "see .commonplace/hook.log, and run `commonplace doctor`"


class _Line(NamedTuple):
    """A line of the log of runs."""

    time: str
    host: str
    event: str
    process: str
    outcome: str


def find_lost_hooks(root: str, at: str) -> list[LostHooks]:
    """Return the hosts with hooks that gave no answer in the week before `at`, by name; none if there is no log."""
    lines, is_whole = _read_log(root)
    since = shift_time(at, -DAYS * _DAY_SECONDS)
    recent = [line for line in lines if line.time >= since]
    if recent and not is_whole:  # what was before the first line is not known any more
        since = max(since, recent[0].time)
    runs: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for host, outcome in _end_runs(recent, shift_time(at, -_RUNNING_SECONDS)):
        runs[host] += 1
        if outcome != DONE:
            reasons[host][outcome] += 1
    days = _count_days(since, at)
    return [_describe(host, runs[host], reasons[host], days) for host in sorted(reasons)]


def report_lost_hooks(findings: FindingList, root: str) -> None:
    """Add a finding for each host with hooks that gave no answer: a note, as long as they were few."""
    for found in find_lost_hooks(root, now()):
        is_rare = found.lost < _MANY or found.lost * 10 < found.runs
        findings.add("lost_hooks", PRIVATE / NAME, f"{found.host}: {found.message}", severity=NOTE if is_rare else None)


def _read_log(root: str) -> tuple[list[_Line], bool]:
    """Return the lines of the log, the oldest first, and whether none was dropped yet."""
    folder = os.path.dirname(log_path(root))
    data = []
    with suppress(OSError), closing(open_disk(folder).open(())) as place:
        for name in (f"{NAME}.1", NAME):
            with suppress(OSError):
                data.append(place.read(name, 2 * MAX_BYTES)[0])
    is_whole = len(data) < 2
    return [line for part in data for text in part.splitlines() for line in _parse_line(text)], is_whole


def _parse_line(text: bytes) -> Iterator[_Line]:
    """Yield the line; nothing for half a line, as a full disk leaves one."""
    words = text.decode("ascii", "replace").split(" ")
    if len(words) == len(_Line._fields) and all(word.isprintable() for word in words):
        with suppress(InvalidField):
            yield _Line(read_time(words[0]), *words[1:])


def _end_runs(lines: Iterable[_Line], ended_by: str) -> Iterator[tuple[str, str]]:
    """Yield the host and the outcome of each run that has ended. One that was slow before `ended_by`, and has no other
    line, was killed."""
    slow: dict[tuple[str, str, str], _Line] = {}
    for line in lines:
        run = (line.process, line.host, line.event)
        earlier = slow.pop(run, None)
        if line.outcome != SLOW:
            yield line.host, line.outcome
            continue
        slow[run] = line
        if earlier is not None:  # the number of its process was given to another one
            yield earlier.host, _KILLED
    for line in slow.values():
        if line.time <= ended_by:
            yield line.host, _KILLED


def _count_days(since: str, until: str) -> int:
    """Return how many days there are between two times, rounded up."""
    seconds = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
    return max(1, -int(-seconds // _DAY_SECONDS))


def _describe(host: str, runs: int, reasons: Counter[str], days: int) -> LostHooks:
    known = [(code, number) for code, number in sorted(reasons.items()) if code in _REASONS]
    errors = [(code, number) for code, number in sorted(reasons.items()) if code not in _REASONS]
    parts = [f"{number} {_REASONS[code]}" for code, number in known]
    parts += [f"{number} failed: {code}" for code, number in errors]
    lost = reasons.total()
    when = f"the last {days} days" if days > 1 else "the last day"
    message = f"{lost} of {runs:,} hooks in {when} gave no answer ({'; '.join(parts)})."
    remedies = [_REMEDIES[code] for code, _ in known] + ([_REMEDY] if errors else [])
    hint = f"If this goes on, {'; '.join(remedies)}."
    return LostHooks(host, lost, runs, days, dict(sorted(reasons.items())), message, hint)
