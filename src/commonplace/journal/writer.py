"""Recording a run: once, whatever happens in between.

    run.json and the whole results, synced -> worker and failure notes, synced -> the entry on the timeline, synced

The first file that is durable is run.json: all that was handed over, without secrets. From then on the run is what that
file says, and every later step follows from it, with ids that follow from run and task. So a recording that was cut off
anywhere is completed by recording the run again, to the same bytes; and the entry on the timeline, which comes last, is
the sign that nothing is missing.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from commonplace.journal import entries
from commonplace.journal.chain import Chains
from commonplace.journal.entries import FAILED, About, short_name
from commonplace.journal.manifest import Manifest, as_json, read_manifest
from commonplace.journal.names import (
    RUN_FILE,
    event_base,
    failure_base,
    run_folder,
    summary_base,
    task_file,
    worker_base,
)
from commonplace.journal.signature import work_of
from commonplace.keep.unit import Keep, Unit
from commonplace.model.errors import CommonplaceError, JournalDamaged, NotFound
from commonplace.model.memory import Entry
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Write
from commonplace.vault.view import KEEPER, View

SEARCHED_PARTS = 4  # of a worker's failures: what is older than these is not looked through at every recording


class Written(NamedTuple):
    """What recording did."""

    action: str  # recorded, completed, unchanged
    path: BookPath  # of run.json
    differs: bool  # an earlier recording of this run said something else, and stands


def view_of_journal(folder: BookPath) -> View:
    """The view of whoever records: one project's journal."""
    return View(frozenset({folder}), frozenset({folder}))


def record(keep: Keep, folder: BookPath, manifest: Manifest, about: About, *, dated: bool = True) -> Written:
    """Put a run into the journal of a project. `dated`: the manifest itself said when the run ended."""
    path = run_folder(folder, manifest.run_id) / RUN_FILE
    with keep.unit(folder, view_of_journal(folder)) as unit:
        known = load(keep, view_of_journal(folder), path)
        differs = known is not None and _said(known, dated=dated) != _said(manifest, dated=dated)
        run = known if known is not None else manifest
        again = known is not None
        chains = Chains(unit)
        if again and _is_complete(chains, run, about):
            return Written("unchanged", path, differs)
        keep.vault.sweep(keep.space, path.parent)  # what a killed recording left half-made
        _stage_artifacts(unit, run, about, path)
        _stage_notes(chains, run, about, again=again)
        unit.commit()
        last = Unit(keep, unit.view, folder, unit.generation)  # under the same lock, durable after all of the above
        labels = labels_of("events", f"Runs of {run.finished[:10]}", about)
        Chains(last).append(event_base(run.finished), [entries.run_entry(run, about)], labels)
        last.commit()
    return Written("completed" if again else "recorded", path, differs)


def load(keep: Keep, view: View, path: BookPath) -> Manifest | None:
    """A run as it was recorded; None when it was not."""
    try:
        data = keep.vault.read(keep.space, view, path).data
    except NotFound:
        return None
    try:
        given = json.loads(data.decode("utf-8"))
        return read_manifest(given, str(given["finished"]))
    except (ValueError, KeyError, TypeError, CommonplaceError, RecursionError):
        raise JournalDamaged(f"{path} is not what was written there.") from None


def rendered(manifest: Manifest) -> bytes:
    return (json.dumps(as_json(manifest), ensure_ascii=False, indent=1) + "\n").encode()


def _said(manifest: Manifest, *, dated: bool) -> object:
    """What two recordings of one run are compared by; a time that is only that of recording tells nothing."""
    said = as_json(manifest)
    if not dated:
        del said["finished"]
    return said


def _is_complete(chains: Chains, run: Manifest, about: About) -> bool:
    """Whether the timeline, or the summary of its month, has the run."""
    ident = entries.run_entry(run, about).id
    return any(chains.has(base, ident) for base in (event_base(run.finished), summary_base(run.finished[:7])))


def _stage_artifacts(unit: Unit, run: Manifest, about: About, path: BookPath) -> None:
    """run.json first: once it is there, it stands. Files are not there, or are what they would be anyway."""
    wanted = {path: rendered(run)}
    for task in run.tasks:
        wanted[path.parent / task_file(task.id)] = entries.artifact_text(run, task, about.project).encode()
    for place, data in wanted.items():
        stat = unit.keep.vault.stat(unit.keep.space, KEEPER, place)
        if stat is None:
            unit.put_aside(Write(place, data, ABSENT))
        elif place != path and unit.keep.vault.read(unit.keep.space, KEEPER, place).data != data:
            unit.put_aside(Write(place, data))  # a power cut left the file of a recording that never counted


def _stage_notes(chains: Chains, run: Manifest, about: About, *, again: bool) -> None:
    """What each worker did, and how it failed. Only a run that was begun before can be in there already."""
    for worker in dict.fromkeys(task.worker for task in run.tasks):
        tasks = [task for task in run.tasks if task.worker == worker]
        done = [entries.task_entry(run, task, about) for task in tasks]
        _append(
            chains,
            worker_base(worker),
            done,
            labels_of("worker", f"What {short_name(worker)} did", about, worker),
            again,
        )
        failures = _failures(chains, run, about, worker)
        labels = labels_of("failures", f"How {short_name(worker)} failed, and what fixed it", about, worker)
        _append(chains, failure_base(worker), failures, labels, again)


def _append(chains: Chains, base: str, new: Sequence[Entry], labels: dict[str, str], again: bool) -> None:
    missing = [entry for entry in new if not (again and chains.has(base, entry.id))]
    if missing:
        chains.append(base, missing, labels)


def _failures(chains: Chains, run: Manifest, about: About, worker: str) -> list[Entry]:
    """The failures of a worker in this run, and what it did in spite of failures before, in the order of the tasks."""
    tasks = [task for task in run.tasks if task.worker == worker]
    if not any(task.status in (FAILED, "done") for task in tasks):
        return []
    before = open_failures(chains, worker, but=run.run_id)
    new: list[Entry] = []
    for task in tasks:
        work = work_of(worker, task.description)
        if task.status == FAILED:
            entry = entries.failure_entry(run, task, about)
            new.append(entry)
            if work:
                before.setdefault(work, []).append(entry)
        elif task.status == "done" and work in before:
            new.append(entries.fixed_entry(run, task, about, before.pop(work)))
    return new


def open_failures(chains: Chains, worker: str, *, but: str) -> dict[str, list[Entry]]:
    """The failures of a worker that nothing has fixed yet, by their work, oldest first; without those of one run."""
    found: dict[str, list[Entry]] = {}
    for entry in failures_of(chains, worker):
        said = entries.attributes_of(entry)
        work = said.get("work", "")
        if not work or said.get("run") == but:
            continue
        if said.get("kind") == "fixed":
            found.pop(work, None)
        else:
            found.setdefault(work, []).append(entry)
    return found


def failures_of(chains: Chains, worker: str) -> list[Entry]:
    """The newest failures of a worker and what fixed them, oldest first."""
    notes = list(chains.notes(failure_base(worker), SEARCHED_PARTS))
    return [block.entry for found in reversed(notes) for block in found.note.blocks]


def labels_of(kind: str, summary: str, about: About, worker: str | None = None) -> dict[str, str]:
    labels = {"journal": kind, "project": about.project}
    if worker is not None:
        labels["worker"] = worker
    return {**labels, "summary": summary}
