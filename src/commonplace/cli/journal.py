"""The commands journal list, show, record, lessons, compact and schema."""

from __future__ import annotations

import json

from commonplace import verbs
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, flags
from commonplace.cli.screen import shown
from commonplace.journal.manifest import manifest_schema
from commonplace.model.errors import InvalidManifest
from commonplace.text.plural import plural


def _list(call: Call) -> int:
    recent = call.run(verbs.journal.recent_memory)
    screen = call.screen
    if not call.answer(recent):
        for entry in recent.entries:
            where = "  ".join(
                [shown(screen.minute(entry.time)), shown(entry.status), *([shown(entry.run)] if entry.run else [])]
            )
            screen.line(screen.paint(where, "weak"))
            screen.block(entry.text)
        if recent.truncated:
            call.remark(f"More: --cursor {shown(recent.next)}")
        if not recent.entries:
            call.remark("Nothing found.", "")
    return DONE if recent.entries else NOTHING


def _show(call: Call) -> int:
    found = call.run(verbs.journal.journal_run)
    if not call.answer(found):
        call.screen.line(shown(json.dumps(found.manifest, ensure_ascii=False, indent=1)))
        if not found.complete:
            call.remark("The recording is incomplete: record the run again.", "warn")
    return DONE


def _record(call: Call) -> int:
    manifest = _read_manifest(call)  # before the book is opened
    with call.open() as book:
        recorded = book.record_run(manifest, strict=True)
    if not call.answer(recorded):
        screen = call.screen
        said = {"recorded": "Recorded", "completed": "Completed", "unchanged": "Already recorded"}[recorded.action]
        screen.line(f"{said}: {shown(recorded.run)}  {shown(call.place(recorded.path)) if recorded.path else ''}")
        if recorded.redacted:
            screen.line(screen.paint(f"{plural(recorded.redacted, 'secret', 'secrets')} removed.", "warn"))
        for key in recorded.lessons:
            screen.line(f"Proposed for review: {shown(key)}")
        for warning in recorded.warnings:
            screen.line(screen.paint(shown(warning), "warn"))
    return DONE


def _lessons(call: Call) -> int:
    with call.open() as book:
        lessons = book.lessons(propose=not call.args.dry_run)
    if not call.answer({"lessons": lessons}):
        for lesson in lessons:
            call.screen.line(
                f"{call.screen.paint(shown(lesson.key), 'name')}  {call.screen.paint(lesson.state, 'weak')}"
            )
            call.screen.block(lesson.summary)
        if not lessons:
            call.remark("Nothing found.", "")
    return DONE if lessons else NOTHING


def _compact(call: Call) -> int:
    done = call.run(verbs.journal.compact_journal)
    if not call.answer(done):
        if done.months:
            runs = plural(done.runs, "run", "runs")
            call.screen.line(f"Summarised {runs} of {', '.join(done.months)}; the files are in _archive.")
        else:
            call.remark("Nothing is old enough.", "")
    return DONE


_SCHEMA_HELP = """Print the JSON Schema of a run's manifest.

What `commonplace journal record` reads. Only run_id, and the worker of each task, are required; unknown fields are
kept.
"""


def _schema(call: Call) -> int:
    schema = manifest_schema()
    if not call.answer(schema):
        call.screen.line(json.dumps(schema, indent=1))
    return DONE


def _read_manifest(call: Call) -> dict[str, object]:
    """Return the manifest in a file or in standard input."""
    data = call.read_bytes(call.args.manifest)
    try:
        given = json.loads(data)  # finds out whether it is UTF-8, UTF-16 or UTF-32
    except (ValueError, RecursionError):
        raise InvalidManifest("That is not JSON.") from None
    if not isinstance(given, dict):
        raise InvalidManifest("A manifest is an object with a run_id and tasks.")
    return given


COMMANDS = {
    "journal list": CliCommand(_list),
    "journal show": CliCommand(_show),
    "journal record": CliCommand(_record),
    "journal lessons": CliCommand(_lessons, flags(dry_run="show the lessons, and propose nothing")),
    "journal compact": CliCommand(_compact),
    "journal schema": CliCommand(
        _schema, text=_SCHEMA_HELP, shown_examples=("commonplace journal schema > run-manifest.schema.json",)
    ),
}
