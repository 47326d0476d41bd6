"""Path escapes (the test programme's item 12): whatever is sent, nothing outside the book is touched, read or named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.keep import life
from commonplace.keep.unit import Keep, Unit
from commonplace.model.errors import InvalidKey
from commonplace.model.keys import check_key, check_new_key
from commonplace.model.memory import Entry, Meta, Trust
from commonplace.model.scope import ScopeKind, scope_of
from commonplace.model.space import LOCAL
from commonplace.text.notes import new_note
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath, note_path, resolve, scope_folder
from commonplace.vault.view import EVERYTHING
from tests.security.escapes import LinkCase, links, texts
from tests.security.world import World, make, put_link, tree

TEXTS, LINKS = texts(), links()
FOLDER = BookPath("memories", "global")
UPKEEP = (".commonplace/", "memories", "index.md", "data")
EACH_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
Verb = Callable[[Unit, str], object]
VERBS: dict[str, Verb] = {
    "store": lambda unit, key: life.store(unit, key, entry(), life.Labels()),
    "rewrite": lambda unit, key: life.rewrite(unit, key, [entry()], life.Labels(), "agent"),
    "undo": lambda unit, key: life.undo(unit, key, "agent"),
    "forget": lambda unit, key: life.forget(unit, key, "agent"),
    "restore": life.restore,
    "purge": life.purge,
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make(tmp_path)


def entry() -> Entry:
    return Entry("", "evil words", trust=Trust.AGENT)


def do(keep: Keep, verb: Verb, key: str, folder: BookPath = FOLDER) -> object:
    with keep.unit(folder, EVERYTHING) as unit:
        done = verb(unit, key)
        unit.commit()
    return done


def test_there_are_enough_cases() -> None:
    """The programme asks for 200 cases or more: these are, each different, before they meet every operation."""
    assert len(set(TEXTS.values())) == len(TEXTS) >= 200
    assert len(LINKS) >= 100


@EACH_TEXT
def test_as_a_path(world: World, text: str) -> None:
    """A hostile text as a path, from the root, below a folder and as one name, with every operation of the vault."""
    vault = LocalVault.at(world.book)
    ways: list[Callable[[], BookPath]] = [
        lambda: resolve(text),
        lambda: resolve(text, BookPath("data")),
        lambda: resolve(text.replace("outside", str(world.outside).lstrip("/"))),
        lambda: BookPath(text),
        lambda: BookPath("data", text),
        lambda: BookPath("data") / text,
    ]
    for way in ways:
        found: list[BookPath] = []
        world.attempt(lambda way=way, found=found: found.append(way()))  # type: ignore[misc]
        for path in found:
            world.attempt_all(vault, path)
    world.check(sent=str(world.outside))


@EACH_TEXT
def test_as_a_lock(world: World, text: str) -> None:
    """A hostile text as the name of a lock makes no file anywhere but among the locks."""
    vault = LocalVault.at(world.book)
    before = tree(world.book)
    world.attempt(lambda: vault.lock(LOCAL, text, 0).__enter__())
    world.check()
    made = set(tree(world.book)) - set(before) - {".commonplace/locks"}
    assert all(Path(name).parent.as_posix() == ".commonplace/locks" for name in made)


@EACH_TEXT
def test_as_a_key(world: World, text: str) -> None:
    """A hostile text as a key, with every verb: what can be no key is refused, and pages are no memories."""
    keep = world.open()
    do(keep, VERBS["store"], "first")
    before = tree(world.book)
    for verb in VERBS.values():
        world.attempt(lambda verb=verb: do(keep, verb, text))  # type: ignore[misc]
    world.check()
    try:
        check_key(text)
    except InvalidKey:
        assert {name: item for name, item in tree(world.book).items() if "/locks/" not in name} == {
            name: item for name, item in before.items() if "/locks/" not in name
        }
    else:
        # What is left after a purge: the book's upkeep, and nothing beside it.
        assert all(name.startswith(UPKEEP) for name in tree(world.book).keys() - before.keys())


@EACH_TEXT
def test_only_plain_keys_are_made(text: str) -> None:
    """What may be created is made of a-z, 0-9, - and / alone, and is a path inside its folder."""
    try:
        key = check_new_key(text)
    except InvalidKey as error:
        assert error.message.isprintable()
        return
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-/")
    assert note_path(FOLDER, key).is_within(FOLDER)


@EACH_TEXT
def test_as_a_scope_id(world: World, text: str) -> None:
    """A hostile scope id becomes one folder of its own below its kind, or is refused."""
    keep = world.open()
    folders: list[BookPath] = []
    kinds = [ScopeKind.SESSION.value, ScopeKind.AGENT.value, ScopeKind.PROJECT.value]
    for kind in kinds:
        world.attempt(lambda kind=kind: folders.append(scope_folder(scope_of(kind, text))))  # type: ignore[misc]
    assert len(folders) in (0, 3)
    for kind, folder in zip(kinds, folders, strict=False):
        assert folder.parts[:-1] == ("memories", kind)
        world.attempt(lambda folder=folder: do(keep, VERBS["store"], "fact", folder))  # type: ignore[misc]
        world.attempt(lambda folder=folder: do(keep, VERBS["forget"], "fact", folder))  # type: ignore[misc]
        assert (world.book.joinpath(*folder.parts) / "index.md").is_file()
    world.check()


@EACH_TEXT
def test_as_an_author_and_an_id(world: World, text: str) -> None:
    """An author's name and a note's id become part of file names when a memory is put aside or purged: only there."""
    keep = world.open()
    note = new_note(Meta(id=text.encode("utf-8", "replace").decode(), key="note"), [])
    (world.book / "memories" / "global" / "note.md").write_bytes(note.render())
    before = tree(world.book)
    world.attempt(lambda: do(keep, lambda unit, key: life.rewrite(unit, key, [entry()], life.Labels(), text), "note"))
    world.attempt(lambda: do(keep, lambda unit, key: life.forget(unit, key, text), "note"))
    world.attempt(lambda: do(keep, VERBS["purge"], "note"))
    world.check()
    made = tree(world.book).keys() - before.keys()
    assert all(name.startswith((".commonplace/", "memories/", "index.md")) for name in made)
    assert not (world.book / "memories" / "global" / "note.md").exists()


@pytest.mark.parametrize("case", LINKS.values(), ids=list(LINKS))
def test_links(world: World, case: LinkCase) -> None:
    """A link anywhere in the book, to anywhere, is followed by no operation of the vault and no verb."""
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
    world.attempt(lambda: keep.page_faults(FOLDER))
    if not hard:
        for path in (linked, linked / "secret.md", linked / "people" / "alice.md", linked / "new" / "deep.md"):
            world.attempt_all(keep.vault, path)
    world.check()
    if not hard:
        assert (world.book / case.place).is_symlink()
