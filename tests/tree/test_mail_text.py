"""The text of a mail: which parts it comes from, and what its bytes mean, whatever the headers say."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.readers.mail_encodings import decode_base64, decode_bytes
from commonplace.tree.readers.mail_message import MailOrigin, read_message
from commonplace.tree.readers.mail_text import join_flowed
from commonplace.tree.source import SourceUnit

LONG = "All of this is said in the plain text, too. " * 12


def read(data: str | bytes) -> SourceUnit:
    """Return the unit of a message whose bytes below the Subject are given."""
    unit = read_message(b"Subject: x\n" + (data if isinstance(data, bytes) else data.encode()), MailOrigin("1"))
    assert isinstance(unit, SourceUnit)
    return unit


def multipart(kind: str, *parts: str, boundary: str = "b") -> str:
    """Return a part with parts in it."""
    inside = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n{inside}--{boundary}--\n'


def html(text: str) -> str:
    """Return a part in HTML."""
    return f"Content-Type: text/html\n\n<html><body>{text}</body></html>"


def test_the_plain_text_of_alternatives_is_taken() -> None:
    """Of plain text and HTML that say the same, the plain text is taken, in any order."""
    parts = ["Content-Type: text/plain\n\nhello there", html("<p>hello <b>there</b></p>")]
    assert read(multipart("alternative", *parts)).text == "hello there"
    assert read(multipart("alternative", *reversed(parts))).text == "hello there"


def test_a_plain_text_that_says_nothing_is_not_taken() -> None:
    """An empty plain text, or a short one beside a long HTML, gives way to it; a long one never does."""
    for plain in ("", "  \n", "Bitte in HTML ansehen."):
        assert read(multipart("alternative", f"\n{plain}", html(f"<p>{LONG}</p>"))).text == LONG.strip()
    assert read(multipart("alternative", f"\n{LONG}", html(f"<p>{LONG * 9}</p>"))).text == LONG.strip()
    assert (
        read(multipart("alternative", "\nYes, at nine.", html("<p>Yes, at nine.</p><p>Ann</p>"))).text
        == "Yes, at nine."
    )


def test_alternatives_may_be_nested() -> None:
    """HTML with its pictures or files is one alternative; their names are kept, whichever is taken."""
    picture = "Content-Type: image/png; name=logo.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo="
    related = multipart("related", html(f"<p>{LONG}</p>"), picture, boundary="r")
    unit = read(multipart("alternative", "\n", related))
    assert (unit.text, unit.attachments) == (LONG.strip(), ("logo.png",))
    unit = read(multipart("alternative", f"\n{LONG}", related))
    assert (unit.text, unit.attachments) == (LONG.strip(), ("logo.png",))


def test_all_texts_of_a_mixed_mail_are_read_in_order() -> None:
    """Text before, between and behind attachments stays; a text that is an attachment is only named."""
    mail = multipart(
        "mixed",
        "\none",
        "Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nSGVsbG8=",
        html("<p>two</p>"),
        "Content-Type: text/plain\nContent-Disposition: attachment; filename=log.txt\n\nnot this",
        "Content-Type: text/x-patch; name=fix.diff\nContent-Disposition: inline\n\n+three",
        "Content-Type: text/calendar\n\nBEGIN:VCALENDAR",
    )
    unit = read(mail)
    assert unit.text == "one\n\ntwo\n\n+three"
    assert unit.attachments == ("a.pdf", "log.txt", "fix.diff")


def test_names_of_attachments_are_decoded() -> None:
    """Names in encoded words, in pieces, as raw bytes or with a path are as people see them, each once."""
    names = [
        'filename="=?utf-8?Q?Caf=C3=A9.pdf?="',
        "filename*=utf-8''%E4%BD%A0.pdf",
        "filename*0=long; filename*1=name.pdf",
        'filename="M\u00fcll.pdf"',
        'filename="C:\\\\dir\\\\a.pdf"',
        "filename=a.pdf",
    ]
    parts = [f"Content-Type: application/pdf\nContent-Disposition: attachment; {name}\n\n" for name in names]
    found = read(multipart("mixed", *parts)).attachments
    assert found == ("Café.pdf", "你.pdf", "longname.pdf", "Müll.pdf", "a.pdf")


@pytest.mark.parametrize("encoding", ["", "base64"])
def test_a_forwarded_mail_is_read(encoding: str) -> None:
    """Who wrote it, when, and about what stand above its text; its attachments are those of the mail."""
    inner = "From: =?utf-8?Q?J=C3=B6rg?= <J@x.org>\nDate: 1 Nov 2026 09:30 +0100\nSubject: plan\n" + multipart(
        "mixed", "\nthe plan", "Content-Type: image/png; name=map.png\n\n", boundary="i"
    )
    text = base64.encodebytes(inner.encode()).decode() if encoding else inner
    unit = read(
        multipart(
            "mixed", "\nsee below", f"Content-Type: message/rfc822\nContent-Transfer-Encoding: {encoding}\n\n{text}"
        )
    )
    assert unit.text == (
        "see below\n\n---------- Forwarded message ---------\n"
        "From: Jörg <j@x.org>\nDate: 2026-11-01T08:30:00Z\nSubject: plan\n\nthe plan"
    )
    assert unit.attachments == ("map.png",)


def test_a_digest_has_all_its_messages() -> None:
    """In a digest, each part is a message of its own, though nothing says so."""
    text = read(multipart("digest", "\nSubject: one\n\n1", "\nSubject: two\n\n2")).text
    head = "---------- Forwarded message ---------"
    assert text == f"{head}\nSubject: one\n\n1\n\n{head}\nSubject: two\n\n2"


@pytest.mark.parametrize(
    ("headers", "body", "text"),
    [
        ("Content-Transfer-Encoding: base64", b"SGVsbG8gdGhlcmU=", "Hello there"),
        ("Content-Transfer-Encoding: BASE64 ", b"SGVsbG8g\r\ndGhlcmU", "Hello there"),
        ("Content-Transfer-Encoding: base64", b"SGVs!bG8g dGhlcmU", "SGVs!bG8g dGhlcmU"),
        ("Content-Transfer-Encoding: base64", b"SGVs!bG8*gdGhlcmUx2", "Hello there1"),
        ("Content-Transfer-Encoding: base64", b"SGVsbG8=\ndGhlcmU=", "Hellothere"),
        ("Content-Transfer-Encoding: base64", b"SGVsbG8=\n_____\nthe team list", "Hello\nthe team list"),
        ("Content-Transfer-Encoding: base64", b"This was never encoded.", "This was never encoded."),
        ("Content-Transfer-Encoding: quoted-printable", b"Caf=C3=A9 =\nau lait =3D", "Café au lait ="),
        ("Content-Transfer-Encoding: quoted-printable", b"100=XX=4 sure", "100=XX=4 sure"),
        ("Content-Transfer-Encoding: 8bit", b"Caf=C3=A9 =\nau lait", "Café au lait"),
        ("Content-Transfer-Encoding: 7bit", b"a=3B if x==1\nb=\nc", "a=3B if x==1\nb=\nc"),
        ("Content-Transfer-Encoding: no-such", b"as it is", "as it is"),
        ("Content-Transfer-Encoding: x-uuencode", b"begin 644 a\n#0V%T\n`\nend", ""),
        ("Content-Type: text/plain; charset=koi8-r", "Привет".encode("koi8-r"), "Привет"),
        ("Content-Type: text/plain; charset=us-ascii", "Müll".encode(), "Müll"),
        ("Content-Type: text/plain; charset=us-ascii", "“Müll”".encode("cp1252"), "“Müll”"),
        ("Content-Type: text/plain; charset=utf-8", "Müll".encode("cp1252"), "Müll"),
        ("Content-Type: text/plain; charset=utf-8", "Привет".encode()[:-1], "Приве\ufffd"),
        ("Content-Type: text/plain; charset=iso-8859-1", b"10 \x80", "10 €"),
        ('Content-Type: text/plain; charset="gb2312"', "你好吗".encode("gb18030"), "你好吗"),
        ("Content-Type: text/plain; charset=iso-2022-jp", "こんにちは".encode("iso-2022-jp")[:-4], "こんにち\ufffd"),
        ("Content-Type: text/plain; charset=unicode_escape", b"C:\\new \\x", "C:\\new \\x"),
        ("Content-Type: text/plain; charset=zlib", b"text", "text"),
        ("Content-Type: text/plain; charset=utf-7", b"+2AA- a", "\ufffd a"),
        ("Content-Type: text", b"text", "text"),
        ("Content-Type: text/html; charset=utf-8 x; y", "<p>é</p>".encode(), "é"),
        ("Content-Type: text/html", '<meta charset="koi8-r"><p>Привет'.encode("koi8-r"), "Привет"),
        ("Content-Type: text/plain", b"<!DOCTYPE html><html><p>two<p>parts</html>", "two\n\nparts"),
        ("", b"\xef\xbb\xbfa\x00b\r\nc\rd\n\n", "ab\nc\nd"),
    ],
)
def test_bytes_become_text(headers: str, body: bytes, text: str) -> None:
    """Whatever the headers wrongly say of a body, its text comes out as far as it can."""
    assert read(headers.encode() + b"\n\n" + body if headers else b"\n" + body).text == text


def test_a_file_inside_of_the_text_is_named_and_not_shown() -> None:
    """A uuencoded file is an attachment; a line that only looks like its beginning is text."""
    unit = read("\nsee:\nbegin 644 a b.txt\n#0V%T\n`\nend\nbye\nbegin 644 no file\nthe end")
    assert unit.text == "see:\n\nbye\nbegin 644 no file\nthe end"
    assert unit.attachments == ("a b.txt",)


def test_a_missing_or_wrong_boundary_is_guessed() -> None:
    """Parts are found though the boundary of the header is not the one between them, or is missing."""
    body = (
        "--other\nContent-Type: text/plain\n\none\n--other\nContent-Type: application/pdf; name=a.pdf\n\n\n--other--\n"
    )
    for header in ("multipart/mixed; boundary=b", "multipart/mixed"):
        unit = read(f"Content-Type: {header}\n\n{body}")
        assert (unit.text, unit.attachments) == ("one", ("a.pdf",))
    assert read("Content-Type: multipart/mixed; boundary=b\n\nno part at all").text == "no part at all"


def test_only_a_whole_line_is_a_boundary() -> None:
    """A boundary inside of a line, or with more behind it, is text; outer parts may have names that begin alike."""
    mail = multipart("mixed", multipart("mixed", "\nsay --b or\n--bc\n--b x\nor --bb", boundary="bb"), "\nlast")
    assert read(mail).text == "say --b or\n--bc\n--b x\nor --bb\n\nlast"


def test_a_mail_without_its_end_is_not_whole() -> None:
    """Where the closing boundary is missing, the source cut the mail: a whole copy may replace it."""
    whole = multipart("mixed", "\none", "\ntwo")
    assert read(whole).is_whole
    cut = read(whole[: whole.index("two") + 2])
    assert (cut.text, cut.is_whole) == ("one\n\ntw", False)


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("one \ntwo \nthree\nfour", "one two three\nfour"),
        ("> one \n> two\n>> three \nfour", "> one two\n>> three\nfour"),
        ("one \n\ntwo", "one \ntwo"),
        ("end \n-- \nAnn", "end\n-- \nAnn"),
        (" > not a quote\n From here", "> not a quote\nFrom here"),
        ("last ", "last"),
    ],
)
def test_flowed_lines_are_joined(text: str, joined: str) -> None:
    """Lines that end in a space go on in the next one, if it is quoted as deep; a signature begins anew."""
    assert join_flowed(text, is_space_deleted=False) == joined


def test_flowed_mails_are_joined() -> None:
    """The parameters say whether lines are flowed, and whether the space at their end is one."""
    flowed = "Content-Type: text/plain; format=flowed"
    assert read(f"{flowed}\n\nne \nver").text == "ne ver"
    assert read(f"{flowed}; delsp=yes\n\nne \nver").text == "never"
    assert read("\nne \nver").text == "ne \nver"


@given(st.text(st.characters(codec="utf-8")))
def test_utf8_is_never_taken_for_anything_else(text: str) -> None:
    """A text in UTF-8 is read back, whether it is said to be in UTF-8, in ASCII, or nothing is said."""
    assert {decode_bytes(text.encode(), charset) for charset in ("", "utf-8", "US-ASCII", "x-unknown")} == {text}


@given(
    st.binary(), st.sampled_from(["", "utf-8", "utf-7", "utf-16", "gb2312", "big5", "iso-2022-jp", "hz", "idna", "hex"])
)
def test_any_bytes_have_a_text(data: bytes, charset: str) -> None:
    """Any bytes in any charset become a text that can be written as UTF-8."""
    assert isinstance(decode_bytes(data, charset).encode(), bytes)


@given(st.binary(), st.integers(1, 80))
def test_base64_is_read_back(data: bytes, width: int) -> None:
    """Bytes come back from base64 in lines of any width, with or without padding."""
    text = base64.b64encode(data)
    lines = b"\r\n".join(text[at : at + width] for at in range(0, len(text), width))
    assert decode_base64(lines) == decode_base64(lines.rstrip(b"=")) == data
