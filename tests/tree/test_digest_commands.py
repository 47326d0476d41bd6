"""Digests, summaries and topics on the command line, as scripts and people read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import run
from tests.tree.conftest import write_mbox

PEOPLE = ("Ann Lee <ann@example.org>", "Bob Roe <bob@example.org>", "Cleo Wu <cleo@example.com>", "Dev Rao <dev@x.org>")


def month_of_mail() -> tuple[tuple[str, ...], ...]:
    """Return mails of four weeks in October 2026: each thread has three, and all speak of Project Atlas."""
    found = []
    for number in range(24):
        thread, day = number // 3, 1 + number
        first = f"{3 * thread}"
        found.append((
            str(number), first if number % 3 else "", PEOPLE[number % 4], "ann@example.org",
            f"{day} Oct 2026 09:00:00 +0000", f"{'Re: ' if number % 3 else ''}Step {thread} of the move",
            f"We decided to move part {number} of Project Atlas to Frankfurt. The rest of Project Atlas stays for now.",
        ))  # fmt: skip
    return tuple(found)


@pytest.fixture
def filled(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TZ", "UTC")
    mail = write_mbox(tmp_path / "mail.mbox", month_of_mail())
    assert run("--root", str(root), "ingest", str(mail), "--me", "ann@example.org").status == 0
    return root


def ask(root: Path, *words: str) -> Any:
    done = run("--root", str(root), *words, "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_a_digest_answers_as_scripts_expect(filled: Path) -> None:
    """The digest of a day has the fields of the contract, names the messages of that day alone, and its first hit is a
    node from which one goes down to every message of the day."""
    found = ask(filled, "digest", "day", "--date", "2026-10-05")
    assert list(found) == ["period", "start", "end", "text", "hits", "truncated"]
    assert (found["period"], found["start"], found["end"]) == ("day", "2026-10-05", "2026-10-05")
    assert "We decided to move part 4 of Project Atlas to Frankfurt." in found["text"]
    assert not any(f"part {other} " in found["text"] for other in range(24) if other != 4)
    node, *units = found["hits"]
    assert (node["kind"], node["ref"]) == ("digest", "digest-2026-10-05")
    below = ask(filled, "tree", "drill-down", node["ref"])
    assert [hit["ref"] for hit in below["hits"]] == [unit["ref"] for unit in units] == node["child_ids"]
    assert list(below) == ["hits", "total", "truncated", "notice"][: len(below)]


@pytest.mark.parametrize(
    ("period", "start", "end", "parts"),
    [
        ("week", "2026-10-05", "2026-10-11", 7),
        ("month", "2026-10-01", "2026-10-31", 24),
        ("year", "2026-01-01", "2026-12-31", 1),
    ],
)
def test_longer_digests_are_made_of_shorter_ones(filled: Path, period: str, start: str, end: str, parts: int) -> None:
    """The digest of a week or month goes down to the days on which something happened, that of a year to months."""
    found = ask(filled, "digest", period, "--date", "2026-10-07")
    assert (found["start"], found["end"]) == (start, end)
    below = ask(filled, "tree", "drill-down", found["hits"][0]["ref"], "--limit", "100")
    assert (below["total"], below["truncated"]) == (parts, False)
    assert {hit["kind"] for hit in below["hits"]} == {"digest"}


def test_a_day_without_mail_is_empty(filled: Path) -> None:
    """On a day on which nothing happened the text is empty, and a person is told when the last messages were."""
    done = run("--root", str(filled), "digest", "day", "--date", "2026-11-15", "--json")
    assert done.status == 1
    assert json.loads(done.out) == {
        "period": "day", "start": "2026-11-15", "end": "2026-11-15", "text": "", "hits": [], "truncated": False
    }  # fmt: skip
    assert "2026-10-24" in run("--root", str(filled), "digest", "--date", "2026-11-15").err


def test_a_name_that_many_use_is_a_topic(filled: Path) -> None:
    """What ten messages in three threads mention is a topic, with a page that its entity leads to; its own name and the
    user's are none."""
    topics = ask(filled, "tree", "topics")["topics"]
    found = next(topic for topic in topics if topic["title"] == "Project Atlas")
    assert (found["entity_id"], found["units"]) == ("name:project atlas", 24)
    assert not [topic for topic in topics if "ann" in topic["entity_id"] or topic["entity_id"] == "name:atlas"]
    first = ask(filled, "tree", "query-topic", "name:project atlas")["hits"][0]
    assert (first["ref"], first["kind"], first["topics"]) == (found["id"], "summary", [found["id"]])
    assert ask(filled, "tree", "drill-down", found["id"], "--limit", "100")["total"] == 24


def test_summaries_are_found_drawn_and_gone_down(filled: Path) -> None:
    """A summary is found by recall, opened by show, drawn with its leaves, and leads to every message below it."""
    drawing = ask(filled, "tree", "show")
    (top,) = [node for node in drawing["nodes"] if not node["parent"]]
    assert (top["units"], drawing["waiting"]) == (24, [{"source": "mail", "leaves": 0}])
    hits = ask(filled, "recall", "--kinds", "summary", "which parts of Atlas move to Frankfurt")["hits"]
    assert hits[0]["ref"] in {node["id"] for node in drawing["nodes"]}
    assert run("--root", str(filled), "show", top["id"]).status == 0
    units = [
        hit for hit in ask(filled, "tree", "drill-down", top["id"], "--depth", "3", "--limit", "100")["hits"]
        if hit["ref"].startswith("u-")
    ]  # fmt: skip
    assert len({hit["ref"] for hit in units}) == 24
    counts = ask(filled, "tree", "status")
    assert list(counts) == ["leaves", "units", "summaries", "entities", "sources", "pending"]
    assert (counts["units"], counts["summaries"], counts["pending"]) == (24, len(drawing["nodes"]), 0)


def test_a_list_may_be_given_in_several_options(root: Path, tmp_path: Path) -> None:
    """Addresses of the user that stand in options of their own are all the user's."""
    mail = write_mbox(tmp_path / "mail.mbox", month_of_mail()[:1])
    words = ("--me", "ann@example.org", "--me", "Ann Lee,A. Lee")
    assert run("--root", str(root), "ingest", str(mail), *words).status == 0
    assert "me: [ann@example.org, Ann Lee, A. Lee]" in (root / "tree" / "mail" / "_source.md").read_text()


def test_settling_again_does_nothing(filled: Path) -> None:
    """After an ingest nothing is left to do."""
    assert ask(filled, "tree", "settle") == {"sealed": 0, "digests": 0, "topics": 0, "pending": 0}
