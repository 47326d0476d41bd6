"""Topics: pages about the people and things that much was said about lately.

    tree/topic/NAME-HASH.md      a page for each: how much, by whom, from when to when, and what was said

A person or thing becomes a topic once ten units in three threads on three days of ninety mention it. Bulk mail does not
count. At most 200 topics are awake, the hottest; the others, and those of which nothing was heard for ninety days, are
dormant, until three units are new. `settle` calls `TopicPages.renew` for what the index has marked: a page follows from
the units alone, and what a person adds to it stays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from commonplace.index.nodes import MentionSpan, TopicRow
from commonplace.index.port import Transaction
from commonplace.memories.rows import split_path
from commonplace.memories.unit import Unit
from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash, slug
from commonplace.model.times import shift_time
from commonplace.text.frontmatter import Frontmatter, Writable, get_region, put_region
from commonplace.text.naming import cut, one_line
from commonplace.text.notes import Note
from commonplace.text.words import fold_text
from commonplace.tree.admission import is_admitted
from commonplace.tree.digests import has_added_text
from commonplace.tree.entities import choose_names
from commonplace.tree.extract import Passage, extract
from commonplace.tree.nodes import describe_span, group_lines, write_threads
from commonplace.tree.store import MadePage, TreeStore
from commonplace.tree.units import TreeUnit, read_unit
from commonplace.vault.paths import KEEPER, TREE

TOPIC_FOLDER = TREE / "topic"
AWAKE, DORMANT = "awake", "dormant"
TOPIC_KINDS = ("person", "ticket", "name", "id", "path", "url", "handle", "email")
"""Of two topics that the same units mention, the one of the kind that comes first is kept."""
MOST_AWAKE = 200
_UNITS, _THREADS, _DAYS, _SPAN = 10, 3, 3, 90  # that make a topic; the last is in days, too
_REVIVING = 3  # units in that time
_MOST_LOOKED_AT = 2_000  # units of one topic
_MOST_SHOWN = 60  # units of which its page is made
_MOST_TOKENS, _SHARE = 900, 0.3
_MOST_PEOPLE = 6
_SAME = 0.8  # of the units of one topic, that another one has, too
_WRITTEN = 20  # pages in one unit of work
_MARKED = 5_000  # labels at a time
_MAX_SLUG = 40
_ALWAYS = "9999-12-31T23:59:59Z"  # behind every moment
_COUNTED = ("entity", "state", "from", "to", "units", "hotness")  # fields of what follows from the units
_PART = lazy(r"-p\d+\Z")
_WORD = lazy(r"[^\W_]+")


class Topic(NamedTuple):
    """What is known of a topic before its page is written."""

    entity: str
    title: str
    spans: Sequence[MentionSpan]  # latest first
    state: str

    @property
    def first(self) -> str:
        """When its first unit was."""
        return self.spans[-1].moment

    @property
    def last(self) -> str:
        """When its last unit was."""
        return self.spans[0].moment

    @property
    def key(self) -> str:
        """The name of its page."""
        return f"{slug(self.title, _MAX_SLUG) or 'topic'}-{short_hash(self.entity, 10)}"


def read_topic(folder: str, name: str, note: Note) -> TopicRow | None:
    """Return the topic that a page is about; None for a page that is none."""
    front = note.front
    entity, state, units = front.text("entity"), front.text("state"), front.text("units")
    if note.in_conflict or not entity or state not in (AWAKE, DORMANT) or not units.isdecimal():
        return None
    try:
        hotness = float(front.text("hotness"))
    except ValueError:
        return None
    return TopicRow(
        entity, folder, name, front.text("title"), state, front.text("from"), front.text("to"), int(units), hotness
    )


class TopicPages:
    """Brings the pages of topics up to what units mention; the caller holds the lock of the tree."""

    def __init__(self, tree: TreeStore, now: str) -> None:
        self._tree, self._now = tree, now
        self._since = shift_time(now, -_SPAN * 86_400)
        self._me = {
            f"person:{name.casefold()}"
            for source in tree.sources()
            for name in (*source.me, *map(fold_text, source.me))
        }
        self.written = 0

    def renew(self) -> bool:
        """Do a part of what is marked; return whether there was something."""
        with self._tree.reading() as index:
            marked, state = index.changed_labels(_MARKED), self._tree.tell_state(index)
            people = self._tree.people()
            entities = {people.canonical(name) for _, name in marked if name.partition(":")[0] in TOPIC_KINDS}
            known = {row.entity: row for row in index.topic_rows(None, 1_000_000)}
            lost = {entity for entity in known if not self._is_there(index, entity)}
            quiet = {row.entity for row in known.values() if row.state == AWAKE and row.last < self._since}
            looked_at = entities | quiet | lost | {people.canonical(entity) for entity in lost}
            topics = [self._look(index, entity, known.get(entity)) for entity in sorted(looked_at)]
            gone = {*known} & looked_at - {topic.entity for topic in topics if topic is not None}
        chosen = _choose([topic for topic in topics if topic is not None], known)
        for at in range(0, len(chosen), _WRITTEN):
            self._write(chosen[at : at + _WRITTEN], known)
        self._remove([known[entity] for entity in sorted(gone)])
        with self._tree.memories.index.transaction(self._tree.memories.space) as index:
            if self._tree.tell_state(index) == state:  # else another process saw an edit: look again
                index.unmark_labels([number for number, _ in marked])
        return bool(marked)

    def _is_there(self, index: Transaction, entity: str) -> bool:
        """Return whether a topic still stands for itself, is not the user, and is mentioned by something."""
        members = self._tree.people().members(entity)
        is_own = members[0] == entity and entity not in self._me
        return is_own and any(index.is_mentioned_before(name, _ALWAYS) for name in members)

    def _look(self, index: Transaction, entity: str, known: TopicRow | None) -> Topic | None:
        """Return a topic, if there is enough for one, or if it was one and there still is something."""
        if entity in self._me or self._tree.people().canonical(entity) != entity:
            return None
        names = self._tree.people().members(entity)
        if known is None and len(index.mention_spans(names, _UNITS)) < _UNITS:
            return None
        spans = [span for span in index.mention_spans(names, _MOST_LOOKED_AT) if is_admitted(span.signals)]
        if not spans or (known is None and not self._is_topic(index, entity, spans)):
            return None
        recent = sum(span.moment >= self._since for span in spans)
        is_awake = recent > 0 if known is None or known.state == AWAKE else recent >= _REVIVING
        title = known.title if known is not None else _find_title(index, names)
        return Topic(entity, title, spans, AWAKE if is_awake else DORMANT)

    def _is_topic(self, index: Transaction, entity: str, spans: Sequence[MentionSpan]) -> bool:
        if not has_burst(spans):
            return False
        kind, _, name = entity.partition(":")
        if kind != "name":
            return True
        uses = Counter(span.author or "" for span in spans)
        # A name that is somebody's own: who is meant has a page of their own.
        return bool(choose_names({entity: uses})) and not index.find_labels(_WORD.findall(name), ("person",), 1)

    def _write(self, topics: Sequence[Topic], known: Mapping[str, TopicRow]) -> None:
        made: list[MadePage] = []
        with self._tree.memories.unit(TOPIC_FOLDER, KEEPER) as unit:
            for topic in topics:
                row = known.get(topic.entity)
                made += self._write_page(unit, row.name if row is not None else topic.key, topic)
            unit.commit()
        self._tree.note_made(made)
        self.written += len(made)

    def _write_page(self, unit: Unit, key: str, topic: Topic) -> Iterator[MadePage]:
        """Stage the page of a topic; yield it, unless it stays."""
        found = unit.find(key)
        note = found.note if found is not None else Note(Frontmatter("---\n", (), "---\n"), f"# {topic.title}\n\n", ())
        if note.in_conflict:
            return
        units = self._read_units(topic.spans[:_MOST_SHOWN])
        text = _render(topic, units)
        fields: dict[str, Writable] = {
            "tree": "topic",
            "entity": topic.entity,
            "title": topic.title,
            "state": topic.state,
            "summary": cut(f"{topic.title}: {_count(topic)}", 200),
            "created": topic.first,
            "updated": topic.last,
            "from": topic.first,
            "to": topic.last,
            "units": len(topic.spans),
            "hotness": f"{measure_hotness(topic.spans, units):.2f}",
        }
        front = note.front
        for name, value in fields.items():
            front = front.put(name, value)
        note = note.replace(front=front, lead=put_region(note.lead, text))
        if found is None or note.render() != found.data:
            path, revision = unit.path(key), unit.put(key, note, None)
            yield MadePage(path, revision, read_topic(*split_path(path), note))

    def _read_units(self, spans: Iterable[MentionSpan]) -> list[TreeUnit]:
        with self._tree.reading() as index:
            found = index.candidates([span.no for span in spans])
        units = [read_unit(item.entry, kind="", folder=item.folder, name=item.name) for item in found]
        return sorted(units, key=lambda unit: (unit.occurred, unit.id))

    def _remove(self, rows: Sequence[TopicRow]) -> None:
        """Remove the pages of topics that nothing mentions any more; what a person wrote there stays as a page."""
        for row in rows:
            with self._tree.memories.unit(TOPIC_FOLDER, KEEPER) as unit:
                found = unit.find(row.name)
                if found is not None and has_added_text(found.note):
                    front = found.note.front.put("summary", row.title)
                    for name in _COUNTED:
                        front = front.put(name, None)
                    unit.put(row.name, found.note.replace(front=front, lead=put_region(found.note.lead, "")), None)
                elif found is not None:
                    unit.remove(found)
                unit.commit()
                self.written += found is not None


def has_burst(spans: Sequence[MentionSpan]) -> bool:
    """Return whether within some 90 days there were ten units in three threads on three days."""
    times = [_read_day(span.moment) for span in spans]
    start = 0
    threads, days = Counter[tuple[str, str]](), Counter[str]()
    for at, span in enumerate(spans):  # latest first
        threads[_thread_of(span)] += 1
        days[span.moment[:10]] += 1
        while times[start] - times[at] > timedelta(days=_SPAN):
            threads -= Counter([_thread_of(spans[start])])
            days -= Counter([spans[start].moment[:10]])
            start += 1
        if at - start + 1 >= _UNITS and len(threads) >= _THREADS and len(days) >= _DAYS:
            return True
    return False


def _read_day(moment: str) -> datetime:
    try:
        return datetime.fromisoformat(moment[:10])
    except ValueError:
        return datetime.min  # noqa: DTZ901 - only compared with its like


def _thread_of(span: MentionSpan) -> tuple[str, str]:
    return span.folder, _PART.sub("", span.name)


def measure_hotness(spans: Sequence[MentionSpan], units: Sequence[TreeUnit]) -> float:
    """Return how much was said of a topic in the 90 days up to its last unit: units, threads, days, sources and
    questions."""
    last = _read_day(spans[0].moment)
    recent = [span for span in spans if last - _read_day(span.moment) <= timedelta(days=_SPAN)]
    numbers = (
        len(recent),
        len({_thread_of(span) for span in recent}),
        len({span.moment[:10] for span in recent}),
        len({span.folder.split("/")[2] for span in recent}),
        sum("?" in unit.text or "？" in unit.text for unit in units),
    )
    return sum(math.log1p(number) for number in numbers)


def _choose(topics: Sequence[Topic], known: Mapping[str, TopicRow]) -> list[Topic]:
    """Return the topics that get a page: no two of the same units, and of those awake the hottest."""
    numbers = {topic.entity: {span.no for span in topic.spans} for topic in topics}
    order = sorted(topics, key=lambda topic: (TOPIC_KINDS.index(topic.entity.partition(":")[0]), -len(topic.entity)))
    kept: list[Topic] = []
    for topic in order:
        mine = numbers[topic.entity]
        is_same = topic.entity not in known and any(
            len(mine & numbers[other.entity]) >= _SAME * len(mine) and _is_of_same(topic.entity, other.entity)
            for other in kept
        )
        if not is_same:
            kept.append(topic)
    awake = {row.entity: row.hotness for row in known.values() if row.state == AWAKE}
    awake |= {topic.entity: measure_hotness(topic.spans, ()) for topic in kept if topic.state == AWAKE}
    hottest = sorted(awake, key=lambda entity: (-awake[entity], entity))[:MOST_AWAKE]
    return [topic if topic.entity in hottest else topic._replace(state=DORMANT) for topic in kept]


def _is_of_same(first: str, second: str) -> bool:
    """Return whether two ids may name one thing: neither is a person, or the words of one are among the other's."""
    if not first.startswith("person:") and not second.startswith("person:"):
        return True
    words, others = ({*_WORD.findall(fold_text(name.partition(":")[2]))} for name in (first, second))
    return words <= others or others <= words


def _find_title(index: Transaction, names: Collection[str]) -> str:
    """Return how a thing is written most fully."""
    surfaces = index.surfaces(names)
    longest = min(filter(None, surfaces.values()), key=lambda surface: (-len(surface), surface), default="")
    return cut(one_line(longest or next(iter(names)).partition(":")[2]), 80)


def _count(topic: Topic) -> str:
    threads = len({_thread_of(span) for span in topic.spans})
    number = len(topic.spans)
    many = f"{number} messages" if number != 1 else "1 message"
    return f"{many} in {threads} {'threads' if threads != 1 else 'thread'}, {describe_span(topic.first, topic.last)}"


def _render(topic: Topic, units: Sequence[TreeUnit]) -> str:
    """Return what we write on the page of a topic."""
    authors = Counter(one_line(unit.author.name or unit.author.address) for unit in units)
    people = ", ".join(name for name, _ in authors.most_common(_MOST_PEOPLE) if name)
    passages = [
        Passage(
            unit.id, unit.thread or f"{unit.folder}/{unit.name}", unit.title, unit.author.name or unit.author.address,
            unit.occurred, unit.text, is_admitted(unit.signals),
        )
        for unit in units
    ]  # fmt: skip
    known = {unit.id: unit for unit in units}
    chosen = extract(passages, _MOST_TOKENS, _SHARE)
    lines = [f"{_count(topic)}.", *([f"Who writes: {people}."] if people else []), ""]
    lines += write_threads(group_lines((known[one.passage.unit], one.text) for one in chosen))
    return "\n".join(lines)


def topic_text(note: Note) -> str:
    """Return what we wrote on the page of a topic."""
    return (get_region(note.lead) or "").strip()
