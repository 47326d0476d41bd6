"""Read the journal: the newest entries, one run, and the lessons in what failed.

The verbs of the journal call this. The newest entries and one run are read through the caller's view. Files are bounded
in size and their names say how new they are, so the newest entries cost a file or two, however long the journal is.

A lesson is an outcome that repeats: the same failure of a worker three times, or work that succeeded after it had
failed. It becomes a memory that waits for review, and is proposed only once: a mark in the journal records that, so
that a lesson a person rejected, edited or purged does not come back. The memory is written first and the mark second;
in between, its key shows that it exists or is in the trash. The mark does not contain the lesson, so that a search
cannot find what a person rejected.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from commonplace.journal.entries import (
    ARTIFACTS,
    LESSONS,
    RunOrigin,
    entry_attributes,
    entry_id,
    main_error_line,
    quoted_error,
    run_file,
    short_label,
    shown_error,
    timeline_bases,
    timeline_date,
    worker_base,
)
from commonplace.journal.manifest import manifest_to_json
from commonplace.journal.writer import JournalFiles, list_parts, load_run, newest_failures, read_file
from commonplace.memories.provenance import limit_journal_trust
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.journal_results import JournalEntry, JournalRun, RecentEntries
from commonplace.model.memory import Entry
from commonplace.model.names import slug
from commonplace.text.naming import cut, one_line
from commonplace.text.notes import parse
from commonplace.vault.paths import KEEPER, BookPath, View
from commonplace.vault.port import ABSENT, UNUSABLE, Write

MOST = 100
MOST_FILES = 40  # files that one call reads: a rare status may be far back
REPEATED = 3  # a failure seen this many times is a lesson
_SHOWN_RUNS = 5


def list_recent(
    memories: MemoryStore,
    view: View,
    folder: BookPath,
    limit: int,
    worker: str | None,
    status: str | None,
    cursor: str | None,
) -> RecentEntries:
    """Return the newest entries of the timeline or of one worker, newest first.

    A run matches the status it ended with and those of its tasks.
    """
    if not 1 <= limit <= MOST:
        raise InvalidField(f"limit must be a number from 1 to {MOST}.")
    parts = list_parts(memories, view, folder)
    if worker is None:  # the summary of a month comes after its days
        dated = [(date, base) for base in parts if (date := timeline_date(base)) is not None]
        bases = [base for _, base in sorted(dated, reverse=True)]
    else:
        bases = [worker_base("worker", worker)]
    names = [part.name for base in bases for part in reversed(parts.get(base, []))]
    after = ""
    if cursor:
        first, _, after = cursor.partition(":")
        if first not in names:
            hint = "Pass `next` of the last result."
            raise InvalidField(f"{cursor[:60]!a} is not a cursor of this journal.", hint=hint)
        names = names[names.index(first) :]
    found: list[JournalEntry] = []
    place = ""
    for count, name in enumerate(names, 1):
        path = folder / f"{name}.md"
        for entry in _newest_first(memories, view, path, after):
            if len(found) >= limit:
                return RecentEntries(tuple(found), truncated=True, next=place)
            place = f"{name}:{entry.id}"
            shown = _to_journal_entry(entry, path)
            statuses = (shown.status, *entry_attributes(entry).get("statuses", "").split(","))
            if worker in (None, shown.worker) and (status is None or status in statuses):
                found.append(shown)
        after = ""
        if count == MOST_FILES < len(names):
            return RecentEntries(tuple(found), truncated=True, next=f"{names[count]}:")
    return RecentEntries(tuple(found), truncated=False)


def read_run(memories: MemoryStore, view: View, folder: BookPath, run_id: str, project: str) -> JournalRun:
    """Return everything recorded of one run; raises NotFound."""
    path = run_file(folder, run_id)
    manifest = load_run(memories, view, path)
    if manifest is None:
        raise NotFound(
            f"No run {run_id[:60]!a} in the journal of this project.",
            hint="Run `commonplace journal list` to see the runs.",
        )
    ident = f"<!-- entry id={entry_id('run', folder.name, run_id)} ".encode()
    parts = list_parts(memories, view, folder)
    bases = timeline_bases(manifest.finished)
    places = [folder / f"{part.name}.md" for base in bases for part in parts.get(base, [])]
    complete = any(ident in _try_read(memories, view, place) for place in places)
    return JournalRun(run_id, project, str(path), complete, manifest_to_json(manifest))


def list_failed_workers(memories: MemoryStore, view: View, folder: BookPath) -> list[str]:
    """Return the workers with a failure file, by name."""
    found = []
    for base, parts in list_parts(memories, view, folder).items():
        if base.startswith("failure-"):
            note = parse(_try_read(memories, view, folder / f"{parts[-1].name}.md"))
            worker = note.front.text("worker")
            if worker_base("failure", worker) == base:  # else the file was edited by hand
                found.append(worker)
    return sorted(found)


def _to_journal_entry(entry: Entry, path: BookPath) -> JournalEntry:
    attributes = entry_attributes(entry)
    trust = limit_journal_trust(entry).trust.value
    texts = {name: attributes.get(name, "") for name in ("kind", "run", "status", "project")}
    task, worker = attributes.get("task"), attributes.get("worker")
    ref, error = f"journal/{path.name.removesuffix('.md')}", shown_error(entry)
    return JournalEntry(
        id=entry.id, time=entry.time, task=task, worker=worker, text=entry.text, path=str(path), ref=ref, error=error,
        trust=trust, author=entry.author, **texts,
    )  # fmt: skip


def _try_read(memories: MemoryStore, view: View, path: BookPath) -> bytes:
    """Return a file of the journal; nothing for one that was compacted meanwhile, or that cannot be read."""
    try:
        return read_file(memories, view, path) or b""
    except UNUSABLE:  # `doctor` names it
        return b""


def _newest_first(memories: MemoryStore, view: View, path: BookPath, after: str) -> Iterator[Entry]:
    data = _try_read(memories, view, path)
    entries = (block.entry for block in reversed(parse(data).blocks))
    if after and not any(entry.id == after for entry in entries):  # takes entries up to that one
        return
    yield from entries


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
        same: dict[str, list[Entry]] = {}
        fixed: list[LessonDraft] = []
        for entry in newest_failures(files, worker):
            attributes = entry_attributes(entry)
            if attributes.get("kind") == "fixed":
                fixed.append(_draft_fixed(worker, entry, origin))
            elif attributes.get("signature"):
                same.setdefault(attributes["signature"], []).append(entry)
        for signature, times in same.items():
            if len(times) >= REPEATED:
                found.append(_draft_repeated(worker, signature, times[:REPEATED], origin))
        found += fixed
    return list({item.id: item for item in found}.values())


def drop_proposed(memories: MemoryStore, folder: BookPath, found: Sequence[LessonDraft]) -> list[LessonDraft]:
    """Return the lessons that have no mark yet."""
    return [item for item in found if memories.vault.stat(memories.space, KEEPER, _mark_path(folder, item)) is None]


def stage_marks(unit: Unit, proposed: Sequence[LessonDraft], scope: str, time: str) -> None:
    """Stage the marks of lessons that were proposed."""
    for item in drop_proposed(unit.memories, unit.folder, proposed):
        text = f"# {item.id}\n\nProposed for review as `{item.key}` in {scope}, {time}.\n"
        unit.put_aside(Write(_mark_path(unit.folder, item), text.encode(), ABSENT))


def _mark_path(folder: BookPath, item: LessonDraft) -> BookPath:
    return folder / LESSONS / f"{item.id}.md"


def _draft_repeated(worker: str, signature: str, times: Sequence[Entry], origin: RunOrigin) -> LessonDraft:
    """Return the lesson of a repeated failure, made from the first three so that a fourth does not change it."""
    error = cut(one_line(main_error_line(quoted_error(times[-1].text))), 160) or "without an error"
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
    text = entry.text.removeprefix("Fixed: ")
    summary = cut(text.partition("\n")[0], 120)
    text = text.replace(f"]({ARTIFACTS}/", f"](/journal/{origin.folder_name}/{ARTIFACTS}/")
    ident = entry_id(
        "lesson", origin.folder_name, "fixed", worker, attributes.get("work", ""), attributes.get("signature", "")
    )
    return LessonDraft(ident, _lesson_key("fix", worker, ident), "fixed", worker, summary, text)


def _lesson_key(kind: str, worker: str, ident: str) -> str:
    return "-".join(word for word in ("lesson", kind, slug(worker, limit=24), ident[-8:]) if word)
