"""What a unit says of a mail: who, when, what it answers, and what its headers tell of its kind."""

from collections.abc import Callable

import pytest

from commonplace.tree.readers.mail_dates import read_mail_date
from commonplace.tree.readers.mail_headers import decode_header, read_parameters, read_people
from commonplace.tree.readers.mail_message import MailOrigin, find_folder_signals, read_message
from commonplace.tree.source import Person, SourceUnit

ORIGIN = MailOrigin("message 1", me=frozenset({"me@example.org", "ann lee"}))


def read(*headers: str | bytes, text: str = "hello", origin: MailOrigin = ORIGIN) -> SourceUnit:
    """Return the unit of a message with these headers."""
    lines = [header if isinstance(header, bytes) else header.encode() for header in headers]
    unit = read_message(b"\n".join([*lines, b"", text.encode()]), origin)
    assert isinstance(unit, SourceUnit)
    return unit


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain", "plain"),
        (b" folded\n  here\n\tand here", "folded here and here"),
        (b"=?utf-8?Q?Caf=C3=A9_au_lait?=", "Café au lait"),
        (b"=?UTF-8?B?Q2Fmw6k=?=", "Café"),
        (b"=?UTF-8?B?Q2Fmw6k?=", "Café"),
        (b"=?utf-8?Q?Caf=C3?= =?utf-8?Q?=A9?=", "Café"),
        (b"=?utf-8?Q?Caf=C3?=\n =?UTF-8?B?qQ==?= now", "Café now"),
        (b"=?utf-8?Q?a?==?utf-8?Q?b?=", "ab"),
        (b"one =?utf-8?Q?two?= three", "one two three"),
        (b"=?iso-8859-1?Q?10_=80?=", "10 €"),
        (b"=?utf-8*de?Q?M=C3=BCll?=", "Müll"),
        (b"=?no-such-charset?Q?M=C3=BCll?=", "Müll"),
        (b"=?hex?Q?abc?=", "abc"),
        (b"=?utf-8?Q?why? because?=", "why? because"),
        (b"=?gb2312?B?xOO6ww==?=", "你好"),
        (b"=?iso-2022-jp?B?GyRCJDMbKEI=?=", "こ"),
        ("roh: Müll".encode(), "roh: Müll"),
        ("roh: Müll".encode("latin-1"), "roh: Müll"),
        (b"=?utf-8?Q?line=0Abreak=00?=", "line break"),
        (b"=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
        (b"=?broken", "=?broken"),
    ],
)
def test_subjects_are_decoded(raw: bytes, text: str) -> None:
    """A title is one line of text, however its encoded words are split, spelled or broken."""
    assert read(b"Subject: " + raw).title == text


@pytest.mark.parametrize(
    ("raw", "people"),
    [
        ("Ann Lee <Ann@Example.ORG>", [("Ann Lee", "ann@example.org")]),
        ("ann@example.org", [("", "ann@example.org")]),
        ("<ann@example.org>", [("", "ann@example.org")]),
        ('"Lee, Ann" <ann@x.org>, bob@x.org', [("Lee, Ann", "ann@x.org"), ("", "bob@x.org")]),
        ("ann@x.org (Ann Lee)", [("Ann Lee", "ann@x.org")]),
        ("Ann (at (nested) work) Lee <ann@x.org>", [("Ann Lee", "ann@x.org")]),
        ("Us: ann@x.org, Bob <bob@x.org>; eve@x.org", [("", "ann@x.org"), ("Bob", "bob@x.org"), ("", "eve@x.org")]),
        ("undisclosed-recipients:;", []),
        ("ann@x.org; Bob <bob@x.org>", [("", "ann@x.org"), ("Bob", "bob@x.org")]),
        ("=?utf-8?Q?Lee=2C_Ann?= <ann@x.org>", [("Lee, Ann", "ann@x.org")]),
        ("=?utf-8?Q?Lee,_Ann?= <ann@x.org>", [("Lee, Ann", "ann@x.org")]),
        ('"=?utf-8?Q?J=C3=B6rg?=" <j@x.org>', [("Jörg", "j@x.org")]),
        ("=?utf-8?Q?Ann_=3Cann=40x.org=3E?=", [("Ann", "ann@x.org")]),
        ("'Ann Lee' <ann@x.org>", [("Ann Lee", "ann@x.org")]),
        ("ann@x.org <ann@x.org>", [("", "ann@x.org")]),
        ("mailto:ann@x.org, <mailto:bob@x.org>", [("", "ann@x.org"), ("", "bob@x.org")]),
        ("<@relay.org,@other.org:ann@x.org>", [("", "ann@x.org")]),
        (r'"Ann \"The Boss\" Lee" <ann@x.org>', [('Ann "The Boss" Lee', "ann@x.org")]),
        ("Ann <ann@x.org", [("Ann", "ann@x.org")]),
        ('"Ann <ann@x.org>', [('Ann', "ann@x.org")]),
        ("Ann (Sales <ann@x.org>", [("Ann (Sales", "ann@x.org")]),
        ("Ann (a (b) <ann@x.org>", [("Ann", "ann@x.org")]),
        ("Ann, Bob <bob@x.org>", [("Ann", ""), ("Bob", "bob@x.org")]),
        ("MAILER DAEMON <>", [("MAILER DAEMON", "")]),
        ("Jürgen <jürgen@x.org>", [("Jürgen", "jürgen@x.org")]),
        ("ann@x.org, ANN@x.org, Ann <ann@X.org>", [("", "ann@x.org")]),
        ("", []),
        (",,;", []),
    ],
)  # fmt: skip
def test_people_are_read(raw: str, people: list[tuple[str, str]]) -> None:
    """Names and addresses come out of every form that a list of people has, each address once, in lower case."""
    assert read_people(raw) == [Person(*person) for person in people]


def test_the_author_is_the_first_of_from_sender_and_reply_to() -> None:
    """The author is who From names, else Sender, else Reply-To; recipients are those of To, Cc and Bcc, each once."""
    unit = read("From: Lee, Ann <ann@x.org>", "Sender: s@x.org", "To: a@x.org, b@x.org", "To: c@x.org",
                "Cc: B <B@x.org>", "Bcc: d@x.org")  # fmt: skip
    assert unit.author == Person("Lee, Ann", "ann@x.org")
    assert [person.address for person in unit.recipients] == ["a@x.org", "b@x.org", "c@x.org", "d@x.org"]
    assert read("From:", "Sender: s@x.org", "Reply-To: r@x.org").author.address == "s@x.org"
    assert read("Reply-To: r@x.org", "From: undisclosed:;").author.address == "r@x.org"
    assert read("Subject: x").author == Person()


@pytest.mark.parametrize(
    ("raw", "ident"),
    [
        ("<Abc@Host.ORG>", "mail:<Abc@host.org>"),
        (" <a b\n @x.org> ", "mail:<ab@x.org>"),
        ("Abc@Host.ORG", "mail:<Abc@host.org>"),
        ("<a@b@HOST>", "mail:<a@b@host>"),
        ("<NoHost>", "mail:<NoHost>"),
        ("=?utf-8?Q?=3Ca=40X=3E?=", "mail:<a@x>"),
        ("<>", ""),
        ("", ""),
        (f"<{'x' * 2_000}@x>", ""),
    ],
)
def test_native_ids_are_clean(raw: str, ident: str) -> None:
    """The same message has the same id in every export: white space and the case of the host do not count."""
    assert read("Subject: x", f"Message-ID: {raw}").native_id == ident


def test_parents_are_the_oldest_first_and_each_once() -> None:
    """References come before In-Reply-To; the message itself, and addresses of its people, are no parents."""
    unit = read(
        "From: ann@x.org",
        "Message-ID: <3@x>",
        "References: <1@X> <2@x>\n\t<3@x><1@x>",
        'In-Reply-To: Message of "Mon" from Ann <Ann@x.org> <4@x>',
    )
    assert unit.parents == ("mail:<1@x>", "mail:<2@x>", "mail:<4@x>")
    assert read("Subject: x", "References: 1@x, 2@x", "In-Reply-To: ann's mail").parents == ("mail:<1@x>", "mail:<2@x>")


def test_of_many_parents_the_first_and_the_last_are_kept() -> None:
    """A thread of a thousand messages has 50 parents: its beginning and its end."""
    parents = read("Subject: x", "References: " + " ".join(f"<{number}@x>" for number in range(1_000))).parents
    assert len(parents) == 50
    assert (parents[0], parents[1], parents[-1]) == ("mail:<0@x>", "mail:<951@x>", "mail:<999@x>")


@pytest.mark.parametrize(
    ("raw", "timestamp", "offset"),
    [
        ("Sun, 15 Nov 2026 09:30:00 +0100", "2026-11-15T08:30:00Z", 60),
        ("15 Nov 2026 09:30 -0330 (NST)", "2026-11-15T13:00:00Z", -210),
        ("Sun, 15 Nov 2026 09:30:00 -0000", "2026-11-15T09:30:00Z", 0),
        ("Sun, 15 Nov 2026 09:30:00 GMT", "2026-11-15T09:30:00Z", 0),
        ("Sun, 15 Nov 2026 09:30:00 EST", "2026-11-15T14:30:00Z", -300),
        ("Sun, 15 Nov 2026 09:30:00 (PDT)", "2026-11-15T16:30:00Z", -420),
        ("Sun, 15 Nov 2026 09:30:00 GMT+1", "2026-11-15T08:30:00Z", 60),
        ("Sun, 15 Nov 2026 09:30:00 +01:00", "2026-11-15T08:30:00Z", 60),
        ("Sun, 15 Nov 2026 09:30:00 XYZ", "2026-11-15T09:30:00Z", None),
        ("Sun, 15 Nov 2026 09:30:00", "2026-11-15T09:30:00Z", None),
        ("Sun Nov 15 09:30:00 2026", "2026-11-15T09:30:00Z", None),
        ("Sun Nov 15 09:30:00 EST 2026", "2026-11-15T14:30:00Z", -300),
        ("Sun Nov 15 09:30:00 +0100 2026", "2026-11-15T08:30:00Z", 60),
        ("Sunday, November 15, 2026 9:30 PM", "2026-11-15T21:30:00Z", None),
        ("15-Nov-2026 12:05 am", "2026-11-15T00:05:00Z", None),
        ("2026-11-15T09:30:00.123Z", "2026-11-15T09:30:00Z", 0),
        ("2026-11-15 09:30:00+02:00", "2026-11-15T07:30:00Z", 120),
        ("Sun, 15 Nov 26 09.30.00 +0100", "2026-11-15T08:30:00Z", 60),
        ("Sun, 15 Nov 98 09:30:00 +0000", "1998-11-15T09:30:00Z", 0),
        ("Sun, 15 Nov 103 09:30:00 +0000", "2003-11-15T09:30:00Z", 0),
        ("Sat, 31 Dec 2016 23:59:60 +0000", "2016-12-31T23:59:59Z", 0),
    ],
)
def test_dates_are_read(raw: str, timestamp: str, offset: int | None) -> None:
    """A date in any form is a moment in UTC, with the offset of the clock that showed it."""
    date = read_mail_date(raw)
    assert date is not None
    assert (date.timestamp, date.offset) == (timestamp, offset)


@pytest.mark.parametrize(
    "raw",
    ["", "yesterday", "31 Feb 2026 09:30:00 +0000", "15 Foo 2026 09:30:00", "15 Nov 2026 25:30:00", "11/15/2026 09:30",
     "15 Nov 2026 09:30:00 +9900", "Nov 15 09:30:00", "99999-11-15 09:30:00", "1 Jan 0000 09:30:00 +0000"],
)  # fmt: skip
def test_impossible_dates_are_none(raw: str) -> None:
    """A text that is no moment of the calendar is none."""
    assert read_mail_date(raw) is None


RECEIVED = "Received: by mx.example.org; Sun, 15 Nov 2026 09:30:00 -0800 (PST)"


@pytest.mark.parametrize(
    "date",
    ["31 Feb 2026 09:30:00 +0000", "Thu, 1 Jan 1970 00:00:00 +0000", "Tue, 17 Nov 2026 09:30:00 +0000", "soon", ""],
)
def test_an_impossible_date_takes_that_of_the_server(date: str) -> None:
    """Where a date cannot be, or is a day after the mail was received, it was received when the topmost server says."""
    unit = read("Subject: x", f"Date: {date}", RECEIVED, "Received: by b; Sat, 14 Nov 2026 00:00:00 +0000")
    assert (unit.occurred, unit.offset) == ("2026-11-15T17:30:00Z", None)


def test_a_possible_date_is_kept() -> None:
    """A mail may be older than its delivery, and a clock may be up to a day ahead."""
    for date in ("1 Nov 2025 09:30:00 +0100", "16 Nov 2026 09:30:00 +0100"):
        assert read("Subject: x", f"Date: {date}", RECEIVED).offset == 60


def test_without_a_server_the_mailbox_and_the_file_say_when() -> None:
    """The From_ line is next, and then the time of the file."""
    origin = ORIGIN._replace(envelope="ann@x.org Sun Nov 15 09:30:00 2026", file_time=lambda: "2026-11-16T00:00:00Z")
    assert read("Subject: x", "Date: soon", origin=origin).occurred == "2026-11-15T09:30:00Z"
    assert read("Subject: x", origin=origin._replace(envelope="-")).occurred == "2026-11-16T00:00:00Z"
    assert read("Subject: x").occurred == ""


FILE_TIME = "2026-11-16T12:00:00Z"


@pytest.mark.parametrize(
    ("file_time", "envelope", "more", "occurred"),
    [
        (FILE_TIME, "ann@x.org Sun Nov 15 09:30:00 2026", (RECEIVED,), "2026-11-15T17:30:00Z"),
        (FILE_TIME, "ann@x.org Sun Nov 15 09:30:00 2026", (), "2026-11-15T09:30:00Z"),
        (FILE_TIME, "-", (), FILE_TIME),
        (FILE_TIME, "ann@x.org Thu Jan 1 00:00:00 2099", ("Received: by b; 1 Jan 2099 00:00:00 +0000",), FILE_TIME),
        ("", "ann@x.org Sun Nov 15 09:30:00 2026", (), "2026-11-15T09:30:00Z"),
        ("", "-", (), ""),
        ("1970-01-01T00:00:00Z", "-", (), ""),
        ("2099-01-01T00:00:00Z", "-", (), ""),
    ],
)
def test_a_date_in_the_future_is_impossible(
    file_time: str, envelope: str, more: tuple[str, ...], occurred: str
) -> None:
    """A mail of 2099 was there before: when it was received, or its From_ line says, or its file was written; a time
    that is itself in the future, or before there was mail, says nothing."""
    origin = ORIGIN._replace(file_time=lambda: file_time, envelope=envelope)
    unit = read("Subject: x", "Date: Thu, 1 Jan 2099 00:00:00 +0100", *more, origin=origin)
    assert (unit.occurred, unit.offset) == (occurred, None)


def test_no_mail_is_a_day_younger_than_its_file() -> None:
    """The clock of a sender may be a day ahead of that of the file. A file may have lost its time when it was copied:
    what a server wrote is then believed."""
    origin = ORIGIN._replace(file_time=lambda: FILE_TIME)
    assert read("Subject: x", "Date: 17 Nov 2026 12:00:00 +0000", origin=origin).offset == 0
    unit = read("Subject: x", "Date: 17 Nov 2026 12:00:01 +0000", origin=origin)
    assert (unit.occurred, unit.offset) == (FILE_TIME, None)
    old = ORIGIN._replace(file_time=lambda: "2001-01-01T00:00:00Z")
    assert (
        read("Subject: x", "Date: 14 Nov 2026 09:30:00 +0000", RECEIVED, origin=old).occurred == "2026-11-15T17:30:00Z"
    )


@pytest.mark.parametrize(
    ("header", "signals"),
    [
        ("List-Id: <team.example.org>", {"bulk"}),
        ("List-Unsubscribe: <https://example.org>", {"bulk"}),
        ("Precedence: Bulk", {"bulk"}),
        ("X-MC-User: 1", {"bulk"}),
        ("Auto-Submitted: auto-replied", {"bot"}),
        ("Auto-Submitted: No", set()),
        ("X-Auto-Response-Suppress: All", {"bot"}),
        ("Precedence: auto_reply", {"bot"}),
        ("Precedence: first-class", set()),
        ("Return-Path: <>", {"bot"}),
        ("Return-Path: <ann@x.org>", set()),
        ("From: no-reply@x.org", {"bot"}),
        ("From: MAILER-DAEMON@x.org", {"bot"}),
        ("From: notifications@x.org", {"bot"}),
        ("From: billing+noreply@x.org", {"bot"}),
        ("From: DoNotReply@x.org", {"bot"}),
        ("From: ann@noreply.org", set()),
        ("From: norepa@x.org", set()),
        ("From: ME@example.org", {"sent"}),
        ("From: Ann Lee <other@x.org>", {"sent"}),
        ("Content-Type: multipart/report; boundary=x", {"bot"}),
        ("X-Gmail-Labels: Sent,Trash,Work", {"sent", "trash"}),
        ("To: me@example.org", set()),
    ],
)
def test_signals_follow_from_headers(header: str, signals: set[str]) -> None:
    """Lists, machines, labels and the user's own addresses say what kind of message it is."""
    assert read("Subject: x", header).signals == signals


def test_folders_say_what_is_in_them() -> None:
    """A folder says spam, trash or sent in any part of its path and any case, and nothing by a part of a word."""
    assert find_folder_signals(["[Gmail]/Sent Mail", "INBOX/JUNK", "Papierkorb/2026"]) == {"sent", "spam", "trash"}
    assert find_folder_signals(["Sentinel", "Spam reports", "", "/"]) == frozenset()


def test_labels_are_those_of_the_header_and_the_folder() -> None:
    """Labels are kept in order, each once."""
    origin = ORIGIN._replace(folders=("Work", "Inbox"), signals=frozenset({"spam"}))
    unit = read("Subject: x", "X-Gmail-Labels: Inbox, Plans", origin=origin)
    assert unit.labels == ("Inbox", "Plans", "Work")
    assert unit.signals == {"spam"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Text/Plain; Charset=UTF-8", ("text/plain", {"charset": "UTF-8"})),
        ('a/b; name="x; y=\\"z\\".txt" ; q=1', ("a/b", {"name": 'x; y="z".txt', "q": "1"})),
        ('a/b; name="C:\\dir\\x.txt"', ("a/b", {"name": "C:\\dir\\x.txt"})),
        ("a/b; name=my file.pdf", ("a/b", {"name": "my file.pdf"})),
        ("a/b; name*=utf-8'de'Caf%C3%A9.txt", ("a/b", {"name": "Café.txt"})),
        ("a/b; name*1*=%A9.txt; name*0*=utf-8''Caf%C3", ("a/b", {"name": "Café.txt"})),
        ('a/b; name*0="one "; name*1=two', ("a/b", {"name": "one two"})),
        ("a/b; name*=no-such''%E9", ("a/b", {"name": "é"})),
        ('a/b; name="open', ("a/b", {"name": "open"})),
        ("a/b; name=x; name*=utf-8''y", ("a/b", {"name": "y"})),
        ("", ("", {})),
        (";;=;x", ("", {})),
    ],
)
def test_parameters_are_read(raw: str, expected: tuple[str, dict[str, str]]) -> None:
    """Parameters are found whether quoted, in pieces, in a charset of their own, or broken."""
    assert read_parameters(raw) == expected


def test_broken_headers_do_not_hide_the_others() -> None:
    """A line that forgot to be indented belongs to the header above; without an empty line, text begins by itself."""
    unit = read("From: ann@x.org", "Subject: one", "two", "X-Odd : y", "Message-ID: <1@x>")
    assert (unit.title, unit.native_id, unit.text) == ("one two", "mail:<1@x>", "hello")
    unit = _must_read(b"Subject: one\nText at once.\n\nMore text.")
    assert (unit.title, unit.text) == ("one", "Text at once.\n\nMore text.")


@pytest.mark.parametrize("change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: data.replace(b"\n", b"\r")])
def test_any_line_ends_are_read(change: Callable[[bytes], bytes]) -> None:
    """CRLF, or CR alone, changes nothing."""
    data = (
        b"Subject: x\n y\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\n\none\n\ntwo\n--b\nContent-Type: text/html\n\n<p>three</p>\n--b--\n"
    )
    assert _must_read(change(data)) == _must_read(data)
    assert _must_read(data).text == "one\n\ntwo\n\nthree"


def _must_read(data: bytes) -> SourceUnit:
    unit = read_message(data, ORIGIN)
    assert isinstance(unit, SourceUnit)
    return unit


def test_decode_header_takes_decoded_text() -> None:
    """A text that was decoded before is left as it is."""
    assert decode_header("Jörg  你好") == "Jörg 你好"
