"""What is another's: no command and no reading function lists it, reads it, or lets on that it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError, NotPermitted
from commonplace.model.scope import ScopeKind

MINE = {"project": "mine-project", "agent": "mine-agent", "session": "mine-session"}
THEIRS = {"project": "their-project", "agent": "their-agent", "session": "their-session"}
SECRET = "their-secret"
SHARED = "everybody-knows"
FILES = ["cat", "cat -n", "head", "tail", "wc", "stat", "ls", "ls -l", "ls -aR", "tree", "find", "grep .", "grep -r ."]


@dataclass(frozen=True)
class Planted:
    root: Path
    paths: tuple[str, ...]  # of everything that is theirs, in the book
    marks: tuple[str, ...]  # what must not be seen anywhere


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    root = tmp_path_factory.mktemp("views") / "book"
    paths: list[str] = []
    with Book.open(root, **THEIRS, role="agent") as theirs:  # type: ignore[arg-type]
        for scope in map(ScopeKind, THEIRS):
            path = theirs.store(f"This is {SECRET}.", f"{scope}-note", scope, tags=["their-tag"]).path
            paths += [path, path.rsplit("/", 1)[0], f"{path.rsplit('/', 1)[0]}/index.md"]
    with Book.open(root, **MINE, role="agent") as mine:  # type: ignore[arg-type]
        for scope in map(ScopeKind, MINE):
            mine.store("This is mine.", f"{scope}-note", scope)
        mine.store(f"This is what {SHARED}.", "shared", "global")
        mine.data_put("table.csv", f"name\n{SHARED}\n".encode())
    folder = next(path for path in paths if "/project/" in path).split("/")[3]
    journal = root / "journal" / folder
    (journal / "_artifacts").mkdir(parents=True)
    (journal / "event-2026-01-01.md").write_text(f"---\nproject: their-project\n---\n{SECRET}\n", "utf-8")
    (journal / "_artifacts" / "run.json").write_text(f'{{"said": "{SECRET}"}}', "utf-8")
    (root / "journal" / "index.md").write_text(f"- [{folder}]({folder}/index.md): 1 note\n", "utf-8")
    paths += [f"/journal/{folder}", f"/journal/{folder}/event-2026-01-01.md", f"/journal/{folder}/_artifacts/run.json"]
    paths += [
        "/journal/index.md",
        "/memories/project/index.md",
        "/memories/agent/index.md",
        "/memories/session/index.md",
    ]
    return Planted(
        root, tuple(paths), (SECRET, folder, "their-agent", "their-session", "their-tag", "1 folder", "2 folder")
    )


CALLERS: list[dict[str, Any]] = [
    {**MINE, "role": "agent"},
    {**MINE, "role": "coordinator"},
    {**MINE, "role": "orchestrator"},
    {**MINE, "role": "person"},
    {"role": "coordinator", "project": "mine-project"},
    {"role": "agent", "project": "new-project", "agent": "new-agent", "session": "new-session"},
    {**MINE, "role": "agent", "sealed": True},
]


@pytest.fixture(params=CALLERS, ids=lambda caller: "-".join(str(word) for word in caller.values()))
def caller(request: pytest.FixtureRequest, planted: Planted) -> Iterator[Book]:
    with Book.open(planted.root, **request.param) as book:
        yield book


def said(way: Callable[[], object]) -> str:
    try:
        return repr(way())
    except CommonplaceError as error:
        return f"{type(error).__name__} {error.message} {error.hint}"


def test_looking_around_shows_nothing_of_others(caller: Book, planted: Planted) -> None:
    """Listing, walking, searching and querying from the root on finds what is the caller's and what is shared alone."""
    ways: list[Callable[[], object]] = [
        lambda: caller.search_memory("their"),
        lambda: caller.search_memory(".", regex=True),
        lambda: caller.search_memory("secret", ["/", "/memories", "/journal"]),
    ]
    for line in (
        "ls -laR /", "find /", "find / -type d", "grep -r . /", "grep -rl their /", "grep -rc . /", "tree -a /",
        "cat /index.md", "wc /index.md", "stat /memories", "ls -la /memories/session", "ls /memories/agent",
        "ls /memories/project",
        "ls -la /journal", "query / --field key --equals project-note", "query / --field tags --equals their-tag",
        "find / -newer /index.md", "find / -mtime -1", "grep -r their-project /", "grep '' /index.md",
    ):  # fmt: skip
        ways.append(partial(caller.shell, line))
    for path in ("/", "/memories", "/memories/session", "/memories/agent", "/memories/project", "/journal", "/data"):
        ways += [partial(caller.list_memories, path, include_inactive=True), partial(caller.read_memory, path)]
    ways.append(partial(caller.read_memory, "/index.md"))
    for way in ways:
        words = said(way)
        for mark in planted.marks:
            assert mark not in words, (way, mark)


def test_a_path_of_another_is_as_if_it_were_not_there(caller: Book, planted: Planted) -> None:
    """Asked for by its very path, what is another's gets the same answer, word for word, as what never was."""
    for path in planted.paths:
        never = path.rsplit("/", 1)[0] + "/" + "x" * len(path.rsplit("/", 1)[1])
        parent_hidden = path.rsplit("/", 1)[0] in planted.paths
        never = never if not parent_hidden else f"/{'y' * (len(path) - 1)}"
        for there, other in zip(asked(caller, path), asked(caller, never), strict=True):
            assert said(there).replace(path, "PATH") == said(other).replace(never, "PATH"), path
        assert caller.shell(f"cat {path}").stderr == f"cat: {path}: No such file or directory\n"


def asked(book: Book, path: str) -> list[Callable[[], object]]:
    found: list[Callable[[], object]] = [partial(book.shell, f"{command} {path}") for command in FILES]
    found += [partial(book.shell, f"find / -newer {path}"), partial(book.shell, f"cd {path}")]
    found += [partial(book.shell, f"query {path} --field a --equals b"), partial(book.shell, "ls", path)]
    found += [
        partial(book.list_memories, path),
        partial(book.read_memory, path),
        partial(book.search_memory, "x", [path]),
    ]
    return found


def test_the_callers_own_is_seen(planted: Planted) -> None:
    """The same ways show what is the caller's own, and what is shared, so that the tests above prove something."""
    with Book.open(planted.root, **MINE, role="coordinator") as book:  # type: ignore[arg-type]
        everything = book.shell("find /").stdout
        assert all(f"{scope}-note.md" in everything for scope in MINE)
        assert "/memories/session/mine-session" in everything
        assert SHARED in book.shell("grep -r knows /").stdout
        assert len({match.path for match in book.search_memory("this is mine", ["/memories"]).matches}) >= 3
        assert "global" in book.read_memory("/index.md").text
    with Book.open(planted.root) as person:
        assert SECRET in person.shell("grep -r secret /", everything=True).stdout
        assert SECRET not in person.shell("grep -r secret /").stdout
        assert "their-session" in person.shell("tree", everything=True).stdout
    with Book.open(planted.root, **MINE, role="agent") as agent:  # type: ignore[arg-type]
        assert SECRET not in agent.shell("grep -r secret /").stdout
        with pytest.raises(NotPermitted):
            agent.shell("grep -r secret /", everything=True)


def test_folders_on_the_way_say_nothing(planted: Planted) -> None:
    """A caller with nothing stored yet does not learn from empty folders, sizes or times that others have."""
    new = {"project": "new-project", "agent": "new-agent", "session": "new-session"}
    with Book.open(planted.root, **new, role="coordinator") as book:  # type: ignore[arg-type]
        assert book.shell("ls /memories").stdout == "global\n"
        assert [item.path for item in book.list_memories("/memories").items] == ["/memories/global"]
        assert "journal" not in book.shell("ls /").stdout
        size = int(book.shell("wc -c /index.md").stdout.split()[0])
        assert f"size: {size}\n" in book.shell("stat /index.md").stdout
    os.utime(planted.root / "memories" / "agent", (2_000_000_000, 2_000_000_000))  # as if another had come just now
    with Book.open(planted.root, **MINE, role="coordinator") as book:  # type: ignore[arg-type]
        on_the_way, own = (
            book.shell(f"stat {path}").stdout for path in ("/memories/agent", "/memories/agent/mine-agent")
        )
        assert on_the_way.splitlines()[-1] == own.splitlines()[-1]


def test_a_worker_is_refused(planted: Planted) -> None:
    """A worker has no memory: every reading function refuses it."""
    with Book.open(planted.root, role="worker") as book:
        for way in (
            book.list_memories, lambda: book.read_memory("/index.md"), lambda: book.search_memory("x"),
            lambda: book.shell("ls"), book.shell_session,
        ):  # fmt: skip
            with pytest.raises(NotPermitted):
                way()
