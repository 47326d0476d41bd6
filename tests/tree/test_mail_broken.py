"""Mails that are broken, made to do harm, or too large: each is read or skipped, and none raises."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.readers.mail_message import MailOrigin, read_message
from commonplace.tree.source import MAX_LEVELS, MAX_MESSAGE, MAX_PARTS, SkippedUnit, SourceUnit

ORIGIN = MailOrigin("message 7")
HEADERS = [
    b"From: =?utf-8?Q?J=C3=B6rg?= <j@x.org>\n",
    b"To: a@x.org, (b) <c@x.org>;\n",
    b"Subject: =?gb2312?B?xOO6ww==?= x\n",
    b"Date: Sun, 15 Nov 2026 09:30:00 +0100\n",
    b"Message-ID: <1@x.org>\n",
    b"References: <1@x> <2@x>\n",
    b'Content-Type: multipart/mixed; boundary="b"\n',
]
PIECES = [
    *HEADERS,
    b"Received: by b; 31 Feb 99999 25:61 +9999\n",
    b"Content-Type: multipart/alternative; boundary=b\n",
    b"Content-Type: message/rfc822\n",
    b"Content-Type: text/html\n",
    b"Content-Type: text/plain; charset=utf-7; format=flowed\n",
    b"Content-Type: text/plain; charset=hex\n",
    b"Content-Transfer-Encoding: base64\n",
    b"Content-Transfer-Encoding: quoted-printable\n",
    b"Content-Disposition: attachment; filename*=utf-8''%ff\n",
    b'X-Gmail-Labels: "Sent, Spam\n',
    b"<html><table><p>",
    b"text with words",
    *(b"\n|\r\n|\r|\n\n| |\t|\0|\xff\xfe|\xe9|--b\n|--b--\n|begin 644 x\n|#0V%T\n|end\n|From ".split(b"|")),
    *b"=? ?= < > ( ) \" \\ , ; : = =C3 +2AA- \x1b$B SGVsbG8= </html> text/ multipart/x name*0*= ''%E9".split(b" "),
]
WHOLE = b"".join(
    [
        *HEADERS,
        b"\n--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\nplain\n--c\n",
        b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<p>=C3=A9</p>\n",
        b"--c--\n",
        b"--b\nContent-Type: message/rfc822\n\nSubject: inner\n\ntext\n",
        b'--b\nContent-Type: a/b; name="=?utf-8?Q?=C3=A9?="\nContent-Transfer-Encoding: base64\n\nSGVsbG8=\n--b--\n',
    ]
)


def check(data: bytes) -> None:
    """Fail if a message is not read to what a unit promises."""
    unit = read_message(data, ORIGIN)
    assert unit.place == "message 7"
    if isinstance(unit, SkippedUnit):
        return
    people = [unit.author, *unit.recipients]
    lines = [unit.title, unit.native_id, *unit.parents, *unit.attachments, *unit.labels]
    lines += [text for person in people for text in person]
    for text in (unit.text, *lines):
        assert isinstance(text.encode(), bytes)
        assert "\x00" not in text
        assert "\r" not in text
    assert not any(" ".join(line.split()) != line for line in lines)
    assert all(person.address == person.address.lower() for person in people)
    assert all(ident.startswith("mail:<") for ident in unit.parents)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
def test_any_pieces_of_mail_are_read(data: bytes) -> None:
    """Headers, boundaries and marks in any order are a unit that keeps its promises, or are skipped."""
    check(data)


@given(st.data())
def test_any_change_to_a_mail_is_read(data: st.DataObject) -> None:
    """A good mail in which bytes were changed, lost or put in is a unit that keeps its promises, or is skipped."""
    mail = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(mail)))
        mail[at : at + data.draw(st.integers(0, 12))] = data.draw(st.sampled_from(PIECES) | st.binary(max_size=4))
    check(bytes(mail))


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    """Bytes that are no mail at all are skipped, or are a unit."""
    check(data)
    check(b"Subject: x\n" + data)


def nest(levels: int) -> bytes:
    """Return a mail with so many parts in each other, the innermost a text."""
    heads = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(levels)]
    return b"Subject: x\n" + b"".join(heads) + b"\ninside"


def test_parts_may_be_in_each_other_up_to_a_limit() -> None:
    """A hundred levels are read; one more is too deep, and so are thousands, also of messages in messages."""
    found = read_message(nest(MAX_LEVELS), ORIGIN)
    assert isinstance(found, SourceUnit)
    assert found.text == "inside"
    too_deep = SkippedUnit("message 7", "too_deep")
    assert read_message(nest(MAX_LEVELS + 1), ORIGIN) == too_deep
    assert read_message(nest(5_000), ORIGIN) == too_deep
    assert read_message(b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 5_000, ORIGIN) == too_deep


def test_a_mail_may_have_parts_up_to_a_limit() -> None:
    """A thousand parts are read; one more is too many, on one level or on several."""

    def flat(count: int) -> bytes:
        return b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * count

    found = read_message(flat(MAX_PARTS), ORIGIN)
    assert isinstance(found, SourceUnit)
    assert found.text.count("x") == MAX_PARTS
    assert read_message(flat(MAX_PARTS + 1), ORIGIN) == SkippedUnit("message 7", "too_many_parts")
    inner = b"--a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 400
    mail = b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n" + inner * 3
    assert read_message(mail, ORIGIN) == SkippedUnit("message 7", "too_many_parts")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"From: ann@x.org\n\n \n", "empty"),
        (b"just some words\nand more\n", "unreadable"),
        (b"\x00\x01\x02", "unreadable"),
    ],
)
def test_what_is_no_mail_is_skipped(data: bytes, reason: str) -> None:
    """Bytes without a header are not readable, and a mail without subject, text and attachments is empty."""
    assert read_message(data, ORIGIN) == SkippedUnit("message 7", reason)  # type: ignore[arg-type]


def test_a_mail_may_be_a_subject_or_a_file_alone() -> None:
    """A mail without a text is kept for its subject, or for the names of its attachments."""
    assert isinstance(read_message(b"Subject: on my way\n\n", ORIGIN), SourceUnit)
    unit = read_message(b"From: ann@x.org\nContent-Type: image/png; name=a.png\n\nx", ORIGIN)
    assert isinstance(unit, SourceUnit)
    assert (unit.text, unit.attachments) == ("", ("a.png",))


def test_a_mail_above_the_limit_is_skipped() -> None:
    """A message of more than 64 MB is not parsed."""
    assert read_message(b"Subject: x\n\n".ljust(MAX_MESSAGE + 1), ORIGIN) == SkippedUnit("message 7", "too_large")


def test_only_the_first_million_bytes_of_headers_count() -> None:
    """Headers beyond a limit are passed over; the text behind them is read."""
    unit = read_message(b"Subject: x\n" + b"ab:\n" * 300_000 + b"\nthe text", ORIGIN)
    assert isinstance(unit, SourceUnit)
    assert (unit.title, unit.text) == ("x", "the text")


SIZE = 300_000
BOUNDARY = b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n"


@pytest.mark.parametrize(
    ("data", "most"),
    [
        (b"Subject: x\n\n" + b"ab\n" * (SIZE // 3), 5),
        (BOUNDARY + b"--b x\n" * (SIZE // 6), 5),
        (BOUNDARY + b"--b\nContent-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + b"QUFB\n" * (SIZE // 5), 0.1),
    ],
    ids=["lines", "boundaries", "attachment"],
)
def test_memory_follows_the_size_of_the_text(data: bytes, most: float) -> None:
    """Besides its bytes, a mail takes a few times the size of its text; attachments take nothing."""
    tracemalloc.start()
    try:
        read_message(data, ORIGIN)
        assert tracemalloc.get_traced_memory()[1] < most * SIZE
    finally:
        tracemalloc.stop()


BIG = 200_000


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: " + b"=?a?q?" * BIG + b"\n\nx",
        b"Subject: x\n" + b" a\n" * BIG + b"\nx",
        b"To: " + b"(" * BIG + b"\n\nx",
        b"To: " + b'\\"' * BIG + b"\n\nx",
        b"From: " + b"," * BIG + b"\n\nx",
        b"To: " + b":" * BIG + b"\n\nx",
        b"References: " + b"<" * BIG + b"\n\nx",
        b"Content-Type: text/plain" + b';a="' * BIG + b"\n\nx",
        b"Content-Type: text/plain; format=flowed\n\n" + b"> " * BIG,
        b"Subject: x\n\n" + b"begin 644 x\n" * BIG,
        b"Content-Transfer-Encoding: base64\n\n" + b"=" * BIG,
    ],
    ids=range(11),
)
def test_marks_that_are_repeated_are_read(data: bytes) -> None:
    """A mark that opens something, hundreds of thousands of times, is read as any other text."""
    check(data)
