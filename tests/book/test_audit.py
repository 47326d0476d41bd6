"""The audit through the facade: each call that changes something or looks by a question leaves one line."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError
from commonplace.model.times import now, shift_time
from tests.book.opened import believed_at, open_book
from tests.guard.audit_lines import audit_folder, lines, verbs

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # commonplace:not-a-secret
WORDS = ("zebra", "quagga", "okapi")  # of contents, summaries, questions, settings: never in a line

CALLS: dict[str, tuple[Callable[[Book], object], dict[str, object]]] = {
    "store": (lambda book: book.store("The zebra is fast.", "fast", summary="okapi", tags=["quagga"]),
              {"keys": ["fast"], "action": "created"}),
    "store_many": (lambda book: book.store_many([{"content": f"A zebra {key}.", "key": key} for key in "ab"]),
                   {"keys": ["project/a", "project/b"], "count": 2}),
    "recall": (lambda book: book.recall("okapi everywhere", scope="global", mode="lexical"),
               {"scope": "global", "keys": ["global/wide"], "hits": 1, "total": 1, "hidden": 0}),
    "search_memory": (lambda book: book.search_memory("okapi", paths=["/memories/global/wide.md"]),
                      {"hits": 2, "files": 1}),
    "shell": (lambda book: book.shell("grep -r zebra /"), {"status": 0}),
    "edit": (lambda book: book.edit("first", book.source("first")[0] + b"\nzebra\n"),
             {"keys": ["first"], "action": "edited"}),
    "undo": (lambda book: book.undo("second"), {"keys": ["second"], "action": "undone"}),
    "forget": (lambda book: book.forget("first"), {"keys": ["first"], "action": "forgotten"}),
    "purge": (lambda book: book.forget("first", purge=True), {"action": "purged"}),
    "restore": (lambda book: book.restore("gone"), {"keys": ["gone"], "action": "restored"}),
    "clear": (lambda book: book.clear("global"), {"scope": "global", "count": 1}),
    "consolidate": (lambda book: book.consolidate(["first", "second"], "All about the okapi.", "both"),
                    {"keys": ["both"], "action": "consolidated", "count": 2}),
    "link": (lambda book: book.link("first", "relates_to", "second"), {"keys": ["first"]}),
    "accept": (lambda book: book.accept("waits"), {"keys": ["waits"]}),
    "reject": (lambda book: book.reject("waits"), {"keys": ["waits"], "action": "forgotten"}),
    "data_put": (lambda book: book.data_put("a.csv", b"zebra,1\n"), {"keys": ["a.csv"]}),
    "data_remove": (lambda book: book.data_remove("old.csv"), {"keys": ["old.csv"]}),
    "record_run": (lambda book: book.record_run({"run_id": "run-1", "tasks": [{"worker": "w", "error": "okapi"}]}),
                   {"run": "run-1", "action": "recorded"}),
    "lessons": (lambda book: book.lessons(), {"count": 0}),
    "compact_journal": (lambda book: book.compact_journal(), {"count": 0}),
    "config": (lambda book: book.configure("embedder", "off"), {"keys": ["embedder"]}),
    "trust": (lambda book: book.trust(), {"action": "trusted"}),
}  # fmt: skip


@pytest.fixture
def book(root: Path) -> Path:
    """A book with something for every verb to do, and no audit yet."""
    with open_book(root) as made:
        made.store("The first zebra.", "first", summary="quagga")
        made.store("The second okapi.", "second")
        made.store("The second quagga.", "second", mode="replace")
        made.store("The zebra that is gone.", "gone")
        made.forget("gone")
        made.store("Everywhere an okapi.", "wide", "global")
        made.data_put("old.csv", b"1\n")
        path = root / made.store("A zebra to be judged.", "waits").path.lstrip("/")
    path.write_text(path.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")
    for day in audit_folder(root).iterdir():
        day.unlink()
    return root


def text(root: Path) -> str:
    return "".join(path.read_text("ascii") for path in audit_folder(root).iterdir())


@pytest.mark.parametrize("verb", CALLS)
def test_each_verb_leaves_one_line(book: Path, verb: str) -> None:
    """One line with the verb, who called, the keys and the counts; and nothing of what was said or asked."""
    act, expected = CALLS[verb]
    with open_book(book, agent="scout", session="s-1") as opened:
        act(opened)
    (line,) = lines(book)
    assert (line["verb"], line["outcome"], line["surface"], line["role"]) == (verb, "ok", "library", "person")
    assert (line["agent"], line["session"]) == ("scout", "s-1")
    assert line["project"].startswith("app-") and line["time"][:10] == now()[:10]
    assert {name: line.get(name) for name in expected} == expected
    if verb in ("store", "forget", "purge"):
        assert line["scope"] == f"project/{line['project']}"
    assert "keys" not in line or verb != "purge"
    assert [word for word in WORDS if word in text(book)] == []


def test_reading_by_name_and_looking_after_the_book_leave_none(book: Path) -> None:
    """show, list, history, a page, the brief, the checks, and upkeep that found nothing to do are not in the audit."""
    with open_book(book) as opened:
        for act in (
            opened.list, opened.timeline, opened.review, opened.brief, opened.status, opened.config, opened.verify,
            opened.doctor, opened.scan, opened.retire, opened.capture, opened.list_memories, opened.data_list,
        ):  # fmt: skip
            act()
        opened.show("first")
        opened.history("first")
        opened.page("/index.md")
        opened.similar("The first zebra.")
        opened.lessons(propose=False)
    assert lines(book) == []


def test_what_is_retired_is_named(book: Path) -> None:
    """Memories that go to the trash by their age leave a line, although nobody called for them."""
    with open_book(book, session="s-1", role="agent") as agent:
        agent.store("For this session.", "passing", "session")
        believed_at(agent, "2036-01-01T00:00:00Z")
        agent.retire()
    assert [(line["verb"], line.get("trashed")) for line in lines(book)] == [("store", None), ("retire", 1)]


@pytest.mark.parametrize(
    ("act", "verb", "outcome", "keys"),
    [
        (lambda book: book.forget("nothing-here"), "forget", "not_found", ["nothing-here"]),
        (lambda book: book.forget("The zebra said this"), "forget", "not_found", None),
        (lambda book: book.forget("nothing-here", purge=True), "purge", "not_found", None),
        (lambda book: book.store("", "empty"), "store", "invalid_content", ["empty"]),
        (lambda book: book.store("zebra", scope="The zebra scope"), "store", "invalid_scope", None),
        (lambda book: book.recall("zebra", limit=0), "recall", "invalid_field", None),
        (lambda book: book.consolidate(["first", "none"], "x"), "consolidate", "not_found", ["first", "none"]),
        (lambda book: book.store(f"token {SECRET}", "the-token"), "store", "secret_found", None),
        (lambda book: book.store_many([{"content": SECRET}]), "store_many", "secret_found", None),
        (lambda book: book.data_put("x", SECRET.encode()), "data_put", "secret_found", None),
    ],
)
def test_what_fails_says_its_code(
    book: Path, act: Callable[[Book], object], verb: str, outcome: str, keys: list[str] | None
) -> None:
    """A refused call leaves its line: the error's code, the key if it can be one, no text and no secret or its rule."""
    with open_book(book) as opened, pytest.raises(CommonplaceError) as raised:
        act(opened)
    (line,) = lines(book)
    assert (line["verb"], line["outcome"], line.get("keys")) == (verb, outcome, keys)
    assert raised.value.code == outcome
    assert not any(word in text(book) for word in (*WORDS, SECRET, SECRET[4:], "ghp", "github-"))


def test_what_breaks_is_an_internal_error(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours has its line as well, and is raised as it was."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("commonplace.verbs.recall.search_indexed", broken)
    with open_book(book) as opened, pytest.raises(ZeroDivisionError):
        opened.recall("zebra")
    assert verbs(book) == [("recall", "internal_error")]


def test_no_path_of_the_machine_is_in_it(root: Path, tmp_path: Path) -> None:
    """A project that is known only by its folder is named by its name in the book; a scope's id is not said."""
    work = tmp_path / "very" / "private-work"
    work.mkdir(parents=True)
    with open_book(root, project=None, cwd=work) as book:
        book.store("Here.", "here")
        book.recall("here")
        book.import_from(_export(work), "agents-md")
        with pytest.raises(CommonplaceError):
            book.store("There.", "there", f"project:{work}/\0")  # type: ignore[arg-type]
    assert [verb for verb, _ in verbs(root)] == ["store", "recall", "import", "store"]
    assert all(line["project"].startswith("private-work-") for line in lines(root))
    assert str(tmp_path) not in text(root) and "very" not in text(root)


def _export(folder: Path) -> Path:
    (folder / "AGENTS.md").write_text("# Rules\n\n- The zebra runs.\n", "utf-8")
    return folder / "AGENTS.md"


def test_an_import_is_one_line(book: Path, tmp_path: Path) -> None:
    """Format and counts; of a rehearsal, that it was one. Not where from."""
    source = _export(tmp_path)
    with open_book(book) as opened:
        opened.import_from(source, "agents-md", dry_run=True)
        opened.import_from(source, "agents-md")
    first, second = lines(book)
    assert (first["verb"], first["action"], first["created"]) == ("import", "dry-run", 1)
    assert (second["action"], second["created"], second["left"], second["format"]) == ("imported", 1, 0, "agents-md")
    assert not any(word in text(book) for word in ("zebra", "AGENTS"))


def test_a_purge_takes_the_key_out_of_it(book: Path) -> None:
    """Keys are made of words: after a purge no line has it, those of the purge included."""
    with open_book(book) as opened:
        key = opened.store("Zebras hate unicorns.").key
        opened.recall("unicorns")
        opened.forget(key)
        assert text(book).count("unicorns") == 3
        opened.forget(key, purge=True)
    assert "unicorns" not in text(book)
    assert verbs(book) == [(verb, "ok") for verb in ("store", "recall", "forget", "purge")]


@pytest.mark.parametrize("setting", ["enabled = false", "audit_days = 0"])
def test_it_can_be_switched_off(book: Path, setting: str) -> None:
    """With memory switched off, or no days to keep it, nothing is written, and status says so."""
    (book / ".commonplace" / "config.toml").write_text(f"{setting}\n")
    with open_book(book) as opened:
        opened.recall("zebra")
        assert opened.status().audit_folder is None
    assert list(audit_folder(book).iterdir()) == []


def test_days_are_a_setting(book: Path) -> None:
    """`audit_days` is how long a day is kept; what is no number of days is refused."""
    config = book / ".commonplace" / "config.toml"
    yesterday = shift_time(now(), -86_400)[:10]  # without a line of late, the clock would be doubted
    for days, left in ((36_500, 4), (9_000, 3), (30, 2)):
        config.write_text(f"audit_days = {days}\n")
        for age in ("2000-01-01", "2020-01-01", yesterday):
            (audit_folder(book) / f"{age}.jsonl").write_text("{}\n")
        (audit_folder(book) / f"{now()[:10]}.jsonl").unlink(missing_ok=True)
        with open_book(book) as opened:
            opened.recall("zebra")
        assert len(list(audit_folder(book).iterdir())) == left
    for wrong in ("-1", "often", "36501", "1.5", "true"):
        with open_book(book) as opened, pytest.raises(CommonplaceError, match="audit_days"):
            opened.configure("audit_days", wrong)


@pytest.mark.parametrize(
    ("why", "severity"),
    [("a file in the way", "warning"), ("closed", "warning"), ("read-only", "note"), ("full", None)],
)
def test_what_cannot_be_noted_is_done_all_the_same(
    book: Path, monkeypatch: pytest.MonkeyPatch, why: str, severity: str | None
) -> None:
    """The verb's own result counts: an audit that cannot be written fails no verb, and doctor says that it is so."""
    if why == "a file in the way":
        audit_folder(book).rmdir()
        audit_folder(book).write_text("in the way")
    else:
        number = errno.ENOSPC if why == "full" else errno.EACCES
        monkeypatch.setattr("commonplace.vault.disk_files.OsLogFile.append", lambda *_: _raise(OSError(number, why)))
    if why in ("closed", "read-only"):  # as the system says to who is no superuser
        closed = str(audit_folder(book) if why == "closed" else book / ".commonplace")
        monkeypatch.setattr("commonplace.maintenance.doctor.os.access", lambda path, _: str(path) != closed)
    with open_book(book) as opened:
        assert opened.store("It is kept.", "kept").action == "created"
        assert opened.recall("kept").hits[0].key == "kept"
        assert opened.forget("kept", purge=True).action == "purged"
        found = {finding.code: finding.severity for finding in opened.doctor()}
    assert found.get("audit_unwritable") == severity


def _raise(error: BaseException) -> None:
    raise error


def test_a_fault_of_the_audit_itself_is_no_fault_of_the_verb(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a bug in it cannot turn a store that is durable into an error."""
    monkeypatch.setattr("commonplace.verbs.changing.scope_of_path", lambda *_: 1 / 0)
    with open_book(book) as opened:
        assert opened.store("It is kept.", "kept").action == "created"
    assert lines(book) == []


def test_no_view_shows_it(book: Path) -> None:
    """Neither an agent nor a person who sees all gets to the audit through the book: by path, list, search or shell."""
    with open_book(book) as opened:
        opened.recall("first")
        (day,) = audit_folder(book).iterdir()
        path = f"/.commonplace/audit/{day.name}"
        for reader in (opened, opened.as_role("agent")):
            everything = reader is opened
            for act in (reader.read_memory, reader.list_memories):
                with pytest.raises(CommonplaceError) as raised:
                    act(path, everything=everything)
                assert raised.value.code in ("not_found", "outside_view")
            assert reader.shell(f"cat {path}", everything=everything).stdout == ""
            assert reader.shell("find / -name '*.jsonl'", everything=everything).stdout == ""
            assert reader.search_memory('"verb"', everything=everything).matches == ()
            with pytest.raises(CommonplaceError):
                reader.page(path)


def test_two_roles_of_one_book_are_told_apart(book: Path) -> None:
    """A book that is lent out in another role writes that role into its lines, to the same file."""
    with open_book(book, agent="scout") as opened:
        opened.recall("first")
        opened.as_role("agent").recall("first")
    assert [line["role"] for line in lines(book)] == ["person", "agent"]
    json.dumps(lines(book))


def test_status_says_where_it_is(book: Path) -> None:
    """`status` names the folder."""
    with open_book(book) as opened:
        assert opened.status().audit_folder == str(audit_folder(book))
