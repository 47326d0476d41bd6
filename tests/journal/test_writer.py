"""Recording a run through the book: what is written, what is found, and that nothing of it hurts the caller's run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commonplace.index.sqlite import SqliteIndex
from commonplace.journal.manifest import read_manifest
from commonplace.journal.writer import write_run
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import DiskFull, InvalidManifest, JournalDamaged, NotFound, NotPermitted
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.notes import parse
from commonplace.vault.commit import Commit
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import resolve
from tests.book.opened import files, open_book
from tests.journal.runs import ABOUT, FOLDER, LONG, PLACE, PROJECT, all_files, journal_files, manifest, small
from tests.project.repositories import git, needs_git, repository
from tests.vault.memory import MemoryVault

TOKEN = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"


def test_a_run_leaves_a_timeline_worker_notes_and_failure_notes(root: Path) -> None:
    """Five workers, two failing: one entry on the timeline, one for each task, one for each failure, and a page."""
    with open_book(root, agent="lead", role="orchestrator") as book:
        done = book.record_run(manifest())
    assert done[:5] == ("run-1", "recorded", PROJECT, f"/journal/{PLACE}/_artifacts/run-1/run.json", 0)
    assert done.warnings == done.lessons == ()
    folder = root / "journal" / PLACE
    workers = ["coder", "doc-writer-036087469270", "planner", "shipper", "tester"]
    names = ["event-2026-11-15", "failure-shipper", "failure-tester", *(f"worker-{name}" for name in workers)]
    assert sorted(path.stem for path in folder.glob("*.md")) == sorted([*names, "index"])
    for name in names:
        note = parse((folder / f"{name}.md").read_bytes())
        assert note.front.text("project") == PROJECT
        assert (note.front.text("updated"), note.front.text("entry_count")) == ("2026-11-15T09:30:00Z", "1")
        (entry,) = note.entries
        assert dict(entry.extra)["project"] == PROJECT and dict(entry.extra)["run"] == "run-1"
        assert f"- [{name}]({name}.md): {note.meta.summary}\n" in (folder / "index.md").read_text()
    timeline = (folder / "event-2026-11-15.md").read_text()
    assert "Run run-1: partial. Ship the spring release\n- planner (plan): done. Plan the release\n" in timeline
    assert "- tester (test): failed. Run the suite. Error: AssertionError: 3 failed\n" in timeline


def test_every_entry_links_to_a_file_with_all_of_it(root: Path) -> None:
    """Previews are bounded; the file that an entry links to is there and has the whole result and the whole error."""
    with open_book(root) as book:
        book.record_run(manifest())
    folder = root / "journal" / PLACE
    links = {
        path.name: re.findall(r"\]\((_artifacts/[^)]+)\)", path.read_text())
        for path in folder.glob("*.md")
        if path.name != "index.md"
    }
    assert all(links.values())
    assert all((folder / link).is_file() for found in links.values() for link in found)
    assert max(path.stat().st_size for path in folder.glob("*.md")) < 2_000 < len(LONG)
    assert LONG in (folder / links["worker-coder.md"][0]).read_text()
    assert f"E: {LONG}" in (folder / links["failure-shipper.md"][0]).read_text()
    assert json.loads((folder / links["event-2026-11-15.md"][0]).read_text())["tasks"][1]["result"] == LONG


def test_recording_twice_changes_nothing(root: Path) -> None:
    """The second time every file of the book is as it was, byte for byte; in another process, too, and after others."""
    with open_book(root) as book:
        assert book.record_run(manifest()).action == "recorded"
        before = files(root, databases=False)
        again = book.record_run(manifest())
        assert (again.action, again.lessons, again.warnings) == ("unchanged", (), ())
        assert files(root, databases=False) == before
    with open_book(root) as book:
        assert book.record_run(manifest()).action == "unchanged"
        assert files(root, databases=False) == before
        book.record_run(manifest("run-2"))
        before = files(root, databases=False)
        assert book.record_run(manifest()).action == book.record_run(manifest("run-2")).action == "unchanged"
        assert files(root, databases=False) == before


def test_another_run_under_a_recorded_id_is_a_warning(root: Path) -> None:
    """What was recorded first stands, and the caller is told; a run without an end is not taken for another."""
    with open_book(root) as book:
        book.record_run(manifest())
        before = journal_files(root)
        done = book.record_run(manifest(goal="Something else"))
        assert done.action == "unchanged" and "What was recorded stands" in done.warnings[0]
        assert journal_files(root) == before
        open_end = {"run_id": "open", "tasks": [{"worker": "a"}]}
        book.record_run(open_end)
        book.context.memories.clock = lambda: "2030-01-01T00:00:00Z"
        again = book.record_run(open_end)
        assert (again.action, again.warnings) == ("unchanged", ())


def test_unknown_fields_are_kept(root: Path) -> None:
    """What a framework says beside what we know is in the run when it is asked for."""
    with open_book(root) as book:
        book.record_run(manifest(model="m-1", cost={"usd": 0.25}))
        book.record_run(small("run-2", retries=2))
        shown = book.journal_run("run-1")
        assert (shown.complete, shown.project, shown.manifest["cost"]) == (True, PROJECT, {"usd": 0.25})
        assert book.journal_run("run-2").manifest["tasks"][0]["retries"] == 2  # type: ignore[index]
        with pytest.raises(NotFound):
            book.journal_run("run-3")


def test_a_failure_is_a_warning_and_never_an_exception(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad manifest, a full disk, no project, memory switched off, a bug of ours: an answer with a warning each, and
    with strict the error itself."""
    with open_book(root) as book:
        assert book.record_run({"tasks": []}).warnings[0].startswith("The manifest has no run_id.")
        assert book.record_run([1]).action == "not_recorded"  # type: ignore[arg-type]
        with pytest.raises(InvalidManifest):
            book.record_run({"tasks": []}, strict=True)
        with monkeypatch.context() as patch:

            def full(*_: object) -> None:
                raise DiskFull

            patch.setattr(Commit, "run", full)
            done = book.record_run(manifest())
            assert (done.run, done.action) == ("run-1", "not_recorded") and "full" in done.warnings[0]
            with pytest.raises(DiskFull):
                book.record_run(manifest(), strict=True)

            def bug(*_: object) -> None:
                raise ZeroDivisionError

            patch.setattr(Commit, "run", bug)
            assert book.record_run(manifest()).warnings == ("Commonplace failed: ZeroDivisionError.",)
        assert book.record_run(manifest()).action == "recorded"
    with open_book(root, project=None) as book:
        assert "COMMONPLACE_PROJECT" in book.record_run(manifest("x")).warnings[0]
    (root / ".commonplace" / "config.toml").write_text("enabled = false\n")
    with open_book(root) as book:
        assert "switched off" in book.record_run(manifest("x")).warnings[0]
        assert book.recent_memory().entries == ()


def test_secrets_are_nowhere_in_the_book(root: Path) -> None:
    """A token in a result, an error and a name is taken out and counted; the rest is recorded."""
    with open_book(root) as book:
        done = book.record_run(small("run-1", result=f"Used {TOKEN} to push", error=f"then {TOKEN}", id=TOKEN))
        assert (done.action, done.redacted) == ("recorded", 3)
        assert "Used [secret removed: " in book.recent_memory(worker="tester").entries[0].text
        assert book.scan().ok
    assert not [path for path, data in files(root).items() if TOKEN.encode() in data or TOKEN.lower() in path]


def test_who_may_record_and_who_may_look(root: Path) -> None:
    """Orchestrator and person record; a coordinator and an agent look; a worker does neither."""
    for role in ("person", "orchestrator"):
        with open_book(root, role=role) as book:
            assert book.record_run(small(f"by-{role}")).action == "recorded"
    for role in ("coordinator", "agent", "worker"):
        with open_book(root, role=role) as book:
            for verb in (lambda: book.record_run(small("x")), lambda: book.lessons(), lambda: book.compact_journal()):
                with pytest.raises(NotPermitted):
                    verb()
            if role != "worker":
                assert len(book.recent_memory().entries) == 2 and book.journal_run("by-person").complete
    with open_book(root, role="worker") as book:
        for look in (book.recent_memory, lambda: book.journal_run("by-person"), lambda: book.lessons(propose=False)):
            with pytest.raises(NotPermitted):
                look()


def test_another_project_sees_nothing_of_it(root: Path) -> None:
    """By recall, by recent_memory, by run id, by path: a journal is its project's; a person may look at all."""
    with open_book(root) as book:
        book.record_run(manifest())
    with open_book(root, project="github.com/acme/other", role="coordinator") as book:
        assert book.recent_memory().entries == () and book.recall("Run the suite").hits == ()
        with pytest.raises(NotFound):
            book.journal_run("run-1")
        view = book.context.view()
        places = [resolve(path) for path in journal_files(root)]
        assert len(places) > 10 and not [place for place in places if view.may_read(place)]
        assert not [place for place in places if place.parent != resolve("journal") and view.may_list(place.parent)]
    with open_book(root, project="github.com/acme/other") as book:
        assert book.recall("Run the suite", everything=True).hits
        assert book.recall("Run the suite", scope=Scope(ScopeKind.PROJECT, PROJECT)).hits
    with open_book(root, session="s", sealed=True) as book:
        assert book.recall("Run the suite").hits == ()


@needs_git
def test_a_project_that_is_renamed_keeps_its_journal(root: Path, tmp_path: Path) -> None:
    """A repository that gets a remote has another id; what its runs did is still there, and is not recorded anew."""
    work = repository(tmp_path / "work")
    with open_book(root, project=None, cwd=work) as book:
        book.record_run(manifest())
    git(work, "remote", "add", "origin", "https://github.com/acme/renamed.git")
    with open_book(root, project=None, cwd=work) as book:
        assert [entry.run for entry in book.recent_memory().entries] == ["run-1"]
        assert book.record_run(manifest()).action == "unchanged"
        assert book.record_run(manifest("run-2")).project == "github.com/acme/renamed"
        assert len(book.recent_memory().entries) == 2


def test_a_damaged_run_file_is_named_and_left_alone(root: Path) -> None:
    """What somebody made of run.json is not replaced: the caller learns where it is."""
    with open_book(root) as book:
        path = root / (book.record_run(manifest()).path or "").lstrip("/")
        path.write_text("{")
        done = book.record_run(manifest())
        assert done.action == "not_recorded" and "run.json" in done.warnings[0]
        with pytest.raises(JournalDamaged):
            book.journal_run("run-1")
    assert path.read_text() == "{"


def test_every_vault_holds_the_same_journal(tmp_path: Path) -> None:
    """On disk and in memory, the same runs make the same files."""
    found = []
    for vault in (LocalVault.at(tmp_path / "book", make=True), MemoryVault()):
        keep = MemoryStore(vault, SqliteIndex(":memory:"))
        for given in (manifest(), small("run-2"), manifest()):
            write_run(keep, FOLDER, read_manifest(given, "2026-11-15T12:00:00Z").manifest, ABOUT)
        found.append(all_files(keep, FOLDER))
    assert found[0] == found[1] and len(found[0]) == 17


def test_a_run_is_recorded_beside_a_file_in_conflict(root: Path) -> None:
    """Where a merge left two texts in a file of the journal, the next run goes to a new part of it; the file keeps its
    bytes, and doctor names it."""
    with open_book(root) as book:
        book.record_run(small("one"))
        path = root / "journal" / PLACE / "event-2026-11-15.md"
        path.write_bytes(path.read_bytes() + b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n")
        before = path.read_bytes()
        assert book.record_run(small("two")).action == "recorded"
        assert path.read_bytes() == before
        (part,) = [other for other in path.parent.glob("event-2026-11-15*.md") if other != path]
        assert b"two" in part.read_bytes()
        named = [item.path for item in book.doctor() if item.code == "merge_conflict"]
        assert named == [f"/journal/{PLACE}/event-2026-11-15.md"]
