"""Bytes of mail as text: transfer encodings and charsets, whatever the sender wrongly says of them.

The other modules of mail call this one. Every function returns an answer for any bytes, and raises nothing.
"""

from __future__ import annotations

import binascii
import codecs
import re
from functools import lru_cache

_NAME = re.compile(r"[A-Za-z0-9_.:+-]{1,60}")
_SURROGATES = re.compile("[\ud800-\udfff]")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/=]+")
_INNER_SPACE = re.compile(rb"\S[ \t]+\S")
_PADDING = re.compile(rb"=+")

# What senders really mean: the charset of Windows that has all the characters of the standard one, and more.
_WIDER = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "iso2022_jp": "iso2022_jp_ext",
}
# Codecs of Python that are no charset of a text, and ASCII, which a text that has other bytes is not in.
_UNFIT = frozenset({"ascii", "unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "mbcs", "oem"})


def decode_bytes(data: bytes, charset: str = "") -> str:
    """Return bytes as text: in the charset that they are said to be in, else UTF-8, else Windows-1252."""
    codec = _find_codec(charset)
    text = _decode(data, codec)
    return _SURROGATES.sub("\ufffd", text) if codec == "utf-7" else text  # no other codec makes halves of characters


def decode_surrogates(text: str) -> str:
    """Return a text in which bytes that are not ASCII stand as surrogates, with the characters that they mean."""
    return text if text.isascii() else decode_bytes(text.encode("utf-8", "surrogateescape"))


def decode_transfer(data: bytes, encoding: str) -> bytes:
    """Return the bytes that a transfer encoding stands for; as they are if they are not in it."""
    if encoding == "base64":
        return decode_base64(data)
    if encoding == "quoted-printable":
        return binascii.a2b_qp(data)
    return data


def decode_base64(data: bytes) -> bytes:
    """Return the bytes that a base64 text stands for, without what is damaged. Plain words stay as they are."""
    words = _INNER_SPACE.search(data)  # a gateway added its footer, or the whole text was never encoded
    end = data.rfind(b"\n", 0, words.start()) + 1 if words else len(data)
    clean = _NOT_BASE64.sub(b"", data[:end])
    whole = bytearray()
    for piece in _PADDING.split(clean):  # padding in the middle: two texts were encoded one by one
        kept = len(piece) - (len(piece) % 4 == 1)  # one letter of base64 is less than a byte
        whole += binascii.a2b_base64(piece[:kept] + b"=" * (-kept % 4))
    if end < len(data):
        whole += b"\n" * bool(whole) + data[end:]
    return bytes(whole)


@lru_cache(200)
def _find_codec(charset: str) -> str:
    """Return the codec of Python for a charset; empty if there is none that is worth trying."""
    found = _NAME.search(charset)
    if found is None:
        return ""
    try:
        name = codecs.lookup(found[0].removeprefix("x-").removeprefix("X-")).name
        b" ".decode(name, "replace")  # raises for codecs such as hex, which do not make text
    except (LookupError, ValueError):
        return ""
    return "" if name.replace("_", "-") in _UNFIT else _WIDER.get(name, name)


def _decode(data: bytes, codec: str) -> str:
    for name in dict.fromkeys(filter(None, (codec, "utf-8"))):
        try:
            return data.decode(name)
        except ValueError:
            if data.isascii():  # a charset that shifts, as ISO-2022-JP: the bytes say nothing in any other one
                return data.decode(name, "replace")
    return _decode_damaged(data, codec or "utf-8")


def _decode_damaged(data: bytes, codec: str) -> str:
    """Return bytes as text that are in no charset as a whole: a few bad ones must not spoil all the others."""
    text = data.decode(codec, "replace")
    bad = text.count("\ufffd")
    good = sum(1 for char in text if char > "\x7f") - bad
    if good > bad:
        return text
    return data.decode("cp1252", "replace")
