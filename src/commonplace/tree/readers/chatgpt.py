"""Read an export of ChatGPT: conversations.json, or conversations-000.json and those that follow it.

A conversation is a tree of messages: the branch that ends with the one shown last is what was said; what was edited
away is left out, and so is what tools and the system wrote, and what the program hides. Files and pictures are
attachments. `tree/formats.py` chooses this reader.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.model.lazy import lazy
from commonplace.model.times import format_seconds
from commonplace.tree.readers.assistants import (
    AssistantMessage,
    Conversation,
    has_key,
    read_conversations,
    walk_branch,
)
from commonplace.tree.readers.json_stream import Item, objects_in, read_line, read_text
from commonplace.tree.source import FileSet, ReadOptions, SkippedUnit, SourceKind, SourceUnit

NAME = "chatgpt"
KIND: SourceKind = "chat"
_ROLES = ("user", "assistant")
_MOST_GROWTH = 10  # times as long as a mark may be what is shown for it
_MARK = lazy("\ue200[^\ue200\ue201]*\ue201")  # a citation or the like, which the program shows in another way


def matches(files: FileSet) -> bool:
    """Return whether the files are an export of ChatGPT."""
    return has_key(files, "mapping", "chat_messages")


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:  # noqa: ARG001 - times are in UTC
    """Yield the messages of all conversations, first to last, and what could not be read."""
    return read_conversations(files, _is_conversation, _find_names, _read_messages)


def _is_conversation(item: Item) -> bool:
    return isinstance(item.get("mapping"), dict)


def _find_names(item: Item) -> Conversation:
    ident = read_line(item.get("conversation_id") or item.get("id"))
    title = read_line(item.get("title"))
    return Conversation(f"{NAME}:{ident}" if ident else "", ident or title, title, item)


def _read_messages(conversation: Conversation) -> Iterator[AssistantMessage | None]:
    """Yield the messages on the branch that was shown last."""
    nodes = {ident: node for ident, node in conversation.fields["mapping"].items() if isinstance(node, dict)}
    parents = {ident: node.get("parent") for ident, node in nodes.items()}
    last = conversation.fields.get("current_node")
    occurred = _read_seconds(conversation.fields.get("create_time"))
    for ident in walk_branch(last if isinstance(last, str) and last in nodes else _find_last(nodes), parents):
        message = nodes[ident].get("message")
        if not isinstance(message, dict):
            continue  # the root has none
        occurred = _read_seconds(message.get("create_time")) or occurred
        found = _read_message(message, ident, occurred)
        if found.text or found.attachments:
            yield found


def _find_last(nodes: dict[str, Item]) -> str:
    """Return the message that was written last; of those without a time, the last one in the file."""
    last, latest = "", ""
    for ident, node in nodes.items():
        message = node.get("message")
        time = _read_seconds(message.get("create_time")) if isinstance(message, dict) else ""
        if time >= latest:
            last, latest = ident, time
    return last


def _read_message(message: Item, ident: str, occurred: str) -> AssistantMessage:
    """Return a message; without text if it is none of the user or the model that was shown."""
    author, metadata = _fields(message, "author"), _fields(message, "metadata")
    role = author.get("role")
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if role not in _ROLES or is_hidden or message.get("recipient", "all") not in ("all", None):
        return AssistantMessage(ident, False, "", occurred)  # noqa: FBT003 - it is left out
    content = _fields(message, "content")
    text = _replace_marks("\n".join(_read_parts(content)), metadata)
    names = [read_line(file.get("name")) for file in objects_in(metadata.get("attachments"))]
    if not names:
        names = [_read_asset(part) for part in objects_in(content.get("parts"))]
    ident = read_line(message.get("id")) or ident
    return AssistantMessage(ident, role == "user", text.strip(), occurred, tuple(dict.fromkeys(filter(None, names))))


def _read_parts(content: Item) -> Iterator[str]:
    """Yield the texts of a content. What has neither parts nor code is for the model, such as the user's settings."""
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        yield read_text(part.get("text") if isinstance(part, dict) else part)  # an object: what was heard
    if content.get("content_type") == "code":
        yield read_text(content.get("text"))


def _read_asset(part: Item) -> str:
    """Return the name of a picture or sound: the id under which the export has it."""
    pointer = part.get("asset_pointer")
    return read_line(pointer).rpartition("/")[2]


def _replace_marks(text: str, metadata: Item) -> str:
    """Return a text with what the program shows in place of its marks."""
    if "\ue200" not in text:
        return text
    shown: dict[str, str] = {}
    for reference in objects_in(metadata.get("content_references")):
        mark, alt = reference.get("matched_text"), read_text(reference.get("alt") or reference.get("name"))
        if isinstance(mark, str) and len(alt) <= _MOST_GROWTH * len(mark):
            shown[mark] = alt
    return _MARK.sub(lambda mark: shown.get(mark[0], ""), text)


def _fields(item: Item, name: str) -> Item:
    found = item.get(name)
    return found if isinstance(found, dict) else {}


def _read_seconds(value: object) -> str:
    """Return the seconds since 1970 as a timestamp; "" for anything else."""
    try:
        return format_seconds(int(value)) if isinstance(value, int | float) and value else ""
    except (ValueError, OverflowError):  # NaN and infinity
        return ""
