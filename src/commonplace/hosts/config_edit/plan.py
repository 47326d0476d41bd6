"""Plan the change of one file of a host: what of ours goes into it, is renewed, or comes out.

The plan follows from the file and the parts alone. What the user wrote or edited is never replaced or removed: where it
is in the way of connecting, `NotOurs` is raised; disconnecting leaves it and says so (`FileChange.left`). An entry of
ours in which the user changed something keeps that; only its commands are renewed. `connect` calls `plan_file`.
"""

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from commonplace.hosts.config_edit import json_edit
from commonplace.hosts.config_edit.entries import (
    find_hook_calls,
    find_host,
    find_server,
    is_all_ours,
    is_shared,
    renew_commands,
    starts_all_of,
)
from commonplace.hosts.config_edit.files import FileSnapshot, is_edited_prose, is_owned, sign
from commonplace.hosts.config_edit.parts import ConfigEntry, MarkedBlock, OwnedFile, Part
from commonplace.hosts.config_edit.text_edit import find_block, insert_block, remove_block
from commonplace.model.errors import HostFileUnusable, NotOurs

_OURS_AGAIN = "To have ours again, remove it and connect again."
_STILL_STARTS = " It still starts Commonplace: delete it to stop that."
_LACKS = f"was edited, and no longer starts all that it should. {_OURS_AGAIN}"
_NO_FILE = "/dev/null"  # what a diff calls a file that is not there


class FileChange(NamedTuple):
    """A file as it is, and its text afterwards (None: no file)."""

    snapshot: FileSnapshot
    text: str | None
    is_executable: bool = False
    left: str = ""  # what stays as the user has it, and why, in a sentence for them

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
        names = (("a", self.snapshot.text), ("b", self.text))
        before, after = (_NO_FILE if text is None else f"{side}/{self.snapshot.file}" for side, text in names)
        lines = difflib.unified_diff(old, new, before, after)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plan_file(snapshot: FileSnapshot, wanted: Sequence[Part], known: Sequence[Part]) -> FileChange:
    """Return the change of one file that leaves the wanted parts in it, and nothing else of ours.

    `known` are all parts that may be in the file from an earlier time.
    """
    with naming_file(snapshot):
        first = known[0]
        if not isinstance(first, ConfigEntry):
            texts = (sign(part.file, part.text) for part in wanted if not isinstance(part, ConfigEntry))
            return _plan_text(snapshot, first, next(texts, None))
        entries, known_entries = (
            [part for part in items if isinstance(part, ConfigEntry)] for items in (wanted, known)
        )
        text = _edit_entries(snapshot, entries, known_entries)
        return FileChange(snapshot, text, left="" if entries else _describe_left(snapshot, known_entries))


def _plan_text(snapshot: FileSnapshot, part: OwnedFile | MarkedBlock, new: str | None) -> FileChange:
    """Return the change to a file of ours, or to our block in a file; `new` is its text, None to remove it."""
    text = snapshot.text
    content, what, state = text, snapshot.path, "is your own file, or was edited after Commonplace wrote it"
    if isinstance(part, MarkedBlock):
        content, what, state = find_block(text), f"The commonplace block in {snapshot.path}", "was edited"
    if content is not None and not is_owned(snapshot.file, content):
        if new is None:
            left = f"{what} was left in place: it {state}."
            return FileChange(snapshot, text, left=left + (_STILL_STARTS if _is_edited(part.file, content) else ""))
        if is_edited_prose(snapshot.file, content):
            return FileChange(snapshot, text, left=f"{what} was edited, and stays as it is. {_OURS_AGAIN}")
        if not _is_edited(part.file, content):
            raise NotOurs(f"{what} {state}; it was not changed.")
        lacks = "" if starts_all_of(*(_parse_json(part.file, one) for one in (content, new))) else _LACKS
        return FileChange(snapshot, _renew_edited(part.file, content, new), left=lacks and f"{what} {lacks}")
    if isinstance(part, OwnedFile):
        return FileChange(snapshot, new, part.is_executable)
    if content == new:
        return FileChange(snapshot, text)
    return FileChange(snapshot, remove_block(text or "") if new is None else insert_block(text, new))


def _describe_left(snapshot: FileSnapshot, known: Sequence[ConfigEntry]) -> str:
    """Say which entries with our name, or with our command among others, are not ours to remove."""
    left = []
    for part in known:
        if part.companion_of:
            continue
        found = [value for value in part.editor.find(snapshot.text, part.path) if not _is_ours(part, value)]
        name = ".".join(filter(None, part.path))
        if part.path[-1] and found:
            left.append(f"{name} in {snapshot.path} was left in place: it is your own entry.")
        elif any(map(is_shared, found)):
            left.append(
                f"An entry of {name} in {snapshot.path} was left in place: it has other hooks besides Commonplace's."
            )
    return " ".join(dict.fromkeys(left))


def _edit_entries(snapshot: FileSnapshot, wanted: Sequence[ConfigEntry], known: Sequence[ConfigEntry]) -> str | None:
    """Return the text of a file with the wanted entries, and without any other that is ours.

    An entry that is there already keeps what the user changed in it.
    """
    text = snapshot.text
    missing = list(wanted)
    for part in reversed(known):
        if part.companion_of is None:
            text = _renew_entries(text, part, missing)
        elif not wanted:
            text = _remove_companion(text, part)
    # A companion is added only together with its member: else its owner could not be told later.
    theirs = {part.companion_of for part in wanted if part.companion_of and json_edit.find(text, (part.companion_of,))}
    for part in missing:
        found = part.editor.find(text, part.path)
        if part.companion_of and (found or part.companion_of in theirs):
            continue
        if found and part.path[-1]:
            name = ".".join(map(str, part.path))
            raise NotOurs(f"{snapshot.path} has a {name} of your own; it was not changed.")
        text = part.editor.insert(text, part.path, part.value)
    return text


def _renew_entries(text: str | None, part: ConfigEntry, missing: list[ConfigEntry]) -> str | None:
    """Return the text with new commands in what is ours at the path of a part, and without what is not wanted there.

    Wanted entries that are there are taken out of `missing`.
    """
    renewed, unwanted = [], []
    for value in part.editor.find(text, part.path):
        match = next((one for one in missing if one.path == part.path and _is_present(one, value)), None)
        if match is not None:
            missing.remove(match)
            renewed.append((value, renew_commands(value, match.value)))
        elif _is_ours(part, value):
            unwanted.append(value)
    for value in unwanted:
        text = part.editor.remove(text, part.path, lambda other, value=value: other == value) if text else text
    for old, new in renewed:
        if text is not None and old != new:
            text = part.editor.replace(text, part.path, old, new)
    return text


def _remove_companion(text: str | None, part: ConfigEntry) -> str | None:
    """Return the text without a member that was added together with another one of ours."""
    member = part.companion_of
    if text is None or member is None or not json_edit.is_last_after(text, str(part.path[-1]), member):
        return text
    is_removable = part.editor.find(text, part.path) == [part.value]
    is_removable = is_removable and all(map(is_all_ours, json_edit.find(text, (member,))))
    return part.editor.remove(text, part.path, lambda _: True) if is_removable else text


def _is_ours(part: ConfigEntry, value: object) -> bool:
    """Return whether a value at the path of a part is ours: it starts our server, or our hooks for the same host."""
    if find_server(part.value) is not None:
        return find_server(value) is not None
    host = find_host(part.value)
    return host is not None and find_host(value) == host


def _is_present(part: ConfigEntry, value: object) -> bool:
    """Return whether a value starts what a part is there for; it may start something of the user's, too."""
    if find_server(part.value) is not None:
        return find_server(value) is not None
    calls = find_hook_calls(part.value)
    return bool(calls) and calls <= find_hook_calls(value)


@contextmanager
def naming_file(snapshot: FileSnapshot) -> Iterator[None]:
    """Turn the error of an editor into one that names the file."""
    try:
        yield
    except ValueError as error:
        raise HostFileUnusable(f"{snapshot.path} cannot be changed safely: {error}.") from None


def find_ours(text: str | None, part: Part) -> list[object]:
    """Return what is ours at the place of one part."""
    if isinstance(part, ConfigEntry):
        found = part.editor.find(text, part.path)
        return found if part.companion_of else [value for value in found if _is_ours(part, value)]
    content = text if isinstance(part, OwnedFile) else find_block(text)
    if content is None:
        return []
    tests = (is_owned, is_edited_prose, _is_edited)
    return [content] if any(is_ours(part.file, content) for is_ours in tests) else []


def read_value(part: Part, found: object) -> object:
    """Return an entry, or what a JSON file of ours says; None for any other file."""
    if isinstance(part, ConfigEntry):
        return found
    return _parse_json(part.file, str(found))


def _parse_json(file: str, text: str) -> object:
    """Return what a JSON file says; None for another file, or one that cannot be read."""
    try:
        node = json_edit.parse(text) if file.endswith(".json") else None
    except ValueError:
        return None
    return node.value if node else None


def _is_edited(file: str, content: str) -> bool:
    """Return whether a JSON file of ours was edited, and still starts our programs and no others."""
    value = _parse_json(file, content)
    return starts_all_of(value, value)


def _renew_edited(file: str, content: str, new: str) -> str:
    """Return a JSON file of ours that was edited, with new commands."""
    return json_edit.replace_all(content, renew_commands(_parse_json(file, content), _parse_json(file, new)))
