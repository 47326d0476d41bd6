"""From a note to its row in the index: every column can be read back from the file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from commonplace.index.port import Looks, Row
from commonplace.memories.page_files import note_line
from commonplace.model.memory import from_outside
from commonplace.model.names import sort_name
from commonplace.model.times import is_stamp, stamp
from commonplace.text.naming import cut, make_summary, one_line
from commonplace.text.notes import Note
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Stat, stat_signature

_PAGE_SUMMARY = 300  # a person may write a summary of any length; a page shows one line of it


def split_path(path: BookPath) -> tuple[str, str]:
    """A note's path as the index names it: folder, and name without .md."""
    *folders, name = path.parts
    return "/" + "/".join(folders), name.removesuffix(".md")


def key_of(scope_folder: BookPath, path: BookPath) -> str:
    """The key of a note in a scope."""
    return "/".join(path.parts[len(scope_folder.parts) :]).removesuffix(".md")


def looks_of(stat: Stat) -> Looks:
    return stat_signature(stat.size, stat.mtime_ns, stat.inode)


class IsOutside(Protocol):
    """Whether what a note is summed up by came from outside."""

    def __call__(self, note: Note, *, given: bool) -> bool: ...


def is_ours(note: Note, *, given: bool) -> bool:  # noqa: ARG001 - as IsOutside wants it
    """For notes that nobody else writes."""
    return False


def row_of(
    path: BookPath,
    note: Note,
    revision: str,
    stat: Stat | None,
    old: Row | None = None,
    is_outside: IsOutside = is_ours,
) -> Row:
    """The row of a note. `stat` is None while the file is still to be written; `old` is its row so far."""
    meta = note.meta
    folder, name = (old.folder, old.name) if old is not None else split_path(path)
    summary, status = _summary(note, meta.summary), meta.status.value
    given = _is_given(note, summary)
    outside = is_outside(note, given=given)
    unchanged = old is not None and (old.summary, old.status, old.outside) == (summary, status, outside)
    updated = meta.updated if is_stamp(meta.updated) else _fallback_time(note, stat)
    return Row(
        folder=folder,
        name=name,
        sort=old.sort if old is not None else sort_name(name),
        id=meta.id if meta.id.isprintable() else one_line(meta.id),
        type=meta.type.value,
        status=status,
        summary=summary,
        tags=tuple(dict.fromkeys(tag if tag.isprintable() else one_line(tag) for tag in meta.tags)),
        pinned=meta.pinned,
        created=meta.created if is_stamp(meta.created) else updated,
        updated=updated,
        revision=revision,
        line=old.line
        if unchanged and old is not None
        else note_line(name, from_outside(summary) if outside else summary),
        filed=old is not None and old.filed and unchanged,
        proposed_links=sum(link.status == "proposed" for link in meta.links),
        given=given,
        outside=outside,
    )


def _summary(note: Note, given: str) -> str:
    if given:
        return given if given.isprintable() and len(given) <= _PAGE_SUMMARY else cut(one_line(given), _PAGE_SUMMARY)
    entries = note.entries
    return make_summary(entries[-1].text) if entries else ""


def _is_given(note: Note, summary: str) -> bool:
    """Whether a summary says anything that the newest entry does not begin with."""
    text = newest.text if (newest := note.newest) is not None else ""
    return not text.startswith(summary.removesuffix("…").rstrip()) and make_summary(text) != summary


def _fallback_time(note: Note, stat: Stat | None) -> str:
    """When a note without dates was last changed: its newest entry, else the file's own time."""
    if note.blocks:
        return note.blocks[-1].entry.time
    return stamp(datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC)) if stat else ""
