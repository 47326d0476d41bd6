"""Read an export of Slack, a folder or a zip: users.json, channels.json, and CHANNEL/2026-11-15.json for each day.

A unit belongs to its thread, else to its channel and day. People who join and leave, new topics and the like are no
units. A file of one day is read message by message. `tree/formats.py` chooses this reader, and `readers/slack_text.py`
reads the texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from commonplace.model.errors import Unreadable
from commonplace.model.lazy import lazy
from commonplace.model.times import format_seconds
from commonplace.tree.readers.clock import SourceClock
from commonplace.tree.readers.json_stream import Item, iterate_items, objects_in, read_line
from commonplace.tree.readers.lines import base_name, read_beginning, spread
from commonplace.tree.readers.slack_text import SlackNames, find_text
from commonplace.tree.source import (
    MAX_MESSAGE,
    MAX_PARTS,
    FileSet,
    Person,
    ReadOptions,
    Signal,
    SkippedUnit,
    SourceKind,
    SourceUnit,
)

NAME = "slack"
KIND: SourceKind = "chat"
_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")  # of conversations
_DAY = lazy(r"(?:(.*)/)?([^/]+)/\d{4}-\d\d-\d\d\.json", re.DOTALL)
_MESSAGE = lazy(r'"type"\s*:\s*"message"')
_TIME = lazy(r'"ts"\s*:\s*"\d+\.\d+"')
_STAMP = lazy(r"(\d{1,12})(?:\.\d{1,9})?", re.ASCII)
_LOOKED_AT = 8
# What people and bots say. The other subtypes say that somebody joined, left, pinned, renamed.
_SAID = ("", "bot_message", "file_share", "file_comment", "me_message", "thread_broadcast", "reply_broadcast")


class SlackUser(NamedTuple):
    """A member of a workspace."""

    person: Person
    is_bot: bool = False


class SlackChannel(NamedTuple):
    """A channel or direct conversation."""

    ident: str
    folder: str
    title: str
    members: tuple[Person, ...] = ()  # of a direct conversation


class SlackWorkspace(NamedTuple):
    """What an export says besides the messages, and what the user said of it."""

    clock: SourceClock
    me: frozenset[str]
    team: str
    users: Mapping[str, SlackUser]
    channels: Mapping[str, SlackChannel]  # by folder
    names: SlackNames


def matches(files: FileSet) -> bool:
    """Return whether the files are an export of Slack, or folders of it."""
    days = [name for name in files.names if _DAY.fullmatch(name)]
    for name in spread(days, _LOOKED_AT):
        beginning = read_beginning(files, name).decode("utf-8", "replace")
        if beginning.lstrip().startswith("[") and _MESSAGE.search(beginning) and _TIME.search(beginning):
            return True
    return False


def read(files: FileSet, options: ReadOptions) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages, channel by channel and day by day, and what could not be read."""
    skipped: list[SkippedUnit] = []
    workspace = _read_workspace(files, options, skipped)
    yield from skipped
    for name in files.names:
        day = _DAY.fullmatch(name)
        if day is not None:
            channel = workspace.channels.get(day[2]) or SlackChannel(day[2], day[2], f"#{day[2]}")
            yield from _read_day(files, name, channel, workspace)


def _read_day(
    files: FileSet, name: str, channel: SlackChannel, workspace: SlackWorkspace
) -> Iterator[SourceUnit | SkippedUnit]:
    """Yield the messages in the file of one day."""
    number = 0
    try:
        with files.open(name) as file:
            for number, item in enumerate(iterate_items(file, _is_message), 1):
                place = f"{name}, message {number}"
                unit = _read_message(item, channel, workspace, place) if item else SkippedUnit(place, "unreadable")
                if unit is not None:
                    yield unit
    except Unreadable:
        yield SkippedUnit(f"{name}, message {number + 1}", "unreadable")


def _is_message(item: Item) -> bool:
    return item.get("type") == "message" and isinstance(item.get("ts"), str)


def _read_workspace(files: FileSet, options: ReadOptions, skipped: list[SkippedUnit]) -> SlackWorkspace:
    """Return the people and channels of an export; a list that is missing or broken is left out."""
    users: dict[str, SlackUser] = {}
    teams = Counter[str]()
    for item in _read_list(files, "users.json", skipped):
        users[read_line(item.get("id"))] = _read_user(item)
        teams[read_line(item.get("team_id"))] += 1
    teams.pop("", None)
    channels: dict[str, SlackChannel] = {}
    for kind in _LISTS:
        for item in _read_list(files, kind, skipped):
            channel = _read_channel(item, users)
            channels[channel.folder] = channel
    names = SlackNames(
        {ident: user.person.name for ident, user in users.items()},
        {channel.ident: channel.title.removeprefix("#") for channel in channels.values()},
    )
    # Of several teams, the most frequent one, whatever the order of the export is.
    team = max(teams, key=lambda ident: (teams[ident], ident), default="")
    return SlackWorkspace(SourceClock(options.timezone), options.me, team, users, channels, names)


def _read_list(files: FileSet, wanted: str, skipped: list[SkippedUnit]) -> Iterator[Item]:
    found = min((name for name in files.names if base_name(name) == wanted), key=len, default="")
    if not found or found.count("/") > 1:  # a zip may have one folder with everything in it
        return
    try:
        with files.open(found) as file:
            for number, item in enumerate(iterate_items(file, lambda item: isinstance(item.get("id"), str)), 1):
                if item is None:
                    skipped.append(SkippedUnit(f"{found}, item {number}", "unreadable"))
                else:
                    yield item
    except Unreadable:
        skipped.append(SkippedUnit(found, "unreadable"))


def _read_user(item: Item) -> SlackUser:
    profile = item.get("profile")
    fields = profile if isinstance(profile, dict) else {}
    handle = read_line(item.get("name"))
    names = (fields.get("real_name"), item.get("real_name"), fields.get("display_name"), handle)
    name = next(filter(None, map(read_line, names)), "")
    address = read_line(fields.get("email")) or handle or read_line(item.get("id"))
    is_bot = item.get("is_bot") is True or item.get("id") == "USLACKBOT"
    return SlackUser(Person(name, address.lower()), is_bot)


def _read_channel(item: Item, users: Mapping[str, SlackUser]) -> SlackChannel:
    """Return a channel. A direct conversation has no name, or one made of handles: its title is the people in it."""
    ident, name = read_line(item.get("id")), read_line(item.get("name"))
    if name and not name.startswith("mpdm-"):
        return SlackChannel(ident, name, f"#{name}")
    listed = item.get("members")
    idents = [one for one in listed if isinstance(one, str)][:MAX_PARTS] if isinstance(listed, list) else []
    members = tuple(users[one].person for one in idents if one in users)
    title = ", ".join(person.name for person in members if person.name)
    return SlackChannel(ident, name or ident, read_line(title) or name or ident, members)


def _read_message(
    item: Item, channel: SlackChannel, workspace: SlackWorkspace, place: str
) -> SourceUnit | SkippedUnit | None:
    """Return the unit of a message; None for one that nobody wrote, or that has nothing in it."""
    inner = item.get("message")
    message = inner if item.get("subtype") == "message_changed" and isinstance(inner, dict) else item
    subtype = message.get("subtype") or ""
    if subtype not in _SAID or message.get("hidden") is True:
        return None
    ts = read_line(message.get("ts")) or read_line(item.get("ts"))
    text = find_text(message, workspace.names).strip()
    if len(text) > MAX_MESSAGE:
        return SkippedUnit(place, "too_large")
    files = [read_line(file.get("name") or file.get("title")) for file in objects_in(message.get("files"))[:MAX_PARTS]]
    attachments = tuple(filter(None, files))
    if not text and not attachments:
        return None
    author, is_bot = _find_author(message, workspace)
    root = read_line(message.get("thread_ts"))
    base = "/".join(filter(None, (workspace.team, channel.ident)))
    signals: set[Signal] = {"bot"} if is_bot else set()
    if not workspace.me.isdisjoint((author.name.lower(), author.address)):
        signals.add("sent")
    stamp = _STAMP.fullmatch(ts)
    day = workspace.clock.find_day(int(stamp[1])) if stamp is not None else base_name(place)[:10]
    return SourceUnit(
        kind="chat",
        text=text,
        place=place,
        native_id=f"{NAME}:{base}/{ts}",
        title=channel.title,
        author=author,
        recipients=tuple(person for person in channel.members if person != author),
        occurred=format_seconds(int(stamp[1])) if stamp is not None else "",
        thread=f"{channel.folder}/{root or day}",
        parents=(f"{NAME}:{base}/{root}",) if root and root != ts else (),
        attachments=attachments,
        signals=frozenset(signals),
    )


def _find_author(message: Item, workspace: SlackWorkspace) -> tuple[Person, bool]:
    """Return who wrote a message, and whether that is a bot."""
    ident = read_line(message.get("user"))
    user = workspace.users.get(ident)
    is_bot = message.get("subtype") == "bot_message" or (user.is_bot if user else bool(message.get("bot_id")))
    if user is not None and not (is_bot and message.get("username")):
        return user.person, is_bot
    names = [message.get("username")]
    for key in ("bot_profile", "user_profile"):
        profile = message.get(key)
        names += [profile.get("real_name"), profile.get("name")] if isinstance(profile, dict) else []
    name = next(filter(None, map(read_line, names)), "")
    ident = ident or read_line(message.get("bot_id"))
    return Person(name or ident, ident.lower()), is_bot
