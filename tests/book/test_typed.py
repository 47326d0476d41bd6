"""The library as a program uses it: types that a checker knows, values in the place of words, results to go through."""

from __future__ import annotations

import collections.abc
import copy
import inspect
import os
import pickle
import re
import subprocess
import sys
import time
import typing
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import pytest

import commonplace
from commonplace import (
    Book,
    InvalidField,
    KindName,
    MemoryType,
    NotPermitted,
    RecallResult,
    Role,
    RoleChoice,
    Scope,
    ScopeKind,
    SearchMode,
    SortOrder,
    SourceFormat,
    StoreItem,
    StoreMode,
)
from commonplace.maintenance.import_sources import FORMATS
from commonplace.recall.query import ALL_KINDS, MODES, SORTS
from commonplace.verbs.store import StoreRequest
from commonplace.verbs.verb import read_fields

WORD = re.compile(r"\b[A-Z]\w*")  # a type in an annotation

# What a user wrote, with the error that a checker must find in the line, or none.
USER_CODE = """\
import asyncio
from datetime import datetime
from commonplace import AsyncBook, Book, Hit, Memory, Scope, ScopeKind, SecretFound, StoreItem, toolset

def keep(book: Book) -> list[Hit]:
    try:
        book.store("x", scope=Scope(ScopeKind.AGENT, "a"), occurred=datetime.now(), mode="replace")
    except SecretFound as error:
        print(error.code, error.hint)
    item: StoreItem = {"content": "x", "scope": "global", "occurred": datetime.now()}
    book.store_many([item])
    found = book.recall("x", mode="lexical", sort="recency", kinds=["memory"], since=datetime.now())
    newest: Hit = found[0]
    memory: Memory = book.show(newest.key, newest.scope)
    book.forget(memory.key, memory.scope)
    print([tool.name for tool in toolset(book)], len(found), found.total)
    return [hit for hit in found if hit.strong]

async def main() -> None:
    async with AsyncBook.open("book", agent="scout") as book:
        hits: list[Hit] = list(await book.recall("x", mode="hybrid"))
        print(hits, (await book.store("x", scope="agent")).key)
        await book.recall("x", mode="vectr")  # arg-type
        await book.recal("x")  # attr-defined
        wrong: str = await book.list()  # assignment

def mistaken(book: Book) -> None:
    book.recall("x", mode="vectr")  # arg-type
    book.recall("x", sort="newest")  # arg-type
    book.recall("x", kinds=["leaves"])  # list-item
    book.recall("x", scope="projct")  # arg-type
    book.recall("x", type="rule")  # arg-type
    book.recall("x", since=5)  # arg-type
    book.store("x", mode="prepend")  # arg-type
    book.link("a", "likes", "b")  # arg-type
    book.store_many([{"content": "x", "scop": "global"}])  # typeddict-unknown-key
    book.store_many([{"key": "x"}])  # typeddict-item
    book.import_from("notes", format="evernote")  # arg-type
    book.as_role("boss")  # arg-type
    Book.open("book", role="boss")  # arg-type
    AsyncBook.open("book", role="boss")  # arg-type
    book.launched()  # attr-defined
    from commonplace import Bok  # attr-defined
    import commonplace
    commonplace.AsynkBook  # attr-defined

asyncio.run(main())
"""


def test_a_type_checker_finds_what_is_wrong_in_a_program(tmp_path: Path) -> None:
    """`mypy --strict` accepts a user's file that is right and names each line that is not, and nothing else."""
    (tmp_path / "user.py").write_text(USER_CODE, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--show-error-codes", "--cache-dir", "cache", "user.py"]
    settings = {**os.environ, "MYPY_FORCE_COLOR": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    found = {int(line.split(":")[1]): line.rsplit("[", 1)[1] for line in done.stdout.splitlines() if ": error:" in line}
    lines = enumerate(USER_CODE.splitlines(), start=1)
    assert found == {number: f"{line.rsplit('# ', 1)[1]}]" for number, line in lines if "  # " in line}, done.stdout


def test_every_type_of_a_signature_can_be_imported() -> None:
    """What a method of Book takes or returns is a name of the package, so that a program can say it in a signature."""
    known = {*commonplace.__all__, *vars(collections.abc), *vars(typing), "PathLike", "BookContext", "None"}
    methods = [method for name, method in inspect.getmembers(Book, callable) if not name.startswith("_")]
    methods += [method.fget for _, method in inspect.getmembers(Book, lambda one: isinstance(one, property))]
    words = {word for method in methods for text in method.__annotations__.values() for word in WORD.findall(text)}
    assert len(words) > 40 and words - known == set()
    for name in commonplace.__all__:
        assert getattr(commonplace, name) is not None


def test_the_words_of_a_type_are_those_that_are_checked() -> None:
    """The literals are the words that requests accept, and an item of many has the parameters of one store."""
    assert [*map(get_args, (SearchMode, SortOrder, KindName))] == [MODES, SORTS, ALL_KINDS]
    assert get_args(SourceFormat) == tuple(FORMATS) and get_args(get_args(RoleChoice)[0]) == tuple(Role)
    fields = {field.name: field for field in read_fields(StoreRequest)}
    assert fields["mode"].arg.choices == get_args(StoreMode)
    assert StoreItem.__annotations__.keys() == fields.keys() - {"decision"}
    assert StoreItem.__required_keys__ == {"content"}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book.open(tmp_path / "book", project="acme/app", session="s1") as book:
        yield book


def test_a_recall_is_a_sequence_of_its_hits(book: Book) -> None:
    """One goes through it, asks for its length, its first and its last, and whether there is any; it compares, copies
    and shows itself like a list."""
    book.store("The zebra runs.", "one")
    book.store("The zebra sleeps.", "two")
    found = book.recall("zebra")
    assert [hit.key for hit in found] == [hit.key for hit in found.hits] and len(found) == 2
    assert found[0] is found.hits[0] and found[-1] is found.hits[1] and found[:1] == found.hits[:1]
    assert found.hits[0] in found and found.index(found.hits[1]) == 1 and [*reversed(found)] == [*found.hits[::-1]]
    assert found and not book.recall("zebra", scope="session")
    assert found == copy.copy(found) and found != book.recall("walrus") and found != [*found]
    assert pickle.loads(pickle.dumps(found.hits)) == found.hits
    assert repr(found).startswith("RecallResult(hits=(Hit(") and isinstance(found, RecallResult)
    with pytest.raises(TypeError):
        hash(found)


def test_a_value_stands_where_a_word_does(book: Book) -> None:
    """The scope of a result, a scope with its id, and the members of an enum are taken wherever their words are."""
    stored = book.store("The zebra runs.", "zebra", ScopeKind.GLOBAL, MemoryType.REFERENCE)
    assert stored.scope == "global" and f"{stored.scope}" == "global"
    memory = book.show(stored.key, stored.scope)
    assert memory.meta.type is MemoryType.REFERENCE
    assert [item.key for item in book.list(memory.scope, type=MemoryType.REFERENCE)] == ["zebra"]
    assert book.forget(memory.key, memory.scope).action == "forgotten"
    book.store_many([{"content": "For the writer.", "key": "note", "scope": Scope(ScopeKind.AGENT, "writer")}])
    assert book.show("note", Scope(ScopeKind.AGENT, "writer")).scope.id == "writer"


def test_an_agent_may_name_its_own_scope_by_its_id(tmp_path: Path) -> None:
    """What a result says of an agent's own scope can be given back by it; another's is still refused."""
    with Book.open(tmp_path / "book", agent="scout", project="acme/app", role="agent") as agent:
        stored = agent.store("A way home.", "way", "agent")
        memory = agent.show(stored.key)
        assert agent.show(memory.key, memory.scope) == memory and memory.scope.id == "scout"
        with pytest.raises(NotPermitted):
            agent.list(Scope(ScopeKind.AGENT, "writer"))


@pytest.fixture
def in_kathmandu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose local time is 5:45 ahead of UTC."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change its time zone for one process")
    monkeypatch.setenv("TZ", "NPT-5:45")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


MOMENTS = [
    (datetime(2026, 3, 1, 12, 0, tzinfo=UTC), "2026-03-01T12:00:00Z"),
    (datetime(2026, 3, 1, 12, 0, 0, 999_999, timezone(timedelta(hours=-8))), "2026-03-01T20:00:00Z"),
    (datetime(2026, 3, 1, 12, 0), "2026-03-01T06:15:00Z"),  # noqa: DTZ001 - local time
]


@pytest.mark.usefixtures("in_kathmandu")
@pytest.mark.parametrize(("moment", "stamp"), MOMENTS)
def test_a_datetime_is_a_time(book: Book, moment: datetime, stamp: str) -> None:
    """A datetime with a zone is told in UTC, one without is local time: in a store, in one of many, and in each bound
    of a recall and a timeline."""
    book.store("The zebra runs.", "one", occurred=moment)
    book.store_many([{"content": "The zebra sleeps.", "key": "two", "occurred": moment}])
    later, earlier = moment + timedelta(seconds=1), moment - timedelta(seconds=1)
    assert {hit.time_start for hit in book.recall("zebra", since=earlier, until=later)} == {stamp}
    assert not book.recall("zebra", since=later) and not book.recall("zebra", until=earlier)
    assert len(book.recall("zebra", since=moment, until=moment)) == 2
    assert not book.recall("zebra", as_of=datetime.now() - timedelta(days=1))  # noqa: DTZ005 - local time
    assert len(book.timeline(since=moment)) == 2 and len(book.timeline(since=later)) == 0


@pytest.mark.parametrize("moment", [datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), 5, b"2026"])
def test_what_is_no_time_is_refused(book: Book, moment: Any) -> None:
    """A moment that UTC has no year for, or that is none at all, is an error that says what to send."""
    for ask in (lambda: book.recall("x", since=moment), lambda: book.store("x", occurred=moment)):
        with pytest.raises(InvalidField) as caught:
            ask()
        assert caught.value.hint
