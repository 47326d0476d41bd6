"""Find the thread of each message, and so the file that it belongs to.

`ingest` tells a `ThreadFinder` of all messages of a source, in any order, and then asks where each of them goes. Mails
are joined by References and In-Reply-To. A reply that these join to nothing before it is joined by its subject, within
30 days and among the same people: a wrong join is worse than a split. A chat or a document is in the thread that its
reader names.

The answer depends on the messages and on what earlier ingests stored, never on the order. So an ingest that was cut off
and is run again puts everything into the same files. No text is kept: a million messages take 140 MB.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Protocol

from commonplace.model.names import short_hash
from commonplace.text.naming import make_key_of_name
from commonplace.tree.source import Person, SourceUnit
from commonplace.tree.subjects import Subject, read_subject
from commonplace.tree.units import TreeUnit

UNDATED = "undated"
_PREFIX = "t-"
_NAME_HASH = 10  # characters: two threads of one month and subject must not share a file
_MAX_SECONDS = 30 * 86_400  # between a reply and what it answers, where only the subject says so
_MOST_EARLIER = 40  # messages of one subject that a reply is compared with
_MOST_PEOPLE = 50  # of a message: who writes to more is no correspondent of theirs
_PART_SIZE = 100_000  # records that are sorted at a time
_NO_TIME, _NOT_SEEN = (1 << 62) - 1, 1 << 62  # sort behind every time: a message without one, one that is only named
_SEEN, _JOINED = 1, 2  # states of a message: it was added, and its subject was compared
_REPLY, _BULK = 1, 2  # flags of a mail
_EPOCH, _SECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1)
_OWN_HASH = 20  # characters that stand for a message without a native id
_MOST_RECENT = 20_000  # texts that a pool compares a new one with


class ThreadPlace(NamedTuple):
    """A thread, and its file."""

    id: str
    month: str  # the folder: "2026-11", or "undated"
    name: str  # of the file, without .md and without the number of its part


class SubjectThread(NamedTuple):
    """A stored mail that may be what a reply with its subject answers."""

    place: ThreadPlace
    people: frozenset[str]  # as `people_of` says
    occurred: str
    author: str = ""  # the one of them who wrote it, where that is known


class ThreadLookup(Protocol):
    """What earlier ingests of a source stored."""

    def of_message(self, native_id: str) -> ThreadPlace | None:
        """Return the thread that has this message, or one that answers it."""

    def of_thread(self, thread: str) -> ThreadPlace | None:
        """Return the thread with this id."""

    def of_subject(self, key: str) -> Iterable[SubjectThread]:
        """Return the mails whose subject has this key, the last ones."""


def people_of(unit: TreeUnit | SourceUnit) -> frozenset[str]:
    """Return the addresses of who wrote a message and of who got it, in lower case; the names of those without one.

    Of a message that a mailing list sent, it is the author alone: the list's address is no person.
    """
    people = [unit.author] if "bulk" in unit.signals else [unit.author, *unit.recipients[:_MOST_PEOPLE]]
    return frozenset(filter(None, map(identify_person, people)))


def identify_person(person: Person) -> str:
    """Return what tells a person from others: the address in lower case, else the name."""
    return person.address.lower() or person.name.casefold()


def identify(unit: SourceUnit) -> str:
    """Return the native id of a unit; for one without, an id that follows from its author, minute and words.

    The id is written into files and answers, so it shows nothing of the text, which may have a secret. The minute is
    that of the sender's clock: a message is the same when the time zone of its source is corrected.
    """
    if unit.native_id:
        return unit.native_id
    who = unit.author.address or unit.author.name
    said = "\n".join((who, _read_minute(unit), " ".join(unit.text.split())))
    return f"{unit.kind}:{short_hash(said, _OWN_HASH)}"


class ThreadFinder:
    """Which messages are of one thread, and where each thread is.

    A node is a message, or one that is only named by another, or the thread of a chat or document. Nodes are numbers,
    and what is known of them is in arrays; a thread is a tree of nodes (union-find). A place is a number, too: of one
    that was stored before, or of the node that a new file is named for.
    """

    def __init__(self, index: ThreadLookup) -> None:
        self._index = index
        self._ids = _IdTable()
        self._texts = _TextPool()
        self._above = array("I")  # another node of the same thread; of the top of a thread, itself
        self._first = array("I")  # of a top: the node of the earliest message
        self._common = array("I")  # of a top: the place of the thread
        self._place = array("I")  # the place that this message has, or was given
        self._time = array("q")
        self._name = array("I")  # of the file, should it be named for this message
        self._state = bytearray()
        self._records = _SubjectRecords()
        self._stored: dict[int, tuple[int, int]] = {}  # by reply: when and where the stored mail is that it may answer

    def add(self, unit: SourceUnit) -> None:
        """Take a message into account. Adding it again changes nothing."""
        if unit.kind != "email":
            self._add_to_thread(unit)
            return
        node = self._find_message(identify(unit))
        parents = [self._find_message(parent) for parent in dict.fromkeys(unit.parents) if parent]
        for parent in parents:
            self._join(node, parent)
        if self._state[node] == _JOINED:
            return
        time, subject = _read_seconds(unit.occurred), read_subject(unit.title)
        self._date(node, time, make_key_of_name(subject.key) if subject.key else "no-subject")
        self._state[node] = _SEEN
        roles = self._records.add(node, subject, time, unit)
        if roles is not None and not any(self._place[known] for known in (node, *parents)):
            self._look_up_subject(node, subject.key, time, roles)

    def join_subjects(self) -> None:
        """Join the replies that answer something by their subject alone: call it when a whole source was added."""
        records, links = self._records, array("I")
        firsts = array("I", (self._first[self._find_top(node)] for node in records.nodes))
        for reply, earlier in records.find_answered(firsts, self._ids.hashes):
            node = records.nodes[reply]
            stored = self._stored.get(node)
            if stored is None or stored[0] <= records.times[earlier]:
                self._stored.pop(node, None)
                links.extend((node, records.nodes[earlier]))
        for at in range(0, len(links), 2):
            self._join(links[at], links[at + 1])
        for node, (_, place) in self._stored.items():
            top = self._find_top(node)
            if self._first[top] == node:  # otherwise it answers something that is known better
                self._common[top] = self._choose_place(self._common[top], place)
        for node in records.nodes:
            self._state[node] = _JOINED
        self._records, self._stored = _SubjectRecords(), {}

    def find(self, unit: SourceUnit) -> ThreadPlace:
        """Return where a message goes, which is always the same place."""
        is_mail = unit.kind == "email"
        node = self._find_message(identify(unit)) if is_mail else self._find_thread(unit)
        if self._time[node] == _NOT_SEEN:
            self.add(unit)
        if self._records.nodes:
            self.join_subjects()
        top = self._find_top(node)
        place = self._place[node] or self._common[top] or _number_node(self._first[top])
        self._place[node] = place
        self._common[top] = self._common[top] or place
        return self._read_place(place)

    def _add_to_thread(self, unit: SourceUnit) -> None:
        """Take a message of a chat, or a section, into account: the first of a thread names its file."""
        node = self._find_thread(unit)
        if self._place[node]:
            return
        folder, _, ending = unit.thread.rpartition("/")
        title = unit.title
        if unit.kind == "document":
            title = ending.rpartition(".")[0] or ending
        elif folder:
            title = f"{title} {ending}"  # a day of a channel
        self._date(node, _read_seconds(unit.occurred), make_key_of_name(title) if title.strip() else unit.kind)

    def _look_up_subject(self, node: int, key: str, time: int, roles: _Roles) -> None:
        """Note the last stored mail that a reply may answer."""
        found: dict[int, ThreadPlace] = {}
        for known in self._index.of_subject(key):
            when = _read_seconds(known.occurred)
            others = _Roles(_hash_person(known.author), tuple(map(_hash_person, known.people)), ())
            if 0 < time - when <= _MAX_SECONDS and roles.may_answer(others):
                found[when] = min(found.get(when, known.place), known.place)
        if found:
            last = max(found)
            self._stored[node] = last, self._number_place(found[last])

    def _find_message(self, native_id: str) -> int:
        """Return the node of a message; a new one is looked up in the index."""
        node, is_new = self._put_node(native_id)
        if is_new:
            self._place_node(node, self._index.of_message(native_id))
        return node

    def _find_thread(self, unit: SourceUnit) -> int:
        """Return the node of the thread of a chat or document; a new one is looked up in the index."""
        node, is_new = self._put_node(unit.thread or identify(unit))
        if is_new:
            self._place_node(node, self._index.of_thread(_name_thread(self._ids.hashes[node])))
        return node

    def _put_node(self, ident: str) -> tuple[int, bool]:
        """Return the node of an id, and whether it is new."""
        known = len(self._state)
        node = self._ids.number(_hash_text(ident))
        if node < known:
            return node, False
        self._above.append(node)
        self._first.append(node)
        self._time.append(_NOT_SEEN)
        for values in (self._common, self._place, self._name):
            values.append(0)
        self._state.append(0)
        return node, True

    def _place_node(self, node: int, place: ThreadPlace | None) -> None:
        """Note where a new node was stored before, if it was."""
        if place is not None:
            self._place[node] = self._common[node] = self._number_place(place)

    def _date(self, node: int, time: int, name: str) -> None:
        """Note when a message was, and what its file would be named. Of two copies the earlier one counts."""
        known = self._time[node]
        if time > known or (time == known and name >= self._texts.read(self._name[node])):
            return
        self._time[node], self._name[node] = time, self._texts.put(name)
        top = self._find_top(node)
        self._first[top] = self._earlier(self._first[top], node)

    def _find_top(self, node: int) -> int:
        above = self._above
        while above[node] != node:
            above[node] = above[above[node]]  # halves the way for the next time
            node = above[node]
        return node

    def _join(self, one: int, other: int) -> None:
        """Make one thread of those that two nodes are in."""
        top, below = sorted((self._find_top(one), self._find_top(other)))
        if top != below:
            self._above[below] = top
            self._first[top] = self._earlier(self._first[top], self._first[below])
            self._common[top] = self._choose_place(self._common[top], self._common[below])

    def _earlier(self, one: int, other: int) -> int:
        hashes, time = self._ids.hashes, self._time
        return min(one, other, key=lambda node: (time[node], hashes[node]))

    def _choose_place(self, one: int, other: int) -> int:
        """Return the place of a thread of which two parts were stored apart: the same, whatever is asked first."""
        if not one or not other or one == other:
            return one or other
        return min(one, other, key=lambda place: self._read_place(place)[::-1])

    def _number_place(self, place: ThreadPlace) -> int:
        return 2 * self._texts.put("\t".join(place)) + 1

    def _read_place(self, place: int) -> ThreadPlace:
        if place % 2:
            return ThreadPlace._make(self._texts.read(place // 2).split("\t"))
        node = place // 2 - 1
        ident = _name_thread(self._ids.hashes[node])
        ending = ident.removeprefix(_PREFIX)[:_NAME_HASH]
        return ThreadPlace(ident, _read_month(self._time[node]), f"{self._texts.read(self._name[node])}-{ending}")


class _Roles(NamedTuple):
    """Who wrote a message, who took part in it, and who got it, as hashes. No author: 0."""

    author: int
    people: Sequence[int]
    recipients: Sequence[int]

    def may_answer(self, earlier: _Roles) -> bool:
        """Return whether the author of a reply took part in an earlier message, or writes to its author.

        Other common recipients prove nothing: they may be a mailing list. Some lists write their own address as author.
        """
        is_list = not self.author or self.author in self.recipients
        if earlier.author != self.author and earlier.author in self.recipients:
            return True
        return not is_list and self.author in earlier.people


class _SubjectRecords:
    """What is compared of mails to join them by their subjects."""

    def __init__(self) -> None:
        self.nodes = array("I")
        self.times = array("q")
        self._subjects = array("Q")
        self._flags = bytearray()
        self._ends = array("I", (0,))  # of the people of each
        self._people = array("I")  # the author, then the recipients

    def add(self, node: int, subject: Subject, time: int, unit: SourceUnit) -> _Roles | None:
        """Add a mail; return the roles in it if it may answer another by its subject."""
        self.nodes.append(node)
        self.times.append(time)
        self._subjects.append(_hash_text(subject.key) if subject.key else 0)
        is_reply = (subject.is_reply or bool(unit.parents)) and not subject.is_forward
        self._flags.append(_REPLY * is_reply | _BULK * ("bulk" in unit.signals))
        people = (unit.author, *unit.recipients[:_MOST_PEOPLE])
        self._people.extend(_hash_person(identify_person(person)) for person in people)
        self._ends.append(len(self._people))
        return self._read_roles(len(self.nodes) - 1) if is_reply and subject.key and time < _NO_TIME else None

    def find_answered(self, firsts: Sequence[int], hashes: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield each reply that nothing precedes in its thread, with the last earlier mail that it may answer.

        `firsts` are the first nodes of the threads of all mails, `hashes` the hashes of all nodes. All are sorted by
        subject and time, but not all at a time: sorting takes far more memory than they do.
        """
        parts = 1 + len(self.nodes) // _PART_SIZE
        for part in range(parts):
            chosen = [
                at
                for at, subject in enumerate(self._subjects)
                if subject and subject % parts == part and self.times[at] < _NO_TIME
            ]
            chosen.sort(key=lambda at: (self._subjects[at], self.times[at], hashes[self.nodes[at]]))
            for place, reply in enumerate(chosen):
                if self._flags[reply] & _REPLY and firsts[reply] == self.nodes[reply]:
                    earlier = self._find_earlier(reply, chosen[max(0, place - _MOST_EARLIER) : place], firsts)
                    if earlier is not None:
                        yield reply, earlier

    def _find_earlier(self, reply: int, candidates: Sequence[int], firsts: Sequence[int]) -> int | None:
        roles = self._read_roles(reply)
        for at in reversed(candidates):
            if self._subjects[at] != self._subjects[reply] or self.times[reply] - self.times[at] > _MAX_SECONDS:
                return None
            # One of the same second is not earlier: the index, which knows only the time, must say the same.
            is_earlier = self.times[at] < self.times[reply] and firsts[at] != firsts[reply]
            if is_earlier and roles.may_answer(self._read_roles(at)):
                return at
        return None

    def _read_roles(self, at: int) -> _Roles:
        people = self._people[self._ends[at] : self._ends[at + 1]]
        return _Roles(people[0], people[:1] if self._flags[at] & _BULK else people, people[1:])


class _IdTable:
    """Numbers for the hashes of ids: a dict of a million would take 120 MB, this takes 16."""

    def __init__(self) -> None:
        self.hashes = array("Q")  # by number
        self._slots = array("I", bytes(4 << 10))  # a number and 1, at the first free place from its hash on

    def number(self, key: int) -> int:
        """Return the number of a hash; a new one gets the next."""
        slots, hashes = self._slots, self.hashes
        last = len(slots) - 1
        at = key & last
        while taken := slots[at]:
            if hashes[taken - 1] == key:
                return taken - 1
            at = (at + 1) & last
        hashes.append(key)
        slots[at] = len(hashes)
        if 3 * len(hashes) > 2 * len(slots):
            self._grow()
        return len(hashes) - 1

    def _grow(self) -> None:
        slots = array("I", bytes(8 * len(self._slots)))
        last = len(slots) - 1
        for number, key in enumerate(self.hashes, 1):
            at = key & last
            while slots[at]:
                at = (at + 1) & last
            slots[at] = number
        self._slots = slots


class _TextPool:
    """Short texts without line breaks, one after the other."""

    def __init__(self) -> None:
        self._data = bytearray(b"\n")  # at 0: no text
        self._recent: dict[str, int] = {}

    def put(self, text: str) -> int:
        """Return the number of a text; one that was put lately has it already."""
        number = self._recent.get(text)
        if number is None:
            if len(self._recent) >= _MOST_RECENT:
                self._recent.clear()
            number = self._recent[text] = len(self._data)
            self._data += text.encode("utf-8", "surrogatepass") + b"\n"
        return number

    def read(self, number: int) -> str:
        """Return a text."""
        return self._data[number : self._data.index(b"\n", number)].decode("utf-8", "surrogatepass")


def _number_node(node: int) -> int:
    return 2 * node + 2


def _name_thread(key: int) -> str:
    return f"{_PREFIX}{key:016x}"


def _hash_text(text: str) -> int:
    return int(short_hash(text, 16), 16)


@lru_cache(4_096)
def _hash_person(name: str) -> int:
    """Return 4 bytes of a hash, which are enough to compare the people of two messages; 0 for nobody."""
    return int(short_hash(name, 8), 16) if name else 0


def _read_seconds(occurred: str) -> int:
    try:
        moment = datetime.fromisoformat(occurred)
    except ValueError:
        return _NO_TIME
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _SECOND


def _read_minute(unit: SourceUnit) -> str:
    """Return the minute of a message as the clock of its sender showed it; "" if it has no time."""
    time = _read_seconds(unit.occurred)
    local = time + 60 * (unit.offset or 0)
    return str(local // 60) if time < _NO_TIME else ""


def _read_month(time: int) -> str:
    return (_EPOCH + time * _SECOND).isoformat()[:7] if time < _NO_TIME else UNDATED
