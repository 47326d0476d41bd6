"""The one conformance suite of the embedders: what commonplace/embed/port.py promises."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from commonplace.embed.port import Embedder
from tests.depth import examples

UNREAD = "我们使用数据库"  # what is inside the install reads Latin letters alone
TEXTS = [
    "The deploy job is started by hand.",
    "passwords are in the vault",
    "Tom is allergic to peanuts, and avoids shellfish",
    "x",
    "Größe über alles: café, naïve",
    UNREAD,
    "word " * 3_000,
    "👩‍🚀 rocket",
    "half of a \ud800 pair",
]
NOTHING = ["", " ", "\n\t \u3000"]
_settings = examples(
    20, 5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]
)


def find_known_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which rows are vectors; the others, all zeros, belong to texts of which the model knows nothing."""
    known: npt.NDArray[np.bool_] = np.any(vectors, axis=1)
    return known


class EmbedderConformance:
    """Subclasses have a fixture `embedder`, say how exactly it repeats itself, and what a start loads for it."""

    tolerance = 0.0
    module = "commonplace.embed"
    reads_latin_alone = False

    def test_one_row_per_text(self, embedder: Embedder) -> None:
        """There is one row of float32 for each text, of the dimension that the embedder has."""
        vectors = embedder.embed(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        assert vectors.dtype == np.float32

    def test_rows_have_length_one(self, embedder: Embedder) -> None:
        """Every row of a text that the embedder reads is of length one, the longest text's too."""
        lengths = np.linalg.norm(embedder.embed(TEXTS), axis=1)
        wanted = [0 if self.reads_latin_alone and text == UNREAD else 1 for text in TEXTS]
        assert np.allclose(lengths, wanted, atol=1e-5)

    def test_no_texts(self, embedder: Embedder) -> None:
        """No texts have no rows, and still the dimension."""
        assert embedder.embed([]).shape == (0, embedder.dimension)

    def test_a_text_without_words_has_no_vector(self, embedder: Embedder) -> None:
        """What has nothing in it is all zeros, and so no vector, alone and between others."""
        vectors = embedder.embed([*NOTHING, TEXTS[0], *NOTHING])
        assert find_known_rows(vectors).tolist() == [False] * 3 + [True] + [False] * 3
        assert not vectors[:3].any()
        assert not find_known_rows(embedder.embed(NOTHING)).any()

    def test_neighbours_do_not_matter(self, embedder: Embedder) -> None:
        """A text has the same row alone, in a batch, and in the batch the other way round."""
        vectors = embedder.embed(TEXTS)
        assert np.abs(vectors - embedder.embed(TEXTS[::-1])[::-1]).max() <= self.tolerance
        alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
        assert np.abs(vectors - alone).max() <= self.tolerance

    @_settings
    @given(st.lists(st.text(st.characters(), max_size=40), max_size=8))
    def test_any_text(self, embedder: Embedder, texts: list[str]) -> None:
        """Whatever is in a text, half of a surrogate pair too, its row is a vector or zeros, and the same again."""
        vectors = embedder.embed(texts)
        lengths = np.linalg.norm(vectors, axis=1)
        assert np.isfinite(vectors).all()
        assert np.allclose(lengths[find_known_rows(vectors)], 1, atol=1e-5)
        assert np.abs(vectors - embedder.embed(texts)).max(initial=0) <= self.tolerance

    def test_the_name_says_something(self, embedder: Embedder) -> None:
        """The model has a name to be recorded: one word that can be printed."""
        assert embedder.model
        assert embedder.model.isprintable()
        assert " " not in embedder.model

    def test_importing_costs_nothing(self) -> None:
        """The module can be imported without numpy, a network or a model coming with it."""
        heavy = {"numpy", "onnxruntime", "tokenizers", "ssl", "http.client"}
        code = f"import sys, {self.module}; print(sorted({heavy} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
