"""A book with a secret beside it and a secret inside it, and a watch over both."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from commonplace.index.sqlite import SqliteIndex
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError
from commonplace.model.names import revision_of
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import EVERYTHING, BookPath
from commonplace.vault.port import ABSENT, Change, Delete, Move, Write
from tests.security.escapes import LinkCase

SECRET = "sentinel-a81f-outside"
PRIVATE_SECRET = "sentinel-77c0-private"
NOTE = "---\nid: 1\nsummary: A note\n---\nA fact.\n"
Snapshot = dict[str, tuple[int, int, int, bytes | str]]


@dataclass
class World:
    base: Path
    said: list[str] = field(default_factory=list)  # every answer and every error
    attempts: int = 0
    before: Snapshot = field(default_factory=dict)

    @property
    def book(self) -> Path:
        return self.base / "book"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    def open(self) -> MemoryStore:
        return MemoryStore(LocalVault.at(self.book), SqliteIndex(":memory:"), lock_timeout=0)

    def put_back(self) -> None:
        """Bring back the file that an earlier case may have moved away, and take away where it went."""
        (self.book / "data" / "own.md").write_text("mine\n", "utf-8")
        (self.book / "data" / "stolen.md").unlink(missing_ok=True)

    def attempt(self, action: Callable[[], object]) -> None:
        """Try it: any answer or error of ours is noted, anything else is a bug and comes out."""
        self.attempts += 1
        try:
            self.said.append(repr(action()))
        except CommonplaceError as error:
            self.said.append(f"{error.message} {error.hint}")

    def attempt_all(self, vault: LocalVault, path: BookPath) -> None:
        """Everything that the vault can be asked to do with a path."""
        fine = BookPath("data", "fine.md")
        for expected in ("any", ABSENT, revision_of(SECRET.encode())):
            self.attempt(lambda expected=expected: self.change(vault, Write(path, b"evil", expected)))  # type: ignore[misc]
        self.attempt(lambda: vault.read(LOCAL, EVERYTHING, path))
        self.attempt(lambda: vault.stat(LOCAL, EVERYTHING, path))
        self.attempt(lambda: vault.list_folder(LOCAL, EVERYTHING, path))
        self.attempt(lambda: self.change(vault, Write(fine, b"evil"), Move(path, BookPath("data", "stolen.md"))))
        self.attempt(lambda: self.change(vault, Move(path, BookPath("data", "stolen.md"))))
        self.attempt(lambda: self.change(vault, Move(BookPath("data", "own.md"), path)))
        self.attempt(lambda: self.change(vault, Delete(path, revision_of(SECRET.encode()))))
        self.attempt(lambda: self.change(vault, Delete(path)))
        self.attempt(lambda: vault.sweep(LOCAL, path))

    @staticmethod
    def change(vault: LocalVault, *changes: Change) -> object:
        return vault.apply(LOCAL, EVERYTHING, changes)

    def snapshot(self) -> Snapshot:
        """Everything that must stay as it is: outside all of it, inside what is private, but for its own upkeep."""
        found = tree(self.outside)
        config = self.book / ".commonplace" / "config.toml"
        if not (self.book / ".commonplace").is_symlink():
            found |= {f"private {name}": item for name, item in tree(config.parent).items() if name == "config.toml"}
        beside = dict.fromkeys(os.listdir(self.base), (0, 0, 0, ""))
        return found | beside

    def check(self, sent: str = "") -> None:
        """Nothing outside was touched, nothing of it was said, and no message names a folder of the machine.

        Then all is forgotten, so that the next case is not blamed for this one.
        """
        before, self.before = self.before, self.snapshot()
        said, self.said = self.said, []
        attempts, self.attempts = self.attempts, 0
        assert self.before == before
        assert attempts
        assert len(said) == attempts
        for words in said:
            assert SECRET not in words
            assert PRIVATE_SECRET not in words
            assert str(self.base) not in words.replace(sent, "") if sent else str(self.base) not in words


@dataclass
class Failures:
    """The cases of a table that failed, by their ids: one test tries them all."""

    found: list[str] = field(default_factory=list)

    @contextmanager
    def of(self, case: str) -> Iterator[None]:
        """Note what fails inside, and go on with the next case."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 a bug of any kind is a failing case
            self.found.append(f"{case}: {type(error).__name__}: {error}")


def tree(root: Path) -> Snapshot:
    """Each file below a folder with all that a change to it would change."""
    found: Snapshot = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            stat = path.lstat()
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
            found[path.relative_to(root).as_posix()] = (stat.st_mode, stat.st_size, stat.st_mtime_ns, content)
    return found


def make(base: Path) -> World:
    world = World(base)
    files = {
        "outside/secret.md": SECRET,
        "outside/index.md": SECRET,
        "outside/people/alice.md": SECRET,
        "outside/global/people/alice.md": SECRET,
        "outside/locks/global.lock": SECRET,
        "book/memories/global/note.md": NOTE,
        "book/memories/global/people/alice.md": NOTE,
        "book/memories/global/_scope.md": "The scope's own page.\n",
        "book/memories/global/_index/a.md": "A person's own page.\n",
        "book/memories/global/.hidden.md": "Not a memory.\n",
        "book/data/table.csv": "1,2\n",
        "book/data/own.md": "mine\n",
        "book/.commonplace/config.toml": PRIVATE_SECRET,
    }
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text, "utf-8")
    world.before = world.snapshot()
    return world


def put_link(world: World, case: LinkCase) -> None:
    """Replace what is at the place by the link; what was there goes out of the way."""
    place = world.book / case.place
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        (world.outside / "moved").mkdir()
        place.rename(world.outside / "moved" / place.name)
    is_file = "." in place.name.lstrip(".")
    target = world.outside / "secret.md" if is_file else world.outside
    if case.target == "absolute":
        place.symlink_to(target)
    elif case.target == "relative":
        place.symlink_to(os.path.relpath(target, place.parent))
    elif case.target == "chain":
        (world.book / "hop").symlink_to(target)
        place.symlink_to(world.book / "hop")
    elif case.target == "dangling":
        place.symlink_to(world.outside / "made-by-following")
    elif case.target == "itself":
        place.symlink_to(place.name)
    elif case.target == "pair":
        (place.parent / "pair").symlink_to(place.name)
        place.symlink_to("pair")
    elif case.target == "up":
        place.symlink_to(os.path.relpath(world.base, place.parent))
    elif case.target == "private":
        inside = world.book / ".commonplace"
        place.symlink_to(inside / "config.toml" if is_file else inside)
    else:
        os.link(world.outside / "secret.md", place)
    world.before = world.snapshot()
