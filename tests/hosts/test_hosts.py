"""Every host, for the user and for a project: what connecting writes, and that disconnecting leaves no trace."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from commonplace.hosts.config_edit.commands import EVENTS
from commonplace.hosts.config_edit.connect import load_hosts
from commonplace.hosts.config_edit.entries import find_host, find_server
from commonplace.hosts.config_edit.json_edit import JSON
from commonplace.hosts.config_edit.parts import (
    ConfigEntry,
    Host,
    MarkedBlock,
    OwnedFile,
    Target,
    render_rules,
    render_skill,
)
from commonplace.hosts.config_edit.text_edit import TOML, YAML
from commonplace.model.errors import NotOurs
from tests.hosts.places import HOSTS, NAMES, connect, disconnect, site, tree

GOLDEN = Path(__file__).parent / "golden"
# What a user may have in a file of each format before we come.
OWN = {
    ".json": '// mine\n{\n\t"theirs": {"a": [1, 2,],},  // kept\n\t"hooks": {},\n}',
    ".jsonc": "{}\r\n",
    ".toml": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "other"',
    ".yaml": "# mine\nGOOSE_MODE: auto\nextensions:\n  other:\n    enabled: true\n",
    ".md": "# House rules\n\nBe kind.",
}

every_host = pytest.mark.parametrize(("host", "scope"), HOSTS, ids=NAMES)


def seed(where: Target, host: Host) -> None:
    """The user's own content in every file that the host shares with us."""
    for part in host.build_parts(where):
        if not isinstance(part, OwnedFile):
            path = Path(part.base, part.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(OWN[path.suffix].encode())
            path.chmod(0o640)


def shown(root: Path) -> str:
    """All files below a folder in one text; long texts and hashes, which have tests of their own, by name."""
    lines = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        text = path.read_text("utf-8").replace(render_skill(), "(the skill)\n").replace(render_rules(), "(the rules)\n")
        text = re.sub(r"sha256:[0-9a-f]{32}", "sha256:(hash)", text)
        run = " (executable)" if os.access(path, os.X_OK) else ""
        lines.append(f"=== {path.relative_to(root).as_posix()}{run}\n{text}")
    return "".join(lines)


@pytest.mark.parametrize("host", load_hosts(), ids=lambda host: host.name)
def test_connecting_writes_what_is_committed(host: Host, tmp_path: Path) -> None:
    """In an empty home and an empty project, with protocol enforcement, connecting writes these files to the byte."""
    for scope in host.scopes:
        connect(host, site(tmp_path, scope, protocol=True))
    golden = GOLDEN / f"{host.name}.txt"
    if os.environ.get("COMMONPLACE_WRITE_GOLDEN"):
        golden.write_text(shown(tmp_path), "utf-8")
    assert shown(tmp_path) == golden.read_text("utf-8")


@every_host
def test_twice_is_the_same_as_once(host: Host, scope: str, tmp_path: Path) -> None:
    """Connecting again changes no file, and touches none."""
    where = site(tmp_path, scope)
    seed(where, host)
    assert connect(host, where)
    before = {name: (content, os.stat(tmp_path / name).st_mtime_ns) for name, content in tree(tmp_path).items()}
    assert connect(host, where) == []
    assert {name: (content, os.stat(tmp_path / name).st_mtime_ns) for name, content in tree(tmp_path).items()} == before


@every_host
@pytest.mark.parametrize("own", [True, False], ids=["own files", "empty"])
def test_disconnecting_leaves_no_trace(host: Host, scope: str, own: bool, tmp_path: Path) -> None:
    """Whether the files were the user's or not there, after disconnecting everything is as it was, modes and all."""
    where = site(tmp_path, scope, protocol=True)
    if own:
        seed(where, host)
    before = tree(tmp_path)
    connect(host, where)
    assert tree(tmp_path) != before
    disconnect(host, where._replace(has_protocol=False))
    assert tree(tmp_path) == before


@every_host
def test_a_connected_host_starts_us_at_every_event(host: Host, scope: str, tmp_path: Path) -> None:
    """Each event of the host's table, and the server, are in its files; protocol hooks only if asked for."""
    for protocol in (False, True):
        where = site(tmp_path, scope, protocol=protocol)
        connect(host, where)
        text = "".join(content.decode() for _, content in tree(tmp_path).values() if isinstance(content, bytes))
        words = " ".join(text.replace('"', " ").replace(",", " ").split())
        for hook in host.hooks:
            wanted = (protocol or not hook.is_protocol) and not hook.is_retired
            named = f"{hook.event} --host" in words or f'ask("{hook.event}"' in text
            assert named is wanted, hook
        assert ("mcp --agent" in words) is (
            host.has_mcp and bool([part for part in host.build_parts(where) if _starts_server(part)])
        )


def _starts_server(part: object) -> bool:
    value = part.value if isinstance(part, ConfigEntry) else part.text if isinstance(part, OwnedFile) else ""
    return "--agent" in json.dumps(value)


@every_host
def test_other_hosts_never_hear_of_us(host: Host, scope: str, tmp_path: Path) -> None:
    """Connecting one host leaves the files of all others as they are."""
    where = site(tmp_path, scope)
    mine = {(part.base, part.file) for part in host.build_parts(where)}
    for other in load_hosts():
        for place in other.scopes:
            for part in other.build_parts(where._replace(scope=place)):
                path = Path(part.base, part.file)
                if not isinstance(part, OwnedFile) and (part.base, part.file) not in mine and not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(OWN[path.suffix].encode())
    before = tree(tmp_path)
    connect(host, where)
    after = tree(tmp_path)
    assert {name: after[name] for name in before} == before
    new = [str(tmp_path / name) for name in after if name not in before and (tmp_path / name).is_file()]
    assert set(new) <= {os.path.join(*place) for place in mine}


@every_host
def test_what_is_the_users_own_is_not_overwritten(host: Host, scope: str, tmp_path: Path) -> None:
    """A file or an entry of the user's with our name is left alone, and so is every other file; they are told."""
    where = site(tmp_path, scope)
    for part in host.build_parts(where):
        path = Path(part.base, part.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(part, OwnedFile):
            path.write_text("#!/bin/sh\nmine\n")
        elif isinstance(part, ConfigEntry) and part.path[-1] == "commonplace":
            own = {"commonplace": {"command": "mine"}}
            text = {
                JSON: json.dumps({part.path[0]: own}),
                TOML: f'[{part.path[0]}.commonplace]\ncommand = "mine"\n',
                YAML: f"{part.path[0]}:\n  commonplace:\n    cmd: mine\n",
            }[part.editor]
            path.write_text(text)
    before = tree(tmp_path)
    if all(isinstance(part, MarkedBlock) for part in host.build_parts(where)):
        return
    with pytest.raises(NotOurs):
        connect(host, where)
    assert tree(tmp_path) == before
    disconnect(host, where)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "value",
    [
        {"command": "commonplace", "args": ["mcp", "--agent", "x"]},
        {"command": "C:\\Tools\\commonplace.exe", "args": ["mcp", "--agent", "x"]},
        {"command": ["/usr/bin/python3", "-m", "commonplace", "mcp", "--agent", "x"]},
        {"cmd": "uvx", "args": ["--from", "commonplace-memory", "commonplace", "mcp", "--agent", "x"]},
        {"hooks": [{"command": "'/opt/my tools/commonplace-hook' stop --host codex"}]},
        {"powershell": "& 'C:\\my tools\\commonplace-hook.exe' 'stop' '--host' 'copilot'"},
        "/usr/bin/python3 -m commonplace.hooks.main stop --host x",
    ],
)
def test_ours_is_told_by_its_command(value: object) -> None:
    """Every way in which we write our command line is known again."""
    assert find_host(value) is not None


@pytest.mark.parametrize(
    "value",
    [
        {"command": "npx", "args": ["some-commonplace-mcp"]},
        {"command": "mine", "env": {"commonplace": "--agent x"}},
        {"commonplace": {"command": "x"}},
        {"command": "my-commonplace-hook stop --host x"},
        {"command": "commonplace"},
        {"command": "commonplace recall --agent codex 'x'"},
        {"command": "/opt/notes/commonplace --host h"},
        {"command": "/home/me/commonplace/run.sh stop --host codex"},
        {"command": "commonplace-hook stop --host codex # mine"},
        {"command": "commonplace-hook stop --host codex; say done"},
        {"command": "commonplace-hook stop --host $AGENT"},
        {"command": "~/bin/commonplace-hook stop --host codex"},
        {"command": "commonplace", "args": ["mcp", "--agent", "codex", "--read-only"]},
        {"command": "commonplace", "args": ["mcp", "--agent", 3]},
        {"hooks": [{"command": "commonplace-hook stop --host codex"}, {"command": "mine"}]},
        {"hooks": [{"command": "commonplace-hook stop --host codex"}, {"type": "prompt", "prompt": "mine"}]},
        {"bash": "commonplace-hook stop --host copilot", "powershell": "mine.ps1"},
        None,
        3,
    ],
)
def test_what_is_not_ours_is_not_taken_for_it(value: object) -> None:
    """A name, another command of ours, and a command of ours with more beside it make nothing ours."""
    assert find_host(value) is None


@pytest.mark.parametrize(
    "line", ["python wrap.py commonplace mcp", "uv run wrap.py commonplace mcp", "sh -c commonplace mcp"]
)
def test_a_script_of_the_user_is_not_taken_for_our_server(line: str) -> None:
    """A program that gets our name as an argument may do anything with it."""
    program, *args = line.split()
    assert find_server({"command": program, "args": args}) is None


def test_hooks_and_hosts_agree_on_the_names_of_events() -> None:
    """The table of the hook program knows every host with hooks, and names the events as the host does."""
    shapes = pytest.importorskip("commonplace.hooks.host_io")
    assert tuple(pytest.importorskip("commonplace.hooks.events").HANDLERS) == EVENTS
    for host in load_hosts():
        shape = shapes.SHAPES.get(host.name if host.name != "kiro2" else "kiro")
        assert (shape is not None) == bool(host.hooks), host.name
        for hook in host.hooks:
            assert shape.carries.get(hook.event) in (None, "", hook.host_event), (host.name, hook.event)
