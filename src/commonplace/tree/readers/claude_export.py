"""Read an export of Claude: conversations.json.

Where the export says which message was shown last, the branch that ends there is what was said; older ones list the
messages. Thinking and tools are left out. Files are attachments; the text that the export has of them is a part of the
message, below a line with the name of the file. Text that was pasted has no file name. `tree/formats.py` chooses this
reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.model.errors import InvalidField
from commonplace.model.times import read_time
from commonplace.tree.readers.assistants import (
    AssistantMessage,
    Conversation,
    has_key,
    read_conversations,
    walk_branch,
)
from commonplace.tree.readers.json_stream import Item, objects_in, read_line, read_text
from commonplace.tree.source import MAX_MESSAGE, FileSet, ReadOptions, SkippedUnit, SourceKind, SourceUnit

NAME = "claude"
KIND: SourceKind = "chat"
_SENDERS = ("human", "assistant")
_NO_PARENT = "00000000-"  # begins the id that a first message has as its parent
_PASTED = ("", "paste.txt")
_BETWEEN = 2  # characters between the parts of a message


def matches(files: FileSet) -> bool:
    """Return whether the files are an export of Claude."""
    return has_key(files, "chat_messages", "mapping")


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:  # noqa: ARG001 - times are in UTC
    """Yield the messages of all conversations, first to last, and what could not be read."""
    return read_conversations(files, _is_conversation, _find_names, _read_messages)


def _is_conversation(item: Item) -> bool:
    return isinstance(item.get("chat_messages"), list)


def _find_names(item: Item) -> Conversation:
    ident, title = read_line(item.get("uuid")), read_line(item.get("name"))
    return Conversation(f"{NAME}:{ident}" if ident else "", ident or title, title, item)


def _read_messages(conversation: Conversation) -> Iterator[AssistantMessage | None]:
    occurred = _read_stamp(conversation.fields.get("created_at"))
    for message in _find_said(conversation.fields):
        if message is None:
            yield None
            continue
        occurred = _read_stamp(message.get("created_at")) or occurred
        found = _read_message(message, occurred)
        if message.get("sender") in _SENDERS and (found.text or found.attachments):
            yield found


def _find_said(fields: Item) -> Sequence[Item | None]:
    """Return the messages that were said; None for what is no message."""
    listed: list[object] = fields["chat_messages"]
    messages = [message if isinstance(message, dict) else None for message in listed]
    by_id = {str(message.get("uuid")): message for message in messages if message is not None}
    parents = {ident: message.get("parent_message_uuid") for ident, message in by_id.items()}
    branch = walk_branch(fields.get("current_leaf_message_uuid"), parents)
    root = parents[branch[0]] if branch else None
    # A branch that breaks off elsewhere is that of an export which does not say the parents of all messages.
    return [by_id[ident] for ident in branch] if isinstance(root, str) and root.startswith(_NO_PARENT) else messages


def _read_message(message: Item, occurred: str) -> AssistantMessage:
    blocks = objects_in(message.get("content"))
    # `text` has a note for each block that older apps could not show, so the blocks come first.
    texts = [read_text(block.get("text")) for block in blocks if block.get("type") == "text"]
    if not blocks:
        texts = [read_text(message.get("text"))]
    names = []
    size = sum(map(len, texts))
    for file in objects_in(message.get("attachments")):
        name, content = read_line(file.get("file_name")), read_text(file.get("extracted_content")).strip()
        is_pasted = name.lower() in _PASTED
        if not is_pasted:
            names.append(name)
            content = f"{name}\n{content}" if content else ""
        # What a person wrote is not lost for the size of a file that they sent with it.
        if is_pasted or size + len(content) + _BETWEEN <= MAX_MESSAGE:
            texts.append(content)
            size += len(content) + _BETWEEN
    for key in ("files", "files_v2"):
        names += [read_line(file.get("file_name")) for file in objects_in(message.get(key))]
    text = "\n\n".join(filter(None, map(str.strip, texts)))
    attachments = tuple(dict.fromkeys(filter(None, names)))
    return AssistantMessage(
        read_line(message.get("uuid")), message.get("sender") == _SENDERS[0], text, occurred, attachments
    )


def _read_stamp(value: object) -> str:
    """Return a time of the export as a timestamp; "" if it is none."""
    try:
        return read_time(value) if isinstance(value, str) and len(value) < 60 else ""
    except InvalidField:
        return ""
