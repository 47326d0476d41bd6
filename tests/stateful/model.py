"""A book as a plain dict: what each memory says, what was put aside of it, and what lies in the trash."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Place = tuple[str, str]  # scope, key


@dataclass(frozen=True, slots=True)
class Said:
    """One entry: its text, and when it was recorded; None for text that a person wrote outside entries."""

    text: str
    stamp: int | None


@dataclass(frozen=True, slots=True)
class Note:
    said: tuple[Said, ...]
    ident: int | None = None  # None: made by hand, and no write of ours since
    hidden: bool = False
    summary: bool = False  # whether it is the one that the machine gives
    links: frozenset[str] = frozenset()
    by: frozenset[str] = frozenset()  # what superseded it

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.said]


@dataclass(slots=True)
class Model:
    notes: dict[Place, Note] = field(default_factory=dict)
    past: dict[Place, list[tuple[int, Note, str]]] = field(default_factory=dict)
    trash: dict[Place, list[Note]] = field(default_factory=dict)
    away: dict[Place, list[Note]] = field(default_factory=dict)  # what was forgotten and restored: kept in the history
    clock: int = 0

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def append(self, place: Place, text: str, *, summary: bool = True) -> None:
        old = self.notes.get(place, Note(()))
        said = (*old.said, Said(text, self.tick()))
        if place in self.notes and (old.hidden or (summary and not old.summary)):  # it brings labels with it
            self._put_aside(place, "appended")
        self.notes[place] = replace(standing(old), said=said, ident=old.ident or self.clock, summary=summary)

    def rewrite(self, place: Place, text: str) -> None:
        """Replace; what is not there yet is made."""
        if place in self.notes:
            self._put_aside(place, "replaced")
            self.notes[place] = replace(standing(self.notes[place]), said=(), summary=True)
        self.append(place, text)

    def undo(self, place: Place) -> bool:
        """Whether there was something to undo."""
        note, before = self.notes[place], self.past.get(place, [])
        last = note.said[-1].stamp if note.said else None
        if len(note.said) > 1 and last is not None and (not before or last > before[-1][0]):
            new = replace(note, said=note.said[:-1])
        elif before and before[-1][1].ident in (None, note.ident):
            _, then, change = before[-1]
            links = then.links if change in ("linked", "judged") else then.links | note.links
            new = replace(then, ident=note.ident, links=links)
        else:
            return False
        self._put_aside(place, "undone")
        self.notes[place] = new
        return True

    def forget(self, place: Place) -> None:
        self.tick()
        self.trash.setdefault(place, []).append(self.notes.pop(place))

    def restore(self, place: Place) -> bool:
        if place in self.notes or not self.trash.get(place):
            return False
        self.notes[place] = self.trash[place].pop()
        self.away.setdefault(place, []).append(self.notes[place])
        return True

    def supersede(self, place: Place, by: str) -> None:
        note = self.notes[place]
        self._relabel(place, replace(note, hidden=True, by=note.by | {by}), "superseded")

    def link(self, place: Place, to: str) -> None:
        note = self.notes[place]
        self._relabel(place, replace(note, links=note.links | {to}), "linked")

    def accept(self, place: Place) -> None:
        self._relabel(place, replace(self.notes[place], hidden=False), "judged")

    def known(self) -> list[Place]:
        """Every key of which there is anything at all."""
        aside = {place for held in (self.past, self.trash, self.away) for place, notes in held.items() if notes}
        return sorted(self.notes.keys() | aside)

    def purge(self, place: Place) -> list[str]:
        """Answers the texts that are gone: also those put aside under a name that the memory no longer has."""
        gone = [note for _, note, _ in self.past.pop(place, [])] + self.trash.pop(place, []) + self.away.pop(place, [])
        gone += [self.notes.pop(place)] if place in self.notes else []
        idents = {note.ident for note in gone} - {None}
        for other in self.known():
            if other[0] == place[0] and other not in self.notes:
                past, trash, away = self.past.get(other, []), self.trash.get(other, []), self.away.get(other, [])
                gone += [note for note in [*(note for _, note, _ in past), *trash, *away] if note.ident in idents]
                self.past[other] = [item for item in past if item[1].ident not in idents]
                self.trash[other] = [note for note in trash if note.ident not in idents]
                self.away[other] = [note for note in away if note.ident not in idents]
        return [text for note in gone for text in note.texts]

    def aside(self, place: Place) -> list[str]:
        """Every text that the history of a key must still have."""
        notes = [note for _, note, _ in self.past.get(place, [])] + self.trash.get(place, []) + self.away.get(place, [])
        return [text for note in notes for text in note.texts]

    def everywhere(self) -> str:
        """All that is kept anywhere, as one text."""
        held = [text for note in self.notes.values() for text in note.texts]
        return "\n".join([*held, *(text for place in self.known() for text in self.aside(place))])

    def _relabel(self, place: Place, new: Note, why: str) -> None:
        if new != self.notes[place]:
            self._put_aside(place, why)
        self.notes[place] = replace(new, ident=new.ident or self.tick())

    def _put_aside(self, place: Place, why: str) -> None:
        self.past.setdefault(place, []).append((self.tick(), self.notes[place], why))


def standing(note: Note) -> Note:
    """What is stored to stands again."""
    return replace(note, hidden=False, by=frozenset()) if note.hidden else note
