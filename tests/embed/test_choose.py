"""Which embedder a setting names."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.embed import ModelEmbedder, StaticEmbedder, choose_embedder
from commonplace.embed.transformer import TransformerEmbedder
from commonplace.model.errors import EmbedderMissing, InvalidSettings
from tests.embed.service import as_ollama, as_openai, serving
from tests.embed.tiny import write_model


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def test_the_table() -> None:
    """`static` is the table inside the install."""
    assert isinstance(choose_embedder("static"), StaticEmbedder)


def test_the_model() -> None:
    """`model` is the model inside the install."""
    assert isinstance(choose_embedder("model"), ModelEmbedder)


def test_a_transformer_that_is_here(cache: Path) -> None:
    """`transformer` takes the preferred model that is there, and a name the model of that name."""
    write_model(cache / "models--x--bge-small-en-v1.5" / "snapshots" / "0", pooling="cls")
    write_model(cache / "models--x--other" / "snapshots" / "0")
    for setting, start in (("transformer", "bge-small"), ("transformer:other", "other-mean")):
        chosen = choose_embedder(setting)
        assert isinstance(chosen, TransformerEmbedder)
        assert chosen.model.startswith(start)
    write_model(cache / "models--x--all-MiniLM-L6-v2" / "snapshots" / "0")
    assert choose_embedder("transformer").model.startswith("all-MiniLM")


@pytest.mark.parametrize("setting", ["transformer", "transformer:other"])
def test_a_transformer_that_is_not_here(setting: str) -> None:
    """A model that is not there is an error; nothing else is taken in its place."""
    with pytest.raises(EmbedderMissing):
        choose_embedder(setting)


def test_a_service() -> None:
    """A service is asked for the model before the @, at the address behind it, with the key."""
    with serving(as_openai) as service:
        choose_embedder(f"openai:some/model:7@{service.address}", key="k").embed(["a"])
        assert (service.asked[0].body["model"], service.asked[0].key) == ("some/model:7", "Bearer k")
    with serving(as_ollama) as service:
        choose_embedder(f"ollama:nomic@{service.address}").embed(["a"])
        assert service.asked[0].path == "/api/embed"
    assert choose_embedder("ollama:nomic").model == "ollama:nomic"


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "statics",
        "static:x",
        "models",
        "model:x",
        "telnet:m@http://localhost",
        "openai",
        "openai:m",
        "openai:@http://x",
        "ollama:",
    ],
)
def test_settings_that_name_none(setting: str) -> None:
    """What names no embedder is refused, with the ways to name one."""
    with pytest.raises(InvalidSettings) as caught:
        choose_embedder(setting)
    assert "transformer:NAME" in caught.value.hint
