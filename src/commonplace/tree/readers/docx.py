"""Read a Word file (.docx). It needs the extra `documents`. `readers/documents.py` calls `read_docx`.

The file is a zip, and what a zip may unpack to has no limit. So the texts in it are read here, with one, and mammoth
gets a zip of ours with these.
"""

from __future__ import annotations

import html
import io
import re
import struct
import zipfile
import zlib

from commonplace.model.lazy import lazy, load_any
from commonplace.tree.readers.html_text import html_to_text
from commonplace.tree.readers.sections import DocumentContent, divide_text
from commonplace.tree.source import MAX_MESSAGE, SkipReason

_FACTS = "docProps/core.xml"
_PARTS = (".xml", ".rels")
_MAX_PARTS = 1_000
_STEP = 1 << 16
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, IndexError,
               NotImplementedError, RuntimeError, OverflowError)  # fmt: skip
_FACT = r"<{0}(?:\s[^<>]*)?>([^<]*)</{0}>"
_TITLE, _AUTHOR, _MODIFIED = (lazy(_FACT.format(name)) for name in ("dc:title", "dc:creator", "dcterms:modified"))


def read_docx(data: bytes) -> DocumentContent | SkipReason:
    """Return the sections of a Word file, or why it is skipped."""
    mammoth = load_any("mammoth")
    if mammoth is None:
        return "extra_missing"
    parts = _read_parts(data)
    if isinstance(parts, str):
        return parts
    picture = mammoth.images.img_element(lambda _: {})
    try:
        shown = mammoth.convert_to_html(io.BytesIO(_pack(parts)), convert_image=picture).value
    except Exception:  # noqa: BLE001 - it raises what its own code stumbles over, for any odd file
        return "unreadable"
    title, sections = divide_text(html_to_text(shown, is_page=True))
    facts = parts.get(_FACTS, b"").decode("utf-8", "replace")
    return DocumentContent(
        sections, title=_find(_TITLE, facts) or title, author=_find(_AUTHOR, facts), date=_find(_MODIFIED, facts)
    )


def _read_parts(data: bytes) -> dict[str, bytes] | SkipReason:
    """Return the texts in a Word file, which are XML, by their names."""
    parts: dict[str, bytes] = {}
    left = MAX_MESSAGE
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for info in packed.infolist():
                if not info.filename.endswith(_PARTS) or info.compress_type not in (0, zipfile.ZIP_DEFLATED):
                    continue
                with packed.open(info) as stream:
                    pieces = []
                    while left >= 0 and (piece := stream.read(_STEP)):
                        pieces.append(piece)
                        left -= len(piece)
                parts[info.filename] = b"".join(pieces)
                if left < 0 or len(parts) > _MAX_PARTS:
                    return "too_large"
    except _ZIP_ERRORS:
        return "bad_zip"
    return parts


def _pack(parts: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, part in parts.items():
            target.writestr(zipfile.ZipInfo(name), part)
    return packed.getvalue()


def _find(pattern: re.Pattern[str], facts: str) -> str:
    found = pattern.search(facts)
    return html.unescape(found[1]).strip() if found else ""
