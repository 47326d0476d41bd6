"""A question, as every surface asks it, checked once."""

from typing import NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.memory import MemoryType
from commonplace.model.times import read_time
from commonplace.vault.paths import JOURNAL

MODES = ("hybrid", "lexical", "semantic")
SORTS = ("score", "recency", "usage")
KINDS = ("memory", "journal")
MOST = 100
_JOURNAL = f"{JOURNAL}/"


COUNTED = 1_000  # matches: nobody reads more, and in a large book counting them would take longer than finding them


def of_total(shown: int, total: int) -> str:
    """How many are shown of how many."""
    return f"{shown:,} of {total:,}{' or more' if total >= COUNTED else ''} that match."


class Question(NamedTuple):
    query: str = ""
    folders: tuple[str, ...] = ()  # the scopes that are asked, nearest first
    type: str | None = None
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    limit: int = 10
    mode: str = "hybrid"
    sort: str = "score"
    budget_tokens: int | None = None
    expired: bool = False
    explain: bool = False
    session: str | None = None  # only what was stored in this one

    def checked(self) -> "Question":
        """The same with its times as timestamps; InvalidField says what cannot be asked."""
        _one_of("mode", self.mode, MODES)
        _one_of("sort", self.sort, SORTS)
        if self.type is not None:
            _one_of("type", self.type, tuple(MemoryType))
        for kind in self.kinds:
            _one_of("kinds", kind, KINDS)
        if not 1 <= self.limit <= MOST:
            raise InvalidField(f"limit is a number from 1 to {MOST}.")
        if self.budget_tokens is not None and self.budget_tokens < 1:
            raise InvalidField("budget_tokens is a number greater than 0.")
        return self._replace(
            since=_time(self.since),
            until=_time(self.until, end=True),
            as_of=_time(self.as_of, end=True),
        )


def is_journal(folder: str) -> bool:
    """Whether an entry is of the journal, by where it stands."""
    return folder.startswith(_JOURNAL)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidField(f"{name} cannot be {value[:40]!a}.", hint=f"Use one of: {', '.join(allowed)}.")


def _time(text: str | None, *, end: bool = False) -> str | None:
    """A caller's time; a day alone means its beginning, or for an end its last second."""
    if text is None:
        return None
    return f"{text}T23:59:59Z" if end and len(text) == 10 and read_time(text) else read_time(text)
