"""The write protocol for the memory files that Claude Code keeps by itself, through its hooks."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from commonplace.book import Book
from commonplace.model.errors import InvalidSettings
from tests.hooks.hooking import tell

MEMORY = "/home/ann/.claude/projects/-home-ann-app/memory"
CALLS = itertools.count()


@pytest.fixture
def book(root: Path) -> Path:
    with Book.open(root) as book:
        book.store("Something, so that there is an index.", scope="global")
    return root


def call(root: Path, tool: str, file: str, *, works: bool = True, host: str = "claude-code", **settings: str) -> str:
    """A call of one of the host's tools, from before to after; what the agent is told."""
    arguments = {"file_path": f"{MEMORY}/{file}", "content": "The port is 8042.", "new_string": "- [port](port.md)"}
    said = {"session_id": "s1", "cwd": "/", "tool_name": tool, "tool_input": arguments, "tool_use_id": str(next(CALLS))}
    assert tell(root, "pre-tool", host, said, **settings) == ""
    return tell(root, "post-tool", host, {**said, "tool_response": {"success": works}}, **settings)


def next_turn(root: Path, host: str = "claude-code") -> str:
    """The turn ends, which is never answered, and the user says something; what the agent is told then."""
    said = {"session_id": "s1", "cwd": "/", "prompt": "Go on."}
    for again in (False, True):
        assert tell(root, "stop", host, {**said, "stop_hook_active": again}) == ""
    return tell(root, "prompt", host, said)


def test_a_write_that_follows_no_read_is_noted(book: Path) -> None:
    """The note names what was missed and a call that the host has; after a read of the index there is none of that."""
    said = call(book, "Write", "port.md")
    assert said.startswith("[memory-protocol]") and "without reading" in said and "Next: Read(" in said
    assert call(book, "Read", "MEMORY.md") == ""


def test_a_whole_cycle_is_only_reminded_of_the_index(book: Path) -> None:
    """Read the index, write, put it into the index: after the write the index is named, and then nothing is said."""
    for file in ("port", "host"):
        assert call(book, "Read", "MEMORY.md") == ""
        said = call(book, "Write", f"{file}.md")
        assert said.startswith(f'[memory-protocol] Not in the index yet: "{file}"') and "Next: Edit(" in said
        assert call(book, "Edit", "MEMORY.md") == ""
    assert next_turn(book) == ""


def test_an_index_update_begins_a_new_cycle(book: Path) -> None:
    """What was read before the index was updated does not count for the write after it."""
    call(book, "Read", "MEMORY.md")
    call(book, "Write", "port.md")
    call(book, "Edit", "MEMORY.md")
    assert "without reading" in call(book, "Write", "host.md")


def test_what_never_reached_the_index_is_said(book: Path) -> None:
    """At the next write, and once at the prompt after the turn; again only when something else was left out."""
    call(book, "Read", "MEMORY.md")
    assert "Earlier" not in call(book, "Write", "port.md")
    assert "not in the index" in call(book, "Write", "host.md")
    said = next_turn(book)
    assert said.startswith("[memory-protocol]") and "not in the index" in said and "port" in said
    assert next_turn(book) == ""
    call(book, "Write", "disk.md")
    assert "disk" in next_turn(book)
    call(book, "Edit", "MEMORY.md")
    assert next_turn(book) == ""
    call(book, "Write", "disk.md")
    assert "disk" in next_turn(book)


FAILURES = [{"success": False}, {"is_error": True}, {"isError": True}, {"error": "no such file"}, {"exit_code": 2}]


@pytest.mark.parametrize("answer", FAILURES)
def test_a_read_that_failed_is_none(book: Path, answer: dict[str, object]) -> None:
    """However a host says that a call did not work, a read that failed does not count, and a write is not noted."""
    said = {"session_id": "s1", "cwd": "/", "tool_name": "Read", "tool_input": {"file_path": f"{MEMORY}/MEMORY.md"}}
    tell(book, "post-tool", "claude-code", {**said, "tool_response": answer})
    assert "without reading" in call(book, "Write", "port.md")
    write = {**said, "tool_name": "Write", "tool_response": answer, "tool_use_id": "w"}
    assert tell(book, "post-tool", "claude-code", write) == ""


def test_a_relative_path_starts_in_the_folder_of_the_call(book: Path) -> None:
    """A read of MEMORY.md by its name alone counts in the memory folder, and in no other."""
    said = {"session_id": "s1", "tool_name": "Read", "tool_input": {"file_path": "MEMORY.md"}, "tool_response": {}}
    tell(book, "post-tool", "claude-code", {**said, "cwd": "/home/ann/app"})
    assert "without reading" in call(book, "Write", "port.md")
    tell(book, "post-tool", "claude-code", {**said, "cwd": MEMORY})
    assert "without reading" not in call(book, "Write", "host.md")


def test_calls_sent_together_do_not_know_each_other(book: Path) -> None:
    """The index is read and a note written in one batch: the write was not made with the answer in hand."""
    read = {"session_id": "s1", "cwd": "/", "tool_name": "Read", "tool_input": {"file_path": f"{MEMORY}/MEMORY.md"}}
    write = {**read, "tool_name": "Write", "tool_input": {"file_path": f"{MEMORY}/port.md"}}
    for event in ("pre-tool", "post-tool"):
        said = [
            tell(book, event, "claude-code", {**one, "tool_use_id": str(at)}) for at, one in enumerate((read, write))
        ]
    assert said[0] == "" and "without reading" in said[1]


def test_what_did_not_happen_or_is_not_asked_for_is_silent(book: Path) -> None:
    """A call that failed, a file elsewhere, a protocol that is off and a host without such files say nothing."""
    assert call(book, "Write", "port.md", works=False) == ""
    assert call(book, "Write", "../../../notes.md") == ""
    assert call(book, "Write", "port.md", COMMONPLACE_PROTOCOL="off") == ""
    assert call(book, "Write", "port.md", host="codex") == ""


@pytest.mark.parametrize(
    "said",
    [{"tool_name": 7}, {"tool_name": "Write"}, {"tool_name": "Write", "tool_input": ["x"]},
     {"tool_name": "Write", "tool_input": {"file_path": {"a": 1}}}, {"tool_name": "Write" * 99, "tool_input": {}},
     {"tool_name": "Write", "tool_input": {"file_path": MEMORY + "/" + "x" * 9_000}, "tool_use_id": 5}],
)  # fmt: skip
def test_odd_calls_are_borne(book: Path, said: dict[str, object]) -> None:
    """Whatever a host says of a call, a hook ends without a word to the log."""
    for event in ("pre-tool", "post-tool"):
        assert tell(book, event, "claude-code", {"session_id": "s1", "cwd": "/", **said}).count("\n") == 0
    assert not (book / ".commonplace" / "hook.log").exists()


VOCABULARY = """
protocol = "guide"
[protocol_vocabulary]
keeps_index = false
read = ["find_notes(words={about})"]
update_index = ["reindex()"]
[protocol_vocabulary.tools]
find_notes = { kind = "read", query_in = "words" }
add_note = { kind = "write", key_in = "title", text_in = "body" }
reindex = { kind = "index" }
"""


def use_tool(root: Path, tool: str, host: str = "gemini", **arguments: str) -> str:
    """A call of a tool of the host's own, from before to after; what the agent is told."""
    said = {"session_id": "s1", "cwd": "/", "tool_name": tool, "tool_input": arguments, "tool_use_id": str(next(CALLS))}
    tell(root, "pre-tool", host, said)
    return tell(root, "post-tool", host, {**said, "tool_response": {}})


def test_tools_that_a_trusted_config_describes_are_watched(book: Path) -> None:
    """A vocabulary in config.toml counts for any host once a person has trusted it, and only as it was then."""
    config = book / ".commonplace" / "config.toml"
    config.write_text(VOCABULARY, encoding="utf-8")
    fact = {"title": "staging", "body": "Staging listens on 6000."}
    assert use_tool(book, "add_note", **fact) == ""
    with Book.open(book) as person:
        assert person.trust()
    said = use_tool(book, "add_note", **fact)
    assert said.endswith('Next: find_notes(words="Staging listens on 6000.")')
    assert "staging" in tell(book, "stop", "gemini", {"session_id": "s1", "cwd": "/"}) + next_turn(book, "gemini")
    assert use_tool(book, "find_notes", words="staging") == ""
    assert use_tool(book, "reindex") == ""
    assert next_turn(book, "gemini") == ""
    config.write_text(VOCABULARY.replace('"read"', '"other"'), encoding="utf-8")
    assert use_tool(book, "add_note", **fact) == ""


def test_claude_codes_files_stay_watched_beside_them(book: Path) -> None:
    """A vocabulary adds to what is known of Claude Code."""
    (book / ".commonplace" / "config.toml").write_text(VOCABULARY, encoding="utf-8")
    with Book.open(book) as person:
        person.trust()
    assert "without reading" in use_tool(book, "add_note", host="claude-code", body="x")
    assert "without reading" in call(book, "Write", "port.md")
    said = next_turn(book)
    assert "a memory without a key" in said and "port" in said


def test_a_vocabulary_that_is_wrong_cannot_be_trusted(book: Path) -> None:
    """The mistake is named where a person sees it, and not met by a hook."""
    (book / ".commonplace" / "config.toml").write_text(VOCABULARY.replace("query_in", "querry_in"), encoding="utf-8")
    with Book.open(book) as person, pytest.raises(InvalidSettings) as caught:
        person.trust()
    assert "querry_in" in caught.value.message


def test_a_setting_is_never_written_into_a_table(book: Path) -> None:
    """`config set` puts a new setting before the first table of config.toml, so that it stays a setting."""
    config = book / ".commonplace" / "config.toml"
    config.write_text(VOCABULARY, encoding="utf-8")
    with Book.open(book) as person:
        person.configure("capture", "off")
        person.configure("protocol", "strict")
    with Book.open(book) as person:
        shown = {setting.name: setting.value for setting in person.config()}
    assert (shown["capture"], shown["protocol"], shown["protocol_vocabulary"]) == ("off", "strict", "set, not shown")
    assert config.read_text(encoding="utf-8").endswith(VOCABULARY.partition("guide")[2].partition("\n")[2])
