"""Index pages: `index.md` of a folder, and its sub-pages `_index/PREFIX.md`.

The unit of work renews the pages of what it changes; reconcile mends them. Pages follow from the keys alone: a sub-page
that outgrows about 50 lines splits by the next character. A new line waits on `index.md` until there are enough to be
filed on sub-pages, so that a store normally writes one page. The text outside the generated region is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import lru_cache
from typing import NamedTuple

from commonplace.index.port import PageLine, Row, Transaction
from commonplace.index.sqlite import SqliteIndex
from commonplace.memories import page_files
from commonplace.memories.page_files import page_write
from commonplace.memories.rows import place_of
from commonplace.model.errors import NotFound
from commonplace.model.lazy import lazy
from commonplace.model.names import find_name_fault, is_windows_reserved
from commonplace.text.links import END, get_region, put_region
from commonplace.vault.handle import VaultHandle
from commonplace.vault.paths import INDEX_PAGE, BookPath
from commonplace.vault.port import Change, Delete, FileKind

CAPACITY = 50
LONGEST_PREFIX = 100  # names that agree for longer are not split: a file name has an end


class Group(NamedTuple):
    """The names below one prefix: listed here, or in the parts (prefixes again)."""

    prefix: str
    listed: Sequence[PageLine]
    parts: Sequence[str]


def group_by_prefix(index: Transaction, folder: str, prefix: str) -> Group:
    """Return the names below a prefix: all of them while they fit on a page, else split by their next character."""
    rows = index.lines_by_prefix(folder, prefix, CAPACITY + 1)
    if len(rows) <= CAPACITY:
        return Group(prefix, rows, ())
    parts = index.next_prefixes(folder, prefix)
    shared = parts[0][:-1] if parts else ""
    if not parts or len(shared) >= LONGEST_PREFIX:
        return Group(prefix, index.lines_by_prefix(folder, prefix, 1_000_000), ())
    if rows[0].sort == shared:  # names that others continue
        if rows[-1].sort == shared:  # spellings of one name, which cannot be split
            rows = index.lines_by_prefix(folder, shared, 1_000_000)
        return Group(prefix, [row for row in rows if row.sort == shared], parts)
    return Group(prefix, (), parts)


def page_name(prefix: str) -> str:
    """The file name of a group's page. `__` never stands in a sort name, so no other prefix has this name."""
    return f"{prefix}__.md" if is_windows_reserved(prefix) else f"{prefix}.md"


def prefix_of(name: str) -> str:
    """Return the prefix whose group a sub-page holds."""
    return name.removesuffix(".md").removesuffix("__")


UNFILED = 20
MANY = 1_000_000_000
_LINK = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)", re.M)
SUB_PAGES = "_index"
BY_NAME, JUST_ADDED = "By name", "Just added"


class PageChanges:
    """What must be written so that the pages of a folder say what the index says, in this order."""

    def __init__(self) -> None:
        self.sub_pages: list[Change] = []  # parts before the page that links to them
        self.page: list[Change] = []  # index.md, once every line it drops stands elsewhere
        self.deletes: list[Change] = []  # sub-pages that nothing links to any more

    def in_order(self) -> list[Change]:
        """Return the changes in the order in which they have to become visible."""
        return [*self.sub_pages, *self.page, *self.deletes]


def renew(
    files: VaultHandle,
    index: Transaction,
    folder: BookPath,
    *,
    put: Iterable[str] | None = None,
    gone: Iterable[str] = (),
    everything: bool = False,
) -> PageChanges:
    """The page changes of one folder after the index has changed.

    `put` are the sort names that were put, when that is all that changed; `gone` those whose lines must go;
    `everything` checks each sub-page, as after a crash.
    """
    changes = PageChanges()
    lost = set(gone)
    one, many = page_files.nouns(folder)
    title, place = folder_title(folder), place_of(folder)
    path = folder / INDEX_PAGE
    page = files.read_text(path)
    by_name = _unchanged_by_name(page, put) if put is not None and not lost and not everything else None
    counts = index.counts(place, page_files.TAGS)
    fresh = index.pending_page_lines(place, UNFILED + 1)
    if by_name is None or len(fresh) > UNFILED:
        by_name = _file_if_due(files, index, folder, page, lost, everything, counts.active, changes)
        fresh = index.pending_page_lines(place, UNFILED + 1)
    newest = index.newest_lines(place, page_files.NEWEST if by_name else counts.active)
    pinned = index.pinned_lines(place, page_files.PINNED) if counts.pinned else ()
    below = index.folders(place)
    text = page_files.head(counts, one, many)
    text += page_files.section("Pinned", page_files.note_lines(pinned))
    if by_name:
        shown = {row.name for row in newest}
        text += page_files.section("Newest", page_files.note_lines(newest))
        text += page_files.section(JUST_ADDED, page_files.note_lines(row for row in fresh if row.name not in shown))
        text += page_files.section(BY_NAME, by_name)
    else:
        text += page_files.section(many.capitalize(), page_files.note_lines(newest))
    text += page_files.section("Folders", _folder_lines(index, place, below, one, many))
    _put(page, path, title, text, changes.page)
    return changes


def _unchanged_by_name(page: str | None, put: Iterable[str]) -> str | None:
    """The links to sub-pages as they stand, if names like these change none of them; None if that is to be seen.

    A name below a part that is there already makes no new part, and a folder that was split stays so when it grows.
    """
    lines = section_of(page or "", BY_NAME)
    if lines is None:
        return None
    parts = _parts_in(lines)
    return lines if all(any(name.startswith(part) for part in parts) for name in put) else None


def section_of(page: str, title: str) -> str | None:
    """The lines of ours below a title; None where there is no such title."""
    _, found, after = page.partition(f"\n## {title}\n\n")
    return after.partition("\n## ")[0].partition(END)[0] if found else None


def link_in(line: str) -> str:
    """Where a line of ours leads; nothing if it is none."""
    found = _LINK.match(line)
    return found.group(1) if found else ""


@lru_cache(maxsize=64)
def _parts_in(lines: str) -> tuple[str, ...]:
    below = f"{SUB_PAGES}/"
    links = [link for link in _LINK.findall(lines) if link.startswith(below)]
    return tuple(prefix_of(link.removeprefix(below)) for link in links)


def _file_if_due(
    files: VaultHandle,
    index: Transaction,
    folder: BookPath,
    page: str | None,
    lost: set[str],
    everything: bool,
    active: int,
    changes: PageChanges,
) -> str:
    """Look at the whole tree of names, and file what must be; answers the links of index.md to the sub-pages.

    Where all that is wrong with the sub-pages is what a write leaves for later, it is left: a repair has nothing to do
    after a write.
    """
    place = place_of(folder)
    root = group_by_prefix(index, place, "")
    parts = _part_lines(tuple(root.parts))
    due = parts and (page is None or parts not in page or len(index.pending_page_lines(place, UNFILED + 1)) > UNFILED)
    if everything and not lost and root.parts:
        due = not mark_left(files, index, folder, page, root)
    elif everything or lost:
        due = True
    if due:
        touched = lost | {row.sort for row in index.pending_page_lines(place, active)}
        below = f"{SUB_PAGES}/"
        linked = {link.removeprefix(below) for link in _region_links(page) if link.startswith(below)}
        file_names(files, index, folder, root.parts, linked, None if everything else touched, changes)
        index.mark_filed(place, filed=bool(root.parts))
    return page_files.note_lines(root.listed) + parts if root.parts else ""


def faults(files: VaultHandle, index: Transaction, folder: BookPath) -> list[str]:
    """What the pages of a folder say wrongly: memories that no page names, names of memories that are not there."""
    rows = index.lines_by_prefix(place_of(folder), "", MANY)
    expected = {link for row in rows for link in _LINK.findall(row.line)}
    named = {link for link in _links(files, folder / INDEX_PAGE) if "/" not in link}
    for name in sub_pages(files, folder):
        links = _links(files, folder / SUB_PAGES / name)
        named |= {link.removeprefix("../") for link in links if link.startswith("../")}
    missing = [f"{folder}: no page names {link}" for link in sorted(expected - named)]
    return missing + [f"{folder}: a page names {link}, which is not there" for link in sorted(named - expected)]


@lru_cache(maxsize=64)
def _part_lines(parts: tuple[str, ...]) -> str:
    return "".join(page_files.part_line(part, page_name(part), f"{SUB_PAGES}/") for part in parts)


def total(index: Transaction, place: str) -> int:
    """Return how many active memories a folder and those below it hold."""
    number = 0
    for folder in index.folders(place):
        number += index.counts(folder, 0).active
    return number


def _folder_lines(index: Transaction, place: str, below: Sequence[str], one: str, many: str) -> str:
    """Return the lines of the folders in a folder, each with its size."""
    start = f"{place}/"
    names = sorted({folder.removeprefix(start).split("/")[0] for folder in below if folder != place})
    sizes = {name: page_files.rounded(total(index, start + name), one, many) for name in names}
    return "".join(page_files.folder_line([name], size) for name, size in sizes.items())


def folder_title(folder: BookPath) -> str:
    """Return the title of a folder's page."""
    return " / ".join(folder.parts[1:] or folder.parts)


def file_names(
    files: VaultHandle,
    index: Transaction,
    folder: BookPath,
    parts: Iterable[str],
    linked: set[str],
    touched: set[str] | None,
    changes: PageChanges,
) -> None:
    """Renew the sub-pages of the touched names (None: of all), and drop those that no group has any more.

    `linked` are the sub-pages that index.md links to until now.
    """
    existing = sub_pages(files, folder)
    wanted: set[str] = set()

    def visit(prefix: str, linked: set[str]) -> None:
        name = page_name(prefix)
        known = touched is not None and name in existing and name in linked
        if known and not any(sort.startswith(prefix) for sort in touched or ()):
            # Nothing below has changed, and all of it is there: the page above says so. One that it does not link to
            # may be a person's own, or what they left of one that was dropped.
            wanted.update(other for other in existing if prefix_of(other).startswith(prefix))
            return
        wanted.add(name)
        group = group_by_prefix(index, place_of(folder), prefix)
        text = page_files.sub_page(group.listed, [(part, page_name(part)) for part in group.parts])
        path = folder / SUB_PAGES / name
        page = files.read_text(path)
        below = {link for link in _region_links(page) if "/" not in link}
        for part in group.parts:
            visit(part, below)
        _put(page, path, f"{folder_title(folder)}: {prefix}…", text, changes.sub_pages)

    for part in parts:
        visit(part, linked)
    for name in sorted(existing - wanted):
        _drop(files, folder / SUB_PAGES / name, changes)


def _put(page: str | None, path: BookPath, title: str, text: str, changes: list[Change]) -> None:
    old = page if page is not None else f"# {title}\n\n"
    new = put_region(old, text)
    if new != page:
        changes.append(page_write(path, page, new))


def _drop(files: VaultHandle, path: BookPath, changes: PageChanges) -> None:
    """Delete a sub-page of ours; one in which a person wrote keeps their text and loses ours."""
    page = files.read_text(path)
    if page is None or get_region(page) is None:
        return
    empty = put_region(page, "")
    theirs = [line for line in empty.replace(put_region("", "").strip(), "").split("\n") if line.strip()]
    if len(theirs) <= 1 and all(line.startswith("# ") for line in theirs):
        changes.deletes.append(Delete(path))
    elif empty != page:
        changes.sub_pages.append(page_write(path, page, empty))


def sub_pages(files: VaultHandle, folder: BookPath) -> set[str]:
    """Return the file names of the sub-pages of a folder."""
    try:
        listed = files.list_folder(folder / SUB_PAGES)
    except NotFound:
        return set()
    return {
        item.name
        for item in listed
        if item.stat.kind is FileKind.FILE and item.name.endswith(".md") and find_name_fault(item.name) is None
    }


def _links(files: VaultHandle, path: BookPath) -> set[str]:
    return _region_links(files.read_text(path))


def _region_links(page: str | None) -> set[str]:
    """Where the lines of ours on a page lead."""
    return set(_LINK.findall(get_region(page) or "")) if page else set()


_ON_SUB_PAGE = lazy(r"^(- \[(?:\\.|[^\]\\\n])*\]\()\.\./([^()\s]*)(\).*\n)", re.M)


def mark_left(files: VaultHandle, index: Transaction, folder: BookPath, page: str | None, root: Group) -> bool:
    """Whether the sub-pages are as a write leaves them that does not file. Then the index is told what is on them, and
    what waits."""
    waiting = _waiting(files, index, folder, page, root)
    if waiting is None:
        return False
    index.mark_filed(place_of(folder), filed=True, pending=waiting)
    return True


def _waiting(
    files: VaultHandle, index: Transaction, folder: BookPath, page: str | None, root: Group
) -> set[str] | None:
    """The names that wait to be filed; None if there are none or too many, or the sub-pages are not those of all the
    others."""
    added = section_of(get_region(page or "") or "", JUST_ADDED) or ""
    just_added = set(added.splitlines(keepends=True))
    said = _sub_page_lines(files, folder)
    there = {*said.values(), *(row.line for row in root.listed)}  # those at the root stand on index.md alone
    waiting: set[str] = set()
    filed: list[PageLine] = []
    for row in index.lines_by_prefix(place_of(folder), "", MANY):
        line = row.line if row.line in there else said.get(link_in(row.line))
        if line is not None:
            filed.append(row if line is row.line else row._replace(line=line))
        if line != row.line or line in just_added:
            waiting.add(row.name)
    few = 0 < len(waiting) <= UNFILED
    return waiting if few and _are_filed(files, folder, filed, root) else None


def _are_filed(files: VaultHandle, folder: BookPath, lines: list[PageLine], root: Group) -> bool:
    """Whether the sub-pages have just these lines, each where it belongs: whether filing them would change nothing."""
    place, changes = place_of(folder), PageChanges()
    blank = Row(place, "", "", "", "", "active", "", (), pinned=False, created="", updated="", revision="")
    with closing(SqliteIndex(":memory:")) as scratch, scratch.transaction(files.space) as index:
        for name, sort, line in lines:
            index.put(blank._replace(name=name, sort=sort, line=line))
        parts = group_by_prefix(index, place, "").parts
        file_names(files, index, folder, parts, set(), None, changes)
    return parts == root.parts and not changes.sub_pages and not changes.deletes


def _sub_page_lines(files: VaultHandle, folder: BookPath) -> dict[str, str]:
    """The lines of memories on the sub-pages of a folder, by where they lead, as index.md has them."""
    found: dict[str, str] = {}
    for name in sub_pages(files, folder):
        region = get_region(files.read_text(folder / SUB_PAGES / name) or "") or ""
        found |= {link: f"{start}{link}{end}" for start, link, end in _ON_SUB_PAGE.findall(region)}
    return found
