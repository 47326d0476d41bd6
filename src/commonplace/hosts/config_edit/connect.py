"""Plan and apply the changes that connect or disconnect a host, and find what is connected.

All changes are planned before any file is written, so that a refusal leaves all files as they were. The plan follows
from the host's data and the files alone; nothing is recorded elsewhere. What the user wrote or edited is never replaced
or removed: connecting refuses (`NotOurs`), disconnecting leaves it and says so (`FileChange.left`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple

from commonplace.hosts.config_edit import files, json_edit, text_edit, toml_edit, yaml_edit
from commonplace.hosts.config_edit.commands import find_host, is_all_ours, is_shared
from commonplace.hosts.config_edit.files import FileSnapshot
from commonplace.hosts.config_edit.ownership import is_owned, sign
from commonplace.hosts.config_edit.targets import ConfigEntry, Host, MarkedBlock, OwnedFile, Part, Target
from commonplace.model.errors import CommonplaceError, HostFileUnusable, NotOurs

_EDITORS: Mapping[str, ModuleType] = {"json": json_edit, "toml": toml_edit, "yaml": yaml_edit}


class FileChange(NamedTuple):
    """A file as it is, and its text afterwards (None: no file)."""

    snapshot: FileSnapshot
    text: str | None
    is_executable: bool = False
    left: str = ""  # what disconnecting leaves in the file because it is not ours, in a sentence for the user

    @property
    def action(self) -> str:
        """What happens to the file, in one word."""
        if self.text == self.snapshot.text:
            return "unchanged"
        if self.snapshot.text is None:
            return "created"
        return "removed" if self.text is None else "changed"

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.snapshot.text, self.text))
        lines = difflib.unified_diff(old, new, f"a/{self.snapshot.file}", f"b/{self.snapshot.file}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


class FileParts(NamedTuple):
    """A file with the parts that connecting wants in it, and all parts that may be in it from an earlier time."""

    snapshot: FileSnapshot
    wanted: Sequence[Part]
    known: Sequence[Part]


def plan_connect(host: Host, target: Target) -> list[FileChange]:
    """Return the changes that connect a host; raise NotOurs where something of the user's is in the way."""
    return [plan_file(item) for item in _read_files(host, target)]


def plan_by_hand(host: Host, target: Target) -> list[FileChange]:
    """Return what connecting writes where there are no files: for a person to add to files that we cannot change."""
    parts = _group_by_file(host.build_parts(target))
    return [plan_file(FileParts(FileSnapshot(*place), here, here)) for place, here in parts.items()]


def plan_disconnect(host: Host, target: Target) -> list[FileChange]:
    """Return the changes that remove everything of ours."""
    changes = [plan_file(item._replace(wanted=())) for item in _read_files(host, target)]
    return changes[::-1]


def apply(changes: Sequence[FileChange]) -> list[FileChange]:
    """Write the changes and return those that were needed. If one file fails, those before it are restored."""
    done: list[FileChange] = []
    try:
        for change in changes:
            if change.action != "unchanged":
                files.write(change.snapshot, change.text, is_executable=change.is_executable)
                done.append(change)
    except CommonplaceError:
        for change in reversed(done):
            now = files.read(change.snapshot.base, change.snapshot.file)
            files.write(now._replace(mode=change.snapshot.mode), change.snapshot.text)
        raise
    return done


def find_connected(host: Host, target: Target) -> list[tuple[Part, object]]:
    """Return what is ours in the host's files: each value, with the part whose place it has."""
    found = []
    for snapshot, _, known in _read_files(host, target):
        with _naming_file(snapshot):
            found += [(part, value) for part in known for value in _find_ours(snapshot.text, part)]
    return found


def _find_ours(text: str | None, part: Part) -> list[object]:
    """Return what is ours at the place of one part."""
    if isinstance(part, ConfigEntry):
        found = _find_values(text, part)
        return found if part.companion_of is not None else [value for value in found if _is_ours(part, value)]
    content = text if isinstance(part, OwnedFile) else text_edit.find(text)
    return [content] if content is not None and is_owned(part.file, content) else []


def _read_files(host: Host, target: Target) -> Iterator[FileParts]:
    wanted = _group_by_file(host.build_parts(target))
    known = _group_by_file(host.build_parts(target._replace(has_protocol=True, has_retired=True)))
    for place, parts in known.items():
        yield FileParts(files.read(*place), wanted.get(place, []), parts)


def _group_by_file(parts: Sequence[Part]) -> dict[tuple[str, str], list[Part]]:
    found: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        found.setdefault((part.base, part.file), []).append(part)
    return found


def plan_file(parts: FileParts) -> FileChange:
    """Return the change of one file that leaves the wanted parts in it, and nothing else of ours."""
    snapshot, wanted, known = parts
    first = known[0]
    new = next((sign(part.file, part.text) for part in wanted if not isinstance(part, ConfigEntry)), None)
    if isinstance(first, OwnedFile):
        return _plan_owned_file(snapshot, new, is_executable=first.is_executable)
    with _naming_file(snapshot):
        if isinstance(first, MarkedBlock):
            return _plan_block(snapshot, new)
        entries, known_entries = (
            [part for part in items if isinstance(part, ConfigEntry)] for items in (wanted, known)
        )
        text = _edit_entries(snapshot, entries, known_entries)
        return FileChange(snapshot, text, left="" if entries else _describe_left(snapshot, known_entries))


def _plan_owned_file(snapshot: FileSnapshot, new: str | None, *, is_executable: bool) -> FileChange:
    if snapshot.text is None or is_owned(snapshot.file, snapshot.text):
        return FileChange(snapshot, new, is_executable)
    reason = "your own file, or was edited after Commonplace wrote it"
    if new is None:
        return FileChange(snapshot, snapshot.text, left=f"{snapshot.path} was left in place: it is {reason}.")
    raise NotOurs(f"{snapshot.path} is {reason}; it was not changed.")


def _plan_block(snapshot: FileSnapshot, body: str | None) -> FileChange:
    text = snapshot.text
    found = text_edit.find(text)
    if found is not None and not is_owned(snapshot.file, found):
        where = f"The commonplace block in {snapshot.path}"
        if body is None:
            return FileChange(snapshot, text, left=f"{where} was left in place: it was edited.")
        raise NotOurs(f"{where} was edited; it was not changed.")
    if found == body:
        return FileChange(snapshot, text)
    return FileChange(snapshot, text_edit.remove(text or "") if body is None else text_edit.insert(text, body))


def _describe_left(snapshot: FileSnapshot, known: Sequence[ConfigEntry]) -> str:
    """Say which entries with our name, or with our command among others, are not ours to remove."""
    left = []
    for part in known:
        if part.companion_of is not None:
            continue
        found = [value for value in _find_values(snapshot.text, part) if not _is_ours(part, value)]
        name = ".".join(word for word in part.path if word is not None)
        if part.path[-1] is not None and found:
            left.append(f"{name} in {snapshot.path} was left in place: it is your own entry.")
        elif any(map(is_shared, found)):
            left.append(
                f"An entry of {name} in {snapshot.path} was left in place: it has other hooks besides Commonplace's."
            )
    return " ".join(dict.fromkeys(left))


def _edit_entries(snapshot: FileSnapshot, wanted: Sequence[ConfigEntry], known: Sequence[ConfigEntry]) -> str | None:
    """Return the text of a file with the wanted entries, and without any other that is ours."""
    text = snapshot.text
    if wanted and _is_up_to_date(text, wanted, known):
        return text
    for part in reversed(known):
        text = _remove_ours(text, part)
    # A companion is added only together with its member: else its owner could not be told later.
    theirs = {part.companion_of for part in wanted if part.companion_of and json_edit.find(text, (part.companion_of,))}
    for part in wanted:
        found = _find_values(text, part)
        if part.companion_of is not None and (found or part.companion_of in theirs):
            continue
        if found and part.path[-1] is not None:
            name = ".".join(map(str, part.path))
            raise NotOurs(f"{snapshot.path} has a {name} of your own; it was not changed.")
        text = _EDITORS[part.format].insert(text, part.path, part.value)
    return text


def _is_up_to_date(text: str | None, wanted: Sequence[ConfigEntry], known: Sequence[ConfigEntry]) -> bool:
    """Return whether the entries of ours in a file are the wanted ones, no less and no more."""
    return all(
        _find_ours(text, part) == [other.value for other in wanted if other.path == part.path]
        for part in known
        if part.companion_of is None
    )


def _remove_ours(text: str | None, part: ConfigEntry) -> str | None:
    """Return the text without any entry of ours at the path of a part."""
    editor = _EDITORS[part.format]
    if part.companion_of is None:
        while text is not None and _find_ours(text, part):
            text = editor.remove(text, part.path, lambda value: _is_ours(part, value))
        return text
    if text is None or not json_edit.is_last_after(text, str(part.path[-1]), part.companion_of):
        return text
    members = json_edit.find(text, (part.companion_of,))
    is_removable = _find_values(text, part) == [part.value] and all(map(is_all_ours, members))
    return editor.remove(text, part.path, lambda _: True) if is_removable else text


def _find_values(text: str | None, part: ConfigEntry) -> list[object]:
    found: list[object] = _EDITORS[part.format].find(text, part.path)
    return found


def _is_ours(part: ConfigEntry, value: object) -> bool:
    """Return whether connecting wrote this value at the path of a part: it starts our program for the same host."""
    host = find_host(part.value)
    return host is not None and find_host(value) == host


@contextmanager
def _naming_file(snapshot: FileSnapshot) -> Iterator[None]:
    """Turn the error of an editor into one that names the file."""
    try:
        yield
    except ValueError as error:
        raise HostFileUnusable(f"{snapshot.path} cannot be changed safely: {error}.") from None
