"""A user's model writes summaries where one is configured; what it does wrong costs none, and it is asked again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from commonplace import Book
from tests.embed.service import Answer, Asked, send, serving
from tests.tree.conftest import write_mbox
from tests.tree.model_service import KEY, SHAPES, Shape, answer_bytes

pytestmark = pytest.mark.usefixtures("_key")
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
THREADS = tuple(
    (
        str(number), "", "Ann Lee <ann@example.org>", "bob@example.org", f"{number % 27 + 1} Oct 2026 09:00:00 +0000",
        f"Subject {number}",
        f"The budget of project {number} was approved by Cleo. The old cluster is switched off in week {number}.",
    )
    for number in range(1, 13)
)  # fmt: skip


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_SUMMARISER_KEY", KEY)


def answer_from(shape: Shape, write: Callable[[list[str], str], str], asked_for: list[str]) -> Answer:
    """Return a service that answers with what `write` makes of the ids in a request, and its text."""

    def answer(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        said = shape.texts(asked.body)
        asked_for.append(said)
        text = write(list(dict.fromkeys(re.findall(r"u-[0-9a-f]{20}", said))), said)
        send(handler, json.dumps(shape.reply(text, shape.ends[0], 500, 40)).encode())

    return answer


def write_good(idents: list[str], _: str) -> str:
    return f"- The old cluster is switched off. [{idents[0]}]"


def read_summaries(root: Path) -> list[str]:
    return sorted(path.read_text() for path in (root / "tree").glob("*/summary/L*.md"))


def ingest(root: Path, tmp_path: Path) -> None:
    with Book.open(root) as book:
        book.ingest(str(write_mbox(tmp_path / "mail.mbox", THREADS)))


@shapes
def test_a_model_writes_every_level(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Shape) -> None:
    """After an ingest the notes of all levels say what the model said, with the unit that says it; nothing is pending,
    the ledger has every call, and settling again makes none."""
    asked: list[str] = []
    with serving(answer_from(shape, write_good, asked)) as service:
        monkeypatch.setenv("COMMONPLACE_SUMMARISER", f"{shape.kind}:small@{service.address}")
        ingest(root, tmp_path)
        notes = read_summaries(root)
        with Book.open(root) as book:
            assert book.tree_settle().sealed == 0
            assert book.tree_status().pending == 0
            cost = book.tree_cost()
    assert [note.count("- The old cluster is switched off. [u-") for note in notes] == [1, 1, 1]
    assert all(f"model: {shape.kind}:small" in note or f'model: "{shape.kind}:small"' in note for note in notes)
    assert cost.calls == len(asked) == 3
    assert (cost.tokens_in, cost.tokens_out) == (1_500, 120)


def test_what_a_model_invents_reaches_no_note(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer with a name that no message has leaves the extract, whose note names the model that is wanted; later,
    when the model answers well, it is asked again and its text is taken."""
    shape, asked = SHAPES["openai"], list[str]()
    with serving(answer_from(shape, lambda idents, _: f"- Zaphod Beeblebrox left. [{idents[0]}]", asked)) as service:
        monkeypatch.setenv("COMMONPLACE_SUMMARISER", f"openai:small@{service.address}")
        ingest(root, tmp_path)
        extracts = read_summaries(root)
        service.answer = answer_from(shape, write_good, asked)
        with Book.open(root) as book:
            book.tree_settle()  # each call that failed waits for a minute first
        assert read_summaries(root) == extracts
    assert asked
    assert not any("Zaphod" in note for note in extracts)
    assert all("model: extract" in note and "wanted: " in note for note in extracts)


def test_a_service_that_is_down_costs_nothing(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the service refuses every call, an ingest ends as it does without a model: same nodes, same sentences."""
    ingest(tmp_path / "other", tmp_path)
    with serving(answer_bytes(b"no", 429)) as service:
        monkeypatch.setenv("COMMONPLACE_SUMMARISER", f"openai:small@{service.address}")
        ingest(root, tmp_path)
    plain = [re.sub(r"wanted: .*\n", "", note) for note in read_summaries(root)]
    assert plain == read_summaries(tmp_path / "other") != []
