"""How memories relate to others: links and what follows from `supersedes`; moves from a scope; imports from a tool.

The verbs that store, link, review, undo and import call it inside a unit. A memory that is superseded says so itself,
with a link back, and sinks in recall. When what superseded it is forgotten, undone or purged, it becomes active again,
unless another memory still supersedes it.

A move writes the new place first, so that a crash in between leaves both, with one id, and loses nothing. Imported
entries are `external` until a person vouches for them, and know their origin, so that a second import adds only what is
new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from commonplace.memories.history import (
    HISTORY,
    JUDGED,
    LINKED,
    MOVED,
    REMOVALS,
    RENAMED,
    RESTORED,
    STANDS,
    TRANSFERRED,
    OldVersion,
    list_past,
    past_folder,
    put_aside,
    tombstone,
)
from commonplace.memories.lifecycle import (
    SUPERSEDED_BY,
    ChangeResult,
    Labels,
    full_link,
    link_target,
    own_meta,
    relabel,
    store,
)
from commonplace.memories.lookup import read_note
from commonplace.memories.relocation import Relocation
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import StoredNote, Unit
from commonplace.model.errors import AlreadyExists, CommonplaceError, InvalidField, InvalidKey
from commonplace.model.memory import Entry, Link, Meta, Relation, Status, Trust
from commonplace.model.names import check_new_key, is_uuid7, short_hash
from commonplace.text.naming import make_summary
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Delete, Write

REJECTED = "rejected"
ORIGIN, TEXTS = "imported_from", "imported"


def add_link(
    unit: Unit, key: str, rel: str, to: str, *, origin: str, who: str | None, there: Unit | None = None
) -> ChangeResult:
    """Add a link: a person's is active, an agent's waits. What is there already, judged or waiting, no agent changes.

    `there` is a unit on the scope that the link leads to, if that is another one.
    """
    check_link(rel, to)
    found = unit.get(key)
    if origin == "human":
        return _activate_link(unit, key, Link(rel, to, origin, Status.ACTIVE.value), LINKED, who, there)
    if find_link(unit, key, rel, to) is not None:
        return ChangeResult(key, found.path, found.revision, "", "unchanged")
    proposed = _put_link(unit, key, Link(rel, to, origin, Status.PROPOSED.value), LINKED, who)
    return proposed._replace(action=Status.PROPOSED.value)


def check_link(rel: str, to: str) -> None:
    """Refuse what no link can be. Raises InvalidField."""
    if rel not in tuple(Relation):
        raise InvalidField(f"{rel[:40]!a} is not a relation.", hint=f"Use one of: {', '.join(Relation)}.")
    if not to or len(to) > 300 or not to.isprintable():
        raise InvalidField("A link leads to SCOPE/KEY or KEY, at most 300 printable characters.")


def find_link(unit: Unit, key: str, rel: str | None, to: str) -> Link | None:
    """Return the link of a memory, however it is written; None if there is none."""
    wanted = (rel, full_link(unit, to))
    return next((link for link in unit.get(key).note.meta.links if link_target(unit, link) == wanted), None)


def judge_link(
    unit: Unit, key: str, link: Link, *, accepted: bool, who: str | None, there: Unit | None = None
) -> ChangeResult:
    """Accept or reject a link, as a reviewer decided."""
    if not accepted:
        return _put_link(unit, key, link._replace(status=REJECTED), JUDGED, who)
    return _activate_link(unit, key, link._replace(status=Status.ACTIVE.value), JUDGED, who, there)


def _activate_link(unit: Unit, key: str, link: Link, why: str, who: str | None, there: Unit | None) -> ChangeResult:
    """Put an active link; one that supersedes a memory which is there marks that one as superseded."""
    for _, place, old in _superseded(unit, key, [link], [there] if there is not None else []):
        mark_superseded(place, old, unit, key, link.origin, who)
    return _put_link(unit, key, link, why, who)


def _put_link(unit: Unit, key: str, link: Link, why: str, who: str | None) -> ChangeResult:
    links = unit.get(key).note.meta.links
    old = find_link(unit, key, link.rel, link.to)
    new = (*links, link) if old is None else tuple(link if other == old else other for other in links)
    return relabel(unit, key, Labels(links=new), why=why, who=who)


def supersede(unit: Unit, old: str, new: str, *, origin: str, who: str | None, there: Unit | None = None) -> None:
    """Mark an old memory as superseded by a new one, with links both ways; `undo` lifts it. `there` is the unit of the
    old memory's scope, if that is another one."""
    place = there or unit
    mark_superseded(place, old, unit, new, origin, who)
    link = Link(Relation.SUPERSEDES.value, _name_from(unit, place, old), origin, Status.ACTIVE.value)
    _put_link(unit, new, link, "appended", who)  # it comes with the text that supersedes


def _name_from(unit: Unit, place: Unit, key: str) -> str:
    """Return how a memory in one unit names one in another."""
    return key if place is unit else f"{place.kind}/{key}"


def mark_superseded(unit: Unit, old: str, place: Unit, new: str, origin: str, who: str | None) -> None:
    """Give a memory the status superseded and a link back to the one that supersedes it."""
    back = Link(SUPERSEDED_BY, _name_from(unit, place, new), origin, Status.ACTIVE.value)
    links = tuple(dict.fromkeys((*unit.get(old).note.meta.links, back)))
    relabel(unit, old, Labels(status=Status.SUPERSEDED, links=links), why="superseded", who=who)


def list_superseded_elsewhere(memories: MemoryStore, path: BookPath) -> list[str]:
    """Return which memories of other scopes a text supersedes, as its links name them."""
    note = read_note(memories, path)
    links = note.meta.links if note is not None else ()
    return [link.to for link in links if _supersedes(link) and "/" in link.to]


def find_superseding_links(unit: Unit, key: str, others: Sequence[Unit]) -> list[Link]:
    """Return the links by which a memory supersedes others, here or in the scopes of other units."""
    superseded = _superseded(unit, key, _links(unit, key), others)
    return [link for link, place, old in superseded if _backs(place, old, unit, key)]


def update_superseded(unit: Unit, key: str, was: Meta | None, others: Sequence[Unit], who: str | None) -> None:
    """Update what a memory supersedes after it was forgotten, undone or restored. `was` are its labels of before.

    What it no longer supersedes becomes active again. What became active because this memory was gone, and has not
    changed since, is superseded again.
    """
    before, after = (was.links if was else ()), _links(unit, key)
    if was is None or was.status is not Status.SUPERSEDED:  # else another has taken its place
        for link, place, old in _superseded(unit, key, before, others):
            if link not in after and _backs(place, old, unit, key):
                _reactivate(place, old, (unit, *others), who)
    for link, place, old in _superseded(unit, key, after, others):
        if link in before:
            continue
        meta = place.get(old).note.meta
        is_by_another = meta.status is Status.SUPERSEDED and not _names_successor(meta, place, unit, key)
        if is_by_another or _was_reactivated(place, old, unit, key):
            mark_superseded(place, old, unit, key, link.origin, who)


def _superseded(
    unit: Unit, key: str, links: Sequence[Link], others: Sequence[Unit]
) -> Iterator[tuple[Link, Unit, str]]:
    """Yield the links by which a memory supersedes others that are in these units, each with the unit and the key of
    the other."""
    for link in filter(_supersedes, links):
        kind, _, old = full_link(unit, link.to).partition("/")
        place = next((place for place in (unit, *others) if place.kind == kind), None)
        if place is not None and (place, old) != (unit, key) and _find_linked(place, old) is not None:
            yield link, place, old


def _find_linked(unit: Unit, key: str) -> StoredNote | None:
    """Return the memory that a link leads to; None if there is none."""
    try:
        return unit.find(key)
    except InvalidKey:
        return None  # a link may lead anywhere


def _links(unit: Unit, key: str) -> tuple[Link, ...]:
    found = _find_linked(unit, key)
    return found.note.meta.links if found is not None else ()


def _supersedes(link: Link) -> bool:
    return link.rel == Relation.SUPERSEDES and link.status == Status.ACTIVE


def _backs(place: Unit, old: str, unit: Unit, new: str) -> bool:
    """Return whether a memory is superseded and names that one as its successor."""
    meta = place.get(old).note.meta
    return meta.status is Status.SUPERSEDED and _names_successor(meta, place, unit, new)


def _names_successor(meta: Meta, place: Unit, unit: Unit, new: str) -> bool:
    back = (SUPERSEDED_BY, full_link(place, _name_from(place, unit, new)))
    return any(link_target(place, link) == back for link in meta.links)


def _reactivate(place: Unit, old: str, opened: Sequence[Unit], who: str | None) -> None:
    """Give a memory the status that it had before it was superseded, unless another one still supersedes it. One that
    never had another, being written so by hand, keeps it."""
    files, meta = place.memories.files, place.get(old).note.meta
    back = [link for link in meta.links if link.rel == SUPERSEDED_BY]
    if any(_is_still_superseded(place, old, full_link(place, link.to), opened) for link in back):
        return
    for item in reversed(list_past(files, HISTORY, place.folder, old)):
        note = read_note(place.memories, item.path)
        if note is None:
            continue
        then = note.meta
        if item.action == RESTORED or then.id not in ("", meta.id):
            continue  # nothing, while it was away; another that had this key
        if then.status is not Status.SUPERSEDED:
            status = Status.ACTIVE if then.status is Status.EXPIRED else then.status
            left = tuple(link for link in meta.links if link not in back)
            relabel(place, old, Labels(status=status, links=left), why=STANDS, who=who)
            return


def _is_still_superseded(place: Unit, old: str, by: str, opened: Sequence[Unit]) -> bool:
    """Return whether the memory that a `superseded_by` leads to is there and supersedes this one; where its scope is
    not open, it is taken to."""
    kind, _, new = by.partition("/")
    unit = next((unit for unit in opened if unit.kind == kind), None)
    if unit is None:
        return True
    superseded = _superseded(unit, new, _links(unit, new), opened)
    return any((where, key) == (place, old) for _, where, key in superseded)


def _was_reactivated(place: Unit, old: str, unit: Unit, new: str) -> bool:
    """Return whether the last change of a memory made it active again because that one was gone."""
    files = place.memories.files
    last = list_past(files, HISTORY, place.folder, old)[-1:]
    if not last or last[0].action != STANDS:
        return False
    if any(is_uuid7(entry.id) and entry.id > last[0].id for entry in place.get(old).note.entries):
        return False
    note = read_note(place.memories, last[0].path)
    return note is not None and _names_successor(note.meta, place, unit, new)


def move(
    unit: Unit, there: Unit, key: str, who: str | None, new: str = "", relocation: Relocation | None = None
) -> ChangeResult:
    """Stage a memory in another unit, or under a `new` key, as it is, with its history, and its removal from here.

    Without a `relocation` it was accepted there: before, it was never said.
    """
    found, new = unit.get(key), check_new_key(new or key)
    if there.find(new) is not None:
        raise AlreadyExists(
            f"There is already a memory {new!a} in the scope {there.kind}.",
            hint="Give this one another key; or add what is missing to that one, and forget this one.",
        )
    time = unit.memories.clock()
    meta = own_meta(unit, found, key, time)
    if relocation is not None:
        links = [link._replace(to=relocation.carry(link.to)) for link in meta.links]
    else:
        links = [link._replace(to=full_link(unit, link.to)) for link in meta.links]
        if unit.kind == there.kind:
            # From there, the name of the scope means the other one: links to memories here stay in the old text.
            links = [link for link in links if link.to.partition("/")[0] != unit.kind]
    note = found.note.with_title(key, new).with_meta(meta._replace(key=new, links=tuple(links)))
    revision = there.put(new, note)
    past = past_folder(HISTORY, there.folder, new)
    after = max(unit.latest_id(key), there.latest_id(new))
    action = MOVED if relocation is None else RENAMED if unit is there else TRANSFERRED
    there.put_aside(put_aside(past, found.data, time, action, who, after=after))
    files = unit.memories.files
    for item in _list_with_id(unit, key, found.note.meta.id):
        path = past / item.path.name
        if files.stat(path) is None:  # else it came before, and then the power failed
            there.put_aside(Write(path, files.read(item.path).data, ABSENT))
        unit.remove_other(item.path)
    unit.remove(found)
    return ChangeResult(new, there.path(new), revision, "", RENAMED if unit is there else MOVED)


def _list_with_id(unit: Unit, key: str, ident: str) -> list[OldVersion]:
    """Return what the history of a key has of the memory with an id, with the gaps before it was restored."""
    found, removed, files = list[OldVersion](), list[bool](), unit.memories.files
    for item in list_past(files, HISTORY, unit.folder, key) if ident else ():
        is_gap = item.action == RESTORED
        if is_gap:
            is_own = removed.pop() if removed else True
        else:
            is_own = parse(files.read(item.path).data).meta.id == ident
            removed += [is_own] if item.action in REMOVALS else []
        found += [item] if is_own else []
    return found


def text_hash(text: str) -> str:
    """Return a hash of a text that ignores white space. It starts with a letter, so that YAML reads it as a string."""
    return f"t{short_hash(' '.join(text.split()))}"


def taken_texts(note: Note) -> frozenset[str]:
    """Return the hashes of the texts that were imported into a note."""
    return frozenset(note.front.texts(TEXTS))


def origin_of(note: Note) -> str:
    """Return where a note was imported from, nothing if it was not."""
    return note.front.text(ORIGIN)


def origins(unit: Unit, keys: Iterable[str]) -> dict[str, str]:
    """Return the keys of the imported memories of a scope, by where they came from."""
    memories, found = unit.memories, dict[str, str]()
    for key in keys:
        with suppress(CommonplaceError):  # one bad file does not stop an import
            data = memories.vault.read(memories.space, unit.view, unit.path(key)).data
            found[origin_of(parse(data))] = key
    found.pop("", None)
    return found


def import_entries(unit: Unit, key: str, entries: Sequence[Entry], labels: Labels, origin: str) -> ChangeResult:
    """Put entries of one source item into a memory, new or there already, and note where they came from."""
    kept = store(unit, key, entries[0], labels)
    for entry in entries[1:]:
        store(unit, key, entry, Labels())
    note = unit.get(key).note
    if unit.before(key) is None and labels.summary is None:
        newest = max(entries, key=lambda entry: entry.occurred or "")  # of several at once, the last
        note = note.with_meta(note.meta._replace(summary=make_summary(newest.text)))
    texts = dict.fromkeys((*note.front.texts(TEXTS), *(text_hash(entry.text) for entry in entries)))
    front = note.front.put(ORIGIN, origin).put(TEXTS, list(texts))
    revision = unit.put(key, note.replace(front=front, known=note.known), ())
    return kept._replace(revision=revision)


def add_links(unit: Unit, key: str, links: Iterable[Link]) -> int:
    """Add the links that are not there yet, whatever their status; return how many."""
    there = unit.get(key).note.meta.links
    known = {link_target(unit, link) for link in there}
    new = [link for link in dict.fromkeys(links) if link_target(unit, link) not in known]
    if new:
        relabel(unit, key, Labels(links=(*there, *new)))
    return len(new)


def vouch(unit: Unit, key: str, trusts: Collection[Trust] = (Trust.EXTERNAL,)) -> int:
    """Trust a memory that a person has reviewed; return how many of its entries had less trust: one of `trusts`.

    They get the trust of a person's own words, and what another book wrote keeps the trust it claims. No text is
    replaced, so the history gets nothing.
    """
    found, provenance = unit.get(key), unit.memories.provenance
    raised = sum(entry.trust in trusts for entry in provenance.entries_of(found.note))
    if raised:
        note = found.note.with_trust(lambda entry: Trust.HUMAN if entry.trust in trusts else entry.trust)
        write = provenance.vouch([note])
        if write is not None:
            unit.put_aside(write)
        unit.put(key, note)
    return raised


def lift_tombstone(unit: Unit, key: str, there: Unit | None = None) -> None:
    """Stage the removal of a memory's tombstone: it was purged, has come back, and is to stay.

    `there` is the unit that the memory moves to, which is committed first. The tombstone goes before a page names the
    memory.
    """
    stone = tombstone(unit.get(key).note.meta.id)
    if stone is not None and unit.memories.files.stat(stone) is not None:
        (there or unit).put_aside(Delete(stone))
