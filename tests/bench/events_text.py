"""What is planted in the mailbox of `events_maker`: events, questions, dates, and the names that are topics or look so.

The sentences stand in events_set.txt, each written by hand, as people write, before there was a rule that could find
it. Its telling words are enough to recognise it: the first one is a proper noun that stands nowhere else in a mailbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

EVENT_KINDS = ("decision", "deadline", "promise", "incident", "release", "hire", "answer")
LANGUAGES = ("en", "de", "fr", "es")
TopicKind = Literal["name", "ticket", "path", "url", "identifier"]


class PlantedText(NamedTuple):
    """An event, a question or a date, as one sentence says it."""

    kind: str  # one of EVENT_KINDS, or the part of the file
    language: str
    title: str  # of the thread; "" for any
    sentence: str  # {date} is a day so many `days` from the mail, {first} is who it is for
    words: tuple[str, ...]  # two or three by which it can be recognised
    other: str  # what was asked before an event of the kind "answer", or the answer to a question
    days: int  # negative for the past


class TopicText(NamedTuple):
    """A thing that many people write about."""

    name: str
    kind: TopicKind
    group: str  # which of `events_talk.TOPIC_TALK` is about it


def _read_parts() -> Iterator[tuple[str, PlantedText]]:
    """Yield each sentence of the file with the part in which it stands."""
    part, block = "", list[str]()
    for line in [*Path(__file__).with_name("events_set.txt").read_text("utf-8").splitlines(), ""]:
        if block and not line.startswith("  "):
            yield part, _read_block(block, part)
            block = []
        if line.startswith("["):
            part = line.strip("[]")
        elif line and not line.startswith("#"):
            block.append(line.strip())
    assert not block


def _read_block(block: list[str], part: str) -> PlantedText:
    kind, days, title, words = (cell.strip() for cell in block[0].split("|"))
    language = part.partition(" ")[2] or "en"
    other = block[2] if len(block) > 2 else ""
    return PlantedText(kind, language, title, block[1], tuple(words.split(" / ")), other, int(days or 0))


def _read_all() -> Mapping[str, tuple[PlantedText, ...]]:
    parts: dict[str, list[PlantedText]] = {}
    for part, text in _read_parts():
        parts.setdefault(part.partition(" ")[0], []).append(text)
    return {part: tuple(texts) for part, texts in parts.items()}


# By part: "events"; "open" and "answered", which the owner is asked; "others", of which the owner gets a copy;
# "dates" ahead, and "past" ones.
PLANTED = _read_all()
TOPICS: tuple[TopicText, ...] = (
    TopicText("Kittiwake", "name", "work"),
    TopicText("Tessellate", "name", "work"),
    TopicText("Orbweaver", "name", "work"),
    TopicText("Vantaa", "name", "people"),
    TopicText("Marlow Dairy", "name", "people"),
    TopicText("Copper Lane", "name", "people"),
    TopicText("OPS-4127", "ticket", "ticket"),
    TopicText("BILL-388", "ticket", "ticket"),
    TopicText("deploy/gateway/routes.yaml", "path", "file"),
    TopicText("https://wiki.lumen.example.org/runbooks/failover", "url", "page"),
    TopicText("retry_budget_ms", "identifier", "code"),
    TopicText("SettlementBatcher", "identifier", "code"),
)
ONE_AUTHOR, MOSTLY_ONE, ONE_DAY = "Pelican", "Bramble", "Corvid"  # names that are no topics
BRANDS = ("Brindlewood", "Sparfuchs")  # of newsletters
