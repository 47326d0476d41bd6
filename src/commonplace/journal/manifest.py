"""The manifest of a run: what an orchestrator hands over when a run is over. Pure.

Little is required, because a run that cannot be recorded is forgotten: a run id, and a worker for each task. Missing
fields are derived and unknown fields are kept. One table of fields gives both the published schema
(docs/run-manifest.schema.json, made by tools/make_docs.py) and the check of a manifest that arrives, so that the two
cannot differ.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidField, InvalidManifest
from commonplace.model.lazy import lazy
from commonplace.model.times import read_time, shift_time

MAX_ID = 1_000
_ANYTHING = "string or number or boolean or array or object or null"
MAX_DEPTH, MAX_CHARACTERS = 40, 16_000_000
_DAY = 86_400
_WORD = lazy(r"[a-z0-9]+(?:[_-][a-z0-9]+)*", re.ASCII)
_SURROGATE = lazy("[\ud800-\udfff]")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str, "number": (int, float), "array": list, "object": dict, "null": type(None), "boolean": bool,
}  # fmt: skip
_SAME_STATUS: Mapping[str, tuple[str, ...]] = {
    "done": ("done", "success", "successful", "succeeded", "complete", "completed", "ok", "passed"),
    "failed": ("failed", "failure", "fail", "error", "errored", "timeout", "timed-out", "crashed"),
    "cancelled": ("cancelled", "canceled", "aborted", "stopped", "interrupted"),
    "skipped": ("skipped", "skip"),
}


class ManifestField(NamedTuple):
    """A field of a manifest, with the JSON types it may have."""

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
    ManifestField("started", "string or null", "When it began, in ISO 8601."),
    ManifestField("finished", "string or null", "When it ended, in ISO 8601. Left out, the time of recording."),
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


def read_manifest(given: object, now: str) -> Manifest:
    """Return the manifest that a caller sent; raises InvalidManifest, which names the wrong field."""
    fields = _to_json(given, "the manifest", [MAX_CHARACTERS], 0)
    if not isinstance(fields, dict):
        raise InvalidManifest("A manifest must be an object with a run_id and tasks.")
    extra = _check_fields(fields, RUN_FIELDS, "")
    tasks = _read_tasks(fields.get("tasks") or [])
    finished = _read_time(fields, "finished")
    started = _read_time(fields, "started")
    latest = shift_time(now, _DAY)  # with a clock years ahead, a run would stay the newest for years
    return Manifest(
        run_id=_check_id(fields["run_id"], "run_id"),
        goal=fields.get("goal") or "",
        outcome=normalize_status(fields.get("outcome") or "") or _derive_outcome(tasks),
        started=min(started, latest) if started else None,
        finished=min(finished, latest) if finished else now,
        tasks=tasks,
        extra=extra,
    )


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


def redact_manifest(manifest: Manifest, redact: Callable[[str], tuple[str, Mapping[str, int]]]) -> tuple[Manifest, int]:
    """Return the manifest without secrets, and how many `redact` removed.

    A value is checked together with its name: `password: ...` tells more than the value alone. A secret in the run id
    raises InvalidManifest, because everything else is found by it.
    """
    if redact(manifest.run_id)[1]:
        raise InvalidManifest("run_id contains what looks like a secret.", hint="Give the run another id.")
    count = 0

    def clean(value: Any, name: str) -> Any:
        nonlocal count
        if isinstance(value, list):
            return [clean(item, name) for item in value]
        if isinstance(value, dict):
            return {clean(key, ""): clean(item, key) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        lead = f"{name}: " if name else ""
        text, found = redact(lead + value)
        if found and not text.startswith(lead):
            text, found = redact(value)
            lead = ""
        count += sum(found.values())
        return text[len(lead) :] if found else value

    redacted = clean(manifest_to_json(manifest), "")
    return read_manifest(redacted, manifest.finished), count


def _to_json(value: object, where: str, left: list[int], depth: int) -> Any:
    """Return a value as JSON in new lists and dicts; raises InvalidManifest for one that JSON cannot hold."""
    if depth > MAX_DEPTH:
        raise InvalidManifest(f"{where} is nested more than {MAX_DEPTH} levels deep.")
    left[0] -= len(value) + 2 if isinstance(value, str) else 2
    if left[0] < 0:
        raise InvalidManifest(
            f"The manifest has more than {MAX_CHARACTERS:,} characters.",
            hint="Keep large results in files and name the files in artifacts.",
        )
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {
            _to_json(str(name), where, left, depth): _to_json(item, f"{where}.{str(name)[:40]}", left, depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_to_json(item, f"{where}[{number}]", left, depth + 1) for number, item in enumerate(value)]
    raise InvalidManifest(
        f"{ascii(where)[1:-1]} is a {type(value).__name__}, which JSON cannot represent.", hint="Send it as a string."
    )


def replace_surrogates(text: str) -> str:
    """Return a text that a file can hold: surrogates become the replacement character."""
    return str(text) if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _check_fields(given: Mapping[str, Any], fields: Sequence[ManifestField], where: str) -> dict[str, Json]:
    """Check the types of the known fields and return the others."""
    extra = dict(given)
    for field in fields:
        if field.name in given:
            value = extra.pop(field.name)
            kinds = field.kinds.split(" or ")
            if isinstance(value, bool):  # Python counts it as a number
                is_right = "boolean" in kinds
            else:
                is_right = any(isinstance(value, _KINDS[kind]) for kind in kinds)
            if not is_right:
                raise InvalidManifest(f"{where}{field.name} must be {field.kinds}.")
        elif field.required:
            raise InvalidManifest(f"The manifest has no {where}{field.name}.")
    return extra


def _read_tasks(given: Sequence[Any]) -> tuple[Task, ...]:
    tasks: dict[str, Task] = {}
    for number, fields in enumerate(given):
        where = f"tasks[{number}]"
        if not isinstance(fields, dict):
            raise InvalidManifest(f"{where} must be an object.")
        extra = _check_fields(fields, TASK_FIELDS, f"{where}.")
        ident, duration, error = (fields.get(name) for name in ("id", "duration", "error"))
        ident = str(number + 1) if ident in (None, "") else _check_id(str(ident), f"{where}.id")
        unique, again = ident, 2
        while unique in tasks:  # a repeated task may come with its old id
            unique, again = f"{ident[: MAX_ID - 12]}#{again}", again + 1
        tasks[unique] = Task(
            id=unique,
            worker=_check_id(fields["worker"], f"{where}.worker"),
            description=fields.get("description") or "",
            status=normalize_status(fields.get("status") or "") or ("failed" if error else "done"),
            result=fields.get("result"),
            error=error,
            duration=None if duration is None else float(duration),
            tools=_read_items(fields, "tools", where),
            artifacts=_read_items(fields, "artifacts", where),
            extra=extra,
        )
    return tuple(tasks.values())


def _read_items(fields: Mapping[str, Any], name: str, where: str) -> tuple[Json, ...]:
    items = fields.get(name) or ()
    for number, item in enumerate(items):
        if not isinstance(item, (str, dict)):
            raise InvalidManifest(f"{where}.{name}[{number}] must be string or object.")
    return tuple(items)


def _check_id(value: str, where: str) -> str:
    if not 1 <= len(value) <= MAX_ID:
        raise InvalidManifest(f"{where} must be a string of 1 to {MAX_ID:,} characters.")
    return value


def _read_time(fields: Mapping[str, Any], name: str) -> str | None:
    text = fields.get(name)
    try:
        return read_time(text) if text else None
    except InvalidField as error:
        raise InvalidManifest(f"{name}: {error.message}", hint=error.hint) from None


def normalize_status(word: str) -> str:
    """Return one word for each way a task can end: ours for those of known frameworks, others unchanged."""
    plain = "-".join(_WORD.findall(word.lower().replace("_", "-")))[:40]
    return next((known for known, words in _SAME_STATUS.items() if plain in words), plain)


def _derive_outcome(tasks: Sequence[Task]) -> str:
    statuses = {task.status for task in tasks}
    if "failed" in statuses:
        return "partial" if "done" in statuses else "failed"
    return "done" if not statuses or "done" in statuses else min(statuses)
