"""Vectors by a small transformer, for those who install the extra `transformer` and have a model on their disk.

Better than the table on paraphrases, and a thousand times slower: milliseconds for each text. Every text is run alone
and at its own length: padded to 256 tokens it takes 13 times as long, and in a batch the rounding of a quantised model
depends on its neighbours, so that the same text would not have the same vector twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.embed.model_files import ModelFiles, find_model
from commonplace.embed.port import unit
from commonplace.model.errors import EmbedderFailed, EmbedderMissing
from commonplace.model.version import DISTRIBUTION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors


class _Loaded(NamedTuple):
    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]


class TransformerEmbedder:
    """A model that `find_model` found. It is loaded with the first text."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._loaded: _Loaded | None = None
        self.model = files.name
        self.dimension = files.dimension

    @classmethod
    def named(cls, wanted: str) -> TransformerEmbedder:
        return cls(find_model(wanted))

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if self._loaded is None:
            self._loaded = _load(self._files)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if text.strip():  # of nothing, nothing is known
                rows[row] = self._one(self._loaded, text)
        return unit(rows)

    def _one(self, loaded: _Loaded, text: str) -> NDArray[np.float32]:
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


def _load(files: ModelFiles) -> _Loaded:
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
    tokenizer.enable_truncation(files.longest)
    inputs = tuple(item.name for item in session.get_inputs())
    if unknown := set(inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
        raise EmbedderMissing(f"The model {files.name} wants inputs that we do not have: {', '.join(sorted(unknown))}.")
    return _Loaded(session, tokenizer, inputs)
