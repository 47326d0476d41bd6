"""Make plain text of what Slack calls mrkdwn, and of the blocks and attachments of messages that have no other text.

`readers/slack.py` calls `decode_text` and `find_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.tree.readers.json_stream import Item, objects_in, read_text
from commonplace.tree.source import MAX_LEVELS, MAX_PARTS

_MARKUP = lazy(r"<([^<>\n]*)>")
_URL = lazy(r"(?:https?|ftp|mailto|tel|file):(?://)?", re.IGNORECASE)
_LISTS = ("elements", "fields")


class SlackNames(NamedTuple):
    """The names of people and channels by their ids."""

    people: Mapping[str, str]
    channels: Mapping[str, str]


def decode_text(text: str, names: SlackNames) -> str:
    """Return a text as Slack shows it: with names for ids, and with the address behind a link."""
    if "<" in text:
        text = _MARKUP.sub(lambda found: _decode_markup(found[1], names), text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") if "&" in text else text


def find_text(message: Item, names: SlackNames) -> str:
    """Return the text of a message: its own, else that of its blocks, else that of its attachments.

    Where a message has text, its attachments are previews of links, which the author did not write.
    """
    text = decode_text(read_text(message.get("text")), names)
    if text.strip():
        return text
    text = "\n".join(filter(None, (_read_block(block, names) for block in objects_in(message.get("blocks")))))
    return text or "\n".join(
        filter(None, (_read_attachment(one, names) for one in objects_in(message.get("attachments"))))
    )


def _decode_markup(markup: str, names: SlackNames) -> str:
    """Return what stands for the markup in `<...>`: a mention, a channel, a command such as !here, or a link."""
    target, bar, label = markup.partition("|")
    kind, rest = target[:1], target[1:]
    if kind == "@":
        return f"@{names.people.get(rest) or label.removeprefix('@') or rest}"
    if kind == "#":
        return f"#{label or names.channels.get(rest) or rest}"
    if kind == "!":
        return label or f"@{rest.partition('^')[0]}"
    if not _URL.match(target):
        return label if bar else f"<{markup}>"
    address = _URL.sub("", target, count=1)
    if not label or label.rstrip("/") in (target.rstrip("/"), address.rstrip("/")):
        return address if target.startswith(("mailto:", "tel:")) else target
    return f"{label} ({target})"


def _read_attachment(attachment: Item, names: SlackNames) -> str:
    """Return the text of an attachment: what a bot, or a message that was passed on, says in it."""
    lines = [decode_text(read_text(attachment.get(key)), names) for key in ("pretext", "title", "text")]
    for field in objects_in(attachment.get("fields"))[:MAX_PARTS]:
        parts = [decode_text(read_text(field.get(key)), names) for key in ("title", "value")]
        lines.append(": ".join(filter(None, parts)))
    lines += [_read_block(block, names) for block in objects_in(attachment.get("blocks"))[:MAX_PARTS]]
    found = "\n".join(filter(str.strip, lines))
    return found or decode_text(read_text(attachment.get("fallback")), names)


def _read_block(block: Item, names: SlackNames) -> str:
    """Return the text of a block: a line for each of its parts, but the parts of a sentence together."""
    return "\n".join(filter(str.strip, _lines_of(block, names, 0)))


def _lines_of(block: Item, names: SlackNames, level: int) -> Iterator[str]:
    if level > MAX_LEVELS:
        return
    text = block.get("text")
    if isinstance(text, dict):
        yield decode_text(read_text(text.get("text")), names)
    elif isinstance(text, str) and block.get("type") in ("mrkdwn", "plain_text", "markdown"):
        yield decode_text(read_text(text), names)
    for key in _LISTS:
        parts = objects_in(block.get(key))[:MAX_PARTS]
        if any(part.get("type") in ("text", "link", "user", "emoji") for part in parts):
            yield "".join(_read_span(part, names) for part in parts)
        else:
            for part in parts:
                yield from _lines_of(part, names, level + 1)


def _read_span(span: Item, names: SlackNames) -> str:
    """Return one part of a sentence in rich text."""
    kind = span.get("type")
    if kind == "user":
        ident = read_text(span.get("user_id"))
        return f"@{names.people.get(ident) or ident}"
    if kind == "channel":
        ident = read_text(span.get("channel_id"))
        return f"#{names.channels.get(ident) or ident}"
    if kind == "broadcast":
        return f"@{read_text(span.get('range'))}"
    if kind == "emoji":
        return f":{read_text(span.get('name'))}:"
    text, url = read_text(span.get("text")), read_text(span.get("url"))
    return f"{text} ({url})" if text and url and text != url else text or url
