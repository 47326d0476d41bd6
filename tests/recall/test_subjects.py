"""Notes that differ in a number, an identifier or a name: two subjects, or one with another value.

`subjects.json` has the pairs: an earlier note, a later one, and what is asked. What `store` and `later` take wrongly is
counted here, and may only become less.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace.recall.duplicates import CONTRADICTS, DIFFERENT, SAME, compare_texts, has_other_identifier
from tests.depth import depths
from tests.recall.test_later import NEW, OLD
from tests.recall.test_meaning import NOTES, keys, opened

PAIRS: dict[str, list[list[str | list[str]]]] = json.loads(
    Path(__file__).with_name("subjects.json").read_text(encoding="utf-8")
)


class Asked(NamedTuple):
    """A question about a pair: what is wanted, the pair, the texts of the hits, and what the earlier note names."""

    question: str
    wanted: str
    earlier: str
    last: str
    texts: list[str]
    later: str | None


def ask(root: Path, kind: str, step: int = 1) -> list[Asked]:
    """Return each question about each pair, asked in a small book of its own; `step` leaves pairs out."""
    found = []
    for number, (earlier, later, *questions) in enumerate(PAIRS[kind][::step]):
        assert isinstance(earlier, str) and isinstance(later, str)
        with opened(root / str(number)) as book:
            book.store_many({"content": text, "occurred": OLD} for text in (*NOTES.values(), earlier))
            book.store(later, key="later", occurred=NEW, decision="create")
            firsts = (earlier, later) if kind != "corrections" else (later,)
            for wanted, asked in zip(firsts, questions, strict=False):
                for question in asked:
                    hits = book.recall(question).hits
                    named = next((hit.later for hit in hits if hit.text == earlier), None)
                    found.append(
                        Asked(
                            question, wanted, earlier, later, [hit.text for hit in hits], named.key if named else None
                        )
                    )
    return found


def count_relations(kind: str) -> dict[str, int]:
    found = [compare_texts(str(earlier), str(later)).relation for earlier, later, *_ in PAIRS[kind]]
    return {relation: found.count(relation) for relation in (SAME, CONTRADICTS, DIFFERENT)}


def test_what_store_says_of_them() -> None:
    """Two subjects are never the same to `store`, and most are nothing to it; another value nearly always
    contradicts."""
    two = count_relations("two subjects")
    assert two[SAME] == 0 and two[CONTRADICTS] <= 28 and two[DIFFERENT] >= 53
    assert count_relations("corrections")[CONTRADICTS] >= 50


@pytest.mark.parametrize("step", depths(6, 1))
def test_of_two_subjects_both_are_shown(tmp_path: Path, step: int) -> None:
    """Of two notes that differ by number, version, letter, path, identifier or name, the one named is among the first
    two, nearly always the first; and two identifiers are never taken for one subject, other names seldom."""
    found = ask(tmp_path, "two subjects", step)
    assert [item for item in found if item.wanted not in item.texts[:2]] == []
    wrong = [item for item in found if item.wanted != item.texts[0]]
    assert len(wrong) <= len(found) / 12, wrong
    told_apart = [item for item in found if has_other_identifier(item.earlier, item.last)]
    assert told_apart and [item for item in told_apart if item.later] == []
    assert sum(item.later is not None for item in found) <= len(found) / 3


@pytest.mark.parametrize("step", depths(5, 1))
def test_another_value_is_shown_and_named(tmp_path: Path, step: int) -> None:
    """A later note with another value is among the first two, also when the question has the old value in it, and the
    earlier one names it."""
    found = ask(tmp_path, "corrections", step)
    assert [item for item in found if item.wanted not in item.texts[:2]] == []
    unnamed = [item for item in found if item.later != "later"]
    assert len(unnamed) <= len(found) / 9, unnamed


def test_where_no_rule_can_tell_both_are_shown(tmp_path: Path) -> None:
    """A value before the verb looks like a subject, and a subject behind it like a value; both notes come first."""
    for item in ask(tmp_path, "taken wrongly"):
        assert {item.wanted, item.earlier} <= {*item.texts[:2]}, item.question


def test_a_server_is_not_another_server(tmp_path: Path) -> None:
    """web-02 says nothing about web-01; what is said later of web-01 does, in its text, and is named."""
    with opened(tmp_path / "book") as book:
        book.store("Server web-01 is in rack 4", key="one", occurred=OLD)
        book.store("Server web-02 is in rack 7", key="two", occurred=NEW, decision="create")
        assert {hit.key: hit.later for hit in book.recall("where is web-01").hits} == {"one": None, "two": None}
        book.store("Server web-01 is in rack 9", key="moved", occurred=NEW, decision="create")
        (one,) = [hit for hit in book.recall("where is web-01").hits if hit.key == "one"]
        assert one.later is not None and one.later.key == "moved"


def test_every_one_of_a_series_is_found_by_its_number(tmp_path: Path) -> None:
    """Of many notes that only identifiers tell apart, written one after the other, the one named comes first."""
    with opened(tmp_path / "book") as book:
        series = [f"web-{n:02}" for n in range(30)] + [f"ERR_{n}" for n in range(2_040, 2_060)]
        when = (f"2025-{1 + n // 28:02}-{1 + n % 28:02}T00:00:00Z" for n in range(len(series)))
        book.store_many(
            {"content": f"{name} is in part {n * 3 % 17} of the list", "key": f"n{n}", "occurred": day}
            for n, (name, day) in enumerate(zip(series, when, strict=True))
        )
        for n, name in enumerate(series):
            assert keys(book, f"in which part of the list is {name}")[:1] == [f"n{n}"], name


def test_short_numbers_tell_notes_apart(tmp_path: Path) -> None:
    """Asked with the whole text of a note, that one comes first, though others differ from it by one digit."""
    with opened(tmp_path / "book") as book:
        series = [f"Fact {n} {m}" for n in range(5) for m in range(5)]
        book.store_many({"content": text, "occurred": f"2025-01-{n:02}"} for n, text in enumerate(series, 1))
        firsts = [book.recall(text).hits[0].text for text in series]
        assert firsts == series


def test_what_was_superseded_does_not_come_back_by_its_number(tmp_path: Path) -> None:
    """A note that was set aside stays below what replaced it, though the question names its number."""
    with opened(tmp_path / "book") as book:
        book.store("Port 6000 is for staging.", key="old", occurred=OLD)
        book.store("Port 7000 is for staging.", key="new", occurred=NEW, decision="supersede:old")
        assert keys(book, "is port 6000 for staging")[:1] == ["new"]
