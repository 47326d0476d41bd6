"""Seeing what others did: the files of a scope against their rows in the index."""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.index.port import Row, Transaction
from commonplace.keep.rows import looks_of, row_of
from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, TooManyFiles
from commonplace.model.keys import is_key_name
from commonplace.model.names import name_fault
from commonplace.model.space import Space
from commonplace.text.notes import parse
from commonplace.vault.paths import MAX_LEVELS, BookPath, resolve
from commonplace.vault.port import Kind, Stat, Vault
from commonplace.vault.view import KEEPER


def sync_scope(vault: Vault, space: Space, index: Transaction, scope_folder: BookPath) -> dict[BookPath, set[str]]:
    """Bring the index up to the files; answers, per folder, the sort names of memories that are gone."""
    gone: dict[BookPath, set[str]] = {}
    known = {resolve(place) for place in index.folders(str(scope_folder))}
    seen: set[BookPath] = set()
    for folder, notes in walk(vault, space, scope_folder):
        seen.add(folder)
        gone[folder] = _sync_folder(vault, space, index, folder, notes)
    for folder in known - seen:
        gone[folder] = _sync_folder(vault, space, index, folder, {})
    return gone


def walk(vault: Vault, space: Space, folder: BookPath) -> Iterator[tuple[BookPath, dict[str, Stat]]]:
    """Every folder of a scope with its notes by name. What cannot be a key, or is a link, is not the book's."""
    try:
        listed = vault.list_folder(space, KEEPER, folder)
    except (NotFound, LinkRefused):
        return
    notes = {
        item.name.removesuffix(".md"): item.stat
        for item in listed
        if item.stat.kind is Kind.FILE and _is_note(item.name)
    }
    yield folder, notes
    for item in listed:
        deep = len(folder.parts) >= MAX_LEVELS - 2  # a folder has notes, and sub-pages one level further down
        if item.stat.kind is Kind.FOLDER and is_key_name(item.name) and not deep:
            yield from walk(vault, space, folder / item.name)


def _is_note(name: str) -> bool:
    return name.endswith(".md") and is_key_name(name.removesuffix(".md")) and name_fault(name) is None


def _sync_folder(vault: Vault, space: Space, index: Transaction, folder: BookPath, notes: dict[str, Stat]) -> set[str]:
    place = str(folder)
    rows, looks = index.rows(place), index.looks(place)
    gone: set[str] = set()
    for name, stat in notes.items():
        if looks.get(name) == looks_of(stat):
            continue
        old = rows.get(name)
        row, seen = _read_row(vault, space, folder / f"{name}.md")
        if row is None:
            continue
        index.put(row)
        if seen is not None:
            index.saw(place, name, looks_of(seen))
        if old is not None and old.status != row.status:
            gone.add(old.sort)
    for name in rows.keys() - notes.keys():
        index.remove(place, name)
        gone.add(rows[name].sort)
    return gone


def _read_row(vault: Vault, space: Space, path: BookPath) -> tuple[Row | None, Stat | None]:
    """The row of a file as it is now. One bad file never breaks the others: it is named, and tried again next time."""
    try:
        document = vault.read(space, KEEPER, path)
    except (NotFound, LinkRefused):
        return None, None
    except TooManyFiles:
        raise  # no fault of the file's: no page may be written in such a state
    except CommonplaceError:
        return row_of(path, parse(b""), "", None), None
    return row_of(path, parse(document.data), document.revision, document.stat), document.stat
