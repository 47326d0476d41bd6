"""Files that go on from one another: entries are appended to the newest part, and a full one is followed by the next.

Everything here happens inside a unit of keep: under the journal's lock, with the index and the pages in step.
"""

from collections.abc import Iterator, Mapping, Sequence

from commonplace.journal.names import ROLL_AT, Part, date_of, read_part
from commonplace.keep.unit import Found, Unit
from commonplace.model.errors import NotFound
from commonplace.model.memory import Entry
from commonplace.model.space import Space
from commonplace.text.frontmatter import Frontmatter
from commonplace.text.notes import Note
from commonplace.text.yaml_values import Writable
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Vault
from commonplace.vault.view import View

Labels = Mapping[str, str]
"""The frontmatter of a file that is begun: what kind it is, its project, its one line on index pages."""


def parts_in(vault: Vault, space: Space, view: View, folder: BookPath) -> dict[str, list[int]]:
    """The files of a journal: the numbers of the parts of each, in order."""
    try:
        names = vault.survey(space, view, folder, ".md").files
    except NotFound:
        return {}
    found: dict[str, list[int]] = {}
    for name in names:
        part = read_part(name.removesuffix(".md"))
        if part is not None:
            found.setdefault(part.base, []).append(part.number)
    return {base: sorted(numbers) for base, numbers in found.items()}


def timeline_parts(parts: Mapping[str, Sequence[int]]) -> list[Part]:
    """The files of the timeline, newest first; the summary of a month comes after its days."""
    dated = sorted(((date, base) for base in parts if (date := date_of(base)) is not None), reverse=True)
    return [Part(base, number) for _, base in dated for number in reversed(parts[base])]


class Chains:
    """The files of one journal, as a unit sees and changes them."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.parts = parts_in(unit.keep.vault, unit.keep.space, unit.view, unit.folder)

    def notes(self, base: str, most: int | None = None) -> Iterator[Found]:
        """The parts of a file, newest first; at most so many."""
        numbers = list(reversed(self.parts.get(base, [])))
        for number in numbers[:most]:
            found = self.unit.find(Part(base, number).name)
            if found is not None:
                yield found

    def has(self, base: str, ident: str) -> bool:
        """Whether some part has an entry with this id."""
        sign = f"<!-- entry id={ident} ".encode()
        return any(sign in found.data for found in self.notes(base))

    def append(self, base: str, entries: Sequence[Entry], labels: Labels) -> None:
        """Stage entries at the end, in a new part where the newest is full."""
        numbers = self.parts.setdefault(base, [])
        waiting = list(entries)
        while waiting:
            part = Part(base, numbers[-1] if numbers else 1)
            found = self.unit.find(part.name)
            note = found.note if found is not None else _begun(part, labels, waiting[0].time)
            taken: list[Entry] = []
            size = len(found.data) if found is not None else 0
            while waiting and (size + _size(waiting[0]) <= ROLL_AT or not note.blocks):
                taken.append(waiting.pop(0))
                size += _size(taken[-1])
                note = note.append(taken[-1])
            if not taken:
                numbers.append(part.number + 1)
                continue
            if not numbers:
                numbers.append(part.number)
            expected = found.revision if found is not None else ABSENT
            self.unit.put(self.unit.path(part.name), _counted(note), expected, taken)


def _size(entry: Entry) -> int:
    """About as many bytes as an entry takes."""
    return len(entry.text.encode("utf-8", "replace")) + sum(len(value) + 12 for _, value in entry.extra) + 160


def _begun(part: Part, labels: Labels, time: str) -> Note:
    front = Frontmatter("---\n", (), "---\n")
    fields: dict[str, Writable] = {**labels, "created": time, "updated": time, "entry_count": 0}
    for name, value in fields.items():
        front = front.put(name, value)
    return Note(front, f"# {part.name}\n\n", ())


def _counted(note: Note) -> Note:
    """With frontmatter that says when the newest entry was, and how many there are."""
    front = note.front.put("updated", max(note.front.text("updated"), note.blocks[-1].entry.time))
    return Note(front.put("entry_count", len(note.blocks)), note.lead, note.blocks)
