"""Verbs that read: recall, show, list, history, timeline, related. What is used is counted, and revived if it had
expired; nothing else is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from commonplace.index.port import EntryCandidate
from commonplace.memories import lookup
from commonplace.memories.rows import split_path
from commonplace.model.errors import EmbedderError, InvalidField, NotFound
from commonplace.model.memory import Memory, Status, Trust, mark_external
from commonplace.model.results import Hit, HitKind, MemoryItem, NearMemory, RecallResult, Revision
from commonplace.model.scope import Scope
from commonplace.recall.candidates import HIDDEN_STATUSES
from commonplace.recall.query import RecallQuery, is_journal
from commonplace.recall.ranking import explain_score
from commonplace.recall.search import SearchResult, search_entries
from commonplace.text.links import find_wikilinks
from commonplace.text.notes import parse
from commonplace.text.words import query_terms
from commonplace.vault.paths import note_path, resolve
from commonplace.verbs.desk import Desk

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

_EXPIRED = Status.EXPIRED.value
_ALL = 1_000_000_000
_UNLISTED = (_EXPIRED, Status.SUPERSEDED.value)


def recall(desk: Desk, asked: RecallQuery, scope: str | None, *, everything: bool, related: bool) -> RecallResult:
    desk.caller.check_reads()
    if not desk.settings.enabled:
        return RecallResult((), 0)
    question = _checked(asked)
    desk.check_all(everything)
    places = desk.asked(scope, everything=everything) if "memory" in question.kinds else []
    places += desk.journals(scope, everything=everything) if "journal" in question.kinds else []
    question = question._replace(folders=tuple(map(str, places)))
    notice = ""
    try:
        meanings = desk.meanings() if question.mode != "lexical" and question.query.strip() else None
        answer = _find(desk, question, meanings)
        notice = answer.notice
    except EmbedderError as error:
        if question.mode == "semantic":
            raise
        notice = f"Searched by words alone. {error.message}" if desk.settings.embedder != "off" else ""
        answer = _find(desk, question._replace(mode="lexical"), None)
    rows = [item.candidate.row for item in answer.hits if item.candidate.row]
    rows = [row for row in rows if not is_journal(row.folder)]
    desk.used([row.id for row in rows])
    desk.revive([(row.folder, row.name) for row in rows if row.status == _EXPIRED])
    why: Sequence[Mapping[str, float]] = [*map(explain_score, answer.hits)] if asked.explain else ()
    terms = query_terms(question.query)
    hits = [desk.hit(item, terms, question.budget_tokens) for item in answer.hits]
    linked = _linked(desk, hits, question.limit) if related else []
    near = [desk.hit(item) for item in answer.nearest]
    nearest = tuple(NearMemory(hit.key, hit.scope, _said(hit)) for hit in near if hit.kind is HitKind.MEMORY)
    return RecallResult((*hits, *linked), answer.total, answer.hidden, tuple(why), notice, nearest)


def _find(desk: Desk, question: RecallQuery, meanings: SemanticIndex | None) -> SearchResult:
    return search_entries(
        desk.keep.index, desk.keep.space, question, now=desk.keep.clock(), uses=desk.uses, semantic=meanings,
        is_superseded=partial(_was_superseded, desk),
    )  # fmt: skip


def _was_superseded(desk: Desk, candidate: EntryCandidate, moment: str) -> bool:
    scope, key = desk.place_of(candidate.folder, candidate.name)
    return lookup.was_superseded(desk.keep, desk.folder(scope), key, moment)


def _said(hit: Hit) -> str:
    """The summary of a hit that is shown without its trust."""
    return mark_external(hit.summary) if hit.trust == Trust.EXTERNAL else hit.summary


def _checked(asked: RecallQuery) -> RecallQuery:
    """A question that can be asked: what a library's caller sends may be of any type."""
    words = (asked.query, asked.mode, asked.sort, asked.type or "", *asked.tags, *asked.kinds)
    times = (asked.since or "", asked.until or "", asked.as_of or "")
    if not all(isinstance(word, str) for word in (*words, *times)):
        raise InvalidField("A question, its mode, sort, type, tags, kinds and times are texts.")
    numbers: Sequence[object] = (asked.limit, 1 if asked.budget_tokens is None else asked.budget_tokens)
    if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers):
        raise InvalidField("limit and budget_tokens are whole numbers.")
    return asked.validate()


def show(desk: Desk, key: str, scope: str | None) -> Memory:
    desk.caller.check_reads()
    for place in _scopes(desk, scope):
        memory = lookup.load(desk.keep, desk.view_for(place), place, desk.folder(place), key)
        if memory is not None:
            desk.used([memory.meta.id])
            if memory.meta.status is Status.EXPIRED and desk.revive([split_path(resolve(memory.path))]):
                memory = lookup.load(desk.keep, desk.view_for(place), place, desk.folder(place), key) or memory
            return memory if scope is not None else memory._replace(also_in=_also_in(desk, place, key))
    raise NotFound(f"There is no memory {key!a} in your scopes.")


def _also_in(desk: Desk, nearest: Scope, key: str) -> tuple[str, ...]:
    """The caller's scopes, besides the nearest, that have a key. Only where the index says so is a file looked at."""
    others = {place: folder for place, folder in desk.own().items() if place != nearest}
    with desk.keep.index.reading(desk.keep.space) as index:
        had = {
            place: folder
            for place, folder in others.items()
            if index.get(*split_path(note_path(folder, key))) is not None
        }
    return tuple(place.kind.value for place in lookup.find_scopes(desk.keep, desk.view(), had, key))


def source(desk: Desk, key: str, scope: str | None) -> tuple[bytes, str]:
    memory = show(desk, key, scope)
    document = desk.keep.vault.read(desk.keep.space, desk.view_for(memory.scope), resolve(memory.path))
    return document.data, document.revision


def page(desk: Desk, path: str) -> str:
    """A Markdown file of the book by its path; a memory that is read so counts as used."""
    desk.caller.check_reads()
    place = resolve(path)
    if not desk.settings.enabled or not place.name.endswith(".md"):
        raise NotFound(f"There is no page {path[:200]!a}.")
    document = desk.keep.vault.read(desk.keep.space, desk.view(), place)
    with desk.keep.index.reading(desk.keep.space) as index:
        row = index.get(*split_path(place)) if len(place.parts) > 1 else None
    if row is not None:
        desk.used([row.id])
        if parse(document.data).meta.status is Status.EXPIRED and desk.revive([split_path(place)]):
            document = desk.keep.vault.read(desk.keep.space, desk.view(), place)
    data = document.data if desk.is_person else desk.keep.provenance.shown(place, document.data)
    return data.decode("utf-8", "replace")


def listing(desk: Desk, scope: str | None, *, hidden: bool, everything: bool) -> list[MemoryItem]:
    desk.caller.check_reads()
    desk.check_all(everything)
    folders = desk.asked(scope, everything=everything) if desk.settings.enabled else []
    unlisted = () if hidden else (*_UNLISTED, *desk.unseen)
    return [item for item in desk.listing(folders) if item.status not in unlisted]


def unaccepted(desk: Desk, listed: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Those of some listed memories that say nothing but what came from outside."""
    places = [split_path(resolve(item.path)) for item in listed]
    with desk.keep.index.reading(desk.keep.space) as index:
        folders = {folder for folder, _ in places}
        told = {(folder, name) for folder in folders for name in index.brief_candidates(folder, _ALL)}
        return [
            item
            for item, place in zip(listed, places, strict=True)
            if place not in told and not ((row := index.brief_row(*place, 1)) and row.entries)
        ]


def history(desk: Desk, key: str, scope: str | None) -> Sequence[Revision]:
    desk.caller.check_reads()
    for place in _scopes(desk, scope):
        desk.keep.freshen(desk.folder(place))  # what was replaced or deleted outside goes to the history now
        found = lookup.list_revisions(desk.keep, desk.view_for(place), place, desk.folder(place), key)
        if found:
            return found
    raise NotFound(f"There is no memory {key!a} in your scopes, nor in their trash.")


def timeline(desk: Desk, session: str | None, since: str | None, limit: int) -> Sequence[Hit]:
    desk.caller.check_reads()
    places = [*desk.asked(None), *desk.journals(None)] if desk.settings.enabled else []
    question = RecallQuery("", tuple(map(str, places)), since=since, limit=limit, sort="recency", session=session)
    question = _checked(question)
    answer = search_entries(desk.keep.index, desk.keep.space, question, now=desk.keep.clock(), uses=desk.uses)
    return [desk.hit(item) for item in answer.hits]


def related(desk: Desk, key: str, scope: str | None) -> list[MemoryItem]:
    listed = listing(desk, None, hidden=True, everything=False)
    return _related(show(desk, key, scope), [item for item in listed if item.status not in desk.unseen])


def _related(memory: Memory, listed: Sequence[MemoryItem]) -> list[MemoryItem]:
    """The listed memories that a memory links to."""
    targets = {link.to for link in memory.meta.links if link.status != "rejected"}
    targets |= {target for entry in memory.entries for target in find_wikilinks(entry.text)}
    found = [item for item in listed if item.key in targets or f"{item.scope}/{item.key}" in targets]
    return [item for item in found if item.path != memory.path]


def _scopes(desk: Desk, scope: str | None) -> Sequence[Scope]:
    """Where a key is looked for, nearest first; nowhere when memory is switched off."""
    wanted = desk.caller.scopes() if scope is None else [desk.caller.scope(scope)]
    return wanted if desk.settings.enabled else []


def _linked(desk: Desk, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """What the memories of some hits link to, by its newest entry, without what is among the hits already."""
    listed = [item for item in desk.listing(desk.asked(None)) if item.status not in HIDDEN_STATUSES]
    seen = {hit.path for hit in hits}
    found: list[Hit] = []
    for hit in hits:
        if hit.kind is not HitKind.MEMORY:
            continue
        scope, key = desk.place_of(*split_path(resolve(hit.path)))
        memory = lookup.load(desk.keep, desk.view_for(scope), scope, desk.folder(scope), key)
        for item in _related(memory, listed) if memory is not None else ():
            if item.path not in seen and len(found) < limit:
                seen.add(item.path)
                found += _newest(desk, item, hit.entry)
    return found


def _newest(desk: Desk, item: MemoryItem, source: str) -> list[Hit]:
    """The newest entry of a listed memory as a hit that another one led to."""
    scope, key = desk.place_of(*split_path(resolve(item.path)))
    memory = lookup.load(desk.keep, desk.view_for(scope), scope, desk.folder(scope), key)
    newest = memory.newest if memory is not None else None
    if newest is None:
        return []
    when = newest.occurred or newest.time
    return [
        Hit(
            kind=HitKind.MEMORY, ref=f"{item.scope}/{key}", key=key, scope=item.scope, scope_id=item.scope_id,
            path=item.path, entry=newest.id, text=newest.text, summary=item.summary, author=newest.author,
            trust=newest.trust.value, time_start=when, time_end=when, updated=item.updated, score=0.0,
            revision=item.revision, sources=(source,), status=item.status,
        )
    ]  # fmt: skip
