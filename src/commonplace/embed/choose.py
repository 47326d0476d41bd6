"""Choose the embedder that a setting names. If it is not here, that is an error: none is replaced by another.

    static                              the table inside the install (the default)
    transformer                         the first of PREFERRED_MODELS on this machine
    transformer:NAME                    a path, an installed package, or a name in fastembed's cache
    openai:MODEL@ADDRESS                a service with OpenAI's API
    ollama:MODEL@ADDRESS                Ollama; @ADDRESS is optional

Nothing is loaded and no service is called until the first text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from commonplace.embed.static import StaticEmbedder
from commonplace.model.errors import EmbedderMissing, InvalidSettings

if TYPE_CHECKING:
    from commonplace.embed.port import Embedder

PREFERRED_MODELS: Final = ("all-minilm-l6-v2", "bge-small-en-v1.5")
_OLLAMA_ADDRESS = "http://127.0.0.1:11434"


def choose_embedder(setting: str, *, key: str | None = None) -> Embedder:
    """Return the embedder of a setting; `key` is for a service that needs one.

    Raises InvalidSettings for an unknown setting, EmbedderMissing for a model that is not here.
    """
    kind, _, rest = setting.partition(":")
    if setting == "static":
        return StaticEmbedder()
    if kind == "transformer":
        return _choose_transformer(rest)
    if kind in {"openai", "ollama"}:
        from commonplace.embed.remote import RemoteEmbedder

        model, _, address = rest.partition("@")
        if model and (address or kind == "ollama"):
            return RemoteEmbedder(address or _OLLAMA_ADDRESS, model, kind=kind, key=key)
    raise InvalidSettings(
        "That is no embedder.",  # the setting is not repeated: an address may have a password in it
        hint="Use static, transformer, transformer:NAME, openai:MODEL@ADDRESS or ollama:MODEL.",
    )


def _choose_transformer(wanted: str) -> Embedder:
    """Return the transformer of this name; without a name, the first preferred one on this machine."""
    from commonplace.embed.transformer import TransformerEmbedder

    for name in [wanted] if wanted else PREFERRED_MODELS:
        try:
            return TransformerEmbedder.named(name)
        except EmbedderMissing:
            if wanted:
                raise
    raise EmbedderMissing(
        f"None of {', '.join(PREFERRED_MODELS)} is on this machine.",
        hint="Name the folder of a model: transformer:PATH.",
    )
