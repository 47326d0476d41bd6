"""Compaction: each old month of the timeline becomes one summary, and its files move to the archive.

A summary has an entry for each run: when, how it ended, the goal, which tasks failed and why, and the link to run.json.
It leaves out the tasks that succeeded; the archive has the original files, and the whole results stay where they are.
Full parts of worker and failure notes that are as old move to the archive, too. The archive is plain files in the
journal, shown by the same view; recall and recent_memory do not search it.
"""

import json
from collections import Counter
from collections.abc import Sequence

from commonplace.journal.entries import (
    ARCHIVE,
    RUN_FILE,
    FilePart,
    RunOrigin,
    entry_attributes,
    entry_id,
    run_folder,
    summary_base,
    timeline_date,
)
from commonplace.journal.writer import JournalFiles, file_labels, journal_view, load_run
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import JournalDamaged
from commonplace.model.memory import Entry, Trust
from commonplace.model.results import CompactResult
from commonplace.model.times import shift_time
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import ABSENT, Write

KEEP_DAYS = 90
_DAY = 86_400


def compact(keep: MemoryStore, folder: BookPath, origin: RunOrigin, *, days: int = KEEP_DAYS) -> CompactResult:
    """Compact what is older than `days`. Doing it again completes a compaction that was interrupted."""
    cutoff = shift_time(keep.clock(), -days * _DAY)
    months: list[str] = []
    archived: list[str] = []
    runs = 0
    with keep.unit(folder, journal_view(folder)) as first:
        keep.vault.sweep(keep.space, folder / ARCHIVE)  # temporary files of an interrupted compaction
        files = JournalFiles(first)
        for month, parts in sorted(_find_old_days(files, cutoff[:7]).items()):
            notes = [found for part in parts if (found := first.find(part.name)) is not None]
            runs += _summarise(keep, folder, first.generation, month, notes, origin)
            archived += _archive(keep, folder, first.generation, notes)
            months.append(month)
        archived += _archive(keep, folder, first.generation, _find_old_parts(files, cutoff))
    return CompactResult(tuple(months), runs, tuple(archived))


def _find_old_days(files: JournalFiles, before: str) -> dict[str, list[FilePart]]:
    """Return the parts of the timeline of each month before this one, in order."""
    found: dict[str, list[FilePart]] = {}
    for base in sorted(files.parts):
        day = timeline_date(base)
        if day is not None and len(day) == 10 and day[:7] < before:
            found.setdefault(day[:7], []).extend(FilePart(base, number) for number in files.parts[base])
    return found


def _find_old_parts(files: JournalFiles, cutoff: str) -> list[StoredNote]:
    """Return the full parts of worker and failure notes whose newest entry is older than the cutoff."""
    found: list[StoredNote] = []
    for base, numbers in sorted(files.parts.items()):
        if base.startswith(("worker-", "failure-")):
            notes = [files.unit.find(FilePart(base, number).name) for number in numbers[:-1]]
            found += [note for note in notes if note is not None and note.note.front.text("updated") < cutoff]
    return found


def _summarise(
    keep: MemoryStore, folder: BookPath, generation: int, month: str, notes: Sequence[StoredNote], origin: RunOrigin
) -> int:
    """Write the runs of a month to its summary, durably, and return how many were new there."""
    unit = Unit(keep, journal_view(folder), folder, generation)
    files = JournalFiles(unit)
    base = summary_base(month)
    new = [
        _shorten_entry(block.entry)
        for found in notes
        for block in found.note.blocks
        if not files.has_entry(base, block.entry.id)
    ]
    if new:
        month_entry = _make_month_entry(keep, folder, month, new, origin)
        files.append(base, [month_entry, *new], file_labels("summary", f"Runs of {month}", origin))
        unit.commit()
    return len(new)


def _shorten_entry(entry: Entry) -> Entry:
    """Return the entry of a run without the lines of tasks that succeeded."""
    lines = [line for line in entry.text.split("\n") if not line.startswith("- ") or "): failed." in line]
    return entry._replace(text="\n".join(lines))


def _make_month_entry(
    keep: MemoryStore, folder: BookPath, month: str, new: Sequence[Entry], origin: RunOrigin
) -> Entry:
    """Return the entry that counts the runs of a month and the tasks of each worker by outcome."""
    outcomes = Counter(entry_attributes(entry).get("status", "") for entry in new)
    tasks: dict[str, Counter[str]] = {}
    for entry in new:
        try:
            run = load_run(keep, KEEPER, run_folder(folder, entry_attributes(entry).get("run", "")) / RUN_FILE)
        except JournalDamaged:
            continue
        for task in run.tasks if run is not None else ():
            tasks.setdefault(task.worker, Counter())[task.status] += 1
    lines = [f"{month}: {len(new)} runs ({_join_counts(outcomes)})"]
    lines += [
        f"- {json.dumps(worker, ensure_ascii=False)}: {_join_counts(counts)}"
        for worker, counts in sorted(tasks.items())
    ]
    ident = entry_id("month", origin.folder_name, month, *(entry.id for entry in new))
    extra = (("kind", "month"), ("project", origin.project), ("status", "summary"))
    return Entry(new[-1].time, "\n".join(lines), ident, Trust.AGENT, origin.author, extra=extra)


def _join_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))


def _archive(keep: MemoryStore, folder: BookPath, generation: int, notes: Sequence[StoredNote]) -> list[str]:
    """Move notes to the archive and return their paths there: copies are durable before anything is removed."""
    places = []
    unit = Unit(keep, journal_view(folder), folder, generation)
    for found in notes:
        place, is_copied = _find_archive_path(keep, folder, found)
        if not is_copied:
            unit.put_aside(Write(place, found.data, ABSENT))
        unit.remove(found)
        places.append(str(place))
    unit.commit()
    return places


def _find_archive_path(keep: MemoryStore, folder: BookPath, found: StoredNote) -> tuple[BookPath, bool]:
    """Return the archive path of a note, and whether an interrupted compaction copied it there already."""
    stem = found.path.name.removesuffix(".md")
    number = 1
    while True:
        place = folder / ARCHIVE / (f"{stem}.md" if number == 1 else f"{stem}~{number}.md")
        if keep.vault.stat(keep.space, KEEPER, place) is None:
            return place, False
        if keep.vault.read(keep.space, KEEPER, place).data == found.data:
            return place, True
        number += 1
