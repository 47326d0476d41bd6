"""Divide the text of a document into the sections that become its units. `readers/documents.py` calls `divide_text`.

A document of one screen is one section. A longer one is divided at its headings, from the highest down, only as far as
needed; what is very short is joined with what follows. A section is named by the headings above it, so that an edit
elsewhere in the document leaves its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash

ONE_SCREEN = 3_000  # characters; up to these a text is not divided
MAX_SECTION = 12_000  # characters; a longer text is divided at its paragraphs
_SHORT = 500  # characters; a shorter section is joined with the next one
_HEADING = lazy(r" {0,3}(#{1,6})(?:[ \t]|\Z)")
_UNDERLINE = lazy(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})(.*)")
_NO_WORD = lazy(r"[\W_]+")
_MARKUP = lazy(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)|[*`]+")
_NAME_LENGTH = 60


class DocumentSection(NamedTuple):
    """A part of a document."""

    name: str  # stable: the words of the headings above it, and a number where these are repeated
    headings: tuple[str, ...]  # above it, without that of the document
    text: str  # with the line of its heading


class DocumentContent(NamedTuple):
    """What is in a document."""

    sections: list[DocumentSection]
    title: str = ""
    author: str = ""
    date: str = ""  # in a form of ISO 8601
    tags: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()  # its pages that cannot be read


class _Block(NamedTuple):
    """A heading and what is below it, up to the next heading."""

    level: int  # 0 before the first heading
    heading: str
    text: str


def divide_text(text: str, *, has_headings: bool = True) -> tuple[str, list[DocumentSection]]:
    """Return the title that a text gives itself, which may be "", and its sections.

    The title is its first heading, if no other one is as high. `has_headings` is whether `#` is the mark of a heading.
    """
    found = _find_blocks(text) if has_headings else [_Block(0, "", text)]
    blocks = [block for block in found if block.level or block.text.strip()]
    levels = [block.level for block in blocks if block.level]
    first = next((block for block in blocks if block.level), None)
    has_title = first is not None and levels.count(min(levels)) == 1 and first.level == min(levels)
    paths = list(_find_paths(blocks, first if has_title else None))
    names = list(_name_paths(paths))
    sections = []
    for start, end in _join(blocks, 0, len(blocks)):
        is_all = end - start == len(blocks)
        name, path = ("", ()) if is_all else (names[start], paths[start])
        whole = "\n".join(block.text for block in blocks[start:end])
        for number, part in enumerate(split_long(whole), 1):
            sections.append(DocumentSection(f"{name}:{number}" if number > 1 else name, path, part))
    return (first.heading if first and has_title else ""), sections


def _find_blocks(text: str) -> Iterator[_Block]:
    """Yield the headings with the lines below them. A heading is a line with `#`, or one that is underlined."""
    level, heading, taken = 0, "", list[str]()
    fence = ""
    for line in text.split("\n"):
        opened = _FENCE.fullmatch(line)
        if fence:
            if opened and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
        elif opened and "`" not in opened[2]:
            fence = opened[1]
        elif found := _HEADING.match(line):
            yield _Block(level, heading, "\n".join(taken))
            level, heading, taken = len(found[1]), _plain(_cut_closing(line[found.end() :])), []
        elif (mark := _UNDERLINE.fullmatch(line)) and _is_title_line(taken):
            title = taken.pop()
            yield _Block(level, heading, "\n".join(taken))
            level, heading, taken = (1 if mark[1].startswith("=") else 2), _plain(title), [title]
        taken.append(line)
    yield _Block(level, heading, "\n".join(taken))


def _is_title_line(lines: Sequence[str]) -> bool:
    """Return whether the last line is a paragraph of its own that begins with a letter or a digit."""
    if not lines or not lines[-1].lstrip()[:1].isalnum() or lines[-1].startswith(("    ", "\t")):
        return False
    return len(lines) == 1 or not lines[-2].strip()


def _cut_closing(heading: str) -> str:
    """Return a heading without the `#` that may close it: `# C# #` is about C#."""
    heading = heading.strip()
    bare = heading.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else heading


def _plain(heading: str) -> str:
    """Return a heading without the marks of links and of emphasis."""
    return " ".join(_MARKUP.sub(lambda found: found[1] or found[2] or "", heading[:500]).split())


def _find_paths(blocks: Sequence[_Block], title: _Block | None) -> Iterator[tuple[str, ...]]:
    """Yield for each block the headings that it is below, and its own."""
    above: list[_Block] = []
    for block in blocks:
        if block.level and block is not title:
            while above and above[-1].level >= block.level:
                above.pop()
            above.append(block)
        yield tuple(each.heading for each in above)


def _name_paths(paths: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the name of each block; a name that was there before gets a number."""
    seen = Counter[str]()
    for path in paths:
        name = "/".join(map(_make_name, path))
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}~{seen[name]}"


def _make_name(heading: str) -> str:
    """Return the words of a heading in lower case, with `-` between them."""
    name = _NO_WORD.sub("-", heading.casefold()).strip("-")
    if len(name) > _NAME_LENGTH:
        return f"{name[: _NAME_LENGTH - 9]}-{short_hash(name, 8)}"
    return name or "-"


def _join(blocks: Sequence[_Block], start: int, end: int) -> list[tuple[int, int]]:
    """Return from where to where each section goes: of one screen, or divided at the highest headings."""
    if end - start <= 1 or sum(len(block.text) + 1 for block in blocks[start:end]) <= ONE_SCREEN:
        return [(start, end)]
    highest = min(block.level for block in blocks[start + 1 : end])
    begins = [start, *(at for at in range(start + 1, end) if blocks[at].level == highest), end]
    return _join_short(blocks, [found for begin, stop in pairwise(begins) for found in _join(blocks, begin, stop)])


def _join_short(blocks: Sequence[_Block], found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    size_before = 0
    for start, end in found:
        size = sum(len(block.text) + 1 for block in blocks[start:end])
        if joined and size_before < _SHORT and size_before + size <= ONE_SCREEN:
            joined[-1] = (joined[-1][0], end)
            size_before += size
        else:
            joined.append((start, end))
            size_before = size
    return joined


def split_long(text: str) -> Iterator[str]:
    """Yield a text in parts of at most MAX_SECTION characters: at an empty line, else at a line, else at a space."""
    start = 0
    while start < len(text):
        end = start + MAX_SECTION
        if end < len(text):
            middle = start + MAX_SECTION // 2
            places = (text.rfind(mark, middle, end) for mark in ("\n\n", "\n", " "))
            end = next((at for at in places if at > 0), end)
        part = text[start:end].strip("\n")
        if part.strip():
            yield part
        start = end
