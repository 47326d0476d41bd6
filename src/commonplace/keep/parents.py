"""Parent pages: which folders there are and roughly how much is in each. No summaries: a parent is for everybody.

They are changed line by line, so that no write ever has to look at another scope, and only when a line changes: counts
are rounded, which makes that rare. They may lag behind until the next write, and nothing is read from them.
"""

from __future__ import annotations

import re

from commonplace.keep.page_text import folder_line, rounded
from commonplace.keep.pages import page_write, read_page
from commonplace.model.patterns import lazy
from commonplace.model.space import Space
from commonplace.text.region import get_region, put_region
from commonplace.vault.paths import INDEX_PAGE, MEMORIES, ROOT, BookPath
from commonplace.vault.port import Change, Vault

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
    lines = {_target(other.group()): other.group() for other in _LINE.finditer(get_region(old) or "")}
    lines[_target(line)] = line
    new = put_region(old, "".join(lines[name] for name in sorted(lines)))
    if new != page:
        changes.append(page_write(path, page, new))
    return len(lines)


def _target(line: str) -> str:
    match = _LINE.match(line)
    return match.group(1) if match else line
