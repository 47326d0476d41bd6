"""Threads: what is joined, what is not, and that a message always goes to the same place."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.names import is_key_name
from commonplace.tree.source import Person, SourceKind, SourceUnit
from commonplace.tree.subjects import read_subject
from commonplace.tree.threads import SubjectThread, ThreadFinder, ThreadPlace, identify, people_of
from commonplace.tree.units import TreeUnit

ANN, BOB, EVE = (Person(name.title(), f"{name}@example.org") for name in ("ann", "bob", "eve"))
LIST = Person("", "team@lists.example.org")


class StoredThreads:
    """A ThreadLookup of what a test stored, which knows of each message what the index keeps of it."""

    def __init__(self) -> None:
        self.units: dict[str, tuple[SourceUnit, ThreadPlace]] = {}

    def store(self, finder: ThreadFinder, units: Iterable[SourceUnit]) -> None:
        """Store messages where a finder says, as `ingest` does; those that are stored stay where they are."""
        for unit in units:
            self.units.setdefault(identify(unit), (unit, finder.find(unit)))

    def of_message(self, native_id: str) -> ThreadPlace | None:
        """Return the thread that has this message, or one that answers it."""
        answers = (place for unit, place in self.units.values() if native_id in (*unit.parents[:1], *unit.parents[-1:]))
        return self.units[native_id][1] if native_id in self.units else next(answers, None)

    def of_thread(self, thread: str) -> ThreadPlace | None:
        """Return the thread with this id."""
        return next((place for _, place in self.units.values() if place.id == thread), None)

    def of_subject(self, key: str) -> Iterable[SubjectThread]:
        """Return the mails whose subject has this key."""
        for unit, place in self.units.values():
            if read_subject(unit.title).key == key:
                yield SubjectThread(place, people_of(unit), unit.occurred, unit.author.address)


def mail(
    number: int,
    *parents: int,
    title: str = "",
    author: Person = ANN,
    to: Sequence[Person] = (BOB,),
    day: int | None = None,
    month: int = 3,
) -> SourceUnit:
    """Return a mail that answers others; without a title it has one of its own."""
    return SourceUnit(
        "email", f"text {number}", f"message {number}", f"mail:<{number}@x>", title or f"about {number}", author,
        tuple(to),
        f"2026-{month:02}-{day if day is not None else number % 28 + 1:02}T10:00:00Z",
        parents=tuple(f"mail:<{parent}@x>" for parent in parents),
    )  # fmt: skip


def find_all(units: Sequence[SourceUnit], index: StoredThreads | None = None) -> dict[str, ThreadPlace]:
    """Return where each message goes, after a survey of all of them."""
    finder = survey(units, index)
    return {unit.place: finder.find(unit) for unit in units}


def survey(units: Iterable[SourceUnit], index: StoredThreads | None = None) -> ThreadFinder:
    """Return a finder that was told of some messages."""
    finder = ThreadFinder(index or StoredThreads())
    for unit in units:
        finder.add(unit)
    finder.join_subjects()
    return finder


def are_one(*units: SourceUnit, index: StoredThreads | None = None) -> bool:
    """Return whether some mails are one thread, in whatever order they come."""
    answers = {len(set(find_all(order, index).values())) == 1 for order in permutations(units)}
    assert len(answers) == 1, "the order decides"
    return answers.pop()


def partition(places: dict[str, ThreadPlace]) -> set[frozenset[str]]:
    """Return the threads as the sets of their messages."""
    return {frozenset(one for one, known in places.items() if known == place) for place in places.values()}


@st.composite
def mailboxes(draw: st.DrawFn) -> list[SourceUnit]:
    """Return mails that answer each other in every way that is possible, also in circles, and some of them twice."""
    numbers = st.integers(0, 12)
    people = st.sampled_from([ANN, BOB, EVE, LIST, Person("Zed"), Person()])
    titles = st.sampled_from(["Lunch", "Re: Lunch", "AW: lunch", "Fwd: Lunch", "", "Re: Dinner", "Dinner"])
    found = []
    for place in range(draw(st.integers(1, 14))):
        unit = mail(
            draw(numbers), *draw(st.lists(numbers, max_size=3)), author=draw(people),
            to=draw(st.lists(people, max_size=3)), day=draw(st.integers(1, 28)), month=draw(st.integers(1, 3)),
        )  # fmt: skip
        unit = unit._replace(
            place=f"{place}", title=draw(titles), signals=draw(st.sampled_from([frozenset(), frozenset({"bulk"})]))
        )
        found.append(unit._replace(occurred=draw(st.sampled_from([unit.occurred, unit.occurred, ""]))))
    return found


@given(mailboxes(), st.randoms(use_true_random=False))
def test_the_order_of_a_source_decides_nothing(units: list[SourceUnit], chance: random.Random) -> None:
    """Messages in any order, with circles, duplicates, missing parents and equal subjects, get the same places."""
    assert find_all(chance.sample(units, len(units))) == find_all(units)


@given(mailboxes(), st.integers(0, 14), st.randoms(use_true_random=False))
def test_an_ingest_that_was_cut_off_goes_on_where_it_was(
    units: list[SourceUnit], cut: int, chance: random.Random
) -> None:
    """After any part of a source was stored, a second run gives every message the place that one run gives it."""
    by_id = {unit.native_id: unit for unit in reversed(units)}
    units = list(by_id.values())
    whole = find_all(units)
    index = StoredThreads()
    index.store(survey(units, index), chance.sample(units, len(units))[:cut])
    assert find_all(chance.sample(units, len(units)), index) == whole


@given(st.data())
def test_increments_give_the_threads_of_one_go(data: st.DataObject) -> None:
    """Mails that come day by day, each naming its parent, join the threads that earlier ingests stored."""
    parents = data.draw(st.lists(st.integers(-3, 15), min_size=1, max_size=16))
    units = [
        mail(
            100 + number, *([100 + parent] if 0 <= parent < number else [parent] if parent < 0 else []), day=number + 1
        )
        for number, parent in enumerate(parents)
    ]
    index, start = StoredThreads(), 0
    for size in [*data.draw(st.lists(st.integers(1, 6), max_size=8)), len(units)]:
        index.store(survey(units[start : start + size], index), units[start : start + size])
        start += size
    stored = {unit.place: place for unit, place in index.units.values()}
    assert partition(stored) == partition(find_all(units))


@given(mailboxes(), st.integers(1, 5))
def test_without_a_survey_a_message_still_keeps_its_place(units: list[SourceUnit], size: int) -> None:
    """Batch by batch, what `find` said of a message it says again when everything is known."""
    index = StoredThreads()
    finder = ThreadFinder(index)
    told: dict[str, ThreadPlace] = {}
    for start in range(0, len(units), size):
        batch = units[start : start + size]
        for unit in batch:
            finder.add(unit)
        for unit in batch:
            told.setdefault(unit.native_id, finder.find(unit))
        index.store(finder, batch)
    assert {unit.native_id: finder.find(unit) for unit in units} == told
    again = ThreadFinder(index)
    assert {unit.native_id: again.find(unit) for unit in units} == told


def test_a_reply_and_what_it_answers_are_one_thread_and_a_new_mail_is_not() -> None:
    """References and In-Reply-To join, also through a message that is missing; nothing else joins these."""
    assert are_one(mail(1), mail(2, 1))
    assert are_one(mail(2, 1), mail(3, 1))
    assert are_one(mail(1), mail(4, 1, 2, 3))
    assert not are_one(mail(1), mail(2))


def test_a_thread_is_named_for_its_first_message() -> None:
    """The place has the month and the subject of the earliest mail, and an id that its native id gives."""
    first = mail(1, title="Re: [team] Über den Umzug: Pläne", month=2)
    place, other = find_all([mail(2, 1, month=3), first]).values()
    assert place == other
    assert place.month == "2026-02"
    assert place.name.startswith("uber-den-umzug-plane-")
    assert place.id == find_all([first])["message 1"].id
    together = [mail(3, day=5), mail(4, day=5), mail(5, 3, 4, day=20)]
    assert len({place for order in permutations(together) for place in find_all(order).values()}) == 1
    apart = [mail(3, day=9), mail(4, day=5), mail(5, 3, 4, day=20)]
    assert {place.id for place in find_all(apart).values()} == {find_all(apart[1:2])["message 4"].id}


@pytest.mark.parametrize(
    "title", ["", "CON", "Re:", "index", "会议", "🎉", "../../etc/passwd", "a" * 5_000, "\ud800", "x\ny\tz"]
)
def test_every_subject_gives_a_safe_name(title: str) -> None:
    """A file can have the name on every system, is no reserved one, and does not end as the part of another."""
    place = find_all([mail(1)._replace(title=title, occurred="")])["message 1"]
    assert is_key_name(place.name)
    assert place.name.isascii()
    assert len(place.name) <= 80
    assert place.month == "undated"


def test_two_mails_of_one_subject_have_two_files() -> None:
    """New mails with the same subject, people and day stay apart, in files of their own."""
    places = find_all([mail(number, title="Weekly report", day=2) for number in range(20)])
    assert len({(place.month, place.name) for place in places.values()}) == 20


def test_a_reply_without_references_is_joined_by_its_subject() -> None:
    """`Re:` and common people within 30 days join; so does a mail whose parent is missing, without `Re:`."""
    question = mail(1, title="Lunch", day=1)
    assert are_one(question, mail(2, title="Re: lunch", author=BOB, to=[ANN], day=20))
    assert are_one(question, mail(2, 99, title="AW: [team] Lunch", author=BOB, to=[ANN], day=20))
    assert are_one(question, mail(2, 99, title="Lunch", author=BOB, to=[ANN], day=20))
    assert are_one(question, mail(2, title="Re: Lunch", author=EVE, to=[ANN], day=20)), "a colleague answers Ann"


@pytest.mark.parametrize(
    "reply",
    [
        mail(2, title="Lunch", author=BOB, to=[ANN], day=3),
        mail(2, 99, title="Fwd: Lunch", author=BOB, to=[ANN], day=3),
        mail(2, title="Re: Dinner", author=BOB, to=[ANN], day=3),
        mail(2, title="Re: Lunch", author=BOB, to=[ANN], day=3, month=5),
        mail(2, title="Re: Lunch", author=BOB, to=[ANN], day=1, month=2),
        mail(2, title="Re: Lunch", author=EVE, to=[Person("", "zed@example.org")], day=3),
        mail(2, title="Re: Lunch", author=EVE, to=[LIST], day=3),
        mail(2, title="Re: Lunch", author=LIST, to=[LIST], day=3),
        mail(2, title="Re: Lunch", author=Person(), to=[], day=3),
        mail(2, title="Re: Lunch", author=BOB, to=[ANN])._replace(occurred=""),
        mail(2, title="Re: Lunch", author=BOB, to=[ANN], day=1),
    ],
    ids=[
        "new",
        "forward",
        "other",
        "late",
        "earlier",
        "strangers",
        "list",
        "list-as-author",
        "nobody",
        "undated",
        "same-second",
    ],
)
def test_a_wrong_join_is_worse_than_a_split(reply: SourceUnit) -> None:
    """Neither a new mail, a forward, another subject, a long time, nor a common mailing list joins."""
    question = mail(1, title="Lunch", to=[BOB, LIST], day=1)
    assert not are_one(question, reply)
    index = StoredThreads()
    index.store(survey([question], index), [question])
    assert not are_one(question, reply, index=index)


def test_a_reply_joins_the_last_of_several_threads_with_its_subject() -> None:
    """Of weekly reports, a reply without references is about the one before it."""
    weeks = [mail(week, title="Report", day=7 * week + 1) for week in range(4)]
    places = find_all([*weeks, mail(9, title="Re: Report", author=BOB, to=[ANN], day=16)])
    assert places["message 9"] == places["message 2"]
    assert len(set(places.values())) == 4


def test_a_reply_that_names_its_parent_is_not_joined_by_its_subject() -> None:
    """It stays in the thread of its parent, though another with the same subject is nearer in time."""
    units = [
        mail(1, title="Lunch", day=1),
        mail(2, title="Lunch", day=3),
        mail(3, 1, title="Re: Lunch", author=BOB, to=[ANN], day=5),
    ]
    places = find_all(units)
    assert places["message 1"] == places["message 3"] != places["message 2"]


def test_what_comes_later_goes_where_its_thread_went() -> None:
    """Without a survey, the file of a thread stays the one of its first batch, though an earlier message turns up."""
    finder = ThreadFinder(StoredThreads())
    place = finder.find(mail(2, 1, day=5))
    assert finder.find(mail(1, day=2)) == place


def test_a_late_reply_joins_the_file_of_its_thread() -> None:
    """A mail of a later ingest goes where its parent is, or another answer to that, or the subject that it answers."""
    index = StoredThreads()
    old = [mail(1, title="Lunch", month=1), mail(2, 50, month=1)]
    index.store(survey(old, index), old)
    new = [
        mail(3, 1), mail(4, 3), mail(5, 50), mail(50),
        mail(6, title="Re: Lunch", author=BOB, to=[ANN], day=10, month=1), mail(7, 6), mail(8),
    ]  # fmt: skip
    for order in (new, new[::-1]):
        places = find_all(order, index)
        first, second = index.units["mail:<1@x>"][1], index.units["mail:<2@x>"][1]
        assert [places[f"message {number}"] for number in (3, 4, 6, 7)] == [first] * 4
        assert [places[f"message {number}"] for number in (5, 50)] == [second] * 2
        assert places["message 8"] not in (first, second)


def test_a_mail_that_joins_two_stored_threads_moves_neither() -> None:
    """Stored mails keep their files; what is new goes to one of these, whatever comes first."""
    index = StoredThreads()
    old = [mail(1), mail(2)]
    index.store(survey(old, index), old)
    one, two = (index.units[f"mail:<{number}@x>"][1] for number in (1, 2))
    assert one != two
    new = [mail(3, 1, 2), mail(4, 3)]
    for order in permutations([*old, *new]):
        places = find_all(order, index)
        assert (places["message 1"], places["message 2"]) == (one, two)
        assert places["message 3"] == places["message 4"] == min(one, two, key=lambda place: (place.name, place.month))


def test_ten_thousand_references_and_circles_are_no_matter() -> None:
    """A mail with 10,000 references, one that answers itself, and two that answer each other, join what they name."""
    crowd = mail(1, *range(10_000, 20_000))
    assert are_one(crowd, mail(19_999), mail(10_000))
    assert are_one(mail(1, 1), mail(2, 3, 1), mail(3, 2))


def test_a_mail_without_an_id_is_the_same_with_the_id_that_it_gets() -> None:
    """`ingest` gives a message without an id one of its own; the survey knows it as that."""
    bare = mail(1, 7)._replace(native_id="")
    finder = survey([bare, mail(2, 7)])
    assert finder.find(bare._replace(native_id=identify(bare))) == finder.find(mail(2, 7))


def test_the_id_of_a_mail_without_one_shows_nothing_of_it() -> None:
    """The id is a hash of author, minute and words, so that no secret of the text is in it: another author, minute or
    word gives another id, other spaces give the same."""
    bare = mail(1)._replace(native_id="", text="my key is AKIAIOSFODNN7EXAMPLE")
    assert re.fullmatch("email:[0-9a-f]{20}", identify(bare))
    others = [
        bare._replace(author=BOB),
        bare._replace(occurred=bare.occurred.replace(":00Z", ":59Z").replace("10:00", "10:01")),
        bare._replace(text="my key is"),
        bare._replace(occurred=""),
    ]
    assert len({identify(unit) for unit in [bare, *others]}) == 5
    assert identify(bare._replace(text="my  key\nis AKIAIOSFODNN7EXAMPLE")) == identify(bare)


def test_a_corrected_time_zone_leaves_the_id() -> None:
    """A chat whose times were read as UTC, and then as those of Berlin or Tokyo, has the same messages."""
    zones = [("2026-03-02T00:07:00Z", 0), ("2026-03-01T23:07:00Z", 60), ("2026-03-01T15:07:00Z", 540)]
    units = [SourceUnit("chat", "ok", "1", author=BOB, occurred=moment, offset=offset) for moment, offset in zones]
    assert len(set(map(identify, units))) == 1
    assert identify(units[0]._replace(offset=None)) == identify(units[0])
    assert identify(units[0]._replace(offset=60)) != identify(units[0])


@pytest.mark.parametrize(("kind", "start"), [("chat", "general-2026-03-01-"), ("document", "2026-03-01-")])
def test_chats_and_documents_are_in_the_thread_that_the_reader_names(kind: SourceKind, start: str) -> None:
    """All of a thread go to the file of its first message, in a later ingest too; other threads have other files."""
    units = [
        SourceUnit(
            kind,
            "x",
            f"{day}",
            f"{thread}#{day}",
            "General",
            ANN,
            occurred=f"2026-{day:02}-01T10:00:00Z",
            thread=thread,
        )
        for thread, day in [("general/2026-03-01.md", 4), ("general/2026-03-01.md", 3), ("general/2026-03-02.md", 5)]
    ]
    places = find_all(units)
    assert places["4"] == places["3"] != places["5"]
    assert places["3"].month == "2026-03"
    assert places["3"].name.startswith(start)
    index = StoredThreads()
    index.store(survey(units[:1], index), units[:1])
    assert set(find_all(units[:2], index).values()) == {index.units["general/2026-03-01.md#4"][1]}


def test_the_people_of_a_message_are_its_addresses_else_names() -> None:
    """Author and recipients, in lower case, of a message read or stored; the address of a list is no person."""
    people = (Person("Ann Lee", "Ann@Example.org"), (Person("Bob"), Person("", "team@x.org"), Person()))
    unit = SourceUnit("email", "", "1", author=people[0], recipients=people[1])
    stored = TreeUnit("u-1", "email", "s", "/tree/s/2026-11", "n", "", *people)
    assert people_of(unit) == people_of(stored) == {"ann@example.org", "bob", "team@x.org"}
    assert people_of(unit._replace(signals=frozenset({"bulk"}))) == {"ann@example.org"}
