"""A hit that a later memory may contradict names it, and that memory stands beside it; the best hit stays first."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.choices import SearchMode
from commonplace.model.scope import Scope, ScopeKind
from commonplace.verbs.recall import TOOLS
from tests.cli.calls import fine, run
from tests.recall.test_meaning import keys, opened

OLD, NEW = "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
BURNER = "The workshop is heated by the Valdor oil burner in the cellar."
PUMP = "Valdor burner sold for scrap; a pump took its place in the cellar, ask Ida for the manual."
QUESTION = "how do we keep the workshop warm"
LINE = f"project/cellar-pump of 2026-01-01 may say otherwise: {PUMP}"


def fill(root: Path, burner: str = OLD, pump: str = NEW) -> Book:
    book = opened(root)
    book.store(BURNER, key="burner", tags=["heating"], occurred=burner)
    book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=pump)
    return book


def list_later(book: Book, question: str, mode: SearchMode = "hybrid") -> dict[str, str | None]:
    hits = book.recall(question, mode=mode).hits
    return {hit.key: hit.later.key if hit.later is not None else None for hit in hits}


def test_a_hit_names_the_later_memory(tmp_path: Path) -> None:
    """The hit has its key, scope, day and summary; the order is that of the question, and the later one names none."""
    with fill(tmp_path / "book") as book:
        first, second = book.recall(QUESTION).hits
        assert (first.key, second.key, second.later) == ("burner", "cellar-pump", None)
        assert first.later == ("project/cellar-pump", "cellar-pump", NEW, PUMP)


def test_one_word_of_a_short_note_is_chance(tmp_path: Path) -> None:
    """A later note that shares one of the two telling words of a short one is about something else."""
    with opened(tmp_path / "book") as book:
        book.store("The zebra is striped.", key="zebra", occurred=OLD)
        book.store("The emu is new, and faster than the zebra.", key="emu", occurred=NEW)
        assert list_later(book, "zebra") == {"zebra": None, "emu": None}


def test_every_surface_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool has it in its data and its text, the command line in its text and its JSON."""
    recall = next(tool for tool in TOOLS if tool.name == "memory_recall")
    with fill(tmp_path / "book") as book:
        answer = recall.run(book.context, {"query": QUESTION})
        assert [hit.get("later") for hit in answer.data["hits"]] == [LINE, None]
        assert answer.text.count(LINE) == 1
    monkeypatch.setenv("COMMONPLACE_ROOT", str(tmp_path / "book"))
    monkeypatch.setenv("COMMONPLACE_PROJECT", "acme/app")
    assert f"later: {LINE}" in run("recall", QUESTION).out
    first, second = fine("recall", QUESTION)["hits"]
    assert first["later"]["key"] == "cellar-pump" and not second.get("later")


def test_what_was_before_is_not_named(tmp_path: Path) -> None:
    """The same note from an earlier day was known when the other was written."""
    with fill(tmp_path / "book", burner=NEW, pump=OLD) as book:
        assert list_later(book, QUESTION)["burner"] is None


def test_what_the_caller_may_not_see_is_not_named(tmp_path: Path) -> None:
    """A later memory of another agent, of another project, or one that was forgotten is named to nobody else."""
    with opened(tmp_path / "book", agent="one") as book:
        book.store(BURNER, key="burner", occurred=OLD)
        book.store(PUMP, key="cellar-pump", scope="agent", occurred=NEW)
        assert list_later(book, QUESTION)["burner"] == "cellar-pump"
    with opened(tmp_path / "book", agent="two") as other:
        assert list_later(other, QUESTION) == {"burner": None}
    with opened(tmp_path / "book", agent="one") as book:
        book.forget("cellar-pump", scope="agent")
        assert list_later(book, QUESTION) == {"burner": None}
    with Book.open(tmp_path / "book", project="acme/other") as other:
        other.store(PUMP, key="cellar-pump", occurred=NEW)
    with opened(tmp_path / "book") as book:
        assert list_later(book, QUESTION) == {"burner": None}


def test_what_is_superseded_is_not_named(tmp_path: Path) -> None:
    """A later note that was itself superseded contradicts nothing any more."""
    with fill(tmp_path / "book") as book:
        book.store("Ida took the pump home.", key="ida", decision="supersede:cellar-pump")
        assert list_later(book, QUESTION)["burner"] is None


def test_entries_of_one_memory_are_not_named(tmp_path: Path) -> None:
    """What was added to a memory stands beside what it said before: the hit does not name its own memory."""
    with opened(tmp_path / "book") as book:
        for text, when in ((BURNER, OLD), (PUMP, NEW)):
            book.store(text, key="heating", occurred=when)
        assert [hit.later for hit in book.recall(QUESTION).hits] == [None, None]


def test_long_notes_and_turns_are_not_named(tmp_path: Path) -> None:
    """The minutes of two meetings have many words in common and contradict nothing; nor do turns of a conversation."""
    minutes = "In the meeting the team went over the budget, the heating and the plans for the cellar. " * 12
    with opened(tmp_path / "book") as book:
        for key, text, thread in (("m", minutes, None), ("t", BURNER, "talk")):
            for when in (OLD, NEW):
                book.store(text, key=f"{key}-{when[:4]}", occurred=when, thread=thread, decision="create")
        assert set(list_later(book, "the heating in the cellar").values()) == {None}


@pytest.mark.parametrize("frozen", [False, True])
def test_stored_in_one_second(tmp_path: Path, frozen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two notes that were stored in one second, even in one millisecond, the second is the later one and comes
    first, whichever the words of the question are nearer to."""
    if frozen:
        monkeypatch.setattr(time, "time_ns", lambda: 1_900_000_000_000_000_000)
    with opened(tmp_path / "book") as book:
        for first, second in (("100", "250 since May"), ("250 since May", "100")):
            one, two = (f"The limit of the API is {value} requests a minute." for value in (first, second))
            book.store(one, key=f"first-{first[:3]}")
            book.store(two, key=f"second-{first[:3]}")
            assert [*list_later(book, "limit of the API").items()] == [
                (f"second-{first[:3]}", None),
                (f"first-{first[:3]}", f"second-{first[:3]}"),
            ]
            book.clear("project")


def test_by_words_alone(tmp_path: Path) -> None:
    """Asked by words alone, a hit names the later memory too, and nothing that only has a word in common."""
    with opened(tmp_path / "book") as book:
        book.store("The limit of the API is 100 requests a minute.", key="old", occurred=OLD)
        book.store("The limit of the API is 250 requests a minute, and 90 for guests of Ida.", key="new", occurred=NEW)
        book.store("The canteen has an API for guests.", key="other", occurred=NEW)
        assert list_later(book, "limit of the API", "lexical") == {"new": None, "old": "new", "other": None}


def test_the_same_language_is_not_the_same_thing(tmp_path: Path) -> None:
    """Notes in a script that the model cannot read are compared by their words: another topic is not named, another
    value is."""
    with opened(tmp_path / "book") as book:
        book.store("Ключ от склада лежит у вахтёра в синем ящике.", key="ru-klyuch", occurred=OLD)
        book.store("Собрание по вторникам начинается в десять утра.", key="ru-sobranie", occurred=NEW)
        assert list_later(book, "где лежит ключ от склада")["ru-klyuch"] is None
        book.store("Ключ от склада лежит у директора в синем ящике.", key="ru-novyj", occurred=NEW)
        assert list_later(book, "где лежит ключ от склада")["ru-klyuch"] == "ru-novyj"


def test_an_older_note_that_has_what_is_named_stays_first(tmp_path: Path) -> None:
    """Whoever asks for an identifier, or quotes, gets what has it first; the later note is only named."""
    with opened(tmp_path / "book") as book:
        book.store(BURNER.replace("Valdor", "Valdor VX-204"), key="burner", tags=["heating"], occurred=OLD)
        book.store(PUMP, key="cellar-pump", tags=["heating"], occurred=NEW)
        for question in ("VX-204", '"heated by the Valdor"'):
            assert keys(book, question)[:1] == ["burner"]
            assert list_later(book, question)["burner"] == "cellar-pump"


def test_a_link_says_that_both_hold(tmp_path: Path) -> None:
    """A person links either memory to the other as related: then neither is named as a later word on the other."""
    for key, to in (("burner", "cellar-pump"), ("cellar-pump", "project/burner")):
        with fill(tmp_path / key) as book:
            assert list_later(book, QUESTION)["burner"] == "cellar-pump"
            book.link(key, "relates_to", to)
            assert set(list_later(book, QUESTION).values()) == {None}
            book.reindex()
            assert set(list_later(book, QUESTION).values()) == {None}


@pytest.mark.parametrize("is_accepted", [False, True])
def test_a_proposed_link_decides_nothing_until_it_is_judged(tmp_path: Path, is_accepted: bool) -> None:
    """What an agent proposes changes nothing; rejected, both memories hold; accepted, the later one is named."""
    other = "Ida keeps bees, and sells their honey on Saturdays."
    with opened(tmp_path / "book", agent="one") as agent:
        agent.store(BURNER, key="burner", tags=["heating"], occurred=OLD)
        agent.store(PUMP if not is_accepted else other, key="cellar-pump", tags=["heating"], occurred=NEW)
        agent.link("cellar-pump", "contradicts", "burner")
        agent.link("burner", "relates_to", "cellar-pump")
        assert list_later(agent, QUESTION)["burner"] == (None if is_accepted else "cellar-pump")
    with opened(tmp_path / "book") as person:
        judge = person.accept if is_accepted else person.reject
        judge("cellar-pump", rel="contradicts", to="burner")
        assert list_later(person, QUESTION)["burner"] == ("cellar-pump" if is_accepted else None)


@pytest.mark.parametrize(("key", "to"), [("bees", "global/burner"), ("burner", "project/bees")])
def test_a_contradicting_memory_is_named_whatever_it_says(tmp_path: Path, key: str, to: str) -> None:
    """One that has no word of the question or the hit, is long, and is not among what was found; not the older one."""
    with opened(tmp_path / "book") as book:
        book.store(BURNER, key="burner", scope="global", occurred=OLD)
        book.store("Ida keeps bees and sells honey. " * 40, key="bees", occurred=NEW)
        for number in range(200):
            book.store(f"Heater {number} warms workshop {number}.", key=f"h-{number}", decision="create", occurred=OLD)
        book.link(key, "contradicts", to)
        assert list_later(book, "the Valdor oil burner", mode="lexical")["burner"] == "bees"
        assert list_later(book, "bees and honey", mode="lexical")["bees"] is None


def test_a_link_to_what_the_caller_may_not_see_names_nothing(tmp_path: Path) -> None:
    """The memory of another agent contradicts a shared one: the agent itself is told, another is not."""
    with opened(tmp_path / "book", agent="one") as book:
        book.store(BURNER, key="burner", occurred=OLD)
        book.store("Ida keeps bees.", key="bees", scope="agent", occurred=NEW)
    with opened(tmp_path / "book") as person:
        person.link("bees", "contradicts", "project/burner", scope=Scope(ScopeKind.AGENT, "one"))
    with opened(tmp_path / "book", agent="one") as book:
        assert list_later(book, QUESTION)["burner"] == "bees"
    with opened(tmp_path / "book", agent="two") as book:
        assert list_later(book, QUESTION) == {"burner": None}


def test_links_decide_on_every_surface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line and the tool: both hold after a link, and the later one is named again when they contradict."""
    recall = next(tool for tool in TOOLS if tool.name == "memory_recall")
    root = tmp_path / "book"
    with fill(root):
        pass
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    monkeypatch.setenv("COMMONPLACE_PROJECT", "acme/app")
    for rel, number in (("relates_to", 0), ("contradicts", 1)):
        fine("link", "burner", rel, "cellar-pump")
        assert run("recall", QUESTION).out.count(LINE) == number
        with opened(root, agent="one") as book:
            answer = recall.run(book.context, {"query": QUESTION})
            assert answer.text.count(LINE) == number


def fill_workshop(root: Path) -> Book:
    """Return a book with a fact, a later word on it that says little of it, and five notes that lie between them."""
    book = fill(root)
    for place in ("window", "door", "roof", "floor", "wall"):
        text = f"Keep the workshop warm: the {place} of the workshop is sealed against the cold."
        book.store(text, key=place, occurred=OLD, decision="create")
    return book


def test_the_later_memory_stands_behind_the_best_hit(tmp_path: Path) -> None:
    """Asked for the burner, the pump that took its place is the second hit, although other notes are nearer."""
    with fill_workshop(tmp_path / "book") as book:
        found = keys(book, "the workshop is heated by an oil burner")
        assert found[:2] == ["burner", "cellar-pump"]
        assert len(found) == len(set(found)) == 7
        assert keys(book, "oil burner of the workshop")[:2] == ["burner", "cellar-pump"]
        only = book.recall("the workshop is heated by an oil burner", limit=1).hits
        assert [(hit.key, hit.later and hit.later.key) for hit in only] == [("burner", "cellar-pump")]


def test_the_later_memory_stands_before_any_other_hit(tmp_path: Path) -> None:
    """Where the older fact is not the best hit, the newer one comes before it, and the best hit stays the best."""
    with fill_workshop(tmp_path / "book") as book:
        found = keys(book, "how is the door of the workshop sealed to keep it warm")
        assert found[0] == "door"
        assert found.index("burner") == found.index("cellar-pump") + 1


def test_what_stands_beside_a_strong_hit_is_strong(tmp_path: Path) -> None:
    """With strong ones only, the later word on a strong hit comes with it; sorted by time nothing is moved."""
    question = "which oil heats the workshop"
    with fill_workshop(tmp_path / "book") as book:
        assert [hit.key for hit in book.recall(question, strong=True).hits] == ["burner", "cellar-pump"]
        assert book.recall(question, sort="recency").hits[0].key == "cellar-pump"
