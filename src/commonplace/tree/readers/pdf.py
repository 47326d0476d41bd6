"""Read a PDF: a section for each page. It needs the extra `documents`. `readers/documents.py` calls `read_pdf`."""

from __future__ import annotations

from typing import Any

from commonplace.model.lazy import lazy, load_any
from commonplace.tree.readers.sections import DocumentContent, DocumentSection, split_long
from commonplace.tree.source import SkipReason

_DATE = lazy(r"D:(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?")
_SOFT_HYPHEN = "\ufffe"  # what pdfium writes for the hyphen of a word that goes on in the next line
_SPACES = lazy(r"[ \t\xa0]+\n")


def read_pdf(data: bytes) -> DocumentContent | SkipReason:
    """Return the pages of a PDF that have text, or why it is skipped: "empty" if it has only pictures of text."""
    pypdfium2 = load_any("pypdfium2")
    if pypdfium2 is None:
        return "extra_missing"
    errors = (pypdfium2.PdfiumError, ValueError, IndexError, OverflowError)
    sections: list[DocumentSection] = []
    unreadable: list[str] = []
    try:
        with pypdfium2.PdfDocument(data) as document:
            facts = document.get_metadata_dict()
            for number in range(len(document)):
                try:
                    sections += _read_page(document, number)
                except errors:
                    unreadable.append(f"page {number + 1}")
    except errors:  # also for one that has a password
        return "unreadable"
    if not sections:
        return "unreadable" if unreadable else "empty"
    title, author, date = _clean(facts["Title"]), _clean(facts["Author"]), _read_date(facts["CreationDate"])
    return DocumentContent(sections, title, author, date, unreadable=tuple(unreadable))


def _read_page(document: Any, number: int) -> list[DocumentSection]:
    page = document[number]
    text_page = page.get_textpage()
    try:
        text = _clean(text_page.get_text_range())
    finally:
        text_page.close()
        page.close()
    name = f"page-{number + 1}"
    return [
        DocumentSection(name if count == 1 else f"{name}:{count}", (f"page {number + 1}",), part)
        for count, part in enumerate(split_long(text), 1)
    ]


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _SPACES.sub("\n", text.replace(f"{_SOFT_HYPHEN}\n", "").replace(_SOFT_HYPHEN, "")).strip()


def _read_date(text: str) -> str:
    """Return a date of a PDF in the form of ISO 8601; "" if it is none."""
    found = _DATE.match(text)
    if not found:
        return ""
    year, month, day, hour, minute, second, utc, east, minutes = found.groups()
    zone = "+00:00" if utc else f"{east}:{minutes or '00'}" if east else ""
    return f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}{zone}"
