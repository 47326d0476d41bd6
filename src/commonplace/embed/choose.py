"""The embedder that a setting names. What is not here is said: no embedder ever stands in for another.

    static                              the table inside the install (the default)
    transformer                         the first of PREFERRED that is on this machine
    transformer:NAME                    a path, an installed package, or a name in fastembed's cache
    openai:MODEL@ADDRESS                a service that speaks as OpenAI does
    ollama:MODEL@ADDRESS                Ollama; without @ADDRESS, where it listens when nobody said otherwise

Nothing is loaded and nobody asked yet: that comes with the first text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from commonplace.model.errors import EmbedderMissing, InvalidSettings

if TYPE_CHECKING:
    from commonplace.embed.port import Embedder

PREFERRED: Final = ("all-minilm-l6-v2", "bge-small-en-v1.5")
_OLLAMA = "http://127.0.0.1:11434"


def choose(setting: str, *, key: str | None = None) -> Embedder:
    """The embedder of a setting; `key` is for a service that wants one."""
    kind, _, rest = setting.partition(":")
    if setting == "static":
        from commonplace.embed.static import StaticEmbedder

        return StaticEmbedder()
    if kind == "transformer":
        return _transformer(rest)
    if kind in {"openai", "ollama"}:
        from commonplace.embed.remote import RemoteEmbedder

        model, _, address = rest.partition("@")
        if model and (address or kind == "ollama"):
            return RemoteEmbedder(address or _OLLAMA, model, kind=kind, key=key)
    raise InvalidSettings(
        "That is no embedder.",  # the setting is not repeated: an address may have a password in it
        hint="Use static, transformer, transformer:NAME, openai:MODEL@ADDRESS or ollama:MODEL.",
    )


def _transformer(wanted: str) -> Embedder:
    from commonplace.embed.transformer import TransformerEmbedder

    for name in [wanted] if wanted else PREFERRED:
        try:
            return TransformerEmbedder.named(name)
        except EmbedderMissing:
            if wanted:
                raise
    raise EmbedderMissing(
        f"None of {', '.join(PREFERRED)} is on this machine.", hint="Name the folder of a model: transformer:PATH."
    )
