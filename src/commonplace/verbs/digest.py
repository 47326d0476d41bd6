"""The verbs `digest` and `tree_settle`: the front page of a day, week, month or year, and the work that makes it."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, NamedTuple

from commonplace.model.errors import InvalidField
from commonplace.model.tree_results import DigestResult, SettleResult
from commonplace.tree.digests import PERIODS, drill_command
from commonplace.tree.node_search import NodeReader
from commonplace.tree.periods import PeriodKind, period_of
from commonplace.verbs.context import BookContext
from commonplace.verbs.tree_nodes import make_hits, today
from commonplace.verbs.tree_opening import open_tree
from commonplace.verbs.tree_settling import settle_tree
from commonplace.verbs.verb import Access, Arg, verb

_MOST_HITS = 100


class SettleRequest(NamedTuple):
    """What `tree_settle` is asked."""

    seconds: Annotated[
        int | None, Arg("stop after so many seconds; what is left stays pending", "N", minimum=0, maximum=86_400)
    ] = None


class DigestRequest(NamedTuple):
    """What `digest` is asked."""

    period: Annotated[str, Arg("day, week, month or year", is_positional=True, nargs="?", choices=PERIODS)] = "day"
    date: Annotated[str | None, Arg("a day in it, as 2026-11-15; today if not given", "D")] = None
    source: Annotated[str | None, Arg("only this source, as tree sources shows it", "ID")] = None


@verb(
    Access.WHOLE_BOOK,
    audit=lambda result, _: result._asdict(),
    command="tree settle",
    examples=("commonplace tree settle", "commonplace tree settle --seconds 30 --json"),
    no_tool="about the tree itself: for a person",
)
def tree_settle(context: BookContext, request: SettleRequest) -> SettleResult:
    """Make the summaries, topics and digests that are due.

    An ingest ends with this. It may be stopped at any time, and goes on where it was.
    """
    context.check_enabled()
    if request.seconds is not None and not 0 <= request.seconds <= 86_400:
        raise InvalidField("seconds is a number from 0 to 86,400.")
    tree = open_tree(context)
    tree.freshen()
    tree.finish()
    return SettleResult(*settle_tree(context, tree, request.seconds, context.memories.progress))


@verb(
    Access.READ,
    command="digest",
    examples=(
        "commonplace digest",
        "commonplace digest week",
        "commonplace digest day --date 2026-11-15 --source work-mail",
    ),
    no_tool="memory_tree_query_global answers the digest of the last days",
)
def digest(context: BookContext, request: DigestRequest) -> DigestResult:
    """Show the front page of a day, week, month or year.

    Of your mail, chat and documents: what was asked, said and decided, thread by thread; questions to you that are
    open; dates ahead. Every sentence names its message: `commonplace show REF` opens it. Days begin and end by the
    clock of this machine.
    """
    period = period_of(_check_period(request.period), _check_day(request.date))
    empty = DigestResult(request.period, period.start.isoformat(), period.end.isoformat(), "", (), truncated=False)
    if not context.settings.enabled:
        return empty
    tree = open_tree(context)
    sources = tree.freshen()
    only = {tree.source(request.source).id} if request.source is not None else None
    reader = NodeReader(tree, sources)
    node = reader.open_digest(period, only)
    if node is None:
        return empty
    units = list(reader.open(node.units).values())
    hits, _ = make_hits(reader, [node, *units], "", _MOST_HITS)
    return empty._replace(text=node.text, hits=hits, truncated=drill_command(period) in node.text)


def _check_period(name: str) -> PeriodKind:
    if name not in PERIODS:
        raise InvalidField(f"A digest is of a {', '.join(PERIODS[:-1])} or {PERIODS[-1]}, not {name[:40]!a}.")
    return name


def _check_day(text: str | None) -> date:
    """Return a day that a caller names; today if none is. Raises InvalidField."""
    if text is None:
        return today()
    try:
        if text in ("today", "yesterday"):
            return today() - timedelta(days=text == "yesterday")
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidField(f"{text[:40]!a} is not a day.", hint="Write it as 2026-11-15.") from None
