"""What the SQLite index promises beside the port: a reading sees one moment, and a word finds what it begins."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from commonplace.index.sqlite import SqliteIndex
from commonplace.index.values import EntryInterval, Window
from commonplace.model.memory import Entry
from commonplace.model.scope import LOCAL
from commonplace.text.words import query_terms
from tests.depth import examples
from tests.index.conformance import HERE, put, row
from tests.stateful.books import digest
from tests.strategies import STAMP


def make_turn(seq: int, text: str, end: str | None) -> EntryInterval:
    return EntryInterval(Entry(STAMP, text, id=f"t{seq}", thread="talk", seq=seq), STAMP, end)


_turns = st.builds(
    make_turn, st.integers(1, 3), st.sampled_from(("kettle", "green", "frosty")), st.sampled_from((None, None, STAMP))
)


def test_a_reading_sees_one_moment(tmp_path: Path) -> None:
    """What another process writes while a reading goes on is seen by the next one, not halfway through this one."""
    ours, theirs = SqliteIndex(tmp_path / "index.db"), SqliteIndex(tmp_path / "index.db")
    with ours.reading(LOCAL) as reading:
        assert "kettle" not in reading.rows(HERE)
        put(theirs, row("kettle"))
        assert "kettle" not in reading.rows(HERE)
    with ours.reading(LOCAL) as reading:
        assert "kettle" in reading.rows(HERE)


def test_a_change_inside_a_reading_lasts(tmp_path: Path) -> None:
    """Who reads may make a change meanwhile: it is there at once, for the reading too, and after it."""
    ours, theirs = SqliteIndex(tmp_path / "index.db"), SqliteIndex(tmp_path / "index.db")
    with ours.reading(LOCAL) as reading:
        assert "kettle" not in reading.rows(HERE)
        put(ours, row("kettle"))
        assert "kettle" in reading.rows(HERE)
        with theirs.reading(LOCAL) as other:
            assert "kettle" in other.rows(HERE)


def test_a_reading_that_fails_leaves_the_index_free(tmp_path: Path) -> None:
    """After an error inside a reading the next one sees what was written since."""
    ours, theirs = SqliteIndex(tmp_path / "index.db"), SqliteIndex(tmp_path / "index.db")
    try:
        with ours.reading(LOCAL) as reading:
            reading.rows(HERE)
            raise KeyError
    except KeyError:
        put(theirs, row("kettle"))
    with ours.reading(LOCAL) as reading:
        assert "kettle" in reading.rows(HERE)


@examples(100, quick=15)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(_turns, max_size=3)), min_size=2, max_size=6))
def test_words_beside_a_turn_do_not_depend_on_what_was_before(changes: list[tuple[str, list[EntryInterval]]]) -> None:
    """However the notes of a conversation were changed, copied or ended, its words are those of an index that is built
    of what they say in the end, in any order."""
    index = SqliteIndex(":memory:")
    said: dict[str, list[EntryInterval]] = {}
    for name, turns in changes:
        put_turns(index, name, turns)
        said[name] = turns
        with index.transaction(LOCAL) as change:
            change.fill_words()
    anew = SqliteIndex(":memory:")
    for name, turns in sorted(said.items(), reverse=True):
        put_turns(anew, name, turns)
    assert digest(index) == digest(anew)


def put_turns(index: SqliteIndex, name: str, turns: list[EntryInterval]) -> None:
    put(index, row(name))
    with index.transaction(LOCAL) as change:
        change.set_entries(HERE, name, turns)


def test_words_beside_a_turn_change_when_it_ends() -> None:
    """Where all that a note says is ended, the turns beside these in another note have others beside them."""
    index = SqliteIndex(":memory:")
    put_turns(index, "a", [make_turn(1, "kettle", None)])
    put_turns(index, "b", [make_turn(2, "green", None)])
    digest(index)  # which puts the words
    with index.transaction(LOCAL) as change:
        change.add_entries(HERE, "b", [], close_at=STAMP)
    anew = SqliteIndex(":memory:")
    put_turns(anew, "a", [make_turn(1, "kettle", None)])
    put_turns(anew, "b", [make_turn(2, "green", STAMP)])
    assert digest(index) == digest(anew)


def test_matches_counts_what_a_word_begins() -> None:
    """What only begins with a word of the question is counted beside what has the word itself, each once."""
    with SqliteIndex(":memory:").transaction(LOCAL) as change:
        for ident, text in (("e1", "Frontmatter is YAML."), ("e2", "In front of it."), ("e3", "A front, frontal.")):
            change.put(row(ident))
            change.set_entries(HERE, ident, [EntryInterval(Entry(STAMP, text, id=ident), STAMP)])
        change.fill_words()
        assert [change.count_matches(query_terms("front"), Window([HERE]), most) for most in (1, 2, 3, 9)] == [
            1,
            2,
            3,
            3,
        ]
