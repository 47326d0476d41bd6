"""The measures of digests tell a right answer from a wrong one; how good the tree's own answers are does not matter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from tests.bench.digest_commands import (
    BookCommands,
    CommandFailed,
    read_section,
    read_summary,
    scratch_commands,
)
from tests.bench.digest_locomo import measure_locomo
from tests.bench.digest_measures import EventsBook, is_named, measure_digests, measure_topics
from tests.bench.digest_quality import SET_END, choose_end, main
from tests.bench.digest_summaries import first_sentence, measure_drill_down, measure_summaries
from tests.bench.events_maker import EventsTruth, make_events_mailbox

NOTHING = {"text": "", "hits": [], "start": "", "end": "", "truncated": False}


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> EventsTruth:
    return make_events_mailbox(tmp_path_factory.mktemp("events") / "mail.mbox", messages=1_500)


class TruthCommands(BookCommands):
    """Answers as the contract says, made from the truth: what a page would say that misses nothing."""

    def __init__(self, truth: EventsTruth) -> None:
        super().__init__(Path("none"))
        self.truth = truth

    def ask(self, *words: str) -> Any:
        """Answer a command."""
        if words[:2] == ("tree", "topics"):
            rows = [{"name": topic.name, "entity_id": f"{topic.kind}:{topic.name}"} for topic in self.truth.topics]
            return {"topics": [*rows, {"name": "Priya Raman", "entity_id": "person:priya@example.org"}]}
        if words[:2] == ("tree", "drill-down"):
            return {"hits": self._units(words[2].removeprefix("digest-")), "total": 1, "truncated": False}
        if words[0] != "digest":
            return NOTHING
        day = date.fromisoformat(words[3])
        days = {day} if words[1] == "day" else {day - timedelta(days=day.weekday() - n) for n in range(7)}
        name = str(min(days)) if len(days) == 1 else f"week-{min(days)}"
        hits = (
            [{"ref": f"digest-{name}", "kind": "digest", "text": "", "sources": []}]
            if min(days) >= self.truth.start
            else []
        )
        return {**NOTHING, "text": "\n".join(self.page(days)), "hits": hits}

    def page(self, days: set[date]) -> Iterator[str]:
        """Yield the lines of the page of some days."""
        yield "# A page"
        yield from (f"- {event.sentence[:200]}" for event in self.truth.events if event.day in days)
        yield "## Questions to you without an answer"
        yield from (f"- {one.sentence}" for one in self.truth.questions if one.day in days and one.is_open)
        yield "## Dates ahead"
        yield from (f"- {one.named} {one.sentence}" for one in self.truth.dates if one.day in days and one.is_ahead)
        yield "New people: " + ", ".join(one.name for one in self.truth.newcomers if one.day in days)

    def _units(self, day: str) -> list[dict[str, object]]:
        return [
            {"ref": "u-1", "kind": "leaf", "sources": [f"u-1 · mail:{one.message_id}"]}
            for one in self.truth.messages
            if str(one.day) == day
        ]


class WrongCommands(TruthCommands):
    """Answers that say the opposite: other days, what was answered, what is past, who is known, what is no topic."""

    def ask(self, *words: str) -> Any:
        """Answer a command."""
        if words[:2] == ("tree", "topics"):
            return [{"name": decoy.name, "entity": f"name:{decoy.name}"} for decoy in self.truth.decoys[:5]]
        if words[:2] == ("tree", "drill-down"):
            return {"hits": [], "total": 0, "truncated": False}
        answer = super().ask(*words)
        if words[0] == "digest":
            first = next(message for message in self.truth.messages if message.role == "event")
            answer = {**answer, "hits": self._units(str(first.day))}
        return answer

    def page(self, days: set[date]) -> Iterator[str]:
        """Yield the lines of the page of some days."""
        yield from (f"- {event.sentence}" for event in self.truth.events if event.day not in days)
        machine = next(one for one in self.truth.messages if one.role == "machine")
        yield " ".join(machine.own)
        yield "## Unanswered questions"
        yield from (f"- {one.sentence}" for one in self.truth.questions if one.day in days and not one.is_open)
        yield "## Dates ahead"
        yield from (f"- {one.sentence}" for one in self.truth.dates if one.day in days and not one.is_ahead)
        yield f"New people: {self.truth.regulars[0]}"


def test_a_page_that_misses_nothing_meets_everything(truth: EventsTruth) -> None:
    """Answers with all that is true, and nothing else, meet every row of digests, topics and drill-down."""
    book = EventsBook(TruthCommands(truth), truth)
    rows = [*measure_digests(book), *measure_topics(book), *measure_drill_down(book)]
    assert [row for row in rows if row.is_met is False] == []
    found = {row.name: row.found for row in rows}
    assert found["events that the digest of their day names"] == found["events that the digest of their week names"]
    assert found["events that the digest of their day names"] == "60 of 60"
    assert found["topics found"] == "12 of 12" and found["people among the topics"] == "1"
    assert found["drill-down from the digest reaches the unit"] == "60 of 60"


def test_a_page_that_is_wrong_misses_everything(truth: EventsTruth) -> None:
    """Answers with other days, answered questions, past dates, known people and no topics miss every row."""
    book = EventsBook(WrongCommands(truth), truth)
    rows = [*measure_digests(book), *measure_topics(book), *measure_drill_down(book)]
    met = {row.name for row in rows if row.is_met}
    assert met == {"query-global of 7 days, hits outside"}  # it answered nothing
    assert all(
        row.misses for row in rows if row.is_met is False and "empty" not in row.name and "people" not in row.name
    )


def test_words_are_near_each_other() -> None:
    """An event is named where its words stand near each other, in any case and over line ends."""
    assert is_named("- Ann: we move the\n  CLUSTER to Frankfurt", ("Frankfurt", "cluster"))
    assert not is_named("Frankfurt" + " word" * 90 + " cluster", ("Frankfurt", "cluster"))
    assert not is_named("the cluster", ("Frankfurt", "cluster"))


def test_parts_of_a_digest_are_found_by_their_headings() -> None:
    """A part ends at the next heading, may stand on the line of its heading, and no title of a thread is one."""
    text = (
        "## Question about the rota\n- x\n## Waiting for you\n- Who pays?\n\n"
        "**Dates ahead**\n- 3 May: fair\nNew people: Ann Lee\n- none"
    )
    assert read_section(text, "questions").strip() == "- Who pays?"
    assert read_section(text, "dates").strip() == "- 3 May: fair"
    assert "Ann Lee" in read_section(text, "people")
    assert read_section("all quiet", "people") == ""


def test_the_first_sentence_follows_the_greeting() -> None:
    """The floor takes the first whole sentence of a message and not its greeting."""
    assert first_sentence("Hi Ann,\n\nIt moves\non Friday. More later.\n\nBob") == "It moves on Friday."
    assert first_sentence("Version 3.2 is out. Good.") == "Version 3.2 is out."


@pytest.mark.deep
def test_summaries_are_checked_against_the_units(tmp_path: Path) -> None:
    """Sentences are compared with the units of a real book; one that is invented, and one without a unit, are told."""
    truth = make_events_mailbox(tmp_path / "mail.mbox", messages=1_200)
    with Book.open(tmp_path / "book", project="bench") as opened:
        opened.ingest(str(tmp_path / "mail.mbox"), name="mail")
        hits = {
            hit.sources[0].partition(" · ")[2]: hit
            for hit in opened.query_source(query="cluster Frankfurt", limit=9).hits
        }
    event = next(one for one in truth.events if f"mail:{one.message_id}" in hits)
    unit = hits[f"mail:{event.message_id}"].ref
    folder = tmp_path / "book" / "tree" / "mail" / "summary"
    for made in folder.glob("L*.md"):  # by the ingest: what is checked is written here
        made.unlink()
    note = folder / "L1-0123456789.md"
    head = f"---\nlevel: 1\nchildren: [{unit}]\n---\n# mail\n\n"
    note.write_text(f"{head}- {event.sentence} [{unit}]\n", "utf-8")
    with scratch_commands(tmp_path / "book", "UTC") as commands:
        book = EventsBook(commands, truth)
        rows = {row.name: row for row in measure_summaries(book)}
        assert rows["sentences of summaries that are in their units"].is_met, rows
        assert rows["summaries that are longer than their input"].is_met, rows
        assert rows["events that they name"].found.startswith(rows["events below level-1 summaries"].found[:1])
        note.write_text(f"{head}- We sold the moon. [{unit}]\nAnd more.\n", "utf-8")
        wrong = next(row for row in measure_summaries(book) if row.name.startswith("sentences"))
        assert not wrong.is_met and len(wrong.misses) == 2


@pytest.mark.parametrize(
    "line",
    [
        "- It moves to Porto. (u-00000000000000000001)",
        "It moves to Porto. [^1]: u-00000000000000000001 · mail:<1@example.org>",
        "* It moves to Porto. `u-00000000000000000001`".replace("`", ""),
        "- [u-00000000000000000001] It moves to Porto.",
    ],
)
def test_sentences_of_summaries_are_read(tmp_path: Path, line: str) -> None:
    """A sentence is read with its unit, however the unit is named beside it."""
    path = tmp_path / "L2-abc.md"
    path.write_text(f"---\nchildren: [L1-a, L1-b]\n---\n# Title\n<!-- entry id=1 -->\n{line}\n", "utf-8")
    note = read_summary(path)
    assert note.sentences == (("u-00000000000000000001", "It moves to Porto."),) and note.others == ()
    assert note.level == 2 and note.children == ("L1-a", "L1-b")


@pytest.mark.deep
def test_a_part_that_breaks_is_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command measures a real book to its end; without the data of LoCoMo that part is left out and says so."""
    assert (
        main(["--json", "--only", "summaries", "--only", "locomo", "--messages", "1200", "--keep", str(tmp_path)]) == 0
    )
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["locomo-dev as chat"]["found"].startswith("left out")
    ingested = next(row for name, row in rows.items() if "messages ingested" in name)
    assert ingested["found"] == "1200 of 1200"
    with scratch_commands(tmp_path / "book", "UTC") as commands, pytest.raises(CommandFailed):
        commands.ask("no-such-command")
    assert [row.is_met for row in measure_locomo(tmp_path, tmp_path)] == [None]


def test_the_mailbox_ends_not_long_ago() -> None:
    """The set ends on its day, and yesterday where that day is long ago: topics and windows count from today."""
    assert choose_end(SET_END + timedelta(days=3)) == SET_END
    assert choose_end(date(2028, 2, 1)) == date(2028, 1, 31)
    assert choose_end(date(2026, 1, 1)) == date(2025, 12, 31)
