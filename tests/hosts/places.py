"""A home and a project for one test, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from commonplace.hosts.config_edit.commands import Commands
from commonplace.hosts.config_edit.connect import apply, load_hosts, plan_connect, plan_disconnect
from commonplace.hosts.config_edit.parts import Host, Target

COMMANDS = Commands(("/opt/my tools/commonplace",), ("/opt/my tools/commonplace-hook",))
HOSTS = [(host, scope) for host in load_hosts() for scope in host.scopes]
NAMES = [f"{host.name}-{scope}" for host, scope in HOSTS]


def site(root: Path, scope: str, *, protocol: bool = False, environment: Mapping[str, str] | None = None) -> Target:
    home, project = root / "home", root / "project"
    for folder in (home, project):
        folder.mkdir(exist_ok=True)
    return Target(scope, str(home), str(project), environment or {}, COMMANDS, "linux", protocol)


def connect(host: Host, where: Target) -> list[str]:
    """Connect, and say which files changed."""
    return [change.snapshot.file for change in apply(plan_connect(host, where))]


def disconnect(host: Host, where: Target) -> list[str]:
    return [change.snapshot.file for change in apply(plan_disconnect(host, where))]


def tree(root: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below a folder: modes, bytes, links, folders."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        content = str(path.readlink()) if path.is_symlink() else "folder" if path.is_dir() else path.read_bytes()
        found[path.relative_to(root).as_posix()] = (mode, content)
    return found
