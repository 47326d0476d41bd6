"""A change of embedder: a question waits a moment and no more, what is done is kept, and the rest is found by words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.choices import SearchMode
from commonplace.model.errors import EmbedderFailed
from commonplace.recall import meaning
from tests.cli.calls import run
from tests.embed.memory import MemoryEmbedder
from tests.embed.service import Asked, Service, send, serving

PARTS = ("boiler", "roof", "lift", "garden")
QUESTION = "when are zebra crossings painted"


class SlowModel:
    """Texts cost seconds of a clock that nobody waits for; after so many it is at its end."""

    def __init__(self) -> None:
        self.seconds, self.cost, self.dimension = 0.0, 0.05, 8
        self.texts: list[str] = []
        self.most = self.at_once = 1_000_000
        self.largest = 0
        self.meanwhile: Callable[[str], None] | None = None

    def clock(self) -> float:
        return self.seconds

    def answer(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        texts = asked.body["input"]
        self.seconds += self.cost * len(texts)
        self.largest = max(self.largest, len(texts))
        if len(self.texts) + len(texts) > self.most or len(texts) > max(1, self.at_once) or self._refuses(texts):
            send(handler, b"too much", 500)
            return
        self.texts += texts
        for text in texts:
            if self.meanwhile is not None:
                self.meanwhile(text)
        rows = MemoryEmbedder(self.dimension).embed(texts).tolist()
        data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
        send(handler, json.dumps({"data": data}).encode())

    def _refuses(self, texts: list[str]) -> bool:
        """With `at_once` 0 it takes questions alone: what is in the book begins with its name."""
        return self.at_once == 0 and any(": " in text for text in texts)


@pytest.fixture
def model() -> SlowModel:
    return SlowModel()


@pytest.fixture
def service(model: SlowModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The environment names a service as the embedder, and seconds are those of the model."""
    monkeypatch.setattr(meaning, "SemanticIndex", partial(meaning.SemanticIndex, clock=model.clock))
    with serving(model.answer) as service:
        monkeypatch.setenv("COMMONPLACE_EMBEDDER", f"openai:slow@{service.address}")
        yield service


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """85 notes, the last of which is the one that is asked for."""
    root = tmp_path / "book"
    with opened(root) as book:
        book.store_many(
            {"content": f"The {PARTS[n % 4]} of building {n} is kept by team {n % 7}.", "key": f"k{n}"}
            for n in range(84)
        )
        book.store("Zebra crossings near the harbour are painted in April.", key="zebra")
    return root


def opened(root: Path) -> Book:
    return Book.open(root, project="acme/app")


def first(book: Book, question: str, mode: SearchMode = "hybrid") -> str:
    return book.recall(question, mode=mode).hits[0].key


@pytest.mark.usefixtures("service")
def test_a_question_waits_a_moment(root: Path, model: SlowModel) -> None:
    """The first question spends a second or so on the new model, answers by words, and says how much is left."""
    with opened(root) as book:
        answer = book.recall(QUESTION)
    assert answer.hits[0].key == "zebra"
    assert model.seconds <= 1.3 and 15 <= len(model.texts) <= 25
    left = 85 - (len(model.texts) - 1)
    assert answer.notice.startswith(f"{left} of 85 entries are not embedded yet and were matched by words alone.")
    assert "commonplace doctor reindex --vectors" in answer.notice


@pytest.mark.usefixtures("service")
def test_every_question_goes_on_with_it(root: Path, model: SlowModel) -> None:
    """In one process and in others, question by question, every note is embedded once; then nothing is said."""
    lefts = []
    with opened(root) as book:
        while notice := book.recall(QUESTION).notice:
            lefts.append(int(notice.split(" ", maxsplit=1)[0]))
            with opened(root) as other:
                other.recall(QUESTION)
        book.recall("team 3")
    assert lefts == sorted(set(lefts), reverse=True) and len(lefts) >= 2
    notes = [text for text in model.texts if text.startswith(("k", "zebra: "))]
    assert len(notes) == len(set(notes)) == 85


@pytest.mark.usefixtures("service")
def test_a_slow_service_is_given_little_at_once(root: Path, model: SlowModel) -> None:
    """Where one text takes longer than the moment, each question embeds one; a quick service gets all at once."""
    model.cost = 3.0
    with opened(root) as book:
        assert book.recall(QUESTION).notice.startswith("84 of 85 ")
        model.cost = 0.001
        book.recall(QUESTION)
        assert book.recall(QUESTION).notice == ""


def keys(book: Book, question: str, mode: SearchMode = "hybrid") -> list[str]:
    return [hit.key for hit in book.recall(question, mode=mode).hits]


@pytest.fixture
def half(root: Path, model: SlowModel) -> Iterator[Book]:
    """A book of which all notes are embedded, by a model to which many are near, and nothing that comes later will be:
    the service takes questions and refuses to do more."""
    model.cost, model.dimension = 0.001, 3
    with opened(root) as book:
        book.embed()
        model.at_once = 0
        yield book


@pytest.mark.usefixtures("service")
def test_words_bring_what_has_no_vector(half: Book, model: SlowModel) -> None:
    """Eight notes without a vector that have the words of a question come before the many that only seem near."""
    model.at_once = 100
    half.store_many({"content": f"Room {n} is painted in colour {n}.", "key": f"room-{n}"} for n in range(80))
    half.embed()
    model.at_once = 0
    names = [f"walrus-{n}" for n in range(8)]
    half.store_many({"content": f"Walrus number {n} sleeps on the pier.", "key": name} for n, name in enumerate(names))
    found = half.recall("sleeping walrus")
    assert sorted(hit.key for hit in found.hits[:8]) == names
    assert found.notice.startswith("8 of 173 entries are not embedded yet") and "status 500" in found.notice


@pytest.mark.usefixtures("service")
def test_some_of_the_words_bring_it(root: Path, model: SlowModel) -> None:
    """A note without a vector is found with as few of the words as by words alone, where nothing is near."""
    model.cost, model.dimension = 0.001, 256
    with opened(root) as book:
        book.embed()
        model.at_once = 0
        book.store("The gardener counts walnuts.", key="walnuts")
        question = "which gardener sold nineteen expensive walnuts"
        assert keys(book, question, "lexical")[:1] == ["walnuts"] == keys(book, question)[:1]


@pytest.mark.usefixtures("service")
def test_the_newer_without_a_vector_is_named(half: Book) -> None:
    """Of two notes without a vector, the earlier names the later one that may contradict it, as by words alone."""
    old = "The key of the depot hangs in the porch beside the door."
    half.store(old, key="old", occurred="2025-01-01T00:00:00Z")
    half.store("The key of the depot hangs in the cellar now.", key="new", occurred="2026-01-01T00:00:00Z")
    for mode in ("hybrid", "lexical"):
        first, *_ = half.recall("does the key of the depot hang in the porch beside the door", mode=mode).hits
        assert first.key == "old" and first.later is not None and first.later.key == "new"


@pytest.mark.usefixtures("service")
def test_a_turn_without_a_vector_is_judged_by_its_words(root: Path, model: SlowModel) -> None:
    """In a conversation, the turn that has the words comes before one with a vector that merely sounds like them."""
    with opened(root) as book:
        for seq in range(6):
            book.store(f"Where it stands, the heron does sleep, and {seq} more.", key=f"t{seq}", thread="talk", seq=seq)
        book.embed()
        model.at_once = 0
        book.store("The walrus sleeps on the pier.", key="walrus", thread="talk", seq=9)
        assert keys(book, "where does the walrus sleep")[0] == "walrus"


@pytest.mark.usefixtures("service")
def test_less_is_tried_after_a_failure(root: Path, model: SlowModel) -> None:
    """A service that takes five texts at once, and not as many as it was given first, gets fewer the next time."""
    model.at_once, model.cost = 5, 0.001
    with opened(root) as book:
        assert book.recall(QUESTION).notice.startswith("85 of 85 ")
        for number in range(30):
            book.recall(f"{QUESTION} {number}")
        assert book.recall(QUESTION).notice == ""


@pytest.mark.usefixtures("service")
def test_no_batch_takes_long(root: Path, model: SlowModel) -> None:
    """All at once is still done in batches that a slow service answers within seconds."""
    model.cost = 0.9
    with opened(root) as book:
        assert book.embed() == 85
    assert model.largest == 2


@pytest.mark.usefixtures("service")
def test_what_a_failing_service_did_is_kept(root: Path, model: SlowModel) -> None:
    """A service that fails part of the way is said, its work kept; once it works again it is given only the rest."""
    model.most, model.cost = 30, 0.001
    with opened(root) as book:
        answer = book.recall(QUESTION)
        assert answer.hits[0].key == "zebra" and answer.notice.startswith("69 of 85 ")
        assert "answered with status 500" in answer.notice
        model.most = 1_000
        with opened(root) as other:
            assert other.recall("roof").notice == ""
        assert book.recall("garden").notice == ""
    assert sum(text.startswith(("k", "zebra: ")) for text in model.texts) == 85


def test_a_dead_service_is_asked_once(root: Path, model: SlowModel, service: Service) -> None:
    """Where not even the question can be embedded, nothing else is tried: words answer, and it is said."""
    model.most = 0
    with opened(root) as book:
        for number in (1, 2):
            answer = book.recall(QUESTION)
            assert answer.hits[0].key == "zebra" and len(service.asked) == number
            assert answer.notice.startswith("Searched by words alone.")


@pytest.mark.usefixtures("service")
def test_the_rest_is_done_at_once_with_progress(root: Path, model: SlowModel) -> None:
    """`reindex --vectors` goes on where questions stopped, tells how far it is, and leaves nothing to do."""
    seen: list[tuple[int, int]] = []
    with opened(root) as book:
        book.recall(QUESTION)
        before = len(model.texts) - 1
        book.on_progress(lambda done, total: seen.append((done, total)))
        assert book.embed() == 85 - before
        assert seen == sorted(seen) and seen[0][0] > before and seen[-1] == (85, 85) and len(seen) > 1
        assert book.recall(QUESTION).notice == "" and book.embed() == 0


@pytest.mark.usefixtures("service")
def test_reindex_embeds_too(root: Path, model: SlowModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the command line, `--vectors` embeds what is left, plain `reindex` everything anew; a failure is said."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    assert run("reindex", "--vectors", "--json").answer() == {"embedded": 85}
    assert run("reindex", "--vectors").out == "0 entries embedded.\n"
    assert run("reindex", "--json").answer() == {"files": 85, "embedded": 85}
    model.most = len(model.texts) + 20
    said = run("reindex", "--json").answer()
    assert said["files"] == 85 and said["notice"].startswith("Not everything is embedded. The embedder at 127.0.0.1 ")
    failed = run("reindex", "--vectors", "--json")
    assert failed.status == 62 and failed.error()["code"] == "embedder_failed"
    with opened(root) as book, pytest.raises(EmbedderFailed):
        book.embed()


@pytest.mark.usefixtures("service")
def test_another_dimension_is_another_model(root: Path, model: SlowModel) -> None:
    """When a service has a model of another size under the old name, everything is embedded again, not mixed."""
    model.cost = 0.001
    with opened(root) as book:
        while book.recall(QUESTION).notice:
            pass
    model.dimension, model.cost = 12, 0.05
    with opened(root) as book:
        assert first(book, QUESTION) == "zebra" and book.recall(QUESTION).notice.split(" of ")[1].startswith("85 ")
        book.embed()
        assert first(book, QUESTION) == "zebra" == first(book, QUESTION, "semantic")


@pytest.mark.usefixtures("service")
def test_the_table_takes_over_at_once(root: Path, model: SlowModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Back from half a new model to the table inside the install: its first question has all, and so on."""
    with opened(root) as book:
        assert book.recall(QUESTION).notice
    slow = len(model.texts)
    with monkeypatch.context() as patch:
        patch.setenv("COMMONPLACE_EMBEDDER", "static")
        with opened(root) as book:
            answer = book.recall(QUESTION, mode="semantic")
            assert answer.notice == "" and answer.hits[0].key == "zebra" and len(model.texts) == slow
    with opened(root) as book:
        assert first(book, QUESTION) == "zebra"


@pytest.mark.usefixtures("service")
def test_the_book_is_in_order_meanwhile(root: Path) -> None:
    """A half-embedded index is no fault: verify and doctor find nothing."""
    with opened(root) as book:
        assert book.recall(QUESTION).notice
        assert book.verify().ok and book.doctor() == []


@pytest.mark.usefixtures("service")
def test_a_note_that_goes_while_it_is_embedded(root: Path, model: SlowModel) -> None:
    """What was purged while its text was with the service leaves no vector to the note that comes in its place."""
    model.cost = 0.001

    def purge(text: str) -> None:
        if text.startswith("zebra: "):
            model.meanwhile = None
            with opened(root) as other:
                other.forget("zebra", purge=True)
                other.store("Lanterns hang over the quay.", key="lanterns")

    with opened(root) as book:
        model.meanwhile = purge
        book.embed()
        book.embed()
    assert sum(text == "lanterns: Lanterns hang over the quay." for text in model.texts) == 1
    with opened(root) as book:
        assert first(book, "lanterns over the quay", "semantic") == "lanterns"
