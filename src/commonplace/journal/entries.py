"""From a manifest to the entries of the journal: what each file says of a run. Pure, and the same every time.

Previews are bounded, and every entry links to the file that has all of it, so nothing is lost to a cut. Somebody's text
stands as a quotation: no line of it can be taken for a heading of ours.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.journal.manifest import Json, Manifest, Task
from commonplace.journal.names import ARTIFACTS, RUN_FILE, entry_id, plain_name, task_file
from commonplace.journal.signature import signature_of, work_of
from commonplace.model.memory import Entry, Trust
from commonplace.text.naming import cut, one_line

PREVIEW, PREVIEW_LINES = 800, 24
GOAL, LINE = 300, 160
MOST_TASKS, MOST_TOOLS = 20, 12
FAILED = "failed"


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
