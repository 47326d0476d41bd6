"""What each reading verb does, as the table of the specification has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.choices import SearchMode
from commonplace.model.errors import (
    CommonplaceError,
    InvalidField,
    InvalidPath,
    NotFound,
    NotPermitted,
)
from commonplace.text.words import estimate_tokens
from tests.book.opened import keys, open_book, texts, tick


def test_as_of_is_the_book_as_it_was_recorded(root: Path) -> None:
    """As of a time, recall answers what the book said then: before and after a replace, a forget and an undo."""
    with open_book(root) as book:
        tick(book)
        stamps: list[str] = []

        def after() -> str:
            stamps.append(book.context.memories.clock())
            return stamps[-1]

        before = after()
        book.store("Staging listens on port 5432.", key="port")
        first = after()
        book.store("Staging listens on port 6000.", key="port", mode="replace")
        second = after()
        book.forget("port")
        third = after()
        for _ in range(2):
            assert texts(book, "staging port", as_of=before) == []
            assert texts(book, "staging port", as_of=first) == ["Staging listens on port 5432."]
            assert texts(book, "staging port", as_of=second) == ["Staging listens on port 6000."]
            assert texts(book, "staging port", as_of=third) == [] and texts(book, "staging port") == []
            book.reindex()
        book.restore("port")
        fourth = after()
        assert texts(book, "staging port", as_of=third) == []  # it was away then, and that stays so
        book.undo("port")
        fifth = after()
        assert texts(book, "staging port", as_of=first) == ["Staging listens on port 5432."]
        assert texts(book, "staging port", as_of=fourth) == ["Staging listens on port 6000."]
        assert texts(book, "staging port", as_of=fifth) == ["Staging listens on port 5432."]
        assert book.verify().ok


def test_since_and_until_are_about_when_it_happened(root: Path) -> None:
    """Since and until compare the time it happened, a day as a whole day; a time that is none is an error."""
    with open_book(root) as book:
        for day in (1, 2, 3):
            book.store(f"Meeting number {day}.", key=f"m-{day}", occurred=f"2025-03-0{day}T12:00:00Z")
        book.store("Meeting of today.", key="today")

        def found(since: str | None, until: str | None) -> set[str]:
            return {hit.key for hit in book.recall("meeting", since=since, until=until).hits}

        assert found("2025-03-02", "2025-03-02") == {"m-2"}
        assert found(None, "2025-03-02T11:59:59Z") == {"m-1"}
        assert found("2025-03-03T14:00:00+02:00", None) == {"m-3", "today"}
        assert [hit.key for hit in book.timeline(since="2025-03-03")] == ["today", "m-3"]
        for bad in ("some day", "", "2025-13-01", "03/02/2025"):
            with pytest.raises(InvalidField):
                book.recall("meeting", since=bad)


def test_limits_budgets_and_sorts(root: Path) -> None:
    """A limit and a token budget cut the answer and not its total; recency and usage sort as they say."""
    with open_book(root) as book:
        for number in range(5):
            book.store(
                f"Meeting number {number}. " + "word " * 40, key=f"m-{number}", occurred=f"2025-03-0{number + 1}"
            )
        assert (len(book.recall("meeting", limit=2).hits), book.recall("meeting", limit=2).total) == (2, 5)
        small = book.recall("meeting", budget_tokens=150)
        assert 1 <= len(small.hits) < 5 and small.total == 5
        assert len(book.recall("meeting", budget_tokens=1).hits) == 1
        assert [hit.key for hit in book.recall("meeting", sort="recency").hits] == [f"m-{n}" for n in (4, 3, 2, 1, 0)]
        assert [hit.key for hit in book.recall(limit=100).hits] == [f"m-{n}" for n in (4, 3, 2, 1, 0)]
        for bad in ({"limit": 0}, {"limit": 101}, {"budget_tokens": 0}):
            with pytest.raises(InvalidField):
                book.recall("meeting", **bad)  # type: ignore[arg-type]
        for name in ("sort", "mode", "type"):
            with pytest.raises(InvalidField):
                book.recall("meeting", **{name: "nonsense"})  # type: ignore[arg-type]


def test_a_budget_counts_what_is_shown(root: Path) -> None:
    """Long memories take of a budget what is shown of them; the first is cut to a smaller one, and says so."""
    with open_book(root) as book:
        for number in range(4):
            filler = "\n".join(f"Line {line} of report {number} says nothing at all." for line in range(400))
            book.store(f"{filler}\nMeeting {number} moved to the harbour.\n{filler}", key=f"m-{number}")
        whole = book.recall("meeting harbour")
        sizes = [estimate_tokens(hit.text) for hit in whole.hits]
        assert len(sizes) == 4 and max(sizes) < 1_000
        for budget in (1, 20, 50, 200, 600, 1_500, 3_000, 9_000):
            hits = book.recall("meeting harbour", budget_tokens=budget).hits
            spent = [estimate_tokens(hit.text) + 12 for hit in hits]
            assert sum(spent) <= max(budget, 25)  # a few words, their marks and their source
            assert len(hits) == max(1, min(4, budget // (sizes[0] + 12)))
            assert "[...]" in hits[0].text and (budget < 50 or "harbour" in hits[0].text)
            assert [hit.text for hit in hits[1:]] == [hit.text for hit in whole.hits[1 : len(hits)]]


def test_usage_sorts_by_use(root: Path) -> None:
    """What was shown more often comes first when usage is asked for."""
    with open_book(root) as book:
        tick(book)
        for name in ("a", "b", "c"):
            book.store(f"Meeting {name}.", key=name)
        for key in ("c", "c", "b"):
            book.show(key)
        assert [hit.key for hit in book.recall("meeting", sort="usage").hits] == ["c", "b", "a"]


def test_explain_shows_every_part(root: Path) -> None:
    """Explained, what each part adds makes the score; a superseded one loses for that, and no other part is named."""
    with open_book(root) as book:
        book.store("Staging listens on port 6000.", key="new")
        book.store("Staging listens on port 5432.", key="old")
        book.store("Staging listens.", key="newest", decision="supersede:old")
        answer = book.recall("staging port", explain=True)
        assert len(answer.explained) == len(answer.hits) == 3
        for hit, parts in zip(answer.hits, answer.explained, strict=True):
            assert hit.score == pytest.approx(sum(parts.values()), abs=1e-4)
            assert {"meaning", "words", "trust", "nearness"} <= parts.keys()
            assert parts.get("superseded", 0.0) < 0 if hit.key == "old" else "superseded" not in parts
        named = book.recall('the "staging" of ERR_2041', explain=True).explained[0]
        assert named["quoted"] > 0 and "named" not in named
        assert answer.hits[-1].key == "old" and book.recall("staging").explained == ()


def test_hidden_ones_are_counted(root: Path) -> None:
    """What a question would have found but for its status is counted by status; expired ones can be asked for."""
    with open_book(root) as book:
        paths = {key: root / book.store(f"Meeting {key}.", key=key).path.lstrip("/") for key in ("a", "b", "c", "d")}
    for key, status in (("a", "proposed"), ("b", "expired"), ("c", "quarantined")):
        text = paths[key].read_text("utf-8").replace("status: active", f"status: {status}")
        paths[key].write_text(text, "utf-8")
    with open_book(root) as book:
        answer = book.recall("meeting")
        assert [hit.key for hit in answer.hits] == ["d"]
        assert answer.hidden == {"proposed": 1, "expired": 1, "quarantined": 1}
        assert {item.key for item in book.review()} == {"a", "c"}
        assert book.accept("a").action == "relabelled" and book.reject("c").action == "forgotten"
        assert book.review() == [] and set(keys(book, "meeting")) == {"a", "d"}
        assert {hit.key for hit in book.recall("meeting", expired=True).hits} == {"a", "b", "d"}
        assert set(keys(book, "meeting")) == {"a", "b", "d"}  # revived by use


@pytest.mark.parametrize("role", ["person", "agent", "coordinator"])
def test_no_time_shows_what_nobody_has_accepted(root: Path, role: str) -> None:
    """As of any time, proposed and quarantined memories are counted and not shown; expired ones were said."""
    with open_book(root) as book:
        paths = {key: root / book.store(f"Meeting {key}.", key=key).path.lstrip("/") for key in ("a", "b", "c", "d")}
    for key, status in (("a", "proposed"), ("b", "expired"), ("c", "quarantined")):
        text = paths[key].read_text("utf-8").replace("status: active", f"status: {status}")
        paths[key].write_text(text, "utf-8")
    with open_book(root, agent="scout", role=role) as book:
        for query in ("meeting", ""):
            for sort in ("score", "recency", "usage"):
                answer = book.recall(query, as_of="2100-01-01", sort=sort)
                assert sorted(hit.key for hit in answer.hits) == ["b", "d"]
                assert answer.hidden == {"proposed": 1, "quarantined": 1}


def test_review_belongs_to_people_and_coordinators(root: Path) -> None:
    """The queue is a person's and a coordinator's; an agent and a worker have no verdict."""
    for role in ("agent", "worker"):
        with open_book(root, agent="a", role=role) as book:
            for verb in (lambda: book.review(), lambda: book.accept("x"), lambda: book.reject("x")):
                with pytest.raises(NotPermitted):
                    verb()
    with open_book(root, agent="a", role="coordinator") as book:
        assert book.review() == []


def test_links_are_proposed_by_agents_and_made_by_people(root: Path) -> None:
    """An agent's link is proposed, a person's stands and outlives the agent's proposing it again."""
    with open_book(root) as person:
        person.store("One.", key="one")
        person.store("Two, see [[three]].", key="two")
        person.store("Three.", key="three", scope="global")
    with open_book(root, agent="a", role="agent") as agent:
        agent.link("one", "relates_to", "two")
        agent.link("one", "contradicts", "global/three")
        assert {(link.to, link.origin, link.status) for link in agent.show("one").meta.links} == {
            ("two", "agent", "proposed"), ("global/three", "agent", "proposed"),
        }  # fmt: skip
        with pytest.raises(InvalidField):
            agent.link("one", "likes", "two")  # type: ignore[arg-type]
    with open_book(root) as person:
        person.link("one", "relates_to", "two")
    with open_book(root, agent="a", role="agent") as agent:
        assert agent.link("one", "relates_to", "two").action == "unchanged"
        agent.store("More.", key="one")
        agent.store("All new.", key="one", mode="replace")
        assert ("two", "human", "active") in {(x.to, x.origin, x.status) for x in agent.show("one").meta.links}
        assert {item.key for item in agent.related("one")} == {"two"}  # the other link waits
        assert [item.key for item in agent.related("two")] == ["three"]
        agent.store("Not this one.", key="three", scope="project")
        assert [(item.key, item.scope) for item in agent.related("one")] == [("two", "project")]


def test_the_timeline_has_what_was_done(root: Path) -> None:
    """The runs of the project's journal stand in the timeline among what was stored, though not for who is sealed in a
    session, nor in another project."""
    run = {"run_id": "r1", "finished": "2026-01-02T09:00:00Z", "tasks": [{"worker": "builder", "error": "Timed out."}]}
    with open_book(root, session="s1") as book:
        book.store("Before it.", key="before", occurred="2026-01-01")
        book.store("After it.", key="after", occurred="2026-01-03")
        book.record_run(run)
        hits = [hit.key if hit.kind.value == "memory" else hit.kind.value for hit in book.timeline()]
        assert list(dict.fromkeys(hits)) == ["after", "journal", "before"] and hits[-1] == "before"
        assert [hit.key for hit in book.timeline(session="s1")] == ["after", "before"]
    with open_book(root, session="s1", sealed=True, role="agent") as book:
        assert list(book.timeline()) == []
    with open_book(root, project="acme/other") as book:
        assert list(book.timeline()) == []


def test_the_timeline_is_by_time_and_by_session(root: Path) -> None:
    """The timeline has what earlier sessions stored, latest first, or of one session alone however long ago."""
    for session in ("s1", "s2"):
        with open_book(root, session=session) as book:
            tick(book, day=1 if session == "s1" else 5)
            book.store(f"Said in {session}.", key=f"note-{session}")
    with open_book(root, session="s3") as book:
        book.store_many({"content": f"Fact {number}.", "key": f"f-{number}"} for number in range(120))
        assert [hit.key for hit in book.timeline(session="s1")] == ["note-s1"]
        assert [hit.key for hit in book.timeline(limit=100, since="2026-01-05")][-1] != "note-s1"
        assert len(book.timeline()) == 50 and len(book.timeline(limit=3)) == 3
        with pytest.raises(InvalidField):
            book.timeline(limit=0)


def test_data_files_are_any_bytes(root: Path) -> None:
    """Data files are put, got, listed on their page and removed; a name that leads elsewhere is refused."""
    data = bytes(range(256))
    with open_book(root) as book:
        assert book.data_put("prices/2026 März.bin", data) == "/data/prices/2026 März.bin"
        book.data_put("empty", b"")
        assert book.data_get("prices/2026 März.bin") == data and book.data_get("empty") == b""
        assert book.data_list() == ["empty", "prices/2026 März.bin"]
        assert "prices/2026 März.bin" in (root / "data" / "index.md").read_text("utf-8")
        book.data_remove("empty")
        assert book.data_list() == ["prices/2026 März.bin"]
        with pytest.raises(NotFound):
            book.data_get("empty")
        with pytest.raises(NotFound):
            book.data_remove("empty")
        pages = ("index.md", "INDEX.md", "Index.MD")  # the last two on a disk that is blind to case
        for bad in ("../x", "/memories/global/x.md", "/.commonplace/config.toml", "", *pages, "a\0b", "con", "/"):
            for verb in (book.data_get, book.data_remove, lambda name: book.data_put(name, b"")):
                with pytest.raises((InvalidPath, CommonplaceError)):
                    verb(bad)
        book.data_put("sub/INDEX.md", b"")  # no page stands there


def test_related_adds_what_the_hits_link_to(root: Path) -> None:
    """With related, the memories that the hits link to come after them, once each, with the entry that led there."""
    with open_book(root) as book:
        book.store("The harbour closes at nine, see [[tides]].", key="harbour")
        book.store("High water is at eight.", key="tides")
        book.store("Rope is in the shed.", key="rope")
        book.link("harbour", "relates_to", "rope")
        assert keys(book, "harbour") == ["harbour"]
        hits = book.recall("harbour", related=True, mode="lexical").hits
        assert [hit.key for hit in hits] == ["harbour", "rope", "tides"]
        assert [hit.sources for hit in hits[1:]] == [(hits[0].entry,)] * 2 and hits[1].text == "Rope is in the shed."


def test_a_related_memory_is_shown_as_any_hit(root: Path) -> None:
    """Of a long memory that a hit links to a passage is shown, and who may know it is told which session stored it."""
    with open_book(root, session="s1") as book:
        book.store("The harbour closes at nine, see [[tides]].", key="harbour", scope="project")
        book.store("High water is at eight. " * 300, key="tides", scope="project")
        first, second = book.recall("harbour", related=True, mode="lexical").hits
        assert (first.key, second.key) == ("harbour", "tides") and first.session == second.session == "s1"
        assert len(second.text) < 2_400


def test_kinds_are_what_is_asked_for(root: Path) -> None:
    """Without memory among the kinds no memory is found; a kind that does not exist is an error."""
    with open_book(root) as book:
        book.store("The harbour closes at nine.", key="harbour")
        assert len(book.recall("harbour", kinds=["memory"]).hits) == 1
        assert book.recall("harbour", kinds=["journal"]).hits == ()
        with pytest.raises(InvalidField):
            book.recall("harbour", kinds=["rumour"])  # type: ignore[list-item]


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_as_many_hits_as_are_wanted(root: Path, mode: SearchMode) -> None:
    """A hundred hits are shown if a hundred are asked for and as many match."""
    with open_book(root) as book:
        book.store_many({"content": f"The kettle of room {n} whistles {'loudly ' * (n % 7)}"} for n in range(130))
        assert len(book.recall("kettle whistles", limit=100, mode=mode).hits) == 100
