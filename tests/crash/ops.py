"""The operations whose every crash point is tried, and what a book must hold before and after each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from commonplace.memories import lifecycle
from commonplace.memories.purge import purge
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import CommonplaceError
from commonplace.model.memory import Entry, Trust
from commonplace.vault.disk_port import Disk
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, BookPath
from tests.index.memory import MemoryIndex

FOLDER = BookPath("memories", "global")
Texts = tuple[str, ...]
_numbers = itertools.count()


@dataclass(frozen=True)
class Model:
    """What a book holds, as a person would say it: the texts of each memory, of its earlier versions, of the trash."""

    notes: dict[str, Texts] = field(default_factory=dict)
    history: dict[str, tuple[Texts, ...]] = field(default_factory=dict)
    trash: dict[str, tuple[Texts, ...]] = field(default_factory=dict)

    def with_note(self, key: str, texts: Texts) -> Model:
        return replace(self, notes={**self.notes, key: texts})

    def put_aside(self, key: str) -> Model:
        return replace(self, history={**self.history, key: (*self.history.get(key, ()), self.notes[key])})


Op = Callable[[Unit, Model], Model]


def open_keep(disk: Disk, vault: type[LocalVault] = LocalVault) -> MemoryStore:
    return MemoryStore(vault(disk), MemoryIndex(), lock_timeout=0.0)


def run(keep: MemoryStore, op: Op, model: Model) -> Model:
    """Do one operation; answers the model after it. One that is refused leaves everything as it was."""
    try:
        with keep.unit(FOLDER, EVERYTHING) as unit:
            after = op(unit, model)
            unit.commit()
    except CommonplaceError as error:
        if error.http_status in (404, 409):
            return model
        raise
    return after


def expected(op: Op, keep: MemoryStore, model: Model) -> Model:
    """The model after an operation, without doing it."""
    try:
        with keep.unit(FOLDER, EVERYTHING) as unit:
            return op(unit, model)
    except CommonplaceError:
        return model


def text() -> str:
    number = next(_numbers)
    return f"Fact {number}. " + "The build must be green before a release. " * (number % 7)


def _entry(words: str) -> Entry:
    return Entry("", words, trust=Trust.AGENT, author="crash")


def _store(key: str, words: str = "", tags: tuple[str, ...] = ()) -> Op:
    words = words or text()

    def op(unit: Unit, model: Model) -> Model:
        lifecycle.store(unit, key, _entry(words), lifecycle.Labels(tags=tags))
        if tags and key in model.notes:  # other labels: what it said with the old ones is kept
            model = model.put_aside(key)
        return model.with_note(key, (*model.notes.get(key, ()), words))

    return op


def _rewrite(key: str) -> Op:
    words = text()

    def op(unit: Unit, model: Model) -> Model:
        lifecycle.rewrite(unit, key, [_entry(words)], lifecycle.Labels(), "crash")
        return model.put_aside(key).with_note(key, (words,))

    return op


def _undo(key: str) -> Op:
    def op(unit: Unit, model: Model) -> Model:
        lifecycle.undo(unit, key, "crash")
        staged = unit.get(key).note
        return model.put_aside(key).with_note(key, tuple(entry.text for entry in staged.entries))

    return op


def _forget(key: str) -> Op:
    def op(unit: Unit, model: Model) -> Model:
        lifecycle.forget(unit, key, "crash")
        trash = {**model.trash, key: (*model.trash.get(key, ()), model.notes[key])}
        notes = {name: texts for name, texts in model.notes.items() if name != key}
        return replace(model, notes=notes, trash=trash)

    return op


def _restore(key: str) -> Op:
    def op(unit: Unit, model: Model) -> Model:
        lifecycle.restore(unit, key)
        *rest, last = model.trash[key]
        return replace(model.with_note(key, last), trash={**model.trash, key: tuple(rest)})

    return op


def _purge(key: str) -> Op:
    def op(unit: Unit, model: Model) -> Model:
        purge(unit, key)
        parts = ({n: t for n, t in part.items() if n != key} for part in (model.notes, model.history, model.trash))
        notes, history, trash = parts
        return Model(notes, history, trash)  # type: ignore[arg-type]

    return op


KINDS: dict[str, Callable[[str], Op]] = {
    "store": _store,
    "rewrite": _rewrite,
    "undo": _undo,
    "forget": _forget,
    "restore": _restore,
    "purge": _purge,
}
OPS: dict[str, Callable[[], Op]] = {
    "store": lambda: _store("release-rule"),
    "store-beside": lambda: _store("review-rule"),
    "store-below": lambda: _store("people/alice"),
    "rewrite": lambda: _rewrite("release-rule"),
    "undo": lambda: _undo("release-rule"),
    "forget": lambda: _forget("release-rule"),
    "restore": lambda: _restore("release-rule"),
    "purge": lambda: _purge("release-rule"),
}

TOPIC_OPS: dict[str, Callable[[], Op]] = {
    **OPS,
    "store-with-topic": lambda: _store("release-rule", tags=("ci",)),
}  # it moves to another page


def long_store(key: str) -> Op:
    """A text of 60 kB, of which a disk may hold a part."""
    return _store(key, f"{text()}{'and so on, ' * 5_500}end.")


def filler(number: int, topics: tuple[str, ...] = ("",)) -> Op:
    tags = tuple(filter(None, topics[number % len(topics) : number % len(topics) + 1]))
    return _store(f"{'abcdefgh'[number % 8]}{number * 37 % 101:03d}-filler", tags=tags)
