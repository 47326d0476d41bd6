"""From a note to its row in the index: every column can be read back from the file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from commonplace.index.port import Row, StatSignature
from commonplace.memories.page_files import note_line
from commonplace.model.memory import Entry, mark_external
from commonplace.model.names import sort_name
from commonplace.model.times import format_time, is_timestamp
from commonplace.text.naming import cut, make_summary, one_line
from commonplace.text.notes import Note
from commonplace.vault.paths import MEMORIES, BookPath
from commonplace.vault.port import Stat, stat_signature

_PAGE_SUMMARY = 300  # a person may write a summary of any length; a page shows one line of it


def split_path(path: BookPath) -> tuple[str, str]:
    """Return a note's path as the index names it: folder, and name without .md."""
    *folders, name = path.parts
    return "/" + "/".join(folders), name.removesuffix(".md")


def place_of(folder: BookPath) -> str:
    """Return a folder as the index names it."""
    return "/" + "/".join(folder.parts)


def split_key(place: str, key: str) -> tuple[str, str]:
    """Return where the index has the note of a key: `place` is the scope's folder, as the index names it."""
    above, _, name = key.rpartition("/")
    return f"{place}/{above}" if above else place, name


def is_in_memories(path: BookPath) -> bool:
    """Return whether a path is below the folder of memories, and not in a journal."""
    return path.parts[:1] == MEMORIES.parts


def key_of(scope_folder: BookPath, path: BookPath) -> str:
    """Return the key of a note in a scope."""
    return "/".join(path.parts[len(scope_folder.parts) :]).removesuffix(".md")


def looks_of(stat: Stat) -> StatSignature:
    """Return what the index records of a file, to tell a change without reading it."""
    return stat_signature(stat.size, stat.mtime_ns, stat.inode)


class IsOutside(Protocol):
    """Tells whether the text that sums up a note came from outside. `newest` is the note's newest entry."""

    def __call__(self, note: Note, newest: Entry | None, *, given: bool) -> bool: ...


def is_ours(note: Note, newest: Entry | None, *, given: bool) -> bool:  # noqa: ARG001 - as IsOutside wants it
    """Return False: only the book itself writes such notes."""
    return False


def row_of(
    path: BookPath,
    note: Note,
    revision: str,
    stat: Stat | None,
    old: Row | None = None,
    is_outside: IsOutside = is_ours,
) -> Row:
    """Return the row of a note. `stat` is None while the file is still to be written; `old` is its row so far."""
    meta, newest = note.meta, note.newest
    folder, name = (old.folder, old.name) if old is not None else split_path(path)
    summary, status = _choose_summary(meta.summary, newest), meta.status.value
    tags = tuple(dict.fromkeys([tag if tag.isprintable() else one_line(tag) for tag in meta.tags]))
    proposed_links = sum([link.status == "proposed" for link in meta.links])
    given = _is_given(newest, summary)
    outside = is_outside(note, newest, given=given)
    unchanged = old is not None and (old.summary, old.status, old.outside) == (summary, status, outside)
    updated = meta.updated if is_timestamp(meta.updated) else _fallback_time(note, stat)
    return Row(
        folder=folder,
        name=name,
        sort=old.sort if old is not None else sort_name(name),
        id=meta.id if meta.id.isprintable() else one_line(meta.id),
        type=meta.type.value,
        status=status,
        summary=summary,
        tags=tags,
        pinned=meta.pinned,
        created=meta.created if is_timestamp(meta.created) else updated,
        updated=updated,
        revision=revision,
        line=old.line
        if unchanged and old is not None
        else note_line(name, mark_external(summary) if outside else summary),
        filed=old is not None and old.filed and unchanged,
        proposed_links=proposed_links,
        given=given,
        outside=outside,
    )


def _choose_summary(given: str, newest: Entry | None) -> str:
    """Return the summary that a page shows: as given, or made from the newest entry."""
    if given:
        return given if given.isprintable() and len(given) <= _PAGE_SUMMARY else cut(one_line(given), _PAGE_SUMMARY)
    return make_summary(newest.text) if newest is not None else ""


def _is_given(newest: Entry | None, summary: str) -> bool:
    """Return whether a summary says anything that the newest entry does not begin with."""
    text = newest.text if newest is not None else ""
    return not text.startswith(summary.removesuffix("…").rstrip()) and make_summary(text) != summary


def _fallback_time(note: Note, stat: Stat | None) -> str:
    """Return when a note without dates was last changed: the time of its newest entry, else the file's own time."""
    if note.blocks:
        return note.blocks[-1].entry.time
    return format_time(datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC)) if stat else ""
