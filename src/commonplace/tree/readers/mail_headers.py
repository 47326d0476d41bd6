"""What the headers of a mail say: texts in encoded words, people, message ids and parameters, however broken.

A raw value is a header as it stands in the message, in one line, with bytes that are not ASCII as surrogates.
`mail_parts` and `mail_message` call these functions. They return an answer for any value, and raise nothing.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from commonplace.tree.readers.mail_encodings import decode_base64, decode_bytes, decode_surrogates
from commonplace.tree.source import Person

_MAX_LIST = 200_000  # characters of a list of people that are read: some thousands of them
_MAX_ONE = 2_000  # characters of the name and address of one
_MAX_PARAMETERS = 10_000
_MAX_ID = 1_000
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f]")

# An encoded word. Its text may have spaces and single question marks, which it should not.
_WORD = r"=\?[^?\s]{1,60}\?[bBqQ]\?(?:[^?=]|\?(?!=)|=(?!\?)|=(?=\?=))*\?="
_WORD_PARTS = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?((?:[^?=]|\?(?!=)|=(?!\?)|=(?=\?=))*)\?=")
_WORDS = re.compile(rf"{_WORD}(?:\s*{_WORD})*")

_TOKENS = re.compile(
    rf'(?P<words>{_WORD})|(?P<quoted>"(?:[^"\\]|\\.){{0,300}}+")|(?P<angle><[^<>]*>?)|(?P<mark>[,;:()])'
    r'|(?P<text>\\.|[^\s<,;:()"\\]+|.)',
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ADDRESS = re.compile(r"[^\s<>()\[\]\"',;:]{1,320}@[^\s<>()\"',;:]{1,320}")
_IN_BRACKETS = re.compile(r"<([^<>]*)>")
_PARAMETER = re.compile(r';\s*([^\s=;"]{1,80})\s*=\s*("(?:[^"\\]|\\.)*"?|[^;]*)', re.DOTALL)
_QUOTED_PAIR = re.compile(r'\\(["\\])')
_SECTION = re.compile(r"([^*]+)\*(?:(\d{1,3})(\*)?)?")


def clean_line(text: str) -> str:
    """Return a text as one line, without control characters."""
    return " ".join(_CONTROLS.sub("", text).split())


def decode_header(raw: str) -> str:
    """Return the text of a header, in one line."""
    text = decode_surrogates(raw)
    if "=?" in text:
        text = _WORDS.sub(_decode_words, text)
    return clean_line(text)


def _decode_words(found: re.Match[str]) -> str:
    """Decode encoded words that follow each other. Their bytes are joined first: a character may be in two of them."""
    pieces: list[tuple[str, bytes]] = []
    for name, encoding, text in _WORD_PARTS.findall(found[0]):
        data = text.encode("utf-8", "surrogateescape")
        is_base64 = encoding in "bB"
        data = decode_base64(data.replace(b" ", b"")) if is_base64 else binascii.a2b_qp(data, header=True)
        charset = name.lower()
        if pieces and pieces[-1][0] == charset:
            data = pieces.pop()[1] + data
        pieces.append((charset, data))
    return "".join(decode_bytes(data, charset) for charset, data in pieces)


def read_parameters(raw: str) -> tuple[str, dict[str, str]]:
    """Return the value of a header such as Content-Type in lower case, and its parameters by lower-case name."""
    value, mark, rest = raw[:_MAX_PARAMETERS].partition(";")
    found: dict[str, str] = {}
    sections: dict[str, list[tuple[int, bool, str]]] = {}
    for name, written in _PARAMETER.findall(mark + rest):
        text = written.strip()
        if text.startswith('"'):
            text = _QUOTED_PAIR.sub(r"\1", text[1:].removesuffix('"'))
        section = _SECTION.fullmatch(name)
        if section:
            number = int(section[2] or 0)
            is_encoded = bool(section[3]) or section[2] is None
            sections.setdefault(section[1].lower(), []).append((number, is_encoded, text))
        else:
            found.setdefault(name.lower(), text)
    found.update((name, _join_sections(texts)) for name, texts in sections.items())
    return value.strip().lower(), found


def _join_sections(texts: list[tuple[int, bool, str]]) -> str:
    """Return the value of a parameter that is in several pieces, or in a charset of its own."""
    texts.sort(key=lambda item: item[0])
    charset, whole = "", b""
    for index, (_, is_encoded, written) in enumerate(texts):
        text = written
        if is_encoded and index == 0 and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        data = text.encode("utf-8", "surrogateescape")
        whole += unquote_to_bytes(data) if is_encoded else data
    return decode_bytes(whole, charset)


def read_ids(raw: str, *, is_bare_allowed: bool = False) -> list[str]:
    """Return the message ids in a header, each as `<id@host>`. A bare one is a word with an @, where it is allowed."""
    if not raw:
        return []
    text = decode_header(raw) if "=?" in raw or not raw.isascii() else raw
    found = _IN_BRACKETS.findall(text)
    if not found and is_bare_allowed:
        found = [word.strip("<>,;\"'") for word in text.split() if "@" in word]
    return list(filter(None, map(_clean_id, found)))


def read_own_id(raw: str) -> str:
    """Return the id of a message from its header; empty if it has none."""
    found = read_ids(raw) or [_clean_id(decode_header(raw).strip("<>"))]
    return found[0]


def _clean_id(text: str) -> str:
    """Return an id without white space, its host in lower case."""
    text = "".join(_CONTROLS.sub("", text).split())
    if not text or len(text) > _MAX_ID:
        return ""
    local, mark, host = text.rpartition("@")
    return f"<{local}{mark}{host.lower() if mark else host}>"


def read_people(raw: str, *, is_one: bool = False) -> list[Person]:
    """Return the people in a header such as To, in its order, each once.

    `is_one`: the header names one person, so a comma outside of quotes is part of the name (`Lee, Ann <ann@x>`).
    """
    found: dict[str, Person] = {}
    text = decode_surrogates(raw[: _MAX_ONE if is_one else _MAX_LIST])
    for person in _split_people(text, is_one=is_one):
        found.setdefault(person.address or person.name.casefold(), person)
    return list(found.values())


def _split_people(text: str, *, is_one: bool) -> Iterator[Person]:
    entry = _PersonText()
    depth = 0  # of comments in each other
    last_close = text.rfind(")")
    for token in _TOKENS.finditer(text):
        kind, value = token.lastgroup, token[0]
        if depth or (value == "(" and token.start() < last_close):
            depth += (value == "(") - (value == ")")
            entry.comment.append(value)
        elif kind == "mark" and value in ",;":
            if is_one and value == "," and not entry.has_address():
                entry.name.append(value)
                continue
            yield from entry.people()
            entry = _PersonText()
        elif value == ":" and not entry.has_address():
            entry = _PersonText()  # what was before it is the name of a group
        elif kind == "angle":
            entry.angle = entry.angle or value
        else:
            entry.name.append(_ESCAPED.sub(r"\1", value[1:-1]) if kind == "quoted" else value)
    yield from entry.people()


class _PersonText:
    """What one entry of a list of people is made of."""

    __slots__ = ("angle", "comment", "name")

    def __init__(self) -> None:
        self.name: list[str] = []
        self.comment: list[str] = []
        self.angle = ""

    def has_address(self) -> bool:
        """Return whether an address was in the entry so far."""
        return bool(self.angle) or any("@" in piece for piece in self.name)

    def people(self) -> Iterator[Person]:
        """Yield the person that the entry names, if it names one."""
        name, comment = decode_header("".join(self.name)), decode_header("".join(self.comment))
        address = "".join(self.angle.strip("<>").split())
        if address.startswith("@"):  # a route, which no mail has needed since 1990
            address = address.rpartition(":")[2]
        if not address:
            inside = _ADDRESS.search(name) or _ADDRESS.search(comment)
            address = inside[0] if inside else ""
            name = name.replace(address, " ") if address else name
        address = decode_header(address).lower().removeprefix("mailto:").strip("'\".,")
        name = clean_line(name.strip("<>[]'\" ,")) or clean_line(comment.strip("() "))
        if name.lower() == address:
            name = ""
        if name or address:
            yield Person(name, address)
