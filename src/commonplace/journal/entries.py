"""What the journal says of a run: names of files, ids and text of entries. Pure, and the same for the same manifest.

    journal/PROJECT/event-2026-11-15.md     the timeline: one entry for each run, in the file of the day it ended
    journal/PROJECT/worker-NAME.md          what a worker did, one entry for each task
    journal/PROJECT/failure-NAME.md         how a worker failed, and what fixed it later
    journal/PROJECT/summary-2026-08.md      a month whose timeline was compacted
    journal/PROJECT/_artifacts/RUN/         run.json, the whole manifest, and TASK.md with each whole result
    journal/PROJECT/_archive/               compacted files, as they were
    journal/PROJECT/_lessons/ID.md          a mark: this lesson was proposed, and never will be again

A full file continues in NAME.2.md, NAME.3.md. No id leads out of its folder: one that is not a plain name already
becomes SLUG-HASH, as the folders of scopes do. Previews are bounded, and every entry links to the file that has the
whole text. Text from outside is quoted: no line of it can pass for a heading of ours.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from commonplace.journal.manifest import Manifest, Task
from commonplace.journal.plain_json import Json, to_text
from commonplace.model.lazy import lazy
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import is_windows_reserved, short_hash, slug
from commonplace.text.naming import cut, one_line
from commonplace.vault.paths import BookPath

ARTIFACTS, ARCHIVE, LESSONS = "_artifacts", "_archive", "_lessons"
RUN_FILE = "run.json"
ROLL_AT = 131_072  # bytes: a file that would grow larger continues in the next part
_PLAIN = lazy(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_HASHED = lazy(r".*-[0-9a-f]{12}", re.ASCII)
_PART = lazy(r"(?P<base>[a-z0-9_-]+)(?:\.(?P<number>[1-9]\d{0,8}))?", re.ASCII)
_DATED = lazy(r"(event-(?P<day>\d{4}-\d\d-\d\d)|summary-(?P<month>\d{4}-\d\d))", re.ASCII)
PREVIEW_LENGTH, PREVIEW_LINES = 800, 24
GOAL_LENGTH, LINE_LENGTH = 300, 160
MOST_TASKS, MOST_ITEMS = 20, 12
FAILED = "failed"
# What changes each time in an error, and what stands for it when two errors are compared.
_CHANGING = (
    (lazy(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{0,200}`"), "'…'"),
    (lazy(r"(?:[A-Za-z]:)?(?:[/\\][\w.@+-]+)+[/\\]?"), "/…"),
    (lazy(r"\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{7,64})\b", re.I), "#"),
    (lazy(r"\d+(?:[.,:]\d+)*"), "#"),
    (lazy(r"\s+"), " "),
)
_TASK_ERROR, _NO_ERROR = "It failed: ", "no error was given"
_LONGEST = 200
_READ = 20_000


class FilePart(NamedTuple):
    """One part of a file: `worker-coder.2` is part 2 of `worker-coder`."""

    base: str
    number: int

    @property
    def name(self) -> str:
        """The file name without `.md`."""
        return self.base if self.number == 1 else f"{self.base}.{self.number}"


def safe_file_name(ident: str) -> str:
    """Return a file name for any id; different ids have different names, on every file system."""
    if _PLAIN.fullmatch(ident) and not _HASHED.fullmatch(ident) and not is_windows_reserved(ident):
        return ident
    return f"{slug(ident, limit=40) or 'x'}-{short_hash(ident)}"


def parse_part(name: str) -> FilePart | None:
    """Return the part that a file name (without .md) stands for; None for a file that is not of the journal."""
    match = _PART.fullmatch(name)
    if match is None or match["number"] == "1":
        return None
    return FilePart(match["base"], int(match["number"] or 1))


def timeline_bases(time: str) -> tuple[str, str]:
    """Return the names of the timeline file of a day and of the summary of its month."""
    return f"event-{time[:10]}", f"summary-{time[:7]}"


def timeline_date(base: str) -> str | None:
    """Return the day of a timeline file or the month of a summary; None for another file."""
    match = _DATED.fullmatch(base)
    return (match["day"] or match["month"]) if match else None


def worker_base(kind: str, worker: str) -> str:
    """Return the name of the file of what a worker did (`worker`) or of its failures (`failure`)."""
    return f"{kind}-{safe_file_name(worker)}"


def run_file(folder: BookPath, run_id: str) -> BookPath:
    """Return the path of run.json of a run; the whole results of its tasks are beside it."""
    return folder / ARTIFACTS / safe_file_name(run_id) / RUN_FILE


def task_file(task_id: str) -> str:
    """Return the name of the file with the whole result of a task."""
    return f"task-{safe_file_name(task_id)}.md"


def entry_id(kind: str, *words: str) -> str:
    """Return the id of an entry. It is derived from its subject, so that an entry is never written twice."""
    return f"{kind}-{short_hash(chr(0).join(words), 24)}"


# Signatures: when two failures are the same, and two tasks the same work


def main_error_line(error: str) -> str:
    """Return the line that names the error: the last of a traceback, else the first."""
    first, last = ([line for line in text.splitlines() if line.strip()] for text in (error[:_READ], error[-_READ:]))
    if any(line.strip().startswith("Traceback (most recent call last)") for line in last):
        return last[-1].strip()
    return first[0].strip() if first and last else ""


def normalize_error(error: str) -> str:
    """Return an error without numbers, ids, quoted words and paths, which change each time; empty for no error."""
    text = main_error_line(error)[:1_000].casefold()
    for pattern, sign in _CHANGING:
        text = pattern.sub(sign, text)
    return text.strip()[:_LONGEST]


def failure_signature(worker: str, error: str) -> str:
    """Return the signature of a worker's failure; empty without an error to tell it by."""
    normal = normalize_error(error)
    return short_hash(f"{worker}\0{normal}", 16) if normal else ""


def work_signature(worker: str, description: str) -> str:
    """Return the signature of a worker and a task description; empty without a description."""
    words = " ".join(description.casefold().split())
    return short_hash(f"{worker}\0{words}", 16) if words else ""


# Entries


class RunOrigin(NamedTuple):
    """Where a run belongs: its project, and the agent that recorded it."""

    project: str
    folder_name: str  # of the project, which stays when the project gets another id
    author: str | None = None


def make_run_entry(manifest: Manifest, origin: RunOrigin) -> Entry:
    """Return the entry of a run on the timeline."""
    lines = [f"Run {short_label(manifest.run_id)}: {manifest.outcome}. {_shorten(manifest.goal, GOAL_LENGTH)}".rstrip()]
    lines += [_task_line(task) for task in manifest.tasks[:MOST_TASKS]]
    if len(manifest.tasks) > MOST_TASKS:
        lines.append(f"- and {len(manifest.tasks) - MOST_TASKS} more tasks")
    lines.append(f"All of it: {_link(RUN_FILE, manifest.run_id, RUN_FILE)}")
    statuses = sorted({manifest.outcome, *(task.status for task in manifest.tasks)})
    return _make_entry(manifest, origin, "run", lines, statuses=",".join(statuses))


def make_task_entry(manifest: Manifest, task: Task, origin: RunOrigin) -> Entry:
    """Return the entry of a task in the file of its worker."""
    lines = [f"{short_label(task.worker)}: {task.status}. {_shorten(task.description, GOAL_LENGTH)}".rstrip()]
    if task.status == FAILED:
        lines.append(f"{_TASK_ERROR}{_shorten(to_text(task.error)) or _NO_ERROR}")
    result = to_text(task.result)
    if result:
        lines += ["Result:", *_quote(result)]
    return _make_entry(manifest, origin, "task", lines, task)


def make_failure_entry(manifest: Manifest, task: Task, origin: RunOrigin) -> Entry:
    """Return the entry of a failed task in its worker's failures: the error, and what was tried."""
    error = to_text(task.error)
    description = _shorten(task.description, GOAL_LENGTH) or "a task without description"
    lines = [f"{short_label(task.worker)} failed: {description}"]
    lines += ["Error:", *(_quote(error) or ["> (none was given)"])]
    signature, work = failure_signature(task.worker, error), work_signature(task.worker, task.description)
    return _make_entry(manifest, origin, "failure", lines, task, signature=signature, work=work)


def make_fixed_entry(manifest: Manifest, task: Task, origin: RunOrigin, failures: Sequence[Entry]) -> Entry:
    """Return the entry of a task that succeeded after these failures of the same work."""
    last = failures[-1]
    description = _shorten(task.description, GOAL_LENGTH)
    lines = [f"Fixed: {short_label(task.worker)} did it after {len(failures)} failed: {description}"]
    lines += ["It had failed with:", *_quote(quoted_error(last.text), lines=3)]
    lines += ["What worked:", *(_quote(to_text(task.result)) or ["> (no result was given)"])]
    known = entry_attributes(last)
    signatures = {name: known.get(name, "") for name in ("signature", "work")}
    fixes = ",".join(entry.id for entry in failures[-20:])
    return _make_entry(manifest, origin, "fixed", lines, task, **signatures, fixes=fixes)


def render_artifact(manifest: Manifest, task: Task, project: str) -> str:
    """Return the text of the file with the whole result of a task."""
    of = f"run {short_label(manifest.run_id)}, project {short_label(project)}, {manifest.finished}"
    parts = [f"# {short_label(task.worker)}: {task.status}\n", f"Task {short_label(task.id)} of {of}.\n"]
    for title, text in (
        ("Description", task.description),
        ("Result", to_text(task.result)),
        ("Error", to_text(task.error)),
    ):
        if text:
            parts.append(f"## {title}\n\n{_visible_nul(text)}\n")
    for title, items in (("Tools", task.tools), ("Artifacts", task.artifacts)):
        if items:
            parts.append(f"## {title}\n\n" + "".join(f"- {short_label(_item_name(item))}\n" for item in items))
    return "\n".join(parts)


def entry_attributes(entry: Entry) -> dict[str, str]:
    """Return the attributes that only journal entries have: kind, run, worker, status and others."""
    return dict(entry.extra)


def shown_error(entry: Entry) -> str:
    """Return the error that the entry of a failed task or of its run shows; empty without one."""
    kind, lines = entry_attributes(entry).get("kind"), entry.text.split("\n")
    if kind == "failure":
        return quoted_error(entry.text)
    if kind == "task":
        found = [line.removeprefix(_TASK_ERROR) for line in lines[1:2] if line.startswith(_TASK_ERROR)]
    else:
        marks = (line.partition(": failed. ")[2] for line in lines if kind == "run" and line.startswith("- "))
        found = [said.partition("Error: ")[2] for said in marks]
    return "; ".join(error for error in found if error not in ("", _NO_ERROR))


def quoted_error(text: str) -> str:
    """Return the error that a failure entry quotes."""
    lines = text.split("\n")
    start = lines.index("Error:") + 1 if "Error:" in lines else len(lines)
    quoted = takewhile(lambda line: line.startswith(">"), lines[start:])
    return "\n".join(line[1:].removeprefix(" ") for line in quoted)


def _make_entry(
    manifest: Manifest, origin: RunOrigin, kind: str, lines: Sequence[str], task: Task | None = None, **more: str
) -> Entry:
    """Return an entry of a run or of one of its tasks; that of a task ends with what it used and a link to it."""
    status = manifest.outcome if task is None else task.status
    attributes = {"kind": kind, "run": manifest.run_id, "project": origin.project, "status": status}
    subject = [origin.folder_name, manifest.run_id]
    if task is not None:
        attributes |= {"task": task.id, "worker": task.worker}
        subject.append(task.id)
        label = f"task {short_label(task.id)} of run {short_label(manifest.run_id)}"
        link = _link(label, manifest.run_id, task_file(task.id))
        lines = [*lines, *_describe_work(task), f"All of it: {link}"]
    attributes |= {name: value for name, value in more.items() if value}
    return Entry(
        time=manifest.finished,
        text="\n".join(lines),
        id=entry_id(kind, *subject),
        trust=Trust.AGENT,
        author=origin.author,
        tags=(status,) if status else (),
        extra=tuple(attributes.items()),
    )


def _task_line(task: Task) -> str:
    what = _shorten(task.description)
    said = f"- {short_label(task.worker)} ({short_label(task.id)}): {task.status}. {what}".rstrip()
    error = _shorten(to_text(task.error)) if task.status == FAILED else ""
    return f"{said}{' ' if said.endswith('.') else '. '}Error: {error}" if error else said


def _describe_work(task: Task) -> list[str]:
    """Return lines on the tools a task used, what it left and how long it took."""
    said = []
    for title, items in (("Tools", task.tools), ("Left", task.artifacts)):
        if items:
            names = [short_label(_item_name(item)) for item in items[:MOST_ITEMS]]
            more = f" and {len(items) - MOST_ITEMS} more" if len(items) > MOST_ITEMS else ""
            said.append(f"{title}: {', '.join(names)}{more}")
    if task.duration is not None:
        said.append(f"Took {task.duration:g} s")
    return said


def _link(label: str, run_id: str, name: str) -> str:
    shown = re.sub(r"[\\\[\]]", r"\\\g<0>", label)
    return f"[{shown}]({ARTIFACTS}/{safe_file_name(run_id)}/{name})"


def _quote(text: str, lines: int = PREVIEW_LINES) -> list[str]:
    """Return the beginning of a text as quoted lines; a last line `> …` says that there is more."""
    if not text.strip():
        return []
    kept = _visible_nul(text[:PREVIEW_LENGTH]).replace("\r\n", "\n").strip("\n").split("\n")
    is_whole = len(text) <= PREVIEW_LENGTH and len(kept) <= lines
    return [f"> {line}".rstrip() for line in kept[:lines]] + ([] if is_whole else ["> …"])


def _visible_nul(text: str) -> str:
    """Replace NUL, which makes tools take a file for binary; run.json keeps the original."""
    return text.replace("\0", "\u2400")


def short_label(text: str) -> str:
    """Return a name for use in a sentence: on one line and not too long."""
    return _shorten(text) or "?"


def _shorten(text: str, length: int = LINE_LENGTH) -> str:
    return cut(one_line(text), length)


def _item_name(item: Json) -> str:
    if isinstance(item, dict):
        for name in ("name", "path", "uri", "url", "id"):
            if isinstance(item.get(name), str):
                return str(item[name])
    return to_text(item)
