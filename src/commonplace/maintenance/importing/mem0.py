"""Memories as mem0 gives them: JSON lines, a list, or what its `get_all` answers, with the memories in `results`.

    {"id": "...", "memory": "Prefers tea", "user_id": "ann", "metadata": {}, "created_at": "...", "updated_at": "..."}

Each memory becomes a memory with one entry, dated by when it was last changed. What is about a user has the type user.
"""

from collections.abc import Iterator, Sequence

from commonplace.maintenance.importing.items import (
    Harvest,
    Item,
    SourceFile,
    Statement,
    fitting_tags,
    left,
    memory_type,
    moment,
)
from commonplace.maintenance.importing.json_records import records, text_of
from commonplace.model.ids import short_hash
from commonplace.model.memory import MemoryType
from commonplace.model.results import LeftItem
from commonplace.text.naming import make_summary

_LISTS = ("results", "memories")


def read(files: Sequence[SourceFile]) -> Harvest:
    items: list[Item] = []
    skipped: list[LeftItem] = []
    for file in files:
        found = records(file.text)
        skipped += [left(f"{file.name}, {place}", "bad_line") for place in found.bad]
        for place, value in _unwrapped(found.values):
            where = f"{file.name}, {place}"
            text = text_of(value.get("memory")) if isinstance(value, dict) else ""
            if isinstance(value, dict) and text:
                items.append(_item(where, value, text))
            else:
                empty = isinstance(value, dict) and isinstance(value.get("memory"), str)
                skipped.append(left(where, "empty" if empty else "bad_line"))
    return Harvest(tuple(items), tuple(skipped))


def looks_like(value: dict[str, object]) -> bool:
    """Whether an object is a memory of mem0's, or holds a list of them."""
    inside = [member for name in _LISTS if isinstance(members := value.get(name), list) for member in members[:1]]
    return any(isinstance(one, dict) and isinstance(one.get("memory"), str) for one in (value, *inside))


def _unwrapped(values: Sequence[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    for place, value in values:
        inside = (
            [value[name] for name in _LISTS if isinstance(value.get(name), list)] if isinstance(value, dict) else []
        )
        if inside:
            yield from ((f"item {number}", member) for number, member in enumerate(inside[0], 1))
        else:
            yield place, value


def _item(where: str, value: dict[str, object], text: str) -> Item:
    about = value.get("metadata")
    more: dict[str, object] = about if isinstance(about, dict) else {}
    categories = value.get("categories")
    words = [*(categories if isinstance(categories, list) else ()), more.get("category")]
    whose = MemoryType.USER if text_of(value.get("user_id")) else MemoryType.REFERENCE
    ident = value.get("id")
    return Item(
        place=where,
        ident=str(ident) if isinstance(ident, (str, int)) and str(ident) else short_hash(text),
        name=make_summary(text),
        statements=(Statement(text, moment(value.get("updated_at")) or moment(value.get("created_at"))),),
        type=memory_type(more.get("type"), whose),
        tags=fitting_tags(words),
        author=text_of(value.get("agent_id")) or None,
        session=text_of(value.get("run_id")) or None,
    )
