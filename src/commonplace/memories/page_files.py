"""The lines of index pages, reading and writing a page, and the pages of parent folders.

`pages` decides which lines stand where. Parent pages list folders and rounded counts only, and may lag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonplace.index.port import Counts, PageLine
from commonplace.model.lazy import lazy
from commonplace.text.links import escape_comments, get_region, put_region
from commonplace.text.naming import quote
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, MEMORIES, ROOT, BookPath
from commonplace.vault.port import ABSENT, ANY, Change, Write


def page_write(path: BookPath, old: str | None, new: str) -> Change:
    """Return the change that writes the new text of a page; `old` is None for a page that is not there yet."""
    return Write(path, new.encode("utf-8", "surrogateescape"), ABSENT if old is None else ANY)


NEWEST = 20
PINNED = 20
TAGS = 20
_JOURNAL_NOUNS = ("note", "notes")
LINK_START = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(")
_PLAIN = lazy(r"[A-Za-z0-9._-]+", re.ASCII)


def note_line(name: str, summary: str) -> str:
    """Return the line of a memory on the page of its own folder."""
    link = f"- [{_label(name)}]({_target(name)}.md)"
    return f"{link}: {escape_comments(summary)}\n" if summary else f"{link}\n"


def part_line(prefix: str, name: str, up: str = "") -> str:
    """Return the line that links to a sub-page; `up` is the way to its folder."""
    return f"- [{prefix}…]({up}{_target(name)})\n"


def note_lines(rows: Iterable[PageLine]) -> str:
    """Return the lines of a folder's own page. The index has them ready, because every store writes a page."""
    return "".join([row.line for row in rows])


def folder_line(names: Sequence[str], size: str) -> str:
    """Return the line of a folder on a page above it."""
    label, target = "/".join(names), "/".join(_target(name) for name in names)
    return f"- [{_label(label)}]({target}/index.md): {size}\n"


def nouns(folder: BookPath) -> tuple[str, str]:
    """Return the words for what a folder holds: for one, and for several."""
    return _JOURNAL_NOUNS if folder.parts[:1] == JOURNAL.parts else ("memory", "memories")


def head(counts: Counts, one: str, many: str) -> str:
    """Return the lines that say how much there is, by type and by tag; notes of the journal have no type."""
    line = amount(counts.active, one, many)
    if counts.types and (one, many) != _JOURNAL_NOUNS:
        line += " (" + ", ".join(f"{number} {name}" for name, number in counts.types.items()) + ")"
    if counts.hidden:
        line += f"; {counts.hidden} more not shown here"
    text = line + ".\n"
    if counts.tags:
        text += "Tags: " + ", ".join(f"{escape_comments(tag)} {number}" for tag, number in counts.tags) + ".\n"
    return text


def section(title: str, body: str) -> str:
    """Return a section of a page, nothing if its body is empty."""
    return f"\n## {title}\n\n{body}" if body else ""


def amount(number: int, one: str, many: str) -> str:
    """Return a number with the word for what it counts."""
    return f"{number:,} {one if number == 1 else many}"


def rounded(number: int, one: str, many: str) -> str:
    """Return a count for a parent page, which must not change at every write: exact to 20, then rounded down."""
    if number <= 20:
        return amount(number, one, many)
    size = 10 ** (len(str(number)) - 1)
    leading = number // size
    return f"{(5 if leading >= 5 else 2 if leading >= 2 else 1) * size:,}+ {many}"


def sub_page(rows: Sequence[PageLine], parts: Sequence[tuple[str, str]]) -> str:
    """Return the lines of a sub-page: those of memories, then the links to the pages below (prefix and file)."""
    lines = [LINK_START.sub(r"\g<0>../", row.line, count=1) for row in rows]
    return "".join(lines) + "".join(part_line(prefix, name) for prefix, name in parts)


def _target(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name, safe="-_.~!,;@+")


def _label(name: str) -> str:
    return name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "[" in name or "]" in name else name


_LINE = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)[^\n]*\n", re.M)
ROOT_TITLE = "Commonplace"


def change_parents(files: VaultHandle, scope_folder: BookPath, size: str) -> list[Change]:
    """Return the changes to the pages above a scope that is now this large. Needs the lock of parent pages."""
    kind = scope_folder.parent
    root = ROOT / INDEX_PAGE
    if kind == MEMORIES:  # global and team: the scope is the kind
        _, changes = _set_folder_line(files.read_text(root), root, ROOT_TITLE, scope_folder, size)
        return changes
    path = kind / INDEX_PAGE
    page, root_page = files.read_text(path), files.read_text(root)
    number, changes = _set_folder_line(page, path, f"{path.parts[-2]} folders", scope_folder, size)
    folders = rounded(number, "folder", "folders")
    return changes + _set_folder_line(root_page, root, ROOT_TITLE, kind, folders)[1]


def _set_folder_line(
    page: str | None, path: BookPath, title: str, folder: BookPath, size: str
) -> tuple[int, list[Change]]:
    """Set the line of one folder on one page; return how many lines the page then has, and the change, if any."""
    old = page if page is not None else f"# {title}\n\n"
    line = folder_line(folder.parts[len(path.parts) - 1 :], size)
    lines = {}
    for match in _LINE.finditer(get_region(old) or ""):
        lines[match.group(1)] = match.group()
    own = _LINE.match(line)
    lines[own.group(1) if own else line] = line
    new = put_region(old, "".join(map(lines.__getitem__, sorted(lines))))
    return len(lines), [page_write(path, page, new)] if new != page else []
