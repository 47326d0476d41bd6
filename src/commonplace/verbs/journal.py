"""The verbs of the journal: record a run, list runs, show one, learn from failures, and summarise old months."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from commonplace.guard.audit import Facts
from commonplace.guard.secrets import redact
from commonplace.journal import reader, writer
from commonplace.journal.entries import LESSONS, RUN_FILE, RunOrigin, task_file
from commonplace.journal.manifest import Manifest, normalize_status, read_manifest
from commonplace.journal.plain_json import replace_surrogates, to_text
from commonplace.memories import history, lifecycle
from commonplace.memories.reconcile import UNMENDED
from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError, InvalidField
from commonplace.model.journal_results import CompactResult, JournalRun, Lesson, RecentEntries, RecordRunResult
from commonplace.model.lazy import Log
from commonplace.model.memory import Entry, MemoryType, Status, Trust
from commonplace.model.scope import Role, Scope
from commonplace.text.fence import visible
from commonplace.text.notes import check_text
from commonplace.text.plural import plural
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import (
    TEXTS,
    Answer,
    fenced_answer,
    make_tool,
    result_schema,
    rows_schema,
    shown_fields,
)
from commonplace.verbs.verb import Access, Arg, verb

log = Log("commonplace.journal")
NOT_RECORDED = "not_recorded"
_MAX_DAYS = 36_500
_ENTRY_FIELDS = ("kind", "time", "run", "task", "worker", "status", "error", "path", "ref", "text", "trust", "author")
_RUN_TEXTS = ("goal", "outcome", "started", "finished")
_TASK_TEXTS = ("description", "result", "error")
_SHOWN_TEXT = 1_500  # characters of each text of a run that a tool shows


class RecordRunRequest(NamedTuple):
    """What `record_run` is asked."""

    manifest: Annotated[
        object,
        Arg("the run's manifest, a JSON file; - reads standard input", "FILE", is_positional=True, tool_help="the run"),
    ]
    strict: Annotated[bool, Arg(in_tool=False)] = False


class RecentRequest(NamedTuple):
    """What `recent_memory` is asked."""

    limit: Annotated[int, Arg("show at most so many entries (1 to 100)", minimum=1, maximum=100)] = 20
    worker: Annotated[str | None, Arg("only what this worker did", "NAME")] = None
    status: Annotated[str | None, Arg("only what ended like this: done, failed, cancelled", "WORD")] = None
    cursor: Annotated[
        str | None, Arg("continue where the last answer ended", "PLACE", tool_help="`next` of the last answer")
    ] = None


class RunRequest(NamedTuple):
    """What `journal_run` is asked."""

    run_id: Annotated[str, Arg("the run's id", "RUN", is_positional=True, tool_help="`run` of recent_memory")]


class LessonsRequest(NamedTuple):
    """What `lessons` is asked."""

    propose: Annotated[bool, Arg()] = True


class CompactRequest(NamedTuple):
    """What `compact_journal` is asked."""

    days: Annotated[int, Arg("keep the last N days as they are")] = 90


def _describe_record(result: RecordRunResult, _: RecordRunRequest) -> Facts:
    run = result.run if result.action != NOT_RECORDED else None  # else the id was not even read
    return {"run": run, "action": result.action, "keys": result.lessons or None}


@verb(
    Access.RECORD,
    audit=_describe_record,
    command="journal record",
    examples=("commonplace journal record run.json", "commonplace journal record - < run.json"),
    agent_role=Role.ORCHESTRATOR,
)
def record_run(context: BookContext, request: RecordRunRequest) -> RecordRunResult:
    """Record a finished run in the journal of the project.

    Recording the same run again changes nothing.
    """
    given = request.manifest
    try:
        return _record(context, given)
    except Exception as error:  # the promise: recording never breaks the run that is recorded
        if request.strict:
            raise
        code, warning = "internal_error", f"Commonplace failed: {type(error).__name__}."
        if isinstance(error, CommonplaceError):
            code, warning = error.code, f"{error.message} {error.hint}"
        log.warning("event=run_not_recorded code=%s type=%s", code, type(error).__name__)
        return RecordRunResult(_run_id(given), NOT_RECORDED, warnings=(warning,))


@verb(
    Access.READ,
    command="journal list",
    examples=("commonplace journal list --status failed", "commonplace journal list --worker tester --limit 5"),
    agent_role=Role.ORCHESTRATOR,
)
def recent_memory(context: BookContext, request: RecentRequest) -> RecentEntries:
    """List the newest runs, or the tasks of one worker, latest first."""
    if not context.settings.enabled:
        return RecentEntries((), truncated=False)
    worker = replace_surrogates(request.worker) if request.worker is not None else None
    status = normalize_status(request.status) if request.status is not None else None
    return reader.list_recent(
        context.memories, context.view(), context.journal(), request.limit, worker, status, request.cursor
    )


@verb(
    Access.READ,
    command="journal show",
    examples=("commonplace journal show run-2026-11-15-a",),
    agent_role=Role.ORCHESTRATOR,
)
def journal_run(context: BookContext, request: RunRequest) -> JournalRun:
    """Show everything that was recorded of one run."""
    context.check_enabled()
    run_id, project = replace_surrogates(request.run_id), _project(context).id or ""
    return reader.read_run(context.memories, context.view(), context.journal(), run_id, project)


@verb(
    Access.READ,
    audit=lambda found, request: {"count": len(found)} if request.propose else None,
    command="journal lessons",
    examples=("commonplace journal lessons --agent lead", "commonplace journal lessons --dry-run"),
    no_tool="they come with record_run, and wait in memory_review",
    agent_role=Role.ORCHESTRATOR,
)
def lessons(context: BookContext, request: LessonsRequest) -> Sequence[Lesson]:
    """Propose for review what failed more than once, and what was fixed.

    Each lesson is proposed once, in the scope of the agent that you name.
    """
    propose = request.propose
    if propose:
        context.caller.check_records()
    if not context.settings.enabled:
        return []
    folder, origin = context.journal(), _run_origin(context)
    workers = reader.list_failed_workers(context.memories, context.view(), folder)
    if not workers:
        return []
    found, new = _find_lessons(context, folder, origin, workers)
    if propose and new:
        _propose(context, folder, new)
    waiting = frozenset(item.id for item in new)
    return [
        Lesson(
            item.key, item.kind, item.worker, item.summary, item.text,
            "proposed" if propose or item.id not in waiting else "new",
        )
        for item in found
    ]  # fmt: skip


@verb(
    Access.RECORD,
    audit=lambda result, _: {"count": result.runs},
    command="journal compact",
    examples=("commonplace journal compact --days 90",),
    no_tool="about the whole book: for a person",
    agent_role=Role.ORCHESTRATOR,
)
def compact_journal(context: BookContext, request: CompactRequest) -> CompactResult:
    """Summarise the old months of the journal; the full entries stay in _archive."""
    days = request.days
    context.check_enabled()
    if not 1 <= days <= _MAX_DAYS:
        raise InvalidField(f"days must be a number from 1 to {_MAX_DAYS:,}.")
    folder = context.journal()
    if context.memories.vault.stat(context.memories.space, KEEPER, folder) is None:
        return CompactResult((), 0, ())
    return writer.compact(context.memories, folder, _run_origin(context), days=days)


def _record(context: BookContext, given: object) -> RecordRunResult:
    context.check_enabled()
    memories, origin = context.memories, _run_origin(context)
    reading = read_manifest(given, memories.clock(), redact)
    manifest = reading.manifest
    folder = context.journal()
    _name_project(context)
    written = writer.write_run(memories, folder, manifest, origin, dated=reading.is_dated)
    warnings = list(reading.warnings)
    if written.differs:
        warnings.append("This run was recorded before, and said something else then. What was recorded stands.")
    taught, problems = _learn(context, folder, origin, manifest)
    warnings += problems
    return RecordRunResult(
        manifest.run_id, written.action, origin.project, str(written.path), reading.redacted, taught, tuple(warnings)
    )


def _learn(
    context: BookContext, folder: BookPath, origin: RunOrigin, manifest: Manifest
) -> tuple[tuple[str, ...], list[str]]:
    """Propose what this run's workers taught. The run is recorded, whatever becomes of that."""
    workers = list(dict.fromkeys(task.worker for task in manifest.tasks))
    try:
        new = _find_lessons(context, folder, origin, workers)[1]
        if not new:
            return (), []
        if context.caller.agent is None:
            said = "A lesson waits" if len(new) == 1 else f"{len(new)} lessons wait"
            return (), [f"{said} for an agent to be named: give agent=, then `commonplace journal lessons`."]
        return _propose(context, folder, new), []
    except CommonplaceError as error:
        log.warning("event=lessons_wait code=%s", error.code)
        return (), [f"Lessons wait: {error.message} {error.hint}"]


def _find_lessons(
    context: BookContext, folder: BookPath, origin: RunOrigin, workers: Sequence[str]
) -> tuple[list[reader.LessonDraft], list[reader.LessonDraft]]:
    """The lessons of these workers, and those that were never proposed."""
    unit = Unit(context.memories, writer.journal_view(folder), folder, UNMENDED)  # reads need no lock
    files = writer.JournalFiles(unit)
    found = reader.find_lessons(files, workers, origin)
    return found, reader.drop_proposed(context.memories, folder, found)


def _propose(context: BookContext, folder: BookPath, new: Sequence[reader.LessonDraft]) -> tuple[str, ...]:
    """Put lessons into the review queue, then remember that they were."""
    scope = context.caller.scope("agent")
    view = context.view_for(scope, is_verdict=True)
    keys = []
    with context.memories.unit(context.folder(scope), view) as unit:
        for item in new:
            trashed = history.list_past(context.memories.files, history.TRASH, unit.folder, item.key)
            if unit.find(item.key) is not None or trashed:  # from a time that was cut off
                continue
            page = context.scope_page(scope, unit.folder)
            if page is not None and not unit.has_aside(page.path):
                unit.put_aside(page)
            entry = Entry("", check_text(redact(item.text)[0]), trust=Trust.AGENT, author=context.caller.agent)
            labels = lifecycle.Labels(MemoryType.FEEDBACK, ("lesson",), redact(item.summary)[0], status=Status.PROPOSED)
            lifecycle.store(unit, item.key, entry, labels)
            keys.append(item.key)
        unit.commit()
    with context.memories.unit(folder, writer.journal_view(folder)) as journal:
        context.memories.vault.sweep(context.memories.space, folder / LESSONS)
        reader.stage_marks(journal, new, str(scope), context.memories.clock())
        journal.commit()
    return tuple(keys)


def _project(context: BookContext) -> Scope:
    return context.caller.scope("project")


def _run_origin(context: BookContext) -> RunOrigin:
    scope = _project(context)
    return RunOrigin(scope.id or "", context.folder(scope).name, context.caller.agent)


def _name_project(context: BookContext) -> None:
    """See that the project's folder says which project it is, also where it has a journal and no memories: that is how
    a project that was renamed finds its own."""
    scope, memories = _project(context), context.memories
    page = context.scope_page(scope, context.folder(scope))
    if page is None:
        return
    with memories.unit(context.folder(scope), KEEPER) as unit:
        if memories.files.stat(page.path) is None:  # else another process was faster
            unit.put_aside(page)
            unit.commit()


def _run_id(given: object) -> str:
    """The id of a run that was not recorded, as far as it can be told."""
    with suppress(Exception):  # an object of the caller may raise anything when it is looked at
        ident = given.get("run_id") if isinstance(given, Mapping) else None
        return str(ident)[:200] if isinstance(ident, (str, int)) else ""
    return ""


def _render_record(done: RecordRunResult, _: RecordRunRequest) -> Answer:
    warnings = [visible(warning) for warning in done.warnings]
    data = {**shown_fields(done, "run", "action", "path"), "lessons": list(done.lessons), "warnings": warnings}
    lines = [f"{done.action}: run {visible(done.run)}", *warnings]
    lines += [f"Lessons that wait for review: {', '.join(done.lessons)}"] if done.lessons else []
    return Answer(data, "\n".join(lines))


def _render_recent(found: RecentEntries, _: RecentRequest) -> Answer:
    entries = [shown_fields(one, *_ENTRY_FIELDS) for one in found.entries]
    data: dict[str, Any] = {"entries": entries, "truncated": found.truncated}
    data |= {"next": found.next} if found.next else {}
    body = "\n\n".join(f"{one.time} {one.kind} {one.status}, {one.path}\n{one.text}" for one in found.entries)
    more = f"More: call again with cursor={visible(found.next)}" if found.next else ""
    heading = f"{plural(len(found.entries), 'entry', 'entries')} of the journal, latest first."
    return fenced_answer(data, heading, body, "journal", more)


def _render_run(found: JournalRun, _: RunRequest) -> Answer:
    """Show a run with the beginning of each long text; `path` of a task is the file with all of it."""
    manifest: Any = found.manifest
    folder = found.path.removesuffix(RUN_FILE)
    tasks = [
        {
            **{name: visible(task[name]) for name in ("id", "worker", "status")},
            **{name: _begin(task[name]) for name in _TASK_TEXTS if task[name]},
            **({"duration": task["duration"]} if task["duration"] is not None else {}),
            "path": f"{folder}{task_file(task['id'])}",
        }
        for task in manifest["tasks"]
    ]
    fields = {name: _begin(manifest[name]) for name in _RUN_TEXTS if manifest[name]}
    texts = [manifest[name] for name in _RUN_TEXTS] + [task[name] for task in manifest["tasks"] for name in _TASK_TEXTS]
    is_cut = any(len(to_text(text)) > _SHOWN_TEXT for text in texts if text)
    data = {**shown_fields(found, "run", "path", "complete"), **fields, "tasks": tasks, "truncated": is_cut}
    data["trust"] = Trust.AGENT.value
    heading = f"Run {visible(found.run)}, {plural(len(tasks), 'task', 'tasks')}; all of it is in {found.path}."
    more = "" if found.complete else "The recording is incomplete: record the run again."
    return fenced_answer(data, heading, json.dumps(data, ensure_ascii=False, indent=1), f"run {found.run}", more)


def _begin(value: Any) -> str:
    text = to_text(value)
    return visible(text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]}… [cut]")


TOOLS = (
    make_tool(
        journal_run, "journal_run", "Run", "files",
        "One run by its id: goal, outcome, and each task with its status, the beginning of its result or error, and "
        "the path of the file with all of it.",
        result_schema(
            "run", "path", "complete", "tasks", "truncated",
            **dict.fromkeys(("run", "path", *_RUN_TEXTS, "trust"), "string"), complete="boolean", truncated="boolean",
            tasks=rows_schema("id", "worker", "status", *_TASK_TEXTS, "path", duration="number"),
        ),
        _render_run,
    ),
    make_tool(
        recent_memory, "recent_memory", "Recent runs", "files",
        "What the latest runs did, latest first: all, or the tasks of one worker, or those that ended so (failed).",
        result_schema(
            "entries", "truncated", truncated="boolean", next="string",
            entries=rows_schema(*_ENTRY_FIELDS),
        ),
        _render_recent,
    ),
    make_tool(
        record_run, "record_run", "Record run", "runs",
        "Put a finished run into the journal, once: run_id, goal, outcome, started, finished and tasks[] with id, "
        "worker, description, status, result, error, duration, tools, artifacts. Recording it again changes nothing.",
        result_schema(
            "run", "action", run="string", action="string", path="string", lessons=TEXTS, warnings=TEXTS
        ),
        _render_record, read_only=False,
    ),
)  # fmt: skip
