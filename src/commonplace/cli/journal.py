"""Look at what orchestrated runs did, and record one.

`list` shows the newest runs, or with --worker what one worker did; `show RUN` everything that was recorded of a run;
`record FILE` puts a run into the journal of the project, once; `lessons` proposes for review what failed again and what
was fixed; `compact` makes summaries of old months and loses nothing.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import minute, plural, shown
from commonplace.model.errors import InvalidManifest, NotFound

if TYPE_CHECKING:
    from commonplace.book import Book

EXAMPLES = (
    "commonplace journal list --status failed",
    "commonplace journal show run-2026-11-15-a",
    "commonplace journal record run.json",
    "commonplace journal lessons --agent lead",
    "commonplace journal compact --days 90",
)
_NAMED = {"show": "RUN", "record": "FILE, or - for standard input"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "show", "record", "lessons", "compact"), help="what to do")
    parser.add_argument("name", metavar="RUN|FILE", nargs="?", help="for show: the run; for record: a manifest, or -")
    parser.add_argument("--worker", metavar="NAME", help="for list: only what this worker did")
    parser.add_argument("--status", metavar="WORD", help="for list: only what ended so: done, failed, cancelled")
    parser.add_argument("--limit", metavar="N", type=int, default=20, help="for list: at most so many (1 to 100)")
    parser.add_argument("--cursor", metavar="PLACE", help="for list: go on where the last answer ended")
    parser.add_argument("--dry-run", action="store_true", help="for lessons: show them, and propose nothing")
    parser.add_argument("--days", metavar="N", type=int, default=90, help="for compact: keep so many days as they are")


def run(call: Call) -> int:
    args = call.args
    if (args.name is not None) != (args.action in _NAMED):
        raise Usage("list, lessons and compact take no name; show takes a run, and record a file or -")
    given = _manifest(call) if args.action == "record" else {}
    with call.open(agent_role="orchestrator") as book:
        if args.action == "list":
            return _list(call, book)
        if args.action == "show":
            return _show(call, book)
        if args.action == "record":
            return _record(call, book, given)
        if args.action == "lessons":
            return _lessons(call, book)
        return _compact(call, book)


def _list(call: Call, book: Book) -> int:
    args, screen = call.args, call.screen
    recent = book.recent_memory(args.limit, args.worker, args.status, args.cursor)
    if not call.answer(recent):
        for entry in recent.entries:
            where = "  ".join(
                [shown(minute(entry.time)), shown(entry.status), *([shown(entry.run)] if entry.run else [])]
            )
            screen.line(screen.paint(where, "weak"))
            screen.block(entry.text)
        if recent.truncated:
            screen.line(screen.paint(f"There is more: --cursor {shown(recent.next)}", "weak"))
        if not recent.entries:
            screen.line("Nothing found.")
    return DONE if recent.entries else NOTHING


def _show(call: Call, book: Book) -> int:
    found = book.journal_run(call.args.name)
    if not call.answer(found):
        call.screen.line(shown(json.dumps(found.manifest, ensure_ascii=False, indent=1)))
        if not found.complete:
            call.screen.line(call.screen.paint("The recording was cut off: record the run again.", "warn"))
    return DONE


def _record(call: Call, book: Book, given: dict[str, object]) -> int:
    recorded = book.record_run(given, strict=True)
    if not call.answer(recorded):
        screen = call.screen
        said = {"recorded": "Recorded", "completed": "Completed", "unchanged": "Recorded before"}[recorded.action]
        screen.line(f"{said}: {shown(recorded.run)}  {shown(recorded.path or '')}")
        if recorded.redacted:
            screen.line(screen.paint(f"{plural(recorded.redacted, 'secret', 'secrets')} taken out.", "warn"))
        for key in recorded.lessons:
            screen.line(f"Proposed for review: {shown(key)}")
        for warning in recorded.warnings:
            screen.line(screen.paint(shown(warning), "warn"))
    return DONE


def _lessons(call: Call, book: Book) -> int:
    lessons = book.lessons(propose=not call.args.dry_run)
    if not call.answer({"lessons": lessons}):
        for lesson in lessons:
            call.screen.line(
                f"{call.screen.paint(shown(lesson.key), 'name')}  {call.screen.paint(lesson.state, 'weak')}"
            )
            call.screen.block(lesson.summary)
        if not lessons:
            call.screen.line("Nothing found.")
    return DONE if lessons else NOTHING


def _compact(call: Call, book: Book) -> int:
    done = book.compact_journal(call.args.days)
    if not call.answer(done):
        if done.months:
            runs = plural(done.runs, "run", "runs")
            call.screen.line(f"Summarised {runs} of {', '.join(done.months)}; the files are in _archive.")
        else:
            call.screen.line("Nothing is old enough.")
    return DONE


def _manifest(call: Call) -> dict[str, object]:
    """What a file, or standard input, says; read before the book is opened."""
    name = call.args.name
    try:
        if name == "-":
            data = bytes(call.stdin.buffer.read())
        else:
            with open(os.fspath(name), "rb") as file:
                data = file.read()
    except OSError as error:
        raise NotFound(f"{name!a} cannot be read: {error.strerror}.", hint="Check the path.") from None
    try:
        given = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidManifest("That is not JSON in UTF-8.") from None
    if not isinstance(given, dict):
        raise InvalidManifest("A manifest is an object with a run_id and tasks.")
    return given
