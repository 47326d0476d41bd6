"""What becomes of a superseded memory when that which superseded it goes: it stands again.

To forget a correction, or to undo it, is to say that what was there before holds. What then stands says so in its
history, and a restore takes it back, unless somebody has changed it since. Nothing here runs for a store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.keep import life, links, past
from commonplace.keep.unit import Keep, Unit
from commonplace.model.errors import NotFound
from commonplace.model.ids import is_rising
from commonplace.model.memory import Link, Meta, Relation, Status
from commonplace.text.notes import Note, parse
from commonplace.vault.paths import BookPath
from commonplace.vault.view import KEEPER


def leads(keep: Keep, path: BookPath) -> list[str]:
    """Where the links of a text lead that supersede memories of other scopes."""
    try:
        meta = parse(keep.vault.read(keep.space, KEEPER, path).data).meta
    except NotFound:
        return []
    return [link.to for link in meta.links if _stands(link) and "/" in link.to]


def marks(unit: Unit, key: str, others: Sequence[Unit]) -> list[Link]:
    """The links by which a memory supersedes others, here or in the scopes of other units."""
    found = unit.find(key)
    own = found.note.meta.links if found is not None else ()
    return [link for link, place, old in _superseded(unit, key, own, others) if _backs(place, old, unit, key)]


def follow(unit: Unit, key: str, was: Meta | None, others: Sequence[Unit], who: str | None) -> None:
    """A memory was forgotten, undone or restored: what it no longer supersedes stands again, and what stood again for
    want of it, and is as it was then, is superseded again. `was`: its labels of before."""
    found = unit.find(key)
    before, after = (was.links if was else ()), (found.note.meta.links if found is not None else ())
    if was is None or was.status is not Status.SUPERSEDED:  # else another has taken its place
        for link, place, old in _superseded(unit, key, before, others):
            if link not in after and _backs(place, old, unit, key):
                _let_stand(place, old, (unit, *others), who)
    for link, place, old in _superseded(unit, key, after, others):
        if link not in before and (_is_by_another(place, old, unit, key) or _stood_without(place, old, unit, key)):
            links.mark_superseded(place, old, unit, key, link.origin, who)


def _superseded(unit: Unit, key: str, own: Sequence[Link], others: Sequence[Unit]) -> Iterator[tuple[Link, Unit, str]]:
    """The links that supersede and stand, each with the unit and the key of what it leads to, if that is there."""
    for link in own:
        kind, _, old = life.full_link(unit, link.to).partition("/")
        place = next((place for place in (unit, *others) if place.folder.parts[1] == kind), None)
        if _stands(link) and place is not None and (place, old) != (unit, key) and links.is_there(place, old):
            yield link, place, old


def _stands(link: Link) -> bool:
    return link.rel == Relation.SUPERSEDES and link.status == Status.ACTIVE


def _backs(place: Unit, old: str, unit: Unit, new: str) -> bool:
    """Whether a memory is superseded, and says that it is by that one."""
    meta = place.get(old).note.meta
    return meta.status is Status.SUPERSEDED and _says(meta, place, unit, new)


def _is_by_another(place: Unit, old: str, unit: Unit, new: str) -> bool:
    meta = place.get(old).note.meta
    return meta.status is Status.SUPERSEDED and not _says(meta, place, unit, new)


def _says(meta: Meta, place: Unit, unit: Unit, new: str) -> bool:
    back = life.full_link(place, links.named_from(place, unit, new))
    return any(link.rel == life.SUPERSEDED_BY and life.full_link(place, link.to) == back for link in meta.links)


def _let_stand(place: Unit, old: str, opened: Sequence[Unit], who: str | None) -> None:
    """Give a memory the status that it had before it was superseded, unless another one still supersedes it. One that
    never had another, being written so by hand, keeps it."""
    keep, meta = place.keep, place.get(old).note.meta
    back = [link for link in meta.links if link.rel == life.SUPERSEDED_BY]
    if any(_still(place, old, life.full_link(place, link.to), opened) for link in back):
        return
    for item in reversed(past.list_past(keep.vault, keep.space, past.HISTORY, place.folder, old)):
        then = parse(keep.vault.read(keep.space, KEEPER, item.path).data).meta
        if item.action == past.RESTORED or then.id not in ("", meta.id):
            continue  # nothing, while it was away; another that had this key
        if then.status is not Status.SUPERSEDED:
            status = Status.ACTIVE if then.status is Status.EXPIRED else then.status
            left = tuple(link for link in meta.links if link not in back)
            life.relabel(place, old, life.Labels(status=status, links=left), why=past.STANDS, who=who)
            return


def _still(place: Unit, old: str, by: str, opened: Sequence[Unit]) -> bool:
    """Whether the memory that a `superseded_by` leads to is there and supersedes this one; of a scope that is not open,
    it is taken to."""
    kind, _, new = by.partition("/")
    unit = next((unit for unit in opened if unit.folder.parts[1] == kind), None)
    if unit is None:
        return True
    found = unit.find(new) if links.is_there(unit, new) else None
    own = found.note.meta.links if found is not None else ()
    return any((where, key) == (place, old) for _, where, key in _superseded(unit, new, own, opened))


def _stood_without(place: Unit, old: str, unit: Unit, new: str) -> bool:
    """Whether the last change of a memory was that it stands again because that one was gone."""
    keep, note = place.keep, place.get(old).note
    before = past.list_past(keep.vault, keep.space, past.HISTORY, place.folder, old)[-1:]
    if not before or before[0].action != past.STANDS or _has_newer(note, before[0].id):
        return False
    return _says(parse(keep.vault.read(keep.space, KEEPER, before[0].path).data).meta, place, unit, new)


def _has_newer(note: Note, ident: str) -> bool:
    return any(is_rising(entry.id) and entry.id > ident for entry in note.entries)
