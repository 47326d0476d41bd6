"""Whatever an answer names can be opened by the tool named for it, by the same caller: keys, refs, paths, addresses,
runs. One walk over every tool and every command, on a book with something of everything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book, Role, toolset
from commonplace.mcp.server import list_resources, read_resource
from commonplace.model.errors import CommonplaceError, NotFound
from commonplace.model.scope import ScopeKind
from commonplace.text.fence import open_fences
from commonplace.verbs.tool import Answer
from commonplace.verbs.toolset import BoundTool
from tests.cli.calls import run as cli
from tests.depth import examples

PROJECT, OTHER = "github.com/acme/app", "github.com/acme/other"
WORDS = ("tests", "staging port", "failed", "")
ODD_RUN = "run 7: \u200b<odd>/../x"
OURS = ("list", "search", "shell", "journal", "review", "similar")  # sources that name an answer, no memory


def make_book(root: Path) -> None:
    """Memories of every scope and status, keys with levels and odd letters, a key like a journal file's, runs, data."""
    for project in (PROJECT, OTHER):
        with Book.open(root, project=project, agent="lead", session="s1", role="person") as book:
            book.store("Tests run with pytest, see [[people/alice]].", "test-runner", "project")
            book.store("Alice knows the tests.", "people/alice", "global")
            book.store("Not the journal: how tests failed before.", "failure-tester", "project")
            book.store("Tests under a key that looks like a ref.", "global/tests", "project")
            book.store("The tests of this journal.", "journal/tests", "global")
            book.store("Staging port is 5432.", "staging-port", "project")
            book.store("Staging port is 6000.", "new-port", "project", decision="supersede:staging-port")
            book.store("My session ran the tests.", "mine", "session")
            book.store("The lead likes short tests.", "style", "agent")
            book.link("test-runner", "relates_to", "staging-port")
            book.data_put("prices.csv", b"tests,1\n")
            for number in (1, 2, 3):
                tasks = [
                    {
                        "worker": "tester",
                        "description": "Run the tests",
                        "error": f"{number} tests failed",
                        "id": "t/1",
                    },
                    {"worker": "Odd \u202e Name", "description": "Write the tests", "result": "x" * 900},
                ]
                book.record_run({"run_id": f"run-{number}", "goal": "Ship the tests", "tasks": tasks})
            book.record_run({"run_id": ODD_RUN, "tasks": [{"worker": "tester", "description": "Run the tests"}]})
            assert [item.key for item in book.review()]
    team = root / "memories" / "team"
    team.mkdir()
    (team / "shared.md").write_text("The team's tests are slow.\n")
    (root / "memories" / "global" / "Zürich \u200d tests 100%25.md").write_text(
        "Made by hand, with odd letters: tests.\n"
    )
    full = root / "journal" / "app-98d9fc12e020" / "worker-tester.md"
    text = full.read_text()
    full.with_name("worker-tester.2.md").write_text(text.replace("entry id=task-", "entry id=task-2"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("refs") / "book"
    make_book(root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "book"))


def rows(found: Any) -> Iterator[dict[str, Any]]:
    """Every object in an answer."""
    if isinstance(found, dict):
        yield found
    for value in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from rows(value)


ASKED: list[tuple[str, dict[str, Any]]] = [
    *(("memory_recall", {"query": words, "limit": 50}) for words in WORDS),
    ("memory_recall", {"query": "tests", "related": True, "limit": 50}),
    ("memory_recall", {"query": "port", "as_of": "2099-01-01"}),
    ("memory_recall", {"query": "zebras"}),
    *(("search", {"query": words}) for words in WORDS[:3]),
    ("memory_history", {"limit": 100}),
    ("memory_show", {"key": "index"}),
    ("memory_show", {"key": "index", "scope": "project"}),
    ("memory_list", {"hidden": True}),
    ("memory_list", {}),
    ("memory_show", {"key": "test-runner"}),
    ("memory_review", {"action": "list"}),
    ("recent_memory", {}),
    ("recent_memory", {"worker": "tester"}),
    ("recent_memory", {"worker": "Odd \\u{202e} Name"}),
    ("journal_run", {"run_id": "run-1"}),
    ("search_memory", {"query": "tests"}),
    ("list_memories", {}),
]


class Walk:
    """One caller's tools: what they answer, and how what they name is opened."""

    def __init__(self, book: Book, role: Role, extra: tuple[str, ...]) -> None:
        self.book = book.as_role(role)
        self.tools: dict[str, BoundTool] = {tool.name: tool for tool in toolset(book, role, extra=extra)}
        self.opened: set[tuple[str, str]] = set()
        self.failed: list[str] = []

    def ask(self, name: str, **arguments: Any) -> Answer | None:
        return self.tools[name](**arguments) if name in self.tools else None

    def open(self, where: str, name: str, **arguments: Any) -> Answer | None:
        """Open something with a tool, once; what that answers is walked, too."""
        call = (name, json.dumps(arguments, sort_keys=True))
        if call in self.opened or name not in self.tools:
            return None
        self.opened.add(call)
        try:
            answer = self.ask(name, **arguments)
        except CommonplaceError as error:
            self.failed.append(f"{where}: {name} {arguments}: {error.message}")
            return None
        if answer is not None:
            self.follow(f"{where} > {name}", answer)
        return answer

    def follow(self, where: str, answer: Answer) -> None:
        """Open everything that an answer names, in its data and in the labels of its fences."""
        for row in rows(answer.data):
            if {"key", "scope"} <= row.keys():
                opened = self.open(where, "memory_show", key=row["key"], scope=row["scope"])
                assert opened is None or (opened.data["key"], opened.data["scope"]) == (row["key"], row["scope"])
            if {"id", "url"} <= row.keys():
                self.open(where, "fetch", id=row["id"])
                self.open(where, "memory_show", key=row["url"])
                self.read(where, row["url"])
            if row.get("path"):
                is_folder = row.get("kind") == "folder" or "items" in row
                self.open(where, "list_memories" if is_folder else "read_memory", path=row["path"])
            if row.get("run"):
                self.open(where, "journal_run", run_id=row["run"])
            if row.get("worker"):
                self.open(where, "recent_memory", worker=row["worker"])
        for one in open_fences(answer.text):
            source = one.labels.get("source", "")
            if source.startswith("/"):
                self.open(where, "read_memory" if "." in source else "list_memories", path=source)
            elif "/" in source and not source.startswith("run "):
                self.open(where, "fetch", id=source)
                self.open(where, "memory_show", key=source)
            else:
                assert source in OURS or source.startswith(("run ", "history of ")), source

    def read(self, where: str, uri: str) -> None:
        try:
            read_resource(self.book, uri)
        except CommonplaceError as error:
            self.failed.append(f"{where}: {uri}: {error.message}")


CALLERS = [
    ("agent", ()), ("agent", ("files", "pair")), ("coordinator", ("pair",)), ("orchestrator", ()), ("person", ()),
]  # fmt: skip


@pytest.mark.parametrize(("role", "extra"), CALLERS, ids=[f"{role}{''.join(extra)}" for role, extra in CALLERS])
def test_whatever_a_tool_names_can_be_opened(root: Path, role: str, extra: tuple[str, ...]) -> None:
    """Every key with its scope, every id, path, run, worker and source of every tool's answer, and of what these open
    in turn: no tool refuses what another gave, and journal hits are among them."""
    with Book.open(root, project=PROJECT, agent="lead", session="s1", role="person") as book:
        walk = Walk(book, Role(role), extra)
        for name, arguments in ASKED:
            answer = walk.ask(name, **arguments)
            if answer is not None:
                walk.follow(name, answer)
        found = list_resources(walk.book, None)["resources"]
        for one in found:
            walk.read("resources", one["uri"])
        assert walk.failed == []
        shown = [json.loads(arguments) for name, arguments in walk.opened if name == "memory_show"]
        assert {"key": "failure-tester", "scope": "journal"} in shown and len(found) > 10
        assert {"key": "failure-tester", "scope": "project"} in shown and {"key": "shared", "scope": "team"} in shown
        assert len(shown) > 30 and ("journal_run" not in walk.tools or len(walk.opened) > 60)


def test_the_journal_note_is_opened_and_not_the_memory_of_that_name(root: Path) -> None:
    """`journal/failure-tester` and `project/failure-tester` are two things, and each opens as itself, however it is
    named; a bare key is the memory."""
    with Book.open(root, project=PROJECT, agent="lead", session="s1", role="agent") as book:
        tools = {tool.name: tool for tool in toolset(book, "agent", extra=["pair"])}
        hits = [hit for hit in book.recall("tests failed", limit=50).hits if hit.key == "failure-tester"]
        assert {hit.kind for hit in hits} == {"journal", "memory"}
        for hit in hits:
            for memory in (
                book.show(hit.ref),
                book.show(hit.path),
                book.show(hit.key, "journal" if hit.kind == "journal" else hit.scope),
            ):
                assert (memory.path, hit.entry in [entry.id for entry in memory.entries]) == (hit.path, True)
                assert {entry.trust for entry in memory.entries} == {hit.trust}
            fetched = tools["fetch"](id=hit.ref).data
            assert fetched["id"] == hit.ref and hit.text.splitlines()[0] in fetched["text"]
        assert book.show("failure-tester").path.startswith("/memories/project/")
        assert book.show("worker-tester").path.startswith("/journal/")
        with pytest.raises(CommonplaceError):
            book.source("worker-tester")  # nobody edits the journal


def test_a_ref_opens_nothing_that_the_caller_may_not_see(root: Path) -> None:
    """By path, by address or by id of a scope, another project's memories and journal are not there for an agent."""
    with Book.open(root, project=PROJECT, agent="lead", session="s1", role="person") as person:
        there = [hit for hit in person.recall("", everything=True, limit=100).hits if hit.scope_id == OTHER]
        assert {hit.kind for hit in there} == {"memory", "journal"}
        for hit in there:
            assert person.show(hit.ref).path == hit.path
            with pytest.raises(NotFound):
                person.show(hit.path)  # a path alone leads to no other scope: the ref names it
        for role in ("agent", "coordinator", "orchestrator"):
            book = person.as_role(role)
            for hit in there:
                for ref in (hit.ref, hit.path, f"book://{hit.path}"):
                    with pytest.raises(CommonplaceError):
                        book.show(ref)
    with Book.open(root, project=PROJECT, session="s9", sealed=True, role="agent") as sealed:
        for ref in ("journal/failure-tester", "global/people/alice", there[0].path):
            with pytest.raises(CommonplaceError):
                sealed.show(ref)


def test_a_forgotten_memory_is_told_from_one_that_never_was(root: Path) -> None:
    """A recall about an earlier time names a memory that was forgotten since: opening it says how to bring it back."""
    with Book.open(root, project=PROJECT, session="s1", role="person") as book:
        times = iter(f"2027-01-{day:02d}T00:00:00Z" for day in range(1, 29))
        book.context.memories.clock = times.__next__
        book.store("Zebras eat grass.", "zebras", "project")
        book.forget("zebras")
        (hit,) = book.recall("zebras", as_of="2027-01-01T12:00:00Z", mode="lexical").hits
        with pytest.raises(NotFound) as error:
            book.show(hit.key, hit.scope)
        assert "commonplace restore zebras" in error.value.hint
        with pytest.raises(NotFound) as error:
            book.show("never-was")
        assert "restore" not in error.value.hint


LINES: list[tuple[str, ...]] = [
    *(("recall", words, "--limit", "50") for words in WORDS),
    *(("recall", words, "--all", "--limit", "100") for words in WORDS),
    ("recall", "tests", "--related"), ("list", "--hidden"), ("list", "--all", "--hidden"), ("timeline",), ("history",),
    ("show", "test-runner"), ("show", "test-runner", "--related"), ("related", "test-runner"), ("brief",),
    ("brief", "--prompt", "where do the tests run"), ("review", "--list"), ("journal", "list"),
    ("journal", "list", "--worker", "tester"), ("journal", "show", "run-1"), ("files", "list", "/"),
    ("files", "list", "/journal", "--all"), ("files", "search", "tests"), ("files", "search", "tests", "--all"),
]  # fmt: skip


def test_whatever_a_command_names_can_be_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a person at the command line, with --all, too: `show` takes the ref, the key with its scope, and the
    path in one's own scopes; `files read --all` any path; `journal show` the run."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    place = ("--project", PROJECT, "--session", "s1", "--json")
    opened: dict[tuple[str, ...], int] = {}

    def check(where: tuple[str, ...], *line: str) -> None:
        if line not in opened:
            done = cli(*line, *place)
            opened[line] = done.status
            assert done.status == 0, (where, line, done.err)

    for line in LINES:
        done = cli(*line, *place)
        assert done.status == 0, (line, done.err)
        answer = json.loads(done.out)
        for ref in answer.get("memories", ()) if line[0] == "brief" else ():
            check(line, "show", ref)
        for row in rows(answer):
            if row.get("ref"):
                check(line, "show", row["ref"])
            if row.get("key") and row.get("scope"):
                scope = f"{row['scope']}:{row['scope_id']}" if row.get("scope_id") else row["scope"]
                check(line, "show", row["key"], "--scope", scope)
                if "--all" not in line and line[0] != "review":
                    check(line, "show", row["path"])
            if row.get("path") and line[0] != "history":
                is_folder = row.get("kind") == "folder" or "items" in row
                check(line, "files", "list" if is_folder else "read", row["path"], "--all")
            if row.get("run"):
                check(line, "journal", "show", row["run"])
    assert len(opened) > 100 and any(line[:2] == ("show", f"journal:{OTHER}/failure-tester") for line in opened)


SCOPES = st.sampled_from([ScopeKind.GLOBAL, ScopeKind.PROJECT, ScopeKind.SESSION])
KEYS = st.lists(st.sampled_from(["journal", "global", "project", "a", "failure-x", "b2"]), min_size=1, max_size=3)


@examples(60, quick=15)
@given(
    st.dictionaries(
        KEYS.map("/".join),
        SCOPES,
        min_size=1,
        max_size=4,
    )
)
def test_any_key_opens_by_its_ref(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, ScopeKind]) -> None:
    """Keys made of words that also name places: key with scope, ref of a hit, path and address each open that one."""
    root = tmp_path_factory.mktemp("any") / "book"
    with Book.open(root, project=PROJECT, session="s", role="person") as book:
        for key, scope in keys.items():
            try:
                book.store(f"Fact of {key} in {scope}.", key, scope)
            except CommonplaceError:
                continue  # such a key cannot be stored
        tools = {tool.name: tool for tool in toolset(book, "agent", extra=["pair"])}
        for hit in book.recall("", limit=50).hits:
            opened: list[Callable[[], str]] = [
                lambda hit=hit: book.show(hit.key, hit.scope).path,  # type: ignore[misc]
                lambda hit=hit: book.show(hit.path).path,  # type: ignore[misc]
                lambda hit=hit: book.show(f"book://{hit.path}").path,  # type: ignore[misc]
            ]
            assert {look() for look in opened} == {hit.path}
            assert hit.text in tools["fetch"](id=hit.ref).data["text"]
