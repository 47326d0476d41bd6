"""What the earlier messages of a thread say, to know a quote by: `clean` compares lines with it.

Lines are compared without case, quote marks and white space. Only the last messages are looked at, and only when they
are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MAX_MAIL = 2_000_000  # characters; a longer mail is a dump, and is only tidied
_MAX_EARLIER = 50  # messages, the last ones, that evidence is looked for in
_SIGNS = (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("„", '"'), ("«", '"'), ("»", '"'), ("*", ""), ("\u200b", ""))
_RUN_WORDS = 4  # that stand together prove that a line is of an earlier message, however its lines were wrapped


class EarlierLines:
    """The lines of the earlier messages of a thread, already cleaned, oldest first.

    Nothing is read before it is needed.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._lines: set[str] | None = None
        self._ends: set[str] = set()
        self._runs: set[tuple[str, ...]] | None = None

    def add(self, text: str) -> None:
        """Add the text of a message."""
        self._texts.append(text)
        self._lines = self._runs = None

    def __bool__(self) -> bool:
        return bool(self._texts)

    def has(self, line: str) -> bool:
        """Return whether a message has a line, which is normalised."""
        if self._lines is None:
            messages = [normalise(text) for text in self._last()]
            self._lines = {line for message in messages for line in message}
            self._ends = {next(filter(None, reversed(message)), "") for message in messages}
        return line in self._lines

    def has_at_end(self, line: str) -> bool:
        """Return whether a message ends with a line, which is normalised."""
        return self.has(line) and line in self._ends

    def count_runs(self, text: str) -> tuple[int, int]:
        """Return how many runs of words a normalised text has, and how many of them a message has, too.

        Lines that were wrapped anew are known by them.
        """
        if self._runs is None:
            self._runs = {run for text in self._last() for run in _word_runs(" ".join(normalise(text)))}
        runs = list(_word_runs(text))
        return len(runs), sum(run in self._runs for run in runs)

    def covers(self, line: str) -> bool:
        """Return whether nearly all words of a normalised line stand together in a message."""
        count, shared = self.count_runs(line)
        return count >= 3 and shared >= 0.6 * count

    def _last(self) -> list[str]:
        return [text[:MAX_MAIL] for text in self._texts[-_MAX_EARLIER:]]


def normalise(text: str) -> list[str]:
    """Return the lines of a text as they are compared: case, quote marks and white space do not count."""
    text = text.casefold()
    for sign, plain in _SIGNS:
        if sign in text:
            text = text.replace(sign, plain)
    return [" ".join(line.lstrip("> |＞").split()) for line in text.split("\n")]


def _word_runs(text: str) -> Iterator[tuple[str, ...]]:
    words = text.split()
    return zip(*(words[at:] for at in range(_RUN_WORDS)), strict=False)
