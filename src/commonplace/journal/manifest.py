"""The manifest of a run: what an orchestrator hands over when a run is over. Pure.

Little is refused, because a run that cannot be recorded is forgotten. Missing fields are derived, unknown fields are
kept, values of another type become text, and a value that cannot be used is kept as NAME_given; a warning says so. One
table of fields gives both the published schema (`commonplace journal schema`) and the reader, so that the two cannot
differ: what fits the schema is recorded as it is.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

from commonplace.journal.plain_json import Json, PlainJson, to_text, unique_names
from commonplace.model.errors import InvalidField, InvalidManifest
from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash
from commonplace.model.times import LAST, format_time, is_timestamp, read_time, shift_time
from commonplace.text.fence import strip_fences

VERSION = 1
MAX_ID = 1_000
NO_WORKER = "unknown"
_ANYTHING = "string or number or boolean or array or object or null"
_CLOCK_SKEW = 300  # seconds: a time that is so little ahead is no reason for a warning
_FIRST_EPOCH, _LAST_EPOCH = 1e8, 1e11  # seconds since 1970: from 1973 on; greater numbers are milliseconds or finer
_MOST_WARNINGS = 20
_GIVEN = "_given"
BRIEFED = "briefed_with"  # field of a task: the refs of the facts that `brief_task` put into its description
_WORD = lazy(r"[a-z0-9]+(?:[_-][a-z0-9]+)*", re.ASCII)

_SAME_STATUS: Mapping[str, tuple[str, ...]] = {
    "done": ("done", "success", "successful", "succeeded", "complete", "completed", "ok", "passed", "true"),
    "failed": ("failed", "failure", "fail", "error", "errored", "timeout", "timed-out", "crashed", "false"),
    "cancelled": ("cancelled", "canceled", "aborted", "stopped", "interrupted"),
    "skipped": ("skipped", "skip"),
}
# What other frameworks call a field, where the name is too different to be recognised by its letters.
_OTHER_NAMES: Mapping[str, str] = {
    "id": "run_id", "status": "outcome", "steps": "tasks", "jobs": "tasks", "objective": "goal", "ended": "finished",
    "end": "finished", "start": "started", "agent": "worker", "name": "worker", "output": "result",
    "files": "artifacts", "exception": "error", "traceback": "error", "task": "description", "prompt": "description",
    "seconds": "duration",
}  # fmt: skip


class ManifestField(NamedTuple):
    """A field of a manifest, with the JSON types it should have."""

    name: str
    kinds: str  # separated by ` or `
    about: str
    required: bool = False


RUN_FIELDS = (
    ManifestField("run_id", "string", "Which run this is. Recording the same id twice changes nothing.", required=True),
    ManifestField("goal", "string or null", "What the run was for."),
    ManifestField(
        "outcome",
        "string or null",
        "How it ended: done, partial, failed, cancelled, or a word of your own. Left out, it follows from the tasks.",
    ),
    ManifestField("started", "string or number or null", "When it began: ISO 8601, or seconds since 1970."),
    ManifestField(
        "finished",
        "string or number or null",
        "When it ended: ISO 8601, or seconds since 1970. Left out, the time of recording.",
    ),
    ManifestField("tasks", "array or null", "What the workers did, in order."),
)
TASK_FIELDS = (
    ManifestField("id", "string or number or null", "Which task of the run; left out, its number."),
    ManifestField("worker", "string", "Who did it.", required=True),
    ManifestField("description", "string or null", "What was to be done."),
    ManifestField(
        "status",
        "string or null",
        "How it ended: done, failed, cancelled, skipped, or a word of your own. Left out: failed if there is an error.",
    ),
    ManifestField("result", _ANYTHING, "What came of it: a text, or any JSON."),
    ManifestField("error", _ANYTHING, "What went wrong: a text, or any JSON."),
    ManifestField("duration", "number or null", "How long it took, in seconds."),
    ManifestField("tools", "array or null", "The tools it used: names, or objects with a name."),
    ManifestField("artifacts", "array or null", "What it left elsewhere: paths or addresses, or objects."),
)
_RUN_NAMES, _TASK_NAMES = ([field.name for field in fields] for fields in (RUN_FIELDS, TASK_FIELDS))


class Task(NamedTuple):
    """One task of a run; unknown fields are in `extra`."""

    id: str
    worker: str
    description: str
    status: str
    result: Json
    error: Json
    duration: float | None
    tools: tuple[Json, ...]
    artifacts: tuple[Json, ...]
    extra: Mapping[str, Json]


class Manifest(NamedTuple):
    """What an orchestrated run did; unknown fields are in `extra`."""

    run_id: str
    goal: str
    outcome: str
    started: str | None
    finished: str
    tasks: tuple[Task, ...]
    extra: Mapping[str, Json]


class ManifestReading(NamedTuple):
    """A manifest without secrets, how many were removed, and what the caller should know about it."""

    manifest: Manifest
    redacted: int
    warnings: tuple[str, ...]
    is_dated: bool  # the manifest itself says when the run ended


Redact = Callable[[str], tuple[str, Mapping[str, int]]]


def read_manifest(given: object, now: str, redact: Redact = lambda text: (text, {})) -> ManifestReading:
    """Return the manifest that a caller sent. Raises InvalidManifest if there is nothing in it to record."""
    plain = PlainJson()
    fields = plain.convert(given, "")
    if not isinstance(fields, dict):
        raise InvalidManifest("A manifest must be an object with a run_id and tasks.")
    reader = _ManifestReader(now, plain)
    if redact(to_text(fields.get("run_id")))[1]:
        del fields["run_id"]
        reader.warnings.append("run_id contains what looks like a secret.")
    fields, count = _redact_values(fields, redact)
    manifest = reader.read_run(fields)
    warnings = [redact(warning)[0] for warning in (*reader.warnings, *plain.warnings())]
    if len(warnings) > _MOST_WARNINGS:
        warnings[_MOST_WARNINGS:] = [f"And {len(warnings) - _MOST_WARNINGS} more warnings."]
    is_dated = bool(fields.get("finished")) and not _has_derived_end(manifest)
    return ManifestReading(manifest, count, tuple(warnings), is_dated)


def read_stored_manifest(fields: Any) -> Manifest:
    """Return the manifest that a recording wrote down. Raises ValueError if this is none."""
    if not (isinstance(fields, dict) and isinstance(fields.get("run_id"), str) and isinstance(fields["tasks"], list)):
        raise ValueError("not a recorded run")
    if not is_timestamp(fields["finished"]):
        raise ValueError("not a recorded run")
    return _ManifestReader(LAST, PlainJson(), is_stored=True).read_run(fields)


def is_same_run(recorded: Manifest, manifest: Manifest, *, is_dated: bool) -> bool:
    """Whether a manifest says what was recorded. An end that came from the clock of a recording does not count."""
    if is_dated and not _has_derived_end(recorded):
        return recorded == manifest
    return _without_end(recorded) == _without_end(manifest)


def _has_derived_end(manifest: Manifest) -> bool:
    return f"finished{_GIVEN}" in manifest.extra


def _without_end(manifest: Manifest) -> Manifest:
    extra = {name: value for name, value in manifest.extra.items() if name != f"finished{_GIVEN}"}
    return manifest._replace(finished="", extra=extra)


def manifest_to_json(manifest: Manifest) -> dict[str, Json]:
    """Return a manifest as JSON: known fields first, in a fixed order, then the others."""
    tasks = [
        _spread_extra({**task._asdict(), "tools": list(task.tools), "artifacts": list(task.artifacts)})
        for task in manifest.tasks
    ]
    return _spread_extra({**manifest._asdict(), "tasks": tasks})


def _spread_extra(fields: dict[str, Any]) -> dict[str, Json]:
    extra = fields.pop("extra")
    return {**fields, **extra}


def _redact_values(fields: dict[str, Any], redact: Redact) -> tuple[dict[str, Any], int]:
    """Return a manifest without secrets, and how many were removed.

    A value is checked together with its name: `password: ...` tells more than the value alone.
    """
    count = 0

    def clean(value: Any, name: str) -> Any:
        nonlocal count
        if isinstance(value, list):
            return [clean(item, name) for item in value]
        if isinstance(value, dict):
            return unique_names((clean(key, ""), clean(item, key)) for key, item in value.items())
        if not isinstance(value, str):
            return value
        lead = f"{name}: " if name else ""
        text, found = redact(lead + value)
        if found and not text.startswith(lead):
            text, found = redact(value)
            lead = ""
        count += sum(found.values())
        return text[len(lead) :] if found else value

    return clean(fields, ""), count


class _ManifestReader:
    """Reads the fields of one manifest, and collects warnings."""

    def __init__(self, now: str, plain: PlainJson, *, is_stored: bool = False) -> None:
        self.warnings: list[str] = []
        self._now, self._plain, self._is_stored = now, plain, is_stored

    def read_run(self, fields: Mapping[str, Any]) -> Manifest:
        """Return the manifest. Raises InvalidManifest for one without an id and without anything else we know."""
        extra = self._find_unknown(fields, _RUN_NAMES, "")
        ident = self._id(fields, "run_id", "")
        if not ident:
            if not any(fields.get(name) for name in _RUN_NAMES):
                raise InvalidManifest("The manifest has no run_id.")
            ident = f"run-{short_hash(json.dumps(fields, sort_keys=True), 16)}"
            self.warnings.append(f"The run has no usable run_id: it is recorded as {ident}, made from what it says.")
        tasks = self._tasks(fields.get("tasks"))
        goal, _ = self._own_text(fields, "goal", "")
        outcome = self._status(fields, "outcome", "", extra)
        started, finished = (self._time(fields, name, extra) for name in ("started", "finished"))
        return Manifest(
            ident, goal, outcome or _derive_outcome(tasks), started, finished or self._now, tasks, extra
        )  # fmt: skip

    def _tasks(self, given: Any) -> tuple[Task, ...]:
        if not isinstance(given, (list, dict, type(None))):
            given = [given]
        if isinstance(given, dict):  # one task, or tasks by their id
            is_one = any(name in given for name in _TASK_NAMES) or not all(
                isinstance(one, dict) for one in given.values()
            )
            given = [given] if is_one else [{"id": ident, **task} for ident, task in given.items()]
            self.warnings.append("tasks is an object and should be a list: it is recorded as one.")
        tasks = [self._task(number, fields) for number, fields in enumerate(given or ())]
        known: dict[str, Task] = {}
        for task in tasks:
            unique, again = task.id, 2
            while unique in known:  # a repeated task may come with its old id
                unique, again = f"{task.id[: MAX_ID - 12]}#{again}", again + 1
            known[unique] = task._replace(id=unique)
        return tuple(known.values())

    def _task(self, number: int, fields: Any) -> Task:
        where = f"tasks[{number}]."
        if not isinstance(fields, dict):
            self.warnings.append(f"tasks[{number}] is not an object: it is recorded as a task's result.")
            fields = {"result": fields}
        extra = self._find_unknown(fields, _TASK_NAMES, where)
        worker = self._id(fields, "worker", where)
        if not worker:
            self.warnings.append(f"{where}worker is missing: it is recorded as {NO_WORKER!r}.")
        description, refs = self._own_text(fields, "description", where)
        if refs:
            extra.setdefault(BRIEFED, refs)
        error = fields.get("error")
        return Task(
            id=self._id(fields, "id", where) or str(number + 1),
            worker=worker or NO_WORKER,
            description=description,
            status=self._status(fields, "status", where, extra) or ("failed" if error else "done"),
            result=fields.get("result"),
            error=error,
            duration=self._duration(fields, where, extra),
            tools=self._items(fields, "tools", where),
            artifacts=self._items(fields, "artifacts", where),
            extra=extra,
        )

    def _find_unknown(self, fields: Mapping[str, Any], known: Sequence[str], where: str) -> dict[str, Json]:
        """Return the fields that we do not know, with a warning about each that was probably meant to be another."""
        extra = {name: value for name, value in fields.items() if name not in known}
        absent = [name for name in known if fields.get(name) in (None, "", [], {})]
        for name in extra if not self._is_stored else ():
            meant = _OTHER_NAMES.get(name.lower(), "")
            likely = [meant] if meant in absent else get_close_matches(name.lower()[:40], absent, 1, 0.7)
            if likely and not name.endswith(_GIVEN):
                self.warnings.append(
                    f"Unknown field {where}{name[:40]}: did you mean {likely[0]}? It is kept, and not read."
                )
        return extra

    def _id(self, fields: Mapping[str, Any], name: str, where: str) -> str:
        value = fields.get(name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and name == "id"  # as in the schema
        text = to_text(value) if is_number else self._plain.as_text(value, f"{where}{name}")
        if len(text) <= MAX_ID:
            return text
        self.warnings.append(f"{where}{name} has more than {MAX_ID:,} characters and is recorded shorter.")
        return f"{text[: MAX_ID - 13]}-{short_hash(text)}"

    def _own_text(self, fields: Mapping[str, Any], name: str, where: str) -> tuple[str, list[Json]]:
        """Return a text without the facts that `brief_task` added to it, and the refs of those facts."""
        text = self._plain.as_text(fields.get(name), f"{where}{name}")
        if self._is_stored:
            return text, []
        own, refs = strip_fences(text)
        return own, [*refs]

    def _status(self, fields: Mapping[str, Any], name: str, where: str, extra: dict[str, Json]) -> str:
        text = self._plain.as_text(fields.get(name), f"{where}{name}")
        word = normalize_status(text)
        if text and not word:
            self._keep(extra, name, text, f"{where}{name} has no letter a-z: what it means is not known.")
        return word

    def _duration(self, fields: Mapping[str, Any], where: str, extra: dict[str, Json]) -> float | None:
        value = fields.get("duration")
        if value in (None, ""):
            return None
        try:
            seconds = float(value)
            if math.isfinite(seconds) and not isinstance(value, bool):
                return seconds
        except (TypeError, ValueError, OverflowError):
            pass
        self._keep(extra, "duration", value, f"{where}duration is not a number of seconds.")
        return None

    def _time(self, fields: Mapping[str, Any], name: str, extra: dict[str, Json]) -> str | None:
        """Return a time that is not in the future: a run that ended in 2099 would be the newest for ever."""
        value = fields.get(name)
        if value in (None, ""):
            return None
        time = _read_moment(value)
        if time is None:
            self._keep(extra, name, value, f"{name} is not a time in ISO 8601.")
            return None
        if time > shift_time(self._now, _CLOCK_SKEW):
            self._keep(extra, name, value, f"{name} is in the future ({time}): the time of recording is used.")
        return min(time, self._now)

    def _items(self, fields: Mapping[str, Any], name: str, where: str) -> tuple[Json, ...]:
        value = fields.get(name)
        items = value if isinstance(value, list) else [] if value is None else [value]
        if items is not value and items:
            self.warnings.append(f"{where}{name} should be a list: it is recorded as one.")
        return tuple(
            item if isinstance(item, dict) else self._plain.as_text(item, f"{where}{name}[{number}]")
            for number, item in enumerate(items)
        )

    def _keep(self, extra: dict[str, Json], name: str, value: Any, warning: str) -> None:
        """Keep a value that cannot be used beside the field, and say so."""
        extra.setdefault(f"{name}{_GIVEN}", value)
        self.warnings.append(f"{warning} It is kept as {name}{_GIVEN}.")


def _read_moment(value: Any) -> str | None:
    """Return a time in ISO 8601, or in seconds or parts of them since 1970, as a timestamp; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    try:
        if isinstance(value, str) and not number >= _FIRST_EPOCH:
            return read_time(value.strip())
        if isinstance(value, bool) or not _FIRST_EPOCH <= number < math.inf:
            return None
        while number >= _LAST_EPOCH:
            number /= 1_000
        return format_time(datetime.fromtimestamp(number, UTC))
    except (InvalidField, ValueError, OverflowError, OSError):
        return None


def normalize_status(word: str) -> str:
    """Return one word for each way a task can end: ours for those of known frameworks, others unchanged."""
    plain = "-".join(_WORD.findall(word.lower().replace("_", "-")))[:40].rstrip("-")
    return next((known for known, words in _SAME_STATUS.items() if plain in words), plain)


def _derive_outcome(tasks: Sequence[Task]) -> str:
    statuses = {task.status for task in tasks}
    if "failed" in statuses:
        return "partial" if "done" in statuses else "failed"
    return "done" if not statuses or "done" in statuses else min(statuses)


def manifest_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a manifest."""
    task = _object_schema("One task of a run.", TASK_FIELDS)
    run = _object_schema("What an orchestrated run did; unknown fields are kept.", RUN_FIELDS)
    run["properties"]["tasks"]["items"] = task
    for name in ("tools", "artifacts"):
        task["properties"][name]["items"] = {"type": ["string", "object"]}
    title = f"The manifest of a run, version {VERSION}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **run}


def _object_schema(about: str, fields: Sequence[ManifestField]) -> dict[str, Any]:
    return {
        "description": about,
        "type": "object",
        "properties": {
            field.name: {
                "description": field.about,
                "type": field.kinds.split(" or ") if " or " in field.kinds else field.kinds,
                **({"minLength": 1, "maxLength": MAX_ID} if field.required else {}),
            }
            for field in fields
        },
        "required": [field.name for field in fields if field.required],
        "additionalProperties": True,
    }
