"""What every index promises about the nodes of the tree (commonplace.index.nodes), as tests that each one runs.

A test class inherits NodeConformance beside IndexConformance, whose fixture `index` it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import pytest

from commonplace.index.nodes import AS_MADE, BROKEN, CHANGED, MentionSpan, NodeRow, TopicRow
from commonplace.index.port import Index, Transaction
from commonplace.index.units import Label
from commonplace.index.values import EntryInterval, Row
from commonplace.model.memory import Entry
from commonplace.model.names import sort_name
from commonplace.model.scope import LOCAL, Space
from tests.strategies import STAMP

MAIL = "/tree/mail/2026-11"
NOTES = "/tree/mail/summary"
ELSEWHERE = Space("acme", "bob")
ANN, OPS = Label("person:ann@example.org", "Ann"), Label("ticket:OPS-12", "OPS-12")


class GiveUp(Exception):
    """Ends a transaction in a test."""


def file_row(name: str, folder: str = MAIL, revision: str = "r1") -> Row:
    return Row(
        folder=folder, name=name, sort=sort_name(name), id="", type="project", status="active", summary="", tags=(),
        pinned=False, created=STAMP, updated=STAMP, revision=revision, line=f"- [{name}]\n",
    )  # fmt: skip


def unit(ident: str, when: str = "2026-11-15T09:30:00Z", text: str = "Words.", **more: object) -> EntryInterval:
    return EntryInterval(Entry(STAMP, text, id=ident, occurred=when, **more), STAMP)  # type: ignore[arg-type]


def leaf(ident: str, first: str = "2026-11-15T09:30:00Z", name: str = "a", **more: object) -> NodeRow:
    made = NodeRow(ident, "mail", 0, MAIL, name, 0, first, first, 1, 10, f"print of {ident}")
    return made._replace(**more)  # type: ignore[arg-type]


def summary(ident: str, level: int = 1, first: str = "2026-11-15T09:30:00Z", **more: object) -> NodeRow:
    made = NodeRow(ident, "mail", level, NOTES, ident, 0, first, first, 1, 10, f"print of {ident}", "extract")
    return made._replace(**more)  # type: ignore[arg-type]


def topic(entity: str, name: str, hotness: float = 1.0, state: str = "awake") -> TopicRow:
    return TopicRow(entity, "/tree/topic", name, entity, state, STAMP, STAMP, 10, hotness)


def ids(rows: Sequence[NodeRow]) -> list[str]:
    return [row.id for row in rows]


def marks(index: Transaction) -> tuple[object, ...]:
    return list(index.changed_files(9)), list(index.changed_hours()), [name for _, name in index.changed_labels(9)]


def clear(index: Transaction) -> None:
    """Take every mark off."""
    for folder, name in index.changed_files(99):
        index.set_nodes(folder, name, index.nodes_of(folder, name))
    index.unmark_hours(index.changed_hours())
    index.unmark_labels([number for number, _ in index.changed_labels(99)])
    assert marks(index) == ([], [], [])


def put_unit(change: Transaction, name: str = "a", *entries: EntryInterval, labels: Collection[Label] = ()) -> None:
    change.put(file_row(name))
    change.set_entries(MAIL, name, entries or [unit(f"u-{name}")])
    change.put_labels(dict.fromkeys(change.entry_numbers(MAIL, name), labels))


def put_tree(change: Transaction) -> None:
    """Put two files of two leaves each, sealed into two summaries below a third."""
    change.set_nodes(MAIL, "a", [leaf("a1"), leaf("a2", place=1)])
    change.set_nodes(MAIL, "b", [leaf("b1", name="b"), leaf("b2", name="b", place=1)])
    for ident, children in (("L1-a", ("a1", "b1")), ("L1-b", ("a2", "b2")), ("L2-c", ("L1-a", "L1-b"))):
        change.set_nodes(NOTES, ident, [summary(ident, int(ident[1]))])
        change.adopt(ident, children, AS_MADE)


def states(index: Transaction) -> dict[str, int]:
    return {row.id: row.state for row in index.nodes(["a1", "a2", "b1", "b2", "L1-a", "L1-b", "L2-c"])}


def parents(index: Transaction) -> dict[str, str]:
    return {row.id: row.parent for row in index.nodes(["a1", "a2", "b1", "b2", "L1-a", "L1-b", "L2-c"])}


def _change_text(change: Transaction) -> None:
    change.put(file_row("a", revision="r2"))
    change.set_entries(MAIL, "a", [unit("u-a", text="Other words.")])


def _remove(change: Transaction) -> None:
    change.set_entries(MAIL, "a", [])
    change.remove(MAIL, "a")


def _put_label(change: Transaction) -> None:
    change.put_labels({no: [ANN, OPS] for no in change.entry_numbers(MAIL, "a")})


_EVER = "9999-12-31T23:59:59Z"
_HERE, _NINE, _TEN = [(MAIL, "a")], "2026-11-15T09", "2026-11-16T10"
_LATER = unit("u-b", "2026-11-16T10:00:00Z")
_CHANGES: dict[str, tuple[Callable[[Transaction], object], tuple[object, ...]]] = {
    "the same again": (lambda change: put_unit(change, labels=[ANN]), ([], [], [])),
    "another file": (lambda change: put_unit(change, "b", labels=[ANN]), ([(MAIL, "b")], [_NINE], [ANN.name])),
    "another text": (_change_text, (_HERE, [_NINE], [ANN.name])),
    "another author": (
        lambda change: change.set_entries(MAIL, "a", [unit("u-a", author="Bob")]), ([], [_NINE], [ANN.name]),
    ),
    "another time": (
        lambda change: change.set_entries(MAIL, "a", [unit("u-a", _LATER.entry.occurred or "")]),
        ([], [_NINE, _TEN], [ANN.name]),
    ),
    "an added unit": (lambda change: change.add_entries(MAIL, "a", [_LATER]), ([], [_TEN], [])),
    "an ended unit": (
        lambda change: change.add_entries(MAIL, "a", [_LATER], close_at=STAMP), ([], [_NINE, _TEN], [ANN.name]),
    ),
    "a removed file": (_remove, (_HERE, [_NINE], [ANN.name])),
    "another label": (_put_label, ([], [], [OPS.name])),
    "an entry that is no unit": (lambda change: change.set_entries(MAIL, "c", [unit("e1")]), ([], [], [])),
    "a memory": (lambda change: change.put(file_row("a", "/memories/global")), ([], [], [])),
    "a folder beside the tree": (lambda change: change.put(file_row("a", "/treetop")), ([], [], [])),
    "a page of the tree": (lambda change: change.put(file_row("x", "/tree/topic")), ([("/tree/topic", "x")], [], [])),
    "how its file looks": (lambda change: change.record_stat(MAIL, "a", "1 2 3"), ([], [], [])),
    "whether its line is filed": (lambda change: change.mark_filed(MAIL, filed=True), ([], [], [])),
    "a file that is not there": (lambda change: change.remove(MAIL, "zz"), ([], [], [])),
}  # fmt: skip


class NodeConformance:
    """The suite."""

    # What is left to do

    @pytest.mark.parametrize("name", _CHANGES)
    def test_a_change_leaves_its_marks(self, index: Index, name: str) -> None:
        """A change of a file, a unit or a label marks that file, its hours and labels in the same transaction, and
        nothing else; they stay when it is over."""
        with index.transaction(LOCAL) as change:
            put_unit(change, labels=[ANN])
            assert marks(change) == (_HERE, [_NINE], [ANN.name])
            clear(change)
        make, expected = _CHANGES[name]
        with index.transaction(LOCAL) as change:
            make(change)
            assert marks(change) == expected
        with index.reading(LOCAL) as reading:
            assert marks(reading) == expected
            assert reading.count_changed_files() == len(reading.changed_files(9))
            assert reading.count_changed_labels() == len(reading.changed_labels(9))

    @pytest.mark.parametrize("name", _CHANGES)
    @pytest.mark.parametrize("error", [GiveUp, KeyboardInterrupt])
    def test_marks_are_rolled_back_with_their_change(self, index: Index, name: str, error: type[BaseException]) -> None:
        """A transaction that is given up leaves no mark, and takes none off."""
        with index.transaction(LOCAL) as change:
            put_unit(change, labels=[ANN])
            clear(change)
        make, expected = _CHANGES[name]
        with pytest.raises(error), index.transaction(LOCAL) as change:
            make(change)
            raise error
        with index.reading(LOCAL) as reading:
            assert marks(reading) == ([], [], [])
        with index.transaction(LOCAL) as change:
            make(change)
        with pytest.raises(error), index.transaction(LOCAL) as change:
            clear(change)
            change.mark_hours(["2030-01-01T00"])
            raise error
        with index.reading(LOCAL) as reading:
            assert marks(reading) == expected

    def test_marks_are_listed_in_order_up_to_a_limit(self, index: Index) -> None:
        """Files come by folder and name, hours by time, labels by number; a limit cuts them, the counts are of all."""
        with index.transaction(LOCAL) as change:
            for number, name in enumerate(("c", "a", "b")):
                put_unit(
                    change, name, unit(f"u-{name}", f"2026-11-15T2{number}:00:00Z"), labels=[Label(f"id:{name}", name)]
                )
            change.mark_hours(["2026-11-15T05", "2026-11-15T20"])
            assert change.changed_files(2) == [(MAIL, "a"), (MAIL, "b")]
            assert change.changed_hours() == [f"2026-11-15T{hour}" for hour in ("05", "20", "21", "22")]
            numbers = [number for number, _ in change.changed_labels(9)]
            assert numbers == sorted(numbers) and [number for number, _ in change.changed_labels(2)] == numbers[:2]
            assert {name for _, name in change.changed_labels(9)} == {"id:a", "id:b", "id:c"}
            assert (change.count_changed_files(), change.count_changed_labels()) == (3, 3)
            change.unmark_hours(["2026-11-15T05", "2026-11-15T22", "1999-01-01T00"])
            change.unmark_labels(numbers[:1])
            assert change.changed_hours() == ["2026-11-15T20", "2026-11-15T21"]
            assert change.count_changed_labels() == 2 and change.changed_files(0) == []
            change.mark_labels(["id:a", "id:b", "id:c", "no:such"])
            assert [number for number, _ in change.changed_labels(9)] == numbers

    def test_setting_the_nodes_of_a_file_takes_its_mark_off(self, index: Index) -> None:
        """A file is no longer marked once its nodes, or its topic, are set; another one is."""
        with index.transaction(LOCAL) as change:
            put_unit(change, "a")
            put_unit(change, "b")
            change.put(file_row("t", "/tree/topic"))
            change.set_nodes(MAIL, "a", [leaf("a1")])
            assert change.changed_files(9) == [(MAIL, "b"), ("/tree/topic", "t")]
            change.set_topic("/tree/topic", "t", None)
            assert change.changed_files(9) == [(MAIL, "b")]

    def test_a_rebuild_marks_everything(self, index: Index) -> None:
        """An index that is built anew has no nodes, topics and days, and a mark for every file, hour and label."""
        with index.transaction(LOCAL) as change:
            put_unit(change, labels=[ANN])
            put_tree(change)
            change.set_topic("/tree/topic", "t", topic(ANN.name, "t"))
            change.put_day("2026-11-15", "{}")
            clear(change)
        with index.begin_anew(LOCAL) as change:
            assert marks(change) == ([], [], [])
            put_unit(change, labels=[OPS])
            change.put(file_row("t", "/tree/topic"))
        with index.reading(LOCAL) as reading:
            assert marks(reading) == ([(MAIL, "a"), ("/tree/topic", "t")], [_NINE], [OPS.name])
            assert reading.count_nodes() == {} and reading.topic_rows(None, 9) == [] and reading.days("", "9") == {}

    # Nodes

    def test_the_nodes_of_a_file_come_as_they_were_put(self, index: Index) -> None:
        """Each node is found by its id and in its file, in order; setting them again replaces them."""
        with index.transaction(LOCAL) as change:
            change.set_nodes(MAIL, "a", [leaf("x", place=1), leaf("y", place=0)])
            change.set_nodes(MAIL, "b", [leaf("z", name="b")])
            assert ids(change.nodes_of(MAIL, "a")) == ["y", "x"]
            assert change.nodes(["z", "x", "gone"]) == [leaf("x", place=1), leaf("z", name="b")]
            change.set_nodes(MAIL, "a", [leaf("x", tokens=11)])
            assert change.nodes_of(MAIL, "a") == [leaf("x", tokens=11)] and change.nodes(["y"]) == []
            change.set_nodes(MAIL, "a", [])
            assert change.nodes_of(MAIL, "a") == [] and ids(change.nodes_of(MAIL, "b")) == ["z"]

    def test_children_know_their_parent(self, index: Index) -> None:
        """What a node has comes by time and id, and stays when its file is set again; a node has one parent."""
        with index.transaction(LOCAL) as change:
            change.set_nodes(MAIL, "a", [leaf("x", "2026-11-02T00:00:00Z"), leaf("y", "2026-11-01T00:00:00Z", place=1)])
            change.set_nodes(MAIL, "b", [leaf("w", "2026-11-02T00:00:00Z", name="b")])
            change.set_nodes(NOTES, "L1-a", [summary("L1-a")])
            change.adopt("L1-a", ["x", "y", "w", "gone"], AS_MADE)
            assert ids(change.children("L1-a")) == ["y", "w", "x"] and change.children("") == []
            change.set_nodes(MAIL, "b", [leaf("w", "2026-11-02T00:00:00Z", name="b")])
            assert ids(change.children("L1-a")) == ["y", "w", "x"] and change.count_in_states() == 0
            change.set_nodes(NOTES, "L1-b", [summary("L1-b")])
            change.adopt("L1-b", ["w"], AS_MADE)
            assert (ids(change.children("L1-a")), ids(change.children("L1-b"))) == (["y", "x"], ["w"])
            change.adopt("L1-a", ["x"], CHANGED)
            assert parents(change) == {"L1-a": "", "L1-b": ""}
            assert {row.id: row.parent for row in change.nodes("xyw")} == {"w": "L1-b", "x": "L1-a", "y": ""}
            assert ids(change.nodes_in_state(CHANGED, 9)) == ["L1-a"]

    def test_the_parent_of_a_changed_node_is_changed(self, index: Index) -> None:
        """Where a node says something else, the one above it is CHANGED and no other; the same again is no change."""
        with index.transaction(LOCAL) as change:
            put_tree(change)
            before = parents(change)
            change.set_nodes(MAIL, "a", [leaf("a1"), leaf("a2", place=1)])
            assert change.count_in_states() == 0
            change.set_nodes(MAIL, "a", [leaf("a1", print="other", tokens=99), leaf("a2", place=1)])
            assert {ident for ident, state in states(change).items() if state} == {"L1-a"}
            assert ids(change.nodes_in_state(CHANGED, 9)) == ["L1-a"] and change.nodes_in_state(BROKEN, 9) == []
            change.set_nodes(NOTES, "L1-a", [summary("L1-a", print="other")])
            change.adopt("L1-a", ["a1", "b1"], AS_MADE)
            assert ids(change.nodes_in_state(CHANGED, 9)) == ["L2-c"]
            assert parents(change) == before

    def test_the_parent_of_a_moved_node_is_changed(self, index: Index) -> None:
        """A node whose file was moved keeps its parent; where it says something else there, that one is CHANGED."""
        with index.transaction(LOCAL) as change:
            put_tree(change)
            change.set_nodes(
                MAIL, "moved", [leaf("a1", name="moved"), leaf("a2", name="moved", place=1, print="other")]
            )
            change.set_nodes(MAIL, "a", [])
            assert parents(change)["a1"] == "L1-a" and parents(change)["a2"] == "L1-b"
            assert {ident: state for ident, state in states(change).items() if state} == {"L1-b": CHANGED}
            assert ids(change.nodes_of(MAIL, "moved")) == ["a1", "a2"] and change.nodes_of(MAIL, "a") == []

    def test_a_node_that_is_gone_breaks_its_parent(self, index: Index) -> None:
        """The parent of a node that is gone is BROKEN, whatever else is said of it; what a node had waits again when it
        is gone."""
        with index.transaction(LOCAL) as change:
            put_tree(change)
            change.set_nodes(MAIL, "a", [leaf("a2", place=1)])
            change.set_nodes(MAIL, "b", [leaf("b1", name="b", print="other"), leaf("b2", name="b", place=1)])
            assert {ident: state for ident, state in states(change).items() if state} == {"L1-a": BROKEN}
            assert ids(change.nodes_in_state(BROKEN, 9)) == ["L1-a"]
            change.set_nodes(NOTES, "L1-a", [])
            assert {ident: state for ident, state in states(change).items() if state} == {"L2-c": BROKEN}
            assert parents(change) == {"a2": "L1-b", "b1": "", "b2": "L1-b", "L1-b": "L2-c", "L2-c": ""}
            change.set_nodes(NOTES, "L2-c", [])
            assert change.count_in_states() == 0 and parents(change)["L1-b"] == ""

    def test_nodes_in_a_state_come_lower_levels_first(self, index: Index) -> None:
        """Of several nodes in a state those of the lowest level come first, then by id, up to a limit."""
        with index.transaction(LOCAL) as change:
            for ident in ("L3-a", "L1-c", "L2-a", "L1-b"):
                change.set_nodes(NOTES, ident, [summary(ident, int(ident[1]))])
                change.adopt(ident, (), BROKEN)
            change.set_nodes(NOTES, "L1-a", [summary("L1-a")])
            assert ids(change.nodes_in_state(BROKEN, 9)) == ["L1-b", "L1-c", "L2-a", "L3-a"]
            assert ids(change.nodes_in_state(BROKEN, 2)) == ["L1-b", "L1-c"]
            assert change.nodes_in_state(CHANGED, 9) == change.nodes_in_state(AS_MADE, 9) == []
            assert change.count_in_states() == 4

    def test_waiting_nodes_come_by_time_and_id(self, index: Index) -> None:
        """The nodes of a source and level that no other has come by time, then id, beyond a place, up to a limit."""
        days = {"d": 3, "b": 1, "c": 2, "a": 2, "sealed": 1}
        with index.transaction(LOCAL) as change:
            nodes = [leaf(ident, f"2026-11-0{day}T00:00:00Z") for ident, day in days.items()]
            change.set_nodes(MAIL, "a", nodes)
            change.set_nodes("/tree/chat/2026-11", "a", [leaf("other", source="chat", folder="/tree/chat/2026-11")])
            change.set_nodes(NOTES, "L1-a", [summary("L1-a")])
            change.adopt("L1-a", ["sealed"], AS_MADE)
            assert ids(change.waiting("mail", 0, 9)) == ["b", "a", "c", "d"]
            assert ids(change.waiting("mail", 0, 2)) == ["b", "a"]
            assert ids(change.waiting("mail", 0, 9, ("2026-11-02T00:00:00Z", "a"))) == ["c", "d"]
            assert ids(change.waiting("mail", 1, 9)) == ["L1-a"] and ids(change.waiting("chat", 0, 9)) == ["other"]
            assert change.waiting("mail", 2, 9) == change.waiting("none", 0, 9) == []
            assert change.count_nodes("mail") == {0: (5, 4), 1: (1, 1)} and change.count_nodes("none") == {}
            assert change.count_nodes() == {0: (6, 5), 1: (1, 1)}
            assert (change.count_waiting("mail"), change.count_waiting("none")) == ({0: 4, 1: 1}, {})

    def test_nodes_of_another_model_are_found(self, index: Index) -> None:
        """Summaries that another model wrote come lower levels first, up to a limit; leaves were written by none."""
        with index.transaction(LOCAL) as change:
            put_tree(change)
            change.set_nodes(NOTES, "L1-a", [summary("L1-a", model="m")])
            assert ids(change.nodes_not_by("m", 9)) == ["L1-b", "L2-c"] and ids(change.nodes_not_by("m", 1)) == ["L1-b"]
            assert ids(change.nodes_not_by("extract", 9)) == ["L1-a"]

    def test_a_unit_knows_the_summary_of_its_leaf(self, index: Index) -> None:
        """A unit is in the leaf that begins with it or before it in its file; those of a leaf that waits, or of none,
        are in no summary."""
        with index.transaction(LOCAL) as change:
            ended = unit("u-0")._replace(end=STAMP)
            put_unit(change, "a", ended, *(unit(f"u-{number}") for number in range(1, 6)))
            put_unit(change, "b", unit("u-9"))
            change.set_nodes(MAIL, "a", [leaf("x", place=1), leaf("y", place=3), leaf("z", place=5)])
            change.set_nodes(NOTES, "L1-a", [summary("L1-a")])
            change.adopt("L1-a", ["y", "z"], AS_MADE)
            change.set_nodes(NOTES, "L1-b", [summary("L1-b")])
            change.adopt("L1-b", ["z"], AS_MADE)
            names = {item.no: item.entry.id for item in change.units([f"u-{number}" for number in range(10)])}
            found = change.sealed_in([*names, 12345])
            assert {names[no]: ident for no, ident in found.items()} == {"u-3": "L1-a", "u-4": "L1-a", "u-5": "L1-b"}
            assert change.sealed_in([]) == {}

    def test_nodes_are_rolled_back(self, index: Index) -> None:
        """A transaction that is given up leaves nodes, parents, states, topics and days as they were."""
        with index.transaction(LOCAL) as change:
            put_tree(change)
            change.set_topic("/tree/topic", "t", topic("person:ann", "t"))
            change.put_day("2026-11-15", "{}")
            before = parents(change)
        with pytest.raises(GiveUp), index.transaction(LOCAL) as change:
            change.set_nodes(MAIL, "a", [leaf("a1", print="other"), leaf("new")])
            change.set_nodes(NOTES, "L1-b", [])
            change.adopt("L2-c", (), CHANGED)
            change.set_topic("/tree/topic", "t", None)
            change.put_day("2026-11-15", "")
            change.put_day("2026-11-16", "{}")
            raise GiveUp
        with index.reading(LOCAL) as reading:
            assert parents(reading) == before and reading.count_in_states() == 0
            assert [row.print for row in reading.nodes(["a1"])] == ["print of a1"] and reading.nodes(["new"]) == []
            assert [row.entity for row in reading.topic_rows(None, 9)] == ["person:ann"]
            assert reading.days("", "9") == {"2026-11-15": "{}"}

    def test_spaces_do_not_see_each_others_nodes(self, index: Index) -> None:
        """Nodes, topics, days, units and marks of files and hours of one space are in no answer of another, and no
        change there touches them."""
        with index.transaction(LOCAL) as change:
            put_unit(change, labels=[ANN])
            put_tree(change)
            change.set_topic("/tree/topic", "t", topic(ANN.name, "t"))
            change.put_day("2026-11-15", "mine")
            change.put(file_row("b"))
            before = parents(change), marks(change)
        with index.transaction(ELSEWHERE) as change:
            assert (change.changed_files(9), change.changed_hours(), change.count_changed_files()) == ([], [], 0)
            assert change.nodes(["a1"]) == change.nodes_of(MAIL, "a") == change.children("L1-a") == []
            assert change.waiting("mail", 2, 9) == change.nodes_not_by("m", 9) == [] and change.count_nodes() == {}
            assert change.topic_rows(None, 9) == change.topics_about([ANN.name]) == [] and change.days("", "9") == {}
            assert (change.units_between("", "9"), change.mention_spans([ANN.name], 9)) == ([], [])
            assert change.entry_numbers(MAIL, "a") == [] and not change.is_mentioned_before(ANN.name, _EVER)
            change.set_nodes(MAIL, "a", [leaf("a1", print="theirs")])
            change.adopt("a1", ["b1"], BROKEN)
            change.set_nodes(MAIL, "a", [])
            change.set_topic("/tree/topic", "t", None)
            change.put_day("2026-11-15", "theirs")
            change.unmark_hours([_NINE])
        with index.reading(LOCAL) as reading:
            assert (parents(reading), marks(reading)) == before and reading.count_in_states() == 0
            assert reading.days("", "9") == {"2026-11-15": "mine"} and len(reading.topic_rows(None, 9)) == 1

    # Topics and days

    def test_topics_are_found_by_entity_and_by_heat(self, index: Index) -> None:
        """A file is about one topic; topics come hottest first, of one state or awake before dormant, and an entity has
        one."""
        with index.transaction(LOCAL) as change:
            rows = [topic("b", "b", 2.0), topic("a", "a", 2.0), topic("c", "c", 9.0, "dormant"), topic("d", "d", 3.0)]
            for row in rows:
                change.set_topic(row.folder, row.name, row)
            found = [[row.entity for row in change.topic_rows(state, 9)] for state in (None, "awake", "dormant", "odd")]
            assert found == [["d", "a", "b", "c"], ["d", "a", "b"], ["c"], []]
            assert [row.entity for row in change.topic_rows(None, 2)] == ["d", "a"]
            assert change.topics_about(["c", "a", "none"]) == [rows[1], rows[2]]
            change.set_topic("/tree/topic", "a", topic("e", "a"))
            assert change.topics_about(["a", "e"]) == [topic("e", "a")]
            change.set_topic("/tree/topic", "e", topic("e", "e", 5.0))
            assert change.topics_about(["e"]) == [topic("e", "e", 5.0)] and len(change.topic_rows(None, 9)) == 4
            change.set_topic("/tree/topic", "e", None)
            assert change.topics_about(["e"]) == []

    def test_units_are_found_by_time_and_by_what_they_mention(self, index: Index) -> None:
        """Current units of a span come by time, its end left out; those that mention something come latest first, with
        their author and signals."""
        with index.transaction(LOCAL) as change:
            nine, ten, eleven = (f"2026-11-15T{hour}:00:00Z" for hour in ("09", "10", "11"))
            units = [
                unit("u-2", ten, author="Bob", extra=(("signals", "bulk,list"),)), unit("u-1", nine, author="Ann"),
                unit("u-3", eleven), unit("u-0", ten), unit("e-4", ten), unit("u-5", ten)._replace(end=STAMP),
            ]  # fmt: skip
            change.put(file_row("a"))
            change.set_entries(MAIL, "a", units)
            numbers = [item.no for item in change.units(["u-0", "u-1", "u-2", "u-3"])]
            names = {item.no: item.entry.id for item in change.candidates(numbers)}
            assert [names[no] for no in change.units_between("", "9")] == ["u-1", "u-0", "u-2", "u-3"]
            assert [names[no] for no in change.units_between(nine, eleven)] == ["u-1", "u-0", "u-2"]
            assert change.units_between(eleven, nine) == change.units_between(nine, nine) == []
            assert len(change.entry_numbers(MAIL, "a")) == 5 and change.entry_numbers(MAIL, "b") == []
            by_name = {name: no for no, name in names.items()}
            change.put_labels({by_name["u-1"]: [ANN], by_name["u-2"]: [ANN, OPS], by_name["u-3"]: [OPS]})
            spans = change.mention_spans([ANN.name, OPS.name, "no:such"], 9)
            assert [names[span.no] for span in spans] == ["u-3", "u-2", "u-1"]
            assert spans[1] == MentionSpan(by_name["u-2"], MAIL, "a", ten, "Bob", frozenset({"bulk", "list"}))
            assert len(change.mention_spans([ANN.name, OPS.name], 2)) == 2 and change.mention_spans([], 9) == []
            change.put_labels({by_name["u-0"]: [ANN._replace(surface="ANN")], by_name["u-3"]: [OPS, ANN]})
            assert [names[span.no] for span in change.mention_spans([ANN.name], 3)] == ["u-3", "u-2", "u-0"]
            assert change.surfaces([ANN.name, "no:such"]) == {ANN.name: "ANN"}
            assert [change.is_mentioned_before(ANN.name, moment) for moment in (nine, ten)] == [False, True]

    @pytest.mark.parametrize("label", [ANN, OPS])
    def test_whoever_is_new_later_is_marked_with_the_first_mention(self, index: Index, label: Label) -> None:
        """Where the first unit that mentions a person comes, goes or ends, the hour of the next one is marked too; not
        where another one is earlier, not in another space, and of nothing but people."""
        moments = [f"2026-11-{day}T09:00:00Z" for day in (11, 12, 13, 14)]
        hours = [moment[: len(_NINE)] for moment in moments]
        is_person = label.name.startswith("person:")
        with index.transaction(ELSEWHERE) as change:
            put_unit(change, "a", unit("u-0", moments[0]), labels=[label])
        with index.transaction(LOCAL) as change:
            for name, moment in (("d", moments[3]), ("c", moments[2])):
                clear(change)
                put_unit(change, name, unit(f"u-{name}", moment), labels=[label])
            assert change.changed_hours() == hours[2:] if is_person else hours[2:3]
            clear(change)
            put_unit(change, "a", unit("u-a", moments[1]), unit("u-b", moments[1]), labels=[label])
            assert change.changed_hours() == (hours[1:3] if is_person else hours[1:2])
            clear(change)
            change.set_entries(MAIL, "c", [])
            assert change.changed_hours() == hours[2:3]
            clear(change)
            change.add_entries(MAIL, "a", [], close_at=STAMP)
            assert change.changed_hours() == ([hours[1], hours[3]] if is_person else hours[1:2])
            assert [label.name for label in change.count_mentions([label.name])] == [label.name]
            assert change.unlabelled(9) == []

    def test_the_latest_of_many_mentions_do_not_depend_on_their_order(self, index: Index) -> None:
        """Of units of one second the same ones come first, however they were put, also where a limit cuts them; and
        with two labels as many as there are."""
        moment = "2026-11-15T09:00:00Z"
        with index.transaction(LOCAL) as change:
            for name in ("b", "d", "a", "c"):
                put_unit(change, name, unit(f"u-{name}", moment), labels=[ANN, OPS] if name == "a" else [ANN])
            put_unit(change, "e", unit("u-e", "2026-11-14T09:00:00Z"), labels=[OPS])
            found = [
                [span.name for span in change.mention_spans(names, limit)]
                for names, limit in (([ANN.name], 2), ([ANN.name, OPS.name], 9), ([ANN.name, OPS.name], 4), ([], 3))
            ]
            assert found == [["d", "c"], ["d", "c", "b", "a", "e"], ["d", "c", "b", "a"], []]
            assert change.mention_spans([ANN.name], 0) == []

    def test_days_are_kept_by_their_dates(self, index: Index) -> None:
        """What is kept of days comes by date, both ends included; a day is replaced, and dropped with an empty text."""
        with index.transaction(LOCAL) as change:
            for day in ("2026-11-16", "2026-11-14", "2026-11-15"):
                change.put_day(day, f"of {day}")
            change.put_day("2026-11-15", "other")
            assert list(change.days("2026-11-15", "2026-11-16").items()) == [
                ("2026-11-15", "other"), ("2026-11-16", "of 2026-11-16"),
            ]  # fmt: skip
            assert change.list_days("2026-11-15", "2026-11-16") == ["2026-11-15", "2026-11-16"]
            change.put_day("2026-11-15", "")
            change.put_day("2030-01-01", "")
            assert [*change.days("2026-11-14", "2030-12-31")] == ["2026-11-14", "2026-11-16"]
