"""The model inside the install: its files, what it knows, and what is said of one that is damaged."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from commonplace.embed import ModelEmbedder, own_model
from commonplace.embed.own_model import MAX_POSITIONS, load_model
from commonplace.model.errors import EmbedderMissing
from tests.cli.calls import fine, process
from tests.embed.near import NEAR
from tools import model_texts

MODEL = Path(own_model.__file__).parent / "model"
FILES = ("pieces.txt", "weights.bin")
EMBEDDER = ModelEmbedder()


def test_the_model_is_the_one_the_notice_tells_of() -> None:
    """The files have the hashes in NOTICE; whoever trains a new model must give it a new name, here too."""
    notice = (MODEL / "NOTICE").read_text("utf-8")
    hashes = {name: hashlib.sha256((MODEL / name).read_bytes()).hexdigest() for name in FILES}
    assert all(f"{name:12} sha256 {found}" in notice for name, found in hashes.items())
    assert model_texts.WHEEL_HASH in notice
    assert (ModelEmbedder.model, hashes["weights.bin"][:8]) == ("commonplace-minilm-384-int8-v1", "c5d6d647")


def test_the_model_is_small() -> None:
    """All of the model is under 25 MB on disk."""
    assert sum(file.stat().st_size for file in MODEL.iterdir()) < 25_000_000


@pytest.mark.parametrize(("question", "answer", "other"), NEAR)
def test_meaning_is_found(question: str, answer: str, other: str) -> None:
    """A question is nearer to its answer in other words than to something else."""
    asked, right, wrong = EMBEDDER.embed([question, answer, other])
    assert asked @ right > asked @ wrong + 0.05


def test_order_of_words_matters() -> None:
    """A text is read as a whole: the same words in another order have another vector."""
    one, other = EMBEDDER.embed(["the dog bit the man", "the man bit the dog"])
    assert one @ other < 0.999


def test_a_long_text_is_read_to_its_limit() -> None:
    """A text of 5,000 words has the vector of its first 254 pieces, and one piece less has another."""
    words = ["the", "cat", "sleeps", "on", "our", "sofa"] * 1_000
    whole, start, less = EMBEDDER.embed([" ".join(words[:count]) for count in (5_000, MAX_POSITIONS - 2, 253)])
    assert np.allclose(whole, start, atol=1e-6)
    assert not np.allclose(start, less, atol=1e-6)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with a copy of the model that is loaded instead of ours; pytest would keep 22 MB of each test."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # Windows deletes no file that is mapped
        for file in FILES:
            shutil.copyfile(MODEL / file, Path(name, file))
        monkeypatch.setattr(own_model, "_FOLDER", name)
        yield Path(name)


def load_anew() -> None:
    """Load the model as a new process does: this one has it already."""
    load_model(ModelEmbedder.dimension)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_said(name: str, folder: Path) -> None:
    """Without one of its files there is an error and no guess."""
    (folder / name).unlink()
    with pytest.raises(EmbedderMissing, match="cannot be read"):
        load_anew()


@pytest.mark.parametrize("size", [0, 1_000, 15_000_000, -4, -1])
def test_a_truncated_file_is_said(size: int, folder: Path) -> None:
    """Weights that end too early are damaged, wherever they end."""
    file = folder / "weights.bin"
    os.truncate(file, size if size >= 0 else file.stat().st_size + size)
    with pytest.raises(EmbedderMissing, match="damaged"):
        load_anew()


@pytest.mark.parametrize(("name", "more"), [("weights.bin", b"\0"), ("pieces.txt", b"\nx"), ("pieces.txt", b"\xff")])
def test_a_byte_too_many_is_said(name: str, more: bytes, folder: Path) -> None:
    """A file that is longer than the other one says is damaged."""
    with (folder / name).open("ab") as file:
        file.write(more)
    with pytest.raises(EmbedderMissing, match="damaged"):
        load_anew()


def test_a_vocabulary_without_marks_is_said(folder: Path) -> None:
    """Pieces that lack the marks around a text are damaged."""
    file = folder / "pieces.txt"
    file.write_bytes(file.read_bytes().replace(b"[CLS]", b"[NUL]"))
    with pytest.raises(EmbedderMissing, match="damaged"):
        load_anew()


def test_a_book_with_this_embedder_finds_by_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A book whose settings name the model stores a note and finds it first by a question that shares no telling
    word."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(tmp_path / "book"))
    fine("init")
    fine("config", "set", "embedder", "model")
    fine("config", "trust", "--yes")
    fine("store", "We deploy with Argo CD from the release branch", "--key", "deploys", "--scope", "global")
    fine("store", "Tom is allergic to peanuts", "--key", "allergy", "--scope", "global")
    said = process("recall", "how do we ship to production?", "--mode", "semantic", "--json").answer()
    assert said["hits"][0]["key"] == "deploys"


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
@pytest.mark.parametrize("module", ["StaticEmbedder", "ModelEmbedder"])
def test_embedding_starts_no_threads(module: str) -> None:
    """Where an embedder loads numpy, its products run in one thread, and programs we start do not inherit that."""
    code = f"""
import os, sys
sys.modules["onnxruntime"] = None
from commonplace.embed import {module}
{module}().embed(["some words"])
print(len(os.listdir("/proc/self/task")), "OPENBLAS_NUM_THREADS" in os.environ)
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
