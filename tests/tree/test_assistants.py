"""Exports of ChatGPT and Claude."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.readers import chatgpt, claude_export
from commonplace.tree.readers.json_stream import iterate_items
from commonplace.tree.source import Person, SourceUnit
from commonplace.vault.named_files import open_files
from tests.depth import examples
from tests.tree.chat_sources import MemoryFiles, damaged, matches, read_all, twisted

NAME = "conversations.json"
MARKED = "It is \ue200entity\ue202x\ue201. \ue200cite\ue202turn0\ue201"


def node(ident: str, parent: str | None, role: str, content: object, **more: object) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message = {"id": ident, "author": {"role": role}, "create_time": 1794734400.5, "content": content, **more}
    return {"id": ident, "message": message, "parent": parent, "children": []}


def gpt(*nodes: dict[str, Any], **more: object) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "root", "message": None, "parent": None, "children": []}
    mapping = {"root": root, **{one["id"]: one for one in nodes}}
    return {
        "title": "Lunch",
        "create_time": 1794734000.0,
        "mapping": mapping,
        "current_node": nodes[-1]["id"] if nodes else "root",
        "conversation_id": "c1",
        **more,
    }


def claude(*messages: object, **more: object) -> dict[str, Any]:
    return {"uuid": "k1", "name": "Lunch", "created_at": "2026-11-15T09:00:00Z", "chat_messages": [*messages], **more}


def said(ident: str, sender: str, text: str, **more: object) -> dict[str, Any]:
    return {"uuid": ident, "sender": sender, "text": text, "created_at": "2026-11-15T09:30:00.123456Z", **more}


GPT = gpt(
    node("s", "root", "system", "You are helpful.", metadata={"is_visually_hidden_from_conversation": True}),
    node("p", "s", "user", {"content_type": "user_editable_context", "user_profile": "Ann"}),
    node("old", "p", "user", "The question that was edited away."),
    node("u", "p", "user", {"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-abc"}, "What is this?"]},
        metadata={"attachments": [{"id": "file-abc", "name": "photo.png"}]}),
    node("t", "u", "assistant", {"content_type": "code", "text": "search()"}, recipient="browser"),
    node("r", "t", "tool", "A result."),
    node("h", "r", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}),
    node("a", "h", "assistant", MARKED, metadata={"content_references": [
        {"matched_text": "\ue200entity\ue202x\ue201", "alt": "Lisbon"}]}),
)  # fmt: skip
CLAUDE = claude(
    said("m1", "human", "What is this?", attachments=[
        {"file_name": "", "extracted_content": "Pasted."}, {"file_name": "a.pdf", "extracted_content": "Uploaded."}],
        files=[{"file_name": "b.png"}]),
    said("m2", "assistant", "```\nThis block is not supported.\n```\nLisbon.", content=[
        {"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "name": "search"},
        {"type": "text", "text": "Lisbon."}]),
    said("m3", "human", ""),
)  # fmt: skip


def test_chatgpt_has_what_was_said() -> None:
    """Of the tree of a conversation, the branch shown last counts, with what the user and the model said in it."""
    units, skipped = read_all(chatgpt, {NAME: json.dumps([GPT]).encode()})
    assert skipped == []
    assert [(unit.author, unit.text, unit.native_id) for unit in units] == [
        (Person("user"), "What is this?", "chatgpt:c1/u"),
        (Person("assistant"), "It is Lisbon.", "chatgpt:c1/a"),
    ]
    assert [unit.attachments for unit in units] == [("photo.png",), ()]
    assert [unit.signals for unit in units] == [{"sent"}, set()]
    assert {(unit.thread, unit.title, unit.occurred) for unit in units} == {("c1", "Lunch", "2026-11-15T09:20:00Z")}
    assert units[0].place == "conversations.json, conversation 1, message 1"


def test_chatgpt_without_a_current_node() -> None:
    """An export that does not say which message was shown last: the one that was written last counts."""
    conversation = gpt(node("1", "root", "user", "One."), node("2", "1", "assistant", "Two."), current_node=["?"])
    later = node("3", "1", "assistant", "Three.")
    later["message"]["create_time"] += 60
    conversation["mapping"] = {"3": later, **conversation["mapping"]}
    units, _ = read_all(chatgpt, {NAME: json.dumps([conversation]).encode()})
    assert [unit.text for unit in units] == ["One.", "Three."]


def test_claude_has_what_was_said() -> None:
    """Pasted text is a part of a message, and so is that of a file, below its name; a file without text is a name.
    Thinking, tools and empty messages are left out."""
    units, skipped = read_all(claude_export, {NAME: json.dumps([CLAUDE]).encode()})
    assert skipped == []
    assert [(unit.author.name, unit.text, unit.native_id, unit.attachments) for unit in units] == [
        ("user", "What is this?\n\nPasted.\n\na.pdf\nUploaded.", "claude:k1/m1", ("a.pdf", "b.png")),
        ("assistant", "Lisbon.", "claude:k1/m2", ()),
    ]
    assert {(unit.thread, unit.title, unit.occurred) for unit in units} == {("k1", "Lunch", "2026-11-15T09:30:00Z")}


def test_the_text_of_a_large_file_does_not_hide_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose text would make the message too large is a name; the message and smaller files stay."""
    monkeypatch.setattr(claude_export, "MAX_MESSAGE", 40)
    files = [{"file_name": name, "extracted_content": text} for name, text in (("a.txt", "x" * 40), ("b.txt", "y"))]
    conversation = claude(said("m1", "human", "What is this?", attachments=[*files, {"file_name": "c.txt"}]))
    (unit,), skipped = read_all(claude_export, {NAME: json.dumps([conversation]).encode()})
    assert (unit.text, unit.attachments) == ("What is this?\n\nb.txt\ny", ("a.txt", "b.txt", "c.txt"))
    assert skipped == []


def test_claude_takes_the_branch_that_was_shown_last() -> None:
    """Where an export says the parents of messages, what was edited away is left out; where it does not, all stay."""
    none = "00000000-0000-4000-8000-000000000000"
    messages = [
        said("1", "human", "Old.", parent_message_uuid=none),
        said("2", "human", "New.", parent_message_uuid=none),
        said("3", "assistant", "Yes.", parent_message_uuid="2"),
    ]
    whole = claude(*messages, current_leaf_message_uuid="3")
    broken = claude(messages[0], messages[2], current_leaf_message_uuid="3")
    for conversation, texts in ((whole, ["New.", "Yes."]), (broken, ["Old.", "Yes."])):
        units, _ = read_all(claude_export, {NAME: json.dumps([conversation]).encode()})
        assert [unit.text for unit in units] == texts


def test_each_knows_its_own() -> None:
    """Both call their file conversations.json; a text that says otherwise, and JSON of other kinds, fool neither."""
    tricky_gpt, tricky_claude = gpt(title='"chat_messages": ['), claude(name='"mapping": {')
    both = (chatgpt, claude_export)
    for conversation, owner in ((GPT, chatgpt), (CLAUDE, claude_export), (tricky_gpt, chatgpt)):
        assert [matches(one, {NAME: json.dumps([conversation]).encode()}) for one in both] == [
            one is owner for one in both
        ]
    assert matches(claude_export, {NAME: json.dumps([tricky_claude]).encode()})
    assert not matches(chatgpt, {NAME: json.dumps([tricky_claude]).encode()})
    split = {f"x/conversations-00{n}.json": json.dumps([GPT], indent=2).encode() for n in range(2)}
    assert matches(chatgpt, split)
    assert matches(chatgpt, {"mine.json": json.dumps([GPT]).encode()})
    others = ({NAME: b"[]"}, {NAME: b'{"mappings": 1}'}, {NAME: b""}, {"a.json": b"[]", "b.json": b"[]"})
    notes = {"conversations.md": b'"mapping": {', "a.md": b"# A"}
    for other in (*others, notes, {"locked/conversations.json": b""}):
        assert not any(matches(one, other) for one in both)


def test_a_split_export_in_a_zip_is_one_source(tmp_path: Path) -> None:
    """The files of a split export are read one after the other, out of the zip."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(3):
            packed.writestr(f"conversations-00{number}.json", json.dumps([gpt(*GPT["mapping"].values(), id=number)]))
        packed.writestr("chat.html", "<p>Not read.</p>")
    with open_files(str(path)) as files:
        assert chatgpt.matches(files)
        units, skipped = read_all(chatgpt, files)
    assert (len(units), skipped) == (6, [])
    assert len({unit.place for unit in units}) == 6


@pytest.mark.parametrize(
    "broken",
    [
        '{"title": "x", "mapping": {broken}}',
        '{"title": "x", "mapping": {"1": {"id": "1", "a": ',
        '{"title": "x", "mapping": {"1": "unclosed}}',
        "null",
        "12" * 3_000,
        '{"title": "no mapping"}',
        "[" * 5_000,
        '{"a":' * 5_000,
    ],
)
def test_a_broken_conversation_costs_only_itself(broken: str) -> None:
    """Whatever stands between two conversations, both are read, and it is said where something could not be."""
    for indent in (None, 1):
        good = json.dumps(GPT, indent=indent)
        units, skipped = read_all(chatgpt, {NAME: f"[{good},\n{broken},{good}]".encode()})
        assert len(units) == 4
        assert [item.reason for item in skipped] == ["unreadable"]
        assert skipped[0].place == "conversations.json, conversation 2"


def test_a_cut_file_gives_what_is_whole() -> None:
    """A download that broke off: what came before is read, the rest is said."""
    data = json.dumps([GPT, GPT]).encode()
    units, skipped = read_all(chatgpt, {NAME: data[:-50], "locked/conversations.json": b""})
    assert (len(units), [item.reason for item in skipped]) == (2, ["unreadable", "unreadable"])


def test_memory_is_bounded_by_one_conversation() -> None:
    """An export ten times as large needs no more memory: one conversation is held at a time."""

    def measure(count: int) -> int:
        stream = _Repeated(json.dumps(gpt(node("1", "root", "user", "word " * 20_000))).encode(), count)
        tracemalloc.start()
        found = sum(item is not None for item in iterate_items(cast("Any", stream), lambda item: "mapping" in item))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == count
        return peak

    assert measure(400) < 1.2 * measure(40)


class _Repeated(io.RawIOBase):
    """A list of one item many times."""

    def __init__(self, item: bytes, count: int) -> None:
        self._pieces = self._make(item, count)
        self._left = b""

    @staticmethod
    def _make(item: bytes, count: int) -> Iterator[bytes]:
        yield b"["
        for number in range(count):
            yield b"," + item if number else item
        yield b"]"

    def read(self, size: int = -1) -> bytes:
        while len(self._left) < size and (piece := next(self._pieces, b"")):
            self._left += piece
        found, self._left = self._left[:size], self._left[size:]
        return found


def test_halves_of_letters_and_zeros_are_no_text() -> None:
    """What JSON may hold and a file may not becomes the replacement character, or nothing."""
    units, _ = read_all(chatgpt, {NAME: json.dumps([gpt(node("1", "root", "user", "a\0b\ud83d\r\nc"))]).encode()})
    assert [unit.text for unit in units] == ["ab\ufffd\nc"]


@examples(60, 10)
@given(st.data())
def test_damaged_exports_are_read(data: st.DataObject) -> None:
    """Cut, doubled and overwritten bytes raise nothing, and neither do values of other types."""
    for reader, conversation in ((chatgpt, GPT), (claude_export, CLAUDE)):
        good = json.dumps([conversation, conversation]).encode()
        read_all(reader, {NAME: data.draw(damaged(good))})
        odd = json.dumps([conversation, data.draw(twisted(conversation)), conversation]).encode()
        units, _ = read_all(reader, {NAME: odd})
        assert len(units) >= 4


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=40), max_size=3), max_size=8),
    st.sampled_from([None, 2]),
)
def test_items_are_those_of_the_list(items: list[dict[str, str]], indent: int | None) -> None:
    """What is read of a list of objects one by one is the list, however it is laid out."""
    stream = io.BytesIO(json.dumps(items, indent=indent).encode())
    assert list(iterate_items(stream, lambda _: True)) == items


def test_units_are_those_of_the_protocol() -> None:
    """What the readers yield are units of chats."""
    files = MemoryFiles({NAME: json.dumps([GPT]).encode()})
    units: list[SourceUnit] = read_all(chatgpt, files)[0]
    assert [unit.kind for unit in units] == ["chat", "chat"]
