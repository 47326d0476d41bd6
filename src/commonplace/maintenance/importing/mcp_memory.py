"""The graph of the MCP reference memory server: memory.jsonl, with an entity or a relation on each line.

    {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
    {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"}

An entity becomes a memory, and each observation an entry of it. A relation becomes an entry of the one it starts from,
and a link. One JSON document with `entities` and `relations`, as the server's own tools answer it, is read, too.
"""

from collections.abc import Iterator, Sequence

from commonplace.maintenance.importing.items import (
    Harvest,
    Item,
    ItemLink,
    SourceFile,
    Statement,
    fitting_tags,
    left,
    memory_type,
    moment,
    relation,
)
from commonplace.maintenance.importing.json_records import records, text_of
from commonplace.model.memory import MemoryType
from commonplace.model.results import LeftItem

_PEOPLE = ("default_user", "user")


class _Entity:
    """What was read of one entity so far."""

    def __init__(self, place: str, kind: str) -> None:
        self.place, self.kind = place, kind
        self.said: list[Statement] = []
        self.links: list[ItemLink] = []


def read(files: Sequence[SourceFile]) -> Harvest:
    entities: dict[str, _Entity] = {}
    relations: list[tuple[str, str, str, str]] = []
    skipped: list[LeftItem] = []
    for file in files:
        found = records(file.text)
        skipped += [left(f"{file.name}, {place}", "bad_line") for place in found.bad]
        for place, value in _unwrapped(found.values):
            where = f"{file.name}, {place}"
            if not _take(where, value, entities, relations):
                skipped.append(left(where, "bad_line"))
    for where, start, kind, to in relations:
        if start not in entities:
            skipped.append(left(where, "bad_line", "The entity it starts from is not there."))
            continue
        entities[start].said.append(Statement(f"{kind} {to}"))
        entities[start].links.append(ItemLink(relation(kind), to))
    skipped += [left(entity.place, "empty") for entity in entities.values() if not entity.said]
    return Harvest(tuple(_item(name, entity) for name, entity in entities.items() if entity.said), tuple(skipped))


def looks_like(value: dict[str, object]) -> bool:
    """Whether an object is one of this graph's."""
    if value.get("type") == "entity":
        return "name" in value and "entityType" in value
    if value.get("type") == "relation":
        return {"from", "to", "relationType"} <= value.keys()
    return isinstance(value.get("entities"), list) or {"name", "entityType", "observations"} <= value.keys()


def _unwrapped(values: Sequence[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    for place, value in values:
        lists = [(kind, value.get(many)) for kind, many in _LISTS] if isinstance(value, dict) else []
        if not any(isinstance(members, list) for _, members in lists):
            yield place, value
            continue
        for kind, members in lists:
            for number, member in enumerate(members if isinstance(members, list) else (), 1):
                yield f"{kind} {number}", {"type": kind, **member} if isinstance(member, dict) else member


_LISTS = (("entity", "entities"), ("relation", "relations"))


def _take(where: str, value: object, entities: dict[str, _Entity], relations: list[tuple[str, str, str, str]]) -> bool:
    """Put one record where it belongs; False for one that cannot be read."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "relation":
        start, to, kind = (text_of(value.get(name)) for name in ("from", "to", "relationType"))
        if start and to:
            relations.append((where, start, kind or "relates_to", to))
        return bool(start and to)
    name, observed = text_of(value.get("name")), value.get("observations")
    if value.get("type") != "entity" or not name or not isinstance(observed, (list, type(None))):
        return False
    entity = entities.setdefault(name, _Entity(where, text_of(value.get("entityType"))))
    when = moment(value.get("createdAt"))
    texts = dict.fromkeys(text for one in observed or () if (text := text_of(one)))
    known = {said.text for said in entity.said}
    entity.said += [Statement(text, when) for text in texts if text not in known]
    return True


def _item(name: str, entity: _Entity) -> Item:
    person = MemoryType.USER if name.lower() in _PEOPLE or entity.kind.lower() in _PEOPLE else MemoryType.REFERENCE
    about = f" ({entity.kind})" if entity.kind else ""
    return Item(
        place=entity.place,
        ident=name,
        name=name,
        statements=tuple(entity.said),
        type=memory_type(entity.kind, person),
        summary=f"{name}{about}: {entity.said[0].text}",
        tags=fitting_tags([entity.kind]),
        links=tuple(dict.fromkeys(entity.links)),
    )
