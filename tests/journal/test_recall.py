"""The journal in recall, and in the index that is only what the files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.results import HitKind
from tests.book.opened import open_book
from tests.depth import examples
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
        assert {hit.key for hit in book.recall("suite", tags=["failed"], mode="lexical").hits} == {"failure-tester"}
        assert book.recall("suite", type="project").hits == ()
        assert book.recall("suite", scope="project").hits and book.recall("suite", scope="session").hits == ()
        assert book.recall("suite", scope="global").hits == ()
        assert book.recall("suite", since="2026-11-16").hits == () and book.recall("suite", since="2026-11-15").hits
        everything = book.recall(kinds=["journal"], limit=100)
        assert len(everything.hits) == 6 and book.recall("suite", related=True).hits
        assert {(hit.kind, hit.entry) for hit in book.timeline()} == {(hit.kind, hit.entry) for hit in everything.hits}


@pytest.mark.parametrize("query", ["has the upload failed", "403 forbidden mirror", "upload the release", "failed"])
def test_one_failure_is_one_hit(root: Path, query: str) -> None:
    """The timeline, the worker's file and the failure file tell the same failure: the last of them is the hit. A
    question about the goal of the run finds the run; a list of what happened has the run and each task once."""
    error = {"worker": "shipper", "description": "Upload the release", "error": "403 Forbidden: mirror refused"}
    done = {"worker": "planner", "description": "Plan the spring cleaning", "result": "ok"}
    with open_book(root) as book:
        book.record_run({"run_id": "r", "goal": "Ship version nine", "tasks": [error, done]})
        found = [hit.key for hit in book.recall(query).hits]
        assert found == ["failure-shipper", "worker-planner"]  # the other task, as a weak match
        assert [hit.key.partition("-")[0] for hit in book.recall("ship version nine").hits] == ["event", "worker"]
        assert book.recall("spring cleaning").hits[0].key == "worker-planner"
        listed = sorted(hit.key for hit in book.recall(limit=50).hits)
        assert (
            [key.partition("-")[0] for key in listed]
            == ["event", "failure", "worker"]
            == [hit.key.partition("-")[0] for hit in sorted(book.timeline(), key=lambda hit: hit.key)]
        )


TASKS = st.lists(
    st.tuples(st.sampled_from(["coder", "tester"]), st.sampled_from(["upload", "build", "test"]), st.booleans()),
    min_size=1, max_size=4,
)  # fmt: skip


@examples(30, quick=8)
@given(st.lists(TASKS, min_size=1, max_size=3))
def test_no_failed_task_is_returned_twice(tmp_path_factory: pytest.TempPathFactory, runs: list[Any]) -> None:
    """Whatever runs did, no two hits are about the same failed task, and every failed task that matches has one."""
    with open_book(tmp_path_factory.mktemp("runs") / "book") as book:
        for number, tasks in enumerate(runs):
            said = [
                {"worker": worker, "description": f"{what} the parser", **({"error": "it broke"} if failed else {})}
                for worker, what, failed in tasks
            ]
            book.record_run({"run_id": f"r{number}", "tasks": said})
        hits = book.recall("broke parser", limit=100, kinds=["journal"]).hits
        failures = [hit.entry.partition("-")[2] for hit in hits if hit.key.startswith("failure-")]
        told = [hit.entry.partition("-")[2] for hit in hits]
        assert len(set(told)) == len(told)
        failed = sum(failed for tasks in runs for _, _, failed in tasks)
        assert len(failures) >= failed  # and what was fixed later
        broken = [number for number, tasks in enumerate(runs) if any(failed for _, _, failed in tasks)]
        assert not [
            hit for hit in hits if hit.key.startswith("event-") for n in broken if hit.text.startswith(f"Run r{n}:")
        ]


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
            assert not index.authors_named({"staging"})


def test_the_index_of_the_journal_is_rebuilt_equal(root: Path) -> None:
    """With the index deleted, recall finds the same entries at once; verify and reindex hold for the journal."""
    with open_book(root) as book:
        book.record_run(manifest())
        book.record_run(small("run-2"))
        before = {(hit.entry, hit.text) for hit in book.recall("suite", limit=50).hits}
        assert before
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
        assert book.recall("zebras", mode="lexical").hits == ()
        assert book.verify().ok
        assert [hit.key for hit in book.recall("zebras", mode="lexical").hits] == ["worker-planner"]
        book.record_run(small("run-2", worker="planner"))
        assert "Seven zebras." in path.read_text() and book.verify().ok


def test_the_doctor_has_nothing_to_say_about_a_journal(root: Path) -> None:
    """A book with a journal, and a project that has nothing else, is as healthy as any."""
    with open_book(root, agent="lead") as book:
        for number in range(3):
            book.record_run(small(f"r{number}", error="no"))
        assert book.doctor() == [] and book.status().waiting == 1
