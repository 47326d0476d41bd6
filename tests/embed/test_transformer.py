"""Models on disk: where they are found, what is read from them, and how their vectors are made."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from commonplace.embed import transformer
from commonplace.embed.transformer import TransformerEmbedder, find_model
from commonplace.model.errors import EmbedderFailed, EmbedderMissing
from tests.embed.tiny import ROWS, SIZE, write_model

CLS, VAULT, SEP = (np.array(ROWS[number]) for number in (2, 4, 3))


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(cache))
    return cache


def test_found_by_its_path(tmp_path: Path) -> None:
    """A folder, the folder above one called `onnx`, and the graph itself name the same model."""
    folder = write_model(tmp_path / "m")
    below = write_model(tmp_path / "n")
    (below / "onnx").mkdir()
    (below / "model.onnx").rename(below / "onnx" / "model.onnx")
    names = {find_model(str(path)).name for path in (folder, folder / "model.onnx", below)}
    assert len(names) == 1
    found = find_model(str(folder))
    assert (found.dimension, found.max_tokens, found.pooling) == (SIZE, 16, "mean")
    assert found.name.startswith("tiny-mean-")


def test_found_in_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model wheel is looked into by its name, and its code is not run."""
    write_model(tmp_path / "some_model_wheel" / "model")
    (tmp_path / "some_model_wheel" / "__init__.py").write_text("raise SystemExit('run')")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_model("some_model_wheel").graph.parent == tmp_path / "some_model_wheel" / "model"
    assert "some_model_wheel" not in sys.modules


def test_found_in_the_cache_of_fastembed(no_cache: Path) -> None:
    """A name, or its last part, finds what fastembed has downloaded; how BGE is pooled is known by its family."""
    place = no_cache / "models--qdrant--bge-small-en-v1.5-onnx-q" / "snapshots" / "0123abcd"
    write_model(place, pooling=None)
    (place / "model.onnx").rename(place / "model_optimized.onnx")
    for wanted in ("BAAI/bge-small-en-v1.5", "bge-small"):
        found = find_model(wanted)
        assert found.pooling == "cls"
        assert found.name.startswith("bge-small-en-v1.5-onnx-q-cls-")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no owner by number there")
@pytest.mark.parametrize("foreign", ["cache", "models--x--minilm"])
def test_what_others_put_into_the_cache_is_left_alone(
    no_cache: Path, monkeypatch: pytest.MonkeyPatch, foreign: str
) -> None:
    """The cache is where everybody can write: a model of somebody else, or in their folder, is not run."""
    write_model(no_cache / "models--x--minilm" / "snapshots" / "0")
    find_model("minilm")
    real = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        found = list(real(path))
        found[stat.ST_UID] += path.name == foreign
        return os.stat_result(found)

    monkeypatch.setattr(Path, "lstat", lstat)
    with pytest.raises(EmbedderMissing):
        find_model("minilm")


@pytest.mark.parametrize("wanted", ["", "nowhere", "no/where", "json", "..no", "sys"])
def test_not_found(wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not there is an error that says what was looked for, and nothing else is taken instead."""
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "cache" / "models--x--minilm")
    if wanted == "":
        (tmp_path / "cache").rename(tmp_path / "other")  # an empty name is this folder: there is nothing in it
        for file in (tmp_path / "other").rglob("*.onnx"):
            file.unlink()
    with pytest.raises(EmbedderMissing, match="no ONNX model"):
        find_model(wanted)


def test_pooling_is_never_guessed(tmp_path: Path) -> None:
    """A model that does not say how it is pooled, of a family that is not known, is not used."""
    assert find_model(str(write_model(tmp_path / "a", pooling=None, name="all-MiniLM-L6-v2"))).pooling == "mean"
    assert find_model(str(write_model(tmp_path / "b", pooling="cls", name="all-MiniLM-L6-v2"))).pooling == "cls"
    with pytest.raises(EmbedderMissing, match="pooled"):
        find_model(str(write_model(tmp_path / "c", pooling=None)))


def test_a_model_without_its_config(tmp_path: Path) -> None:
    """Without a config that says how long its vectors are a model is not used."""
    folder = write_model(tmp_path / "m")
    for text in ("{", "[]", json.dumps({"hidden_size": "4"})):
        (folder / "config.json").write_text(text)
        with pytest.raises(EmbedderMissing, match="hidden_size"):
            find_model(str(folder))


def test_another_graph_is_another_model(tmp_path: Path) -> None:
    """The name has the graph's bytes in it, so vectors of two versions are never compared."""
    folder = write_model(tmp_path / "m")
    before = find_model(str(folder)).name
    data = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(data.replace(b"tiny", b"tini"))
    assert find_model(str(folder)).name != before


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model without what runs it is an error that names the extra; making the embedder needs neither."""
    monkeypatch.setattr(transformer, "onnxruntime", None)
    embedder = TransformerEmbedder(find_model(str(write_model(tmp_path / "m"))))
    with pytest.raises(EmbedderMissing) as caught:
        embedder.embed(["vault"])
    assert "commonplace-memory[transformer]" in caught.value.hint


class TestRun:
    """With the extra installed."""

    @pytest.fixture(autouse=True)
    def extra(self) -> None:
        pytest.importorskip("onnxruntime")
        pytest.importorskip("tokenizers")

    def test_pooled_as_noted(self, tmp_path: Path) -> None:
        """The vector is the mean of all tokens', the ends included, or the first one's."""
        for pooling, expected in (("mean", CLS + VAULT + SEP), ("cls", CLS)):
            embedder = TransformerEmbedder(find_model(str(write_model(tmp_path / pooling, pooling=pooling))))
            assert np.allclose(embedder.embed(["vault"])[0], expected / np.linalg.norm(expected), atol=1e-6)

    def test_long_texts_are_cut(self, tmp_path: Path) -> None:
        """A text longer than the model can read is read to its limit, and no text is filled up to it."""
        embedder = TransformerEmbedder(find_model(str(write_model(tmp_path / "m"))))
        one, two = embedder.embed(["vault " * 14 + "deploy", "vault " * 14])
        assert (one == two).all()

    def test_broken_files(self, tmp_path: Path) -> None:
        """A graph or a tokenizer that cannot be loaded is a model that is missing."""
        for broken in ("model.onnx", "tokenizer.json"):
            folder = write_model(tmp_path / broken)
            (folder / broken).write_bytes(b"{}")
            with pytest.raises(EmbedderMissing, match="cannot be loaded"):
                TransformerEmbedder(find_model(str(folder))).embed(["vault"])

    def test_another_size_than_was_said(self, tmp_path: Path) -> None:
        """A model that gives other vectors than its config says fails, with nothing of the text in the error."""
        files = find_model(str(write_model(tmp_path / "m")))
        with pytest.raises(EmbedderFailed, match="7 numbers") as caught:
            TransformerEmbedder(files._replace(dimension=7)).embed(["secret words"])
        assert "secret" not in str(caught.value)
