"""Secrets in what surrounds the text of a message: its subject, names, ids, and the path of a document.

`ingest` passes every unit through here before anything is made of it: a subject becomes the name of a file, an id
stands in answers. The text itself is redacted when it is cleaned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonplace.model.names import short_hash
from commonplace.tree.source import Person, SourceUnit

Redact = Callable[[str], tuple[str, Mapping[str, int]]]
_BETWEEN = "\n"
_ID_LENGTH = 20


def redact_head(unit: SourceUnit, redact: Redact) -> tuple[SourceUnit, int]:
    """Return a unit without secrets in what surrounds its text, and how many were removed.

    An id with a secret in it becomes a hash, which is still the same in every export.
    """
    people = (unit.author, *unit.recipients)
    names = [word for person in people for word in (person.name, person.address)]
    ids = (unit.native_id, *unit.parents)
    fields = (unit.title, unit.thread, *unit.attachments, *unit.labels, *names, *ids)
    _, found = redact(_BETWEEN.join(fields))
    if not found:
        return unit, 0

    def mend(text: str) -> str:
        return redact(text)[0]

    def mend_id(text: str) -> str:
        return f"{text.partition(':')[0]}:{short_hash(text, _ID_LENGTH)}" if redact(text)[1] else text

    def mend_person(person: Person) -> Person:
        return Person(mend(person.name), mend(person.address))

    clean = unit._replace(
        title=mend(unit.title),
        thread=mend(unit.thread),
        attachments=tuple(map(mend, unit.attachments)),
        labels=tuple(map(mend, unit.labels)),
        author=mend_person(unit.author),
        recipients=tuple(map(mend_person, unit.recipients)),
        native_id=mend_id(unit.native_id),
        parents=tuple(map(mend_id, unit.parents)),
    )
    return clean, sum(found.values())
