"""The book for programs with an event loop: the same methods, one thread, and errors that arrive where one awaits."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commonplace import AsyncBook, Book, InvalidSettings, NotFound, NotPermitted, StorageError

# What has no use there: properties, what makes no call of a book, and a shell that is not awaited.
ONLY_SYNC = {"context", "init", "notice", "problems", "project_hint", "protocol", "role", "shell_session"}


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def test_it_has_the_methods_of_the_book() -> None:
    """Every method of Book is there, to be awaited, with its parameters and its help; nothing else is."""
    assert public(AsyncBook) == public(Book) - ONLY_SYNC
    for name in public(AsyncBook) - {"open"}:
        method, same = getattr(AsyncBook, name), getattr(Book, name)
        assert inspect.iscoroutinefunction(method), name
        assert [*inspect.signature(method).parameters] == [*inspect.signature(same).parameters], name
        assert method.__doc__ or name == "close"


def test_it_does_what_the_book_does(tmp_path: Path) -> None:
    """Stored, found, shown, listed and undone, each awaited; another process would find the same."""

    async def use() -> None:
        async with AsyncBook.open(tmp_path / "book", project="acme/app") as book:
            await book.store("Tests run with nose.", "tests")
            await book.store("Tests run with pytest.", "tests", mode="replace")
            assert [hit.text for hit in await book.recall("how do the tests run")] == ["Tests run with pytest."]
            assert [item.key for item in await book.list()] == ["tests"]
            await book.undo("tests")
            with pytest.raises(NotFound):
                await book.show("nothing")
            agent = await book.as_role("agent")
            with pytest.raises(NotPermitted):
                await agent.pin("tests")

    asyncio.run(use())
    with Book.open(tmp_path / "book", project="acme/app") as book:
        assert [entry.text for entry in book.show("tests").entries] == ["Tests run with nose."]


def test_the_loop_is_free_and_the_book_has_one_thread(tmp_path: Path) -> None:
    """Many calls at once are made one after the other by one thread, which is not that of the loop; the loop goes on
    while one waits for its turn."""
    seen: list[int] = []

    async def use() -> None:
        async with AsyncBook.open(tmp_path / "book", project="acme/app") as book:
            await book.on_progress(lambda *_: seen.append(threading.get_ident()))
            free, may_go_on = asyncio.Event(), threading.Event()
            held = asyncio.create_task(book._call(lambda _: may_go_on.wait(60)))
            waiting = [asyncio.create_task(book.store(f"Fact {n}.", f"fact-{n}")) for n in range(20)]
            skipped = asyncio.create_task(book.store("Given up.", "given-up"))
            await asyncio.sleep(0)
            skipped.cancel()
            asyncio.get_running_loop().call_soon(free.set)
            await free.wait()  # the loop turns, though nothing of the book is answered yet
            assert not any(task.done() for task in waiting)
            may_go_on.set()
            assert await held
            assert [(await task).key for task in waiting] == [f"fact-{n}" for n in range(20)]
            assert len(await book.list()) == 20
            threads = {await book._call(lambda _: threading.get_ident()) for _ in range(3)}
            assert len(threads) == 1 and threading.get_ident() not in threads

    asyncio.run(use())


def test_it_opens_at_the_first_call_and_closes_once(tmp_path: Path) -> None:
    """Without `async with` the first call opens it; after it is closed, calls say so; closing again does nothing."""

    async def use() -> None:
        book = AsyncBook.open(tmp_path / "book")
        assert not (tmp_path / "book").exists()
        assert await book.list("global") == []
        await book.close()
        await book.close()
        with pytest.raises(StorageError, match="closed"):
            await book.list("global")

    asyncio.run(use())


def test_a_book_that_cannot_be_opened_says_so_where_it_is_entered(tmp_path: Path) -> None:
    """The error of opening is raised by `async with`, with its hint, and no thread is left."""
    (tmp_path / "file").write_text("in the way", "utf-8")

    async def use() -> None:
        async with AsyncBook.open(tmp_path / "file"):
            raise AssertionError("it was opened")

    with pytest.raises(InvalidSettings) as caught:
        asyncio.run(use())
    assert "COMMONPLACE_ROOT" in caught.value.hint
    for thread in threading.enumerate():
        if thread.name.startswith("commonplace-book"):
            thread.join(60)
            assert not thread.is_alive()


def test_the_book_loads_no_event_loop() -> None:
    """A program that uses Book, or an error or a value of the package, does not load asyncio; nor does a recall load
    the types of words, which only type checkers and programs that ask for them read."""
    code = (
        "import sys; from commonplace import Book, Hit, SecretFound; from commonplace.verbs import recall;"
        "print([name for name in ('asyncio', 'commonplace.model.choices') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_book_of_another_role_is_closed_with_it(tmp_path: Path) -> None:
    """Closing a book for one role closes it for the other; that one says so, and can still be left and closed."""

    async def run() -> None:
        async with AsyncBook.open(tmp_path / "book", project="acme/app") as book:
            async with await book.as_role("coordinator") as narrower:
                assert await narrower.list() == []
            with pytest.raises(StorageError, match="closed"):
                await book.list()
        await book.close()

    asyncio.run(run())
