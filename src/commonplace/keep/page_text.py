"""The text of index pages: the generated lines, and nothing about where they go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonplace.index.port import Counts, Line
from commonplace.model.patterns import lazy
from commonplace.text.percent import quote
from commonplace.text.region import neutral
from commonplace.vault.paths import JOURNAL, BookPath

NEWEST = 20
PINNED = 20
TAGS = 20
LINK_START = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(")
_PLAIN = lazy(r"[A-Za-z0-9._-]+", re.ASCII)


def note_line(name: str, summary: str) -> str:
    """The line of a memory on the page of its own folder."""
    said = f": {neutral(summary)}" if summary else ""
    return f"- [{_label(name)}]({_target(name)}.md){said}\n"


def part_line(prefix: str, name: str, up: str = "") -> str:
    return f"- [{prefix}…]({up}{_target(name)})\n"


def note_lines(rows: Iterable[Line]) -> str:
    """The lines of a folder's own page. The index has them ready: every store puts many on a page."""
    return "".join([row.line for row in rows])


def folder_line(names: Sequence[str], size: str) -> str:
    label, target = "/".join(names), "/".join(_target(name) for name in names)
    return f"- [{_label(label)}]({target}/index.md): {size}\n"


def nouns(folder: BookPath) -> tuple[str, str]:
    """What a folder is full of: one of it, and several."""
    return ("note", "notes") if folder.is_within(JOURNAL) else ("memory", "memories")


def head(counts: Counts, folder: BookPath) -> str:
    """How much there is, by type and by tag; notes of the journal have no type."""
    line = amount(counts.active, *nouns(folder))
    if counts.types and not folder.is_within(JOURNAL):
        line += " (" + ", ".join(f"{number} {name}" for name, number in counts.types.items()) + ")"
    if counts.hidden:
        line += f"; {counts.hidden} more not shown here"
    text = line + ".\n"
    if counts.tags:
        text += "Tags: " + ", ".join(f"{neutral(tag)} {number}" for tag, number in counts.tags) + ".\n"
    return text


def section(title: str, body: str) -> str:
    return f"\n## {title}\n\n{body}" if body else ""


def amount(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def rounded(number: int, one: str, many: str) -> str:
    """A count for a parent page, which must not change at every write: exact to 20, then the round number below."""
    if number <= 20:
        return amount(number, one, many)
    size = 10 ** (len(str(number)) - 1)
    leading = number // size
    return f"{(5 if leading >= 5 else 2 if leading >= 2 else 1) * size:,}+ {many}"


def sub_page(rows: Sequence[Line], parts: Sequence[tuple[str, str]]) -> str:
    lines = [LINK_START.sub(r"\g<0>../", row.line, count=1) for row in rows]
    return "".join(lines) + "".join(part_line(prefix, name) for prefix, name in parts)


def _target(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name, safe="-_.~!,;@+")


def _label(name: str) -> str:
    return name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "[" in name or "]" in name else name
