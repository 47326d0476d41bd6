"""The lines of index pages, reading and writing a page, and the pages of parent folders.

`pages` decides which lines stand where. Parent pages list folders and rounded counts only, and may lag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonplace.index.port import Counts, PageLine
from commonplace.model.errors import NotFound
from commonplace.model.lazy import lazy
from commonplace.model.scope import Space
from commonplace.text.links import escape_comments, get_region, put_region
from commonplace.text.naming import quote
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, KEEPER, MEMORIES, ROOT, BookPath
from commonplace.vault.port import ABSENT, ANY, Change, Vault, Write


def page_write(path: BookPath, old: str | None, new: str) -> Change:
    return Write(path, new.encode("utf-8", "surrogateescape"), ABSENT if old is None else ANY)


def read_page(vault: Vault, space: Space, path: BookPath) -> str | None:
    try:
        return vault.read(space, KEEPER, path).data.decode("utf-8", "surrogateescape")
    except NotFound:
        return None


NEWEST = 20
PINNED = 20
TAGS = 20
LINK_START = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(")
_PLAIN = lazy(r"[A-Za-z0-9._-]+", re.ASCII)


def note_line(name: str, summary: str) -> str:
    """The line of a memory on the page of its own folder."""
    said = f": {escape_comments(summary)}" if summary else ""
    return f"- [{_label(name)}]({_target(name)}.md){said}\n"


def part_line(prefix: str, name: str, up: str = "") -> str:
    return f"- [{prefix}…]({up}{_target(name)})\n"


def note_lines(rows: Iterable[PageLine]) -> str:
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
        text += "Tags: " + ", ".join(f"{escape_comments(tag)} {number}" for tag, number in counts.tags) + ".\n"
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


def sub_page(rows: Sequence[PageLine], parts: Sequence[tuple[str, str]]) -> str:
    lines = [LINK_START.sub(r"\g<0>../", row.line, count=1) for row in rows]
    return "".join(lines) + "".join(part_line(prefix, name) for prefix, name in parts)


def _target(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name, safe="-_.~!,;@+")


def _label(name: str) -> str:
    return name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "[" in name or "]" in name else name


_LINE = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)[^\n]*\n", re.M)
ROOT_TITLE = "Commonplace"


def parent_changes(vault: Vault, space: Space, scope_folder: BookPath, size: str) -> list[Change]:
    """The changes to the pages above a scope that is now this large. Needs the lock of parent pages."""
    changes: list[Change] = []
    kind = scope_folder.parent
    root = ROOT / INDEX_PAGE
    if kind == MEMORIES:  # global and team: the scope is the kind
        _patch(vault, space, root, ROOT_TITLE, scope_folder, size, changes)
        return changes
    lines = _patch(vault, space, kind / INDEX_PAGE, f"{kind.name} folders", scope_folder, size, changes)
    _patch(vault, space, root, ROOT_TITLE, kind, rounded(lines, "folder", "folders"), changes)
    return changes


def _patch(
    vault: Vault, space: Space, path: BookPath, title: str, folder: BookPath, size: str, changes: list[Change]
) -> int:
    """Set the line of one folder on one page; answers how many lines the page then has."""
    page = read_page(vault, space, path)
    old = page if page is not None else f"# {title}\n\n"
    line = folder_line(folder.parts[len(path.parts) - 1 :], size)
    lines = {_line_target(other.group()): other.group() for other in _LINE.finditer(get_region(old) or "")}
    lines[_line_target(line)] = line
    new = put_region(old, "".join(lines[name] for name in sorted(lines)))
    if new != page:
        changes.append(page_write(path, page, new))
    return len(lines)


def _line_target(line: str) -> str:
    match = _LINE.match(line)
    return match.group(1) if match else line
