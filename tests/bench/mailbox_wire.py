"""How a generated message becomes bytes: transfer encodings, charsets, parts, records of an mbox, and broken messages.

Everything is written by hand and not with `email`, for two reasons: the makers of real mailboxes write what `email`
would refuse, and 200 MB must be ready in seconds. `mailbox_maker` uses it.
"""

from __future__ import annotations

import base64
import quopri
import random
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from tests.bench.mailbox_text import MailDraft

FORMS = ("utf8", "quoted", "base64", "flowed", "html", "alternative", "attached", "mislabelled", "foreign")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FROM_LINE = re.compile(rb"^(>*From )", re.MULTILINE)
Headers = list[tuple[str, str]]


def write_date(when: datetime) -> str:
    """Return a time with its offset, as the Date header has it."""
    day, month = _DAYS[when.weekday()], _MONTHS[when.month - 1]
    return f"{day}, {when.day} {month} {when.year} {when:%H:%M:%S %z}"


def write_trace(when: datetime, labels: Sequence[str]) -> Headers:
    """Return the headers of the last server: the labels of the mailbox, and when it received the message."""
    received = (
        f"from mx.example.org (mx.example.org [192.0.2.7])\n\tby mail.example.org with ESMTPS; {write_date(when)}"
    )
    return [("X-Gmail-Labels", ",".join(labels)), ("Received", received)]


def encode_words(text: str, *, quoted: bool = False) -> str:
    """Return the text of a header in ASCII: encoded words of at most 40 bytes each where it needs them."""
    if text.isascii():
        return text
    words, chunk = [], ""
    for character in text:
        if len((chunk + character).encode()) > 40:
            words.append(chunk)
            chunk = ""
        chunk += character
    words.append(chunk)
    if quoted:
        return " ".join(f"=?utf-8?Q?{''.join(f'={byte:02X}' for byte in word.encode())}?=" for word in words)
    return " ".join(f"=?UTF-8?B?{base64.b64encode(word.encode()).decode()}?=" for word in words)


def encode_message(rng: random.Random, headers: Headers, draft: MailDraft, form: str, charset: str = "utf-8") -> bytes:
    """Return a message in one of FORMS. `charset` is that of the form "foreign"; the others have their own."""
    headers = [*headers, ("MIME-Version", "1.0")]
    if form in {"alternative", "attached"}:
        return _encode_parts(rng, headers, draft, form)
    if form == "html":
        return _join(headers, _encode_text(draft.html, "html", "quoted-printable"))
    if form == "quoted":
        return _join(headers, _encode_text(draft.plain, "plain", "quoted-printable"))
    if form == "base64":
        return _join(headers, _encode_text(draft.plain, "plain", "base64"))
    if form == "mislabelled":  # old programs call what they have us-ascii
        body = draft.plain.encode("windows-1252", "replace")
        return _join(headers, (_text_headers("plain", "us-ascii", "7bit"), body))
    if form == "foreign":
        transfer = "7bit" if charset == "iso-2022-jp" else "8bit"
        return _join(headers, (_text_headers("plain", charset, transfer), draft.plain.encode(charset, "replace")))
    if form == "flowed":
        kind = _text_headers("plain", "utf-8; format=flowed", "8bit")
        return _join(headers, (kind, flow(draft.plain).encode()))
    return _join(headers, (_text_headers("plain", "utf-8", "8bit"), draft.plain.encode()))


def may_encode(lines: Iterable[str], form: str, charset: str) -> bool:
    """Return whether every character of the lines can be written in a form and charset."""
    try:
        "\n".join(lines).encode({"mislabelled": "windows-1252", "foreign": charset}.get(form, "utf-8"))
    except UnicodeEncodeError:
        return False
    return True


def flow(text: str) -> str:
    """Return a text with long lines broken as format=flowed: a blank at the end of each line that goes on."""
    lines = []
    for line in text.split("\n"):
        rest = f" {line}" if line.startswith((" ", "From ")) else line
        if not line.startswith(">") and line != "-- ":
            while len(rest) > 72 and (cut := rest.rfind(" ", 10, 72)) > 0:
                lines.append(rest[: cut + 1])
                rest = rest[cut + 1 :]
                rest = f" {rest}" if rest.startswith((" ", "From ", ">")) else rest
            rest = rest.rstrip(" ")
        lines.append(rest)
    return "\n".join(lines)


def _text_headers(subtype: str, charset: str, transfer: str) -> Headers:
    kind = f"text/{subtype}; charset={charset}"
    return [("Content-Type", kind), ("Content-Transfer-Encoding", transfer)]


def _encode_text(text: str, subtype: str, transfer: str) -> tuple[Headers, bytes]:
    data = text.encode()
    body = quopri.encodestring(data) if transfer == "quoted-printable" else base64.encodebytes(data)
    return _text_headers(subtype, '"UTF-8"', transfer), body


def _encode_parts(rng: random.Random, headers: Headers, draft: MailDraft, form: str) -> bytes:
    parts = [_encode_text(draft.plain, "plain", "quoted-printable")]
    subtype = "mixed"
    if form == "alternative":
        subtype = "alternative"
        parts.append(_encode_text(draft.html, "html", "quoted-printable"))
    else:
        name = rng.choice(("plan.pdf", "Foto 3.jpg", "Übersicht.xlsx", "notes.txt"))
        disposition = f'attachment; filename="{encode_words(name)}"'
        kind = [("Content-Type", "application/octet-stream"), ("Content-Disposition", disposition)]
        content = base64.encodebytes(rng.randbytes(rng.randint(200, 6_000)))
        parts.append(([*kind, ("Content-Transfer-Encoding", "base64")], content))
    boundary = f"=_{rng.getrandbits(64):016x}"
    lines = [b"".join((b"--", boundary.encode(), b"\n", _join(*part))) for part in parts]
    body = b"\n".join([*lines, f"--{boundary}--\n".encode()])
    return _join(headers, ([("Content-Type", f'multipart/{subtype}; boundary="{boundary}"')], body))


def _join(headers: Headers, content: tuple[Headers, bytes] | bytes) -> bytes:
    more, body = content if isinstance(content, tuple) else ([], content)
    head = "".join(f"{name}: {value}\n" for name, value in [*headers, *more])
    return b"".join((head.encode(), b"\n", body))


def write_record(message: bytes, when: datetime, *, is_quoted: bool = True) -> bytes:
    """Return a message as a record of an mbox, with a From_ line above and an empty line below.

    `is_quoted`: lines that begin with "From " get a ">", as in the variant mboxrd; other programs leave them.
    """
    moment = when.astimezone(UTC)
    first = f"From - {_DAYS[moment.weekday()]} {_MONTHS[moment.month - 1]} {moment.day:2} {moment:%H:%M:%S %Y}\n"
    if is_quoted:
        message = _FROM_LINE.sub(rb">\1", message)
    return b"".join((first.encode(), message.rstrip(b"\n"), b"\n\n"))


def make_broken(seed: int) -> bytes:
    """Return a malformed message: a sound one that was damaged in one to three ways, the same for the same seed."""
    rng = random.Random(seed)
    name = rng.choice(("Sølvi Tanaka", "Priya Raman", "=?utf-8?B?broken"))
    headers = [
        ("From", f"{name} <someone{seed}@example.org>"),
        ("To", "Undisclosed: a@example.org, <b@example.org"),
        ("Subject", encode_words(f"Überraschung Nr. {seed}")),
        ("Date", rng.choice(("Tue, 31 Feb 2026 25:61:00 +9999", "yesterday", "Tue, 10 Nov 2026 09:14:00 +0100"))),
        ("Message-ID", rng.choice((f"<{seed}@broken.example.org>", "<>", "no angle brackets", "<a@b> <c@d>"))),
    ]
    words = " ".join(rng.choice(("lorry", "größer", "paper", "two", "日本")) for _ in range(rng.randint(0, 200)))
    draft = MailDraft(own=(), plain=f"{words}\n", html=f"<p>{words}</p><b><table><tr>")
    message = encode_message(rng, headers, draft, rng.choice(FORMS), rng.choice(("koi8-r", "gb2312", "utf-8")))
    for _ in range(rng.randint(1, 3)):
        message = rng.choice(_DAMAGES)(rng, message)
    return message


def _mutate_bytes(rng: random.Random, message: bytes) -> bytes:
    changed = bytearray(message)
    for _ in range(rng.randint(1, 20)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _truncate(rng: random.Random, message: bytes) -> bytes:
    return message[: rng.randint(1, len(message))]


def _add_nuls(rng: random.Random, message: bytes) -> bytes:
    at = rng.randrange(len(message))
    return message[:at] + b"\0" * rng.randint(1, 50) + message[at:]


def _grow_header(rng: random.Random, message: bytes) -> bytes:
    word = rng.choice((b"x", b"=?utf-8?Q?a?= ", b"<id@example.org>\n ", b'"', b"(", b"a,", b"\xff"))
    name = rng.choice((b"Subject", b"References", b"From", b"Content-Type", b"X-Long"))
    return b"".join((name, b": ", word * rng.choice((1_000, 50_000)), b"\n", message))


def _nest_parts(rng: random.Random, message: bytes) -> bytes:
    kind = rng.choice((b"multipart/mixed", b"message/rfc822"))
    for level in range(200):
        boundary = str(level).encode()
        opening = b"--%s\n" % boundary if kind == b"multipart/mixed" else b""
        message = b'Content-Type: %s; boundary="%s"\n\n%s%s' % (kind, boundary, opening, message)
    return b"Subject: deep\n" + message


def _break_boundary(rng: random.Random, message: bytes) -> bytes:
    wrong = rng.choice((b"", b'"', b"=_", b"a b;", b"\xe9"))
    return b"".join((b"Content-Type: multipart/mixed; boundary=", wrong, b"\n", message, b"\n--=_\n--=_--\n"))


def _replace_words(rng: random.Random, message: bytes) -> bytes:
    old: Sequence[bytes] = (b"base64", b"utf-8", b"UTF-8", b"Content-", b"text/plain", b": ", b"\n\n", b"?=")
    new: Sequence[bytes] = (b"x-uuencode", b"x-unknown", b"", b"\xff\xfe", b"application/ms-tnef", b"\r", b"=?")
    return message.replace(rng.choice(old), rng.choice(new))


_DAMAGES = (_mutate_bytes, _truncate, _add_nuls, _grow_header, _nest_parts, _break_boundary, _replace_words)
