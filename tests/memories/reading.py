"""Reading the pages of a book as a person would: from index.md, by its links."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from urllib.parse import unquote

from commonplace.index.sqlite import SqliteIndex
from commonplace.memories import lifecycle
from commonplace.memories.pages import faults
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry, Trust
from commonplace.model.scope import LOCAL
from commonplace.vault.paths import EVERYTHING, KEEPER, BookPath, resolve
from commonplace.vault.port import FileKind, Vault, Write

FOLDER = BookPath("memories", "global")
BEGIN, END = "<!-- commonplace:begin (generated: write above or below) -->", "<!-- commonplace:end -->"
_LINK = re.compile(r"^- \[(?:\\.|[^\]\\])*\]\(([^)]*)\)", re.M)


def clock() -> Callable[[], str]:
    """Times that rise now and then, so that some are equal."""
    ticks = itertools.count()
    return lambda: f"2026-11-15T{next(ticks) // 3600 % 24:02d}:{next(ticks) // 60 % 60:02d}:00Z"


def open_keep(vault: Vault, time: Callable[[], str] | None = None) -> MemoryStore:
    return MemoryStore(vault, SqliteIndex(":memory:"), lock_timeout=10, clock=time or clock())


def store(keep: MemoryStore, key: str, text: str, folder: BookPath = FOLDER, **labels: object) -> None:
    with keep.unit(folder, EVERYTHING) as unit:
        lifecycle.store(unit, key, Entry("", text, trust=Trust.AGENT), lifecycle.Labels(**labels))  # type: ignore[arg-type]
        unit.commit()


def forget(keep: MemoryStore, key: str, folder: BookPath = FOLDER) -> None:
    with keep.unit(folder, EVERYTHING) as unit:
        lifecycle.forget(unit, key, None)
        unit.commit()


def text_of(vault: Vault, path: BookPath) -> str:
    return vault.read(LOCAL, KEEPER, path).data.decode("utf-8", "replace")


def write(vault: Vault, path: BookPath, text: str) -> None:
    """As a person writes: past the keep."""
    vault.apply(LOCAL, KEEPER, [Write(path, text.encode())])


def generated(page: str) -> str:
    """What stands between the marks; there must be exactly one such region."""
    assert (page.count(BEGIN), page.count(END)) == (1, 1)
    return page.split(BEGIN)[1].split(END)[0]


def follow(vault: Vault, folder: BookPath = FOLDER) -> set[str]:
    """The names of all memories of a folder that can be reached from its index.md; every link must lead somewhere."""
    found: set[str] = set()
    waiting, seen = [folder / "index.md"], {folder / "index.md"}
    while waiting:
        page = waiting.pop()
        for link in _LINK.findall(generated(text_of(vault, page))):
            target = page.parent
            for name in unquote(link).split("/"):
                target = target.parent if name == ".." else target / name
            stat = vault.stat(LOCAL, KEEPER, target)
            assert stat is not None, f"{page} links to {target}, which is not there"
            if target.parent == folder and target.name != "index.md":
                found.add(target.name.removesuffix(".md"))
            elif target.is_within(folder / "_index") and target not in seen:
                seen.add(target)
                waiting.append(target)
    return found


def pages(vault: Vault, folder: BookPath = FOLDER) -> dict[str, bytes]:
    """Every page of a folder, with its bytes."""
    found = {"index.md": vault.read(LOCAL, KEEPER, folder / "index.md").data}
    return found | {f"_index/{name}": data for name, data in files(vault, folder / "_index").items()}


def files(vault: Vault, folder: BookPath) -> dict[str, bytes]:
    try:
        listed = vault.list_folder(LOCAL, KEEPER, folder)
    except NotFound:
        return {}
    names = [item.name for item in listed if item.stat.kind is FileKind.FILE]
    return {name: vault.read(LOCAL, KEEPER, folder / name).data for name in names}


def page_faults(keep: MemoryStore, folder: BookPath = FOLDER) -> list[str]:
    """What the pages of a scope say wrongly, compared with its files as they are now."""
    keep.freshen(folder, with_pages=False)  # as they are, and not as a reader would mend them
    with keep.index.reading(keep.space) as index:
        places = [resolve(place) for place in index.folders(str(folder))]
        return [fault for place in places for fault in faults(keep.files, index, place)]
