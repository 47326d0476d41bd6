"""Exports of Slack."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidField
from commonplace.tree.readers import slack
from commonplace.tree.source import Person, ReadOptions, SourceUnit
from commonplace.vault.named_files import open_files
from tests.tree.chat_sources import BERLIN, damaged, matches, read_all, twisted

ANN, BOB = Person("Ann Miller", "ann@example.org"), Person("Bob", "bob")
TS = "1794781800.000100"  # 2026-11-15T22:30:00Z: the next day is near in Berlin
LATE = "1794785400.000200"  # an hour later: the next day in Berlin
USERS = [
    {"id": "U1", "team_id": "T1", "name": "ann", "profile": {"real_name": "Ann Miller", "email": "Ann@Example.org"}},
    {"id": "U2", "team_id": "T1", "name": "bob", "real_name": "Bob"},
    {"id": "U3", "team_id": "T2", "name": "helper", "is_bot": True, "profile": {"real_name": "Helper"}},
]


def message(text: str, ts: str = TS, user: str = "U1", **more: object) -> dict[str, object]:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


def export(*messages: object, **more: object) -> dict[str, bytes]:
    files = {
        "users.json": USERS,
        "channels.json": [{"id": "C1", "name": "general", "members": ["U1", "U2"]}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "mpims.json": [{"id": "G1", "name": "mpdm-ann--bob-1", "members": ["U1", "U2"]}],
        "general/2026-11-15.json": list(messages),
        **more,
    }
    return {name: json.dumps(value).encode() for name, value in files.items()}


def read(*messages: object, options: ReadOptions = BERLIN, **more: Any) -> list[SourceUnit]:
    units, skipped = read_all(slack, export(*messages, **more), options)
    assert skipped == []
    return units


def test_a_message_has_its_author_channel_and_day() -> None:
    """A message says who wrote it where and when, by names; its day is that of the source's zone."""
    first, late = read(message("Hello."), message("Late.", LATE, "U2"))
    assert (first.author, first.title, first.text) == (ANN, "#general", "Hello.")
    assert (first.native_id, first.occurred) == (f"slack:T1/C1/{TS}", "2026-11-15T22:30:00Z")
    assert first.place == "general/2026-11-15.json, message 1"
    assert (first.thread, late.thread) == ("general/2026-11-15", "general/2026-11-16")
    assert late.author == BOB
    assert read(message("Late.", LATE), options=ReadOptions(timezone="UTC"))[0].thread == "general/2026-11-15"


def test_answers_belong_to_their_thread() -> None:
    """What is in a thread of Slack is one thread, also if it is sent to the channel, and answers the first message."""
    units = read(
        message("A question.", thread_ts=TS),
        message("An answer.", LATE, "U2", thread_ts=TS, subtype="thread_broadcast"),
    )
    assert {unit.thread for unit in units} == {f"general/{TS}"}
    assert [unit.parents for unit in units] == [(), (f"slack:T1/C1/{TS}",)]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<@U1> and <@U9> and <@U9|zoe>", "@Ann Miller and @U9 and @zoe"),
        ("see <#C1> and <#C9|other>", "see #general and #other"),
        ("<!here> <!channel|@channel> <!subteam^S1|@devs> <!subteam^S1>", "@here @channel @devs @subteam"),
        ("<!date^1794781800^{date}|15 Nov>", "15 Nov"),
        ("<https://a.org/x|the page>", "the page (https://a.org/x)"),
        ("<https://a.org/x> <https://a.org|a.org>", "https://a.org/x https://a.org"),
        ("<mailto:a@b.org|a@b.org>", "a@b.org"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;", "1 < 2 && 3 > 2 &lt;"),
        ("a <b c", "a <b c"),
    ],
)
def test_markup_is_decoded(written: str, shown: str) -> None:
    """Ids become names, links keep their address, and the three characters that Slack escapes are themselves."""
    assert [unit.text for unit in read(message(written))] == [shown]


def test_what_nobody_said_is_no_unit() -> None:
    """Who joined, a new topic, what was deleted and what is empty are neither units nor failures."""
    noise = ("channel_join", "channel_leave", "channel_topic", "pinned_item", "tombstone", "bot_add", "huddle_thread")
    assert (
        read(*(message("<@U1> did it.", subtype=kind) for kind in noise), message(""), message("x", hidden=True)) == []
    )


def test_bots_are_marked_and_their_blocks_read() -> None:
    """A bot's text may be in blocks or attachments; where there is text, an attachment is the preview of a link."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "Build <https://ci.org/1|1> failed"}}
    fields = {"type": "section", "fields": [{"type": "plain_text", "text": text} for text in ("On", "main")]}
    spans = [{"type": "text", "text": "Ask "}, {"type": "user", "user_id": "U2"}, {"type": "emoji", "name": "tada"}]
    rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": spans}]}
    units = read(
        message("", user="", subtype="bot_message", username="CI", bot_id="B1", blocks=[section, fields, rich]),
        message("", user="U3", attachments=[{"title": "Deployed", "fields": [{"title": "To", "value": "live"}]}]),
        message("", user="", bot_id="B2", bot_profile={"name": "Polls"}, attachments=[{"fallback": "Vote!"}]),
        message("See <https://a.org>", attachments=[{"title": "A page", "text": "A preview."}]),
        message("From an app of hers.", bot_id="B3"),
    )
    assert [unit.text for unit in units] == [
        "Build 1 (https://ci.org/1) failed\nOn\nmain\nAsk @Bob:tada:",
        "Deployed\nTo: live",
        "Vote!",
        "See https://a.org",
        "From an app of hers.",
    ]
    assert [unit.author.name for unit in units] == ["CI", "Helper", "Polls", "Ann Miller", "Ann Miller"]
    assert [unit.signals for unit in units] == [{"bot"}] * 3 + [set()] * 2


def test_files_and_edits() -> None:
    """Names of files are attachments, also of a message without text; of an edited message the new text counts."""
    units = read(
        message("", files=[{"name": "plan.pdf"}, {"title": "Sketch"}, {"mode": "tombstone"}]),
        message("New.", LATE, edited={"user": "U1", "ts": LATE}),
        {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "ts": "9.0",
            "message": message("Newer.", LATE),
        },
    )
    assert [(unit.text, unit.attachments) for unit in units] == [
        ("", ("plan.pdf", "Sketch")),
        ("New.", ()),
        ("Newer.", ()),
    ]
    assert units[1].native_id == units[2].native_id


def test_direct_messages_are_named_for_their_people() -> None:
    """A direct conversation has the names of its people as title, and the others as recipients."""
    day: dict[str, Any] = {f"{folder}/2026-11-15.json": [message("Psst.")] for folder in ("D1", "mpdm-ann--bob-1")}
    one, group = read(**day)
    assert (one.title, group.title) == ("Ann Miller, Bob", "Ann Miller, Bob")
    assert (one.recipients, one.thread, one.native_id) == ((BOB,), "D1/2026-11-15", f"slack:T1/D1/{TS}")
    assert group.native_id == f"slack:T1/G1/{TS}"


def test_what_the_user_sent_is_marked() -> None:
    """The user is known by name or address, whatever its case is there."""
    for me in ("ann miller", "ann@example.org"):
        units = read(message("Mine."), message("His.", LATE, "U2"), options=ReadOptions(frozenset({me}), "UTC"))
        assert [unit.signals for unit in units] == [{"sent"}, set()]


def test_a_broken_message_costs_only_itself() -> None:
    """What cannot be read is named, and the rest of the day, and the other lists, are there."""
    files = export(message("One."), message("Two.", LATE), **{"locked/2026-11-15.json": []})
    good = files["general/2026-11-15.json"]
    files["general/2026-11-15.json"] = good.replace(b"}, {", b'}, 7, {"type": "message", "ts": oops}, {')
    files["channels.json"] = b"[{]"
    units, skipped = read_all(slack, files)
    assert [unit.text for unit in units] == ["One.", "Two."]
    assert [unit.native_id for unit in units] == [f"slack:T1/general/{TS}", f"slack:T1/general/{LATE}"]
    assert [(item.place, item.reason) for item in skipped] == [
        ("channels.json, item 1", "unreadable"),
        ("general/2026-11-15.json, message 2", "unreadable"),
        ("general/2026-11-15.json, message 3", "unreadable"),
        ("locked/2026-11-15.json, message 1", "unreadable"),
    ]


def test_a_zip_with_one_folder_in_it(tmp_path: Path) -> None:
    """An export that was packed again, in a folder of its own, is read as the original."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in export(message("Hello <@U2>.")).items():
            packed.writestr(f"export/{name}", data)
    with open_files(str(path)) as files:
        assert slack.matches(files)
        units, skipped = read_all(slack, files)
    assert [(unit.text, unit.native_id) for unit in units] == [("Hello @Bob.", f"slack:T1/C1/{TS}")]
    assert skipped == []


def test_it_knows_its_own() -> None:
    """A single channel is enough; days of other JSON, and notes of a day, are no export of Slack."""
    assert matches(slack, export(message("Hello.")))
    assert matches(slack, {"general/2026-11-15.json": json.dumps([message("Hello.")], indent=4).encode()})
    others = (
        {"runs/2026-11-15.json": b'[{"type": "run", "ts": "1.5"}]'},
        {"a/2026-11-15.md": b"# A"},
        {"users.json": b"[]"},
    )
    for other in (*others, {"general/2026-11-15.json": b""}, {"2026-11-15.json": json.dumps([message("x")]).encode()}):
        assert not matches(slack, other)


def test_an_unknown_zone_is_an_error() -> None:
    """A zone that does not exist is said before anything is read."""
    for zone in ("Europe/Atlantis", "../../etc/passwd", "Europe", "\0"):
        with pytest.raises(InvalidField):
            read_all(slack, export(message("Hello.")), ReadOptions(timezone=zone))


BLOCKS = [{"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": [{"type": "text", "text": "a"}]}]}]
FULL = message("<@U1> &amp; <https://a.org|a>", thread_ts=TS, files=[{"name": "a"}], user_profile={"name": "x"})
BOT = message("", user="", subtype="bot_message", bot_id="B", blocks=BLOCKS, attachments=[{"fields": [{"title": "a"}]}])


@given(st.data())
def test_damaged_exports_are_read(data: st.DataObject) -> None:
    """Cut, doubled and overwritten bytes raise nothing, and neither do values of other types."""
    files = export(FULL, BOT)
    name = data.draw(st.sampled_from(sorted(files)))
    read_all(slack, {**files, name: data.draw(damaged(files[name]))})
    odd = json.loads(files[name])
    units, _ = read_all(slack, {**files, name: json.dumps([data.draw(twisted(odd)), *odd]).encode()})
    assert units
    read_all(slack, {**files, name: json.dumps(data.draw(twisted(odd))).encode()})


def test_blocks_in_blocks_end() -> None:
    """Blocks nested deeper than any message are cut, and raise nothing."""
    deep: dict[str, object] = {"type": "mrkdwn", "text": "deep"}
    for _ in range(300):
        deep = {"type": "section", "elements": [deep]}
    assert read(message("", blocks=[deep, {"type": "markdown", "text": "flat"}]))[0].text == "flat"
