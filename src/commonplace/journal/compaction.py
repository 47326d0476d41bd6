"""Compaction: months that are long over become one summary each, and what they were made of goes to the archive.

A summary has an entry for each run: when, how it ended, the goal, which tasks failed and why, and the link to run.json.
What it leaves out, the lines of the tasks that went well, is in the archive beside, as it was; the whole results
stay where they are. Full parts of worker and failure notes that are as old go to the archive, too. The archive is
plain files in the journal, shown by the same view; recall and recent_memory do not look into it.
"""

import json
from collections import Counter
from collections.abc import Sequence

from commonplace.journal.entries import (
    ARCHIVE,
    RUN_FILE,
    About,
    Part,
    attributes_of,
    date_of,
    entry_id,
    run_folder,
    summary_base,
)
from commonplace.journal.writer import Chains, labels_of, load, view_of_journal
from commonplace.keep.unit import Found, Keep, Unit
from commonplace.model.errors import JournalDamaged
from commonplace.model.memory import Entry, Trust
from commonplace.model.runs import Compacted
from commonplace.model.times import shift
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Write
from commonplace.vault.view import KEEPER

KEEP_DAYS = 90
_DAY = 86_400


def compact(keep: Keep, folder: BookPath, about: About, *, days: int = KEEP_DAYS) -> Compacted:
    """Compact what is older than so many days. What was cut off is completed by doing it again."""
    cutoff = shift(keep.clock(), -days * _DAY)
    months: list[str] = []
    archived: list[str] = []
    runs = 0
    with keep.unit(folder, view_of_journal(folder)) as first:
        keep.vault.sweep(keep.space, folder / ARCHIVE)  # what was cut off left half-made
        chains = Chains(first)
        for month, parts in sorted(_old_days(chains, cutoff[:7]).items()):
            notes = [found for part in parts if (found := first.find(part.name)) is not None]
            runs += _summarise(keep, folder, first.generation, month, notes, about)
            archived += _archive(keep, folder, first.generation, notes)
            months.append(month)
        archived += _archive(keep, folder, first.generation, _old_parts(chains, cutoff))
    return Compacted(tuple(months), runs, tuple(archived))


def _old_days(chains: Chains, before: str) -> dict[str, list[Part]]:
    """The parts of the timeline of each month before this one, in order."""
    found: dict[str, list[Part]] = {}
    for base in sorted(chains.parts):
        day = date_of(base)
        if day is not None and len(day) == 10 and day[:7] < before:
            found.setdefault(day[:7], []).extend(Part(base, number) for number in chains.parts[base])
    return found


def _old_parts(chains: Chains, cutoff: str) -> list[Found]:
    """Worker and failure notes that are full, with nothing in them that is newer."""
    found: list[Found] = []
    for base, numbers in sorted(chains.parts.items()):
        if base.startswith(("worker-", "failure-")):
            notes = [chains.unit.find(Part(base, number).name) for number in numbers[:-1]]
            found += [note for note in notes if note is not None and note.note.front.text("updated") < cutoff]
    return found


def _summarise(keep: Keep, folder: BookPath, generation: int, month: str, notes: Sequence[Found], about: About) -> int:
    """Put the runs of a month into its summary, durably; answers how many were new there."""
    unit = Unit(keep, view_of_journal(folder), folder, generation)
    chains = Chains(unit)
    base = summary_base(month)
    new = [
        _short(block.entry) for found in notes for block in found.note.blocks if not chains.has(base, block.entry.id)
    ]
    if new:
        chains.append(
            base, [_month(keep, folder, month, new, about), *new], labels_of("summary", f"Runs of {month}", about)
        )
        unit.commit()
    return len(new)


def _short(entry: Entry) -> Entry:
    """The entry of a run without the lines of what went well."""
    lines = [line for line in entry.text.split("\n") if not line.startswith("- ") or "): failed." in line]
    return entry._replace(text="\n".join(lines))


def _month(keep: Keep, folder: BookPath, month: str, new: Sequence[Entry], about: About) -> Entry:
    """How many runs there were and how they ended; the same of each worker's tasks."""
    outcomes = Counter(attributes_of(entry).get("status", "") for entry in new)
    tasks: dict[str, Counter[str]] = {}
    for entry in new:
        try:
            run = load(keep, KEEPER, run_folder(folder, attributes_of(entry).get("run", "")) / RUN_FILE)
        except JournalDamaged:
            continue
        for task in run.tasks if run is not None else ():
            tasks.setdefault(task.worker, Counter())[task.status] += 1
    lines = [f"{month}: {len(new)} runs ({_counted(outcomes)})"]
    lines += [
        f"- {json.dumps(worker, ensure_ascii=False)}: {_counted(counts)}" for worker, counts in sorted(tasks.items())
    ]
    ident = entry_id("month", about.place, month, *(entry.id for entry in new))
    extra = (("kind", "month"), ("project", about.project), ("status", "summary"))
    return Entry(new[-1].time, "\n".join(lines), ident, Trust.AGENT, about.author, extra=extra)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))


def _archive(keep: Keep, folder: BookPath, generation: int, notes: Sequence[Found]) -> list[str]:
    """Copy notes to the archive, durably, and only then take them away; answers where they are now."""
    places = []
    unit = Unit(keep, view_of_journal(folder), folder, generation)
    for found in notes:
        place, there = _place(keep, folder, found)
        if not there:
            unit.put_aside(Write(place, found.data, ABSENT))
        unit.remove(found)
        places.append(str(place))
    unit.commit()
    return places


def _place(keep: Keep, folder: BookPath, found: Found) -> tuple[BookPath, bool]:
    """Where a note goes in the archive, and whether it is there already, from a time that was cut off."""
    stem = found.path.name.removesuffix(".md")
    number = 1
    while True:
        place = folder / ARCHIVE / (f"{stem}.md" if number == 1 else f"{stem}~{number}.md")
        if keep.vault.stat(keep.space, KEEPER, place) is None:
            return place, False
        if keep.vault.read(keep.space, KEEPER, place).data == found.data:
            return place, True
        number += 1
