"""Words cut into the pieces of a vocabulary, as BERT's uncased tokenizer cuts them.

A table of token vectors is only as good as its cutting is the one it was trained with, and the tokenizer that everybody
uses for it is a compiled package of 10 MB. The rules are few, so they are here: small letters without accents, every
Chinese character and every mark of punctuation a word of its own, and each word cut greedily into its longest known
beginnings. Words repeat, so what a word was cut into is remembered.

What the original does with `[CLS]` and its like in a text is left out on purpose: a text is data, and has no markers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from commonplace.model.lazy import lazy

LONGEST_WORD = 100  # a longer run of letters is a blob, not a word, and nothing is known of it
_REMEMBERED = 50_000  # words; about 8 MB when full
_ASCII_WORDS = lazy(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n\r"}
_UNSEEN = {"Cc", "Cf", "Co", "Cs"}  # controls, marks of direction and joining, private use, broken halves
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """Cuts texts into numbers of a vocabulary; a word with any part that is unknown has none."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, tuple[int, ...]] = {}

    def __call__(self, text: str) -> list[int]:
        """The numbers of a text's pieces, in its order."""
        known = self._known
        found: list[int] = []
        for word in words(text):
            pieces = known.get(word)
            found += self._learn(word) if pieces is None else pieces
        return found

    def of_word(self, word: str) -> Sequence[int]:
        """The same for what is one of its `words` already."""
        pieces = self._known.get(word)
        return self._learn(word) if pieces is None else pieces

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()  # simpler than throwing out the oldest, and as good: the common words are back at once
        pieces = self._known[word] = self._cut(word)
        return pieces

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest known beginning, then the longest known continuation, to the end; nothing if that fails."""
        if len(word) > LONGEST_WORD:
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


def words(text: str) -> list[str]:
    """The words of a text: small letters, no accents, punctuation and Chinese characters alone."""
    if text.isascii():
        plain = text if text.isprintable() else text.translate(_ASCII_CONTROLS)
        return _ASCII_WORDS.findall(plain.lower())
    apart = unicodedata.normalize("NFD", text.translate(_CLEAN)).translate(_APART)
    # Letter by letter, so that a sigma at the end of a word is a sigma: this is how the vocabulary was made.
    return apart.replace("Σ", "σ").lower().split()


class _Clean(dict[int, str | None]):
    """What becomes of a character before accents are taken off: nothing, a space, itself, or itself between spaces."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = self._of(chr(code), code)
        return found

    @staticmethod
    def _of(character: str, code: int) -> str | None:
        if (character not in "\t\n\r" and unicodedata.category(character) in _UNSEEN) or code == 0xFFFD:
            return None
        if any(first <= code <= last for first, last in _CHINESE):
            return f" {character} "
        return " " if character.isspace() else character


class _Apart(dict[int, str | None]):
    """What becomes of it after: accents, which are characters of their own by now, go; punctuation stands alone."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = self._of(chr(code), code)
        return found

    @staticmethod
    def _of(character: str, code: int) -> str | None:
        category = unicodedata.category(character)
        if category == "Mn":
            return None
        mark = category[0] == "P" or (code < 128 and character > " " and not character.isalnum())
        return f" {character} " if mark else character


_CLEAN, _APART = _Clean(), _Apart()  # each character is looked up once in the life of a process
