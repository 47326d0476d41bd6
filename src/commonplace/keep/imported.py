"""What a memory knows of its import: in which source it is, and which texts of it were taken.

Two fields of its frontmatter say so: `imported_from`, the format and the item's name in the source, and `imported`, a
short hash of every text that was taken. They outlive whatever is done to the entries, so importing again brings back
nothing that a person has corrected or taken out, and a memory that was renamed is found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonplace.keep.life import Kept, Labels, full_link, relabel, store
from commonplace.keep.past import tombstone
from commonplace.keep.unit import Unit
from commonplace.model.errors import CommonplaceError
from commonplace.model.ids import short_hash
from commonplace.model.memory import Entry, Link, Trust
from commonplace.text.frontmatter import split
from commonplace.text.notes import Note
from commonplace.vault.view import KEEPER

ORIGIN, TEXTS = "imported_from", "imported"
_MARK = f"{ORIGIN}:".encode()


def text_hash(text: str) -> str:
    """What tells a text from others, but for white space. It starts with a letter: YAML takes it for a text."""
    return f"t{short_hash(' '.join(text.split()))}"


def taken_texts(note: Note) -> frozenset[str]:
    return frozenset(note.front.texts(TEXTS))


def origin_of(note: Note) -> str:
    return note.front.text(ORIGIN)


def origins(unit: Unit, keys: Iterable[str]) -> dict[str, str]:
    """The keys of the memories of a scope that were imported, by where they came from."""
    return {origin: key for key in keys for origin in _origin_at(unit, key)}


def _origin_at(unit: Unit, key: str) -> Iterator[str]:
    keep = unit.keep
    try:
        data = keep.vault.read(keep.space, unit.view, unit.path(key)).data
    except CommonplaceError:  # one bad file keeps nobody from importing
        return
    if _MARK in data:
        origin = split(data.decode("utf-8", "surrogateescape"))[0].text(ORIGIN)
        if origin:
            yield origin


def take_in(unit: Unit, key: str, entries: Sequence[Entry], labels: Labels, origin: str) -> Kept:
    """Put entries of one source item into a memory, new or there already, and note where they came from."""
    kept = store(unit, key, entries[0], labels)
    for entry in entries[1:]:
        store(unit, key, entry, Labels())
    found = unit.get(key)
    note = found.note
    texts = dict.fromkeys((*note.front.texts(TEXTS), *(text_hash(entry.text) for entry in entries)))
    front = note.front.put(ORIGIN, origin).put(TEXTS, list(texts))
    revision = unit.put(found.path, Note(front, note.lead, note.blocks, note.known), found.revision, ())
    return kept._replace(revision=revision)


def add_links(unit: Unit, key: str, links: Iterable[Link]) -> int:
    """Add the links that are not there yet, in whatever standing; answers how many."""
    there = unit.get(key).note.meta.links
    known = {(link.rel, full_link(unit, link.to)) for link in there}
    new = [link for link in dict.fromkeys(links) if (link.rel, full_link(unit, link.to)) not in known]
    if new:
        relabel(unit, key, Labels(links=(*there, *new)))
    return len(new)


def vouch(unit: Unit, key: str) -> int:
    """A person has looked at it: what came from outside is trusted like a person's own, and what another book wrote is
    believed in what it claims. Answers how many entries.

    No text is replaced, so nothing is put aside.
    """
    found, provenance = unit.get(key), unit.keep.provenance
    outside = sum(entry.trust is Trust.EXTERNAL for entry in provenance.entries_of(found.note))
    if outside:
        note = found.note.with_trust(_vouched)
        write = provenance.vouch([note])
        if write is not None:
            unit.put_aside(write)
        unit.put(found.path, note, found.revision)
    return outside


def _vouched(entry: Entry) -> Trust:
    return Trust.HUMAN if entry.trust is Trust.EXTERNAL else entry.trust


def lift_tombstone(unit: Unit, key: str, there: Unit | None = None) -> None:
    """What was purged and has come back is to stay, here or in the unit that it moves to, which is committed first:
    nothing says any more that it was purged. That is gone before a page names it."""
    keep, stone = unit.keep, tombstone(unit.get(key).note.meta.id)
    if stone is not None and keep.vault.stat(keep.space, KEEPER, stone) is not None:
        (there or unit).remove_first(stone)
