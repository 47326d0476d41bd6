"""Links between memories: in the frontmatter, with who proposed each and what became of it."""

from __future__ import annotations

from commonplace.keep import life, past
from commonplace.keep.unit import Unit
from commonplace.model.errors import InvalidField, InvalidKey
from commonplace.model.memory import Link, Relation, Status

REJECTED = "rejected"


def add_link(
    unit: Unit, key: str, rel: str, to: str, *, origin: str, who: str | None, there: Unit | None = None
) -> life.Kept:
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
            return life.Kept(key, found.path, found.revision, "", "unchanged")
        return _with_link(unit, key, Link(rel, to, origin, Status.PROPOSED.value), past.LINKED, who)
    return _stand(unit, key, Link(rel, to, origin, Status.ACTIVE.value), past.LINKED, who, there)


def find_link(unit: Unit, key: str, rel: str | None, to: str) -> Link | None:
    """The link of a memory, however it is written."""
    wanted = (rel, life.full_link(unit, to))
    links = unit.get(key).note.meta.links
    return next((link for link in links if (link.rel, life.full_link(unit, link.to)) == wanted), None)


def judge_link(
    unit: Unit, key: str, link: Link, *, accepted: bool, who: str | None, there: Unit | None = None
) -> life.Kept:
    """A reviewer's verdict on a link."""
    if not accepted:
        return _with_link(unit, key, link._replace(status=REJECTED), past.JUDGED, who)
    return _stand(unit, key, link._replace(status=Status.ACTIVE.value), past.JUDGED, who, there)


def _stand(unit: Unit, key: str, link: Link, why: str, who: str | None, there: Unit | None) -> life.Kept:
    """A link that stands; one that supersedes a memory which is there marks that one as superseded."""
    kind, _, old = life.full_link(unit, link.to).partition("/")
    place = next((place for place in (unit, there) if place is not None and place.folder.parts[1] == kind), None)
    itself = place is unit and old == key
    if link.rel == Relation.SUPERSEDES and place is not None and not itself and is_there(place, old):
        mark_superseded(place, old, unit, key, link.origin, who)
    return _with_link(unit, key, link, why, who)


def is_there(unit: Unit, key: str) -> bool:
    try:
        return unit.find(key) is not None
    except InvalidKey:
        return False  # a link may lead anywhere


def _with_link(unit: Unit, key: str, link: Link, why: str, who: str | None) -> life.Kept:
    links = unit.get(key).note.meta.links
    old = find_link(unit, key, link.rel, link.to)
    new = (*links, link) if old is None else tuple(link if other == old else other for other in links)
    return life.relabel(unit, key, life.Labels(links=new), why=why, who=who)


def supersede(unit: Unit, old: str, new: str, *, origin: str, who: str | None, there: Unit | None = None) -> None:
    """The old memory, in this unit or the one on its scope, is superseded by the new one, and both say so. `undo` makes
    the old one stand again."""
    place = there or unit
    mark_superseded(place, old, unit, new, origin, who)
    link = Link(Relation.SUPERSEDES.value, named_from(unit, place, old), origin, Status.ACTIVE.value)
    _with_link(unit, new, link, "appended", who)  # it comes with the text that supersedes


def named_from(unit: Unit, place: Unit, key: str) -> str:
    """How a memory in one unit names one in another."""
    return key if place is unit else f"{place.folder.parts[1]}/{key}"


def mark_superseded(unit: Unit, old: str, place: Unit, new: str, origin: str, who: str | None) -> None:
    found = unit.get(old)
    back = Link(life.SUPERSEDED_BY, named_from(unit, place, new), origin, Status.ACTIVE.value)
    labels = life.Labels(status=Status.SUPERSEDED, links=tuple(dict.fromkeys((*found.note.meta.links, back))))
    life.relabel(unit, old, labels, why="superseded", who=who)
