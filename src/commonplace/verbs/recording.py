"""Verbs of the journal: record a run, look at what runs did, learn from it, compact it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from commonplace.guard.secrets import redact
from commonplace.journal import compaction, reader, writer
from commonplace.journal import lessons as learning
from commonplace.journal.entries import LESSONS, RunOrigin
from commonplace.journal.manifest import Manifest, normalize_status, read_manifest, redact_manifest, replace_surrogates
from commonplace.journal.writer import JournalFiles
from commonplace.memories import history, lifecycle
from commonplace.memories.store import UNMENDED
from commonplace.memories.unit import Unit
from commonplace.model.errors import AlreadyExists, CommonplaceError, Disabled, InvalidField, RevisionMismatch
from commonplace.model.lazy import Log
from commonplace.model.memory import Entry, MemoryType, Status, Trust
from commonplace.model.results import CompactResult, JournalRun, Lesson, RecentEntries, RecordRunResult
from commonplace.model.scope import Scope
from commonplace.text.notes import check_text
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.verbs.desk import Desk

log = Log("commonplace.journal")
NOT_RECORDED = "not_recorded"
_MOST_DAYS = 36_500


def record_run(desk: Desk, given: Mapping[str, object], *, strict: bool) -> RecordRunResult:
    """Whoever may not record is told so; everything else that goes wrong is a warning, unless `strict`."""
    desk.caller.check_records()
    try:
        return _record(desk, given)
    except CommonplaceError as error:
        if strict:
            raise
        log.warning("event=run_not_recorded code=%s", error.code)
        return RecordRunResult(_run_in(given), NOT_RECORDED, warnings=(f"{error.message} {error.hint}",))
    except Exception as error:  # the promise: recording never breaks the run that is recorded
        if strict:
            raise
        log.warning("event=run_not_recorded code=internal_error type=%s", type(error).__name__)
        return RecordRunResult(_run_in(given), NOT_RECORDED, warnings=(f"Commonplace failed: {type(error).__name__}.",))


def recent_memory(desk: Desk, limit: int, worker: str | None, status: str | None, cursor: str | None) -> RecentEntries:
    desk.caller.check_reads()
    if not desk.settings.enabled:
        return RecentEntries((), truncated=False)
    name = replace_surrogates(worker) if worker is not None else None
    ended = normalize_status(status) if status is not None else None
    return reader.list_recent(desk.keep, desk.view(), desk.journal(), limit, name, ended, cursor)


def journal_run(desk: Desk, run_id: str) -> JournalRun:
    desk.caller.check_reads()
    if not desk.settings.enabled:
        raise Disabled
    return reader.read_run(desk.keep, desk.view(), desk.journal(), replace_surrogates(run_id), _project(desk).id or "")


def lessons(desk: Desk, *, propose: bool) -> Sequence[Lesson]:
    """Every lesson of the project's journal, and what became of it."""
    desk.caller.check_reads()
    if propose:
        desk.caller.check_records()
    if not desk.settings.enabled:
        return []
    folder, about = desk.journal(), _about(desk)
    names = reader.list_failed_workers(desk.keep, desk.view(), folder)
    if not names:
        return []
    found, new = _candidates(desk, folder, about, names)
    if propose and new:
        _propose(desk, folder, new)
    waiting = frozenset(item.id for item in new)
    return [
        Lesson(
            item.key, item.kind, item.worker, item.summary, item.text,
            "proposed" if propose or item.id not in waiting else "new",
        )
        for item in found
    ]  # fmt: skip


def compact_journal(desk: Desk, days: int) -> CompactResult:
    desk.caller.check_records()
    if not desk.settings.enabled:
        raise Disabled
    if not 1 <= days <= _MOST_DAYS:
        raise InvalidField(f"days is a number from 1 to {_MOST_DAYS:,}.")
    folder = desk.journal()
    if desk.keep.vault.stat(desk.keep.space, KEEPER, folder) is None:
        return CompactResult((), 0, ())
    return compaction.compact(desk.keep, folder, _about(desk), days=days)


def _record(desk: Desk, given: Mapping[str, object]) -> RecordRunResult:
    if not desk.settings.enabled:
        raise Disabled
    keep, about = desk.keep, _about(desk)
    manifest, removed = redact_manifest(read_manifest(given, keep.clock()), redact)
    folder = desk.journal()
    _name_project(desk)
    dated = bool(given.get("finished"))
    written = writer.write_run(keep, folder, manifest, about, dated=dated)
    warnings: list[str] = []
    if written.differs:
        warnings.append("This run was recorded before, and said something else then. What was recorded stands.")
    taught, trouble = _learn(desk, folder, about, manifest)
    warnings += trouble
    return RecordRunResult(
        manifest.run_id, written.action, about.project, str(written.path), removed, taught, tuple(warnings)
    )


def _learn(desk: Desk, folder: BookPath, about: RunOrigin, manifest: Manifest) -> tuple[tuple[str, ...], list[str]]:
    """Propose what this run's workers taught. The run is recorded, whatever becomes of that."""
    workers = list(dict.fromkeys(task.worker for task in manifest.tasks))
    try:
        new = _candidates(desk, folder, about, workers)[1]
        if not new:
            return (), []
        if desk.caller.agent is None:
            said = "A lesson waits" if len(new) == 1 else f"{len(new)} lessons wait"
            return (), [f"{said} for an agent to be named: give agent=, then `commonplace journal lessons`."]
        return _propose(desk, folder, new), []
    except CommonplaceError as error:
        log.warning("event=lessons_wait code=%s", error.code)
        return (), [f"Lessons wait: {error.message} {error.hint}"]


def _candidates(
    desk: Desk, folder: BookPath, about: RunOrigin, workers: Sequence[str]
) -> tuple[list[learning.LessonDraft], list[learning.LessonDraft]]:
    """The lessons of these workers, and those that were never proposed."""
    files = JournalFiles(Unit(desk.keep, writer.journal_view(folder), folder, UNMENDED))  # reads need no lock
    found = learning.find_lessons(files, workers, about)
    return found, learning.drop_proposed(desk.keep, folder, found)


def _propose(desk: Desk, folder: BookPath, new: Sequence[learning.LessonDraft]) -> tuple[str, ...]:
    """Put lessons into the review queue, then remember that they were."""
    scope = desk.caller.scope("agent")
    view = desk.view_for(scope, verdict=True)
    keys = []
    with desk.keep.unit(desk.folder(scope), view) as unit:
        for item in new:
            trashed = history.list_past(desk.keep.files, history.TRASH, unit.folder, item.key)
            if unit.find(item.key) is not None or trashed:  # from a time that was cut off
                continue
            page = desk.describe(scope, unit.folder)
            if page is not None and not unit.has_aside(page.path):
                unit.put_aside(page)
            entry = Entry("", check_text(redact(item.text)[0]), trust=Trust.AGENT, author=desk.caller.agent)
            labels = lifecycle.Labels(MemoryType.FEEDBACK, ("lesson",), redact(item.summary)[0], status=Status.PROPOSED)
            lifecycle.store(unit, item.key, entry, labels)
            keys.append(item.key)
        unit.commit()
    with desk.keep.unit(folder, writer.journal_view(folder)) as journal:
        desk.keep.vault.sweep(desk.keep.space, folder / LESSONS)
        learning.stage_marks(journal, new, str(scope), desk.keep.clock())
        journal.commit()
    return tuple(keys)


def _project(desk: Desk) -> Scope:
    return desk.caller.scope("project")


def _about(desk: Desk) -> RunOrigin:
    scope = _project(desk)
    return RunOrigin(scope.id or "", desk.folder(scope).name, desk.caller.agent)


def _name_project(desk: Desk) -> None:
    """See that the project's folder says which project it is, also where it has a journal and no memories: that is how
    a project that was renamed finds its own."""
    scope = _project(desk)
    page = desk.describe(scope, desk.folder(scope))
    if page is None:
        return
    with suppress(AlreadyExists, RevisionMismatch):  # another process was faster
        desk.keep.vault.apply(desk.keep.space, KEEPER, [page])


def _run_in(given: object) -> str:
    """The id of a run that was not recorded, as far as it can be told."""
    ident = given.get("run_id") if isinstance(given, Mapping) else None
    return ident[:200] if isinstance(ident, str) else ""
