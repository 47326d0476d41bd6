"""What has a quoted phrase as it is comes first: whole words, in the note itself; nothing is shut out by a quote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.model.choices import SearchMode
from commonplace.text.words import blank_quotes, fold_text, has_phrase, query_terms
from tests.depth import examples

NOTES = {
    "tests": "Run the test suite with `make test`; integration tests need Docker.",
    "port": "Staging listens on port 6000.",
    "boards": "We walked through the dashboards of the quarter.",
    "camel": "getUserProfileById caches for 60 seconds, see parse_frontmatter() too.",
    "cpp": "The resizer is written in C++ and has a C# client.",
    "retro": "Retrospective: last week the tests were flaky, and yesterday too.",
    "drinks": "Maria drinks green tea in the morning.",
    "lines": "The gateway\n  restarts every\tnight; don’t log in then.",
    "zh": "生产数据库每天凌晨三点备份到上海机房、北京机房。",
    "mixed": "東京 tower と大阪 castle へ行く。",
    "ko": "회의실 예약은 사내 포털에서 합니다.",
    "hi": "सर्वर रविवार को फिर से चालू होता है।",
    "release-checklist": "It is in the wiki.",
    "rocket": "Ship it 🚀 before noon.",
}
TALK = ("How was Lisbon?", "Did Carla come along?", "No, she broke her ankle.")
LONG = "the meeting went over the usual status of every stream and nothing was said that anybody would remember "


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    with Book.open(tmp_path_factory.mktemp("quotes") / "book", project="acme/app") as made:
        made.store_many({"content": text, "key": key} for key, text in NOTES.items())
        made.store(LONG * 3, key="minutes")
        made.store("Code freeze is on.", key="freeze", author="maria")
        made.store("Twelve people came.", key="party", summary="The summer party on the roof", tags=["big-event"])
        made.store("The old lamp hums.", key="lamp")
        made.store("The new lamp glows.", key="lamp", mode="append")
        made.store_many(
            {"content": text, "key": f"talk-{at}", "thread": "lisbon", "seq": at, "author": "alice"}
            for at, text in enumerate(TALK)
        )
        yield made


def quoting(book: Book, question: str, mode: SearchMode = "hybrid") -> list[str]:
    """Return the keys of the hits that have the phrase; they are the first hits."""
    found = book.recall(question, mode=mode, explain=True, limit=100)
    have = ["quoted" in parts for parts in found.explained]
    assert have == sorted(have, reverse=True)
    return [hit.key for hit in found.hits[: sum(have)]]


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ('"make test"', ["tests"]),
        ('"make   TEST"', ["tests"]),
        ('"make tests"', []),
        ('"port 6000"', ["port"]),
        ('"ports 6000"', []),
        ('"dash"', []),
        ('"dashboards"', ["boards"]),
        ('"Did Carla come along"', ["talk-1"]),
        ('"getUserProfileById caches"', ["camel"]),
        ('"frontmatter"', ["camel"]),
        ('"C++"', ["cpp"]),
        ('"restarts every night"', ["lines"]),
        ('"don\'t log in"', ["lines"]),
        ('"凌晨三点"', ["zh"]),
        ('"点"', ["zh"]),
        ('"点凌"', []),
        ('"上海机房、北京"', ["zh"]),
        ('"東京 tower"', ["mixed"]),
        ('"포털"', ["ko"]),
        ('"सर्वर रविवार"', ["hi"]),
        ('"सर्व"', []),
        ('"it 🚀 before"', ["rocket"]),
        ('"release-checklist"', ["release-checklist"]),
        ('"big-event"', ["party"]),
        ('"new lamp"', ["lamp"]),
        ("“make test”", ["tests"]),
        ("„make test“", ["tests"]),
        ("«make test»", ["tests"]),
        ("»make tests«", []),
        ('"last week" retrospective', ["retro"]),
        ('"yesterday" tests', ["retro"]),
        ('"Maria" drinks', ["drinks"]),
        (f'"{LONG * 2}"', ["minutes"]),
        (f'"{LONG * 2} not"', []),
    ],
)
def test_a_phrase_is_found_as_it_is_and_nowhere_else(
    book: Book, question: str, found: list[str], mode: SearchMode
) -> None:
    """Whole words in a note's own text, key or tags; only case and white space may differ."""
    assert quoting(book, question, mode) == found


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(
    ("question", "key"),
    [
        ('"release checklist"', "release-checklist"),
        ('"party on the roof"', "party"),
        ('"make tests"', "tests"),
        ('"ports 6000"', "port"),
        ('"the old dashboards" of the quarter', "boards"),
    ],
)
def test_a_quote_shuts_nothing_out(book: Book, question: str, key: str, mode: SearchMode) -> None:
    """A phrase that no note has as it is, or only in the words of a name or a summary, still finds by its words."""
    assert book.recall(question, mode=mode).hits[0].key == key


def test_other_notes_that_nearly_have_it_take_no_place(tmp_path: Path) -> None:
    """Though many notes have another form of the words, the one that has them as quoted comes first."""
    with Book.open(tmp_path / "book", project="p") as book:
        book.store_many({"content": f"Make tests, make tests: run {n}.", "key": f"near-{n}"} for n in range(100))
        book.store("A very long note that says so only once, and far from its beginning: make test.", key="exact")
        for mode in ("hybrid", "lexical"):
            assert book.recall('"make test"', mode=mode).hits[0].key == "exact"


@examples(60)
@given(st.data())
def test_whatever_a_note_says_is_found_when_it_is_quoted(book: Book, data: st.DataObject) -> None:
    """Any run of a note's words, of whatever script, finds the note by that quotation, among the first."""
    key = data.draw(st.sampled_from(sorted(NOTES)))
    words = NOTES[key].split()
    first = data.draw(st.integers(0, len(words) - 1))
    phrase = " ".join(words[first : data.draw(st.integers(first + 1, len(words)))])
    if query_terms(f'"{phrase}"').quoted:
        assert key in quoting(book, f'"{phrase}"', "lexical")


@given(st.text(max_size=80), st.text(max_size=20))
@example("İ", "i̇")
@example("ǰ x", "ǰ x")
def test_any_text_can_be_quoted(text: str, phrase: str) -> None:
    """Nothing breaks it, folding twice is folding once, and what is not quoted stays where it is."""
    folded_text = fold_text(text)
    assert fold_text(folded_text) == folded_text
    has_phrase(folded_text, fold_text(phrase) or "x")
    assert folded_text == "" or has_phrase(folded_text, folded_text)
    outside = blank_quotes(text)
    assert len(outside) == len(text)
    assert all(now in (was, " ") for now, was in zip(outside, text, strict=True))
