"""Index pages: `index.md` of a folder, and its sub-pages `_index/PREFIX.md`.

The unit of work renews the pages of what it changes; reconcile mends them. Pages follow from the notes alone. A folder
with more than about 20 memories is split by topics, which are the first tags of its memories, where they gather enough;
one with more than 50 by topics and first letters. A sub-page that outgrows about 50 lines splits by the next character.
A new line waits on `index.md` until there are enough to be filed on sub-pages, so that a store normally writes one
page. The text outside the generated region is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from functools import cached_property
from typing import NamedTuple

from commonplace.index.port import Transaction
from commonplace.index.sqlite import SqliteIndex
from commonplace.index.values import PageLine, Row
from commonplace.memories.rows import (
    change_page,
    folder_line,
    head,
    note_lines,
    nouns_of,
    part_label,
    part_line,
    rounded,
    section,
)
from commonplace.model.errors import NotFound
from commonplace.model.lazy import lazy
from commonplace.model.names import find_name_fault, is_windows_reserved
from commonplace.model.scope import ScopeKind
from commonplace.text.frontmatter import get_region, put_region
from commonplace.text.naming import one_line
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, MEMORIES, BookPath
from commonplace.vault.port import UNUSABLE, Change, Delete, FileKind, VaultHandle
from commonplace.vault.scope_pages import parse_scope_page, read_scope_page

CAPACITY = 50
FEW = 20  # memories that are never split
LEAST = 4  # memories for each sub-page, on average, where 20 to 50 are split
TOPICS = 20  # that are pages of their own; where there are more, they go by their first letter
LONGEST_PREFIX = 100  # names that agree for longer are not split: a file name has an end
UNFILED = 20
NEWEST = 20
PINNED = 20
TAGS = 20
MANY = 1_000_000_000
SUB_PAGES = "_index"
UNREADABLE = "cannot be read"  # how `verify` ends what it says of a file that it could not compare
JUST_ADDED, BY_TOPIC, BY_NAME = "Just added", "By topic", "By name"
_BELOW = f"{SUB_PAGES}/"
_LATELY = f"What was added lately may be on [{INDEX_PAGE}](../{INDEX_PAGE}) only.\n\n"
_LINK_START = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(")
_LINK = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)", re.M)
_ON_SUB_PAGE = lazy(r"^(- \[(?:\\.|[^\]\\\n])*\]\()\.\./([^()\s]*)(\).*\n)", re.M)


class PageChanges(NamedTuple):
    """The changes to the pages of one folder, and what the index has to know once they are written."""

    changes: Sequence[Change]
    filed: bool | None = None  # as `mark_filed` takes it; None: which lines are on sub-pages has not changed


class PageTitles:
    """The titles of a folder's pages. A project's pages have its id; `_scope.md` is read only for a page that needs it.

    `scope_page` is the `_scope.md` that is about to be written, where there is none yet.
    """

    def __init__(self, files: VaultHandle, folder: BookPath, scope_page: bytes | None = None) -> None:
        self.folder = folder
        self._files, self._scope_page = files, scope_page
        self._by_path = " / ".join(folder.parts[1:] or folder.parts)  # how pages were titled at first

    def title(self, page: str | None) -> str:
        """Return the title that a page gets, whose text is `page`; one that is there has its title already."""
        return self._full if page is None else ""

    def corrected(self, page: str | None) -> str | None:
        """Return a page with the id of its project as its title, where that was the name of its folder."""
        first = f"# {self._by_path}\n"
        return f"# {self._full}\n{page[len(first) :]}" if page is not None and page.startswith(first) else page

    @cached_property
    def _full(self) -> str:
        parts = self.folder.parts
        if parts[:2] == (*MEMORIES.parts, ScopeKind.PROJECT.value) and len(parts) > 2:
            scope, below = BookPath(*parts[:3]), parts[3:]
        elif parts[:1] == JOURNAL.parts and len(parts) > 1:
            scope, below = MEMORIES / ScopeKind.PROJECT.value / parts[1], parts[2:]
        else:
            return self._by_path
        try:
            page = parse_scope_page(self._scope_page) if self._scope_page else read_scope_page(self._files, scope)
        except UNUSABLE:
            page = None
        return " / ".join((one_line(page.id), *below)) if page is not None else self._by_path


class Group(NamedTuple):
    """The names below one prefix: listed here, or in the parts (prefixes again)."""

    listed: Sequence[PageLine]
    parts: Sequence[str]


def group_by_prefix(index: Transaction, folder: str, prefix: str) -> Group:
    """Return the names below a prefix: all of them while they fit on a page, else split, by topics or characters."""
    rows = index.lines_by_prefix(folder, prefix, CAPACITY + 1)
    if not prefix and len(rows) > FEW and (topics := index.topics(folder, TOPICS + 1)):
        return _group_by_topic(index, folder, rows, topics)
    if len(rows) <= CAPACITY:
        return Group(rows, ())
    parts = index.next_prefixes(folder, prefix)
    shared = parts[0][:-1] if parts else ""
    if not parts or len(shared) >= LONGEST_PREFIX:
        return Group(index.lines_by_prefix(folder, prefix, MANY), ())
    if rows[-1].sort == shared:  # spellings of one name, which cannot be split
        rows = index.lines_by_prefix(folder, shared, MANY)
    return Group([row for row in rows if row.sort == shared], parts)  # names that others continue


def _group_by_topic(index: Transaction, folder: str, rows: Sequence[PageLine], topics: Sequence[str]) -> Group:
    """Return the groups of a folder with topics; its rows where these are few and the groups would be too small."""
    starts = topics if len(topics) <= TOPICS else index.next_prefixes(folder, "@")
    parts = sorted([*starts, *(part for part in index.next_prefixes(folder, "") if not _is_topic(part))])
    gathers = len(topics) <= TOPICS and LEAST * len(parts) <= len(rows)
    return Group((), parts) if gathers or len(rows) > CAPACITY else Group(rows, ())


def page_name(prefix: str) -> str:
    """Return the file name of a group's page. `__` never stands in a sort name, so no other prefix has this name.

    The page of a topic `@testing@` is `@testing.md`; that of all topics with one beginning, `@te`, is `@te@.md`.
    """
    if _is_topic(prefix) and prefix.endswith("@"):
        return f"{prefix[:-1]}.md"
    if prefix.count("@") == 1:
        return f"{prefix}@.md"
    return f"{prefix}__.md" if is_windows_reserved(prefix) else f"{prefix}.md"


def prefix_of(name: str) -> str:
    """Return the prefix whose group a sub-page holds."""
    stem = name.removesuffix(".md").removesuffix("__")
    if not _is_topic(stem):
        return stem
    return f"{stem}@" if stem.count("@") == 1 else stem.removesuffix("@")


def _is_topic(prefix: str) -> bool:
    """Return whether a prefix or a sort name starts with a topic."""
    return prefix.startswith("@")


def renew(
    files: VaultHandle,
    index: Transaction,
    folder: BookPath,
    *,
    gone: Collection[str] = (),
    everything: bool = False,
    scope_page: bytes | None = None,
) -> PageChanges:
    """Return the page changes of one folder after the index has changed, in the order in which they become visible.

    `gone` are the sort names whose lines must go; `everything` checks each sub-page, as after a crash. The index is
    told which lines are on sub-pages then: a transaction that is rolled back has to tell it again. `scope_page` is the
    `_scope.md` that is written together with the pages, if there was none.
    """
    nouns = nouns_of(folder)
    path = folder / INDEX_PAGE
    titles = PageTitles(files, folder, scope_page)
    try:
        page = files.read_text(path)
    except UNUSABLE:  # not ours to replace: `doctor` names it
        return PageChanges([])
    counts, folders = index.counts(folder, TAGS), index.folders(folder)
    fresh = index.page_lines("unfiled", folder, UNFILED + 1)
    links, changes, dropped, filed = "", list[Change](), list[Change](), None
    has_gone, is_large = everything or bool(gone), counts.active > FEW
    if is_large and not has_gone and len(fresh) <= UNFILED:
        links = _unchanged_links(page, fresh)
    if has_gone or (is_large and not links):
        root = group_by_prefix(index, folder, "")
        links = _link_sections(root)
        linked = set(_sub_pages_in(_region_links(page)))
        if everything and not gone and root.parts:
            due = not _mark_waiting(files, index, folder, page, root)
        else:
            is_listed = linked == set(map(page_name, root.parts))
            due = has_gone or not is_listed or (bool(links) and len(fresh) > UNFILED)
        if due:
            pending = [row.sort for row in index.page_lines("unfiled", folder, counts.active)]
            touched = None if everything else {*gone, *pending}
            changes, dropped = _file_names(files, index, titles, root.parts, linked, touched)
            filed = bool(root.parts)
            index.mark_filed(folder, filed=filed)
        fresh = index.page_lines("unfiled", folder, UNFILED + 1)
    newest = index.page_lines("newest", folder, NEWEST if links else counts.active)
    pinned = index.page_lines("pinned", folder, PINNED) if counts.pinned else ()
    text = head(counts, nouns) + section("Pinned", note_lines(pinned))
    if links:
        shown = {row.name for row in newest}
        text += section("Newest", note_lines(newest))
        text += section(JUST_ADDED, note_lines(row for row in fresh if row.name not in shown))
        text += links
    else:
        text += section(nouns[1].capitalize(), note_lines(newest))
    start = f"{folder}/"
    names = sorted({other.removeprefix(start).split("/")[0] for other in folders if other != folder})
    sizes = [folder_line([name], rounded(index.count_active(start + name), nouns)) for name in names]
    text += section("Folders", "".join(sizes))
    # Sub-pages first: index.md drops a line once it stands elsewhere. Pages go when nothing links to them.
    return PageChanges(
        [*changes, *change_page(path, titles.corrected(page), titles.title(page), text, page), *dropped], filed
    )


def _link_sections(root: Group) -> str:
    """Return the sections of index.md with the links to sub-pages; nothing for a folder that is not split."""
    if not root.parts:
        return ""
    lines = {part: part_line(part, page_name(part), _BELOW) for part in root.parts}
    topics = "".join(line for part, line in lines.items() if _is_topic(part))
    names = "".join(line for part, line in lines.items() if not _is_topic(part))
    return section(BY_TOPIC, topics) + section(BY_NAME, note_lines(root.listed) + names)


def _unchanged_links(page: str | None, fresh: Iterable[PageLine]) -> str:
    """Return the links to sub-pages as they stand, if these lines change none of them; nothing if they may.

    A name below a part that is there already makes no new part, and a folder that was split stays so when it grows.
    """
    region = get_region(page) or ""
    found = ""
    for title in (BY_TOPIC, BY_NAME):
        found += section(title, region.partition(f"\n## {title}\n\n")[2].partition("\n## ")[0])
    parts = tuple(map(prefix_of, _sub_pages_in(_LINK.findall(found))))
    return found if parts and all(row.sort.startswith(parts) for row in fresh) else ""


def _sub_pages_in(links: Iterable[str]) -> list[str]:
    """Return the names of the sub-pages that some links of index.md lead to."""
    return [link.removeprefix(_BELOW) for link in links if link.startswith(_BELOW)]


def faults(files: VaultHandle, index: Transaction, folder: BookPath) -> list[str]:
    """Return what the pages of a folder say wrongly: memories that no page names, names of memories not there. Where
    one of the pages cannot be read, there is nothing to compare."""
    try:
        return _find_faults(files, index, folder)
    except UNUSABLE:
        return [f"{folder}: a page {UNREADABLE}"]


def _find_faults(files: VaultHandle, index: Transaction, folder: BookPath) -> list[str]:
    rows = index.lines_by_prefix(folder, "", MANY)
    expected = {link for row in rows for link in _LINK.findall(row.line)}
    named = {link for link in _region_links(files.read_text(folder / INDEX_PAGE)) if "/" not in link}
    for name in _sub_page_names(files, folder):
        links = _region_links(files.read_text(folder / SUB_PAGES / name))
        named |= {link.removeprefix("../") for link in links if link.startswith("../")}
    missing = [f"{folder}: no page names {link}" for link in sorted(expected - named)]
    return missing + [f"{folder}: a page names {link}, which is not there" for link in sorted(named - expected)]


def _file_names(
    files: VaultHandle,
    index: Transaction,
    titles: PageTitles,
    parts: Iterable[str],
    linked: set[str],
    touched: set[str] | None,
) -> tuple[list[Change], list[Change]]:
    """Return the changes that renew the sub-pages of the touched names (None: of all), and those that delete the ones
    that no group has any more.

    `linked` are the sub-pages that index.md links to until now.
    """
    changes, dropped, folder = list[Change](), list[Change](), titles.folder
    stat = files.stat(folder / SUB_PAGES)
    if stat is not None and stat.kind is not FileKind.FOLDER:
        return changes, dropped  # `doctor` names it
    existing = _sub_page_names(files, folder)
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
        group = group_by_prefix(index, folder, prefix)
        text = _LATELY if group.listed else ""
        text += "".join(_LINK_START.sub(r"\g<0>../", row.line, count=1) for row in group.listed)
        text += "".join(part_line(part, page_name(part)) for part in group.parts)
        path = folder / SUB_PAGES / name
        page, is_usable = _try_read(files, path)
        below = {link for link in _region_links(page) if "/" not in link}
        for part in group.parts:
            visit(part, below)
        if is_usable:
            changes.extend(change_page(path, page, f"{titles.title(page)}: {part_label(prefix)}", text))

    for part in parts:
        visit(part, linked)
    for name in sorted(existing - wanted):
        path = folder / SUB_PAGES / name
        page, _ = _try_read(files, path)
        if page is None or get_region(page) is None:
            continue
        # A page in which a person wrote keeps their text and loses ours.
        empty = put_region(page, "")
        theirs = [line for line in empty.replace(put_region("", "").strip(), "").split("\n") if line.strip()]
        if len(theirs) <= 1 and all(line.startswith("# ") for line in theirs):
            dropped.append(Delete(path))
        else:
            changes += change_page(path, page, "", "")
    return changes, dropped


def _try_read(files: VaultHandle, path: BookPath) -> tuple[str | None, bool]:
    """Return the text of a page, None if there is none, and whether it could be read."""
    try:
        return files.read_text(path), True
    except UNUSABLE:
        return None, False


def _sub_page_names(files: VaultHandle, folder: BookPath) -> set[str]:
    """Return the file names of the sub-pages of a folder."""
    try:
        listed = files.list_folder(folder / SUB_PAGES)
    except (NotFound, *UNUSABLE):
        return set()
    return {
        item.name
        for item in listed
        if item.stat.kind is FileKind.FILE and item.name.endswith(".md") and find_name_fault(item.name) is None
    }


def _region_links(page: str | None) -> set[str]:
    """Return where our lines on a page lead."""
    return set(_LINK.findall(get_region(page) or ""))


def _mark_waiting(files: VaultHandle, index: Transaction, folder: BookPath, page: str | None, root: Group) -> bool:
    """Return whether the sub-pages are as a write leaves them that does not file. Then the index is told what is on
    them, and what waits."""
    _, _, added = (get_region(page) or "").partition(f"\n## {JUST_ADDED}\n\n")
    just_added = added.partition("\n## ")[0].splitlines(keepends=True)
    said: dict[str, str] = {}  # the lines on sub-pages, by where they lead, as index.md has them
    for name in _sub_page_names(files, folder):
        lines = _ON_SUB_PAGE.findall(get_region(_try_read(files, folder / SUB_PAGES / name)[0]) or "")
        said |= {link: f"{start}{link}{end}" for start, link, end in lines}
    there = {*said.values(), *(row.line for row in root.listed)}  # those at the root stand on index.md alone
    waiting: set[str] = set()
    filed: list[PageLine] = []
    for row in index.lines_by_prefix(folder, "", MANY):
        link = "".join(_LINK.findall(row.line))
        line = row.line if row.line in there else said.get(link)
        if line is not None:
            filed.append(row._replace(line=line))
        if line != row.line or line in just_added:
            waiting.add(row.name)
    if not 0 < len(waiting) <= UNFILED or not _are_filed(files, folder, filed, root):
        return False
    index.mark_filed(folder, filed=True, pending=waiting)
    return True


def _are_filed(files: VaultHandle, folder: BookPath, lines: list[PageLine], root: Group) -> bool:
    """Return whether the sub-pages have just these lines, each where it belongs: filing them would change nothing."""
    blank = Row(folder, "", "", "", "", "active", "", (), pinned=False, created="", updated="", revision="")
    with closing(SqliteIndex(":memory:")) as scratch, scratch.transaction(files.space) as index:
        for name, sort, line in lines:
            index.put(blank._replace(name=name, sort=sort, line=line))
        parts = group_by_prefix(index, folder, "").parts
        changes = _file_names(files, index, PageTitles(files, folder), parts, set(), None)
    return parts == root.parts and not any(changes)
