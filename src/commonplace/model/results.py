"""The results of the verbs: the same values on every surface, and one shape of hit from every retrieval.

Those about the book as files are in file_results.py, those about the journal in journal_results.py, those about mail,
chat and documents in tree_results.py.
"""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, overload

from commonplace.model.memory import mark_external
from commonplace.model.scope import ScopeKind


class SimilarMemory(NamedTuple):
    """A memory close to one that is being stored."""

    key: str
    scope: ScopeKind
    similarity: float
    summary: str
    relation: str = "same"  # same: it says this already; contradicts: it says something else about the same


class StoreResult(NamedTuple):
    """Where a change was written, what was done, and the similar memories that were found."""

    key: str
    scope: ScopeKind
    scope_id: str | None
    path: str
    revision: str
    entry: str
    action: str
    similar: tuple[SimilarMemory, ...] = ()
    notice: str = ""  # what the caller should know, though it was done: of the file, or what a purge left for later
    superseded: tuple[str, ...] = ()  # the memories that the new one supersedes, as SCOPE/KEY


class RetireResult(NamedTuple):
    """What was retired for its age: keys that the caller may see, and how many texts left the trash for good."""

    trashed: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    swept: int = 0


class LaterMemory(NamedTuple):
    """A memory that is later than a hit, and may contradict it."""

    ref: str
    key: str
    date: str
    summary: str


class Revision(NamedTuple):
    """One revision in the history of a memory."""

    revision: str
    time: str
    author: str | None
    action: str
    path: str
    diff: str = ""  # what the change took away and added, when asked for


class ForgottenMemory(NamedTuple):
    """A memory that can be restored."""

    key: str
    scope: str
    scope_id: str | None
    summary: str
    time: str  # when it went
    author: str | None  # who forgot it; None where its file was deleted outside
    action: str  # forgotten, deleted
    path: str  # of its text in the trash, or in the history
    id: str = ""  # of the memory: several that had one key can be in the trash
    is_key_taken: bool = False  # by another memory; until that one has another key, this one cannot be restored


class MemoryItem(NamedTuple):
    """One memory in a list, without its entries."""

    key: str
    scope: ScopeKind
    scope_id: str | None
    path: str
    type: str
    status: str
    summary: str
    tags: tuple[str, ...]
    pinned: bool
    created: str
    updated: str
    revision: str
    outside: bool  # the summary came from outside

    @property
    def shown_summary(self) -> str:
        """The summary as lists show it: marked if it came from outside."""
        return mark_external(self.summary) if self.outside else self.summary


class Proposal(NamedTuple):
    """A memory, one of its links, or a proposal to pin it, that waits to be accepted or rejected."""

    kind: str  # memory, link, pin
    key: str
    scope: ScopeKind
    scope_id: str | None
    path: str
    status: str  # proposed, quarantined
    summary: str
    updated: str
    rel: str | None = None
    to: str | None = None


class ScopeStatus(NamedTuple):
    """One scope in the book, and how many memories it has."""

    scope: ScopeKind
    scope_id: str | None
    path: str
    memories: int
    own: bool  # one of the caller's


class BookStatus(NamedTuple):
    """Where the book and its databases are, what is in it, and what leaves the machine."""

    version: str
    root: str
    book: str  # its id
    format: int | None  # the version of its format; None where the book's own note of it cannot be read
    index_file: str
    index_bytes: int
    state_file: str
    state_bytes: int
    audit_folder: str | None  # None: no audit is written
    enabled: bool
    trusted: bool
    waiting: int  # for review
    outside: int  # memories from outside that no person has accepted
    scopes: tuple[ScopeStatus, ...]
    leaves_machine: tuple[str, ...]  # what is sent over the network, and where
    can_lock: bool = True  # False: the locks of the book's file system exclude nobody
    unembedded: int | None = None  # entries without a vector yet; None where only a service or another package knows
    problems: tuple[str, ...] = ()  # what is wrong with the book itself, and what to do about it
    sources: int = 0  # of mail, chat and documents


class ScaffoldResult(NamedTuple):
    """The result of `init`: where the book is, and the files that were created."""

    root: str
    made: tuple[str, ...]


class BriefResult(NamedTuple):
    """The context an agent would get at the start and at a prompt, and about how many tokens each costs."""

    text: str
    characters: int
    tokens: int
    prompt_text: str
    prompt_tokens: int
    memories: tuple[str, ...]  # the memories told in full, as SCOPE/KEY
    explained: tuple[Mapping[str, object], ...] = ()  # ref, place, why and tokens of each memory, when asked for


class CaptureResult(NamedTuple):
    """The result of `capture`: transcripts read and failed, facts refused for a secret, memories proposed, and facts
    dropped because too many wait."""

    transcripts: int
    failed: int
    refused: int
    proposed: tuple[StoreResult, ...]
    dropped: int = 0


class VerifyResult(NamedTuple):
    """The result of `verify`: how many notes there are, and where the index or a page differs from them."""

    ok: bool
    files: int
    differences: tuple[str, ...]


class Finding(NamedTuple):
    """One finding of `doctor`: what is wrong, where, and what to do."""

    code: str  # stable; docs/doctor.md lists them all
    severity: str  # error, warning, note
    path: str  # in the book; a full path for a file beside databases that are outside the book
    message: str
    hint: str


class SecretPlace(NamedTuple):
    """Where something looks like a secret. Never the secret itself."""

    path: str
    line: int  # 0: in the file name
    rule: str


class ScanResult(NamedTuple):
    """The result of `scan`: how many files were read, where secrets are, and which files were skipped, and why."""

    ok: bool
    files: int
    places: tuple[SecretPlace, ...]
    skipped: tuple[Finding, ...]


class ImportItemResult(NamedTuple):
    """What an import did with one item of its source."""

    place: str  # where in the source
    key: str
    scope: ScopeKind
    action: str  # created, appended, trusted, unchanged
    entries: int  # how many entries it added


class SkippedItem(NamedTuple):
    """An item of a source that was not imported, and why."""

    place: str
    reason: str  # stable; docs/import.md lists them all
    message: str


class ImportResult(NamedTuple):
    """What `import` did, or with `dry_run` would do."""

    format: str
    dry_run: bool
    trust: str  # of the imported entries
    created: int
    appended: int
    trusted: int  # were in the book as from outside, and are now trusted
    unchanged: int
    links: int  # between imported memories
    redacted: int  # secrets removed from the imported text
    items: tuple[ImportItemResult, ...]
    left: tuple[SkippedItem, ...]
    data: tuple[str, ...] = ()  # the data files that were copied


class HitKind(StrEnum):
    """What a hit was found in."""

    MEMORY = "memory"
    JOURNAL = "journal"
    LEAF = "leaf"
    SUMMARY = "summary"
    DIGEST = "digest"


class Hit(NamedTuple):
    """One result of a search, the same from every retrieval."""

    kind: HitKind
    ref: str
    key: str
    scope: ScopeKind
    scope_id: str | None
    path: str
    entry: str
    text: str
    summary: str
    author: str | None
    trust: str
    time_start: str
    time_end: str
    updated: str
    score: float
    revision: str
    sources: tuple[str, ...] = ()
    status: str = "active"  # of its memory; for a query about an earlier time, the status at that time
    strong: bool = True  # it is clearly better than most; without a question, nothing is weak
    later: LaterMemory | None = None  # what was said later and may contradict it
    session: str | None = None  # in which it was stored, where the caller may know that
    title: str = ""  # of the message or document
    tree: str = ""  # the source that it is from, for a node of the tree
    level: int | None = None  # in its tree: 0 is a leaf
    child_ids: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()  # the people and things that it mentions
    topics: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """The status if readers must know it; empty for an active memory."""
        return "" if self.status == "active" else self.status


class RecallResult(Sequence[Hit]):
    """The hits of a query, best first, and how many there are in all. It is a sequence of its hits."""

    __slots__ = ("explained", "hidden", "hits", "notice", "reason", "total")

    hits: tuple[Hit, ...]
    total: int  # how many matched, counted up to a thousand
    hidden: Mapping[str, int]
    explained: tuple[Mapping[str, float], ...]  # one per hit, when asked for
    notice: str  # what the caller should know about the search
    reason: str  # why there are no hits

    def __init__(
        self,
        hits: tuple[Hit, ...],
        total: int,
        hidden: Mapping[str, int] = MappingProxyType({}),
        explained: tuple[Mapping[str, float], ...] = (),
        notice: str = "",
        reason: str = "",
    ) -> None:
        self.hits, self.total, self.hidden = hits, total, hidden
        self.explained, self.notice, self.reason = explained, notice, reason

    @overload
    def __getitem__(self, place: int) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...

    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[place]

    def __len__(self) -> int:
        return len(self.hits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecallResult):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # as of a list: `hidden` is a mapping

    def __repr__(self) -> str:
        return f"RecallResult(hits={self.hits!r}, total={self.total}, notice={self.notice!r}, reason={self.reason!r})"
