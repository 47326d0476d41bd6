"""A proposal that is accepted into another scope: it goes there whole, with its id, its entries and its past.

The text before is put aside at the new place, as `moved`, and earlier ones come along: the old place keeps nothing, so
that what is purged later is gone. What comes is durable before what was there goes, if the units are committed in that
order: cut off in between, both are there, with one id, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.keep import life, past
from commonplace.keep.recorded import UNACCEPTED
from commonplace.keep.unit import Unit
from commonplace.model.errors import AlreadyExists, Conflict
from commonplace.model.keys import check_new_key
from commonplace.model.memory import Link
from commonplace.text.notes import parse
from commonplace.vault.port import ABSENT, Write
from commonplace.vault.view import KEEPER


def move(unit: Unit, there: Unit, key: str, who: str | None) -> None:
    """Stage a memory that waits for a verdict in another unit, as it is, and its removal from this one."""
    found, kind = unit.get(key), there.folder.parts[1]
    if found.note.meta.status not in UNACCEPTED:
        raise Conflict(
            f"{key!a} does not wait for a verdict, and only what does is accepted into another scope.",
            hint="Store its text there, then forget this one.",
        )
    if there.find(check_new_key(key)) is not None:
        raise AlreadyExists(
            f"There is a memory {key!a} in {kind} already.",
            hint="Accept this one where it is; or add to the other what it lacks, and reject this one.",
        )
    time = unit.keep.clock()
    meta = life.own_meta(unit, found, key, time)
    links = tuple(_named_from(unit, there, meta.links))
    there.put(there.path(key), found.note.with_meta(meta._replace(links=links)), ABSENT)
    label = past.PastLabel(time, past.MOVED, who)
    there.put_aside(past.put_aside(past.HISTORY, there.folder, key, found.data, found.revision, label))
    _move_past(unit, there, key, found.note.meta.id)
    unit.remove(found)


def _named_from(unit: Unit, there: Unit, links: Sequence[Link]) -> Iterator[Link]:
    """The links as they are said from there: with the scope they lead to. A scope of the same kind has no such name,
    and would take its own memories to be meant: those links stay behind, in the text that is put aside."""
    old, new = (place.folder.parts[1] for place in (unit, there))
    for link in links:
        to = life.full_link(unit, link.to)
        if old != new or to.partition("/")[0] != old:
            yield link._replace(to=to)


def _move_past(unit: Unit, there: Unit, key: str, ident: str) -> None:
    """What was put aside of this memory before; not of another that had its key."""
    vault, space = unit.keep.vault, unit.keep.space
    for item in past.list_past(vault, space, past.HISTORY, unit.folder, key):
        data = vault.read(space, KEEPER, item.path).data
        if not ident or parse(data).meta.id != ident:
            continue
        path = past.past_folder(past.HISTORY, there.folder, key) / item.path.name
        if vault.stat(space, KEEPER, path) is None:  # else it came before, and then the power failed
            there.put_aside(Write(path, data, ABSENT))
        unit.remove_other(item.path)
