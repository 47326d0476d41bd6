"""What must be true of a book after a power cut."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from commonplace.memories.pages import SUB_PAGES
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError
from commonplace.text.notes import parse
from commonplace.vault.disk_port import Disk
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import note_path
from tests.crash.ops import FOLDER, Model, Texts, open_keep, run
from tests.crash.ops import filler as new_store
from tests.crash.simdisk import Left
from tests.memories.reading import page_faults

_PAST = re.compile(r"/\.commonplace/(history|trash)/global/(.+)/[^/]+\.md")


class CutDisk(Disk, Protocol):
    """A disk after the cut: SimDisk, or a real file system that was mounted again."""

    def files(self) -> dict[str, bytes]: ...
    def copy(self) -> CutDisk: ...


@dataclass(slots=True)
class Tally:
    """What the harness counted: it cannot pass by testing nothing."""

    points: int = 0
    states: int = 0
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def violations(self) -> int:
        return len(self.lost) + len(self.torn) + len(self.pages) + len(self.errors)

    def add(self, other: Tally) -> None:
        self.points += other.points
        self.states += other.states
        for name in ("lost", "torn", "pages", "errors"):
            getattr(self, name).extend(getattr(other, name))


def check(disk: CutDisk, before: Model, after: Model, left: Left, where: str, tally: Tally, keep: MemoryStore) -> None:
    """The disk holds `before` or `after` of the operation that was cut off (both the same when none was)."""
    tally.states += 1
    check_texts(disk.files(), before, after, where, tally)
    if left is Left.ORDERED or before == after:
        # A note that was on its way may be there before a page names it; no other, and no page before its note.
        moving = {k for k in before.notes.keys() | after.notes.keys() if before.notes.get(k) != after.notes.get(k)}
        faults = set(page_faults(open_keep(disk.copy()), FOLDER)) - {_unnamed(key) for key in moving}
        tally.pages.extend(f"{where}: raw {fault}" for fault in sorted(faults))
    _check_recovery(disk, keep, where, tally)


def check_texts(files: dict[str, bytes], before: Model, after: Model, where: str, tally: Tally) -> dict[str, Texts]:
    """The part of it that is about notes and what was put aside; answers the notes that are there."""
    notes = {key: texts for key, texts in _notes(files, where, tally).items() if texts is not None}
    for key in sorted(before.notes.keys() | after.notes.keys() | notes.keys()):
        found, allowed = notes.get(key), {before.notes.get(key), after.notes.get(key)}
        if found not in allowed:
            kind = tally.lost if found is None or None not in allowed or len(found) else tally.torn
            kind.append(f"{where}: {key} holds {found}, not one of {allowed}")
    _check_past(files, before, after, notes, where, tally)
    return notes


def _unnamed(key: str) -> str:
    path = note_path(FOLDER, key)
    return f"{path.parent}: no page names {path.name}"


def _notes(files: dict[str, bytes], where: str, tally: Tally) -> dict[str, Texts | None]:
    notes: dict[str, Texts | None] = {}
    for path, data in files.items():
        name = path.rsplit("/", 1)[-1]
        if path.startswith(f"{FOLDER}/") and name != "index.md" and f"/{SUB_PAGES}/" not in path and name[0] != ".":
            key = path.removeprefix(f"{FOLDER}/").removesuffix(".md")
            notes[key] = _texts(data)
            if notes[key] is None:
                tally.torn.append(f"{where}: {key} is torn: {data[:60]!r}")
    return notes


def _texts(data: bytes) -> Texts | None:
    """The texts of a note of ours; None when it is not whole."""
    note = parse(data)
    if not note.meta.id or not note.meta.updated or not note.blocks or note.hand_text.strip():
        return None
    return tuple(entry.text for entry in note.entries)


def _check_past(
    files: dict[str, bytes], before: Model, after: Model, notes: dict[str, Texts], where: str, tally: Tally
) -> None:
    """Every text that was put aside is still there, unless a purge was on its way."""
    held: Counter[tuple[str, str, Texts]] = Counter()
    for path, data in files.items():
        match = _PAST.fullmatch(path)
        if match and "/.cp-" not in path:
            if data == b"" and ".restored." in path:
                continue  # says that there was nothing until then
            texts = _texts(data)
            if texts is None:
                tally.torn.append(f"{where}: {path} is torn: {data[:60]!r}")
            else:
                held[match.group(1), match.group(2), texts] += 1
    if before.notes and not after.notes.keys() >= before.notes.keys() - after.trash.keys():
        return  # a purge: any part of it may be done
    for place in ("history", "trash"):
        old, new = getattr(before, place), getattr(after, place)
        for key in old.keys() | new.keys():
            done = notes.get(key) == after.notes.get(key) != before.notes.get(key)
            wanted = Counter(new.get(key, ()) if done else _common(old.get(key, ()), new.get(key, ())))
            for texts, number in wanted.items():
                if held[place, key, texts] < number:
                    tally.lost.append(f"{where}: the {place} of {key} lost {texts}")


def _common(old: tuple[Texts, ...], new: tuple[Texts, ...]) -> tuple[Texts, ...]:
    return tuple((Counter(old) & Counter(new)).elements())


def _check_recovery(disk: CutDisk, keep: MemoryStore, where: str, tally: Tally) -> None:
    """The next process mends the pages, leaves no litter in the folder, and can write."""
    fresh = disk.copy()
    mended = open_keep(fresh, type(keep.vault))  # type: ignore[arg-type]
    try:
        mended.reconcile(FOLDER)
        tally.pages.extend(f"{where}: mended {fault}" for fault in page_faults(mended, FOLDER))
        run(mended, new_store(999), Model())
        tally.pages.extend(f"{where}: next {fault}" for fault in page_faults(mended, FOLDER))
    except CommonplaceError as error:
        tally.errors.append(f"{where}: after the cut: {error.code}: {error.message}")
        return
    finally:
        if isinstance(mended.vault, LocalVault):
            mended.vault.close()
    litter = [path for path in fresh.files() if path.startswith(f"{FOLDER}/") and "/.cp-" in path]
    if litter:
        tally.errors.append(f"{where}: litter {litter}")
