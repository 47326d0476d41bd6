"""The results of the verbs about the memory tree: of an ingest, of questions, of citations."""

# Without `from __future__ import annotations`: it would make every field of the named tuples a text that is compiled at
# each start.

from typing import NamedTuple

from commonplace.model.costs import ModelCost
from commonplace.model.results import Hit


class SkippedPlace(NamedTuple):
    """A part of a source that was not read."""

    place: str
    reason: str  # stable; docs/tree.md lists them all


class IngestResult(NamedTuple):
    """What an ingest of one source did, or with `dry_run` would do."""

    source: str  # its id
    kind: str  # email, chat, document
    format: str
    origin: str
    added: int
    known: int  # in the tree already
    replaced: int  # a whole copy came for a cut one, or the text was edited
    rejected: int  # bulk mail, machines, spam and trash: searchable, and left out of digests
    redacted: int  # secrets that were removed
    skipped: tuple[SkippedPlace, ...]  # the first thousand
    skipped_count: int = 0
    cut_lines: int = 0  # quotes, signatures and footers
    first: str = ""  # when the first and the last of what was added happened
    last: str = ""
    authors: tuple[tuple[str, int], ...] = ()  # who wrote most of it
    unchanged: int = 0  # files that were not read, because they have not changed since
    dry_run: bool = False


class IngestReport(NamedTuple):
    """What one call of ingest did with each source."""

    sources: tuple[IngestResult, ...]

    @property
    def is_partial(self) -> bool:
        """Whether something could not be read."""
        return any(item.skipped_count for item in self.sources)


class AuthorCount(NamedTuple):
    """How much somebody wrote."""

    author: str
    units: int


class TreeHits(NamedTuple):
    """What a question to the tree found."""

    hits: tuple[Hit, ...]
    total: int
    truncated: bool
    authors: tuple[AuthorCount, ...] = ()  # who wrote most of what is in the window
    nearest: tuple[str, ...] = ()  # ids like an unknown one
    notice: str = ""


class TreeCost(NamedTuple):
    """What calls of a model for summaries cost so far."""

    calls: int
    tokens_in: int
    tokens_out: int
    usd: float  # by the price that was set when each call was made
    rows: tuple[ModelCost, ...] = ()  # for each day (UTC) and model


class Entity(NamedTuple):
    """A person or a thing that units mention."""

    canonical_id: str
    kind: str
    surface: str
    mention_count: int
    last_seen: str


class EntityList(NamedTuple):
    """Entities that a query names, those mentioned most first."""

    entities: tuple[Entity, ...]


class LeafList(NamedTuple):
    """Leaves and units, in the order in which they were asked for."""

    hits: tuple[Hit, ...]
    missing: tuple[str, ...]


class TreeSourceInfo(NamedTuple):
    """One source of the tree."""

    id: str
    kind: str
    format: str
    origin: str
    units: int
    first: str
    last: str
    brief: bool


class TreeStatus(NamedTuple):
    """How much the tree has."""

    leaves: int
    units: int
    summaries: int
    entities: int
    sources: int
    pending: int  # what `tree settle` has to do


class TreeForgetResult(NamedTuple):
    """What forgetting a source took away."""

    source: str
    units: int
    files: int
    moved: int  # units that another source has too, which keeps them now
    is_clean: bool = True  # False: another program reads the index, and some text stays in it until that has ended


class EntityMerge(NamedTuple):
    """Ids that are one person or thing, as `tree/people.md` says."""

    canonical_id: str
    members: tuple[str, ...]
    state: str  # merged, proposed, apart


class CitationFault(NamedTuple):
    """A citation that does not hold."""

    line: int
    code: str  # unknown_marker, unknown_node, wrong_source, not_verbatim, not_a_leaf, uncited_quote
    text: str


class CiteResult(NamedTuple):
    """Whether every citation of an answer holds."""

    ok: bool
    citations: int
    quotes: int
    faults: tuple[CitationFault, ...]


class SettleResult(NamedTuple):
    """What was done in the tree, and what is left to do."""

    sealed: int  # summaries that were made, or made anew
    digests: int  # pages of days, weeks, months and years that were written
    topics: int  # pages of topics that were written
    pending: int


class DigestResult(NamedTuple):
    """The front page of a day, week, month or year."""

    period: str  # day, week, month, year
    start: str  # its first and its last day
    end: str
    text: str  # Markdown; empty where nothing happened
    hits: tuple[Hit, ...]  # itself, as a node to go down from, and the messages that it names
    truncated: bool  # it names fewer than there were


class NodeHits(NamedTuple):
    """Nodes of the tree, and how many there are."""

    hits: tuple[Hit, ...]
    total: int
    truncated: bool
    notice: str = ""


class TopicInfo(NamedTuple):
    """A topic: a person or a thing that much was said about."""

    id: str  # of its node
    entity_id: str
    title: str
    state: str  # awake, dormant
    units: int
    first: str
    last: str
    hotness: float


class TreeLine(NamedTuple):
    """A node in a drawing of the tree."""

    id: str
    parent: str  # empty for the top of a source's tree
    source: str
    level: int
    title: str
    first: str
    last: str
    units: int
    children: int


class WaitingLeaves(NamedTuple):
    """How many leaves of a source no summary has yet."""

    source: str
    leaves: int


class TreeDrawing(NamedTuple):
    """The summaries of the sources, and how many leaves wait to be sealed."""

    nodes: tuple[TreeLine, ...]
    waiting: tuple[WaitingLeaves, ...]  # of every source that was asked for
    truncated: bool
