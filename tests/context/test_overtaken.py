"""A brief does not tell a fact that a later memory may contradict: it names it, once both were compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from tests.hooks.hooking import tell

APP, OTHER = "acme/app", "acme/other"
BURNER = "The workshop is heated by the Valdor oil burner in the cellar."
PUMP = "Valdor burner sold for scrap; a pump took its place in the cellar, ask Ida for the manual."


def fill(root: Path, *, pump_in: str = APP) -> None:
    with Book.open(root, project=APP) as book:
        book.store(BURNER, "burner", tags=["heating"], occurred="2025-01-01T00:00:00Z")
    with Book.open(root, project=pump_in) as book:
        book.store(PUMP, "cellar-pump", tags=["heating"], occurred="2026-01-01T00:00:00Z")
        book.embed()


def brief(root: Path) -> str:
    """What a hook tells, which has no vectors."""
    said = {"session_id": "s1", "cwd": str(root.parent)}
    return tell(root, "session-start", "kiro", said, COMMONPLACE_PROJECT=APP)


def test_what_is_overtaken_is_named_and_not_told(root: Path) -> None:
    """The brief of a hook has the later memory and only the key of the earlier one; --explain says why."""
    fill(root)
    text = brief(root)
    assert PUMP in text
    assert BURNER not in text
    assert "1 more: `burner`" in text
    with Book.open(root, project=APP) as book:
        (why,) = [one for one in book.brief(explain=True).explained if one["ref"] == "project/burner"]
    assert why["place"] == "by name"
    assert str(why["why"]).startswith("project/cellar-pump may contradict it")


def test_a_preference_of_a_person_is_always_told(root: Path) -> None:
    """What a person asked for is told though a later memory may contradict it: only they can take it back."""
    with Book.open(root, project=APP) as book:
        book.store(BURNER, "burner", type="feedback", tags=["heating"], occurred="2025-01-01T00:00:00Z")
    fill(root)
    assert BURNER in brief(root)


def test_a_link_decides(root: Path) -> None:
    """Once a person says that both hold, both are told."""
    fill(root)
    with Book.open(root, project=APP) as book:
        book.link("burner", "relates_to", "project/cellar-pump")
    text = brief(root)
    assert PUMP in text
    assert BURNER in text


def test_what_is_gone_overtakes_nothing(root: Path) -> None:
    """When the later memory is forgotten, or says something else, the earlier one is told again."""
    fill(root)
    with Book.open(root, project=APP) as book:
        book.store("The garden is watered at six.", "cellar-pump", mode="replace")
        book.embed()
    assert BURNER in brief(root)
    with Book.open(root, project=APP) as book:
        book.forget("cellar-pump")
    assert BURNER in brief(root)


def test_another_project_overtakes_nothing(root: Path) -> None:
    """A memory of another project neither hides one of this project nor is named in its brief."""
    fill(root, pump_in=OTHER)
    text = brief(root)
    assert BURNER in text
    assert "cellar-pump" not in text


@pytest.mark.parametrize("is_one_by_one", [True, False])
def test_a_series_overtakes_nothing(is_one_by_one: bool, root: Path) -> None:
    """Notes that are alike on purpose are all told, whether embedded one by one or together."""
    notes = [f"Fact number {number} of this project." for number in range(12)]
    with Book.open(root, project=APP) as book:
        for number, note in enumerate(notes):
            book.store(note, f"fact-{number}", occurred=f"2025-{number + 1:02}-01T00:00:00Z")
            if is_one_by_one:
                book.embed()
        book.embed()
    text = brief(root)
    assert [note for note in notes if note not in text] == []
