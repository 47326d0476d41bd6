"""Connect and disconnect hosts, and report which there are, which are connected, and whether that works.

All changes are planned before any file is written, so that a refusal leaves all files as they were. The plan follows
from the host's data and the files alone; nothing is recorded elsewhere. What the user wrote or edited is never replaced
or removed: connecting refuses (`NotOurs`), disconnecting leaves it and says so (`FileChange.left`).

The commands `connect`, `disconnect` and `hosts` call these functions. The host modules are found by their file names,
so that a new host needs no change here.
"""

import difflib
import importlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from commonplace.hosts.config_edit import files, json_edit
from commonplace.hosts.config_edit.commands import (
    COMMANDS_ON_PATH,
    find_commands,
    find_host,
    find_on_path,
    find_programs,
    is_all_ours,
    is_shared,
    is_startable,
)
from commonplace.hosts.config_edit.files import FileSnapshot, is_owned, sign
from commonplace.hosts.config_edit.parts import PROJECT, ConfigEntry, Host, MarkedBlock, OwnedFile, Part, Target
from commonplace.hosts.config_edit.text_edit import find_block, insert_block, remove_block
from commonplace.model.errors import CommonplaceError, HostFileUnusable, NotOurs, UnknownHost
from commonplace.model.host_results import HostStatus
from commonplace.project.git import upward

_HOSTS_FOLDER = os.path.dirname(os.path.dirname(__file__))


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


def plan_connect(host: Host, target: Target) -> list[FileChange]:
    """Return the changes that connect a host; raise NotOurs where something of the user's is in the way."""
    return [plan_file(*item) for item in _read_files(host, target)]


def plan_by_hand(host: Host, target: Target) -> list[FileChange]:
    """Return what connecting writes where there are no files: for a person to add to files that we cannot change."""
    parts = _group_by_file(host.build_parts(target))
    return [plan_file(FileSnapshot(*place), here, here) for place, here in parts.items()]


def plan_disconnect(host: Host, target: Target) -> list[FileChange]:
    """Return the changes that remove everything of ours."""
    changes = [plan_file(snapshot, [], known) for snapshot, _, known in _read_files(host, target)]
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
        found = part.editor.find(text, part.path)
        return found if part.companion_of else [value for value in found if _is_ours(part, value)]
    content = text if isinstance(part, OwnedFile) else find_block(text)
    return [content] if content is not None and is_owned(part.file, content) else []


def _read_files(host: Host, target: Target) -> Iterator[tuple[FileSnapshot, list[Part], list[Part]]]:
    """Yield each file with the parts that connecting wants in it, and all that may be in it from an earlier time."""
    wanted = _group_by_file(host.build_parts(target))
    known = _group_by_file(host.build_parts(target._replace(has_protocol=True, has_retired=True)))
    for place, parts in known.items():
        yield files.read(*place), wanted.get(place, []), parts


def _group_by_file(parts: Sequence[Part]) -> dict[tuple[str, str], list[Part]]:
    found: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        found.setdefault((part.base, part.file), []).append(part)
    return found


def plan_file(snapshot: FileSnapshot, wanted: Sequence[Part], known: Sequence[Part]) -> FileChange:
    """Return the change of one file that leaves the wanted parts in it, and nothing else of ours.

    `known` are all parts that may be in the file from an earlier time.
    """
    with _naming_file(snapshot):
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
        if new is not None:
            raise NotOurs(f"{what} {state}; it was not changed.")
        return FileChange(snapshot, text, left=f"{what} was left in place: it {state}.")
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
    """Return the text of a file with the wanted entries, and without any other that is ours."""
    text = snapshot.text
    values = [(part, [other.value for other in wanted if other.path == part.path]) for part in known]
    if wanted and all(_find_ours(text, part) == here for part, here in values if part.companion_of is None):
        return text  # what is ours in it is wanted, no less and no more
    for part in reversed(known):
        text = _remove_ours(text, part)
    # A companion is added only together with its member: else its owner could not be told later.
    theirs = {part.companion_of for part in wanted if part.companion_of and json_edit.find(text, (part.companion_of,))}
    for part in wanted:
        found = part.editor.find(text, part.path)
        if part.companion_of and (found or part.companion_of in theirs):
            continue
        if found and part.path[-1]:
            name = ".".join(map(str, part.path))
            raise NotOurs(f"{snapshot.path} has a {name} of your own; it was not changed.")
        text = part.editor.insert(text, part.path, part.value)
    return text


def _remove_ours(text: str | None, part: ConfigEntry) -> str | None:
    """Return the text without any entry of ours at the path of a part."""
    remove = part.editor.remove
    if part.companion_of is None:
        while text is not None and _find_ours(text, part):
            text = remove(text, part.path, lambda value: _is_ours(part, value))
        return text
    if text is None or not json_edit.is_last_after(text, str(part.path[-1]), part.companion_of):
        return text
    members = json_edit.find(text, (part.companion_of,))
    is_removable = part.editor.find(text, part.path) == [part.value] and all(map(is_all_ours, members))
    return remove(text, part.path, lambda _: True) if is_removable else text


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


# Reports


def list_hosts() -> list[str]:
    """Return the names of all hosts, sorted, without loading any module."""
    files = (name for name in os.listdir(_HOSTS_FOLDER) if name.endswith(".py") and not name.startswith("_"))
    return sorted(name[:-3].replace("_", "-") for name in files)


def load_host(name: str) -> Host:
    """Return the host of a name; raise UnknownHost where there is none."""
    known = list_hosts()
    if name not in known:
        raise UnknownHost(
            f"Unknown host {name[:40]!a}.",
            hint=f"Known: {', '.join(known)}. For any other: `commonplace connect agents-md`.",
        )
    host: Host = importlib.import_module(f"commonplace.hosts.{name.replace('-', '_')}").HOST
    return host


def load_hosts() -> list[Host]:
    """Return all hosts, by name."""
    return [load_host(name) for name in list_hosts()]


def make_target(
    scope: str,
    environment: Mapping[str, str],
    *,
    here: str,
    platform: str,
    root: str | None = None,
    has_protocol: bool = False,
) -> Target:
    """Return the target of a scope: the user's folder, or the repository that `here` is in (`here`, if in none)."""
    commands = COMMANDS_ON_PATH if scope == PROJECT else find_commands(environment, root)
    folder = os.path.abspath(here)
    project = next((place for place in upward(folder) if os.path.exists(os.path.join(place, ".git"))), folder)
    return Target(scope, os.path.expanduser("~"), project, environment, commands, platform, has_protocol)


def is_installed(host: Host, target: Target) -> bool:
    """Return whether a host seems installed: its program is on PATH, or a folder of its own has more than our files."""
    if any(find_on_path(name, target.environment) for name in host.programs):
        return True
    ours = {_find_path(part) for part in host.build_parts(target)}
    places: list[str] = []
    for folder in host.folders:
        path = FileSnapshot(target.home, folder).path
        with suppress(OSError):
            places += [os.path.join(path, name) for name in os.listdir(path)]
    return not all(any(path == place or path.startswith(place + os.sep) for path in ours) for place in places)


def report_host(host: Host, targets: Mapping[str, Target]) -> HostStatus:
    """Return where one host is connected, for the user and the project, and what does not work."""
    first = next(iter(targets.values()))
    scopes: list[str] = []
    problems: list[str] = []
    for scope in host.scopes:
        try:
            found = find_connected(host, targets[scope])
        except CommonplaceError as error:
            problems.append(error.message)
            continue
        if not found:
            continue
        scopes.append(scope)
        for part, given in found:
            is_json_file = isinstance(part, OwnedFile) and part.file.endswith(".json")
            value = json.loads(str(given)) if is_json_file else given
            missing = (program for program in find_programs(value) if not is_startable(program, first.environment))
            problems += [f"{_find_path(part)} starts {program}, which is not there." for program in missing]
        if not set(map(_find_place, host.build_parts(targets[scope]))) <= {_find_place(part) for part, _ in found}:
            flag = " --project" if scope == PROJECT else ""
            problems.append(f"Not all of it is as this version writes it: `commonplace connect {host.name}{flag}`.")
    return HostStatus(
        host=host.name,
        title=host.title,
        installed=is_installed(host, first),
        connected=tuple(scopes),
        works=bool(scopes) and not problems,
        problems=tuple(dict.fromkeys(problems)),
    )


def _find_place(part: Part) -> tuple[str, tuple[str | None, ...]]:
    """Return where a part is: its file, and the path of an entry in it."""
    return _find_path(part), part.path if isinstance(part, ConfigEntry) else ()


def _find_path(part: Part) -> str:
    return FileSnapshot(part.base, part.file).path
