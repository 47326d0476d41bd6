"""Ordinary sentences for the mailbox of `events_maker`, read from events_talk.txt. `events_prose` fills their slots."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class TalkTable(NamedTuple):
    """The sentences of one language, and what surrounds them."""

    sentences: tuple[str, ...]
    questions: tuple[str, ...]
    greetings: tuple[str, ...]  # "" for none
    closings: tuple[str, ...]
    things: tuple[str, ...]
    days: tuple[str, ...]
    titles: tuple[str, ...]
    openers: tuple[str, ...] = ()


def _read_parts() -> Mapping[str, tuple[str, ...]]:
    """Return the lines of the file by part."""
    parts: dict[str, list[str]] = {}
    name = ""
    for line in Path(__file__).with_name("events_talk.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and "/" not in line:
            name = line.strip("[]")
        elif line and not line.startswith("#"):
            parts.setdefault(name, []).append("" if line == "-" else line)
    return {part: tuple(lines) for part, lines in parts.items()}


_PARTS = _read_parts()
TALK: Mapping[str, TalkTable] = {
    language: TalkTable(*(_PARTS.get(f"{language} {part}", ()) for part in TalkTable._fields))
    for language in ("en", "de", "fr", "es")
}
TOWNS = _PARTS["towns"]
TOPIC_TALK: Mapping[str, tuple[str, ...]] = {  # what is said of topics, by the group that `events_text` names
    part.removeprefix("topic "): lines for part, lines in _PARTS.items() if part.startswith("topic ")
}
NEWSLETTER_LINES = _PARTS["newsletter"]
