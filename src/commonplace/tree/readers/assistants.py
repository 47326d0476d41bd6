"""What the exports of ChatGPT and Claude have in common: files of conversations, read one conversation at a time.

`readers/chatgpt.py` and `readers/claude_export.py` say which objects are conversations and what messages are in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from commonplace.model.errors import Unreadable
from commonplace.model.lazy import lazy
from commonplace.tree.readers.json_stream import Item, iterate_items
from commonplace.tree.readers.lines import base_name, read_beginning
from commonplace.tree.source import MAX_MESSAGE, FileSet, Person, Signal, SkippedUnit, SourceUnit

USER, ASSISTANT = Person("user"), Person("assistant")
_FILE = lazy(r"conversations(?:-\d+)?\.json", re.IGNORECASE)
_LOOKED_AT = 4  # files


class Conversation(NamedTuple):
    """A conversation of an export, of which the messages are not read yet."""

    native_id: str  # "chatgpt:CONVERSATION"; empty if the export does not say
    thread: str
    title: str
    fields: Item


class AssistantMessage(NamedTuple):
    """A message of a conversation as its export has it."""

    ident: str
    is_user: bool
    text: str
    occurred: str
    attachments: tuple[str, ...] = ()


def find_conversation_files(files: FileSet) -> list[str]:
    """Return the names of the files that may hold conversations: those that exports call so, or a file alone."""
    found = [name for name in files.names if _FILE.fullmatch(base_name(name))]
    is_alone = len(files.names) == 1 and files.names[0].lower().endswith(".json")
    return found or (list(files.names) if is_alone else [])


def has_key(files: FileSet, key: str, other: str) -> bool:
    """Return whether the first conversation of an export has a key, before any that has the `other` one."""
    # A quote inside a text of JSON is escaped, so no text of a message looks like a key.
    keys = re.compile(rb'"(%s|%s)"\s*:' % (key.encode(), other.encode()))
    for name in find_conversation_files(files)[:_LOOKED_AT]:
        beginning = read_beginning(files, name).removeprefix(b"\xef\xbb\xbf").lstrip()
        first = keys.search(beginning) if beginning.startswith((b"[", b"{")) else None
        if first is not None:
            return first[1] == key.encode()
    return False


def read_conversations(
    files: FileSet,
    is_conversation: Callable[[Item], bool],
    find_names: Callable[[Item], Conversation],
    read_messages: Callable[[Conversation], Iterator[AssistantMessage | None]],
) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages of an export, conversation by conversation. A message that is None cannot be read."""
    for name in find_conversation_files(files):
        number = 0
        try:
            with files.open(name) as file:
                for number, item in enumerate(iterate_items(file, is_conversation), 1):
                    place = f"{name}, conversation {number}"
                    if item is None:
                        yield SkippedUnit(place, "unreadable")
                        continue
                    conversation = find_names(item)
                    yield from _make_units(conversation, read_messages(conversation), place)
        except Unreadable:
            yield SkippedUnit(f"{name}, conversation {number + 1}", "unreadable")


def _make_units(
    conversation: Conversation, messages: Iterator[AssistantMessage | None], place: str
) -> Iterator[SourceUnit | SkippedUnit]:
    for number, message in enumerate(messages, 1):
        here = f"{place}, message {number}"
        if message is None or len(message.text) > MAX_MESSAGE:
            yield SkippedUnit(here, "unreadable" if message is None else "too_large")
            continue
        has_id = conversation.native_id and message.ident
        sent: frozenset[Signal] = frozenset({"sent"}) if message.is_user else frozenset()
        yield SourceUnit(
            kind="chat",
            text=message.text,
            place=here,
            native_id=f"{conversation.native_id}/{message.ident}" if has_id else "",
            title=conversation.title,
            author=USER if message.is_user else ASSISTANT,
            occurred=message.occurred,
            thread=conversation.thread,
            attachments=message.attachments,
            signals=sent,
        )


def walk_branch(last: object, parents: Mapping[str, object]) -> Sequence[str]:
    """Return the ids from the first message to the last one, along their parents."""
    branch: dict[str, None] = {}
    here = last
    while isinstance(here, str) and here in parents and here not in branch:
        branch[here] = None
        here = parents[here]
    return list(branch)[::-1]
