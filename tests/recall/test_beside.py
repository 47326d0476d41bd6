"""Embedding beside the calls: a process that lives finishes a book that questions began, and harms no call."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace import Book
from commonplace.embed import ModelEmbedder
from commonplace.model.errors import EmbedderFailed
from commonplace.recall import meaning
from commonplace.verbs import embedding
from tests.cli.calls import run
from tests.embed.memory import MemoryEmbedder
from tests.mcp.raw import Raw

if TYPE_CHECKING:
    from commonplace.embed.port import Vectors

REPOSITORY = Path(__file__).parents[2]
HANGS = 60.0
NOTES = 100
QUESTION = "where does the walrus sleep"


class Gate:
    """Where a batch beside the calls stops until it is let through."""

    def __init__(self) -> None:
        self.reached, self._open = threading.Event(), threading.Event()
        self._is_stuck = False

    def stop(self) -> None:
        self.reached.set()
        self._is_stuck = not self._open.wait(HANGS)

    def open(self) -> None:
        assert not self._is_stuck, "what came before this waited for the batch"
        self._open.set()


class CountingModel:
    """Stands in for the model: it notes every text, and may fail or stop at a gate beside the calls."""

    def __init__(self) -> None:
        self.by_calls: list[str] = []
        self.beside: list[str] = []
        self.gate: Gate | None = None
        self.fails = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        is_beside = threading.current_thread().name == "commonplace-embed"
        if is_beside and self.fails:
            raise EmbedderFailed("It broke.")
        gate, self.gate = (self.gate, None) if is_beside else (None, self.gate)
        if gate is not None:
            gate.stop()
        (self.beside if is_beside else self.by_calls).extend(text for text in texts if text != QUESTION)
        return MemoryEmbedder(ModelEmbedder.dimension).embed(texts)

    @property
    def texts(self) -> list[str]:
        return [*self.by_calls, *self.beside]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> CountingModel:
    """The embedder, on a machine that is so slow that a question embeds no more than it must."""
    model, seconds = CountingModel(), count()
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "model")
    monkeypatch.setattr(ModelEmbedder, "embed", lambda _, texts: model.embed(texts))
    monkeypatch.setattr(meaning, "SemanticIndex", partial(meaning.SemanticIndex, clock=lambda: float(next(seconds))))
    monkeypatch.setattr(embedding, "_QUIET_SECONDS", 0.001)
    return model


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "book", NOTES)


def fill(root: Path, number: int) -> Path:
    with opened(root) as book:
        book.store_many({"content": f"Crate {n} is kept in hall {n % 7}.", "key": f"k{n}"} for n in range(number - 1))
        book.store("The walrus sleeps on the pier.", key="walrus")
    return root


def opened(root: Path) -> Book:
    return Book.open(root, project="acme/app")


def test_a_small_book_is_whole_after_the_first_question(tmp_path: Path, model: CountingModel) -> None:
    """Of twenty notes none waits after one question, however slow the machine is."""
    with opened(fill(tmp_path / "book", 20)) as book:
        assert book.status().unembedded == 20
        assert book.recall(QUESTION).notice == "" and book.status().unembedded == 0
    assert len(model.by_calls) == 20 and not model.beside


def test_the_rest_is_done_beside_the_calls(root: Path, model: CountingModel) -> None:
    """After a question that could not wait for all, the open book goes on by itself, each note once."""
    with opened(root) as book:
        assert " of 100 entries are not embedded yet" in book.recall(QUESTION).notice
        book.context.embedding.join()
        assert book.status().unembedded == 0 and book.recall(QUESTION).notice == ""
    assert len(model.texts) == len(set(model.texts)) == NOTES
    assert len(model.beside) > len(model.by_calls) >= 32


def test_it_waits_for_calls(root: Path, model: CountingModel) -> None:
    """While a call runs no batch begins, however often the thread looks; once it has ended, the thread goes on."""
    looked = threading.Semaphore(0)

    class Calls(list[None]):
        def __bool__(self) -> bool:
            looked.release()
            return len(self) > 0

    with opened(root) as book:
        work = book.context.embedding
        work._calls = Calls()
        work.begin_call()
        book.recall(QUESTION)
        for _ in range(5):
            assert looked.acquire(timeout=HANGS)
        assert not model.beside and book.status().unembedded
        work.end_call()
        work.join()
        assert book.status().unembedded == 0


def test_no_call_waits_for_it(root: Path, model: CountingModel) -> None:
    """While a batch is being computed, notes are stored and found; what is new is embedded with the rest."""
    model.gate = gate = Gate()
    with opened(root) as book:
        book.recall(QUESTION)
        assert gate.reached.wait(HANGS)
        assert book.store("Lanterns hang over the quay.", key="lanterns").action == "created"
        assert book.recall("lanterns", mode="lexical").hits[0].key == "lanterns"
        gate.open()
        book.context.embedding.join()
        assert book.status().unembedded == 0 and "lanterns: Lanterns hang over the quay." in model.beside


def test_what_goes_meanwhile_leaves_no_vector(tmp_path: Path, model: CountingModel) -> None:
    """A note that is purged while its text is embedded leaves no vector to the note that gets its number."""
    model.gate = gate = Gate()
    with opened(fill(tmp_path / "book", 36)) as book:
        book.recall(QUESTION)
        assert gate.reached.wait(HANGS)
        for key in ("k32", "k33", "k34", "walrus"):  # all that the question did not embed
            book.forget(key, purge=True)
        book.store("Lanterns hang over the quay.", key="lanterns")
        gate.open()
        book.context.embedding.join()
        assert book.status().unembedded == 0
    assert model.beside == ["k32: Crate 32 is kept in hall 4.", "lanterns: Lanterns hang over the quay."]


def test_close_ends_it(root: Path, model: CountingModel) -> None:
    """Closing waits for the batch and ends the thread; what it did is kept, and the next book does only the rest."""
    model.gate = gate = Gate()
    is_left = threading.Event()
    with opened(root) as book:
        book.recall(QUESTION)
        assert gate.reached.wait(HANGS)
        stop = book.context.embedding._stop

        def open_gate() -> None:
            stop.wait(HANGS)
            if not is_left.wait(0.1):  # only a close that does not wait is over by now
                gate.open()

        opener = threading.Thread(target=open_gate)
        opener.start()
    is_left.set()
    opener.join()
    assert not [thread for thread in threading.enumerate() if thread.name == "commonplace-embed"]
    done = len(model.texts)
    assert model.beside and done < NOTES
    with opened(root) as book:
        assert book.status().unembedded == NOTES - done == book.embed()
    assert len(model.texts) == len(set(model.texts)) == NOTES


def test_an_error_ends_it_quietly(root: Path, model: CountingModel, caplog: pytest.LogCaptureFixture) -> None:
    """Where the embedder fails beside the calls, there is one line in the log, and the next question goes on."""
    model.fails = True
    with caplog.at_level(logging.WARNING), opened(root) as book:
        book.recall(QUESTION)
        book.context.embedding.join()
        assert [record.getMessage() for record in caplog.records] == ["event=embedding_stopped error=EmbedderFailed"]
        model.fails = False
        book.recall(QUESTION)
        book.context.embedding.join()
        assert book.status().unembedded == 0


def test_two_books_do_the_work_once(root: Path, model: CountingModel) -> None:
    """Of two open books on one root one goes on; the thread of the other ends, and `embed` waits for its turn."""
    model.gate = gate = Gate()
    with opened(root) as one, opened(root) as other:
        one.recall(QUESTION)
        assert gate.reached.wait(HANGS)
        before = len(model.beside)
        other.recall(QUESTION)
        other.context.embedding.join()  # it has ended, while the batch of the first is still being computed
        assert len(model.beside) == before
        taking_over = threading.Thread(target=other.embed)
        taking_over.start()
        gate.open()
        taking_over.join()
        one.context.embedding.join()
        assert one.status().unembedded == other.status().unembedded == 0
    assert len(set(model.texts)) == NOTES and len(model.texts) <= NOTES + 1  # the batch at the gate was of one text


def test_a_command_ends_with_its_answer(
    root: Path, model: CountingModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On the command line nothing goes on: status says how many wait, each recall does some, `--vectors` the rest."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    monkeypatch.setenv("COMMONPLACE_PROJECT", "acme/app")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("recall", QUESTION).status == 0
    assert not model.beside
    done = len(model.texts)
    assert f"{NOTES - done} entries to embed: each recall embeds some, `commonplace" in run("status").out
    assert run("status", "--json").answer()["unembedded"] == NOTES - done
    assert run("doctor", "reindex", "--vectors").out == f"{NOTES - done} entries embedded.\n"
    assert run("status", "--json").answer()["unembedded"] == 0 and "to embed" not in run("status").out


def test_a_book_may_choose_what_is_inside_the_install(tmp_path: Path) -> None:
    """`model` and `static` in a book's own config.toml need no trust: nothing is started and nothing leaves."""
    for name in ("model", "static"):
        with opened(tmp_path / name) as book:
            book.store("Visitors leave their cars behind the warehouse.", key="parking")
            book.configure("embedder", name)
        with opened(tmp_path / name) as book:
            assert not book.status().trusted
            answer = book.recall("where can guests park a vehicle", mode="semantic")
            assert answer.notice == "" and answer.hits[0].key == "parking"


def test_a_copied_book_keeps_its_vectors(root: Path, model: CountingModel) -> None:
    """Notes that were touched, as by a copy or a checkout, are read again and not embedded again."""
    with opened(root) as book:
        book.embed()
    for path in root.rglob("k*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    with opened(root) as book:
        assert book.recall(QUESTION).notice == "" and book.verify().ok
    assert len(model.texts) == NOTES


def test_the_server_goes_on_with_a_book(tmp_path: Path) -> None:
    """After one recall by MCP, with the real model, the server embeds all that the call left."""
    root = fill(tmp_path / "book", 150)
    words = ("--project", "acme/app", "--agent", "scout", "--protocol", "off")
    with Raw(root, *words, COMMONPLACE_EMBEDDER="model") as raw:
        raw.call("memory_recall", query=QUESTION)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COMMONPLACE_EMBEDDER", "model")
            with opened(root) as book:
                limit = time.monotonic() + HANGS  # reached only by a server that does nothing
                while book.status().unembedded:
                    assert raw.process.poll() is None and time.monotonic() < limit


# Embeds a book, and is killed within the batch with this number, before it is stored or after.
KILLED = """
import os, signal, sys
from commonplace import Book
from commonplace.recall.meaning import SemanticIndex

root, batch, moment = sys.argv[1], int(sys.argv[2]), sys.argv[3]
inner, done = SemanticIndex._embed_batch, [0]

def embed(self, size, keep):
    done[0] += 1
    def kill(store):
        if moment == "after":
            keep(store)
        elif moment == "within":
            keep(lambda writing: (store(writing), os.kill(os.getpid(), signal.SIGKILL)))
        os.kill(os.getpid(), signal.SIGKILL)
    return inner(self, 8, kill if done[0] == batch else keep)

SemanticIndex._embed_batch = embed
with Book.open(root, project="acme/app") as book:
    book.embed()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize(("moment", "kept"), [("before", 8), ("within", 8), ("after", 16)])
def test_a_killed_process_loses_a_batch_at_most(
    tmp_path: Path, moment: str, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before, within and after the storing of its second batch, a process leaves a good index with whole
    batches of the new model, and the next does the rest."""
    root = fill(tmp_path / "book", 24)
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "static")
    with opened(root) as book:
        book.recall(QUESTION)  # with vectors of the table, so that those have to go
    monkeypatch.setenv("COMMONPLACE_EMBEDDER", "model")
    command = [sys.executable, "-c", KILLED, str(root), "2", moment]
    died = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert died.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), died.stderr
    with opened(root) as book:
        assert book.status().unembedded == 24 - kept and book.verify().ok and book.doctor() == []
        assert book.recall(QUESTION).hits[0].key == "walrus" and book.status().unembedded == 0
