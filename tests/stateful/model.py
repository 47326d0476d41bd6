"""A book as a plain dict: what each memory says, what was put aside of it, and what lies in the trash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commonplace.model.scope import ScopeKind

Place = tuple[ScopeKind, str]  # scope, key


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
    supersedes: frozenset[str] = frozenset()

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.said]


@dataclass(slots=True)
class Model:
    notes: dict[Place, Note] = field(default_factory=dict)
    past: dict[Place, list[tuple[int, Note, str]]] = field(default_factory=dict)
    trash: dict[Place, list[Note]] = field(default_factory=dict)
    away: dict[Place, list[Note]] = field(default_factory=dict)  # what was forgotten and restored: kept in the history
    last: dict[Place, str] = field(default_factory=dict)  # why something of a key was last put into the history
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
            came = self._marked(place) if change in ("appended", "replaced", "undone") else frozenset[str]()
            kept, leads = (then.links | note.links, then.supersedes | (note.supersedes - came))
            if change in ("linked", "judged"):
                kept, leads = then.links, then.supersedes
            new = replace(then, ident=note.ident, links=kept, supersedes=leads)
        else:
            return False
        self._put_aside(place, "undone")
        self.notes[place] = new
        self._follow(place, note)
        return True

    def forget(self, place: Place, *, cleared: bool = False) -> None:
        self.tick()
        note = self.notes.pop(place)
        self.trash.setdefault(place, []).append(note)
        if not cleared:
            self._follow(place, note)

    def restore(self, place: Place) -> bool:
        if place in self.notes or not self.trash.get(place):
            return False
        self.notes[place] = self.trash[place].pop()
        self.away.setdefault(place, []).append(self.notes[place])
        self.last[place] = "restored"
        self._follow(place, None)
        return True

    def supersede(self, place: Place, by: str) -> None:
        note = self.notes[place]
        self._relabel(place, replace(note, hidden=True, by=note.by | {by}), "superseded")

    def consolidate(self, place: Place, text: str, old: Sequence[str]) -> None:
        self.append(place, text, summary=False)
        self.notes[place] = replace(self.notes[place], supersedes=frozenset(old))
        for one in old:
            self.supersede((place[0], one), place[1])

    def _follow(self, place: Place, was: Note | None) -> None:
        """What a memory no longer supersedes stands, and what stood for want of it does not."""
        scope, key = place
        before = was.supersedes if was else frozenset[str]()
        after = self.notes[place].supersedes if place in self.notes else frozenset[str]()
        for old in before - after if was is None or not was.hidden else ():
            if self._backs((scope, old), key):
                self._let_stand((scope, old))
        for old in after - before - {key}:
            note, items = self.notes.get((scope, old)), self.past.get((scope, old), [])
            stood = items and self.last[scope, old] == "stands" and key in items[-1][1].by
            since = note is not None and any((said.stamp or 0) > items[-1][0] for said in note.said) if items else False
            if note is not None and ((note.hidden and key not in note.by) or (stood and not since)):
                self.supersede((scope, old), key)

    def _marked(self, place: Place) -> frozenset[str]:
        """What a memory supersedes and says so."""
        return frozenset(old for old in self.notes[place].supersedes if self._backs((place[0], old), place[1]))

    def _backs(self, place: Place, by: str) -> bool:
        return place[1] != by and place in self.notes and self.notes[place].hidden and by in self.notes[place].by

    def _let_stand(self, place: Place) -> None:
        scope, key = place
        note = self.notes[place]
        if any(key in self.notes[scope, by].supersedes for by in note.by if (scope, by) in self.notes):
            return
        texts = [*(then for _, then, _ in self.past.get(place, [])), *self.away.get(place, [])]
        if any(not then.hidden and then.ident in (None, note.ident) for then in texts):
            self._relabel(place, replace(note, hidden=False, by=frozenset()), "stands")

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
        note = self.notes.pop(place, None)
        gone += [note] if note is not None else []
        idents = {note.ident for note in gone} - {None}
        for other in self.known():
            if other[0] == place[0] and other not in self.notes:
                past, trash, away = self.past.get(other, []), self.trash.get(other, []), self.away.get(other, [])
                gone += [note for note in [*(note for _, note, _ in past), *trash, *away] if note.ident in idents]
                self.past[other] = [item for item in past if item[1].ident not in idents]
                self.trash[other] = [note for note in trash if note.ident not in idents]
                self.away[other] = [note for note in away if note.ident not in idents]
        if note is not None:
            self._follow(place, note)
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
        self.last[place] = why


def standing(note: Note) -> Note:
    """What is stored to stands again."""
    return replace(note, hidden=False, by=frozenset()) if note.hidden else note
