"""What is not on its sub-page yet, as the pages themselves tell it: for a repair, which may not know it from the index.

A write leaves up to UNFILED lines for later (pages.py). A repair that finds nothing else amiss leaves them too: else it
would have something to do after every write.
"""

from __future__ import annotations

import re
from contextlib import closing

from commonplace.index.port import Line, Row, Transaction
from commonplace.index.sqlite import SqliteIndex
from commonplace.keep import page_tree, pages
from commonplace.model.patterns import lazy
from commonplace.model.space import Space
from commonplace.text.region import get_region
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Vault

_ON_SUB_PAGE = lazy(r"^(- \[(?:\\.|[^\]\\\n])*\]\()\.\./([^()\s]*)(\).*\n)", re.M)


def mark_left(
    vault: Vault, space: Space, index: Transaction, folder: BookPath, page: str | None, root: page_tree.Group
) -> bool:
    """Whether the sub-pages are as a write leaves them that does not file. Then the index is told what is on them, and
    what waits."""
    waiting, place = _waiting(vault, space, index, folder, page, root), str(folder)
    if waiting is None:
        return False
    index.mark_filed(place, filed=True)
    for name in sorted(waiting):
        row, looks = index.get(place, name), index.seen(place, name)
        if row is not None:
            index.put(row._replace(filed=False))
        if looks is not None:
            index.saw(place, name, looks)
    return True


def _waiting(
    vault: Vault, space: Space, index: Transaction, folder: BookPath, page: str | None, root: page_tree.Group
) -> set[str] | None:
    """The names that wait to be filed; None if there are none or too many, or the sub-pages are not those of all the
    others."""
    added = pages.section_of(get_region(page or "") or "", pages.JUST_ADDED) or ""
    just_added = set(added.splitlines(keepends=True))
    said = _sub_page_lines(vault, space, folder)
    there = {*said.values(), *(row.line for row in root.listed)}  # those at the root stand on index.md alone
    waiting: set[str] = set()
    filed: list[Line] = []
    for row in index.starting_with(str(folder), "", pages.MANY):
        line = row.line if row.line in there else said.get(pages.link_in(row.line))
        if line is not None:
            filed.append(row if line is row.line else row._replace(line=line))
        if line != row.line or line in just_added:
            waiting.add(row.name)
    few = 0 < len(waiting) <= pages.UNFILED
    return waiting if few and _are_filed(vault, space, folder, filed, root) else None


def _are_filed(vault: Vault, space: Space, folder: BookPath, lines: list[Line], root: page_tree.Group) -> bool:
    """Whether the sub-pages have just these lines, each where it belongs: whether filing them would change nothing."""
    place, changes = str(folder), pages.PageChanges()
    blank = Row(place, "", "", "", "", "active", "", (), pinned=False, created="", updated="", revision="")
    with closing(SqliteIndex(":memory:")) as scratch, scratch.transaction(space) as index:
        for name, sort, line in lines:
            index.put(blank._replace(name=name, sort=sort, line=line))
        parts = page_tree.group(index, place, "").parts
        pages.file_names(vault, space, index, folder, parts, set(), None, changes)
    return parts == root.parts and not changes.sub_pages and not changes.deletes


def _sub_page_lines(vault: Vault, space: Space, folder: BookPath) -> dict[str, str]:
    """The lines of memories on the sub-pages of a folder, by where they lead, as index.md has them."""
    found: dict[str, str] = {}
    for name in pages.sub_pages(vault, space, folder):
        region = get_region(pages.read_page(vault, space, folder / pages.SUB_PAGES / name) or "") or ""
        found |= {link: f"{start}{link}{end}" for start, link, end in _ON_SUB_PAGE.findall(region)}
    return found
