"""The scaffold of a book: what a new one starts with. It creates what is missing, overwrites nothing, and running it
again changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping

from commonplace.memories.open_settings import BOOK_ID
from commonplace.memories.provenance import KEY, key_file
from commonplace.model.errors import InvalidField
from commonplace.model.ids import new_id
from commonplace.model.scope import LOCAL, Space
from commonplace.vault.paths import INDEX_PAGE, KEEPER, PRIVATE, ROOT, BookPath
from commonplace.vault.port import ABSENT, Vault, Write

TEMPLATES = ("minimal", "full")
_PAGES: Mapping[BookPath, str] = {  # what a book has from the start, by the name of its text
    ROOT / INDEX_PAGE: "index.md",
    BookPath("system", "definition.md"): "definition-{}.md",
    BookPath("memories", "global", INDEX_PAGE): "memories.md",
    BookPath("data", INDEX_PAGE): "data.md",
    PRIVATE / ".gitignore": "gitignore",
}


def scaffold(
    vault: Vault, template: str = "minimal", *, space: Space = LOCAL, lock_timeout: float = 10.0
) -> list[BookPath]:
    """Make what is missing; answers the paths it made."""
    if template not in TEMPLATES:
        raise InvalidField(f"{template[:40]!r} is not a template.", hint=f"Use one of: {', '.join(TEMPLATES)}.")
    if all(vault.stat(space, KEEPER, path) is not None for path in (BOOK_ID, *_PAGES)):
        return []  # as at every opening but the first: no lock, no write, no text read
    with vault.lock(space, "scaffold", lock_timeout):
        missing = [path for path in (BOOK_ID, *_PAGES) if vault.stat(space, KEEPER, path) is None]
        if (
            BOOK_ID in missing and vault.stat(space, KEEPER, KEY) is None
        ):  # a book from elsewhere has an id: see opening
            missing.insert(0, KEY)
        if missing:
            vault.apply(space, KEEPER, [Write(path, _data(path, template), ABSENT) for path in missing])
    return missing


def _data(path: BookPath, template: str) -> bytes:
    if path == KEY:
        return key_file()
    return (f"{new_id()}\n" if path == BOOK_ID else template_text(_PAGES[path].format(template))).encode()


def template_text(name: str) -> str:
    """The text of a page as it is made in a new book."""
    with open(os.path.join(os.path.dirname(__file__), "templates", name), encoding="utf-8") as file:
        return file.read()
