"""Plain files under data/: any bytes, listed in its index page."""

from __future__ import annotations

from commonplace.memories.page_files import page_write
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import InvalidPath, NotFound
from commonplace.text.links import put_region
from commonplace.vault.paths import INDEX_PAGE, BookPath, View, resolve
from commonplace.vault.port import ANY, Change, Delete, FileKind, Write

DATA = BookPath("data")
MOST_LISTED = 200


def data_path(name: str) -> BookPath:
    """Return the path of a data file. Raises InvalidPath for the index page and for what is not below data/."""
    path = resolve(name, DATA)
    if not path.is_within(DATA) or path == DATA or _is_page(path):
        raise InvalidPath(f"{name[:60]!a} is not a name of a data file.", hint="Use a name such as prices/2026.csv.")
    return path


def _is_page(path: BookPath) -> bool:
    """Whether a path is that of the index page, which INDEX.md is as well on a disk that is blind to case."""
    return len(path.parts) == 2 and path.name.casefold() == INDEX_PAGE


def put_data(store: MemoryStore, view: View, name: str, data: bytes) -> BookPath:
    """Write a data file and list it on the index page; return its path."""
    path = data_path(name)
    view.check_write(path)
    with store.vault.lock(store.space, "data", store.lock_timeout):
        names = {*list_data(store, view), _name(path)}
        store.files.apply([Write(path, data, ANY), *_page(store, names)])
    return path


def get_data(store: MemoryStore, view: View, name: str) -> bytes:
    """Return the bytes of a data file. Raises NotFound."""
    return store.vault.read(store.space, view, data_path(name)).data


def remove_data(store: MemoryStore, view: View, name: str) -> None:
    """Take a data file off the index page, then delete it. Raises NotFound."""
    path = data_path(name)
    view.check_write(path)
    with store.vault.lock(store.space, "data", store.lock_timeout):
        names = {*list_data(store, view)} - {_name(path)}
        store.files.apply([*_page(store, names), Delete(path)])


def list_data(store: MemoryStore, view: View) -> list[str]:
    """The names of all data files, sorted."""
    found: list[str] = []
    waiting = [DATA]
    while waiting:
        folder = waiting.pop()
        try:
            listed = store.vault.list_folder(store.space, view, folder)
        except NotFound:
            continue
        for item in listed:
            if item.stat.kind is FileKind.FOLDER:
                waiting.append(folder / item.name)
            elif item.stat.kind is FileKind.FILE and folder / item.name != DATA / INDEX_PAGE:
                found.append(_name(folder / item.name))
    return sorted(found)


def _name(path: BookPath) -> str:
    return "/".join(path.parts[1:])


def _page(store: MemoryStore, names: set[str]) -> list[Change]:
    shown = sorted(names)[:MOST_LISTED]
    text = "".join(f"- `{name}`\n" for name in shown)
    if len(names) > len(shown):
        text += f"\nand {len(names) - len(shown):,} more.\n"
    page = store.files.read_text(DATA / INDEX_PAGE)
    old = page if page is not None else "# data\n\n"
    new = put_region(old, text)
    return [page_write(DATA / INDEX_PAGE, page, new)] if new != page else []
