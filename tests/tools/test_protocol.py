"""The write protocol as an agent meets it: the cases it has to tell apart, through the tools of a book."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace import Book, RoleChoice, toolset
from commonplace.model.errors import CommonplaceError, DecisionNeeded, NotPermitted, SecretFound
from commonplace.model.scope import Role
from commonplace.verbs.toolset import BoundTool, call_with_protocol, read_order, tools_for

FACT = "The staging database is on port 5432."
LATER = "The staging database moved to another machine in Berlin."
TOKEN = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"
Tools = dict[str, BoundTool]
Opener = Callable[..., Tools]


@pytest.fixture
def open_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Open the same book as some agent; a person has kept one fact in it, and one about deploys."""
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "strict")
    books: list[Book] = []

    def open_as(role: RoleChoice = "agent", *, extra: tuple[str, ...] = ("files", "pair"), **who: str) -> Tools:
        agent, session = who.get("agent", "scout"), who.get("session", "s1")
        book = Book.open(tmp_path / "book", project="acme/app", role=role, agent=agent, session=session)
        books.append(book)
        return {tool.name: tool for tool in toolset(book, role, extra=extra)}

    with Book.open(tmp_path / "book", project="acme/app") as person:
        person.store(FACT, "staging-port")
        person.store("Deploys are on Thursdays, after the stand-up.", "deploys")
    yield open_as
    for book in books:
        book.close()


@pytest.fixture
def tools(open_tools: Opener) -> Tools:
    return open_tools()


def is_refused(tools: Tools, content: str = LATER, **arguments: str) -> bool:
    """Whether strict mode refuses to store a text."""
    try:
        tools["memory_store"](content=content, **arguments)
    except DecisionNeeded:
        return True
    return False


def note_of(tools: Tools, content: str, **arguments: str) -> str:
    """The note on a store that happens."""
    return str(tools["memory_store"](content=content, **arguments).data.get("note", ""))


# A read before a write


@pytest.mark.parametrize("key", [{}, {"key": "staging-move"}])
def test_a_write_needs_a_read_about_it(tools: Tools, key: dict[str, str]) -> None:
    """Without a read it is refused; after one about the same thing the same call passes, with and without a key."""
    assert is_refused(tools, **key)
    tools["memory_recall"](query="staging database")
    assert not is_refused(tools, **key)


def test_a_read_about_something_else_does_not_count(tools: Tools) -> None:
    """The questions had nothing to do with the text, and did not return the memory nearest to it.

    Nor does it help that the caller has written that memory itself.
    """
    for query in ("deploy thursday", "who likes tea", "what do you know about this project"):
        tools["memory_recall"](query=query)
        assert is_refused(tools)
    tools["memory_store"](content="The staging database listens to nobody.", key="own", decision="create")
    assert is_refused(tools)


READS: list[tuple[str, dict[str, Any]]] = [
    ("memory_recall", {"query": "staging database"}),
    ("memory_recall", {"query": "where is the DB of staging"}),
    ("memory_recall", {}),
    ("memory_list", {}),
    ("memory_list", {"scope": "project"}),
    ("memory_show", {"key": "staging-port"}),
    ("memory_history", {"key": "staging-port"}),
    ("memory_history", {}),
    ("memory_show", {"key": "index", "scope": "project"}),
    ("search", {"query": "staging database"}),
    ("fetch", {"id": "project/staging-port"}),
    ("list_memories", {"path": "SCOPE"}),
    ("read_memory", {"path": "SCOPE/staging-port.md"}),
    ("read_memory", {"path": "SCOPE/index.md"}),
    ("search_memory", {"query": "staging"}),
    ("memory_shell", {"command": "cat SCOPE/staging-port.md"}),
    ("memory_shell", {"command": "cat staging-port.md", "in_folder": "SCOPE"}),
    ("memory_shell", {"command": "ls", "in_folder": "SCOPE"}),
    ("memory_shell", {"command": "cat ./staging-port.md", "in_folder": "SCOPE/."}),
    ("memory_shell", {"command": "grep -r staging /memories"}),
    ("memory_shell", {"command": "find /memories"}),
    ("memory_shell", {"command": "tree /"}),
]

NO_READS: list[tuple[str, dict[str, Any]]] = [
    ("memory_recall", {"query": "deploys", "scope": "global"}),
    ("memory_recall", {"query": "staging database", "scope": "global"}),
    ("memory_recall", {"query": "staging", "tags": ["ci"]}),
    ("memory_list", {"type": "user"}),
    ("memory_show", {"key": "deploys"}),
    ("memory_show", {"key": "index", "scope": "global"}),
    ("memory_show", {"key": "index"}),
    ("list_memories", {}),
    ("list_memories", {"path": "/memories/project"}),
    ("read_memory", {"path": "SCOPE/deploys.md"}),
    ("search_memory", {"query": "Thursdays"}),
    ("memory_shell", {"command": "pwd"}),
    ("memory_shell", {"command": "ls"}),
    ("memory_shell", {"command": "ls /nowhere"}),
    ("memory_shell", {"command": "ls SCOPE/nowhere"}),
    ("memory_shell", {"command": "cat SCOPE/nowhere.md"}),
    ("memory_shell", {"command": "cat SCOPE"}),
    ("memory_shell", {"command": "cat staging-port.md"}),
    ("memory_shell", {"command": "cat staging-port.md", "in_folder": "/memories"}),
    ("memory_shell", {"command": "cat SCOPE/staging-port.md SCOPE/nowhere.md"}),
    ("memory_shell", {"command": "head -n 0 SCOPE/staging-port.md"}),
    ("memory_shell", {"command": "head -n x SCOPE/staging-port.md"}),
    ("memory_shell", {"command": "grep -r zebra /memories"}),
    ("memory_shell", {"command": "grep staging SCOPE"}),
    ("memory_shell", {"command": "grep -r '[' /memories"}),
    ("memory_shell", {"command": "grep -r Thursdays /memories"}),
    ("memory_shell", {"command": "find /memories -name zebra"}),
    ("memory_shell", {"command": "find /nowhere"}),
    ("memory_shell", {"command": "tree --nowhere SCOPE"}),
    ("memory_shell", {"command": "tail SCOPE/nowhere.md"}),
    ("memory_shell", {"command": "cat 'SCOPE/staging-port.md"}),
    ("memory_shell", {"command": "ls SCOPE | head"}),
    ("memory_shell", {"command": "wc SCOPE/staging-port.md"}),
]


def read(tools: Tools, name: str, arguments: dict[str, Any]) -> None:
    """Make a call, with the folder of the project for SCOPE."""
    folder = tools["list_memories"](path="/memories/project").data["items"][0]["path"]
    given = {
        key: value.replace("SCOPE", folder) if isinstance(value, str) else value for key, value in arguments.items()
    }
    with suppress(CommonplaceError):  # that is a failed call, too
        tools[name](**given)


def test_each_of_these_is_a_read(open_tools: Opener) -> None:
    """Every tool that showed the nearest memory, or looked for it, counts, wherever its paths start."""
    for number, (name, arguments) in enumerate(READS):
        tools = open_tools(session=f"read-{number}")
        read(tools, name, arguments)
        assert not is_refused(tools, key="moved"), (name, arguments)
        tools["memory_forget"](key="moved")


def test_each_of_these_is_no_read(open_tools: Opener) -> None:
    """A call that failed, showed nothing, or was of something else or elsewhere, does not count."""
    for number, (name, arguments) in enumerate(NO_READS):
        tools = open_tools(session=f"no-read-{number}")
        read(tools, name, arguments)
        assert is_refused(tools), (name, arguments)


WORDS = ["cat", "head", "ls", "grep", "find", "tree", "tail", "-r", "-n", "staging", "nowhere.md", "/memories", "'"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_no_failed_command_is_a_read(tools: Tools, words: list[str]) -> None:
    """Whatever command of the shell is tried: if its status is not 0, what follows is refused as before."""
    shell, store = tools["memory_shell"], tools["memory_store"]
    options: dict[str, Any] = {"mode": "strict", "owner": " ".join(words), "names": store.names}
    ran = call_with_protocol(shell.tool, shell.context, {"command": " ".join(words)}, **options, began=read_order())
    if ran.data["exit_code"] != 0:
        with pytest.raises(DecisionNeeded):
            call_with_protocol(store.tool, store.context, {"content": LATER}, **options, began=read_order())


# Duplicates, decisions, retiring


@pytest.mark.parametrize(
    ("decision", "more"),
    [
        ("create", {}),
        ("update:staging-port", {"key": "other", "scope": "project"}),
        ("supersede:staging-port", {"key": "other", "scope": "project"}),
    ],
)
def test_each_decision_that_is_offered_settles_the_same_call(tools: Tools, decision: str, more: dict[str, str]) -> None:
    """A near duplicate is refused even after a read, with its decisions; the same call with one of them succeeds."""
    tools["memory_recall"](query="staging database port")
    fact = {"content": "The staging database is on the port 5432!", **more}
    with pytest.raises(DecisionNeeded) as caught:
        tools["memory_store"](**fact)
    assert f"decision={decision}" in caught.value.message
    stored = tools["memory_store"](**fact, decision=decision).data
    assert "note" not in stored
    assert (stored["key"] == "staging-port") == decision.startswith("update")


def test_a_secret_is_refused_as_one_and_never_repeated(tools: Tools) -> None:
    """Strict mode does not offer to read or to decide about a text that may not be stored at all."""
    with pytest.raises(SecretFound) as caught:
        tools["memory_store"](content=f"The token is {TOKEN}")
    assert TOKEN not in str(caught.value)


def test_a_tool_that_takes_no_decision_is_offered_none(tools: Tools) -> None:
    """To consolidate what was not read is refused with the read to make, after which the same call succeeds."""
    merge = {"keys": ["staging-port", "deploys"], "content": "The staging database is on port 5432, since Thursday."}
    with pytest.raises(DecisionNeeded) as caught:
        tools["memory_consolidate"](**merge)
    assert "decision=" not in caught.value.message and "memory_recall(" in caught.value.message
    tools["memory_recall"](query=merge["content"], scope="project")
    assert tools["memory_consolidate"](**merge).data["action"] == "consolidated"


def test_forgetting_needs_no_read(tools: Tools) -> None:
    """A memory can be forgotten at once."""
    assert tools["memory_forget"](key="deploys").data["action"] == "forgotten"


def test_what_was_read_may_be_changed(tools: Tools) -> None:
    """Who has been shown a memory may write to it, whatever the new text says; to another it may not."""
    tools["memory_show"](key="deploys")
    assert not is_refused(tools, "Ask Maria for the calendar.", key="deploys")
    assert is_refused(tools, "Ask Maria for the calendar.", key="staging-port")


# Calls side by side


def test_calls_sent_together_do_not_know_each_other(tools: Tools) -> None:
    """A store that began before the recall was answered is refused, however late it runs; the next one passes."""
    store, recall = tools["memory_store"], tools["memory_recall"]
    began = read_order()
    recall(query="staging database")
    options: dict[str, Any] = {"mode": "strict", "owner": 1, "names": store.names}
    with pytest.raises(DecisionNeeded):
        call_with_protocol(store.tool, store.context, {"content": LATER}, **options, began=began)
    call_with_protocol(store.tool, store.context, {"content": LATER}, **options, began=read_order())


def test_reads_that_end_together_all_count(tools: Tools) -> None:
    """Eight threads read at once, each about something else: no answer is lost."""
    topics = ["staging", "lunch", "tea", "payroll", "printers", "invoices", "holidays", "parking"]
    together = Barrier(len(topics))

    def ask(topic: str) -> None:
        together.wait()
        tools["memory_recall"](query=topic)

    with ThreadPoolExecutor(len(topics)) as threads:
        list(threads.map(ask, topics))
    for topic in topics:
        assert not is_refused(tools, f"{topic} {topic[::-1]} {topic[1:]}", key=topic), topic


# Sub-agents


@pytest.mark.parametrize(
    ("parent", "child"), [("lead", "helper"), ("lead", "lead/helper"), ("lead/a", "lead/a/b")], ids=str
)
def test_a_sub_agent_knows_what_its_parent_has_read(open_tools: Opener, parent: str, child: str) -> None:
    """Another agent of the same session inherits what the first has read, and not the other way round."""
    above, below = open_tools(agent=parent), open_tools(agent=child)
    above["memory_recall"](query="staging database")
    assert not is_refused(below)
    below["memory_recall"](query="printers")
    assert is_refused(above, "The printers are on the third floor.")


def test_another_session_knows_nothing_of_it(open_tools: Opener) -> None:
    """What one session has read does not count in another, whatever its agent is called."""
    open_tools(session="s1")["memory_recall"](query="staging database")
    assert is_refused(open_tools(session="s2"))


# Notes, roles and modes


def test_the_setting_of_the_book_holds_for_its_tools(open_tools: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """`toolset` guides or leaves alone just as a server does."""
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "guide")
    said = note_of(open_tools(), LATER)
    assert said.startswith("[memory-protocol]") and "memory_recall(" in said
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "off")
    assert note_of(open_tools(session="s2"), "Printers are on the third floor.") == ""


def test_our_own_writes_are_never_left_out_of_the_index(open_tools: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read and write, again and again, is silent: no reminder of an index, no drift."""
    monkeypatch.setenv("COMMONPLACE_PROTOCOL", "guide")
    tools = open_tools()
    tools["memory_recall"](query="printers invoices holidays")
    for text in ("Printers: third floor.", "Invoices go to Berlin.", "Holidays are in the wiki."):
        assert note_of(tools, text) == ""


@pytest.mark.parametrize("missing", ["memory_recall", "memory_show", "memory_consolidate", "memory_store"])
def test_a_note_only_names_tools_that_the_caller_has(tools: Tools, missing: str) -> None:
    """A caller without a tool is never told to use it."""
    store = tools["memory_store"]
    names = frozenset(tools) - {missing}
    options: dict[str, Any] = {"mode": "guide", "owner": 1, "names": names, "began": read_order()}
    for text in (LATER, FACT + "!", "The staging database is on port 6000."):
        note = call_with_protocol(store.tool, store.context, {"content": text}, **options).data["note"]
        assert f"{missing}(" not in note and not [name for name in tools if f"{name}(" in note and name not in names]


def test_a_toolset_may_be_of_a_narrower_role(tmp_path: Path) -> None:
    """An orchestrator makes the tools of its coordinator; nobody makes tools that may do more than they may."""
    with Book.open(tmp_path / "book", project="acme/app", role="orchestrator") as book:
        tools = {tool.name: tool for tool in toolset(book, "coordinator")}
        assert tools.keys() == {tool.name for tool in tools_for("coordinator")}
        assert tools["memory_list"].context.caller.role is Role.COORDINATOR
        assert toolset(book, "worker") == []
    wider: list[tuple[RoleChoice, RoleChoice]] = [
        ("orchestrator", "agent"), ("orchestrator", "person"), ("coordinator", "agent"), ("agent", "coordinator"),
        ("coordinator", "orchestrator"), ("worker", "agent"), ("agent", "person"),
    ]  # fmt: skip
    for own, wanted in wider:
        with (
            Book.open(tmp_path / "book", project="acme/app", role=own) as book,
            pytest.raises(NotPermitted),
        ):
            toolset(book, wanted)


def test_no_question_stands_in_the_state(tools: Tools, tmp_path: Path) -> None:
    """What was asked, a token in it included, is in none of the files that the protocol leaves."""
    tools["memory_recall"](query=f"zebra crossing {TOKEN}")
    tools["memory_shell"](command="grep -r zebra /memories")
    assert is_refused(tools, "Quagga herds.")
    private = [file.read_bytes() for file in (tmp_path / "book" / ".commonplace").rglob("*") if file.is_file()]
    for word in (b"zebra", b"crossing", TOKEN.encode(), b"quagga"):
        assert not any(word in data.lower() or word in data for data in private)
