"""Chats that WhatsApp exported."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidField
from commonplace.tree.readers import whatsapp
from commonplace.tree.readers.whatsapp_dates import split_head
from commonplace.tree.source import Person, ReadOptions, SourceUnit
from commonplace.vault.named_files import open_files
from tests.tree.chat_sources import BERLIN, damaged, matches, read_all

NAME = "WhatsApp Chat with Ann.txt"


def read(text: str, options: ReadOptions = BERLIN, name: str = NAME) -> list[SourceUnit]:
    units, skipped = read_all(whatsapp, {name: text.encode()}, options)
    assert skipped == []
    return units


def times(*lines: str) -> list[str]:
    return [unit.occurred for unit in read("\n".join(lines), ReadOptions(timezone="UTC"))]


@pytest.mark.parametrize(
    "line",
    [
        "[15.11.26, 21:30:12] Ann: Hi",
        "\u200e[15/11/2026, 21:30:12] Ann: Hi",
        "[11/15/26, 9:30:12\u202fPM] Ann: Hi",
        "[15/11/2026, 9:30:12\u00a0p.\u00a0m.] ~\u202fAnn: Hi",
        "[2026-11-15, 21:30:12] Ann: Hi",
        "[2026/11/15 下午9:30:12] Ann: Hi",
        "[2026. 11. 15. 오후 9:30:12] Ann: Hi",
        "[15.11.2569, 21:30:12] Ann: Hi",
        "[15.11.2026 klo 21.30.12] Ann: Hi",
        "\ufeff[2026. 11. 15. 21:30:12] Ann: Hi",
        "15/11/2026, 21:30 - Ann: Hi",
        "11/15/26, 9:30\u202fPM - Ann: Hi",
        "15.11.26, 21:30 - Ann: Hi",
        "15-11-2026 21:30 - Ann: Hi",
        "15/11/26 21.30 - Ann: Hi",
        "15.11.26 г., 21:30 ч. - Ann: Hi",
        "15/11/2026 à 21:30 - Ann: Hi",
        "2026-11-15 9:30 p. m. - Ann: Hi",
        "2026年11月15日 21:30 - Ann: Hi",
        "2026년 11월 15일 오후 9:30, Ann : Hi",
        "2026. 11. 15. 오후 9:30, Ann : Hi",
        "15/11/2026, 9:30 μ.μ. - Ann: Hi",
        "\u200f15\u200f/11\u200f/2026، 9:30 م - Ann: Hi",
        "١٥/١١/٢٠٢٦، ٩:٣٠ م - Ann: Hi",
        "۲۰۲۶/۱۱/۱۵،\u200f ۲۱:۳۰ - Ann: Hi",
        "१५/११/२०२६, ९:३० अपराह्न - Ann: Hi",
        "2026/11/15 下午9:30 - Ann: Hi",
        "15.11.2026, 21:30 - \u202aAnn\u202c: Hi",
    ],
)
def test_dates_of_every_region(line: str) -> None:
    """Whatever order, digits, marks and words for the halves of the day a phone uses, the time is the same."""
    (unit,) = read(line)
    assert (unit.author, unit.text) == (Person("Ann"), "Hi")
    assert unit.occurred[:16] == "2026-11-15T20:30"
    assert (unit.offset, unit.thread, unit.title) == (60, "Ann/2026-11-15", "Ann")
    assert unit.native_id == ""
    assert matches(whatsapp, {NAME: line.encode()})


def test_a_number_above_12_is_no_month() -> None:
    """One date decides for the whole file, also for those before it."""
    assert times("4/3/26, 10:00 - Ann: a", "4/13/26, 10:00 - Ann: b")[0] == "2026-04-03T10:00:00Z"
    assert times("4/3/26, 10:00 AM - Ann: a", "13/3/26, 10:00 AM - Ann: b")[0] == "2026-03-04T10:00:00Z"


def test_days_do_not_go_back() -> None:
    """Where every number may be a month, the order counts in which the days follow one another."""
    assert times("1/2/26, 10:00 - Ann: a", "2/1/26, 10:00 - Ann: b") == ["2026-01-02T10:00:00Z", "2026-02-01T10:00:00Z"]
    assert times("2/1/26, 9:00 AM - Ann: a", "1/2/26, 9:00 AM - Ann: b")[1] == "2026-02-01T09:00:00Z"


def test_else_the_region_decides() -> None:
    """A date alone has the day first, but for the form that the US have."""
    assert times("4/3/26, 9:30 PM - Ann: a") == ["2026-04-03T21:30:00Z"]
    for line in ("04/03/2026, 9:30 pm - Ann: a", "4/3/26, 21:30 - Ann: a", "4.3.26, 9:30 PM - Ann: a"):
        assert times(line) == ["2026-03-04T21:30:00Z"]


def test_the_halves_of_the_day() -> None:
    """Twelve is the first hour of each half; in a language that no list has, the order of a day tells them apart."""
    hours = times("1/2/26, 12:10 AM - Ann: a", "1/2/26, 12:10 PM - Ann: b", "1/2/26, 1:10 PM - Ann: c")
    assert [hour[11:16] for hour in hours] == ["00:10", "12:10", "13:10"]
    hours = times("1/2/26, 9:10 zig - Ann: a", "1/2/26, 8:10 zag - Ann: b", "2/2/26, 7:00 zig - Ann: c")
    assert [hour[11:16] for hour in hours] == ["09:10", "20:10", "07:00"]


def test_local_times_know_summer() -> None:
    """The offset is that of the named zone on that day."""
    units = read("[15.07.26, 12:00:00] Ann: a\n[15.12.26, 12:00:00] Ann: b")
    assert [(unit.occurred[11:16], unit.offset) for unit in units] == [("10:00", 120), ("11:00", 60)]
    with pytest.raises(InvalidField):
        read("[15.07.26, 12:00:00] Ann: a", ReadOptions(timezone="Mars/Base"))


def test_messages_of_many_lines_and_notices() -> None:
    """Lines without a date belong to the message before; what WhatsApp says has no author, and is no unit."""
    text = (
        "15/11/2026, 09:29 - Messages and calls are end-to-end encrypted.\r\n"
        "15/11/2026, 09:30 - Ann: First\r\nsecond: line\r\n\r\n99/99/2026, 09:30 - Bob: fourth\r\n"
        '15/11/2026, 09:31 - Ann changed the name from "A" to "B: C"\r\n'
        "15/11/2026, 09:32 - +49 170 1234567: Re: that\r\n"
    )
    units = read(text)
    assert [unit.text for unit in units] == ["First\nsecond: line\n\n99/99/2026, 09:30 - Bob: fourth", "Re: that"]
    assert [unit.place for unit in units] == [f"{NAME}, line 2", f"{NAME}, line 7"]
    assert units[1].author == Person("+49 170 1234567", "+491701234567")


@pytest.mark.parametrize(
    ("written", "text", "names"),
    [
        ("<Media omitted>", "", ("Media omitted",)),
        ("<Médias omis>", "", ("Médias omis",)),
        ("\u200eimage omitted", "", ("image omitted",)),
        ("\u200e图像已忽略", "", ("图像已忽略",)),
        ("\u200e<attached: 00001-PHOTO.jpg>", "", ("00001-PHOTO.jpg",)),
        ("The plan \u200e<Anhang: 00002-plan.pdf>", "The plan", ("00002-plan.pdf",)),
        ("\u200eIMG-1.jpg (file attached)\nThe view", "The view", ("IMG-1.jpg",)),
        ("IMG-1.jpg (Datei angehängt)", "", ("IMG-1.jpg",)),
        ("\u200emy plan.pdf • \u200e12 pages \u200edocument omitted", "", ("my plan.pdf",)),
        ("\u200ea b.pdf • \u200e1 page \u200e<attached: 7-a b.pdf>", "", ("7-a b.pdf",)),
        ("Fixed \u200e<This message was edited>", "Fixed", ()),
        ("\u200ePOLL:\nWhere?\n\u200eOPTION: Here (\u200e2 votes)", "POLL:\nWhere?\nOPTION: Here (2 votes)", ()),
        ("my plan.pdf (draft) is here", "my plan.pdf (draft) is here", ()),
        ("a <b> c @\u2068Bob\u2069", "a <b> c @Bob", ()),
    ],
)
def test_files_are_attachments_in_every_language(written: str, text: str, names: tuple[str, ...]) -> None:
    """Names of files, and what stands for one that was not exported, are known by their form, not by their words."""
    (unit,) = read(f"[15.11.26, 21:30:12] Ann: {written}\n")
    assert (unit.text, unit.attachments) == (text, names)


def test_a_note_below_a_caption_is_known_from_elsewhere() -> None:
    """A caption keeps its words; the note behind it is one that stands alone elsewhere in the chat."""
    lines = ("Look \u200eimage omitted", "\u200eimage omitted", "Call \u200eme")
    units = read("\n".join(f"[15.11.26, 21:30:12] Ann: {line}" for line in lines))
    assert [(unit.text, unit.attachments) for unit in units] == [
        ("Look", ("image omitted",)),
        ("", ("image omitted",)),
        ("Call me", ()),
    ]


def test_what_whatsapp_says_in_the_name_of_somebody_is_no_unit() -> None:
    """iPhones note who joined, and what was deleted, as if somebody had said it."""
    notices = ("\u200eAnn added Bob", "\u200eThis message was deleted.", "\u200e" + "Messages are encrypted " * 3)
    assert read("\n".join(f"[15.11.26, 21:30:12] Ann: {notice}" for notice in notices)) == []


def test_the_user_is_known_by_name() -> None:
    """What the user wrote is marked as sent."""
    units = read("[15.11.26, 21:30:12] Ann: a\n[15.11.26, 21:30:13] Bob: b", ReadOptions(frozenset({"ann"}), "UTC"))
    assert [unit.signals for unit in units] == [{"sent"}, set()]


def test_the_name_of_a_chat(tmp_path: Path) -> None:
    """A chat is called as its file says, in any language, or as the zip or folder around it."""
    line = "15/11/2026, 09:30 - Ann Lee: a"
    for name in ("WhatsApp Chat with Ann Lee.txt", "WhatsApp-Chat mit Ann Lee.txt", "دردشة واتساب مع Ann Lee.txt"):
        assert read(line, name=name)[0].title == "Ann Lee"
    assert read(line, name="WhatsApp Chat - Lunch/_chat.txt")[0].title == "Lunch"
    path = tmp_path / "WhatsApp Chat - The team.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("_chat.txt", line)
        packed.writestr("notes.txt", "An attachment.")
    with open_files(str(path)) as files:
        assert whatsapp.matches(files)
        units, _ = read_all(whatsapp, files)
    assert [unit.title for unit in units] == ["The team"]


def test_it_knows_its_own() -> None:
    """Notes, logs and lists of dates are no chats, nor is a folder of notes with an exported chat in it."""
    chat = b"15/11/2026, 09:30 - Ann: a\n"
    assert matches(whatsapp, {"any name.txt": chat})
    assert matches(whatsapp, {"_chat.txt": chat, "report.txt": b"A report.", "a.md": b"# A"})
    assert not matches(whatsapp, {NAME: chat, "note.md": b"# A"})
    assert not matches(whatsapp, {"a.txt": chat, "b.txt": b"A note."})
    for text in (
        b"",
        b"A note.\n" + chat,
        b"15/11/2026 - Ann: a",
        b"2026-11-15 09:30:12 - root: a",
        b"15/11/2026, 09:30 - a",
    ):
        assert not matches(whatsapp, {"a.txt": text})
    assert not matches(whatsapp, {"locked.txt": chat})


def test_what_cannot_be_read_is_said() -> None:
    """A line that is no line of a chat, and a file that cannot be opened, are named; the rest is read."""
    line = b"[15.11.26, 21:30:12] Ann: "
    data = line + b"a\n" + line + b"x" * 2_000_000 + b"\n" + line + b"b"
    units, skipped = read_all(whatsapp, {NAME: data})
    assert [unit.text for unit in units] == ["a", "b"]
    assert [(item.place, item.reason) for item in skipped] == [(f"{NAME}, line 2", "too_large")]


CHAT = (
    "\u200e[15.11.26, 21:30:12] Ann: \u200eimage omitted\r\n[16.11.26, 9:30:12 PM] Bob: <x: a.jpg>\nmore\n"
    "[12/31/2026 à 09.30.12] Zoë: c \u200e<edited>\n١٥/١١/٢٠٢٦، ٩:٣٠ م - Ann: Hi (x)\n"
).encode()


@given(damaged(CHAT))
def test_damaged_chats_are_read(data: bytes) -> None:
    """Cut, doubled and overwritten bytes raise nothing."""
    read_all(whatsapp, {"_chat.txt": data})


@given(st.text(st.sampled_from("0123456789٣[]/.-:, \u200e\u202f年오pAM<>()\n••a"), max_size=60))
def test_any_line_is_read(text: str) -> None:
    """Anything that looks like dates, marks and names is read without an error, and in the time of its length."""
    read_all(whatsapp, {"_chat.txt": text.encode()})
    for line in text.split("\n"):
        head = split_head(line)
        assert head is None or line.endswith(head.rest)
