"""The entry line: `<!-- entry id=... author=... trust=... -->`, who said it and when.

Written for people to read and for nobody to forge: a value is bare when it is a plain word, else in double quotes with
all that is not printable, and `<` and `>`, escaped. Reading is lenient, because a person may have edited the line: what
cannot be read is dropped, and an entry that does not say whom to trust is `external`.
"""

from __future__ import annotations

import re

from commonplace.model.errors import InvalidField
from commonplace.model.memory import Entry, Trust
from commonplace.model.patterns import lazy
from commonplace.text.yaml_values import quote, read_value

_BARE = lazy(r"[A-Za-z0-9_.:/@+][A-Za-z0-9_.:/@+,-]*", re.ASCII)
_NAME = lazy(r"[a-z][a-z_]*", re.ASCII)
# Names start at a word: `x-trust=human` says nothing about trust, and a long line is searched once, not per letter.
_ATTRIBUTE = lazy(r'(?<![^ ])([a-z][a-z_]*)=("(?:[^"\\]|\\.)*"|[^\s"]+)(?= |\Z)', re.ASCII)
_KNOWN = ("id", "author", "host", "session", "trust", "occurred", "thread", "seq", "tags")


def write_attributes(entry: Entry) -> str:
    """The attributes of an entry, only what is known, always in one order."""
    values = {
        "id": entry.id,
        "author": entry.author,
        "host": entry.host,
        "session": entry.session,
        "trust": entry.trust.value,
        "occurred": entry.occurred,
        "thread": entry.thread,
        "seq": None if entry.seq is None else str(entry.seq),
        "tags": _join(entry.tags),
    }
    for name, value in entry.extra:
        if name not in _KNOWN and _NAME.fullmatch(name):
            values[name] = value
    return " ".join(f"{name}={_write(value)}" for name, value in values.items() if value)


def read_attributes(line: str, *, time: str, text: str) -> Entry:
    found = {match.group(1): _read(match.group(2)) for match in _ATTRIBUTE.finditer(line)}
    seq = found.get("seq", "")
    return Entry(
        time=time,
        text=text,
        id=found.get("id", ""),
        trust=_trust(found.get("trust", "")),
        author=found.get("author") or None,
        host=found.get("host") or None,
        session=found.get("session") or None,
        occurred=found.get("occurred") or None,
        thread=found.get("thread") or None,
        seq=int(seq) if re.fullmatch(r"-?[0-9]{1,18}", seq, re.ASCII) else None,
        tags=tuple(tag for tag in found.get("tags", "").split(",") if tag),
        extra=tuple((name, value) for name, value in found.items() if name not in _KNOWN and value),
    )


def _join(tags: tuple[str, ...]) -> str:
    for tag in tags:
        if not tag or "," in tag:
            raise InvalidField(f"{tag[:40]!a} is not a tag.", hint="A tag of an entry has no comma in it.")
    return ",".join(tags)


def _write(value: str) -> str:
    if _BARE.fullmatch(value):
        return value
    return quote(value).replace("<", "\\u003c").replace(">", "\\u003e")


def _read(raw: str) -> str:
    if not raw.startswith('"'):
        return raw
    value = read_value(raw)
    return value if isinstance(value, str) else ""


def _trust(word: str) -> Trust:
    try:
        return Trust(word)
    except ValueError:
        return Trust.EXTERNAL
