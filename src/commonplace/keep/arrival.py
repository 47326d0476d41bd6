"""A book that came from elsewhere, whole or in part: its first opening here, and a person's word for all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonplace.keep.past import HISTORY, TRASH, read_name
from commonplace.keep.provenance import KEY, settle
from commonplace.keep.rows import key_of, split_path
from commonplace.keep.scopes import scope_folders
from commonplace.keep.unit import Keep
from commonplace.model.errors import CommonplaceError
from commonplace.model.keys import is_key_name
from commonplace.model.names import name_fault
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import MAX_LEVELS, BookPath
from commonplace.vault.port import Kind
from commonplace.vault.view import KEEPER

_LOCK = "scaffold"  # whoever gives a book its key holds it


def settle_book(keep: Keep, *, own: bool) -> None:
    """Give a key to a book that has none. `own`: it was kept here before there were keys, and is believed."""
    with keep.vault.lock(keep.space, _LOCK, keep.lock_timeout):
        if keep.vault.stat(keep.space, KEEPER, KEY) is None:
            notes = [*(note for _, note in _notes(keep)), *_put_aside(keep)]
            for write in settle(notes, own=own):  # the key is not there before what it stands on is durable
                keep.vault.apply(keep.space, KEEPER, [write])


def vouch_for_all(keep: Keep) -> int:
    """Believe every memory that is there in what it claims; answers how many nobody believed so far."""
    with keep.vault.lock(keep.space, _LOCK, keep.lock_timeout):
        doubted = keep.provenance.doubted(_notes(keep))
        write = keep.provenance.vouch(doubted.values())
        if write is None:
            return 0
        _look_again(keep, doubted)  # first as well: were this killed after the write, nobody would do it any more
        try:
            keep.vault.apply(keep.space, KEEPER, [write])
        except BaseException:
            keep.provenance.was_not_made()
            raise
    _look_again(keep, doubted)
    for folder in scope_folders(keep):
        keep.freshen(folder)
    return len(doubted)


def _look_again(keep: Keep, paths: Iterable[BookPath]) -> None:
    """Let these notes be read again, though they look as they did."""
    with keep.index.transaction(keep.space) as index:
        for path in paths:
            row = index.get(*split_path(path))
            if row is not None:
                index.put(row)  # which forgets what the file looks like


def _notes(keep: Keep) -> Iterator[tuple[BookPath, Note]]:
    """Every note of the book that can be read, whatever the index knows."""
    for scope in scope_folders(keep):
        for path in _files(keep, [scope]):
            if path.name.endswith(".md") and all(map(is_key_name, key_of(scope, path).split("/"))):
                yield from ((path, note) for note in _read(keep, path))


def _put_aside(keep: Keep) -> Iterator[Note]:
    """Every text in the history and in the trash: an undo or a restore brings it back."""
    for path in _files(keep, (HISTORY, TRASH)):
        if read_name(path) is not None:
            yield from _read(keep, path)


def _files(keep: Keep, folders: Iterable[BookPath]) -> Iterator[BookPath]:
    """Every file in some folders and below that can be named in a book."""
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        try:
            listed = keep.vault.list_folder(keep.space, KEEPER, folder)
        except CommonplaceError:
            continue
        for item in listed:
            if name_fault(item.name) is not None or len(folder.parts) >= MAX_LEVELS:
                continue
            if item.stat.kind is Kind.FOLDER:
                waiting.append(folder / item.name)
            elif item.stat.kind is Kind.FILE:
                yield folder / item.name


def _read(keep: Keep, path: BookPath) -> Iterator[Note]:
    try:
        yield parse(keep.vault.read(keep.space, KEEPER, path).data)
    except CommonplaceError:  # it says nothing that could be believed
        return
