"""Note on this machine since when hosts are connected, and which folders were made for that.

What is ours in a host's files can be told from the files alone. A date, and who made an empty folder, cannot: so
`connections.json` in the user's state folder has them. Without it nothing fails: the date is that of our files, and
every folder that is empty after disconnecting counts as made by us. `connect` and `report` call these.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from commonplace.hosts.config_edit import files
from commonplace.hosts.config_edit.files import FileSnapshot
from commonplace.hosts.config_edit.parts import Host, OwnedFile, Part, Target
from commonplace.model.errors import CommonplaceError, HostFileChanged
from commonplace.model.times import FORMAT, now

_NAME = "connections.json"
_TRIES = 5


class ConnectionNotes(NamedTuple):
    """What is noted: by host, scope and folder the time of connecting, and the folders that were made."""

    times: dict[tuple[str, str, str], str]
    folders: tuple[str, ...]


Change = Callable[[ConnectionNotes], ConnectionNotes]


def read_notes(target: Target) -> ConnectionNotes | None:
    """Return what is noted on this machine; None where nothing is, or it cannot be read."""
    with suppress(CommonplaceError, OSError):
        return _parse(_read(target).text)
    return None


def find_since(host: Host, target: Target) -> str | None:
    """Return when a host was connected at a target; None where that was not noted."""
    notes = read_notes(target)
    return notes.times.get(_key(host, target)) if notes else None


def find_oldest(parts: Iterable[Part]) -> str | None:
    """Return when the oldest whole file of ours was written; None where there is none."""
    times = [find_time(FileSnapshot(part.base, part.file).path) for part in parts if isinstance(part, OwnedFile)]
    return min(filter(None, times), default=None)


def find_time(path: str) -> str | None:
    """Return when a file was written; None where there is none."""
    with suppress(OSError):
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC).strftime(FORMAT)
    return None


def note_connection(host: Host, target: Target, since: str | None, made: Collection[str]) -> None:
    """Note since when a host is connected (None: now), if that is not noted yet, and which folders were made for it."""

    def change(notes: ConnectionNotes) -> ConnectionNotes:
        times = {_key(host, target): since or now(), **notes.times}
        kept = [folder for folder in notes.folders if os.path.isdir(folder) and folder not in made]
        return ConnectionNotes(times, (*kept, *made))

    _change(target, change)


def forget_connection(host: Host, target: Target) -> None:
    """Note that a host is no longer connected; where nothing else is noted, the file goes, too."""

    def change(notes: ConnectionNotes) -> ConnectionNotes:
        times = {key: since for key, since in notes.times.items() if key != _key(host, target)}
        return ConnectionNotes(times, tuple(filter(os.path.isdir, notes.folders)))

    if read_notes(target) is not None:
        _change(target, change)


def _key(host: Host, target: Target) -> tuple[str, str, str]:
    return host.name, target.scope, os.path.realpath(target.base)


def _change(target: Target, change: Change) -> None:
    """Write other notes. Another process may do so at the same time; a disk that cannot be written costs the note."""
    for _ in range(_TRIES):
        with suppress(OSError):
            try:
                _write(_read(target), change)
            except HostFileChanged:
                continue
            except CommonplaceError:
                return
        return


def _write(snapshot: FileSnapshot, change: Change) -> None:
    notes = change(_parse(snapshot.text) or ConnectionNotes({}, ()))
    if notes.times:
        made = files.write(snapshot, _render(notes)) if snapshot.text != _render(notes) else []
        if made:  # for the notes: they go with them
            more = notes._replace(folders=(*notes.folders, *made))
            files.write(snapshot._replace(text=_render(notes)), _render(more))
    elif snapshot.text is not None:
        files.write(snapshot, None)
        drive, path = os.path.splitdrive(os.path.realpath(snapshot.path))
        whole = FileSnapshot(drive + os.sep, path.replace(os.sep, "/").lstrip("/"))
        files.remove_empty_folders(whole, notes.folders)


def _read(target: Target) -> FileSnapshot:
    path = os.path.join(os.path.abspath(target.state), _NAME)
    base, names = os.path.dirname(path), [_NAME]
    while not os.path.isdir(base) and base != os.path.dirname(base):
        names.insert(0, os.path.basename(base))
        base = os.path.dirname(base)
    return files.read(base, "/".join(names))


def _parse(text: str | None) -> ConnectionNotes | None:
    """Return the notes; None where the text is not what `_render` makes."""
    try:
        value = json.loads(text or "")
        times = {(item["host"], item["scope"], item["folder"]): item["since"] for item in value["connections"]}
        folders = tuple(value["made"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    words: Sequence[object] = (*(word for key in times for word in key), *times.values(), *folders)
    return ConnectionNotes(times, folders) if all(isinstance(word, str) for word in words) else None


def _render(notes: ConnectionNotes) -> str:
    connections = [
        {"host": host, "scope": scope, "folder": folder, "since": since}
        for (host, scope, folder), since in sorted(notes.times.items())
    ]
    return json.dumps({"connections": connections, "made": sorted(set(notes.folders))}, indent=2) + "\n"
