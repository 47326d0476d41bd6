"""Two books on one root, a person with an editor, and a dict that says what must be there (safety, item 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from commonplace.model.errors import AlreadyExists, CommonplaceError, Conflict, NotFound
from commonplace.model.scope import ScopeKind
from tests.depth import depths
from tests.stateful.books import DATABASES, open_book
from tests.stateful.machine import FOLDERS, WORD, Checked
from tests.stateful.model import Note, Place, Said

SUMMARY = "A memory of this machine"
scopes = st.sampled_from(sorted(FOLDERS))
keys = st.sampled_from(["alpha", "beta", "deep/gamma"])
places = st.tuples(scopes, keys)
who = st.integers(0, 1)


class BookMachine(Checked):
    @initialize()
    def begin(self) -> None:
        """Something to begin with: added to, replaced, forgotten, made by hand."""
        self.store(0, (ScopeKind.PROJECT, "alpha"), two_lines=True)
        self.store(0, (ScopeKind.PROJECT, "alpha"), two_lines=False)
        self.replace(1, (ScopeKind.PROJECT, "alpha"))
        self.store(1, (ScopeKind.PROJECT, "beta"), two_lines=False)
        self.store(0, (ScopeKind.GLOBAL, "alpha"), two_lines=False)
        self.books[0].forget("alpha", "global")
        self.model.forget((ScopeKind.GLOBAL, "alpha"))
        self.write_by_hand((ScopeKind.GLOBAL, "beta"), "\n", front=False, title=True)

    # What the book does

    @rule(who=who, place=places, two_lines=st.booleans())
    def store(self, who: int, place: Place, two_lines: bool) -> None:
        text = self.text(two_lines=two_lines)
        answer = self.books[who].store(text, key=place[1], scope=place[0], summary=SUMMARY)
        assert answer.action == ("appended" if place in self.model.notes else "created")
        self.model.append(place, text)

    @rule(who=who, place=places)
    def replace(self, who: int, place: Place) -> None:
        text = self.text()
        self.books[who].store(text, key=place[1], scope=place[0], summary=SUMMARY, mode="replace")
        self.model.rewrite(place, text)

    @precondition(lambda self: self.model.notes)
    @rule(who=who, data=st.data())
    def undo(self, who: int, data: st.DataObject) -> None:
        scope, key = place = self.some(data)
        if place in self.edited or self.was_edited(scope, self.model.notes[place]):
            # What was edited away is kept if somebody looked at the file before and after, which the model cannot know:
            # tests/book/test_outside_history.py has what `undo` does then.
            return
        if self.model.undo(place):
            self.books[who].undo(key, scope)
        else:
            refused(lambda: self.books[who].undo(key, scope), Conflict)

    @precondition(lambda self: self.model.notes)
    @rule(who=who, data=st.data())
    def forget(self, who: int, data: st.DataObject) -> None:
        scope, key = place = self.some(data)
        self.books[who].forget(key, scope)
        self.model.forget(place)

    def was_edited(self, scope: ScopeKind, note: Note) -> bool:
        """Whether something that a memory supersedes was edited by hand: it may have been superseded anew, or not."""
        return any((scope, old) in self.edited for old in note.supersedes)

    @precondition(lambda self: any(self.model.trash.values()))
    @rule(who=who, data=st.data())
    def restore(self, who: int, data: st.DataObject) -> None:
        scope, key = place = data.draw(st.sampled_from(sorted(p for p, held in self.model.trash.items() if held)))
        if place in self.deleted or self.was_edited(scope, self.model.trash[place][-1]):
            return  # a note of this key that was deleted later comes back first, if somebody had seen it
        if self.model.restore(place):
            assert self.books[who].restore(key, scope).action == "restored"
        else:
            refused(lambda: self.books[who].restore(key, scope), AlreadyExists)

    @precondition(lambda self: self.model.known())
    @rule(who=who, data=st.data())
    def purge(self, who: int, data: st.DataObject) -> None:
        scope, key = place = data.draw(st.sampled_from(self.model.known()))
        own = WORD.findall("\n".join(self.model.purge(place)))
        self.books[who].forget(key, scope, purge=True)
        gone = [word for word in own if word not in self.model.everywhere()]
        assert [word for word in gone if self.on_disk(word)] == []

    @rule(who=who, place=places)
    def ask_for_what_is_not_there(self, who: int, place: Place) -> None:
        scope, key = place
        book, model = self.books[who], self.model
        if place not in model.notes:
            refused(lambda: book.forget(key, scope), NotFound)
            refused(lambda: book.undo(key, scope), NotFound)
        if not model.trash.get(place) and place not in self.deleted:
            refused(lambda: book.restore(key, scope), NotFound, AlreadyExists)
        if place not in model.known() and place not in self.deleted:
            refused(lambda: book.forget(key, scope, purge=True), NotFound)

    @rule(who=who, scope=scopes, sure=st.integers(0, 3))
    def clear(self, who: int, scope: ScopeKind, sure: int) -> None:
        if sure < 3:  # seldom: there is little to do in an empty book
            return
        there = [place for place in self.model.notes if place[0] == scope]
        assert self.books[who].clear(scope) == len(there)
        for place in sorted(there):
            self.model.forget(place, cleared=True)

    @rule(who=who, place=places, data=st.data())
    def consolidate(self, who: int, place: Place, data: st.DataObject) -> None:
        scope, key = place
        there = sorted(other[1] for other in self.model.notes if other[0] == scope)
        if len(there) < 2 or key in there:
            return
        old = data.draw(st.lists(st.sampled_from(there), min_size=2, max_size=3, unique=True))
        text = self.text()
        self.books[who].consolidate(old, text, key=key, scope=scope)
        self.model.consolidate(place, text, old)

    @precondition(lambda self: self.model.notes)
    @rule(who=who, data=st.data(), to=keys)
    def link(self, who: int, data: st.DataObject, to: str) -> None:
        scope, key = place = self.some(data)
        if (scope, to) in self.model.notes:
            self.books[who].link(key, "relates_to", to, scope)
            self.model.link(place, to)
        elif all(to != other for _, other in self.model.notes):
            refused(lambda: self.books[who].link(key, "relates_to", to, scope), NotFound)

    @precondition(lambda self: self.model.notes)
    @rule(who=who, data=st.data())
    def accept(self, who: int, data: st.DataObject) -> None:
        scope, key = place = self.some(data)
        self.books[who].accept(key, scope)
        self.model.accept(place)

    @rule(who=who, dropped=st.sampled_from([(), ("index.db",), ("state.db",), ("index.db", "state.db")]))
    def open_again(self, who: int, dropped: tuple[str, ...]) -> None:
        """One is closed and opened again; before a database is deleted, both are closed."""
        for number in (0, 1) if dropped else (who,):
            self.books[number].close()
        for name in DATABASES:
            if name.startswith(dropped or ("nothing",)):
                (self.root / ".commonplace" / name).unlink(missing_ok=True)
        for number in (0, 1) if dropped else (who,):
            self.books[number] = open_book(self.root)

    @rule(who=who)
    def look(self, who: int) -> None:
        """Somebody reads, which may bring the index up to the files."""
        self.books[who].list()
        self.books[who].recall("entry")

    # What a person does with plain files

    @rule(place=places, eol=st.sampled_from(["\n", "\r\n"]), front=st.booleans(), title=st.booleans())
    def write_by_hand(self, place: Place, eol: str, front: bool, title: bool) -> None:
        if place in self.model.notes:
            return
        text = self.text()
        head = f"---{eol}mine: true{eol}---{eol}" if front else ""
        lead = f"# Of mine{eol}{eol}" if title else ""
        self.path(place).parent.mkdir(parents=True, exist_ok=True)
        self.path(place).write_bytes(f"{head}{lead}{text}{eol}".encode())
        self.model.notes[place] = Note((Said(text, None),))

    @precondition(lambda self: self.model.notes)
    @rule(data=st.data(), in_place=st.booleans())
    def edit_by_hand(self, data: st.DataObject, in_place: bool) -> None:
        place = self.some(data)
        note = self.model.notes[place]
        at = data.draw(st.integers(0, len(note.said) - 1))
        old = WORD.findall(note.said[at].text)[0]
        new = f"{WORD.findall(self.text())[0]} rather"
        path = self.path(place)
        data_now = path.read_bytes().replace(old.encode(), new.encode())
        saved = path if in_place else path.with_name("saved~")
        saved.write_bytes(data_now)
        saved.replace(path)
        self.edited.add(place)
        said = [replace(item, text=item.text.replace(old, new)) for item in note.said]
        self.model.notes[place] = replace(note, said=tuple(said))

    @precondition(lambda self: self.model.notes)
    @rule(data=st.data())
    def delete_by_hand(self, data: st.DataObject) -> None:
        place = self.some(data)
        self.path(place).unlink()
        self.deleted |= {place, *self.came_from.get(place, ())}  # renamed and deleted unseen, the old key is missed
        del self.model.notes[place]

    @precondition(lambda self: self.model.notes)
    @rule(data=st.data(), who=who, reindex=st.booleans())
    def delete_and_restore(self, data: st.DataObject, who: int, reindex: bool) -> None:
        """What a book has seen and somebody then deletes by hand is saved, and can be restored as it was."""
        scope, key = place = self.some(data)
        note, context = self.model.notes[place], self.books[who].context
        if note.links or note.supersedes or note.by:  # which the index does not know
            return
        context.memories.freshen(context.folder(context.caller.scope(scope)))
        self.path(place).unlink()
        if reindex:
            self.books[1 - who].reindex()
        assert self.books[who].restore(key, scope).action == "restored"
        self.deleted.add(place)
        self.edited.add(place)

    @precondition(lambda self: self.model.notes)
    @rule(data=st.data(), key=keys)
    def rename_by_hand(self, data: st.DataObject, key: str) -> None:
        place = self.some(data)
        to = (place[0], key)
        if to in self.model.notes:
            return
        self.path(to).parent.mkdir(parents=True, exist_ok=True)
        self.path(place).rename(self.path(to))
        # A renamed note keeps its history, which the model has by key: tests/book/test_renamed.py has what `undo` does
        # then. Onto a key whose note was deleted unseen, the book sees an edit, and `undo` may mean either note.
        if place in self.edited or to in self.deleted or self.model.past.get(place):
            self.edited.add(to)
        self.deleted |= {place} if place in self.edited else set()  # what was edited and renamed unseen
        self.came_from[to] = {place, *self.came_from.pop(place, ())}
        self.model.notes[to] = self.model.notes.pop(place)

    @precondition(lambda self: self.model.notes)
    @rule(data=st.data())
    def convert_line_ends(self, data: st.DataObject) -> None:
        place = self.some(data)
        path, note = self.path(place), self.model.notes[place]
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        # An entry has the line ends of its file, and its text does not; text outside entries is as it is written.
        said = [item if item.stamp is not None else replace(item, text=_as_crlf(item.text)) for item in note.said]
        if said != list(note.said):  # it says something else, as after any edit
            self.edited.add(place)
        self.model.notes[place] = replace(note, said=tuple(said))

    @precondition(lambda self: self.model.notes)
    @rule(data=st.data(), mode=st.sampled_from([0o400, 0o644, 0o600]))
    def change_mode(self, data: st.DataObject, mode: int) -> None:
        self.path(self.some(data)).chmod(mode)

    @rule(scope=scopes)
    def write_on_a_page(self, scope: ScopeKind) -> None:
        page = self.root / FOLDERS[scope] / "index.md"
        if not page.exists():
            return
        self.lines.append((page.relative_to(self.root), f"My own line {len(self.lines)}."))
        page.write_text(f"{self.lines[-1][1]}\n\n{page.read_text(encoding='utf-8')}", encoding="utf-8")


def _as_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def refused(call: Callable[[], object], *errors: type[CommonplaceError]) -> None:
    try:
        call()
    except errors:
        return
    raise AssertionError("not refused")


@pytest.mark.parametrize(("runs", "steps"), depths((2, 8), (30, 15), (150, 25)))
def test_a_book_is_a_dict(runs: int, steps: int) -> None:
    """Whatever is done to a book, through it or past it, whoever opens it next finds what a dict would hold."""
    run_state_machine_as_test(
        BookMachine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
