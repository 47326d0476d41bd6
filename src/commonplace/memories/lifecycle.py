"""The changes of a memory inside a unit: store, rewrite, undo, forget, restore.

Each function stages what must happen; the unit's commit makes it durable. Permissions, duplicates and secrets are
checked by the callers, in `verbs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from commonplace.memories.history import (
    DAMAGED,
    FORGOTTEN,
    HISTORY,
    JUDGED,
    LINKED,
    MENDED,
    MOVED,
    OUTSIDE,
    RELOCATED,
    RESTORED,
    SAME_TEXT,
    TRASH,
    OldVersion,
    find_damage,
    find_holders,
    latest_id,
    list_own,
    list_past,
    list_renamed,
    list_restorable,
    list_versions,
    past_folder,
    put_aside,
)
from commonplace.memories.rows import find_summed_up, name_link_target
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import AlreadyExists, Conflict, NotFound, NotPermitted, RevisionMismatch
from commonplace.model.memory import PIN_PROPOSED, PIN_REJECTED, WAITING, Entry, Link, MemoryType, Meta, Status
from commonplace.model.names import check_new_key, new_id
from commonplace.text.naming import is_same_subject, make_summary
from commonplace.text.notes import Note, new_note, parse
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Write

LEAST_DIGITS = 12  # of a revision, to be known by
_WITH_TEXT = ("appended", "replaced", "undone")  # the changes of a text that a decision may come with
UNDO_A_MOVE = "Undo brings back earlier texts only. To take back a move or a rename: `commonplace move`."
SUPERSEDED_BY = "superseded_by"  # the link of a superseded memory to the one that stands


class Labels(NamedTuple):
    """What a store says about the memory: fields of its Meta. None: as it is; tags unite with those that are there."""

    type: MemoryType | None = None
    tags: tuple[str, ...] = ()
    summary: str | None = None
    pinned: bool | None = None
    status: Status | None = None
    links: tuple[Link, ...] | None = None
    pin: str | None = None


class ChangeResult(NamedTuple):
    """The outcome of a change to a memory."""

    key: str
    path: BookPath
    revision: str
    entry: str
    action: str  # created, appended, replaced, undone, forgotten, restored, purged
    notice: str = ""  # what the caller should know of the memory's file


def store(unit: Unit, key: str, entry: Entry, labels: Labels, *, if_revision: str | None = None) -> ChangeResult:
    """Append an entry, creating the memory if there is none."""
    found = unit.find(key)
    check_revision(found, key, if_revision)
    versions = unit.list_versions(key) if found is not None else []
    time, after = unit.memories.clock(), latest_id(versions, found.note if found is not None else None)
    (entry,) = _dated(unit, [entry], time, after)
    is_later = not versions or versions[-1].time <= entry.time  # else the clock was set back
    if found is None:
        meta = Meta(id=new_id(), key=check_new_key(key), created=time)
        note = new_note(_labelled(meta, labels, entry, time), [entry])
        return _put(unit, key, note, "created", entry.id, (entry,))
    old = found.note.meta
    meta = _labelled(own_meta(unit, found, key, time), labels, None, time)
    summary = meta.summary
    if labels.summary is None and unit.before(key) is not None:  # what one unit makes is summed up as it began
        summary = _followed(summary, found.note, entry)
    note = found.note.append(entry).with_meta(meta._replace(summary=summary))
    # The date of text written by hand was its file's until now: the index may have read another one.
    simple = old.created == meta.created or not found.note.hand_text.strip()
    if _has_other_labels(old, meta):  # entries are their own history; labels are not
        keep_history(unit, key, "appended", entry.author, time, entry.id)
        simple = simple and entry.time >= time and old.status not in WAITING
    added = (entry,) if simple and is_later else None
    return _put(unit, key, note, "appended", entry.id, added)


def _put(
    unit: Unit, key: str, note: Note, action: str, entry: str = "", added: Sequence[Entry] | None = None
) -> ChangeResult:
    return ChangeResult(key, unit.path(key), unit.put(key, note, added), entry, action, unit.notice(key))


def _dated(unit: Unit, entries: Sequence[Entry], time: str, after: str) -> list[Entry]:
    """Return the entries with this time, and an id of this book that is greater than `after`, where they have none."""
    key, dated = unit.memories.provenance.key, list[Entry]()
    for entry in entries:
        dated.append(entry._replace(id=entry.id or new_id(key, after), time=entry.time or time))
        after = max(after, dated[-1].id)
    return dated


def rewrite(
    unit: Unit, key: str, entries: Sequence[Entry], labels: Labels, who: str | None, *, if_revision: str | None = None
) -> ChangeResult:
    """Replace all entries; the text before is put aside."""
    found = unit.get(key)
    check_revision(found, key, if_revision)
    time = unit.memories.clock()
    dated = _dated(unit, entries, time, unit.latest_id(key))
    newest = dated[-1] if dated else None
    meta = _labelled(own_meta(unit, found, key, time), labels, newest, time)
    note = found.note.with_entries(dated).with_meta(meta)
    keep_history(unit, key, "replaced", who, time, newest.id if newest else "")
    # Text that was never accepted does not end now: it was never said.
    instead = dated if found.note.meta.status not in WAITING else None
    revision = unit.put(key, note, instead, closed=time)
    return ChangeResult(key, found.path, revision, newest.id if newest else "", "replaced")


def edit(unit: Unit, key: str, data: bytes, who: str | None, *, if_revision: str | None = None) -> ChangeResult:
    """Put a whole new text, as a person wrote it, in the place of a note. Its id stays; the old text is put aside."""
    found = unit.get(key)
    check_revision(found, key, if_revision)
    # Saved as it is, a damaged text is accepted.
    if data == found.data and find_damage(unit.memories.files, unit.folder, key) is None:
        return ChangeResult(key, found.path, found.revision, "", "unchanged")
    time = unit.memories.clock()
    note = unit.memories.provenance.read(data)
    created = note.meta.created or own_meta(unit, found, key, time).created
    ident = _own_id(unit, found) or note.meta.id
    note = note.with_meta(note.meta._replace(id=ident, created=created, updated=time))
    keep_history(unit, key, "edited", who, time)
    return _put(unit, key, note, "edited")


def undo(
    unit: Unit,
    key: str,
    who: str | None,
    *,
    person: bool = True,
    superseding: Sequence[Link] = (),
    to: tuple[Note, str] | None = None,
) -> ChangeResult:
    """Bring back the text before the last change, as a new revision; what it undoes is put aside.

    `to` is an earlier text to bring back instead, with the action that counts as undone. What was decided about links
    stays, unless that is the change; and a verdict is undone by a person only. `superseding` are the links by which the
    memory supersedes others: one that came with the text that is undone goes with it.
    """
    found = unit.get(key)
    time = unit.memories.clock()
    note, change, ident = (*to, found.note.meta.id) if to is not None else _find_undone(unit, key, found)
    if note.meta.id == found.note.meta.id:  # it may have been renamed since
        note = note.with_title(note.meta.key, key)
        note = note.with_meta(note.meta._replace(key=found.note.meta.key or note.meta.key))
    meta, unchanged = note.meta, ChangeResult(key, found.path, found.revision, "", "unchanged")
    if to is not None and _says_the_same(found.note, note):
        return unchanged
    if not person or change not in (LINKED, JUDGED):
        taken = [link for link in superseding if change in _WITH_TEXT and (person or link.origin != "human")]
        judged = [link for link in found.note.meta.links if link not in taken]
        meta = meta._replace(links=_with_verdicts(unit, meta.links, judged))
    if not person:  # what is pinned, a person decides
        meta = meta._replace(pinned=found.note.meta.pinned, pin=found.note.meta.pin)
        _check_no_verdict(key, change, found.note, note.with_meta(meta))
    status = Status.ACTIVE if meta.status is Status.EXPIRED else meta.status  # to undo something is to use it
    if change != DAMAGED and _says_the_same(found.note, note.with_meta(meta._replace(status=status))):
        return unchanged
    created = meta.created or own_meta(unit, found, key, time).created
    note = note.with_meta(meta._replace(id=ident or meta.id, status=status, created=created, updated=time))
    keep_history(unit, key, MENDED if change == DAMAGED else "undone", who, time)
    entry = note.blocks[-1].entry.id if note.blocks else ""
    return _put(unit, key, note, "undone", entry)


def _says_the_same(one: Note, other: Note) -> bool:
    """Return whether two texts of a memory differ in nothing but when they were written."""
    is_same = not _has_other_labels(one.meta, other.meta)
    return is_same and one.render() == other.with_meta(one.meta).render()


def _find_undone(unit: Unit, key: str, found: StoredNote) -> tuple[Note, str, str]:
    """Return the text before the last change, what that change was, and the id that the memory keeps."""
    files, memories = unit.memories.files, unit.memories
    aside = list_past(files, HISTORY, unit.folder, key, strict=True)
    if found.note.meta.id:
        aside = list_own(files, aside, found.note.meta, lambda ident: is_held(memories, ident))
    aside = sorted(item for item in aside + _list_renamed(unit, found, key) if item.path.is_within(HISTORY))
    came = max((item.id for item in aside if item.action == MOVED), default="")  # before, it was never accepted
    before = [item for item in aside if item.id > came and item.action not in SAME_TEXT]
    blocks = found.note.blocks
    newest = blocks[-1].entry.id if blocks and len(found.note.entries) > 1 else ""
    note = unit.memories.provenance.read(unit.memories.files.read(before[-1].path).data) if before else None
    ident, change = found.note.meta.id, before[-1].action if before else ""
    if newest > came and (not before or newest > before[-1].id):
        note, change = found.note.without_newest(), "appended"
        links = tuple(link for link in note.meta.links if not link.is_found)  # what the text that goes contradicted
        note = note.with_meta(note.meta._replace(summary=_preceding(found.note, note), links=links))
    elif note is not None and _is_last_outside(unit, key, before[-1]):  # its id may be lost or another's
        ident = "" if unit.is_copy(found) else ident
    elif note is None or not _is_earlier(unit, note.meta, found.note.meta):
        has_moved = any(item.action in RELOCATED for item in aside)
        hint = UNDO_A_MOVE if has_moved else "To take it away, forget it."
        raise Conflict(f"The text of {key!a} has not been changed since it was made.", hint=hint)
    return note, change, ident


def forget(unit: Unit, key: str, who: str | None, *, if_revision: str | None = None) -> ChangeResult:
    """Move a memory to the trash, from which `restore` brings it back byte for byte."""
    found = unit.get(key)
    check_revision(found, key, if_revision)
    trash = past_folder(TRASH, unit.folder, key)
    unit.put_aside(put_aside(trash, found.data, unit.memories.clock(), FORGOTTEN, who, after=unit.latest_id(key)))
    unit.remove(found)
    return ChangeResult(key, found.path, found.revision, "", "forgotten")


def not_in_trash(key: str, *, is_there: bool) -> NotFound:
    """Return the error for a memory that cannot be restored: it was not forgotten, or there is none."""
    forgotten = f"It was not forgotten: `commonplace show {key}` shows it."
    return NotFound(
        f"{key!a} is not in the trash.", hint=forgotten if is_there else "`commonplace restore` lists what is."
    )


def restore(unit: Unit, key: str, who: str | None = None) -> ChangeResult:
    """Bring back the newest text of a key from the trash, or from the history if its file was deleted outside.

    The history records the gap: the text as it was removed, then an empty one until now.
    """
    memories = unit.memories
    present = unit.find(key)  # this also saves what was deleted outside, if it was not noticed yet
    removed = list_restorable(memories.files, unit.folder, key, strict=True)
    if not removed:
        raise not_in_trash(key, is_there=present is not None)
    if present is not None:
        raise AlreadyExists(
            f"There is another memory {key!a} now.",
            hint=f"Forget that one first, or rename it: `commonplace move {key} --key NEW`.",
        )
    newest = removed[-1].version
    data = memories.files.read(newest.path).data
    result = _put(unit, key, memories.provenance.read(data), "restored")
    history = past_folder(HISTORY, unit.folder, key)
    if newest.path.is_within(TRASH):
        unit.put_aside(Write(history / newest.path.name, data, ABSENT))
        unit.remove_other(newest.path)
    unit.put_aside(put_aside(history, b"", memories.clock(), RESTORED, who, after=unit.latest_id(key)))
    return result


def _list_renamed(unit: Unit, found: StoredNote, key: str) -> list[OldVersion]:
    """Return the old versions of a note that was renamed, under its old keys. One that never was has its own key in
    its frontmatter, and nothing has to be looked through for it."""
    meta = found.note.meta
    if meta.key in ("", key) or not meta.id or unit.is_copy(found):
        return []
    return list_renamed(unit.memories.files, unit.folder, key, {meta.id})


def _is_earlier(unit: Unit, was: Meta, now: Meta) -> bool:
    """Return whether a text that was put aside is of this memory, and not of another that had its key. A copy had the
    id of its original until it got one of its own."""
    return was.id in ("", now.id) or (was.created == now.created and is_held(unit.memories, was.id))


def _is_last_outside(unit: Unit, key: str, item: OldVersion) -> bool:
    """Return whether a text was replaced or damaged outside, and nothing has happened to its key since but appends."""
    is_outside = item.action in (OUTSIDE, DAMAGED) and item.who is None  # else the verb `edit` replaced it
    return is_outside and [item] == list_versions(unit.memories.files, unit.folder, key)[-1:]


def read_old_meta(unit: Unit, item: OldVersion) -> Meta:
    """Return the frontmatter of an old version."""
    return parse(unit.memories.files.read(item.path).data).meta


def is_held(memories: MemoryStore, ident: str, besides: BookPath | None = None) -> bool:
    """Return whether a memory that is there, other than `besides`, has an id."""
    with memories.index.reading(memories.space) as index:
        return any(item.path != besides for item in find_holders(memories.files, index, ident))


def keep_history(unit: Unit, key: str, action: str, who: str | None, time: str, newest: str = "") -> None:
    """Save the text that a memory had before this unit, once: all that a unit does to a memory is one change.

    `newest` is the id of an entry that comes with the change: entries with a greater id than the version's came later.
    """
    found = unit.before(key)
    if found is None or key in unit.saved:
        return
    unit.saved.add(key)
    folder = past_folder(HISTORY, unit.folder, key)
    unit.put_aside(put_aside(folder, found.data, time, action, who, after=max(newest, unit.latest_id(key))))


def full_link(unit: Unit, to: str) -> str:
    """Return where a link of a memory in this unit leads, as SCOPE/KEY: the same link may be written in two ways."""
    return name_link_target(unit.kind, to)


def link_target(unit: Unit, link: Link) -> tuple[str, str]:
    """Return what tells a link of a memory in this unit from others: its relation, and where it leads."""
    return link.rel, full_link(unit, link.to)


def _with_verdicts(unit: Unit, links: Sequence[Link], judged: Sequence[Link]) -> tuple[Link, ...]:
    """Return some links, together with those of `judged` that were accepted or rejected."""
    kept = [link for link in judged if link.status != Status.PROPOSED and link.rel != SUPERSEDED_BY]
    known = {link_target(unit, link) for link in kept}
    return (*(link for link in links if link_target(unit, link) not in known), *kept)


def _check_no_verdict(key: str, change: str, now: Note, then: Note) -> None:
    """Refuse an agent's undo of a person's decision. Raises NotPermitted."""
    statuses = (now.meta.status, then.meta.status)
    judged = statuses[0] != statuses[1] and any(status in WAITING for status in statuses)
    meta = then.meta._replace(updated=now.meta.updated, links=now.meta.links)
    same = (now.entries, now.meta, {*now.meta.links}) == (then.entries, meta, {*then.meta.links})
    if judged or same or change == JUDGED:
        raise NotPermitted(f"The last change of {key!a} is a reviewer's verdict.", hint="A person can undo it.")


def reactivating_labels(meta: Meta, labels: Labels) -> Labels:
    """Return the labels of a store to an expired or superseded memory: it becomes active again."""
    if labels.status is not None or meta.status not in (Status.EXPIRED, Status.SUPERSEDED):
        return labels
    links = tuple(link for link in meta.links if link.rel != SUPERSEDED_BY)
    return labels._replace(status=Status.ACTIVE, links=links)


def revive(unit: Unit, key: str) -> bool:
    """Make an expired memory active again; return whether it was expired."""
    found = unit.find(key)
    if found is None or found.note.meta.status is not Status.EXPIRED:
        return False
    relabel(unit, key, Labels(status=Status.ACTIVE))
    return True


def is_revision(found: StoredNote, expected: str) -> bool:
    """Return whether a note is at a revision, which may be given by its first 12 digits or more, as it is printed."""
    return len(expected) >= LEAST_DIGITS and found.revision.startswith(expected)


def check_revision(found: StoredNote | None, key: str, expected: str | None) -> None:
    """Refuse a change of a memory that is not at the revision that the caller has read. Raises RevisionMismatch."""
    if expected is None:
        return
    if found is None:
        raise RevisionMismatch(f"{key!a} is gone.")
    if not is_revision(found, expected):
        raise RevisionMismatch(f"{key!a} is now at revision {found.revision}.")


def own_meta(unit: Unit, found: StoredNote, key: str, time: str) -> Meta:
    """Return the frontmatter of a note, with what a hand-written file lacks; a copy gets an id of its own.

    Text that a person wrote keeps its date: from now on the file's time is that of this write.
    """
    meta, note = found.note.meta, found.note
    made = note.hand_time if note.hand_text.strip() else note.dates[0]
    created = meta.created or (min(made, time) if made and time else made or time)
    return meta._replace(id=_own_id(unit, found) or new_id(), key=meta.key or key, created=created)


def _own_id(unit: Unit, found: StoredNote) -> str:
    """Return the id of a note; a new one where it is another's; none where it has none."""
    ident = found.note.meta.id
    return new_id() if ident and unit.is_copy(found) else ident


def _labelled(meta: Meta, labels: Labels, newest: Entry | None, time: str) -> Meta:
    """Return the frontmatter after a write; a summary that was not given follows the newest entry, if there is one."""
    given: dict[str, Any] = {name: value for name, value in labels._asdict().items() if value is not None}
    given["tags"] = tuple(dict.fromkeys((*meta.tags, *labels.tags)))
    if labels.summary is None and newest is not None:
        given["summary"] = make_summary(newest.text)
    if labels.pin == PIN_PROPOSED and (meta.pinned or meta.pin == PIN_REJECTED):
        given["pin"] = meta.pin  # a person has decided already
    return meta._replace(**given, updated=time)


def _followed(summary: str, note: Note, new: Entry) -> str:
    """Return the summary of a note that gets a new entry. One that was given stays, and so does one that was made if
    the entry adds to what it says; where it says the same otherwise, as a correction does, the summary follows.

    It says nothing that the entries do not say, so it is no change of labels.
    """
    if not summary or find_summed_up(note, summary) is None or not is_same_subject(summary, new.text):
        return summary
    return make_summary(new.text)


def _preceding(note: Note, before: Note) -> str:
    """Return the summary of a note without its newest entry: what it was, if that entry's text had replaced it."""
    summary, newest = note.meta.summary, note.newest
    if newest is None or summary != make_summary(newest.text):
        return summary
    entries = before.entries
    same = [entry for entry in entries if is_same_subject(make_summary(entry.text), newest.text)]
    return make_summary((same[-1] if same else entries[0]).text) if entries else summary


def _has_other_labels(old: Meta, new: Meta) -> bool:
    """Return whether what a store says about a memory differs."""
    same = old._replace(id=new.id, key=new.key, created=new.created, updated=new.updated)
    return same != new


def relabel_if_new(unit: Unit, key: str, found: StoredNote, labels: Labels, who: str | None) -> str:
    """Give a memory these labels, if it does not have them yet; return the revision."""
    meta = found.note.meta
    if _labelled(meta, labels, None, meta.updated) == meta:
        return found.revision
    return relabel(unit, key, labels, why="relabelled", who=who).revision


def relabel(unit: Unit, key: str, labels: Labels, *, why: str | None = None, who: str | None = None) -> ChangeResult:
    """Change the labels in the frontmatter, and nothing else; with `why`, so that it can be undone.

    Without `why` the memory expired or was used again: `updated` stays, and the history gets nothing.
    """
    found = unit.get(key)
    time = found.note.dates[1] if why is None else unit.memories.clock()
    meta = _labelled(own_meta(unit, found, key, time), labels, None, time)
    if why is not None and _has_other_labels(found.note.meta, meta):
        keep_history(unit, key, why, who, time)
    return _put(unit, key, found.note.with_meta(meta), "relabelled")
