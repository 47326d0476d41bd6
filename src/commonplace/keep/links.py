"""Links between memories: in the frontmatter, with who proposed each and what became of it."""

from __future__ import annotations

from commonplace.keep import life, past
from commonplace.keep.unit import Unit
from commonplace.model.errors import InvalidField, InvalidKey
from commonplace.model.memory import Link, Relation, Status
from commonplace.model.value import replace

REJECTED = "rejected"


def add_link(unit: Unit, key: str, rel: str, to: str, *, origin: str, who: str | None) -> life.Kept:
    """Add a link: a person's stands, an agent's waits. What is there already, judged or waiting, no agent changes."""
    if rel not in tuple(Relation):
        raise InvalidField(f"{rel[:40]!a} is not a relation.", hint=f"Use one of: {', '.join(Relation)}.")
    if not to or len(to) > 300 or not to.isprintable():
        raise InvalidField("A link leads to SCOPE/KEY or KEY, at most 300 printable characters.")
    found = unit.get(key)
    if origin != "human":
        if find_link(unit, key, rel, to) is not None:
            return life.Kept(key, found.path, found.revision, "", "unchanged")
        return _with_link(unit, key, Link(rel, to, origin, Status.PROPOSED.value), past.LINKED, who)
    return _stand(unit, key, Link(rel, to, origin, Status.ACTIVE.value), past.LINKED, who)


def find_link(unit: Unit, key: str, rel: str | None, to: str) -> Link | None:
    """The link of a memory, however it is written."""
    wanted = (rel, life.full_link(unit, to))
    links = unit.get(key).note.meta.links
    return next((link for link in links if (link.rel, life.full_link(unit, link.to)) == wanted), None)


def judge_link(unit: Unit, key: str, link: Link, *, accepted: bool, who: str | None) -> life.Kept:
    """A reviewer's verdict on a link."""
    if not accepted:
        return _with_link(unit, key, replace(link, status=REJECTED), past.JUDGED, who)
    return _stand(unit, key, replace(link, status=Status.ACTIVE.value), past.JUDGED, who)


def _stand(unit: Unit, key: str, link: Link, why: str, who: str | None) -> life.Kept:
    """A link that stands; one that supersedes a memory of the same scope marks that one as superseded."""
    old = link.to.removeprefix(f"{unit.folder.parts[1]}/")
    if link.rel == Relation.SUPERSEDES and old != key and _is_there(unit, old):
        _mark_superseded(unit, old, key, link.origin, who)
    return _with_link(unit, key, link, why, who)


def _is_there(unit: Unit, key: str) -> bool:
    try:
        return unit.find(key) is not None
    except InvalidKey:
        return False  # a link may lead anywhere


def _with_link(unit: Unit, key: str, link: Link, why: str, who: str | None) -> life.Kept:
    links = unit.get(key).note.meta.links
    wanted = (link.rel, life.full_link(unit, link.to))
    others = (other for other in links if (other.rel, life.full_link(unit, other.to)) != wanted)
    return life.relabel(unit, key, life.Labels(links=(*others, link)), why=why, who=who)


def supersede(unit: Unit, old: str, new: str, *, origin: str, who: str | None) -> None:
    """The old memory is superseded by the new one, and both say so. `undo` makes the old one stand again."""
    _mark_superseded(unit, old, new, origin, who)
    link = Link(Relation.SUPERSEDES.value, old, origin, Status.ACTIVE.value)
    _with_link(unit, new, link, "appended", who)  # it comes with the text that supersedes


def _mark_superseded(unit: Unit, old: str, new: str, origin: str, who: str | None) -> None:
    found = unit.get(old)
    back = Link(life.SUPERSEDED_BY, new, origin, Status.ACTIVE.value)
    labels = life.Labels(status=Status.SUPERSEDED, links=(*found.note.meta.links, back))
    life.relabel(unit, old, labels, why="superseded", who=who)
