"""The labels of a unit: what it mentions, and what it belongs to. The index of the tree finds units by them.

Besides entities (people, addresses, tickets, ...), three kinds that no question names say which units are of one
thread, which answer a message, and which have a subject: a later ingest joins its messages by them. `TreeStore` puts
labels for every unit that is new in the index.
"""

from __future__ import annotations

from commonplace.index.units import Label
from commonplace.model.names import short_hash
from commonplace.tree.entities import find_entities
from commonplace.tree.subjects import read_subject
from commonplace.tree.units import TreeUnit

THREAD, ANSWER, SUBJECT = INNER_KINDS = ("thread:", "re:", "subject:")


def find_labels(unit: TreeUnit) -> list[Label]:
    """Return the labels of a unit, each once."""
    names = [f"{THREAD}{unit.thread}", *(f"{ANSWER}{ref}" for ref in unit.refs)]
    if unit.kind == "email" and unit.title:
        names.append(f"{SUBJECT}{short_hash(read_subject(unit.title).key)}")
    return [*(Label(name, "") for name in names), *find_entities(unit)]
