"""Path escapes (the test programme's item 12): whatever is sent, nothing outside the book is touched, read or named.

Every test sends a whole table of hostile texts or links, and names each one that got through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace.memories import lifecycle
from commonplace.memories.purge import purge
from commonplace.memories.store import MemoryStore
from commonplace.memories.unit import Unit
from commonplace.model.errors import InvalidKey
from commonplace.model.memory import Entry, Meta, Trust
from commonplace.model.names import check_key, check_new_key
from commonplace.model.scope import LOCAL, Scope, ScopeKind
from commonplace.text.notes import new_note
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, BookPath, note_path, resolve, scope_folder
from tests.depth import depths
from tests.memories.reading import page_faults
from tests.security.escapes import TARGETS, LinkCase, links, texts
from tests.security.world import Failures, Snapshot, World, make, put_link, tree

pytestmark = pytest.mark.deep  # `make security` runs it, too

TEXTS, LINKS = texts(), links()
FOLDER = BookPath("memories", "global")
UPKEEP = (".commonplace/", "memories", "index.md", "data")
# Verbs take long: `make test` sends every third text through them, `make deep` and `make security` every one.
EVERY_THIRD = pytest.mark.parametrize("step", depths(3, 1))
Verb = Callable[[Unit, str], object]
VERBS: dict[str, Verb] = {
    "store": lambda unit, key: lifecycle.store(unit, key, entry(), lifecycle.Labels()),
    "rewrite": lambda unit, key: lifecycle.rewrite(unit, key, [entry()], lifecycle.Labels(), "agent"),
    "undo": lambda unit, key: lifecycle.undo(unit, key, "agent"),
    "forget": lambda unit, key: lifecycle.forget(unit, key, "agent"),
    "restore": lifecycle.restore,
    "purge": purge,
}


def each_world(base: Path, step: int = 1) -> Iterator[tuple[World, list[tuple[str, str]]]]:
    """Yield the hostile texts (or one of so many) with their ids, twenty at a time, each time with a fresh book."""
    cases = list(TEXTS.items())[::step]
    for start in range(0, len(cases), 20):
        yield make(base / str(start)), cases[start : start + 20]


def entry() -> Entry:
    return Entry("", "evil words", trust=Trust.AGENT)


def do(keep: MemoryStore, verb: Verb, key: str, folder: BookPath = FOLDER) -> object:
    with keep.unit(folder, EVERYTHING) as unit:
        done = verb(unit, key)
        unit.commit()
    return done


def test_there_are_enough_cases() -> None:
    """The programme asks for 200 cases or more: these are, each different, before they meet every operation."""
    assert len(set(TEXTS.values())) == len(TEXTS) >= 200
    assert len(LINKS) >= 100


def test_as_a_path(tmp_path: Path) -> None:
    """A hostile text as a path, from the root, below a folder and as one name, with every operation of the vault."""
    failures = Failures()
    for world, cases in each_world(tmp_path):
        vault = LocalVault.at(world.book)
        for name, text in cases:
            with failures.of(name):
                world.put_back()
                for way in ways(world, text):
                    found: list[BookPath] = []
                    world.attempt(lambda way=way, found=found: found.append(way()))  # type: ignore[misc]
                    for path in found:
                        world.attempt_all(vault, path)
                world.check(sent=str(world.outside))
    assert failures.found == []


def ways(world: World, text: str) -> list[Callable[[], BookPath]]:
    """Every way in which a text becomes a path of the book."""
    return [
        lambda: resolve(text),
        lambda: resolve(text, BookPath("data")),
        lambda: resolve(text.replace("outside", str(world.outside).lstrip("/"))),
        lambda: BookPath(text),
        lambda: BookPath("data", text),
        lambda: BookPath("data") / text,
    ]


def test_as_a_lock(tmp_path: Path) -> None:
    """A hostile text as the name of a lock makes no file anywhere but among the locks."""
    failures = Failures()
    for world, cases in each_world(tmp_path):
        vault = LocalVault.at(world.book)
        for name, text in cases:
            with failures.of(name):
                before = tree(world.book)
                world.attempt(lambda text=text, vault=vault: vault.lock(LOCAL, text, 0).__enter__())  # type: ignore[misc]
                world.check()
                made = set(tree(world.book)) - set(before) - {".commonplace/locks"}
                assert all(Path(file).parent.as_posix() == ".commonplace/locks" for file in made)
    assert failures.found == []


@EVERY_THIRD
def test_as_a_key(tmp_path: Path, step: int) -> None:
    """A hostile text as a key, with every verb: what can be no key is refused, and pages are no memories."""
    failures = Failures()
    for world, cases in each_world(tmp_path, step):
        keep = world.open()
        do(keep, VERBS["store"], "first")
        for name, text in cases:
            with failures.of(name):
                before = tree(world.book)
                for verb in VERBS.values():
                    world.attempt(lambda verb=verb, keep=keep, text=text: do(keep, verb, text))  # type: ignore[misc]
                world.check()
                after = tree(world.book)
                if is_key(text):  # what is left after a purge: the book's upkeep, and nothing beside it
                    assert all(file.startswith(UPKEEP) for file in after.keys() - before.keys())
                else:
                    assert without_locks(after) == without_locks(before)
    assert failures.found == []


def is_key(text: str) -> bool:
    """Return whether a memory can have this key."""
    try:
        check_key(text)
    except InvalidKey:
        return False
    return True


def without_locks(found: Snapshot) -> Snapshot:
    return {name: item for name, item in found.items() if "/locks/" not in name}


def test_only_plain_keys_are_made() -> None:
    """What may be created is made of a-z, 0-9, - and / alone, and is a path inside its folder."""
    failures = Failures()
    for name, text in TEXTS.items():
        with failures.of(name):
            try:
                key = check_new_key(text)
            except InvalidKey as error:
                assert error.message.isprintable()
            else:
                assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-/")
                assert note_path(FOLDER, key).is_within(FOLDER)
    assert failures.found == []


@EVERY_THIRD
def test_as_a_scope_id(tmp_path: Path, step: int) -> None:
    """A hostile scope id becomes one folder of its own below its kind, or is refused."""
    failures = Failures()
    for world, cases in each_world(tmp_path, step):
        keep = world.open()
        for name, text in cases:
            with failures.of(name):
                try_scope_id(world, keep, text)
                world.check()
    assert failures.found == []


def try_scope_id(world: World, keep: MemoryStore, text: str) -> None:
    """Store and forget a memory in a session, an agent's and a project's scope of this id."""
    folders: list[BookPath] = []
    kinds = (ScopeKind.SESSION, ScopeKind.AGENT, ScopeKind.PROJECT)
    for kind in kinds:
        world.attempt(lambda kind=kind: folders.append(scope_folder(Scope(kind, text))))  # type: ignore[misc]
    assert len(folders) in (0, 3)
    for kind, folder in zip(kinds, folders, strict=False):
        assert folder.parts[:-1] == ("memories", kind)
        world.attempt(lambda folder=folder: do(keep, VERBS["store"], "fact", folder))  # type: ignore[misc]
        world.attempt(lambda folder=folder: do(keep, VERBS["forget"], "fact", folder))  # type: ignore[misc]
        assert (world.book.joinpath(*folder.parts) / "index.md").is_file()


@EVERY_THIRD
def test_as_an_author_and_an_id(tmp_path: Path, step: int) -> None:
    """An author's name and a note's id become part of file names when a memory is put aside or purged: only there."""
    failures = Failures()
    for world, cases in each_world(tmp_path, step):
        keep = world.open()
        for name, text in cases:
            with failures.of(name):
                note = new_note(Meta(id=text.encode("utf-8", "replace").decode(), key="note"), [])
                (world.book / "memories" / "global" / "note.md").write_bytes(note.render())
                before = tree(world.book)
                verbs: list[Verb] = [
                    lambda unit, key, text=text: lifecycle.rewrite(unit, key, [entry()], lifecycle.Labels(), text),  # type: ignore[misc]
                    lambda unit, key, text=text: lifecycle.forget(unit, key, text),  # type: ignore[misc]
                    VERBS["purge"],
                ]
                for verb in verbs:
                    world.attempt(lambda verb=verb, keep=keep: do(keep, verb, "note"))  # type: ignore[misc]
                world.check()
                made = tree(world.book).keys() - before.keys()
                assert all(file.startswith((".commonplace/", "memories/", "index.md")) for file in made)
                assert not (world.book / "memories" / "global" / "note.md").exists()
    assert failures.found == []


@pytest.mark.parametrize("target", TARGETS)
def test_links(tmp_path: Path, target: str) -> None:
    """A link anywhere in the book, to anywhere, is followed by no operation of the vault and no verb."""
    failures = Failures()
    for name, case in LINKS.items():
        if case.target == target:
            with failures.of(name):
                try_link(make(tmp_path / name), case)
    assert failures.found == []


def try_link(world: World, case: LinkCase) -> None:
    """Put a link into a book, and do everything there that might follow it."""
    put_link(world, case)
    keep = world.open()
    assert isinstance(keep.vault, LocalVault)
    linked = resolve(case.place)
    hard = case.target == "hard"  # it is a file of the book like any other: what counts is that writing makes a new one
    for verb, key in (("store", "note"), ("store", "new"), ("store", "people/alice"), ("rewrite", "people/alice")):
        world.attempt(lambda verb=verb, key=key: do(keep, VERBS[verb], key))  # type: ignore[misc]
    for verb in ("undo", "forget", "restore", "purge"):
        for key in ("people/alice", "note"):
            world.attempt(lambda verb=verb, key=key: do(keep, VERBS[verb], key))  # type: ignore[misc]
    world.attempt(lambda: keep.reconcile(FOLDER))
    world.attempt(lambda: page_faults(keep, FOLDER))
    if not hard:
        for path in (linked, linked / "secret.md", linked / "people" / "alice.md", linked / "new" / "deep.md"):
            world.attempt_all(keep.vault, path)
    world.check()
    if not hard:
        assert (world.book / case.place).is_symlink()
