"""The scaffold of a book: what a new one starts with. It creates what is missing, overwrites nothing, and running it
again changes nothing."""

from __future__ import annotations

from importlib.resources import files

from commonplace.keep.unit import Keep
from commonplace.model.errors import InvalidField
from commonplace.model.ids import new_id
from commonplace.vault.paths import INDEX_PAGE, PRIVATE, ROOT, BookPath
from commonplace.vault.port import ABSENT, Write
from commonplace.vault.view import KEEPER

TEMPLATES = ("minimal", "full")
BOOK_ID = PRIVATE / "book-id"


def scaffold(keep: Keep, template: str = "minimal") -> list[BookPath]:
    """Make what is missing; answers the paths it made."""
    if template not in TEMPLATES:
        raise InvalidField(f"{template[:40]!r} is not a template.", hint=f"Use one of: {', '.join(TEMPLATES)}.")
    wanted = {
        BOOK_ID: f"{new_id()}\n",
        ROOT / INDEX_PAGE: _template("index.md"),
        BookPath("system", "definition.md"): _template(f"definition-{template}.md"),
        BookPath("memories", "global", INDEX_PAGE): _template("memories.md"),
        BookPath("data", INDEX_PAGE): _template("data.md"),
    }
    with keep.vault.lock(keep.space, "scaffold", keep.lock_timeout):
        missing = [path for path in wanted if keep.vault.stat(keep.space, KEEPER, path) is None]
        if missing:
            keep.vault.apply(keep.space, KEEPER, [Write(path, wanted[path].encode(), ABSENT) for path in missing])
    return missing


def _template(name: str) -> str:
    return files("commonplace.keep").joinpath("templates", name).read_text(encoding="utf-8")
