"""Read documents: Markdown (Obsidian, Notion), text, HTML, and with the extra `documents` PDF and Word files.

`tree/formats.py` chooses this reader when no other one fits. A unit is a section of a document; a short document is
one unit. Other files that look like documents are reported. What no one would expect to be read (pictures, settings,
code), hidden files, and notes without a word are passed over.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from commonplace.model.errors import Unreadable
from commonplace.model.lazy import lazy
from commonplace.model.times import format_time
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.tree.readers.clock import SourceClock
from commonplace.tree.readers.docx import read_docx
from commonplace.tree.readers.html_text import html_to_text
from commonplace.tree.readers.mail_encodings import decode_bytes
from commonplace.tree.readers.pdf import read_pdf
from commonplace.tree.readers.sections import DocumentContent, divide_text
from commonplace.tree.source import (
    MAX_MESSAGE,
    FileSet,
    Person,
    ReadOptions,
    SkippedUnit,
    SkipReason,
    SourceKind,
    SourceUnit,
)

NAME = "documents"
KIND: SourceKind = "document"

# Files that a user might take for documents, so that they are reported. `key` and `ps` are not: those are others, too.
_OTHER_DOCUMENTS = frozenset(
    (
        *("csv", "doc", "dot", "dotx", "epub", "fodt", "mht", "mhtml", "mobi", "numbers", "odp", "ods", "odt", "pages"),
        *("ppt", "pptx", "rtf", "tsv", "wpd", "wps", "xls", "xlsx"),
    )
)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOTION_ID = lazy(r" [0-9a-f]{32}\Z")  # behind the name of every page of an export
_CHARSET = lazy(r"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)""")
_TITLE = lazy(r"<title[^>]{0,500}>([^<]{0,1000})", re.I)
_DATES, _AUTHORS, _TAGS = ("date", "created"), ("author", "authors"), ("tags", "tag")
_BETWEEN = " › "


def matches(files: FileSet) -> bool:
    """Return whether there is a file with the ending of a document; one file alone may have none, as README."""
    names = files.names
    is_bare = len(names) == 1 and names[0] == files.given.replace("\\", "/").rpartition("/")[2] and "." not in names[0]
    return is_bare or any(_find_ending(name) in _PARSERS for name in names)


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the sections of all documents, file by file, and the documents that could not be read."""
    clock = SourceClock(options.timezone)
    for name in files.names:
        ending = _find_ending(name)
        if ending in _OTHER_DOCUMENTS:
            yield SkippedUnit(name, "unknown_format")
            continue
        parse = _PARSERS.get(ending, _parse_text if len(files.names) == 1 and not ending else None)
        if parse is None:
            continue
        data = _read_bytes(files, name)
        content = parse(data) if isinstance(data, bytes) else data
        if isinstance(content, DocumentContent):
            yield from _make_units(name, content, files, clock)
            yield from (SkippedUnit(f"{name}, {page}", "unreadable") for page in content.unreadable)
        else:
            yield SkippedUnit(name, content)


def _find_ending(name: str) -> str:
    """Return the ending of a file name in lower case, without the dot; of a hidden or temporary file one of nothing."""
    base = name.rpartition("/")[2]
    if base.startswith((".", "~$")):
        return "."
    return base.rpartition(".")[2].lower() if "." in base else ""


def _read_bytes(files: FileSet, name: str) -> bytes | SkipReason:
    try:
        with files.open(name) as stream:
            data = stream.read(MAX_MESSAGE + 1)
    except Unreadable:
        return "unreadable"
    return data if len(data) <= MAX_MESSAGE else "too_large"


def _make_units(name: str, content: DocumentContent, files: FileSet, clock: SourceClock) -> Iterator[SourceUnit]:
    stem = name.rpartition("/")[2]
    stem = _NOTION_ID.sub("", stem.rpartition(".")[0] or stem)
    title = " ".join(content.title.split()) or stem
    occurred, offset = _read_date(content.date, clock)
    if not occurred:
        occurred, offset = files.modified(name), None
    for number, section in enumerate(content.sections, 1):
        yield SourceUnit(
            kind=KIND,
            text=section.text,
            place=f"{name}, section {number}" if len(content.sections) > 1 else name,
            native_id=f"{name}#{section.name}",
            title=_BETWEEN.join((title, *filter(None, section.headings))),
            author=Person(" ".join(content.author.split())),
            occurred=occurred,
            offset=offset,
            thread=name,
            labels=content.tags,
        )


def _read_date(text: str, clock: SourceClock) -> tuple[str, int | None]:
    """Return a date that a document says as a timestamp, with the offset of its clock; "" if it is none."""
    try:
        moment = datetime.fromisoformat(text.strip())
        east = moment.utcoffset()
        return clock.to_utc(moment) if east is None else (format_time(moment), int(east.total_seconds() // 60))
    except (ValueError, OverflowError):
        return "", None


# Formats: each returns what is in a document, or why it is skipped


def _decode(data: bytes) -> str | None:
    """Return the text of a file with `\\n` between lines; None for what is no text."""
    if data.startswith(_UTF_16):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        return None
    else:
        text = decode_bytes(data.removeprefix(codecs.BOM_UTF8))
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def _parse_text(data: bytes) -> DocumentContent | SkipReason:
    text = _decode(data)
    return "unreadable" if text is None else DocumentContent(divide_text(text, has_headings=False)[1])


def _parse_markdown(data: bytes) -> DocumentContent | SkipReason:
    text = _decode(data)
    if text is None:
        return "unreadable"
    front, body = split(text)
    title, sections = divide_text(body)
    tags = (tag.strip().lstrip("#") for name in _TAGS for text in front.texts(name) for tag in text.split(","))
    return DocumentContent(
        sections,
        title=front.text("title") or title,
        author=_first_text(front, _AUTHORS),
        date=_first_text(front, _DATES),
        tags=tuple(dict.fromkeys(filter(None, tags))),
    )


def _first_text(front: Frontmatter, names: tuple[str, ...]) -> str:
    return next((text for name in names for text in front.texts(name)), "")


def _parse_html(data: bytes) -> DocumentContent | SkipReason:
    declared = _CHARSET.search(data[:2_048].decode("ascii", "replace").lower())
    if data.startswith(_UTF_16):
        text = data.decode("utf-16", "replace")
    else:
        text = decode_bytes(data.removeprefix(codecs.BOM_UTF8), declared[1] if declared else "")
    title = _TITLE.search(text)
    own_title, sections = divide_text(html_to_text(text, is_page=True))
    return DocumentContent(sections, title=html.unescape(title[1]).strip() if title else own_title)


_MARKDOWN = ("md", "markdown", "mdown", "mkd")
_PLAIN = ("adoc", "asciidoc", "org", "rst", "text", "txt")
_WEB = ("htm", "html", "xhtml")
_PARSERS: Mapping[str, Callable[[bytes], DocumentContent | SkipReason]] = {
    **dict.fromkeys(_MARKDOWN, _parse_markdown),
    **dict.fromkeys(_PLAIN, _parse_text),
    **dict.fromkeys(_WEB, _parse_html),
    "pdf": read_pdf,
    "docx": read_docx,
}
