"""Connecting and disconnecting never replace or remove what the user wrote or edited."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hosts import claude_code, cline, codex
from commonplace.hosts.config_edit.commands import (
    EVENTS,
    Commands,
    parse_call,
    quote_for_powershell,
    quote_for_shell,
    split_line,
)
from commonplace.hosts.config_edit.connect import apply, load_host, plan_connect, plan_disconnect
from commonplace.hosts.config_edit.files import FINGERPRINTS, fingerprint, is_owned, sign
from commonplace.hosts.config_edit.parts import ConfigEntry, Host, MarkedBlock, OwnedFile, Part, Target
from commonplace.hosts.config_edit.text_edit import TOML, YAML
from commonplace.model.errors import NotOurs
from tests.hosts.places import COMMANDS, HOSTS, NAMES, connect, disconnect, site, tree

every_host = pytest.mark.parametrize(("host", "scope"), HOSTS, ids=NAMES)
# The command lines that a user may have written, each with our name in it; HOST stands for the host.
USER_LINES = {
    "comment": "echo hello # commonplace-hook stop --host HOST",
    "recall": "commonplace recall --agent HOST 'x'",
    "path": "/home/me/commonplace/run.sh stop --host HOST",
    "notes": "/opt/notes/commonplace --host h",
    "two": "commonplace-hook stop --host HOST; say done",
}
USER_SERVERS = {
    "comment": ["notes", "# commonplace mcp --agent HOST"],
    "recall": ["commonplace", "recall", "--agent", "HOST"],
    "path": ["/home/me/commonplace/run.sh", "mcp", "--agent", "HOST"],
    "notes": ["/opt/notes/commonplace", "--host", "h"],
    "two": ["sh", "-c", "commonplace mcp --agent HOST; say done"],
}
USER_FILES = {
    "": "#!/bin/sh\nLINE\n",
    ".ps1": "LINE\n",
    ".md": "# My rules\n\nRun `LINE`.\n",
    ".mdc": "---\nalwaysApply: true\n---\n\nRun `LINE`.\n",
    ".js": 'export const Mine = async () => ({ event: async () => start("LINE") }) // commonplace\n',
}
EARLIER = json.loads(Path(__file__).with_name("earlier_files.json").read_text("utf-8"))
Edit = Callable[[str], str]
EDITS: dict[str, Edit] = {
    "a blank line": lambda text: text + "\n",
    "a word": lambda text: text.replace("ommonplace", "ommon place", 1),
    "a line before": lambda text: "mine\n" + text,
}


def user_text(part: Part, host: str, kind: str) -> str:
    """A file that a user wrote at a part's place: all of it, or with an entry or a block where ours would go."""
    line = USER_LINES[kind].replace("HOST", host)
    if isinstance(part, MarkedBlock):
        return f"# My rules\n\nRun `{line}`.\n"
    if isinstance(part, OwnedFile):
        own = {"name": "commonplace", "hooks": {"Stop": [{"command": line}]}}
        return json.dumps(own, indent=2) if part.file.endswith(".json") else user_file(part.file, line)
    if part.path[-1] is None:
        return json.dumps({part.path[0]: {part.path[1]: [user_hook(part.value, line)]}}, indent=4)
    words = [word.replace("HOST", host) for word in USER_SERVERS[kind]]
    entry = user_server(part.value, words)
    if part.editor is TOML:
        return f"[mcp_servers.commonplace] # {line}\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in entry.items())
    if part.editor is YAML:
        return f"extensions: # {line}\n  commonplace: {json.dumps(entry)}\n"
    return json.dumps({part.path[0]: {part.path[1]: entry}}, indent=4)


def user_file(file: str, line: str) -> str:
    return USER_FILES[Path(file).suffix].replace("LINE", line)


def user_hook(ours: Any, line: str) -> object:
    return {"hooks": [{"type": "command", "command": line}]} if "hooks" in ours else {"command": line}


def user_server(ours: Any, words: list[str]) -> dict[str, object]:
    if isinstance(ours.get("command"), list):
        return {"type": "local", "command": words}
    return {"cmd" if "cmd" in ours else "command": words[0], "args": words[1:]}


def parts_of(host: Host, where: Target) -> list[Part]:
    """The parts of a host that have a place for something of the user's."""
    return [part for part in host.build_parts(where) if not isinstance(part, ConfigEntry) or part.companion_of is None]


def write(part: Part, text: str) -> Path:
    path = Path(part.base, part.file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    return path


@every_host
@pytest.mark.parametrize("kind", USER_LINES)
def test_what_a_user_wrote_survives(host: Host, scope: str, kind: str, tmp_path: Path) -> None:
    """A user's text with our name in it keeps its bytes and mode at each place of ours; a refusal writes nothing."""
    for number in range(len(parts_of(host, site(tmp_path, scope)))):
        root = tmp_path / str(number)
        root.mkdir()
        where = site(root, scope)
        part = parts_of(host, where)[number]
        write(part, user_text(part, host.name, kind))
        before = tree(root)
        disconnect(host, where)
        assert tree(root) == before, part.file
        if isinstance(part, OwnedFile) or (isinstance(part, ConfigEntry) and part.path[-1] is not None):
            with pytest.raises(NotOurs, match=re.escape(Path(part.file).name)):
                connect(host, where)
        else:
            connect(host, where)
            assert tree(root) != before
            disconnect(host, where)
        assert tree(root) == before, part.file


def starts_ours(part: Part, edited: str) -> bool:
    """Whether a JSON file with commands can still be read after an edit that left these alone."""
    if not part.file.endswith(".json") or isinstance(part, ConfigEntry):
        return False
    commands, kept = (re.findall('"(?:command|args|bash|powershell)": .*', text) for text in (part.text, edited))
    try:
        return bool(commands) and commands == kept and bool(json.loads(edited))
    except ValueError:
        return False


@every_host
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_file_of_ours_survives(host: Host, scope: str, edit: Edit, tmp_path: Path) -> None:
    """A file or block of ours that the user edited keeps every byte; disconnect leaves it, and says so.

    A skill, a rule and a JSON file that still starts what it should are no hindrance to connecting; a script is.
    """
    where = site(tmp_path, scope)
    for part in host.build_parts(where):
        if isinstance(part, ConfigEntry):
            continue
        connect(host, where)
        path = Path(part.base, part.file)
        text = path.read_bytes().decode()
        start, end = (text.index("\n") + 1, text.rindex("<!--")) if isinstance(part, MarkedBlock) else (0, len(text))
        edited = text[:start] + edit(text[start:end]) + text[end:]
        if isinstance(part, MarkedBlock) and edit is EDITS["a blank line"]:
            continue  # blank lines at the end of a block are not told from those of the file
        path.write_bytes(edited.encode())
        before = tree(tmp_path)
        if starts_ours(part, edited):
            assert connect(host, where) == []
        elif path.suffix in (".md", ".mdc"):
            [kept] = [change.left for change in plan_connect(host, where) if change.left]
            assert str(path) in kept and "stays as it is" in kept
            assert connect(host, where) == []
        else:
            with pytest.raises(NotOurs, match=re.escape(path.name)):
                connect(host, where)
        assert tree(tmp_path) == before
        changes = plan_disconnect(host, where)
        apply(changes)
        assert {name: at for name, at in tree(tmp_path).items() if (tmp_path / name).is_file()} == {
            name: at for name, at in before.items() if tmp_path / name == path
        }
        left = [change.left for change in changes if change.left]
        assert len(left) == 1
        assert str(path) in left[0]
        assert "was left in place" in left[0]
        path.unlink()


def test_a_hook_that_a_user_added_to_our_entry_survives(tmp_path: Path) -> None:
    """An entry of ours to which the user added a hook of their own is left, and disconnect says so."""
    where = site(tmp_path, "user")
    connect(codex.HOST, where)
    path = tmp_path / "home" / ".codex" / "hooks.json"
    hooks = json.loads(path.read_text())
    for own in ({"type": "command", "command": "mine"}, {"type": "prompt", "prompt": "mine"}):
        changed = json.loads(json.dumps(hooks))
        changed["hooks"]["Stop"][0]["hooks"].append(own)
        path.write_text(json.dumps(changed))
        changes = plan_disconnect(codex.HOST, where)
        left = next(change for change in changes if change.snapshot.file.endswith("hooks.json"))
        assert json.loads(left.text or "") == {"hooks": {"Stop": changed["hooks"]["Stop"]}}
        assert "hooks.Stop" in left.left and "was left in place" in left.left


@every_host
def test_line_ends_of_windows_are_no_edit(host: Host, scope: str, tmp_path: Path) -> None:
    """Files of ours that git checked out with CRLF are still ours: disconnecting leaves no trace."""
    where = site(tmp_path, scope)
    before = tree(tmp_path)
    connect(host, where)
    for part in host.build_parts(where):
        if not isinstance(part, ConfigEntry):
            path = Path(part.base, part.file)
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    disconnect(host, where)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", EARLIER["trees"])
def test_files_of_an_earlier_version_are_ours(name: str, tmp_path: Path) -> None:
    """What connect wrote before there was a hash is removed by disconnect, and renewed by connect."""
    host, scope, platform, _ = name.split()
    for number, renew in enumerate((False, True)):
        root = tmp_path / str(number)
        root.mkdir()
        data = root / "home" / "AppData" / "Roaming"
        where = site(root, scope, environment={"APPDATA": str(data)} if platform == "win32" else {})
        data.mkdir(parents=True)
        where = where._replace(platform=platform)
        before = tree(root)
        for file, text in EARLIER["trees"][name].items():
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(EARLIER["texts"][text].encode())
        if renew:
            connect(load_host(host), where)
            assert connect(load_host(host), where) == []
        changes = plan_disconnect(load_host(host), where)
        apply(changes)
        assert [change.left for change in changes if change.left] == []
        assert tree(root) == before


@every_host
def test_the_next_version_will_know_our_json_files(host: Host, scope: str, tmp_path: Path) -> None:
    """Every JSON file that connect writes is in FINGERPRINTS, whatever the program's path."""
    commands = Commands(("commonplace",), ("/a b/commonplace-hook",), "/book")
    for protocol in (False, True):
        for environment in ({}, {"CLAUDE_CONFIG_DIR": "/elsewhere"}):
            where = site(tmp_path, scope, protocol=protocol, environment=environment)._replace(commands=commands)
            for part in host.build_parts(where):
                if isinstance(part, OwnedFile) and part.file.endswith(".json"):
                    found = fingerprint(part.file, part.text)
                    assert found in FINGERPRINTS, f"append {found} for {host.name} {part.file} to ownership.py"


_TARGET = Target("project", "/home", "/project", {}, COMMANDS)
_OURS = {
    part.file: sign(part.file, part.text)
    for host in (cline.HOST, claude_code.HOST, load_host("opencode"), load_host("cursor"))
    for part in host.build_parts(_TARGET)
    if isinstance(part, OwnedFile)
}
_LINES = sorted({line for text in _OURS.values() for line in text.split("\n")})


@given(
    st.sampled_from(sorted(_OURS)),
    st.lists(st.text(max_size=20) | st.sampled_from(_LINES), max_size=8),
    st.lists(st.text(max_size=20) | st.sampled_from(_LINES), max_size=8),
    st.sampled_from(("commonplace", "Commonplace", "exec commonplace recall x", "<!-- commonplace:owned -->")),
)
def test_no_text_with_our_name_is_ours(file: str, before: list[str], after: list[str], word: str) -> None:
    """Whatever a user writes around our name, also in lines of ours, is never taken for a file of ours."""
    assert not is_owned(file, "\n".join((*before, word, *after)))


@given(st.sampled_from(sorted(file for file in _OURS if not file.endswith(".json"))), st.data())
def test_any_edit_of_a_file_with_a_hash_is_told(file: str, data: st.DataObject) -> None:
    """Text that is put into a file with a hash, or taken out of it, anywhere, makes it the user's."""
    text = _OURS[file]
    assert is_owned(file, text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = text[:start] + data.draw(st.text(max_size=5)) + text[end:]
    assert is_owned(file, new) is (new == text)


@given(
    st.text(alphabet="ab c'&$()~;é", min_size=1),
    st.sampled_from(EVENTS),
    st.sampled_from(
        (
            ("/FOLDER/commonplace-hook",),
            ("C:\\FOLDER\\commonplace-hook.exe",),
            ("commonplace-hook",),
            ("/FOLDER/python3", "-P", "-m", "commonplace.hooks.main"),
            ("/FOLDER/python3", "-m", "commonplace.hooks.main"),  # as earlier versions wrote it
            ("/FOLDER/uvx", "--from", "commonplace-memory", "commonplace-hook"),
        )
    ),
    st.booleans(),
)
def test_every_line_that_we_write_is_read_again(folder: str, event: str, form: tuple[str, ...], root: bool) -> None:
    """In each of the three shells, a hook's line gives back its event and host, wherever the program and book are."""
    hook = tuple(word.replace("FOLDER", folder) for word in form)
    words = Commands(("commonplace",), hook, f"/{folder}" if root else None).build_hook(event, "codex")
    for line in (quote_for_shell(words, "linux"), quote_for_shell(words, "win32"), quote_for_powershell(words)):
        assert parse_call(split_line(line)) == (event, "--host", "codex"), line


def test_a_refusal_says_what_to_do(tmp_path: Path) -> None:
    """The refusal names the file, says why, and what the user can do."""
    where = site(tmp_path, "project")
    path = tmp_path / "project" / ".clinerules" / "hooks" / "TaskStart"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\nexec commonplace recall 'open tasks'\n")
    with pytest.raises(NotOurs) as refused:
        plan_connect(cline.HOST, where)
    assert refused.value.message.startswith(str(path))
    assert "your own file, or was edited" in refused.value.message
    assert refused.value.hint == "Rename or remove it, then try again."
