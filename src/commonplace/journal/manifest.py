"""The manifest of a run: what an orchestrator hands over when a run is over. Pure.

Little is required, because a run that cannot be recorded is forgotten: a run id, and a worker for each task. Missing
fields are derived and unknown fields are kept. One table of fields gives both the published schema
(docs/run-manifest.schema.json) and the check of a manifest that arrives, so that the two cannot differ.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidField, InvalidManifest
from commonplace.model.lazy import lazy
from commonplace.model.times import read_time, shift_time

VERSION = 1
MAX_ID = 1_000
_ANYTHING = ("string", "number", "boolean", "array", "object", "null")
MAX_DEPTH, MAX_CHARACTERS = 40, 16_000_000
_DAY = 86_400
_WORD = lazy(r"[a-z0-9]+(?:[_-][a-z0-9]+)*", re.ASCII)
_SURROGATE = lazy("[\ud800-\udfff]")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Redact = Callable[[str], tuple[str, Mapping[str, int]]]
"""Removes secrets from a text; returns the text and how many of each kind there were."""

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "array": (list,), "object": (dict,), "null": (type(None),),
    "boolean": (bool,),
}  # fmt: skip
_SAME_STATUS: Mapping[str, frozenset[str]] = {
    "done": frozenset({"done", "success", "successful", "succeeded", "complete", "completed", "ok", "passed"}),
    "failed": frozenset({"failed", "failure", "fail", "error", "errored", "timeout", "timed-out", "crashed"}),
    "cancelled": frozenset({"cancelled", "canceled", "aborted", "stopped", "interrupted"}),
    "skipped": frozenset({"skipped", "skip"}),
}


class ManifestField(NamedTuple):
    """A field of a manifest, with the JSON types it may have."""

    name: str
    kinds: tuple[str, ...]
    about: str
    required: bool = False


RUN_FIELDS = (
    ManifestField(
        "run_id", ("string",), "Which run this is. Recording the same id twice changes nothing.", required=True
    ),
    ManifestField("goal", ("string", "null"), "What the run was for."),
    ManifestField(
        "outcome",
        ("string", "null"),
        "How it ended: done, partial, failed, cancelled, or a word of your own. Left out, it follows from the tasks.",
    ),
    ManifestField("started", ("string", "null"), "When it began, in ISO 8601."),
    ManifestField("finished", ("string", "null"), "When it ended, in ISO 8601. Left out, the time of recording."),
    ManifestField("tasks", ("array", "null"), "What the workers did, in order."),
)
TASK_FIELDS = (
    ManifestField("id", ("string", "number", "null"), "Which task of the run; left out, its number."),
    ManifestField("worker", ("string",), "Who did it.", required=True),
    ManifestField("description", ("string", "null"), "What was to be done."),
    ManifestField(
        "status",
        ("string", "null"),
        "How it ended: done, failed, cancelled, skipped, or a word of your own. Left out: failed if there is an error.",
    ),
    ManifestField("result", _ANYTHING, "What came of it: a text, or any JSON."),
    ManifestField("error", _ANYTHING, "What went wrong: a text, or any JSON."),
    ManifestField("duration", ("number", "null"), "How long it took, in seconds."),
    ManifestField("tools", ("array", "null"), "The tools it used: names, or objects with a name."),
    ManifestField("artifacts", ("array", "null"), "What it left elsewhere: paths or addresses, or objects."),
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
    left = [MAX_CHARACTERS]
    plain = _to_json(given, "the manifest", left, 0)
    if not isinstance(plain, dict):
        raise InvalidManifest("A manifest must be an object with a run_id and tasks.")
    _check_fields(plain, RUN_FIELDS, "")
    tasks = _read_tasks(plain.get("tasks") or [])
    finished = _read_time(plain, "finished")
    started = _read_time(plain, "started")
    latest = shift_time(now, _DAY)  # with a clock years ahead, a run would stay the newest for years
    known = {field.name for field in RUN_FIELDS}
    return Manifest(
        run_id=_read_id(plain["run_id"], "run_id"),
        goal=_read_text(plain.get("goal")),
        outcome=normalize_status(_read_text(plain.get("outcome"))) or _derive_outcome(tasks),
        started=min(started, latest) if started else None,
        finished=min(finished, latest) if finished else now,
        tasks=tasks,
        extra={name: value for name, value in plain.items() if name not in known},
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


def redact_manifest(manifest: Manifest, redact: Redact) -> tuple[Manifest, int]:
    """Return the manifest without secrets, and how many there were.

    A value is checked together with its name: `password: ...` tells more than the value alone. A secret in the run id
    raises InvalidManifest, because everything else is found by it.
    """
    if redact(manifest.run_id)[1]:
        raise InvalidManifest("run_id contains what looks like a secret.", hint="Give the run another id.")
    count = [0]
    clean = _redact_value(manifest_to_json(manifest), "", redact, count)
    assert isinstance(clean, dict)  # noqa: S101 - a manifest is one
    return read_manifest(clean, manifest.finished), count[0]


def _redact_value(value: Json, name: str, redact: Redact, count: list[int]) -> Json:
    if isinstance(value, str):
        lead = f"{name}: " if name else ""
        text, found = redact(lead + value)
        if found and not text.startswith(lead):
            text, found = redact(value)
            lead = ""
        count[0] += sum(found.values())
        return text[len(lead) :] if found else value
    if isinstance(value, list):
        return [_redact_value(item, name, redact, count) for item in value]
    if isinstance(value, dict):
        return {
            str(_redact_value(key, "", redact, count)): _redact_value(item, key, redact, count)
            for key, item in value.items()
        }
    return value


def _to_json(value: object, where: str, left: list[int], depth: int) -> Json:
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
            str(_to_json(str(name), where, left, depth)): _to_json(item, f"{where}.{str(name)[:40]}", left, depth + 1)
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


def _check_fields(given: Mapping[str, Json], fields: Sequence[ManifestField], where: str) -> None:
    for field in fields:
        if field.name not in given:
            if field.required:
                raise InvalidManifest(f"The manifest has no {where}{field.name}.")
            continue
        value = given[field.name]
        if not any(_is_kind(value, kind) for kind in field.kinds):
            raise InvalidManifest(f"{where}{field.name} must be {' or '.join(field.kinds)}.")


def _is_kind(value: Json, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _read_tasks(given: Json) -> tuple[Task, ...]:
    assert isinstance(given, list)  # noqa: S101 - checked with the other fields
    tasks: list[Task] = []
    taken: set[str] = set()
    for number, item in enumerate(given):
        where = f"tasks[{number}]"
        if not isinstance(item, dict):
            raise InvalidManifest(f"{where} must be an object.")
        _check_fields(item, TASK_FIELDS, f"{where}.")
        ident = _make_unique(_read_task_id(item.get("id"), number, where), taken)
        taken.add(ident)
        tasks.append(_read_task(item, ident, where))
    return tuple(tasks)


def _read_task(item: Mapping[str, Json], ident: str, where: str) -> Task:
    duration = item.get("duration")
    error = item.get("error")
    known = {field.name for field in TASK_FIELDS}
    return Task(
        id=ident,
        worker=_read_id(item["worker"], f"{where}.worker"),
        description=_read_text(item.get("description")),
        status=normalize_status(_read_text(item.get("status"))) or ("failed" if error else "done"),
        result=item.get("result"),
        error=error,
        duration=float(duration) if isinstance(duration, (int, float)) else None,
        tools=_read_items(item, "tools", where),
        artifacts=_read_items(item, "artifacts", where),
        extra={name: value for name, value in item.items() if name not in known},
    )


def _read_items(item: Mapping[str, Json], name: str, where: str) -> tuple[Json, ...]:
    values = item.get(name) or []
    assert isinstance(values, list)  # noqa: S101 - checked with the other fields
    for number, value in enumerate(values):
        if not isinstance(value, (str, dict)):
            raise InvalidManifest(f"{where}.{name}[{number}] must be string or object.")
    return tuple(values)


def _read_task_id(given: Json, number: int, where: str) -> str:
    if given is None or given == "":
        return str(number + 1)
    return _read_id(given if isinstance(given, str) else str(given), f"{where}.id")


def _make_unique(ident: str, taken: set[str]) -> str:
    """Return an id that no earlier task has: a repeated task may come with its old id."""
    number, free = 2, ident
    while free in taken:
        free, number = f"{ident[: MAX_ID - 12]}#{number}", number + 1
    return free


def _read_id(value: Json, where: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_ID:
        raise InvalidManifest(f"{where} must be a string of 1 to {MAX_ID:,} characters.")
    return value


def _read_text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _read_time(given: Mapping[str, Json], name: str) -> str | None:
    text = _read_text(given.get(name))
    if not text:
        return None
    try:
        return read_time(text)
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


def manifest_schema() -> dict[str, object]:
    """Return the published JSON Schema of a manifest."""
    task = _object_schema("One task of a run.", TASK_FIELDS)
    run = _object_schema("What an orchestrated run did; unknown fields are kept.", RUN_FIELDS)
    properties = run["properties"]
    assert isinstance(properties, dict)  # noqa: S101 - made above
    properties["tasks"]["items"] = task
    for field in ("tools", "artifacts"):
        task["properties"][field]["items"] = {"type": ["string", "object"]}  # type: ignore[index]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The manifest of a run, version {VERSION}",
        **run,
    }


def _object_schema(about: str, fields: Sequence[ManifestField]) -> dict[str, object]:
    return {
        "description": about,
        "type": "object",
        "properties": {
            field.name: {
                "description": field.about,
                "type": field.kinds[0] if len(field.kinds) == 1 else list(field.kinds),
                **({"minLength": 1, "maxLength": MAX_ID} if field.required else {}),
            }
            for field in fields
        },
        "required": [field.name for field in fields if field.required],
        "additionalProperties": True,
    }
