"""Escapes through the reading functions and the shell: whatever is sent, nothing outside a book is opened or named."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import commonplace
from commonplace import Book, Role
from commonplace.model.scope import LOCAL
from commonplace.shell.session import ShellSession
from commonplace.shell.view_reader import ViewReader
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING
from tests.depth import depths
from tests.security.escapes import TARGETS, LinkCase, links, texts
from tests.security.world import PRIVATE_SECRET, SECRET, Failures, World, make, put_link

TEXTS, LINKS = texts(), links()
GROUPS = sorted({name.rsplit("-", 1)[0] for name in TEXTS})
OPENING = frozenset({"open", "os.listdir", "os.scandir", "os.chdir", "os.readlink", "shutil.copyfile"})
COMMANDS = (
    "ls -la {}", "ls -R {}", "cat {}", "cat -n {}", "head {}", "tail {}", "wc {}", "stat {}", "tree {}", "find {}",
    "find / -newer {}", "grep sentinel {}", "grep -r sentinel {}", "query {} --field a --equals b", "cd {}",
)  # fmt: skip
# What an interpreter opens on its own behalf, and the book itself.
_own = tuple(os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, os.path.dirname(commonplace.__file__)))
_watched: tuple[str, list[str]] | None = None


def _watch(event: str, args: tuple[object, ...]) -> None:
    if _watched is None or event not in OPENING or not args or not isinstance(args[0], (str, bytes)):
        return
    root, strays = _watched
    path = os.fsdecode(args[0])
    inside = path == root or path.startswith((f"{root}{os.sep}.commonplace", *_own))
    one_name = os.sep not in path and path not in ("..", "")  # opened inside a folder that is open
    if not inside and not one_name:
        strays.append(f"{event} {path}")


sys.addaudithook(_watch)


@contextmanager
def watching(world: World) -> Iterator[list[str]]:
    """Note every file or folder outside the book that is opened meanwhile."""
    global _watched  # an audit hook cannot be taken away, only told to look elsewhere
    found: list[str] = []
    _watched = (os.path.realpath(world.book), found)
    try:
        yield found
    finally:
        _watched = None


@pytest.fixture
def strays(world: World) -> Iterator[list[str]]:
    """Every file or folder outside the book that is opened while a test runs."""
    with watching(world) as found:
        yield found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def make_world(base: Path) -> World:
    """Return a world whose private file is one that a book can read."""
    made = make(base)
    (made.book / ".commonplace" / "config.toml").write_text(f"# {PRIVATE_SECRET}\n", "utf-8")
    made.before = made.snapshot()
    return made


def ways(book: Book, text: str, *, everything: bool) -> list[Callable[[], object]]:
    """Every way in which a text can be given as a path."""
    found: list[Callable[[], object]] = [
        lambda: book.list_memories(text, everything=everything),
        lambda: book.read_memory(text, everything=everything),
        lambda: book.read_memory(text, tail_n=2, tags=["a"], everything=everything),
        lambda: book.search_memory("sentinel", [text], everything=everything),
        lambda: book.search_memory(".", ["/data", text], regex=True, everything=everything),
        lambda: book.shell("ls -la", text, everything=everything),
        lambda: book.shell("cat secret.md", text, everything=everything),
        lambda: book.shell(text, everything=everything),
    ]
    for command in COMMANDS:
        for word, cwd in ((shlex.quote(text), "/"), (shlex.quote(text), "/data"), (text, "/")):
            found.append(partial(book.shell, command.format(word), cwd, everything=everything))
    return found


def test_there_are_enough_cases() -> None:
    """Hundreds of texts, each through every path parameter and every command that takes a path."""
    assert len(TEXTS) >= 200 and len(COMMANDS) >= 15
    assert sum(name.rsplit("-", 1)[0] in GROUPS for name in TEXTS) == len(TEXTS)


@pytest.mark.parametrize("step", depths(11, 1))
@pytest.mark.parametrize(("role", "everything"), [(Role.PERSON, True), (Role.COORDINATOR, False)])
@pytest.mark.parametrize("group", GROUPS)
def test_as_a_path(world: World, strays: list[str], group: str, role: Role, everything: bool, step: int) -> None:
    """A hostile text as any path, quoted or bare, opens nothing outside, and answers neither secret nor host folder.

    `make test` sends each text in some of the ways, in turn, `make deep` in all of them.
    """
    failures = Failures()
    host = str(world.outside).lstrip("/")
    with Book.open(world.book, project="p", role=role) as book:
        strays.clear()
        for number, name in enumerate(name for name in TEXTS if name.rsplit("-", 1)[0] == group):
            text = TEXTS[name]
            with failures.of(name):
                for sent in {text, text.replace("outside", host)} if everything else {text}:
                    for way in ways(book, sent, everything=everything)[number % step :: step]:
                        world.attempt(way)
                opened = strays.copy()
                strays.clear()
                assert opened == []
                world.said = [words.replace(host, "") for words in world.said]  # what a caller sends is no secret to it
                world.check()
                strays.clear()
    assert failures.found == []


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("target", TARGETS)
def test_links(tmp_path: Path, target: str) -> None:
    """A link anywhere in the book, to anywhere, is followed by no command; a hard link is a file like any other."""
    failures = Failures()
    for name, case in LINKS.items():
        if case.target == target:
            with failures.of(name):
                try_link(make_world(tmp_path / name), case)
    assert failures.found == []


def try_link(world: World, case: LinkCase) -> None:
    """Put a link into a book, and send every command there that might follow it."""
    put_link(world, case)
    vault = LocalVault.at(world.book)
    session = ShellSession(lambda: ViewReader(vault, LOCAL, EVERYTHING))
    paths = ("/", f"/{case.place}", f"/{case.place}/secret.md")
    with watching(world) as strays:
        for line in (command.format(path) for path in paths for command in COMMANDS):
            world.attempt(lambda line=line: session.run(line))  # type: ignore[misc]
        assert strays == []
    if case.target == "hard":
        world.said = [words.replace(SECRET, "") for words in world.said]
    world.check()


def test_the_watch_would_notice(world: World, strays: list[str]) -> None:
    """A file outside that is opened, by its path or by a way up, is found by these tests."""
    (world.outside / "secret.md").read_bytes()
    with pytest.raises(FileNotFoundError):
        os.open("../nowhere/x", os.O_RDONLY)
    assert len(strays) == 2
