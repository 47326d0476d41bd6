"""The journal in recall, and in the index that is only what the files say."""

from __future__ import annotations

from pathlib import Path

from commonplace.model.results import HitKind
from tests.book.opened import open_book
from tests.journal.runs import PLACE, PROJECT, manifest, small


def test_what_a_run_did_is_a_hit_of_kind_journal(root: Path) -> None:
    """By default recall finds memories and journal entries; kinds says which; a hit names its file and project."""
    with open_book(root) as book:
        book.store("The parser is generated from a grammar.", "parser")
        book.record_run(manifest())
        both = book.recall("parser").hits
        assert {hit.kind for hit in both} == {HitKind.MEMORY, HitKind.JOURNAL}
        assert {hit.kind for hit in book.recall("parser", kinds=["memory"]).hits} == {HitKind.MEMORY}
        hits = book.recall("Write the parser", kinds=["journal"]).hits
        assert {hit.kind for hit in hits} == {HitKind.JOURNAL}
        coder = next(hit for hit in hits if hit.key == "worker-coder")
        assert (coder.ref, coder.path) == ("journal/worker-coder", f"/journal/{PLACE}/worker-coder.md")
        assert (coder.scope, coder.scope_id, coder.trust) == ("project", PROJECT, "agent")
        assert coder.text.startswith("coder: done. Write the parser")


def test_filters_of_recall_hold_for_the_journal(root: Path) -> None:
    """Tags are the statuses; a type is a memory's alone; a scope other than the project has no journal; times count."""
    with open_book(root, session="s") as book:
        book.record_run(manifest())
        assert {hit.key for hit in book.recall("suite", tags=["failed"]).hits} == {"worker-tester", "failure-tester"}
        assert book.recall("suite", type="project").hits == ()
        assert book.recall("suite", scope="project").hits and book.recall("suite", scope="session").hits == ()
        assert book.recall("suite", scope="global").hits == ()
        assert book.recall("suite", since="2026-11-16").hits == () and book.recall("suite", since="2026-11-15").hits
        everything = book.recall(kinds=["journal"], limit=100)
        assert len(everything.hits) == 8 and book.recall("suite", related=True).hits
        assert {(hit.kind, hit.entry) for hit in book.timeline()} == {(hit.kind, hit.entry) for hit in everything.hits}


def test_what_a_run_did_does_not_push_a_memory_down(root: Path) -> None:
    """A newer journal entry about the same thing is no correction of what somebody stored, and a worker's name is no
    author whose mention in a question would be left out of its words."""
    with open_book(root) as book:
        book.store("Staging listens on port 6000.", "staging-port", occurred="2026-01-01")
        book.record_run(
            small("r", worker="staging", description="Check that staging listens on port 6000", result="ok")
        )
        assert book.recall("staging port").hits[0].key == "staging-port"
        assert book.context.memories.index.epoch >= 0
        with book.context.memories.index.reading(book.context.memories.space) as index:
            assert "staging" not in index.authors()


def test_the_index_of_the_journal_is_rebuilt_equal(root: Path) -> None:
    """With the index deleted, recall finds the same entries at once; verify and reindex hold for the journal."""
    with open_book(root) as book:
        book.record_run(manifest())
        book.record_run(small("run-2"))
        before = {(hit.entry, hit.text) for hit in book.recall("suite", limit=50).hits}
        assert len(before) >= 5
        files = book.verify().files
        assert book.reindex() == files == 8
        assert {(hit.entry, hit.text) for hit in book.recall("suite", limit=50).hits} == before
    for path in (root / ".commonplace").glob("index.db*"):
        path.unlink()
    with open_book(root) as book:
        assert {(hit.entry, hit.text) for hit in book.recall("suite", limit=50).hits} == before
        assert book.verify().ok


def test_what_others_changed_in_the_journal_is_seen_by_verify(root: Path) -> None:
    """A file that was edited outside is not looked at by every command; after verify, recall knows it, and the next
    recording adds to it as it is."""
    with open_book(root) as book:
        book.record_run(manifest())
    path = root / "journal" / PLACE / "worker-planner.md"
    path.write_text(path.read_text().replace("Three steps.", "Seven zebras."))
    with open_book(root) as book:
        assert book.recall("zebras").hits == ()
        assert book.verify().ok
        assert [hit.key for hit in book.recall("zebras").hits] == ["worker-planner"]
        book.record_run(small("run-2", worker="planner"))
        assert "Seven zebras." in path.read_text() and book.verify().ok


def test_the_doctor_has_nothing_to_say_about_a_journal(root: Path) -> None:
    """A book with a journal, and a project that has nothing else, is as healthy as any."""
    with open_book(root, agent="lead") as book:
        for number in range(3):
            book.record_run(small(f"r{number}", error="no"))
        assert book.doctor() == [] and book.status().waiting == 1
