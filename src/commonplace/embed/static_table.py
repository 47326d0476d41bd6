"""The table inside the install: cut texts into word pieces, and sum their vectors.

`StaticEmbedder` loads this module, and numpy with it, with the first text. Two classes, the second uses the first:

- `WordPiece` cuts words into the pieces of a vocabulary, as BERT's uncased tokenizer does. A table of token vectors
  works only with the tokenizer it was trained with, and that is a compiled package of 10 MB. Its rules are few, so they
  are here: lower case without accents, every Chinese character and every punctuation mark a word of its own, and each
  word cut greedily into its longest known beginnings. What the original does with `[CLS]` and its like in a text is
  left out on purpose: a text is data, and has no markers.
- `StaticTable` is potion-base-8M (table/NOTICE), trained by tools/train_static_table.py to bring questions near to
  notes that answer them in other words, and reduced from 30 MB to under 4: 256 numbers of four bits for each piece and
  one weight. Rounded so, potion measured as good as before, and better than with half as many numbers of eight bits
  (docs/adr/0007-static-table.md). Sums are of whole numbers, and so the same on every machine.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from commonplace.embed.port import normalise_rows
from commonplace.model.errors import EmbedderMissing
from commonplace.model.lazy import lazy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commonplace.embed.port import Vectors

MAX_WORD_LENGTH = 100  # a longer run of letters is a blob, not a word, and nothing is known of it
MAX_PIECES = 4_096  # of one text: 7 * 65535 * 4096 is the last power of two below 2**31
_MAX_CACHED_PIECES = 50_000  # words with their pieces; about 8 MB when full
_FOLDER = os.path.join(os.path.dirname(__file__), "table")
_ASCII_WORDS = lazy(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n\r"}
_DROPPED_CATEGORIES = {"Cc", "Cf", "Co", "Cs"}  # controls, marks of direction and joining, private use, broken halves
_CHINESE_RANGES = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece(dict[str, tuple[int, ...]]):
    """Cuts texts into numbers of a vocabulary; a word with an unknown part has no pieces.

    It maps each word, as `split_words` returns it, to its pieces, which are computed once: words repeat.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __call__(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, in its order."""
        found: list[int] = []
        for word in split_words(text):
            found += self[word]
        return found

    def __missing__(self, word: str) -> tuple[int, ...]:
        """Return the longest known beginning, then the longest known continuations; nothing if that fails."""
        if len(self) >= _MAX_CACHED_PIECES:
            self.clear()  # simpler than throwing out the oldest, and as good: the common words are back at once
        pieces: list[int] = []
        start = 0
        while start < len(word) <= MAX_WORD_LENGTH:
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                pieces = []
                break
            pieces.append(number)
            start = end
        self[word] = found = tuple(pieces)
        return found


def split_words(text: str) -> list[str]:
    """Return the words of a text: in lower case, without accents, with punctuation and Chinese characters alone."""
    if text.isascii():
        plain = text if text.isprintable() else text.translate(_ASCII_CONTROLS)
        return _ASCII_WORDS.findall(plain.lower())
    apart = unicodedata.normalize("NFD", text.translate(_CLEANING)).translate(_SPLITTING)
    # Letter by letter, so that a sigma at the end of a word is a sigma: this is how the vocabulary was made.
    return apart.replace("Σ", "σ").lower().split()


class _CharacterTable(dict[int, str | None]):
    """Maps a character to what it becomes, each looked up once in the life of a process."""

    def __init__(self, convert: Callable[[str], str | None]) -> None:
        super().__init__()
        self._convert = convert

    def __missing__(self, code: int) -> str | None:
        self[code] = found = self._convert(chr(code))
        return found


def _clean_character(character: str) -> str | None:
    """Return what a character becomes before decomposition: nothing, a space, itself, or itself between spaces."""
    is_dropped = character not in "\t\n\r" and unicodedata.category(character) in _DROPPED_CATEGORIES
    if is_dropped or character == "\ufffd":
        return None
    if any(first <= ord(character) <= last for first, last in _CHINESE_RANGES):
        return f" {character} "
    return " " if character.isspace() else character


def _split_character(character: str) -> str | None:
    """Return what a character becomes after decomposition: accents go, and punctuation stands alone."""
    category = unicodedata.category(character)
    if category == "Mn":
        return None
    is_mark = category[0] == "P" or (character.isascii() and character > " " and not character.isalnum())
    return f" {character} " if is_mark else character


_CLEANING, _SPLITTING = _CharacterTable(_clean_character), _CharacterTable(_split_character)


class StaticTable:
    """The pieces of a vocabulary with their vectors, as they are loaded."""

    def __init__(self, word_pieces: WordPiece, numbers: NDArray[np.int8], weights: NDArray[np.uint16]) -> None:
        self.word_pieces = word_pieces
        self._numbers = numbers  # one row per piece; the low halves of its bytes are the first 128 numbers
        self._weights = weights  # of each piece: how much it says
        self.dimension = 2 * numbers.shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text: the sum of its pieces, at length one."""
        sums = np.zeros((len(texts), self.dimension), np.int32)
        for row, text in enumerate(texts):
            pieces = self.word_pieces(text)[:MAX_PIECES]
            if pieces:
                sums[row] = self.unpack(pieces).sum(axis=0, dtype=np.int32)
        return normalise_rows(sums)

    def unpack(self, pieces: Sequence[int]) -> NDArray[np.int32]:
        """Return the vectors of some pieces: each byte is two numbers of -7 to 7, times the weight of the piece."""
        places = np.array(pieces)
        packed = self._numbers[places]
        half = packed.shape[1]
        found = np.empty((len(pieces), self.dimension), np.int32)
        found[:, :half] = (packed << 4) >> 4  # shifting back brings the sign along
        found[:, half:] = packed >> 4
        found *= self._weights[places, None]
        return found


def load_table(dimension: int) -> StaticTable:
    """Return the table; raise EmbedderMissing if it cannot be read or is damaged."""
    try:
        with open(os.path.join(_FOLDER, "pieces.txt"), encoding="utf-8", newline="\n") as file:
            names = file.read().split("\n")
        # Mapped, not read: a question touches a few rows, and processes share the pages.
        data = np.memmap(os.path.join(_FOLDER, "vectors.bin"), np.uint8, "r")
    except (OSError, ValueError) as error:
        raise EmbedderMissing("The table of the default embedder cannot be read.") from error
    count, half = len(names), dimension // 2
    if len(data) != count * (half + 2):
        raise EmbedderMissing("The table of the default embedder is damaged.")
    plain = data.view(np.ndarray)  # a memmap looks at every slice of itself; a plain array of the same pages does not
    numbers = plain[: count * half].view(np.int8).reshape(count, half)
    weights = plain[count * half :].view("<u2")
    return StaticTable(WordPiece(dict(zip(names, range(count), strict=True))), numbers, weights)
