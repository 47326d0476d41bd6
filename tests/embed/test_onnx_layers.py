"""The model inside the install where onnxruntime runs it: the same vectors as numpy's, and numpy where that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from commonplace import embed
from commonplace.embed import FEW_TEXTS, ModelEmbedder
from commonplace.model.errors import EmbedderFailed
from tests.embed.conformance import NOTHING, TEXTS, find_known_rows
from tests.embed.runtimes import open_model

pytestmark = pytest.mark.deep  # it embeds much

onnxruntime = pytest.importorskip("onnxruntime")
onnx_layers = pytest.importorskip("commonplace.embed.onnx_layers")

OWN_SET = Path(__file__).parents[1] / "bench" / "own_set.json"
SHORT = ["No.", "!", "gotcha", "Okay. Thank you.", "Please give a short response. Go ahead.", "7", "f(x)", "🍣🍣", "数"]
SCRIPTS = [
    "Мы используем базу данных: we use a data base",
    "Zażółć gęślą jaźń",
    "Đăng nhập bằng mật khẩu",
    "Wir sichern die Datenbank jede Nacht über größere Bänder",
]
LONG = ["the cat sleeps on our sofa " * 50, "a " * 300, "! " * 40, "{[()]} " * 60, "zxqj 0x1f " * 30, "数据库 " * 90]
AT_THE_LIMIT = [" ".join(["cat"] * count) for count in range(9, 20)]
CODE = """
import sys
from commonplace import embed
from commonplace.embed import FEW_TEXTS, ModelEmbedder
embedder = ModelEmbedder()
print(*embedder.embed(["some words"])[0].tolist())
was_loaded = "onnxruntime" in sys.modules
embedder.embed(["some words"] * 20)
print(was_loaded, "onnxruntime" in sys.modules, file=sys.stderr)
"""


@pytest.fixture
def fresh_model() -> Iterator[ModelEmbedder]:
    """An embedder that loads the model anew, and not the one that the process has."""
    embed._load_own_model.cache_clear()
    yield ModelEmbedder()
    embed._load_own_model.cache_clear()


def find_least_cosine(embedder: ModelEmbedder, texts: list[str]) -> float:
    """Return how near the vectors of an embedder are to numpy's, for the text where they are farthest.

    Texts without a vector have none with either.
    """
    ours, numpys = embedder.embed(texts), open_model("numpy").embed(texts)
    known = find_known_rows(numpys)
    assert np.array_equal(find_known_rows(ours), known) and known.any()
    return float((ours * numpys).sum(axis=1)[known].min())


@pytest.mark.parametrize(
    "texts",
    [TEXTS, SHORT, SCRIPTS, pytest.param(LONG, marks=pytest.mark.deep), AT_THE_LIMIT],
    ids=["any", "short", "scripts", "long", "limit"],
)
def test_the_vectors_are_those_of_numpy(texts: list[str]) -> None:
    """Both runtimes agree on texts of every kind: short, long, in other scripts, and without a sense."""
    assert find_least_cosine(open_model("onnxruntime"), texts) >= 0.999


@pytest.mark.deep
def test_the_vectors_of_notes_are_those_of_numpy() -> None:
    """Both runtimes agree on notes as people write them, and on questions."""
    data = json.loads(OWN_SET.read_text("utf-8"))
    texts = [item["text"] for item in data["memories"][::5]] + [item["question"] for item in data["questions"][::5]]
    assert find_least_cosine(open_model("onnxruntime"), texts) >= 0.999


def test_short_texts_are_nearly_exact() -> None:
    """Texts of a few pieces, whose errors do not make up for each other, are rounded in two steps."""
    assert find_least_cosine(open_model("onnxruntime"), SHORT) > 0.9999


def test_nothing_has_no_vector_either() -> None:
    """What has no vector with numpy has none with onnxruntime."""
    assert not open_model("onnxruntime").embed(NOTHING).any()


def test_a_processor_that_cuts_sums(monkeypatch: pytest.MonkeyPatch, fresh_model: ModelEmbedder) -> None:
    """Where sums of products of bytes are cut, long texts are rounded in two steps as well, and so nearly exact."""
    monkeypatch.setattr(onnx_layers, "_adds_exactly", lambda: False)
    assert find_least_cosine(fresh_model, LONG) > 0.9999


def test_onnxruntime_is_used_where_it_is_installed() -> None:
    """A process that embeds a few texts does without onnxruntime; one that embeds more loads it by itself."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "False True"


def test_a_session_that_cannot_be_built(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fresh_model: ModelEmbedder
) -> None:
    """Where onnxruntime refuses the graph, numpy embeds, and one line in the log says so."""

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no such operator")

    monkeypatch.setattr(onnxruntime, "InferenceSession", refuse)
    assert np.array_equal(fresh_model.embed(TEXTS), open_model("numpy").embed(TEXTS))
    fresh_model.embed(SHORT)
    assert [record.getMessage() for record in caplog.records] == ["event=onnxruntime_failed error=RuntimeError"]


def test_a_session_for_long_texts_that_cannot_be_built(
    monkeypatch: pytest.MonkeyPatch, fresh_model: ModelEmbedder
) -> None:
    """Where only the graph of long texts is refused, they are embedded as short ones are."""
    fresh_model.embed(["short"] * (FEW_TEXTS + 1))

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(onnxruntime, "InferenceSession", refuse)
    assert find_least_cosine(fresh_model, LONG) > 0.9999


def test_a_package_that_cannot_be_loaded(tmp_path: Path) -> None:
    """Where onnxruntime is installed and broken, numpy embeds, and nothing is printed."""
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('a library is missing')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "False False"
    found = np.array(done.stdout.split(), np.float32)
    assert np.allclose(found, open_model("numpy").embed(["some words"])[0], atol=1e-6)


def test_a_failure_says_nothing_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where onnxruntime fails at a text, there is an error that names the kind of failure and not the text."""
    embedder = ModelEmbedder()
    embedder.embed(["load"] * (FEW_TEXTS + 1))

    def fail(*_: object) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", fail)
    with pytest.raises(EmbedderFailed, match="RuntimeError") as caught:
        embedder.embed(["secret words"])
    assert "secret" not in str(caught.value)
