"""The fields of a manifest. Pure.

One table gives both the published schema (docs/run-manifest.schema.json) and the check of what arrives, so that the two
cannot differ.
"""

from collections.abc import Sequence
from typing import NamedTuple

VERSION = 1
MAX_ID = 1_000
_ANYTHING = ("string", "number", "boolean", "array", "object", "null")


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
