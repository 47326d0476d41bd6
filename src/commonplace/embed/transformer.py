"""Embed with a small transformer, for those who install the extra `transformer` and have a model on their disk.

It is better than the static table on paraphrases, and a thousand times slower: milliseconds for each text. Every text
is run alone and at its own length: padded to 256 tokens it takes 13 times as long, and in a batch the rounding of a
quantised model depends on its neighbours, so that the same text would not have the same vector twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.embed.model_files import ModelFiles, find_model
from commonplace.embed.port import normalise_rows
from commonplace.model.errors import EmbedderFailed, EmbedderMissing
from commonplace.model.version import DISTRIBUTION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors


class _LoadedModel(NamedTuple):
    """A model that is ready to run."""

    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]


class TransformerEmbedder:
    """Embeds with a model that `find_model` found, which is loaded with the first text."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._loaded: _LoadedModel | None = None
        self.model = files.name
        self.dimension = files.dimension

    @classmethod
    def named(cls, wanted: str) -> TransformerEmbedder:
        """Return the embedder of the model that a setting names."""
        return cls(find_model(wanted))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raise EmbedderFailed if the model fails."""
        import numpy as np

        if self._loaded is None:
            self._loaded = _load_model(self._files)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if text.strip():  # of nothing, nothing is known
                rows[row] = self._embed_one(self._loaded, text)
        return normalise_rows(rows)

    def _embed_one(self, loaded: _LoadedModel, text: str) -> NDArray[np.float32]:
        """Return the vector of one text."""
        import numpy as np

        cut = loaded.tokenizer.encode(text.encode("utf-8", "replace").decode())
        given = {"input_ids": cut.ids, "attention_mask": cut.attention_mask, "token_type_ids": cut.type_ids}
        try:
            found = loaded.session.run(None, {name: np.array([given[name]], np.int64) for name in loaded.inputs})[0]
        except Exception as error:  # noqa: BLE001 - the runtime's have no common class, and may quote what they were given
            raise EmbedderFailed(f"The model {self.model} failed ({type(error).__name__}).") from None
        # Some graphs pool by themselves and give one row; the others give one for each token.
        vector: NDArray[np.float32] = found[0]
        if vector.ndim == 2:
            vector = vector[0] if self._files.pooling == "cls" else vector.mean(axis=0)
        if vector.shape != (self.dimension,) or not np.isfinite(vector).all():
            raise EmbedderFailed(f"The model {self.model} gave something else than {self.dimension} numbers.")
        return vector


def _load_model(files: ModelFiles) -> _LoadedModel:
    """Return the model ready to run; raise EmbedderMissing if a package is missing or a file cannot be loaded."""
    try:
        import onnxruntime
        import tokenizers
    except ImportError as error:
        raise EmbedderMissing(
            "The transformer needs onnxruntime and tokenizers.", hint=f"Install {DISTRIBUTION}[transformer]."
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it is chatty about the machine, on stderr
    options.intra_op_num_threads = 1  # several wait for each other by spinning: twice the time on a busy machine
    try:
        session = onnxruntime.InferenceSession(str(files.graph), options, providers=["CPUExecutionProvider"])
        tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
    except Exception as error:  # as above
        raise EmbedderMissing(f"The files of the model {files.name} cannot be loaded.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(files.max_tokens)
    inputs = tuple(item.name for item in session.get_inputs())
    if unknown := set(inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
        raise EmbedderMissing(f"The model {files.name} wants inputs that we do not have: {', '.join(sorted(unknown))}.")
    return _LoadedModel(session, tokenizer, inputs)
