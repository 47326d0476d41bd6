"""Questions in alphabets of which a table of meaning knows little more than the letters: Greek, Cyrillic, Hebrew,
those of India, Georgian, Ethiopic.

It cuts their words into single letters, so two texts of one language mean nearly the same to it whatever they say (a
cosine of 0.85 and more). Only words tell there. They have endings, so the beginning of one is enough; and the short
ones, which every text has, count by their length. In Arabic words change inside, and elsewhere a sign is more
than a letter: there the table is still the better of two weak guides.
"""

from collections.abc import Iterable, Sequence

from commonplace.text.words import bare

ENOUGH = 0.14  # of the letters of a question: with less in common, no answer is the better answer
_ALPHABETS = (("\u0370", "\u05ff"), ("\u0900", "\u0dff"), ("\u10a0", "\u139f"))
_LITTLE = 2  # letters: a word like this says nothing, if there are others
_SHORT = 4  # letters: a shorter word has to be there as it is
_BEGINNING = 0.6  # of a word


def is_spelled(text: str) -> bool:
    """Whether most letters of a text are of such an alphabet."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(first <= letter <= last for letter in letters for first, last in _ALPHABETS) > len(letters)


def share_of(text: str, asked: Iterable[Sequence[str]]) -> float:
    """How much of a question's words a text has in some form, from 0 to 1, by their letters."""
    words = "".join(letter if letter.isalnum() else " " for letter in bare(text)).split()
    said = f" {' '.join(words)} "
    every = [part for word in asked for part in word]
    parts = [part for part in every if len(part) > _LITTLE] or every
    there = sum(len(part) for part in parts if _form(part) in said)
    return there / (sum(map(len, parts)) or 1)


def _form(part: str) -> str:
    """What has to be in a text, that it has a word; also behind a prefix."""
    return f" {part} " if len(part) < _SHORT else part[: max(_SHORT, round(_BEGINNING * len(part)))]
