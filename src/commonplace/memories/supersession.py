"""Links between memories, and what follows from `supersedes`.

A memory that is superseded says so itself, with a link back, and sinks in recall. When what superseded it is forgotten,
undone or purged, it stands again, unless another memory still supersedes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.memories import history, lifecycle
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidField, InvalidKey, NotFound
from commonplace.model.ids import is_uuid7
from commonplace.model.memory import Link, Meta, Relation, Status
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import BookPath

REJECTED = "rejected"


def add_link(
    unit: Unit, key: str, rel: str, to: str, *, origin: str, who: str | None, there: Unit | None = None
) -> lifecycle.ChangeResult:
    """Add a link: a person's stands, an agent's waits. What is there already, judged or waiting, no agent changes.

    `there` is a unit on the scope that the link leads to, if that is another one.
    """
    if rel not in tuple(Relation):
        raise InvalidField(f"{rel[:40]!a} is not a relation.", hint=f"Use one of: {', '.join(Relation)}.")
    if not to or len(to) > 300 or not to.isprintable():
        raise InvalidField("A link leads to SCOPE/KEY or KEY, at most 300 printable characters.")
    found = unit.get(key)
    if origin != "human":
        if find_link(unit, key, rel, to) is not None:
            return lifecycle.ChangeResult(key, found.path, found.revision, "", "unchanged")
        return _with_link(unit, key, Link(rel, to, origin, Status.PROPOSED.value), history.LINKED, who)
    return _stand(unit, key, Link(rel, to, origin, Status.ACTIVE.value), history.LINKED, who, there)


def find_link(unit: Unit, key: str, rel: str | None, to: str) -> Link | None:
    """The link of a memory, however it is written."""
    wanted = (rel, lifecycle.full_link(unit, to))
    links = unit.get(key).note.meta.links
    return next((link for link in links if (link.rel, lifecycle.full_link(unit, link.to)) == wanted), None)


def judge_link(
    unit: Unit, key: str, link: Link, *, accepted: bool, who: str | None, there: Unit | None = None
) -> lifecycle.ChangeResult:
    """A reviewer's verdict on a link."""
    if not accepted:
        return _with_link(unit, key, link._replace(status=REJECTED), history.JUDGED, who)
    return _stand(unit, key, link._replace(status=Status.ACTIVE.value), history.JUDGED, who, there)


def _stand(unit: Unit, key: str, link: Link, why: str, who: str | None, there: Unit | None) -> lifecycle.ChangeResult:
    """A link that stands; one that supersedes a memory which is there marks that one as superseded."""
    kind, _, old = lifecycle.full_link(unit, link.to).partition("/")
    place = next((place for place in (unit, there) if place is not None and place.folder.parts[1] == kind), None)
    itself = place is unit and old == key
    if link.rel == Relation.SUPERSEDES and place is not None and not itself and is_there(place, old):
        mark_superseded(place, old, unit, key, link.origin, who)
    return _with_link(unit, key, link, why, who)


def is_there(unit: Unit, key: str) -> bool:
    """Return whether a unit has the memory that a link leads to."""
    try:
        return unit.find(key) is not None
    except InvalidKey:
        return False  # a link may lead anywhere


def _with_link(unit: Unit, key: str, link: Link, why: str, who: str | None) -> lifecycle.ChangeResult:
    links = unit.get(key).note.meta.links
    old = find_link(unit, key, link.rel, link.to)
    new = (*links, link) if old is None else tuple(link if other == old else other for other in links)
    return lifecycle.relabel(unit, key, lifecycle.Labels(links=new), why=why, who=who)


def supersede(unit: Unit, old: str, new: str, *, origin: str, who: str | None, there: Unit | None = None) -> None:
    """Mark an old memory as superseded by a new one, with links both ways; `undo` lifts it. `there` is the unit of the
    old memory's scope, if that is another one."""
    place = there or unit
    mark_superseded(place, old, unit, new, origin, who)
    link = Link(Relation.SUPERSEDES.value, named_from(unit, place, old), origin, Status.ACTIVE.value)
    _with_link(unit, new, link, "appended", who)  # it comes with the text that supersedes


def named_from(unit: Unit, place: Unit, key: str) -> str:
    """Return how a memory in one unit names one in another."""
    return key if place is unit else f"{place.folder.parts[1]}/{key}"


def mark_superseded(unit: Unit, old: str, place: Unit, new: str, origin: str, who: str | None) -> None:
    """Give a memory the status superseded and a link back to the one that supersedes it."""
    found = unit.get(old)
    back = Link(lifecycle.SUPERSEDED_BY, named_from(unit, place, new), origin, Status.ACTIVE.value)
    labels = lifecycle.Labels(status=Status.SUPERSEDED, links=tuple(dict.fromkeys((*found.note.meta.links, back))))
    lifecycle.relabel(unit, old, labels, why="superseded", who=who)


def leads(keep: MemoryStore, path: BookPath) -> list[str]:
    """Return which memories of other scopes a text supersedes, as its links name them."""
    try:
        meta = parse(keep.files.read(path).data).meta
    except NotFound:
        return []
    return [link.to for link in meta.links if _stands(link) and "/" in link.to]


def marks(unit: Unit, key: str, others: Sequence[Unit]) -> list[Link]:
    """Return the links by which a memory supersedes others, here or in the scopes of other units."""
    found = unit.find(key)
    own = found.note.meta.links if found is not None else ()
    return [link for link, place, old in _superseded(unit, key, own, others) if _backs(place, old, unit, key)]


def follow(unit: Unit, key: str, was: Meta | None, others: Sequence[Unit], who: str | None) -> None:
    """Update what a memory supersedes after it was forgotten, undone or restored. `was` are its labels of before.

    What it no longer supersedes becomes active again. What became active because this memory was gone, and has not
    changed since, is superseded again.
    """
    found = unit.find(key)
    before, after = (was.links if was else ()), (found.note.meta.links if found is not None else ())
    if was is None or was.status is not Status.SUPERSEDED:  # else another has taken its place
        for link, place, old in _superseded(unit, key, before, others):
            if link not in after and _backs(place, old, unit, key):
                _let_stand(place, old, (unit, *others), who)
    for link, place, old in _superseded(unit, key, after, others):
        if link not in before and (_is_by_another(place, old, unit, key) or _stood_without(place, old, unit, key)):
            mark_superseded(place, old, unit, key, link.origin, who)


def _superseded(unit: Unit, key: str, own: Sequence[Link], others: Sequence[Unit]) -> Iterator[tuple[Link, Unit, str]]:
    """The links that supersede and stand, each with the unit and the key of what it leads to, if that is there."""
    for link in own:
        kind, _, old = lifecycle.full_link(unit, link.to).partition("/")
        place = next((place for place in (unit, *others) if place.folder.parts[1] == kind), None)
        if _stands(link) and place is not None and (place, old) != (unit, key) and is_there(place, old):
            yield link, place, old


def _stands(link: Link) -> bool:
    return link.rel == Relation.SUPERSEDES and link.status == Status.ACTIVE


def _backs(place: Unit, old: str, unit: Unit, new: str) -> bool:
    """Return whether a memory is superseded and names that one as its successor."""
    meta = place.get(old).note.meta
    return meta.status is Status.SUPERSEDED and _says(meta, place, unit, new)


def _is_by_another(place: Unit, old: str, unit: Unit, new: str) -> bool:
    meta = place.get(old).note.meta
    return meta.status is Status.SUPERSEDED and not _says(meta, place, unit, new)


def _says(meta: Meta, place: Unit, unit: Unit, new: str) -> bool:
    back = lifecycle.full_link(place, named_from(place, unit, new))
    return any(
        link.rel == lifecycle.SUPERSEDED_BY and lifecycle.full_link(place, link.to) == back for link in meta.links
    )


def _let_stand(place: Unit, old: str, opened: Sequence[Unit], who: str | None) -> None:
    """Give a memory the status that it had before it was superseded, unless another one still supersedes it. One that
    never had another, being written so by hand, keeps it."""
    keep, meta = place.keep, place.get(old).note.meta
    back = [link for link in meta.links if link.rel == lifecycle.SUPERSEDED_BY]
    if any(_still(place, old, lifecycle.full_link(place, link.to), opened) for link in back):
        return
    for item in reversed(history.list_past(keep.files, history.HISTORY, place.folder, old)):
        then = parse(keep.files.read(item.path).data).meta
        if item.action == history.RESTORED or then.id not in ("", meta.id):
            continue  # nothing, while it was away; another that had this key
        if then.status is not Status.SUPERSEDED:
            status = Status.ACTIVE if then.status is Status.EXPIRED else then.status
            left = tuple(link for link in meta.links if link not in back)
            lifecycle.relabel(place, old, lifecycle.Labels(status=status, links=left), why=history.STANDS, who=who)
            return


def _still(place: Unit, old: str, by: str, opened: Sequence[Unit]) -> bool:
    """Whether the memory that a `superseded_by` leads to is there and supersedes this one; of a scope that is not open,
    it is taken to."""
    kind, _, new = by.partition("/")
    unit = next((unit for unit in opened if unit.folder.parts[1] == kind), None)
    if unit is None:
        return True
    found = unit.find(new) if is_there(unit, new) else None
    own = found.note.meta.links if found is not None else ()
    return any((where, key) == (place, old) for _, where, key in _superseded(unit, new, own, opened))


def _stood_without(place: Unit, old: str, unit: Unit, new: str) -> bool:
    """Return whether the last change of a memory made it active again because that one was gone."""
    keep, note = place.keep, place.get(old).note
    before = history.list_past(keep.files, history.HISTORY, place.folder, old)[-1:]
    if not before or before[0].action != history.STANDS or _has_newer(note, before[0].id):
        return False
    return _says(parse(keep.files.read(before[0].path).data).meta, place, unit, new)


def _has_newer(note: Note, ident: str) -> bool:
    return any(is_uuid7(entry.id) and entry.id > ident for entry in note.entries)
