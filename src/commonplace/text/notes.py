"""Parse and write notes, the Markdown files of memories, without changing any other byte.

A note is frontmatter, a lead (the title, and anything a person wrote above the first entry) and entries. An entry
is a heading with a time, directly followed by an entry line, then its text:

    ## 2026-11-15T09:30:00Z
    <!-- entry id=0197... author=claude-code trust=agent -->
    Use pytest for every test in this project.

Promises: parse(data).render() == data for any bytes; the text of an entry comes back exactly as it was given, for any
text; and no text can forge an entry or a conflict, because a line of text that starts like an entry line, or like a
mark of a conflict, gets a backslash in front, which reading removes. What is added has the line end that most
lines of the file have; in an entry with CRLF, a line feed of its text is written as CRLF, and read back.

A note in which git left the marks of a merge conflict says nothing until a person has chosen: it has no entries and no
fields, and `in_conflict` tells. Its bytes stay as they are.

In an entry line a plain word stands as it is; any other value is in double quotes, with `<`, `>` and unprintable
characters escaped. Reading is lenient, because a person may have edited the line: an attribute that cannot be parsed is
dropped, and an entry without a valid trust is `external`.

The end of this module finds wikilinks, `[[key]]` and `[[key#heading|shown]]` as Obsidian writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, TypeVar

from commonplace.model.errors import InvalidContent, InvalidField
from commonplace.model.lazy import lazy
from commonplace.model.memory import PIN_PROPOSED, PIN_REJECTED, Entry, Link, MemoryType, Meta, Status, Trust
from commonplace.model.times import STAMP, is_timestamp
from commonplace.text.frontmatter import Frontmatter, Writable, new_field, quote, read_value, split

_BARE = lazy(r"[A-Za-z0-9_.:/@+][A-Za-z0-9_.:/@+,-]*", re.ASCII)
_NAME = lazy(r"[a-z][a-z_]*", re.ASCII)
# A name starts after a space: `x-trust=human` is not trust, and a long line is searched once, not per letter.
_ATTRIBUTE = lazy(r'(?<![^ ])([a-z][a-z_]*)=("(?:[^"\\]|\\.)*"|[^\s"]+)(?= |\Z)', re.ASCII)
_KNOWN = ("id", "author", "host", "session", "trust", "occurred", "thread", "seq", "tags")


def write_attributes(entry: Entry) -> str:
    """Return the attributes of an entry that have a value, always in the same order."""
    values = {name: getattr(entry, name) for name in _KNOWN}
    values["seq"] = None if entry.seq is None else str(entry.seq)
    values["tags"] = _join(entry.tags)
    for name, value in entry.extra:
        if name not in _KNOWN and _NAME.fullmatch(name):
            values[name] = value
    return " ".join(f"{name}={_write(value)}" for name, value in values.items() if value)


def read_attributes(line: str, *, time: str, text: str) -> Entry:
    """Return the entry with the attributes in a line; unknown attributes go to `extra`."""
    found = {match.group(1): _read(match.group(2)) for match in _ATTRIBUTE.finditer(line)}
    seq = found.get("seq", "")
    return Entry(
        time=time,
        text=text,
        id=found.get("id", ""),
        trust=_one_of(Trust, found.get("trust", ""), Trust.EXTERNAL),
        **{name: found.get(name) or None for name in ("author", "host", "session", "occurred", "thread")},
        seq=int(seq) if re.fullmatch(r"-?[0-9]{1,18}", seq, re.ASCII) else None,
        tags=tuple(tag for tag in found.get("tags", "").split(",") if tag),
        extra=tuple((name, value) for name, value in found.items() if name not in _KNOWN and value),
    )


def _join(tags: tuple[str, ...]) -> str:
    for tag in tags:
        if not tag or "," in tag:
            raise InvalidField(f"{tag[:40]!a} is not a valid tag.", hint="A tag cannot contain a comma.")
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


_ENTRY = lazy(rf"^## ({STAMP})\r?\n<!-- entry(?: ([^\n]*?))? ?-->(\r?)(?:\n|\Z)", re.M | re.ASCII)
_OURS, _BETWEEN, _THEIRS = "<<<<<<< ", "=======", ">>>>>>> "  # how git marks the two sides of a conflict
_NEEDS_ESCAPE = lazy(rf"^(\\*(?:<!-- entry|{_OURS}|{_THEIRS}))", re.M)
_ESCAPED = lazy(rf"^\\(\\*(?:<!-- entry|{_OURS}|{_THEIRS}))", re.M)
_CODE_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
IN_CONFLICT = "In conflict after a merge: a person has to choose between the two texts in the file."
_TITLE = lazy(r"\s*# [^\n]*(?:\n|\Z)")
_ALWAYS = frozenset({"id", "key", "type", "status", "summary", "created", "updated"})
_Label = TypeVar("_Label", bound=StrEnum)


class Block:
    """One entry as it is in the file: its exact characters, parsed on first use."""

    __slots__ = ("eol", "head", "known", "last", "raw")

    def __init__(self, raw: str, eol: str, head: int, *, last: bool, known: Entry | None = None) -> None:
        self.raw = raw
        self.eol = eol  # the ending of its own lines: a file edited on several systems may have both
        self.head = head  # length of the heading and the entry line
        self.last = last  # it ends the file: no empty line follows it
        self.known = known

    @property
    def entry(self) -> Entry:
        """The parsed entry."""
        if self.known is not None:
            return self.known
        match = _ENTRY.match(self.raw)
        assert match is not None  # noqa: S101 - a block is made from such a match
        text = self.raw[self.head :].removesuffix(self.eol)
        if not self.last:
            text = text.removesuffix(self.eol)  # the empty line between two entries
        text = text.replace(self.eol, "\n")
        self.known = read_attributes(match.group(2) or "", time=match.group(1), text=_ESCAPED.sub(r"\1", text))
        return self.known


class Note:
    """A whole file: frontmatter, lead, entries. It is immutable: a change returns another note."""

    __slots__ = ("blocks", "file_time", "front", "in_conflict", "known", "lead")

    def __init__(
        self, front: Frontmatter, lead: str, blocks: tuple[Block, ...], known: Meta | None = None,
        *, file_time: str = "", in_conflict: bool = False,
    ) -> None:  # fmt: skip
        self.front, self.lead, self.blocks = front, lead, blocks
        self.known = known  # the parsed frontmatter, once it was used
        self.file_time = file_time  # when its file was changed last; "" if that is not known
        self.in_conflict = in_conflict

    def replace(self, **parts: Any) -> Note:
        """Return the note with other parts, named as in the constructor; a new `front` is parsed again on use."""
        if "front" in parts:
            parts = {"known": None, **parts}
        return Note(**{name: getattr(self, name) for name in Note.__slots__} | parts)

    def render(self) -> bytes:
        """Return the bytes of the file."""
        text = self.front.render() + self.lead + "".join(block.raw for block in self.blocks)
        return text.encode("utf-8", "surrogateescape")

    @property
    def hand_text(self) -> str:
        """The text that a person wrote above the first entry, without the title."""
        return "" if self.in_conflict else self.lead[len(self._title) :].strip("\r\n")

    @property
    def dates(self) -> tuple[str, str]:
        """When the note was made and last changed: by its frontmatter, else by its newest entry, else by its file."""
        created, updated = self.meta.created, self.meta.updated
        if not is_timestamp(updated):
            updated = self.blocks[-1].entry.time if self.blocks else self.file_time
        return created if is_timestamp(created) else updated, updated

    @property
    def hand_time(self) -> str:
        """When the text was written that a person wrote above the first entry: `created`, else when the file was."""
        created = self.meta.created
        return created if is_timestamp(created) else self.file_time

    @property
    def _title(self) -> str:
        title = _TITLE.match(self.lead)
        return title.group() if title else ""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every statement in the note, oldest first; text that a person wrote outside entries counts as one."""
        own = tuple(block.entry for block in self.blocks)
        hand = self.hand_text
        if not hand.strip():
            return own
        return (Entry(self.hand_time, hand, trust=Trust.HUMAN), *own)

    @property
    def newest(self) -> Entry | None:
        """The last statement in the note, without parsing the others."""
        return self.blocks[-1].entry if self.blocks else next(iter(self.entries), None)

    @property
    def meta(self) -> Meta:
        """The parsed frontmatter; a value that cannot be parsed counts as absent."""
        if self.known is not None:
            return self.known
        front = self.front
        self.known = Meta(
            **{name: front.text(name) for name in ("id", "key", "summary", "created", "updated")},
            type=_one_of(MemoryType, front.text("type"), MemoryType.PROJECT),
            status=_one_of(Status, front.text("status"), Status.ACTIVE),
            tags=front.texts("tags"),
            pinned=front.text("pinned").lower() in ("true", "yes", "on"),
            links=_read_links(front),
            pin=front.text("pin") if front.text("pin") in (PIN_PROPOSED, PIN_REJECTED) else "",
        )
        return self.known

    def with_meta(self, meta: Meta) -> Note:
        """Return the note with this frontmatter; unchanged and unknown fields keep their bytes."""
        front, present = self.front, frozenset(self.front.names())
        before = _field_values(self.meta)
        for name, value in _field_values(meta).items():
            if value != before[name] or (value and name in _ALWAYS and name not in present):
                front = front.put(name, value or None)
        return self.replace(front=front, known=meta)

    def with_title(self, old: str, new: str) -> Note:
        """Return the note with another title, if it has the one that it was made with."""
        title = self._title
        if title.strip() != f"# {' '.join(old.split())}":
            return self
        return self.replace(lead=title.replace(old, new, 1) + self.lead[len(title) :], known=self.known)

    def append(self, entry: Entry) -> Note:
        """Return the note with one more entry at the end; nothing above it changes."""
        front, lead, blocks = self.front, self.lead, self.blocks
        if blocks:
            blocks = (*blocks[:-1], _followed(blocks[-1]))
        elif lead:
            lead = _ended(lead, front.eol)
            lead = lead if lead.endswith(("\n\n", "\n\r\n")) else lead + front.eol
        elif front.closing:
            front = front._replace(closing=_ended(front.closing, front.eol))
        added = _write_block(entry, front.eol)
        return self.replace(front=front, lead=lead, blocks=(*blocks, added), known=self.known)

    def without_newest(self) -> Note:
        """Return the note as it was before its newest entry was appended."""
        blocks = self.blocks[:-1]
        if blocks:
            last = blocks[-1]
            blocks = (*blocks[:-1], Block(last.raw.removesuffix(last.eol), last.eol, last.head, last=True))
        return self.replace(blocks=blocks)

    def with_entries(self, entries: Iterable[Entry]) -> Note:
        """Return the note with these entries instead of everything below the title, even hand-written text."""
        note = self.replace(lead=self._title, blocks=())
        for entry in entries:
            note = note.append(entry)
        return note

    def with_trust(self, judge: Callable[[Entry], Trust]) -> Note:
        """Return the note with the trust that `judge` gives each entry; everything else keeps its bytes."""
        return self.replace(blocks=tuple(_trusted(block, judge(block.entry)) for block in self.blocks))

    def with_texts(self, reword: Callable[[Entry], str]) -> Note:
        """Return the note with the text that `reword` gives each entry; everything else keeps its bytes."""
        blocks = tuple(_reworded(block, reword(block.entry)) for block in self.blocks)
        return self.replace(blocks=blocks, known=self.known)

    def with_hand_line(self, line: str) -> Note:
        """Return the note with a line above the text that a person wrote outside entries."""
        title = self._title
        return self.replace(lead=f"{title}{line}{self.front.eol}{self.lead.removeprefix(title)}")


def parse(data: bytes, file_time: str = "") -> Note:
    """Return any bytes as a note. Bytes that are not UTF-8 are kept and rendered the same.

    `file_time` is when the file was changed last: text that a person wrote has no other date.
    """
    text = data.decode("utf-8", "surrogateescape")
    if has_conflict(text):
        return Note(Frontmatter(), text, (), Meta(summary=IN_CONFLICT), file_time=file_time, in_conflict=True)
    front, body = split(text)
    starts = list(_ENTRY.finditer(body))
    if not starts:
        return Note(front, body, (), file_time=file_time)
    ends = [match.start() for match in starts[1:]] + [len(body)]
    blocks = []
    for match, end in zip(starts, ends, strict=True):
        eol = "\r\n" if match.group(3) else "\n"
        blocks.append(Block(body[match.start() : end], eol, len(match.group()), last=end == len(body)))
    return Note(front, body[: starts[0].start()], tuple(blocks), file_time=file_time)


def has_conflict(text: str) -> bool:
    """Return whether a text has the marks of a conflict as git writes them: three lines, in order.

    Three inside one code block are an example. A code block ends with its entry, closed or not.
    """
    if _OURS not in text:
        return False
    code, block, marks = "", 0, list[int]()  # the fence that is open; its line (0: none); the block of each mark so far
    for number, line in enumerate(text.split("\n"), 1):
        fence = _CODE_FENCE.match(line)
        if line.startswith("<!-- entry "):
            code, block = "", 0
        elif fence and not code:
            code, block = fence.group(1), number
        elif fence and fence.group(1).startswith(code) and not line[fence.end() :].strip():
            code, block = "", 0
        elif line.startswith(_OURS):
            marks = [block]
        elif len(marks) == 1 and line.rstrip("\r") == _BETWEEN:
            marks.append(block)
        elif len(marks) == 2 and line.startswith(_THEIRS):
            if not block or {block} != {*marks}:
                return True
            marks = []
    return False


def new_note(meta: Meta, entries: Iterable[Entry]) -> Note:
    """Return a new note with all fields that have a value, the key as title, and the entries."""
    fields = tuple(new_field(name, value) for name, value in _field_values(meta).items() if value)
    front = Frontmatter("---\n", fields, "---\n")
    note = Note(front, f"# {' '.join(meta.key.split())}\n\n", (), meta)
    for entry in entries:
        note = note.append(entry)
    return note


def check_text(text: str) -> str:
    """Return the text, if it can be written as UTF-8; raises InvalidContent otherwise."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidContent(
            f"Character {error.start} of the text is half of a surrogate pair, which is not valid Unicode.",
            hint="Usually an emoji was cut in half: send the whole text.",
        ) from None
    return text


def _write_block(entry: Entry, eol: str) -> Block:
    text = _escape(check_text(entry.text), eol)
    head = _write_head(entry, eol)
    if not _ENTRY.fullmatch(head):
        raise InvalidContent(f"{entry.time[:40]!r} is not a valid time of an entry.")
    return Block(f"{head}{text}{eol}", eol, len(head), last=True, known=entry)


def _escape(text: str, eol: str) -> str:
    return _NEEDS_ESCAPE.sub(r"\\\1", text).replace("\n", eol)


def _write_head(entry: Entry, eol: str) -> str:
    return f"## {entry.time}{eol}<!-- entry {write_attributes(entry)} -->{eol}"


def _trusted(block: Block, trust: Trust) -> Block:
    if block.entry.trust is trust:
        return block
    entry = block.entry._replace(trust=trust)
    head = _write_head(entry, block.eol)
    return Block(head + block.raw[block.head :], block.eol, len(head), last=block.last, known=entry)


def _reworded(block: Block, text: str) -> Block:
    if block.entry.text == text:
        return block
    body = block.raw[block.head :]
    before = body.removesuffix(block.eol)
    before = before if block.last else before.removesuffix(block.eol)  # as `Block.entry` reads it
    raw = f"{block.raw[: block.head]}{_escape(text, block.eol)}{body[len(before) :]}"
    return Block(raw, block.eol, block.head, last=block.last, known=block.entry._replace(text=text))


def _followed(block: Block) -> Block:
    """Return the last block of a file, ready for another one to follow."""
    if block.head == len(block.raw) and block.raw.endswith("\r"):  # cut off inside the CRLF of its entry line
        return Block(f"{block.raw}\n{block.eol}", block.eol, block.head + 1, last=False)
    return Block(_ended(block.raw, block.eol) + block.eol, block.eol, block.head, last=False, known=block.known)


def _ended(text: str, eol: str) -> str:
    return text if text.endswith("\n") else text + eol


def _one_of(kind: type[_Label], text: str, default: _Label) -> _Label:
    try:
        return kind(text)
    except ValueError:
        return default


def _field_values(meta: Meta) -> dict[str, Writable]:
    """Return the value of every field by name, in the order we write them."""
    return {**meta._asdict(), "links": [link._asdict() for link in meta.links]}


def _read_links(front: Frontmatter) -> tuple[Link, ...]:
    value = front.get("links")
    if not isinstance(value, list):
        return ()
    links = []
    for item in value:
        if isinstance(item, dict):
            words = {name: text for name, text in item.items() if name in Link._fields and isinstance(text, str)}
            if words.get("rel") and words.get("to"):
                links.append(Link(**{"origin": "human", **words}))
    return tuple(links)


_WIKILINK = lazy(r"(?<!\\)\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
# As in Markdown, a code block that is never closed extends to the end.
_CODE = lazy(r"^(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*+(?:\n.*?^\1[^\n]*$|.*)|`[^`\n]+`", re.M | re.S)


def find_wikilinks(text: str) -> tuple[str, ...]:
    """Return the targets of the links in a text, each once, in order. Code contains no links."""
    prose = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    found = (match.group(1).strip().removesuffix(".md") for match in _WIKILINK.finditer(prose))
    return tuple(dict.fromkeys(target for target in found if target))


def replace_wikilinks(text: str, follow: Callable[[str], str]) -> str:
    """Return a text whose links lead where `follow` says for each target; headings and shown words stay."""

    def write(match: re.Match[str]) -> str:
        word = match.group(1).strip()
        target = word.removesuffix(".md")
        new = follow(target) if target else target
        return match.group() if new == target else match.group().replace(word, new + word[len(target) :], 1)

    if "[[" not in text:
        return text
    parts, end = list[str](), 0
    for code in _CODE.finditer(text):
        parts += [_WIKILINK.sub(write, text[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, _WIKILINK.sub(write, text[end:])])
