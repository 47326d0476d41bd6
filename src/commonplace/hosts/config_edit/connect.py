"""Connect and disconnect hosts.

All changes are planned before any file is written, so that a refusal leaves all files as they were. The plan follows
from the host's data and the files alone (`plan`).

The commands `connect` and `disconnect` call these functions. The host modules are found by their file names, so that a
new host needs no change here.
"""

import importlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from commonplace import verbs
from commonplace.hosts.config_edit import files, notes
from commonplace.hosts.config_edit.added import build_parts
from commonplace.hosts.config_edit.commands import COMMANDS_ON_PATH, find_commands
from commonplace.hosts.config_edit.entries import find_roots
from commonplace.hosts.config_edit.files import FileSnapshot
from commonplace.hosts.config_edit.parts import PROJECT, Host, Part, Target
from commonplace.hosts.config_edit.plan import FileChange, find_ours, naming_file, plan_file, read_value
from commonplace.memories.layout import user_state
from commonplace.model.errors import CommonplaceError, NotOurs, UnknownHost
from commonplace.project.git import upward

_HOSTS_FOLDER = os.path.dirname(os.path.dirname(__file__))


def plan_connect(host: Host, target: Target) -> list[FileChange]:
    """Return the changes that connect a host; raise NotOurs where something of the user's is in the way.

    Where the host has installed a plugin of ours by itself, that is enough: what connect wrote goes. A book that the
    entries name stays named, unless the target names another one.
    """
    plugin = host.find_plugin(target)
    if plugin is not None:
        if target.has_protocol:
            raise NotOurs(
                f"{host.title} has the plugin {plugin.name}, which has no hooks for its own memory files; nothing was "
                "changed.",
                hint=f"Remove it with `{plugin.remove}`, then try again.",
            )
        return _refuse_unwritable(plan_disconnect(host, target))
    kept = find_kept_root(host, target)
    named = target._replace(commands=target.commands._replace(root=kept)) if kept else target
    wanted = build_parts(host, named)
    return _refuse_unwritable([plan_file(*item) for item in _read_files(host, named, wanted)])


def plan_by_hand(host: Host, target: Target) -> list[FileChange]:
    """Return what connecting writes where there are no files: for a person to add to files that we cannot change."""
    parts = _group_by_file(host.build_parts(target))
    return [plan_file(FileSnapshot(*place), here, here) for place, here in parts.items()]


def plan_disconnect(host: Host, target: Target) -> list[FileChange]:
    """Return the changes that remove everything of ours; a plugin that the host installed by itself stays."""
    plugin = host.find_plugin(target)
    if plugin is not None and plugin.has_our_place:
        return []
    changes = [plan_file(snapshot, [], known) for snapshot, _, known in _read_files(host, target, ())]
    return _refuse_unwritable(changes)[::-1]


def _refuse_unwritable(changes: list[FileChange]) -> list[FileChange]:
    for change in changes:
        if change.action != "unchanged":
            files.refuse_unwritable(change.snapshot)
    return changes


def find_kept_root(host: Host, target: Target) -> str | None:
    """Return the book that the user's entries name, where the target names none; None if they name none, or several."""
    if target.commands.root or target.is_project:
        return None
    roots = {root for part, value in find_connected(host, target) for root in find_roots(read_value(part, value))}
    return roots.pop() if len(roots) == 1 else None


def connect_host(host: Host, target: Target, changes: Sequence[FileChange]) -> None:
    """Write the changes that connect a host, and note it."""
    made: list[str] = []
    since = notes.find_oldest(part for part, _ in find_connected(host, target))  # connected before there were notes
    apply(changes, made)
    if target.state and host.find_plugin(target) is None:
        notes.note_connection(host, target, since, made)


def disconnect_host(host: Host, target: Target, changes: Sequence[FileChange]) -> None:
    """Write the changes that disconnect a host; folders that were there before it was connected stay."""
    noted = notes.read_notes(target) if target.state else None
    apply(changes, None, noted.folders if noted else None)
    if target.state:
        notes.forget_connection(host, target)


def apply(
    changes: Sequence[FileChange], made: list[str] | None = None, folders: Collection[str] | None = None
) -> list[FileChange]:
    """Write the changes and return those that were needed. If one file fails, those before it are restored.

    Folders that are made are added to `made`. Of the empty folders above a removed file those in `folders` go, too;
    with None all of them.
    """
    done: list[FileChange] = []
    new: list[str] = []
    try:
        for change in changes:
            if change.action != "unchanged":
                new += files.write(change.snapshot, change.text, is_executable=change.is_executable)
                done.append(change)
    except CommonplaceError:
        for change in reversed(done):
            now = files.read(change.snapshot.base, change.snapshot.file, change.snapshot.limits)
            files.write(now._replace(mode=change.snapshot.mode), change.snapshot.text)
            files.remove_empty_folders(change.snapshot, new)
        raise
    for change in done:
        if change.text is None:
            files.remove_empty_folders(change.snapshot, folders)
    if made is not None:
        made += new
    return done


def find_connected(host: Host, target: Target) -> list[tuple[Part, object]]:
    """Return what is ours in the host's files: each value, with the part whose place it has."""
    found = []
    for snapshot, _, known in _read_files(host, target, ()):
        with naming_file(snapshot):
            found += [(part, value) for part in known for value in find_ours(snapshot.text, part)]
    return found


def find_unreadable(host: Host, target: Target) -> str:
    """Return the path of the first of a host's files that cannot be read or understood; nothing where all can."""
    for place, known in _group_by_file(build_parts(host, target)).items():
        snapshot = FileSnapshot(*place)
        try:
            text = files.read(*place, target.find_limits(*place)).text
            with naming_file(snapshot):
                for part in known:
                    find_ours(text, part)
        except CommonplaceError:
            return snapshot.path
    return ""


def _read_files(
    host: Host, target: Target, parts: Sequence[Part]
) -> Iterator[tuple[FileSnapshot, list[Part], list[Part]]]:
    """Yield each file with those of the parts that are for it, and all that may be in it from an earlier time."""
    wanted = _group_by_file(parts)
    known = _group_by_file(build_parts(host, target._replace(has_protocol=True, has_retired=True)))
    for place, here in known.items():
        yield files.read(*place, target.find_limits(*place)), wanted.get(place, []), here


def _group_by_file(parts: Sequence[Part]) -> dict[tuple[str, str], list[Part]]:
    found: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        found.setdefault((part.base, part.file), []).append(part)
    return found


# Hosts


def list_hosts() -> list[str]:
    """Return the names of all hosts, sorted, without loading any module."""
    files = (name for name in os.listdir(_HOSTS_FOLDER) if name.endswith(".py") and not name.startswith("_"))
    return sorted(name[:-3].replace("_", "-") for name in files)


def load_host(name: str) -> Host:
    """Return the host of a name; raise UnknownHost where there is none."""
    known = list_hosts()
    if name not in known:
        near = verbs.unknown.find_near_names(name, known)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UnknownHost(
            f"Unknown host {name[:40]!a}.{guess}",
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
    state = environment.get("COMMONPLACE_STATE") or user_state()
    home = os.path.expanduser("~")
    return Target(scope, home, project, environment, commands, platform, has_protocol, state=os.path.expanduser(state))
