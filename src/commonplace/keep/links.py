"""Links between memories: in the frontmatter, with who proposed each and what became of it; wikilinks in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.keep import life
from commonplace.keep.unit import Unit
from commonplace.model.errors import InvalidField
from commonplace.model.memory import Link, Memory, Relation, Status
from commonplace.model.results import ListedMemory
from commonplace.text.links import wikilinks


def add_link(unit: Unit, key: str, rel: str, to: str, *, origin: str) -> life.Kept:
    """Add a link, or renew it. A person's verdict on one outlives whatever an agent proposes again."""
    if rel not in tuple(Relation):
        raise InvalidField(f"{rel[:40]!a} is not a relation.", hint=f"Use one of: {', '.join(Relation)}.")
    if not to or len(to) > 300 or not to.isprintable():
        raise InvalidField("A link leads to SCOPE/KEY or KEY, at most 300 printable characters.")
    found = unit.get(key)
    links = found.note.meta.links
    old = next((link for link in links if (link.rel, link.to) == (rel, to)), None)
    if old is not None and old.origin == "human" and origin != "human":
        return life.Kept(key, found.path, found.revision, "", "unchanged")
    link = Link(rel, to, origin, "active" if origin == "human" else "proposed")
    return life.relabel(unit, key, life.Labels(links=(*(other for other in links if other is not old), link)))


def supersede(unit: Unit, old: str, new: str, *, origin: str, who: str | None) -> life.Kept:
    """The old memory is superseded by the new one, and says so. It stays where it is; `undo` makes it stand again."""
    found = unit.get(old)
    links = found.note.meta.links
    link = Link("superseded_by", new, origin, "active")
    life.keep_history(unit, old, found, "superseded", who, unit.keep.clock())
    kept = life.relabel(unit, old, life.Labels(status=Status.SUPERSEDED, links=(*links, link)))
    mine = unit.get(new).note.meta.links
    life.relabel(unit, new, life.Labels(links=(*mine, Link(Relation.SUPERSEDES.value, old, origin, "active"))))
    return kept


def related(memory: Memory, listed: Sequence[ListedMemory]) -> list[ListedMemory]:
    """The listed memories that a memory links to."""
    targets = {link.to for link in memory.meta.links if link.status != "rejected"}
    targets |= {target for entry in memory.entries for target in wikilinks(entry.text)}
    found = [item for item in listed if item.key in targets or f"{item.scope}/{item.key}" in targets]
    return [replace(item) for item in found if item.path != memory.path]
