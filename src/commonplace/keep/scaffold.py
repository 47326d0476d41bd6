"""The scaffold of a book: what a new one starts with. It creates what is missing, overwrites nothing, and running it
again changes nothing."""

from __future__ import annotations

import os

from commonplace.keep.entrance import BOOK_ID
from commonplace.model.errors import InvalidField
from commonplace.model.ids import new_id
from commonplace.model.space import LOCAL, Space
from commonplace.vault.paths import INDEX_PAGE, ROOT, BookPath
from commonplace.vault.port import ABSENT, Vault, Write
from commonplace.vault.view import KEEPER

__all__ = ["BOOK_ID", "TEMPLATES", "scaffold"]

TEMPLATES = ("minimal", "full")


def scaffold(
    vault: Vault, template: str = "minimal", *, space: Space = LOCAL, lock_timeout: float = 10.0
) -> list[BookPath]:
    """Make what is missing; answers the paths it made."""
    if template not in TEMPLATES:
        raise InvalidField(f"{template[:40]!r} is not a template.", hint=f"Use one of: {', '.join(TEMPLATES)}.")
    wanted = {
        BOOK_ID: f"{new_id()}\n",
        ROOT / INDEX_PAGE: template_text("index.md"),
        BookPath("system", "definition.md"): template_text(f"definition-{template}.md"),
        BookPath("memories", "global", INDEX_PAGE): template_text("memories.md"),
        BookPath("data", INDEX_PAGE): template_text("data.md"),
    }
    if all(vault.stat(space, KEEPER, path) is not None for path in wanted):
        return []  # as at every opening but the first: no lock, no write
    with vault.lock(space, "scaffold", lock_timeout):
        missing = [path for path in wanted if vault.stat(space, KEEPER, path) is None]
        if missing:
            vault.apply(space, KEEPER, [Write(path, wanted[path].encode(), ABSENT) for path in missing])
    return missing


def template_text(name: str) -> str:
    """The text of a page as it is made in a new book."""
    with open(os.path.join(os.path.dirname(__file__), "templates", name), encoding="utf-8") as file:
        return file.read()
