"""Links when a memory moves or gets another key: those that can follow do, and the others are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT

WEB = "github.com/acme/web"
IN_WEB = ("--project", WEB)


def links(key: str, *words: str) -> list[str]:
    return [link["to"] for link in fine("show", key, *words)["links"]]


def related(key: str) -> list[tuple[str, str]]:
    outcome = run("show", key, "--related", "--json")
    return [(item["key"], item["scope_id"]) for item in outcome.answer()["memories"]]


def broken() -> list[str]:
    findings: list[dict[str, Any]] = run("doctor", "--json").answer()["findings"]
    return [item["message"] for item in findings if item["code"] == "broken_link"]


@pytest.fixture
def linked(book: Path) -> Path:
    """A book with a second project, where `from` links to `to`."""
    with Book.open(book, project=WEB) as web:
        web.store("Something.", "something")
    fine("store", "The one that links.", "--key", "from")
    fine("store", "The one that is linked.", "--key", "to")
    fine("link", "from", "relates_to", "to")
    return book


def test_a_link_follows_to_another_project_and_back(linked: Path) -> None:
    """A link follows its memory to another project, whatever the way there, says that agents cannot, and comes back."""
    for hop in (False, True):
        if hop:
            fine("move", "to", "--to", "global")
            assert links("from") == ["global/to"]
        moved = fine("move", "to", "--to", "web")
        assert moved["notice"] == "Agents cannot follow the links to it from project/from."
        assert links("from") == [moved["path"]] and related("from") == [("to", WEB)] and broken() == []
        fine("rename", "to", "to-2", *IN_WEB)
        assert related("from") == [("to-2", WEB)]
        fine("rename", "to-2", "to", *IN_WEB)
        back = fine("move", "to", "--to", f"project:{PROJECT}", *IN_WEB)
        assert links("from") == ["to"] and not back.get("notice")
        assert related("from") == [("to", PROJECT)]
    assert fine("verify")["ok"]


def test_the_links_of_what_moves(linked: Path) -> None:
    """The links of a moved memory lead where they led, also if that has gone to another project before."""
    moved = fine("move", "from", "--to", "web")
    assert "Agents cannot follow its links to /memories/project/app-" in moved["notice"]
    (path,) = links("from", *IN_WEB)
    assert (linked / path.lstrip("/")).is_file() and broken() == []
    assert not fine("move", "to", "--to", "web").get("notice")
    assert links("from", *IN_WEB) == ["to"]
    fine("move", "from", "--to", "agent:bob", *IN_WEB)
    with Book.open(linked, project=WEB, agent="bob") as bob:
        (link,) = bob.show("from", "agent").meta.links
    assert (linked / link.to.lstrip("/")).is_file() and broken() == []


def test_an_agent_cannot_follow_into_another_project(linked: Path) -> None:
    """An agent that reads a link into another project is shown nothing of what is there."""
    fine("move", "to", "--to", "web")
    answer = run("show", "from", "--related", "--agent", "bob", "--json")
    assert answer.answer()["memories"] == [] and "linked" not in answer.out


def test_doctor_names_a_link_that_only_another_project_could_mean(linked: Path) -> None:
    """A link to a key that is gone is broken, also where another project has a memory of that name."""
    with Book.open(linked, project=WEB) as web:
        web.store("Another.", "to")
    fine("forget", "to")
    assert broken() == ["A link leads to 'to', which does not exist."]


def test_wikilinks_follow_a_rename(linked: Path) -> None:
    """The wikilinks of stored texts follow a rename, however they are written; code and other words stay."""
    text = "See [[to]], [[to#top|that one]] and [[project/to]]; not `[[to]]` nor [[to-do]]."
    fine("store", text, "--key", "writer")
    fine("store", "As [[to]] says.", "--key", "far", "--scope", "global")
    fine("store", "To do.", "--key", "to-do")
    before = fine("show", "writer")["entries"][0]
    answer = fine("rename", "to", "to-2")
    assert not answer.get("notice") and broken() == []
    (entry,) = fine("show", "writer")["entries"]
    assert entry["text"] == "See [[to-2]], [[to-2#top|that one]] and [[to-2]]; not `[[to]]` nor [[to-do]]."
    assert {**entry, "text": ""} == {**before, "text": ""}
    assert fine("show", "far")["entries"][0]["text"] == "As [[to-2]] says."
    assert "[[to-2]]" in fine("show", "far")["summary"]
    fine("undo", "writer")
    assert fine("show", "writer")["entries"][0]["text"] == text and fine("verify")["ok"]


def test_text_by_hand_is_named_and_left(linked: Path) -> None:
    """A rename does not change what a person wrote into a file by hand: the answer names it."""
    (folder,) = linked.glob("memories/project/app-*")
    (folder / "by-hand.md").write_text("Mine: [[to]].\n", "utf-8")
    answer = fine("rename", "to", "to-2")
    assert "Text by hand or from outside still links to its old name: project/by-hand." in answer["notice"]
    assert (folder / "by-hand.md").read_text("utf-8") == "Mine: [[to]].\n"
    assert broken() == ["A link leads to 'to', which does not exist."]


def test_a_wikilink_that_means_another_memory_stays(linked: Path) -> None:
    """A wikilink to a key that the note's own scope has does not follow the memory of another scope."""
    fine("store", "The other one.", "--key", "to", "--scope", "global")
    fine("store", "See [[to]].", "--key", "near", "--scope", "global")
    assert not fine("rename", "to", "to-2", "--scope", "project").get("notice")
    assert fine("show", "near")["entries"][0]["text"] == "See [[to]]."
