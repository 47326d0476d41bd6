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

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.journal.manifest import Json, Manifest, Task
from commonplace.model.ids import short_hash
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import is_windows_reserved, slug
from commonplace.model.patterns import lazy
from commonplace.text.naming import cut, one_line
from commonplace.vault.paths import BookPath

ARTIFACTS, ARCHIVE, LESSONS = "_artifacts", "_archive", "_lessons"
RUN_FILE = "run.json"
ROLL_AT = 131_072  # bytes: a file that would grow beyond goes on in another
_PLAIN = lazy(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_HASHED = lazy(r".*-[0-9a-f]{12}", re.ASCII)
_PART = lazy(r"(?P<base>[a-z0-9_-]+)(?:\.(?P<number>[1-9]\d{0,8}))?", re.ASCII)
_DATED = lazy(r"(event-(?P<day>\d{4}-\d\d-\d\d)|summary-(?P<month>\d{4}-\d\d))", re.ASCII)
PREVIEW, PREVIEW_LINES = 800, 24
GOAL, LINE = 300, 160
MOST_TASKS, MOST_TOOLS = 20, 12
FAILED = "failed"
_QUOTED = lazy(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{0,200}`")
_PATH = lazy(r"(?:[A-Za-z]:)?(?:[/\\][\w.@+-]+)+[/\\]?")
_HEX = lazy(r"\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{7,64})\b", re.I)
_NUMBER = lazy(r"\d+(?:[.,:]\d+)*")
_SPACE = lazy(r"\s+")
_LONGEST = 200
_READ = 20_000


class Part(NamedTuple):
    """One file of several that go on from one another: `worker-coder.2` is part 2 of `worker-coder`."""

    base: str
    number: int

    @property
    def name(self) -> str:
        return self.base if self.number == 1 else f"{self.base}.{self.number}"


def plain_name(ident: str) -> str:
    """Any id as a file name: different ids have different names, on every file system."""
    if _PLAIN.fullmatch(ident) and not _HASHED.fullmatch(ident) and not is_windows_reserved(ident):
        return ident
    return f"{slug(ident, limit=40) or 'x'}-{short_hash(ident)}"


def read_part(name: str) -> Part | None:
    """The part that a file name (without .md) says; None for a file that is none of the journal's."""
    match = _PART.fullmatch(name)
    if match is None or match["number"] == "1":
        return None
    return Part(match["base"], int(match["number"] or 1))


def event_base(time: str) -> str:
    return f"event-{time[:10]}"


def summary_base(month: str) -> str:
    return f"summary-{month}"


def date_of(base: str) -> str | None:
    """The day of a timeline file, or the month of a summary; None for another file."""
    match = _DATED.fullmatch(base)
    return (match["day"] or match["month"]) if match else None


def worker_base(worker: str) -> str:
    return f"worker-{plain_name(worker)}"


def failure_base(worker: str) -> str:
    return f"failure-{plain_name(worker)}"


def run_folder(folder: BookPath, run_id: str) -> BookPath:
    return folder / ARTIFACTS / plain_name(run_id)


def task_file(task_id: str) -> str:
    return f"task-{plain_name(task_id)}.md"


def entry_id(kind: str, *words: str) -> str:
    """The id of an entry, which follows from what it is about: the same one is never written twice."""
    return f"{kind}-{short_hash(chr(0).join(words), 24)}"


# When two failures are the same, and two tasks the same work


def telling_line(error: str) -> str:
    """The line of an error that says what it is."""
    lines = [line.strip() for line in error[-_READ:].splitlines() if line.strip()]
    if not lines:
        return ""
    if any(line.startswith("Traceback (most recent call last)") for line in lines):
        return lines[-1]
    return next(line.strip() for line in error[:_READ].splitlines() if line.strip()) if error[:_READ].strip() else ""


def normal_error(error: str) -> str:
    """The same for two errors that differ only in what changes each time; empty for no error."""
    text = telling_line(error)[:1_000].casefold()
    for pattern, sign in ((_QUOTED, "'…'"), (_PATH, "/…"), (_HEX, "#"), (_NUMBER, "#"), (_SPACE, " ")):
        text = pattern.sub(sign, text)
    return text.strip()[:_LONGEST]


def signature_of(worker: str, error: str) -> str:
    """The signature of a worker's failure; empty when there was no error to tell it by."""
    normal = normal_error(error)
    return short_hash(f"{worker}\0{normal}", 16) if normal else ""


def work_of(worker: str, description: str) -> str:
    """Which work this is: the same worker with the same description; empty when there is none."""
    words = " ".join(description.casefold().split())
    return short_hash(f"{worker}\0{words}", 16) if words else ""


# Entries


class About(NamedTuple):
    """What every entry of a run says: whose it is, and who recorded it."""

    project: str
    place: str  # the name of the project's folder, which stays when the project gets another id
    author: str | None = None


def run_entry(manifest: Manifest, about: About) -> Entry:
    """The run on the timeline."""
    lines = [f"Run {short_name(manifest.run_id)}: {manifest.outcome}. {cut(one_line(manifest.goal), GOAL)}".rstrip()]
    lines += [_task_line(task) for task in manifest.tasks[:MOST_TASKS]]
    if len(manifest.tasks) > MOST_TASKS:
        lines.append(f"- and {len(manifest.tasks) - MOST_TASKS} more tasks")
    lines.append(f"All of it: {_link(RUN_FILE, manifest.run_id, RUN_FILE)}")
    statuses = sorted({manifest.outcome, *(task.status for task in manifest.tasks)})
    ident = entry_id("run", about.place, manifest.run_id)
    return _entry(manifest, about, ident, "\n".join(lines), "run", manifest.outcome, statuses=",".join(statuses))


def task_entry(manifest: Manifest, task: Task, about: About) -> Entry:
    """A task, among what its worker did."""
    lines = [f"{short_name(task.worker)}: {task.status}. {cut(one_line(task.description), GOAL)}".rstrip()]
    if task.status == FAILED:
        lines += [f"It failed: {cut(one_line(text_of(task.error)), LINE) or 'no error was given'}"]
    if text_of(task.result):
        lines += ["Result:", *_quoted(text_of(task.result))]
    lines += [*_how(task), _where(manifest, task)]
    ident = entry_id("task", about.place, manifest.run_id, task.id)
    return _entry(manifest, about, ident, "\n".join(lines), "task", task.status, task=task)


def failure_entry(manifest: Manifest, task: Task, about: About) -> Entry:
    """A task that failed, among its worker's failures: the error, and what was tried."""
    lines = [
        f"{short_name(task.worker)} failed: {cut(one_line(task.description), GOAL) or 'a task without description'}"
    ]
    lines += ["Error:", *(_quoted(text_of(task.error)) or ["> (none was given)"])]
    lines += [*_how(task), _where(manifest, task)]
    ident = entry_id("failure", about.place, manifest.run_id, task.id)
    signature, work = signature_of(task.worker, text_of(task.error)), work_of(task.worker, task.description)
    return _entry(
        manifest, about, ident, "\n".join(lines), "failure", FAILED, task=task, signature=signature, work=work
    )


def fixed_entry(manifest: Manifest, task: Task, about: About, failures: Sequence[Entry]) -> Entry:
    """What fixed it later: a task that worked after these failures of the same work."""
    last = failures[-1]
    lines = [
        f"Fixed: {short_name(task.worker)} did it after {len(failures)} failed: {cut(one_line(task.description), GOAL)}"
    ]
    lines += ["It had failed with:", *_quoted(error_in(last.text), lines=3)]
    lines += ["What worked:", *(_quoted(text_of(task.result)) or ["> (no result was given)"])]
    lines += [*_how(task), _where(manifest, task)]
    ident = entry_id("fixed", about.place, manifest.run_id, task.id)
    attributes = attributes_of(last)
    return _entry(
        manifest, about, ident, "\n".join(lines), "fixed", task.status, task=task,
        signature=attributes.get("signature", ""), work=attributes.get("work", ""),
        fixes=",".join(entry.id for entry in failures[-20:]),
    )  # fmt: skip


def artifact_text(manifest: Manifest, task: Task, project: str) -> str:
    """The file with all that a task gave back."""
    of = f"run {short_name(manifest.run_id)}, project {short_name(project)}, {manifest.finished}"
    parts = [f"# {short_name(task.worker)}: {task.status}\n", f"Task {short_name(task.id)} of {of}.\n"]
    for title, text in (
        ("Description", task.description),
        ("Result", text_of(task.result)),
        ("Error", text_of(task.error)),
    ):
        if text:
            parts.append(f"## {title}\n\n{_visible_nul(text)}\n")
    for title, items in (("Tools", task.tools), ("Artifacts", task.artifacts)):
        if items:
            parts.append(f"## {title}\n\n" + "".join(f"- {short_name(_name_of(item))}\n" for item in items))
    return "\n".join(parts)


def text_of(value: Json) -> str:
    """A result or an error as a text, whatever it was."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def attributes_of(entry: Entry) -> dict[str, str]:
    """What stands on the entry line beside what every entry has."""
    return dict(entry.extra)


def error_in(text: str) -> str:
    """The error that a failure entry quotes."""
    lines = text.split("\n")
    start = lines.index("Error:") + 1 if "Error:" in lines else len(lines)
    quoted = []
    for line in lines[start:]:
        if not line.startswith(">"):
            break
        quoted.append(line[1:].removeprefix(" "))
    return "\n".join(quoted)


def _entry(
    manifest: Manifest,
    about: About,
    ident: str,
    text: str,
    kind: str,
    status: str,
    task: Task | None = None,
    **more: str,
) -> Entry:
    attributes = {"kind": kind, "run": manifest.run_id, "project": about.project, "status": status}
    if task is not None:
        attributes |= {"task": task.id, "worker": task.worker}
    attributes |= {name: value for name, value in more.items() if value}
    return Entry(
        time=manifest.finished,
        text=text,
        id=ident,
        trust=Trust.AGENT,
        author=about.author,
        tags=(status,) if status else (),
        extra=tuple(attributes.items()),
    )


def _task_line(task: Task) -> str:
    what = cut(one_line(task.description), LINE)
    said = f"- {short_name(task.worker)} ({short_name(task.id)}): {task.status}. {what}".rstrip()
    error = cut(one_line(text_of(task.error)), LINE) if task.status == FAILED else ""
    return f"{said}{' ' if said.endswith('.') else '. '}Error: {error}" if error else said


def _how(task: Task) -> list[str]:
    """What it used, how long it took, what it left."""
    said = []
    for title, items in (("Tools", task.tools), ("Left", task.artifacts)):
        if items:
            names = [short_name(_name_of(item)) for item in items[:MOST_TOOLS]]
            more = f" and {len(items) - MOST_TOOLS} more" if len(items) > MOST_TOOLS else ""
            said.append(f"{title}: {', '.join(names)}{more}")
    if task.duration is not None:
        said.append(f"Took {task.duration:g} s")
    return said


def _where(manifest: Manifest, task: Task) -> str:
    run, ident = short_name(manifest.run_id), short_name(task.id)
    return f"All of it: {_link(f'task {ident} of run {run}', manifest.run_id, task_file(task.id))}"


def _link(label: str, run_id: str, name: str) -> str:
    shown = label.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"[{shown}]({ARTIFACTS}/{plain_name(run_id)}/{name})"


def _quoted(text: str, lines: int = PREVIEW_LINES) -> list[str]:
    """The beginning of a text as a quotation; the last line says that there is more."""
    if not text.strip():
        return []
    kept = _visible_nul(text[:PREVIEW]).replace("\r\n", "\n").strip("\n").split("\n")
    whole = len(text) <= PREVIEW and len(kept) <= lines
    return [f"> {line}".rstrip() for line in kept[:lines]] + ([] if whole else ["> …"])


def _visible_nul(text: str) -> str:
    """A NUL would make a file of text a binary one for every tool; run.json has it as it was."""
    return text.replace("\0", "\u2400")


def short_name(text: str) -> str:
    """A name in a sentence: on one line, and not too long."""
    return cut(one_line(text), LINE) or "?"


def _name_of(item: Json) -> str:
    if isinstance(item, dict):
        for name in ("name", "path", "uri", "url", "id"):
            if isinstance(item.get(name), str):
                return str(item[name])
    return text_of(item)
