"""Cut words into the pieces of a vocabulary, as BERT's uncased tokenizer does.

A table of token vectors works only with the tokenizer it was trained with, and that is a compiled package of 10 MB. Its
rules are few, so they are here: lower case without accents, every Chinese character and every punctuation mark a word
of its own, and each word cut greedily into its longest known beginnings. Words repeat, so the pieces of a word are
cached.

What the original does with `[CLS]` and its like in a text is left out on purpose: a text is data, and has no markers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from commonplace.model.lazy import lazy

MAX_WORD_LENGTH = 100  # a longer run of letters is a blob, not a word, and nothing is known of it
_MAX_CACHED_WORDS = 50_000  # words; about 8 MB when full
_ASCII_WORDS = lazy(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n\r"}
_DROPPED_CATEGORIES = {"Cc", "Cf", "Co", "Cs"}  # controls, marks of direction and joining, private use, broken halves
_CHINESE_RANGES = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """Cuts texts into numbers of a vocabulary; a word with an unknown part has no pieces."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, tuple[int, ...]] = {}

    def __call__(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, in its order."""
        known = self._known
        found: list[int] = []
        for word in split_words(text):
            pieces = known.get(word)
            found += self._cut_new_word(word) if pieces is None else pieces
        return found

    def cut_word(self, word: str) -> Sequence[int]:
        """Return the numbers of the pieces of one word, as `split_words` returns it."""
        pieces = self._known.get(word)
        return self._cut_new_word(word) if pieces is None else pieces

    def _cut_new_word(self, word: str) -> tuple[int, ...]:
        """Return the pieces of a word, and cache them."""
        if len(self._known) >= _MAX_CACHED_WORDS:
            self._known.clear()  # simpler than throwing out the oldest, and as good: the common words are back at once
        pieces = self._known[word] = self._cut_greedily(word)
        return pieces

    def _cut_greedily(self, word: str) -> tuple[int, ...]:
        """Return the longest known beginning, then the longest known continuations; nothing if that fails."""
        if len(word) > MAX_WORD_LENGTH:
            return ()
        vocabulary, pieces, start = self._vocabulary, [], 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = vocabulary.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                return ()
            pieces.append(number)
            start = end
        return tuple(pieces)


def split_words(text: str) -> list[str]:
    """Return the words of a text: in lower case, without accents, with punctuation and Chinese characters alone."""
    if text.isascii():
        plain = text if text.isprintable() else text.translate(_ASCII_CONTROLS)
        return _ASCII_WORDS.findall(plain.lower())
    apart = unicodedata.normalize("NFD", text.translate(_CLEANING)).translate(_SPLITTING)
    # Letter by letter, so that a sigma at the end of a word is a sigma: this is how the vocabulary was made.
    return apart.replace("Σ", "σ").lower().split()


class _CleaningTable(dict[int, str | None]):
    """Maps a character, before accents are removed, to nothing, a space, itself, or itself between spaces."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = self._map(chr(code), code)
        return found

    @staticmethod
    def _map(character: str, code: int) -> str | None:
        """Return what one character becomes."""
        if (character not in "\t\n\r" and unicodedata.category(character) in _DROPPED_CATEGORIES) or code == 0xFFFD:
            return None
        if any(first <= code <= last for first, last in _CHINESE_RANGES):
            return f" {character} "
        return " " if character.isspace() else character


class _SplittingTable(dict[int, str | None]):
    """Maps a character, after decomposition, so that accents go and punctuation stands alone."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = self._map(chr(code), code)
        return found

    @staticmethod
    def _map(character: str, code: int) -> str | None:
        """Return what one character becomes."""
        category = unicodedata.category(character)
        if category == "Mn":
            return None
        mark = category[0] == "P" or (code < 128 and character > " " and not character.isalnum())
        return f" {character} " if mark else character


_CLEANING, _SPLITTING = _CleaningTable(), _SplittingTable()  # each character is looked up once in the life of a process
