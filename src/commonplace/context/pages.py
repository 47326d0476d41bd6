"""Memories by what an index page names: for when the index cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.context.choose import Chosen, read_memory
from commonplace.context.ground import Ground
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound
from commonplace.model.keys import is_key_name
from commonplace.model.patterns import lazy
from commonplace.model.scope import Scope
from commonplace.text.percent import unquote
from commonplace.text.region import get_region
from commonplace.vault.paths import INDEX_PAGE, BookPath

_LINK = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s/]*)\.md\)", re.M)
_MOST = 60  # notes that are read


def from_page(ground: Ground, scope: Scope, folder: BookPath) -> Iterator[Chosen]:
    """The memories that the page of a scope's folder names, as their files say."""
    try:
        page = ground.read(folder / INDEX_PAGE)
    except (NotFound, LinkRefused):
        return
    links = _LINK.findall(get_region(page.data.decode("utf-8", "replace")) or "")
    names = [unquote(link) for link in dict.fromkeys(links)]
    for name in [name for name in names if is_key_name(name)][:_MOST]:
        try:
            memory = read_memory(ground, scope, name, folder / f"{name}.md")
        except CommonplaceError:  # one bad file never breaks the others
            continue
        if memory is not None:
            yield memory
