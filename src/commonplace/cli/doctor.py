"""Look for anything wrong, and say what to do.

Reads every note and looks at every name, mode and record in the book. Changes nothing and deletes nothing. The exit
status is 1 where there is an error or a warning; notes alone are fine. docs/doctor.md explains every code.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.screen import Screen, plural, shown
from commonplace.model.results import Finding

EXAMPLES = ("commonplace doctor", "commonplace doctor --all", "commonplace doctor --json")
_MOST = 10
_STYLES = {"error": "bad", "warning": "warn", "note": "weak"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help=f"every place, not only the first {_MOST} of each kind")


def run(call: Call) -> int:
    with call.open() as book:
        found = book.doctor()
    ok = all(finding.severity == "note" for finding in found)
    if not call.answer({"ok": ok, "findings": found}):
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in found:
            groups.setdefault((finding.severity, finding.code), []).append(finding)
        for group in groups.values():
            _show(call.screen, group, len(group) if call.args.all else _MOST)
        _sum_up(call.screen, found)
    return DONE if ok else NOTHING


def _show(screen: Screen, group: Sequence[Finding], most: int) -> None:
    """What all of a group have in common once, then where."""
    first = group[0]
    alike = all(finding.message == first.message for finding in group)
    screen.line(f"{screen.paint(first.severity, _STYLES[first.severity])} {screen.paint(first.code, 'strong')}")
    if alike:
        screen.block(first.message)
    screen.block(f"what to do: {first.hint}")
    for finding in group[:most]:
        what = "" if alike else f": {shown(finding.message)}"
        screen.line(f"    {screen.paint(shown(finding.path), 'name')}{what}")
    if len(group) > most:
        screen.line(screen.paint(f"    and {len(group) - most:,} more; --all shows them.", "weak"))
    screen.line()


def _sum_up(screen: Screen, found: Sequence[Finding]) -> None:
    words = (("error", "errors"), ("warning", "warnings"), ("note", "notes"))
    numbers = [(sum(finding.severity == one for finding in found), one, many) for one, many in words]
    parts = [plural(number, one, many) for number, one, many in numbers if number]
    screen.line(f"{', '.join(parts) or 'Nothing is wrong'}. No note was changed.")
