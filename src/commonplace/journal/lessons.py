"""Lessons: outcomes that repeat become memories that wait for review.

There are two kinds: the same failure of a worker three times, and work that succeeded after it had failed. Each is
proposed only once: a mark in the journal records that, so that a lesson a person rejected, edited or purged does not
come back. The memory is written first and the mark second; in between, its key shows that it exists or is in the trash.
The mark does not contain the lesson, so that a search cannot find what a person rejected.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from commonplace.journal.entries import (
    ARTIFACTS,
    LESSONS,
    RunOrigin,
    entry_attributes,
    entry_id,
    main_error_line,
    quoted_error,
    short_label,
)
from commonplace.journal.writer import JournalFiles, newest_failures
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.memory import Entry
from commonplace.model.names import slug
from commonplace.text.naming import cut, one_line
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import ABSENT, Write

REPEATED = 3  # a failure seen this many times is a lesson
_SHOWN_RUNS = 5


class LessonDraft(NamedTuple):
    """A lesson to propose: the key and text of the memory, and the id of its mark."""

    id: str
    key: str
    kind: str  # repeated, fixed
    worker: str
    summary: str
    text: str


def find_lessons(files: JournalFiles, workers: Iterable[str], origin: RunOrigin) -> list[LessonDraft]:
    """Return the lessons in the newest failures of these workers, oldest first, proposed or not."""
    found: list[LessonDraft] = []
    for worker in workers:
        failures = newest_failures(files, worker)
        found += _find_repeated(worker, failures, origin)
        found += [
            _draft_fixed(worker, entry, origin) for entry in failures if entry_attributes(entry).get("kind") == "fixed"
        ]
    return list({item.id: item for item in found}.values())


def drop_proposed(keep: MemoryStore, folder: BookPath, found: Sequence[LessonDraft]) -> list[LessonDraft]:
    """Return the lessons that have no mark yet."""
    return [item for item in found if keep.vault.stat(keep.space, KEEPER, _mark_path(folder, item)) is None]


def stage_marks(unit: Unit, proposed: Sequence[LessonDraft], scope: str, time: str) -> None:
    """Stage the marks of lessons that were proposed."""
    for item in drop_proposed(unit.keep, unit.folder, proposed):
        text = f"# {item.id}\n\nProposed for review as `{item.key}` in {scope}, {time}.\n"
        unit.put_aside(Write(_mark_path(unit.folder, item), text.encode(), ABSENT))


def _mark_path(folder: BookPath, item: LessonDraft) -> BookPath:
    return folder / LESSONS / f"{item.id}.md"


def _find_repeated(worker: str, failures: Sequence[Entry], origin: RunOrigin) -> list[LessonDraft]:
    same: dict[str, list[Entry]] = {}
    for entry in failures:
        attributes = entry_attributes(entry)
        if attributes.get("kind") == "failure" and attributes.get("signature"):
            same.setdefault(attributes["signature"], []).append(entry)
    return [
        _draft_repeated(worker, signature, times[:REPEATED], origin)
        for signature, times in same.items()
        if len(times) >= REPEATED
    ]


def _draft_repeated(worker: str, signature: str, times: Sequence[Entry], origin: RunOrigin) -> LessonDraft:
    """Return the lesson of a repeated failure, made from the first three so that a fourth does not change it."""
    error = _describe_error(times[-1])
    runs = list(dict.fromkeys(short_label(entry_attributes(entry).get("run", "")) for entry in times))
    tried = list(dict.fromkeys(entry.text.split("\n", 1)[0] for entry in times))
    summary = cut(f"{short_label(worker)} keeps failing: {error}", 120)
    text = "\n".join(
        [
            f"{short_label(worker)} failed {len(times)} times in the same way: {error}",
            *(f"- {cut(line, 200)}" for line in tried),
            f"Runs: {', '.join(runs[:_SHOWN_RUNS])}. Find out why before the next try.",
        ]
    )
    ident = entry_id("lesson", origin.folder_name, "repeated", worker, signature)
    return LessonDraft(ident, _lesson_key("failure", worker, ident), "repeated", worker, summary, text)


def _draft_fixed(worker: str, entry: Entry, origin: RunOrigin) -> LessonDraft:
    attributes = entry_attributes(entry)
    first, _, rest = entry.text.partition("\n")
    summary = cut(first.removeprefix("Fixed: "), 120)
    text = f"{first.removeprefix('Fixed: ')}\n{rest}"
    text = text.replace(f"]({ARTIFACTS}/", f"](/journal/{origin.folder_name}/{ARTIFACTS}/")
    ident = entry_id(
        "lesson", origin.folder_name, "fixed", worker, attributes.get("work", ""), attributes.get("signature", "")
    )
    return LessonDraft(ident, _lesson_key("fix", worker, ident), "fixed", worker, summary, text)


def _describe_error(entry: Entry) -> str:
    return cut(one_line(main_error_line(quoted_error(entry.text))), 160) or "without an error"


def _lesson_key(kind: str, worker: str, ident: str) -> str:
    return "-".join(word for word in ("lesson", kind, slug(worker, limit=24), ident[-8:]) if word)
