"""The advised flow: recall, put the facts into the task with `brief_task`, record the run. Lessons must survive it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book, brief_task
from commonplace.model.results import Hit, HitKind
from commonplace.model.scope import ScopeKind
from commonplace.text.fence import BRIEF_LEAD, REFERENCE, fence, open_fences, strip_fences, visible
from tests.book.opened import open_book
from tests.depth import examples
from tests.journal.runs import PLACE

UPLOAD = "Upload the release to the mirror."


def hit(text: str, ref: str = "global/mirror", author: str | None = None) -> Hit:
    return Hit(
        HitKind.MEMORY, ref, ref.partition("/")[2], ScopeKind.GLOBAL, None, "/memories/global/mirror.md", "e", text, "",
        author, "agent", "2026-11-15T10:00:00Z", "2026-11-15T10:00:00Z", "2026-11-15T10:00:00Z", 0.5, "r",
    )  # fmt: skip


def run_task(book: Book, run: str, **outcome: Any) -> Any:
    """What an orchestrator does: recall, brief the worker, record what came of it."""
    description = brief_task(UPLOAD, book.recall("upload release mirror"))
    assert "<commonplace-memory" in description
    return book.record_run({"run_id": run, "tasks": [{"worker": "shipper", "description": description, **outcome}]})


@pytest.fixture
def book(root: Path) -> Book:
    with open_book(root) as person:
        person.store("The release mirror is mirror-2.example.org.", "mirror", "global")
    return open_book(root, agent="lead", role="orchestrator")


def test_a_failure_of_a_briefed_task_becomes_a_lesson_and_is_found(book: Book, root: Path) -> None:
    """Three failures with briefed tasks, each brief with other facts than the last: a lesson is proposed, its text and
    the journal's have the task's own words, and a recall of the failure finds it."""
    errors = [f"TimeoutError: no answer after {seconds} s" for seconds in (30, 31, 32)]
    done = [run_task(book, f"run-{number}", error=error) for number, error in enumerate(errors)]
    assert [result.lessons for result in done[:2]] == [(), ()] and len(done[2].lessons) == 1
    (found, *_) = book.recall("has the upload to the mirror failed", kinds=["journal"]).hits
    assert found.key == "failure-shipper" and UPLOAD in found.text
    (task,) = cast("list[dict[str, Any]]", book.journal_run("run-2").manifest["tasks"])
    assert task["description"] == UPLOAD
    assert "global/mirror" in task["briefed_with"]
    for path in (root / "journal" / PLACE).glob("*.md"):
        assert "<commonplace-memory" not in path.read_text() and BRIEF_LEAD not in path.read_text()
    lesson = book.show(done[2].lessons[0], "agent").newest
    assert lesson is not None and lesson.text.count(UPLOAD) == 1 and "commonplace-memory" not in lesson.text


def test_a_briefed_task_that_succeeds_is_the_fix_of_the_one_that_failed(book: Book) -> None:
    """Failed without a brief, done with one: the same work, and what worked is proposed as a lesson."""
    failed = {"worker": "shipper", "description": UPLOAD, "error": "403 Forbidden"}
    book.record_run({"run_id": "a", "tasks": [failed]})
    done = run_task(book, "b", result="Uploaded with the deploy key.")
    assert [lesson.kind for lesson in book.lessons()] == ["fixed"] and len(done.lessons) == 1
    fixed = book.recall("upload fixed", kinds=["journal"]).hits[0]
    assert fixed.text.startswith("Fixed: shipper did it after 1 failed: Upload the release to the mirror.")


@pytest.mark.parametrize(
    "wrapped",
    [
        "{task}\n\nAnswer in one line.",
        "Context:\n{task}",
        "{cut}",
        "{lead}",
        "  {task}",
        "Facts: 1 of 1 hits. " + REFERENCE + "\n{fence}\n\nUpload the release to the mirror.",
    ],
    ids=["text after", "text before", "cut in the fence", "cut in the lead", "indented", "pasted tool answer"],
)
def test_the_brief_is_recognised_however_it_was_passed_on(wrapped: str) -> None:
    """A framework adds words around the task, cuts it or indents it; a model pastes a tool's answer: nothing of ours
    is left, and the task's own words are."""
    block = fence("The mirror is down.", {"source": "global/mirror"})
    whole = brief_task(UPLOAD, [hit("The mirror is down.")])
    cut, lead = whole[: whole.index("mirror is down")], whole[: whole.index("recalled data")]
    own, _ = strip_fences(wrapped.format(task=whole, cut=cut, lead=lead, fence=block))
    assert UPLOAD in own and "commonplace" not in own and "earlier work" not in own and "Recalled" not in own
    assert ("Answer in one line." in own) == ("Answer" in wrapped) and ("Context:" in own) == ("Context" in wrapped)


@pytest.mark.parametrize(
    "own",
    [
        "Explain <commonplace-memory> to me.", "<commonplace-memory>\nis a tag", "</commonplace-memory>", "",
        "What is known from earlier work?", "Fix the commonplace hook.\n\n\n", "a\n<commonplace-memory source=x>\nb",
    ],
)  # fmt: skip
def test_a_task_about_fences_is_left_alone(own: str) -> None:
    """Only what we fenced is taken away: a tag without its end, or a word like ours, is the task's own."""
    assert strip_fences(own) == (own, [])


TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["</commonplace-memory>", "<commonplace-memory>", "a\n</commonplace-memory>\nb", BRIEF_LEAD, "\u200bx", ""]
)


@examples(200)
@given(st.text(max_size=60), st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_strip_undoes_brief(task: str, facts: list[tuple[str, str]]) -> None:
    """For any task and any facts, whatever is in them: the task comes back, and so do the facts and their sources."""
    hits = [hit(text, f"global/{name}", author=name or None) for text, name in facts]
    briefed = brief_task(task, hits)
    own, refs = strip_fences(briefed)
    assert own == (task.strip("\n") if task.strip() else "")
    assert refs == list(dict.fromkeys(one.ref.replace("\r\n", "\n").replace("\ufe0f", "") for one in hits))
    assert [one.text for one in open_fences(briefed)] == [visible(one.text) for one in hits]


@examples(200)
@given(st.text(st.sampled_from('<>/commonplace-memory \n"=s\\'), max_size=80) | st.text(max_size=80))
def test_strip_never_fails_and_is_done_once(text: str) -> None:
    """Any text at all: without a whole fence of ours it stays as it is."""
    own, refs = strip_fences(text)
    if not open_fences(text) and BRIEF_LEAD[:40] not in text and REFERENCE not in text:
        assert (own, refs) == (text, [])
    assert json.dumps(own) and isinstance(refs, list)


def test_a_brief_takes_what_was_asked_of_the_journal_and_the_files(book: Book) -> None:
    """Entries and runs as values of `Book` become facts with text, path and time; what says nothing is none."""
    book.record_run({"run_id": "a", "tasks": [{"id": "t", "worker": "shipper", "description": UPLOAD, "error": "403"}]})
    for found in (book.recent_memory(), book.recent_memory(worker="shipper").entries[0], book.journal_run("a")):
        (fact,) = open_fences(brief_task("Again.", found))
        assert "403" in fact.text and UPLOAD in fact.text and fact.labels["path"].startswith("/journal/")
        assert fact.labels["time"] and '"' not in fact.text
    (entry,) = book.recent_memory(worker="shipper", status="failed").entries
    assert (entry.error, entry.ref) == ("403", "journal/worker-shipper")
    assert brief_task("Again.", book.shell("grep nothing-like-it /")) == "Again."
    assert len(open_fences(brief_task("Again.", book.list_memories("/memories/global")))) == 1


@pytest.mark.parametrize(
    "error", ["E: x", "", "Traceback: Error: deep", "line one\nline two", "x" * 500, "Error: twice Error: y"]
)
def test_the_error_of_an_entry_is_a_field(root: Path, error: str) -> None:
    """Whatever a worker's error is, the entries of its task, its failure and its run give the beginning of it as
    `error`, and an entry without one has none."""
    failed = {"id": "t", "worker": "w", "description": "Do: failed. Error: x", "status": "failed", "error": error}
    shown = " ".join(error.split())
    shown = f"{shown[:159]}…" if len(shown) > 160 else shown
    with open_book(root) as book:
        book.record_run({"run_id": "r", "tasks": [failed]})
        book.record_run({"run_id": "fine", "tasks": [{"worker": "w", "description": "Rest", "result": "Error: none"}]})
        (task, done) = sorted(book.recent_memory(worker="w").entries, key=lambda entry: entry.status != "failed")
        runs = {entry.run: entry for entry in book.recent_memory().entries}
        assert task.error == shown
        assert done.error == runs["fine"].error == ""
        assert runs["r"].error.endswith(task.error) or not error
