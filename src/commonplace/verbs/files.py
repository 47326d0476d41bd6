"""Verbs that read the book as files: list, read, and the shell. All of them go through what the caller is shown.

An answer is cut at its limit, says so, and says how to go on.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.memories.provenance import Provenance
from commonplace.memories.rows import row_of, split_path
from commonplace.model.errors import CommonplaceError, InvalidField, InvalidPath, NotFound, TooLarge
from commonplace.model.memory import Entry, Status, check_tag, mark_external
from commonplace.model.results import FileItem, FileList, FileText, ShellResult
from commonplace.shell.file_commands import format_time, select_last_lines
from commonplace.shell.session import ShellSession
from commonplace.shell.view_reader import MAX_LISTED, MAX_READ_BYTES, LimitReached, ViewReader, is_binary
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import INDEX_PAGE, MEMORIES, BookPath, View, resolve
from commonplace.vault.port import FileKind, FolderEntry
from commonplace.verbs.desk import Desk

_UNLISTED = (Status.SUPERSEDED, Status.EXPIRED)
_NOTHING = View(reads=frozenset(), writes=frozenset())


def shown(desk: Desk, *, everything: bool = False) -> ViewReader:
    """The book as this caller may see it; nothing of it when memory is switched off."""
    desk.caller.check_reads()
    desk.check_all(everything)
    view = desk.view(everything=everything) if desk.settings.enabled else _NOTHING
    return ViewReader(desk.keep.vault, desk.keep.space, view, None if desk.is_person else desk.keep.provenance.shown)


def check_offset(offset: int) -> int:
    if isinstance(offset, bool) or offset < 0:
        raise InvalidField("offset is a number from 0 on.", hint="Pass the next_offset of the answer before.")
    return offset


def folder_of(book: ViewReader, path: str) -> BookPath:
    """The folder that a caller names."""
    place = resolve(path)
    try:
        stat = book.stat(place)
    except LimitReached:
        raise TooLarge(f"{place} holds more than can be looked at here.") from None
    if stat is None:
        raise NotFound(f"{place} is not there.", hint="List what is there, from / on.")
    if stat.kind is not FileKind.FOLDER:
        raise InvalidPath(f"{place} is not a folder.", hint="Read it instead.")
    return place


def list_memories(desk: Desk, path: str, offset: int, *, inactive: bool, everything: bool) -> FileList:
    book = shown(desk, everything=everything)
    place = folder_of(book, path)
    try:
        listed = book.list_folder(place)
    except LimitReached:
        raise TooLarge(f"{place} holds more than can be listed here.") from None
    end = check_offset(offset)
    unlisted = () if inactive else (*_UNLISTED, *desk.unseen)
    items: list[FileItem] = []
    hidden, said = 0, f"Call again with offset={offset + MAX_LISTED}."
    try:
        for item in listed[offset : offset + MAX_LISTED]:
            found = _item(book, place / item.name, item, desk.keep.provenance)
            if found.status in unlisted:
                hidden += 1
            else:
                items.append(found)
            end += 1
    except LimitReached:
        said = f"Call again with offset={end}."
    cut = end < len(listed)
    return FileList(str(place), tuple(items), hidden, cut, said if cut else "", end if cut else None)


def _item(book: ViewReader, path: BookPath, item: FolderEntry, provenance: Provenance) -> FileItem:
    if item.stat.kind is FileKind.FOLDER:
        return FileItem(str(path), "folder", "", format_time(item.stat), _held(book, path), "", 0)
    plain = FileItem(str(path), "file", "", format_time(item.stat), 0, "", item.stat.size)
    if item.stat.kind is not FileKind.FILE or not path.name.endswith(".md"):
        return plain
    try:
        note = provenance.read(book.read(path))
    except CommonplaceError:  # too large, or not ours to open: it is there all the same
        return plain
    labelled = _is_memory(path) or bool(note.front.text("status"))
    updated = note.meta.updated or plain.updated
    status = note.meta.status.value if labelled else ""
    summary = note.meta.summary
    if summary and _is_memory(path):
        row = row_of(path, note, "", item.stat, is_outside=provenance.is_outside)
        summary = mark_external(summary) if row.outside else summary
    return FileItem(str(path), "note", summary, updated, len(note.entries), status, item.stat.size)


def _held(book: ViewReader, path: BookPath) -> int:
    try:
        return len(book.list_folder(path))
    except CommonplaceError:
        return 0


def _is_memory(path: BookPath) -> bool:
    own = path.parts[2:]
    return path.is_within(MEMORIES) and path.name != INDEX_PAGE and not any(name.startswith(("_", ".")) for name in own)


def read_memory(
    desk: Desk, path: str, tail_n: int | None, tags: Sequence[str], offset: int, *, everything: bool
) -> FileText:
    if tail_n is not None and (isinstance(tail_n, bool) or tail_n < 1):
        raise InvalidField("tail_n is a number from 1 on.")
    if isinstance(tags, str):
        raise InvalidField("tags is a list of texts, not a text.")
    wanted = frozenset(map(check_tag, tags))
    check_offset(offset)
    place = resolve(path)
    data, revision = _read(desk, place, everything=everything)
    note = parse(data) if _is_note(place, data) else None
    if note is not None and _is_memory(place):
        desk.used([note.meta.id])
        if note.meta.status is Status.EXPIRED and _revived(desk, place):
            data, revision = _read(desk, place, everything=everything)
            note = parse(data)
    if is_binary(data):
        said = f"It is binary, {len(data):,} bytes: there is no text to read."
        return FileText(str(place), "", len(data), 0, True, revision, False, said, None)  # noqa: FBT003 - a value's field
    chosen, entries = _chosen(data, note, tail_n, wanted)
    end = _end(chosen, offset)
    cut = end < len(chosen)
    text = chosen[offset:end].decode("utf-8", "backslashreplace")
    said = f"Call again with offset={end}." if cut else ""
    return FileText(str(place), text, len(chosen), entries, False, revision, cut, said, end if cut else None)  # noqa: FBT003


def _read(desk: Desk, place: BookPath, *, everything: bool) -> tuple[bytes, str]:
    """A file as it is shown, and the revision of the file as it is: with that it can be replaced."""
    book = shown(desk, everything=everything)
    try:
        data = book.read(place)
    except LimitReached:
        raise TooLarge(f"{place} is too large to be read here.") from None
    return data, book.revision


def _is_note(place: BookPath, data: bytes) -> bool:
    return place.name.endswith(".md") and not is_binary(data)


def _revived(desk: Desk, place: BookPath) -> bool:
    """A memory that is read is hidden no more; a file that only looks like one stays as it is."""
    with desk.keep.index.reading(desk.keep.space) as index:
        known = index.get(*split_path(place)) is not None
    return known and desk.revive([split_path(place)])


def _chosen(data: bytes, note: Note | None, tail_n: int | None, tags: frozenset[str]) -> tuple[bytes, int]:
    """The part of a file that was asked for: its last entries, or lines, and those with these tags."""
    if note is None or not (note.blocks or tags):
        plain = b"" if tags else data if tail_n is None else select_last_lines(data, tail_n)
        return plain, len(note.entries) if note is not None else 0
    if tail_n is None and not tags:
        return data, len(note.entries)
    fits = [raw for entry, raw in _parts(note) if tags <= {*entry.tags, *note.meta.tags}]
    last = fits if tail_n is None else fits[-tail_n:]
    return "".join(last).encode("utf-8", "surrogateescape"), len(last)


def _parts(note: Note) -> list[tuple[Entry, str]]:
    """Each entry of a note as it stands in the file; what a person wrote above the first one is one, too."""
    hand = note.entries[: len(note.entries) - len(note.blocks)]
    return [*((entry, f"{entry.text}\n\n") for entry in hand), *((block.entry, block.raw) for block in note.blocks)]


def _end(data: bytes, offset: int) -> int:
    """Where a piece ends that is no longer than an answer may be, and cuts no character."""
    limit = offset + MAX_READ_BYTES
    if limit >= len(data):
        return len(data)
    starts = (end for end in range(limit, limit - 4, -1) if data[end] & 0xC0 != 0x80)
    return next(starts, limit)  # four bytes in a row that start nothing are no text anyway


def session(desk: Desk, cwd: str, *, everything: bool) -> ShellSession:
    """A shell at a place in the book."""
    place = folder_of(shown(desk, everything=everything), cwd)
    return ShellSession(lambda: shown(desk, everything=everything), place)


def shell(desk: Desk, command: str, cwd: str, *, everything: bool) -> ShellResult:
    ran = session(desk, cwd, everything=everything).run(command)
    out, err = (data.decode("utf-8", "backslashreplace") for data in (whole(ran.stdout, cut=ran.truncated), ran.stderr))
    return ShellResult(out, err, ran.exit_code, ran.cwd, ran.truncated, ran.next)


def whole(data: bytes, *, cut: bool) -> bytes:
    """Without the rest of a character that was cut in two at the end."""
    for back in range(1, 4) if cut else ():
        if data[-back:][:1] >= b"\xc0":
            size = 4 if data[-back] >= 0xF0 else 3 if data[-back] >= 0xE0 else 2
            return data[:-back] if size > back else data
    return data
