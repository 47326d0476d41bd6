"""What every index promises (commonplace.index.port), as tests that each implementation runs.

A test class inherits IndexConformance and has a fixture `index`, and a method `fresh` that makes another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from commonplace.index.port import Index, Transaction
from commonplace.index.units import Label, LabelCount, UnitSpan
from commonplace.index.values import EntryFilter, EntryInterval, LaterNote, PageLine, Row, Window
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import sort_name
from commonplace.model.scope import LOCAL, Space
from commonplace.text.words import query_terms
from tests.depth import examples
from tests.index.model import FOLDERS, Model, answers
from tests.strategies import STAMP

HERE = "/memories/global"
ELSEWHERE = Space("acme", "bob")


class Stop(Exception):
    """Ends a transaction in a test."""


def row(name: str, folder: str = HERE, **fields: object) -> Row:
    values: dict[str, object] = {
        **dict.fromkeys(("id", "summary", "revision"), ""),
        "line": f"- [{name}]\n",
        "type": "project",
        "status": "active",
        "tags": (),
        "pinned": False,
        "created": STAMP,
        "updated": STAMP,
    }
    return Row(folder=folder, name=name, sort=sort_name(name), **{**values, **fields})  # type: ignore[arg-type]


def names(rows: Sequence[PageLine]) -> list[str]:
    return [found.name for found in rows]


def _said(ident: str, trust: str = "agent", end: str | None = None) -> EntryInterval:
    return EntryInterval(Entry(STAMP, f"Words of {ident}.", id=ident, trust=Trust(trust)), STAMP, end)


def brief_entries(change: Transaction, name: str, limit: int) -> list[str]:
    found = change.brief_row(HERE, name, limit)
    return [item.entry.id for item in found.entries] if found is not None else []


def put(index: Index, *rows: Row, space: Space = LOCAL) -> None:
    with index.transaction(space) as change:
        for one in rows:
            change.put(one)


_names = st.sampled_from(["a", "ab", "abc", "b", "ba", "cone", "con-1", "x y", "é", "É", "AB", "_", "1"])
_rows = st.builds(
    row,
    name=_names,
    folder=st.sampled_from(FOLDERS),
    type=st.sampled_from(["user", "project"]),
    status=st.sampled_from(["active", "active", "active", "expired"]),
    tags=st.lists(st.sampled_from(["ci", "db", "ops"]), max_size=2, unique=True).map(tuple),
    pinned=st.booleans(),
    updated=st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]),
    summary=st.sampled_from(["one", "two"]),
    filed=st.booleans(),
    proposed_links=st.integers(0, 2),
    given=st.booleans(),
    linked=st.lists(st.sampled_from(["contradicts global/a", "relates_to global/b"]), max_size=2).map(tuple),
)
_steps = st.one_of(
    st.tuples(st.just("put"), _rows),
    st.tuples(st.just("put"), _rows),
    st.tuples(st.just("remove"), _rows),
    st.tuples(st.just("stat"), _rows),
    st.tuples(st.just("filed"), _rows),
    st.tuples(st.just("generation"), _rows),
    st.tuples(st.just("say"), _rows),
    st.tuples(st.just("say"), _rows),
    st.tuples(st.just("say anew"), _rows),
    st.tuples(st.just("say no more"), _rows),
)


def said(one: Row) -> list[EntryInterval]:
    """Something that a row's memory may say."""
    entry = Entry(one.updated, f"{one.summary} ☃", id="e", trust=Trust.AGENT, author="ann", seq=3, tags=one.tags)
    return [EntryInterval(entry, one.updated)]


def take(step: tuple[str, Row], change: Transaction | Model) -> None:
    what, one = step
    if what == "put":
        known = change.get(one.folder, one.name)
        assert change.put(one, "4 5 6" if one.pinned else None) == known
    elif what == "remove":
        change.remove(one.folder, one.name)
    elif what == "generation":
        change.set_generation(one.folder, len(one.name))
    elif what == "say":
        change.add_entries(one.folder, one.name, said(one))
    elif what == "say anew":
        change.set_entries(one.folder, one.name, said(one) * 2)
    elif what == "say no more":
        change.add_entries(one.folder, one.name, said(one) * len(one.tags), close_at=one.updated)
    elif what == "filed":
        change.mark_filed(one.folder, filed=one.filed, pending=[one.name] if one.pinned else [])
    elif change.get(one.folder, one.name) is not None:
        change.record_stat(one.folder, one.name, "7 8 9")


class IndexConformance:
    def fresh(self) -> Index:
        raise NotImplementedError

    @pytest.fixture
    def index(self) -> Index:
        return self.fresh()

    # One suite, several indexes: the class that runs it differs on purpose.
    @examples(60, 15, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])
    @given(transactions=st.lists(st.tuples(st.lists(_steps, max_size=8), st.booleans()), max_size=6))
    def test_every_answer_is_that_of_a_plain_dict(self, transactions: list[tuple[list[tuple[str, Row]], bool]]) -> None:
        """After any changes, kept or given up, each question has the answer that sorting all rows would give."""
        index, model = self.fresh(), Model()
        for steps, kept in transactions:
            draft = model.copy()
            try:
                with index.transaction(LOCAL) as change:
                    for step in steps:
                        take(step, change)
                        take(step, draft)
                    assert answers(change) == answers(draft)
                    if not kept:
                        raise Stop
            except Stop:
                draft = model
            model = draft
            with index.transaction(LOCAL) as change:
                assert answers(change) == answers(model)

    def test_a_transaction_sees_its_own_changes(self, index: Index) -> None:
        """What was put is there for the questions of the same transaction."""
        with index.transaction(LOCAL) as change:
            change.put(row("a", summary="one"))
            change.put(row("a", summary="two"))
            assert names(change.page_lines("newest", HERE, 5)) == ["a"]
            found = change.get(HERE, "a")
            assert found is not None
            assert found.summary == "two"

    @pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SystemExit])
    def test_an_error_leaves_the_index_as_it_was(self, index: Index, error: type[BaseException]) -> None:
        """However a transaction ends other than well, nothing of it stays."""
        put(index, row("a", tags=("ci",), pinned=True), row("b", filed=True))
        with index.transaction(LOCAL) as look:
            before = answers(look)
        with pytest.raises(error), index.transaction(LOCAL) as change:
            change.put(row("a", status="expired"))
            change.put(row("c", "/memories/team"))
            change.remove(HERE, "b")
            change.put(row("b", summary="again"))
            change.record_stat(HERE, "b", "1 2 3")
            change.mark_filed(HERE, filed=True)
            raise error
        with index.transaction(LOCAL) as look:
            assert answers(look) == before
            assert look.folders("/") == [HERE]

    def test_one_writer_at_a_time(self, index: Index) -> None:
        """Threads that each read a row, add one and put it back lose no addition."""
        put(index, row("a"))

        def add(_: int) -> None:
            with index.transaction(LOCAL) as change:
                found = change.get(HERE, "a")
                assert found is not None
                change.put(found._replace(summary=found.summary + "+"))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(add, range(400)))
        with index.transaction(LOCAL) as look:
            assert [len(found.summary) for found in look.rows(HERE).values()] == [400]

    def test_spaces_are_apart(self, index: Index) -> None:
        """Rows of one space are in no answer of another, and an undone change of one leaves the other alone."""
        put(index, row("a"), space=ELSEWHERE)
        with index.transaction(LOCAL) as look:
            assert answers(look) == answers(Model())
        with pytest.raises(Stop), index.transaction(LOCAL) as change:
            change.put(row("a", summary="mine"))
            raise Stop
        with index.transaction(ELSEWHERE) as look:
            assert names(look.page_lines("newest", HERE, 9)) == ["a"]

    def test_counts(self, index: Index) -> None:
        """Counts are of active memories by type and tag, most used tag first, and of how many more are hidden."""
        tagged = [row(f"n{number}", tags=("db",) if number % 2 else ("ci", "db"), type="user") for number in range(3)]
        put(index, *tagged, row("p", tags=("ops",)), row("old", status="expired", tags=("ci",)))
        with index.transaction(LOCAL) as look:
            counts = look.counts(HERE, 2)
            assert (counts.active, counts.hidden) == (4, 1)
            assert dict(counts.types) == {"project": 1, "user": 3}
            assert list(counts.tags) == [("db", 3), ("ci", 2)]
            assert list(look.counts(HERE, 0).tags) == []

    def test_newest_first(self, index: Index) -> None:
        """The newest come first; of one time, in the reverse order of their names, always the same."""
        times = {"a": "2026-01-02T00:00:00Z", "b": "2026-01-03T00:00:00Z", "c": "2026-01-02T00:00:00Z"}
        put(index, *(row(name, updated=time) for name, time in times.items()), row("d", status="superseded"))
        with index.transaction(LOCAL) as look:
            assert names(look.page_lines("newest", HERE, 9)) == ["b", "c", "a"]
            assert names(look.page_lines("newest", HERE, 2)) == ["b", "c"]
            assert names(look.page_lines("newest", HERE, 0)) == []
            assert names(look.page_lines("newest", "/memories", 9)) == []

    def test_names_by_prefix(self, index: Index) -> None:
        """Names are found by how their sort name starts, in order, and a prefix is divided where its names differ."""
        put(index, *(row(name) for name in ("ab", "abc", "ABD", "a-b", "b", "é", "a")), row("abz", status="expired"))
        with index.transaction(LOCAL) as look:
            assert names(look.lines_by_prefix(HERE, "a", 9)) == ["a", "a-b", "ab", "abc", "ABD"]
            assert names(look.lines_by_prefix(HERE, "ab", 2)) == ["ab", "abc"]
            assert names(look.lines_by_prefix(HERE, "x", 9)) == []
            assert look.next_prefixes(HERE, "a") == ["a-", "ab"]
            assert look.next_prefixes(HERE, "ab") == ["abc", "abd"]
            assert look.next_prefixes(HERE, "") == ["_", "a", "b"]
            assert look.next_prefixes(HERE, "x") == look.next_prefixes(HERE, "b") == []

    def test_topics(self, index: Index) -> None:
        """Topics are what sort names start with between two `@`, each once, in order; of active memories alone."""
        topics = {"a": "ci", "b": "ci-2", "c": "ci", "d": "b_2f."}
        rows = [row(name)._replace(sort=f"@{topic}@{name}") for name, topic in topics.items()]
        put(index, *rows, row("e"), row("f", status="expired")._replace(sort="@zoo@f"))
        with index.transaction(LOCAL) as look:
            assert list(look.topics(HERE, 9)) == ["@b_2f.@", "@ci-2@", "@ci@"]
            assert list(look.topics(HERE, 2)) == ["@b_2f.@", "@ci-2@"]
            assert list(look.topics("/memories", 9)) == []

    def test_filing(self, index: Index) -> None:
        """What is put is pending until all are marked at once, but for exceptions; marking back makes all pending."""
        put(index, row("b"), row("a"), row("c", filed=True), row("d", status="expired"))
        with index.transaction(LOCAL) as change:
            assert names(change.page_lines("unfiled", HERE, 9)) == ["a", "b"]
            assert names(change.page_lines("unfiled", HERE, 1)) == ["a"]
            change.mark_filed(HERE, filed=True)
            assert names(change.page_lines("unfiled", HERE, 9)) == []
            change.put(row("a"))
            assert names(change.page_lines("unfiled", HERE, 9)) == ["a"]
            change.mark_filed(HERE, filed=True, pending=["c", "gone"])
            assert names(change.page_lines("unfiled", HERE, 9)) == ["c"]
            change.mark_filed(HERE, filed=False)
            assert names(change.page_lines("unfiled", HERE, 9)) == ["a", "b", "c"]

    def test_folders(self, index: Index) -> None:
        """The folders below one are those with memories in them, itself included, and no namesake of its start."""
        places = [HERE, f"{HERE}/people", f"{HERE}-too", "/memories/team"]
        put(index, *(row("a", place) for place in places))
        with index.transaction(LOCAL) as change:
            assert change.folders(HERE) == [HERE, f"{HERE}/people"]
            change.remove(HERE, "a")
            assert change.folders(HERE) == [f"{HERE}/people"]
            assert change.folders("/") == sorted(places[1:])

    def test_what_is_not_there(self, index: Index) -> None:
        """Asking about nothing, or removing it, is no error."""
        with index.transaction(LOCAL) as change:
            change.remove(HERE, "a")
            change.mark_filed(HERE, filed=True)
            assert change.get(HERE, "a") is None
            assert answers(change) == answers(Model())

    def test_rows_are_the_callers(self, index: Index) -> None:
        """The mapping that rows() gives does not change when the index does, nor the other way round."""
        put(index, row("a"))
        with index.transaction(LOCAL) as change:
            held = change.rows(HERE)
            change.remove(HERE, "a")
            assert list(held) == ["a"]

    def test_a_limit_cuts_equals_by_their_ids(self, index: Index) -> None:
        """Whatever order entries came in, a question finds the same, also where a limit cuts through equals."""
        with index.transaction(LOCAL) as change:
            for ident in ("e3", "e1", "e5", "e2", "e4"):
                change.put(row(ident))
                change.set_entries(HERE, ident, [EntryInterval(Entry(STAMP, "The same words.", id=ident), STAMP)])
            change.fill_words()
            for limit in (1, 2, 3, 5, 9):
                found = [match.no for match in change.search(query_terms("words"), limit)]
                ids = {item.no: item.entry.id for item in change.candidates(found)}
                assert sorted(ids[number] for number in found) == ["e1", "e2", "e3", "e4", "e5"][:limit]
                latest = change.latest_entries(limit)
                assert [item.entry.id for item in latest] == ["e5", "e4", "e3", "e2", "e1"][:limit]

    def test_count_matches_counts_today_in_the_folders_it_is_told(self, index: Index) -> None:
        """Only entries that are still said, and only those in the folders asked for or below, are counted, and no
        further than wanted."""
        with index.transaction(LOCAL) as change:
            for number, folder in enumerate([HERE, f"{HERE}/deep", f"{HERE}-not", "/elsewhere"]):
                change.put(row("a", folder=folder))
                said = [EntryInterval(Entry(STAMP, f"Words {n}.", id=f"e{number}{n}"), STAMP) for n in range(2)]
                gone = EntryInterval(Entry(STAMP, "Words of before.", id=f"g{number}"), STAMP, STAMP)
                change.set_entries(folder, "a", [gone, *said])
            change.fill_words()
            terms = query_terms("words")
            assert change.count_matches(terms, Window([HERE]), 9) == 4
            assert change.count_matches(terms, Window([f"{HERE}/deep", "/elsewhere"]), 9) == 4
            assert (
                change.count_matches(terms, Window([]), 9)
                == change.count_matches(query_terms("absent"), Window([HERE]), 9)
                == 0
            )
            assert change.count_matches(terms, Window([HERE]), 3) == 3

    def test_count_matches_leaves_out_what_is_elsewhere_or_of_before(self, index: Index) -> None:
        """However many more have the words in another space, in another folder or in earlier versions: they are not
        counted, wherever the count ends."""
        terms, said = query_terms("words"), Entry(STAMP, "Words.", id="e")
        for space, folder in ((LOCAL, HERE), (LOCAL, "/elsewhere"), (ELSEWHERE, HERE)):
            with index.transaction(space) as change:
                change.put(row("a", folder=folder))
                change.set_entries(folder, "a", [EntryInterval(said, STAMP, end) for end in [None] * 3 + [STAMP] * 2])
                change.fill_words()
                assert [change.count_matches(terms, Window([folder]), most) for most in (1, 2, 3, 4, 5, 9)] == [
                    1,
                    2,
                    3,
                    3,
                    3,
                    3,
                ]
        with index.reading(LOCAL) as reading:
            assert [reading.count_matches(terms, Window([HERE, "/elsewhere"]), most) for most in (5, 6, 7, 99)] == [
                5,
                6,
                6,
                6,
            ]

    def test_count_entries_counts_what_passes_the_filter(self, index: Index) -> None:
        """How many entries a question without words is about: whatever it asks for, those that it would find among all,
        and no further than wanted."""
        days = [f"2026-01-0{day}T00:00:00Z" for day in range(1, 8)]
        with index.transaction(ELSEWHERE) as change:
            change.put(row("a"))
            change.set_entries(HERE, "a", [EntryInterval(Entry(days[0], "Not ours.", id="x"), days[0])])
        with index.transaction(LOCAL) as change:
            change.put(row("a", tags=("red",)))
            change.put(row("b", type="user", status="expired"))
            change.put(row("c", folder=f"{HERE}/deep"))
            change.put(row("d", folder=f"{HERE}-not"))
            for number, (folder, name, end) in enumerate([
                (HERE, "a", days[3]), (HERE, "a", None), (HERE, "b", None), (f"{HERE}/deep", "c", None),
                (f"{HERE}-not", "d", None), (f"{HERE}/gone", "e", days[6]),
            ]):  # fmt: skip
                entry = Entry(
                    days[number], "Words.", id=f"e{number}", author="ann" if number % 2 else None,
                    session="s1"[:number], occurred=days[6] if number == 3 else None,
                    tags=("blue",) if number in (0, 1, 3) else (),
                )  # fmt: skip
                change.set_entries(
                    folder, name, [*change.entries(folder, name), EntryInterval(entry, days[number], end)]
                )
            here = EntryFilter([HERE])
            also = here._replace
            for expected, wanted in (
                (3, here), (0, EntryFilter([])), (4, EntryFilter([HERE, f"{HERE}-not"])),
                (2, also(hidden=("expired",))),
                (1, also(type="user")), (2, also(tags=("blue",))),
                (1, also(tags=("blue", "red"))), (1, also(session="s")),
                (2, also(authors=["ann"])), (2, also(since=days[2])), (1, also(until=days[1])),
                (1, also(as_of=days[0])), (3, also(as_of=days[2])),
                (3, also(as_of=days[3])), (4, also(as_of=days[5])),
                (1, also(as_of=days[2], tags=("red",), until=days[0])),
            ):  # fmt: skip
                assert (change.count_entries(wanted, 99), change.count_entries(wanted, 1)) == (
                    expected,
                    min(expected, 1),
                ), wanted

    def test_what_is_not_filled_yet_is_named(self, index: Index) -> None:
        """An entry of today is findable by its words, or named as one that is not yet; never neither, never both."""
        with index.transaction(LOCAL) as change:
            for ident in ("e1", "e2", "e3"):
                change.put(row(ident))
                change.set_entries(HERE, ident, [EntryInterval(Entry(STAMP, "Words to find.", id=ident), STAMP)])
            change.add_entries(HERE, "e1", [], close_at=STAMP)
            terms = query_terms("words")
            found, waiting = {match.no for match in change.search(terms, 9)}, change.unfilled(9)
            today = [item for item in change.candidates([*found, *waiting]) if item.end is None]
            assert {item.entry.id for item in today} == {"e2", "e3"}
            assert not found & set(waiting)
            assert all(item.end is None for item in change.candidates(waiting))
            assert len(change.unfilled(1)) <= 1
            change.fill_words()
            assert change.unfilled(9) == []
            assert len(change.search(terms, 9)) == 3

    def test_linked_entries(self, index: Index) -> None:
        """The current entries of memories that have a link, or are in a place; each once, and none that is past."""
        with index.transaction(LOCAL) as change:
            for ident, links in (("a", ["contradicts global/b"]), ("b", ["relates_to global/a"]), ("c", [])):
                change.put(row(ident, linked=tuple(links)))
                change.set_entries(HERE, ident, [EntryInterval(Entry(STAMP, ident, id=ident), STAMP)])
            found = change.linked_entries(["contradicts global/b"], [(HERE, "a"), (HERE, "c"), (HERE, "d")])
            assert [item.name for item in found] == ["a", "c"]
            assert found[0].row is not None and found[0].row.linked == ("contradicts global/b",)
            assert change.linked_entries(["contradicts global/a"], []) == []
            change.add_entries(HERE, "c", [], close_at=STAMP)
            assert change.linked_entries([], [(HERE, "c")]) == []

    def test_a_brief_row_has_the_last_entries(self, index: Index) -> None:
        """The last entries of a memory come last first, without past ones; a memory that is not there has none."""
        with index.transaction(LOCAL) as change:
            change.put(row("a"))
            change.set_entries(HERE, "a", [_said(f"e{n}", end=STAMP if n == 2 else None) for n in range(4)])
            assert brief_entries(change, "a", 2) == ["e3", "e1"]
            assert brief_entries(change, "a", 9) == ["e3", "e1", "e0"]
            assert change.brief_row(HERE, "b", 9) is change.brief_row("/elsewhere", "a", 9) is None

    def test_the_brief_leaves_out_what_came_from_outside(self, index: Index) -> None:
        """Candidates for the brief are pinned memories, then the newest, that have an entry which is not from outside;
        of these entries alone a row has the text, and it tells whether there are others."""
        with index.transaction(LOCAL) as change:
            for name, trust in (("a", "agent"), ("b", "external"), ("c", "human")):
                change.put(row(name, pinned=name == "c"))
                change.set_entries(HERE, name, [_said(f"{name}1", trust), _said(f"{name}2", "external")])
            change.put(row("d", status="expired"))
            change.set_entries(HERE, "d", [_said("d1"), _said("d2", "external", end=STAMP)])
            assert [one.name for one in change.brief_candidates(HERE, 9)] == ["c", "a"]
            assert [one.name for one in change.brief_candidates(HERE, 1)] == ["c"]
            assert list(change.brief_candidates("/memories", 9)) == []
            assert brief_entries(change, "a", 9) == ["a1"] and brief_entries(change, "b", 9) == []
            found = [change.brief_row(HERE, name, 1) for name in ("a", "d")]
            assert [item.is_mixed for item in found if item is not None] == [True, False]

    def test_a_signature_is_forgotten_with_a_put(self, index: Index) -> None:
        """The recorded signature of one file is on its row for the brief, until the memory is put again."""
        put(index, row("a"), row("b"))
        with index.transaction(LOCAL) as change:
            change.record_stat(HERE, "a", "1 2 3")
            found = {name: change.brief_row(HERE, name, 0) for name in ("a", "b")}
            assert {name: item and item.signature for name, item in found.items()} == {"a": "1 2 3", "b": None}
            change.put(row("a"))
            again = change.brief_row(HERE, "a", 0)
            assert again is not None and again.signature is None

    def test_the_same_words_are_found_only_where_asked(self, index: Index) -> None:
        """However many say the same elsewhere, those in the folders asked for are found."""
        with index.transaction(LOCAL) as change:
            for number, folder in enumerate([f"/elsewhere/{n}" for n in range(9)] + [HERE, f"{HERE}/deep"]):
                change.put(row("a", folder=folder))
                change.set_entries(folder, "a", [EntryInterval(Entry(STAMP, "Same words.", id=f"e{number:02}"), STAMP)])
            found = change.find_same_words("words, the same", [HERE], 5)
            assert [item.folder for item in found] == [HERE, f"{HERE}/deep"]
            assert [item.folder for item in change.find_same_words("Same words.", ["/elsewhere"], 2)] == [
                "/elsewhere/0",
                "/elsewhere/1",
            ]

    def test_find_similar_finds_what_shares_telling_words(self, index: Index) -> None:
        """Most shared words first; not what is gone, elsewhere, of another space or shares too little."""
        said = {
            "a": "The staging database listens on port 5433",
            "b": "Staging database backups run nightly on port duty",
            "c": "The staging server is slow",
            "d": "Something about horses",
        }
        with index.transaction(LOCAL) as change:
            for number, (name, text) in enumerate(said.items()):
                change.put(row(name))
                change.add_entries(HERE, name, [EntryInterval(Entry(STAMP, text, id=f"e{number}"), STAMP)])
            change.put(row("a", folder="/elsewhere"))
            change.set_entries("/elsewhere", "a", [EntryInterval(Entry(STAMP, said["a"], id="e9"), STAMP)])
        asked = "port 5433 is where the staging database listens"
        with index.transaction(LOCAL) as change:
            assert [item.name for item in change.find_similar(asked, [HERE], 5)] == ["a", "b"]
            assert [item.name for item in change.find_similar(asked, [HERE], 1)] == ["a"]
            assert [item.folder for item in change.find_similar(asked, ["/elsewhere"], 5)] == ["/elsewhere"]
            assert change.find_similar("of the and", [HERE], 5) == change.find_similar("", [HERE], 5) == []
            change.add_entries(HERE, "b", [], close_at=STAMP)
            change.set_entries(HERE, "a", [EntryInterval(Entry(STAMP, "Other words altogether", id="e5"), STAMP)])
            assert change.find_similar(asked, [HERE], 5) == []
            change.remove("/elsewhere", "a")
            assert change.find_similar(asked, ["/elsewhere"], 5) == []
        with index.transaction(ELSEWHERE) as change:
            assert change.find_similar(asked, [HERE], 5) == []

    def test_vectors_are_kept_with_their_entries(self, index: Index) -> None:
        """What has no vector of a model is named, what has one is given back, and goes with its entry."""
        with index.transaction(LOCAL) as change:
            for name in ("a", "b"):
                change.put(row(name))
                change.set_entries(HERE, name, [EntryInterval(Entry(STAMP, f"Text {name}.", id=name), STAMP)])
            waiting = change.unembedded("one", 9)
            assert sorted(item.text for item in waiting) == ["a: Text a.", "b: Text b."]
            assert change.count_embedded("one") == (0, 2)
            change.put_vectors("one", [(item.no, item.text.encode()) for item in waiting])
            assert change.count_embedded("one") == (2, 2) and change.count_embedded("two") == (0, 2)
            assert change.unembedded("one", 1) == [] and len(change.unembedded("two", 9)) == 2
        with index.reading(LOCAL) as reading:
            found = reading.vectors("one", 0)
            assert sorted((item.folder, item.data) for item in found) == [(HERE, b"a: Text a."), (HERE, b"b: Text b.")]
            assert [item.no for item in found] == sorted(item.no for item in waiting)
            assert [item.no for item in reading.vectors("one", found[0].no)] == [found[1][0]]
            assert reading.vectors("two", 0) == []
            there = reading.candidates([found[1][0], found[0][0], 12345])
            assert [(item.entry.id, item.no) for item in there] == sorted((item.entry.id, item.no) for item in there)
            assert len(there) == 2
            before = reading.vectors_dropped()
        with index.transaction(LOCAL) as change:
            change.put_vectors("two", [(found[0].no, b"x")])
            assert change.vectors_dropped() != before and change.vectors("one", 0) == []
            assert [item.data for item in change.vectors("two", 0)] == [b"x"]
            assert [item.no for item in change.unembedded("two", 9)] == [found[1].no]
            assert change.count_embedded("two") == (1, 2)
            change.put_vectors("one", [(item.no, item.data) for item in found])
            before = change.vectors_dropped()
        with index.transaction(LOCAL) as change:
            change.add_entries(HERE, "a", [EntryInterval(Entry(STAMP, "More.", id="c"), STAMP)])
            assert change.vectors_dropped() == before and len(change.vectors("one", 0)) == 2
            change.set_entries(HERE, "a", [EntryInterval(Entry(STAMP, "Other.", id="d"), STAMP)])
            assert change.vectors_dropped() != before
            assert [item.data for item in change.vectors("one", 0)] == [b"b: Text b."]

    def test_the_same_entries_keep_their_vectors(self, index: Index) -> None:
        """Entries that are set again as they are stay embedded; one that differs in anything else loses its vector."""
        entry = EntryInterval(Entry(STAMP, "Text.", id="a", tags=("x",), author="Ann"), STAMP)
        with index.transaction(LOCAL) as change:
            change.put(row("a"))
            change.set_entries(HERE, "a", [entry])
            change.put_vectors("m", [(item.no, b"x") for item in change.unembedded("m", 9)])
            before = change.vectors_dropped()
        with index.transaction(LOCAL) as change:
            change.set_entries(HERE, "a", (entry,))
            assert change.vectors_dropped() == before and change.count_embedded("m") == (1, 1)
            change.set_entries(HERE, "a", [entry._replace(entry=entry.entry._replace(author="Bob"))])
            assert change.vectors_dropped() != before and change.count_embedded("m") == (0, 1)

    def test_what_may_contradict_an_entry_goes_with_its_vector(self, index: Index) -> None:
        """An entry waits to be compared from when it has a vector until an answer is recorded. The brief gets the
        answer as long as what it names is there and active."""
        with index.transaction(LOCAL) as change:
            for name in ("a", "b"):
                change.put(row(name))
                change.set_entries(HERE, name, [EntryInterval(Entry(STAMP, f"Text {name}.", id=name), STAMP)])
            assert change.uncompared(9) == []
            change.put_vectors("m", [(item.no, b"x") for item in change.unembedded("m", 9)])
            first, second = change.uncompared(9)
            assert change.uncompared(1) == [first]
            change.set_later({first: second, second: 0})
            assert change.uncompared(9) == []
        with index.reading(LOCAL) as reading:
            names = {item.no: item.name for item in reading.candidates([first, second])}
            one, other = reading.brief_row(HERE, names[first], 1), reading.brief_row(HERE, names[second], 1)
            assert one is not None and one.later == LaterNote(HERE, names[second], ())
            assert other is not None and other.later is None
        with index.transaction(LOCAL) as change:
            change.put(row(names[second], status="expired"))
            found = change.brief_row(HERE, names[first], 1)
            assert found is not None and found.later is None
            change.put_vectors("m", [(first, b"y")])
            assert change.uncompared(9) == [first]

    def test_vectors_know_their_place_in_a_conversation(self, index: Index) -> None:
        """Each vector says in which thread it is and where, and whether the book still says so; authors are named."""
        with index.transaction(LOCAL) as change:
            for seq, author in ((5, "Bob"), (1, "Ann"), (9, "Bob")):
                entry = Entry(STAMP, f"Turn {seq}.", id=f"e{seq}", author=author, thread="t", seq=seq)
                change.set_entries(HERE, f"n{seq}", [EntryInterval(entry, STAMP, STAMP if seq == 9 else None)])
            change.put_vectors("m", [(item.no, b"x") for item in change.unembedded("m", 9)])
            found = change.vectors("m", 0)
            assert sorted((item.thread, item.turn, bool(item.today)) for item in found) == [
                ("t", 1, True),
                ("t", 5, True),
                ("t", 9, False),
            ]
            timed = Entry(STAMP, "Later.", id="e0", thread="t", occurred="2026-01-01T00:00:00Z")
            change.set_entries(HERE, "n0", [EntryInterval(timed, STAMP)])
            change.put_vectors("m", [(item.no, b"x") for item in change.unembedded("m", 9)])
            turns = [item.turn for item in change.vectors("m", 0) if not isinstance(item.turn, int)]
            assert turns == ["2026-01-01T00:00:00Z e0"]  # without a number, its time
            before = change.vectors_dropped()
            change.add_entries(HERE, "n1", [], close_at=STAMP)
            assert change.vectors_dropped() != before
            change.fill_words()
            assert change.authors_named({"ann", "bob", "eve"}) == ["Ann", "Bob"] and not change.authors_named({"e"})

    def test_a_made_summary_adds_no_words(self, index: Index) -> None:
        """A summary that somebody gave finds every entry of its memory. One that was made of the newest finds that
        alone, and nothing has to be worded again when it follows."""
        said = [EntryInterval(Entry(STAMP, text, id=text), STAMP) for text in ("Horses graze.", "Oxen pull. They do.")]
        with index.transaction(LOCAL) as change:
            change.put(row("a", summary="Oxen pull.", given=False))
            change.set_entries(HERE, "a", said)
            for summary, given, found in (("Oxen pull.", False, 1), ("Oxen", True, 2), ("Oxen pull.", False, 1)):
                change.put(row("a", summary=summary, given=given))
                change.fill_words()
                assert len(change.search(query_terms('"oxen"'), 9)) == found
            change.put(row("a", summary="Horses graze.", given=False))
            assert not change.has_unfilled()

    def test_a_window_is_searched_alone(self, index: Index) -> None:
        """What happened before, after or elsewhere, and what was replaced, is neither found nor counted in a window."""
        with index.transaction(LOCAL) as change:
            for day, folder in ((1, HERE), (2, HERE), (3, HERE), (2, "/elsewhere"), (4, f"{HERE}/deep")):
                name, when = f"n{day}", f"2026-11-0{day}T09:00:00Z"
                change.put(row(name, folder=folder))
                entry = Entry(STAMP, "Words of a day.", id=f"{folder}-{day}", author=f"A{day}", occurred=when)
                old = EntryInterval(entry._replace(id=f"old-{folder}-{day}"), STAMP, STAMP)
                change.set_entries(folder, name, [old, EntryInterval(entry, STAMP)])
            change.fill_words()
            terms = query_terms("words")
            assert change.last_number() >= max(change.in_window(Window([HERE]), 9))
            for since, until, days in (("", "", "1234"), ("2026-11-02", "", "234"), ("2026-11-02", "2026-11-03", "2")):
                window = Window([HERE], since, until)
                found = change.candidates([match.no for match in change.search(terms, 9, window)])
                assert sorted(item.name[1:] for item in found) == list(days)
                assert change.count_matches(terms, window, 9) == len(days) == len(change.in_window(window, 9))
                assert {author[1:] for author, number in change.count_authors(window, 9) if number == 1} == {*days}
            assert len(change.search(terms, 2, Window([HERE]))) == len(change.in_window(Window([HERE]), 2)) == 2
            one = change.in_window(Window([HERE], since="2026-11-03", until="2026-11-04"), 9)
            few = Window([HERE], only=one)
            assert change.measure(few) == UnitSpan(1, "2026-11-03T09:00:00Z", "2026-11-03T09:00:00Z")
            assert change.measure(Window([HERE])) == UnitSpan(4, "2026-11-01T09:00:00Z", "2026-11-04T09:00:00Z")
            assert change.measure(Window([])) == UnitSpan(0)
            assert (
                len(one) == 1
                and [match.no for match in change.search(terms, 9, few)] == change.in_window(few, 9) == one
            )
            assert change.count_matches(terms, few, 9) == len(change.count_authors(few, 9)) == 1
            assert not change.search(terms, 9, Window([HERE], only=[])) and not change.in_window(
                Window([HERE], only=[]), 9
            )
            assert not change.search(terms, 9, Window([])) and not change.search(
                query_terms("absent"), 9, Window([HERE])
            )

    def test_units_are_found_by_what_they_mention(self, index: Index) -> None:
        """A unit is found by its id and by its labels, in a time, until its entry is another one; then its labels wait
        to be put again. An entry that is no unit has none."""
        ann, bond = Label("person:ann@example.org", "Ann"), Label("word:Bond_%", "Bond_%")
        with index.transaction(LOCAL) as change:
            for day in (1, 2, 3):
                entry = Entry(STAMP, f"Text {day}.", id=f"u-{day}", occurred=f"2026-11-0{day}T09:00:00Z")
                change.put(row(f"n{day}"))
                change.set_entries(HERE, f"n{day}", [EntryInterval(entry, STAMP)])
            change.set_entries(HERE, "no-unit", [_said("e1")])
            numbers = {item.entry.id: item.no for item in change.units(["u-1", "u-2", "u-3", "u-9", "e1"])}
            assert [*numbers] == ["u-1", "u-2", "u-3"] and [*change.unlabelled(9)] == sorted(numbers.values())
            longer = ann._replace(surface="Ann Example")
            change.put_labels({numbers["u-1"]: [ann, bond], numbers["u-2"]: [longer], numbers["u-3"]: []})
            assert not change.unlabelled(9)
            assert change.find_labels(["EXAM"], ["person"], 9) == [longer] and not change.find_labels([], ["url"], 9)
            assert change.find_labels(["_%"], ["person", "word"], 9) == [bond]
            assert [change.count_labels(kinds) for kinds in (["person"], ["person", "word"], [])] == [1, 2, 0]
            last = "2026-11-02T09:00:00Z"
            assert [*change.count_mentions([ann.name, "no:such"])] == [LabelCount(ann.name, 2, last)]
            assert [*change.mentioning([ann.name, bond.name], Window([]), 9)] == [numbers["u-2"], numbers["u-1"]]
            assert [*change.mentioning([ann.name], Window([], until="2026-11-02"), 9)] == [numbers["u-1"]]
            assert change.labels_of([numbers["u-1"], numbers["u-3"]]) == {numbers["u-1"]: [ann.name, bond.name]}
            change.set_entries(HERE, "n1", [_said("u-1")])
            assert len(change.unlabelled(9)) == 1 and not change.count_mentions([bond.name])
            change.unlabel_all()
            assert len(change.unlabelled(9)) == 3

    def test_a_unit_is_known_by_its_title_and_not_by_the_name_of_its_file(self, index: Index) -> None:
        """What a file of the tree is called, with a date or a hash in it, is not found or embedded; its title is."""
        said = {("/tree/mail/2026-11", "rent-2023-ab12"): "It ends.", (HERE, "rent-2023"): "It begins."}
        with index.transaction(LOCAL) as change:
            for (folder, name), text in said.items():
                change.put(row(name, folder, summary="Lease"))
                change.set_entries(folder, name, [EntryInterval(Entry(STAMP, text, id=name), STAMP)])
            waiting = change.unembedded("m", 9)
            assert [(item.text, item.is_turn) for item in waiting] == [
                ("Lease: It ends.", False), ("rent 2023: It begins.", False)
            ]  # fmt: skip
            change.fill_words()
            unit, note = (item.no for item in waiting)
            assert [match.no for match in change.search(query_terms("2023 rent"), 9)] == [note]
            assert {match.no for match in change.search(query_terms("lease"), 9)} == {unit, note}

    def test_the_other_attributes_of_an_entry_are_kept(self, index: Index) -> None:
        """An attribute that has no field comes back as it was put, whatever is in it."""
        extra = (("source", 'mail:"a\\b"@é'), ("x", ""))
        with index.transaction(LOCAL) as change:
            change.put(row("a"))
            said = [EntryInterval(Entry(STAMP, "Words.", id="e1", extra=extra), STAMP)]
            change.set_entries(HERE, "a", said)
            assert [*change.entries(HERE, "a")] == said
            (no,) = [item.no for item in change.unembedded("m", 9)]
            assert change.candidates([no])[0].entry.extra == extra
