"""The manifest of a run: what an orchestrator hands over when a run is over. Pure.

Little is required, because a run that cannot be recorded is forgotten: a run id, and a worker for each task. Missing
fields are derived and unknown fields are kept. One table of fields gives both the published schema
(docs/run-manifest.schema.json) and the check of a manifest that arrives, so that the two cannot differ.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.model.errors import InvalidField, InvalidManifest
from commonplace.model.patterns import lazy
from commonplace.model.times import read_time, shift

VERSION = 1
MAX_ID = 1_000
_ANYTHING = ("string", "number", "boolean", "array", "object", "null")
MAX_DEPTH, MAX_CHARACTERS = 40, 16_000_000
_DAY = 86_400
_WORD = lazy(r"[a-z0-9]+(?:[_-][a-z0-9]+)*", re.ASCII)
_SURROGATE = lazy("[\ud800-\udfff]")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Redact = Callable[[str], tuple[str, Mapping[str, int]]]
"""Takes secrets out of a text; says how many of each kind there were."""

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


class Field(NamedTuple):
    name: str
    kinds: tuple[str, ...]
    about: str
    required: bool = False


RUN_FIELDS = (
    Field("run_id", ("string",), "Which run this is. Recording the same id twice changes nothing.", required=True),
    Field("goal", ("string", "null"), "What the run was for."),
    Field(
        "outcome",
        ("string", "null"),
        "How it ended: done, partial, failed, cancelled, or a word of your own. Left out, it follows from the tasks.",
    ),
    Field("started", ("string", "null"), "When it began, in ISO 8601."),
    Field("finished", ("string", "null"), "When it ended, in ISO 8601. Left out, the time of recording."),
    Field("tasks", ("array", "null"), "What the workers did, in order."),
)
TASK_FIELDS = (
    Field("id", ("string", "number", "null"), "Which task of the run; left out, its number."),
    Field("worker", ("string",), "Who did it.", required=True),
    Field("description", ("string", "null"), "What was to be done."),
    Field(
        "status",
        ("string", "null"),
        "How it ended: done, failed, cancelled, skipped, or a word of your own. Left out: failed if there is an error.",
    ),
    Field("result", _ANYTHING, "What came of it: a text, or any JSON."),
    Field("error", _ANYTHING, "What went wrong: a text, or any JSON."),
    Field("duration", ("number", "null"), "How long it took, in seconds."),
    Field("tools", ("array", "null"), "The tools it used: names, or objects with a name."),
    Field("artifacts", ("array", "null"), "What it left elsewhere: paths or addresses, or objects."),
)


class Task(NamedTuple):
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
    run_id: str
    goal: str
    outcome: str
    started: str | None
    finished: str
    tasks: tuple[Task, ...]
    extra: Mapping[str, Json]


def read_manifest(given: object, now: str) -> Manifest:
    """A manifest from what a caller sent; InvalidManifest says which field cannot be used."""
    left = [MAX_CHARACTERS]
    plain = _plain(given, "the manifest", left, 0)
    if not isinstance(plain, dict):
        raise InvalidManifest("A manifest is an object with a run_id and tasks.")
    _check(plain, RUN_FIELDS, "")
    tasks = _read_tasks(plain.get("tasks") or [])
    finished = _time(plain, "finished")
    started = _time(plain, "started")
    latest = shift(now, _DAY)  # a clock that is wrong by years would stay the newest of all for as long
    known = {field.name for field in RUN_FIELDS}
    return Manifest(
        run_id=_ident(plain["run_id"], "run_id"),
        goal=_text(plain.get("goal")),
        outcome=status_word(_text(plain.get("outcome"))) or _outcome_of(tasks),
        started=min(started, latest) if started else None,
        finished=min(finished, latest) if finished else now,
        tasks=tasks,
        extra={name: value for name, value in plain.items() if name not in known},
    )


def as_json(manifest: Manifest) -> dict[str, Json]:
    """A manifest as it is written down: known fields first, in one order, then the others."""
    tasks: list[Json] = [
        {
            "id": task.id, "worker": task.worker, "description": task.description, "status": task.status,
            "result": task.result, "error": task.error, "duration": task.duration, "tools": list(task.tools),
            "artifacts": list(task.artifacts), **task.extra,
        }
        for task in manifest.tasks
    ]  # fmt: skip
    return {
        "run_id": manifest.run_id, "goal": manifest.goal, "outcome": manifest.outcome, "started": manifest.started,
        "finished": manifest.finished, "tasks": tasks, **manifest.extra,
    }  # fmt: skip


def redacted(manifest: Manifest, redact: Redact) -> tuple[Manifest, int]:
    """The same without secrets, and how many there were. What stands under a name is looked at together with it:
    `password: ...` tells more than its value alone. The run's id must have none: everything else is found by it."""
    if redact(manifest.run_id)[1]:
        raise InvalidManifest("run_id has what looks like a secret in it.", hint="Give the run another id.")
    count = [0]
    clean = _without_secrets(as_json(manifest), "", redact, count)
    assert isinstance(clean, dict)  # noqa: S101 - a manifest is one
    return read_manifest(clean, manifest.finished), count[0]


def _without_secrets(value: Json, name: str, redact: Redact, count: list[int]) -> Json:
    if isinstance(value, str):
        lead = f"{name}: " if name else ""
        text, found = redact(lead + value)
        if found and not text.startswith(lead):
            text, found = redact(value)
            lead = ""
        count[0] += sum(found.values())
        return text[len(lead) :] if found else value
    if isinstance(value, list):
        return [_without_secrets(item, name, redact, count) for item in value]
    if isinstance(value, dict):
        return {
            str(_without_secrets(key, "", redact, count)): _without_secrets(item, key, redact, count)
            for key, item in value.items()
        }
    return value


def _plain(value: object, where: str, left: list[int], depth: int) -> Json:
    """JSON, made of new lists and dicts."""
    if depth > MAX_DEPTH:
        raise InvalidManifest(f"{where} is nested more than {MAX_DEPTH} levels deep.")
    left[0] -= len(value) + 2 if isinstance(value, str) else 2
    if left[0] < 0:
        raise InvalidManifest(
            f"The manifest has more than {MAX_CHARACTERS:,} characters.",
            hint="Keep large results in files of their own, and name those in artifacts.",
        )
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {
            str(_plain(str(name), where, left, depth)): _plain(item, f"{where}.{str(name)[:40]}", left, depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{number}]", left, depth + 1) for number, item in enumerate(value)]
    raise InvalidManifest(
        f"{ascii(where)[1:-1]} is a {type(value).__name__}, which JSON has no word for.", hint="Send it as a text."
    )


def whole(text: str) -> str:
    """A text as a file can hold it: half characters become the sign for a lost one."""
    return str(text) if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _check(given: Mapping[str, Json], fields: Sequence[Field], where: str) -> None:
    for field in fields:
        if field.name not in given:
            if field.required:
                raise InvalidManifest(f"The manifest has no {where}{field.name}.")
            continue
        value = given[field.name]
        if not any(_is(value, kind) for kind in field.kinds):
            raise InvalidManifest(f"{where}{field.name} must be {' or '.join(field.kinds)}.")


def _is(value: Json, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _read_tasks(given: Json) -> tuple[Task, ...]:
    assert isinstance(given, list)  # noqa: S101 - checked with the other fields
    tasks: list[Task] = []
    taken: set[str] = set()
    for number, item in enumerate(given):
        where = f"tasks[{number}]"
        if not isinstance(item, dict):
            raise InvalidManifest(f"{where} must be an object.")
        _check(item, TASK_FIELDS, f"{where}.")
        ident = _free(_task_id(item.get("id"), number, where), taken)
        taken.add(ident)
        tasks.append(_read_task(item, ident, where))
    return tuple(tasks)


def _read_task(item: Mapping[str, Json], ident: str, where: str) -> Task:
    duration = item.get("duration")
    error = item.get("error")
    known = {field.name for field in TASK_FIELDS}
    return Task(
        id=ident,
        worker=_ident(item["worker"], f"{where}.worker"),
        description=_text(item.get("description")),
        status=status_word(_text(item.get("status"))) or ("failed" if error else "done"),
        result=item.get("result"),
        error=error,
        duration=float(duration) if isinstance(duration, (int, float)) else None,
        tools=_items(item, "tools", where),
        artifacts=_items(item, "artifacts", where),
        extra={name: value for name, value in item.items() if name not in known},
    )


def _items(item: Mapping[str, Json], name: str, where: str) -> tuple[Json, ...]:
    values = item.get(name) or []
    assert isinstance(values, list)  # noqa: S101 - checked with the other fields
    for number, value in enumerate(values):
        if not isinstance(value, (str, dict)):
            raise InvalidManifest(f"{where}.{name}[{number}] must be string or object.")
    return tuple(values)


def _task_id(given: Json, number: int, where: str) -> str:
    if given is None or given == "":
        return str(number + 1)
    return _ident(given if isinstance(given, str) else str(given), f"{where}.id")


def _free(ident: str, taken: set[str]) -> str:
    """An id that no task before has: a task that was tried again may come under its old one."""
    number, free = 2, ident
    while free in taken:
        free, number = f"{ident[: MAX_ID - 12]}#{number}", number + 1
    return free


def _ident(value: Json, where: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_ID:
        raise InvalidManifest(f"{where} must be a text of 1 to {MAX_ID:,} characters.")
    return value


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _time(given: Mapping[str, Json], name: str) -> str | None:
    text = _text(given.get(name))
    if not text:
        return None
    try:
        return read_time(text)
    except InvalidField as error:
        raise InvalidManifest(f"{name}: {error.message}", hint=error.hint) from None


def status_word(word: str) -> str:
    """One word for each way a task can end: those of many frameworks as ours, others as they are."""
    plain = "-".join(_WORD.findall(word.lower().replace("_", "-")))[:40]
    return next((known for known, words in _SAME_STATUS.items() if plain in words), plain)


def _outcome_of(tasks: Sequence[Task]) -> str:
    statuses = {task.status for task in tasks}
    if "failed" in statuses:
        return "partial" if "done" in statuses else "failed"
    return "done" if not statuses or "done" in statuses else min(statuses)


def schema() -> dict[str, object]:
    """The published JSON Schema of a manifest."""
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


def _object_schema(about: str, fields: Sequence[Field]) -> dict[str, object]:
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
