"""The command lines that hosts start us by work from anywhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hosts.config_edit import commands
from commonplace.hosts.config_edit.commands import (
    COMMANDS_ON_PATH,
    find_commands,
    quote_for_powershell,
    quote_for_shell,
    split_line,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@posix
def test_the_program_beside_this_python_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a user it is the absolute path of this installation, whatever else is on PATH."""
    mine = program(tmp_path / "venv" / "bin" / "commonplace")
    other = program(tmp_path / "other" / "commonplace")
    monkeypatch.setattr(sys, "executable", str(mine.with_name("python")))
    found = find_commands({"PATH": str(other.parent)})
    assert found.program == (str(mine),)
    assert found.hook == (str(mine.with_name("python")), "-P", "-m", "commonplace.hooks.main")
    assert find_commands({"PATH": ""}).build_mcp("codex") == [str(mine), "mcp", "--agent", "codex"]


@pytest.mark.parametrize("name", ["json", "commonplace"])
def test_modules_of_the_folder_are_not_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no program is beside Python, a module of the repository that is named like one of ours is not run."""
    (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the repository was run')\n")
    monkeypatch.setattr(commands, "_find_executable", lambda *_: None)
    found = find_commands(os.environ)
    for words in ((*found.hook, "--help"), (*found.program, "--version")):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@posix
def test_a_link_on_path_to_this_installation_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `uv tool` and pipx put on PATH stays where it is when the installation behind it is replaced."""
    mine = program(tmp_path / "tools" / "commonplace" / "bin" / "commonplace")
    link = tmp_path / "bin" / "commonplace"
    link.parent.mkdir()
    link.symlink_to(mine)
    monkeypatch.setattr(sys, "executable", str(mine.with_name("python")))
    assert find_commands({"PATH": f"relative{os.pathsep}{link.parent}"}).program == (str(link),)


@pytest.mark.parametrize(
    "folder", ["/home/a/.cache/uv/archive-v0/x/bin", "C:\\Users\\a\\uv\\cache\\archive-v0\\x\\Scripts"]
)
def test_a_cache_is_never_written_down(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run by uvx, the command is uvx: uv may empty its cache at any time."""
    monkeypatch.setattr(sys, "executable", f"{folder}{folder[-4 if '/' in folder else -8]}python")
    monkeypatch.setattr(os.path, "abspath", lambda path: path)
    monkeypatch.setattr(os.path, "dirname", lambda path: folder)
    found = find_commands({"PATH": ""})
    assert found.build_hook("stop", "x") == [
        "uvx",
        "--from",
        "commonplace-memory",
        "commonplace-hook",
        "stop",
        "--host",
        "x",
    ]


def test_a_project_has_plain_names_and_a_user_the_root(tmp_path: Path) -> None:
    """Files that go to other machines name no place; for one user a book that was named is named."""
    assert COMMANDS_ON_PATH.build_mcp("codex") == ["commonplace", "mcp", "--agent", "codex"]
    found = find_commands({}, str(tmp_path))
    assert found.build_mcp("codex")[-2:] == found.build_hook("stop", "codex")[-2:] == ["--root", str(tmp_path)]


@given(st.lists(st.text(alphabet="ab '\"$`\\;&|()~é\t", min_size=1), min_size=1))
def test_a_line_for_the_shell_is_read_as_its_words(words: list[str]) -> None:
    """Whatever is in a path, the shell gives us the words that we meant."""
    assert shlex.split(quote_for_shell(words, "linux")) == words
    assert split_line(quote_for_shell(["/opt/my tools/x", *words], "linux"))[0] == "/opt/my tools/x"


def test_lines_for_windows() -> None:
    """Paths with blanks are quoted as cmd and PowerShell want it."""
    words = ["C:\\Program Files\\it's\\commonplace-hook.exe", "stop", "--host", "x"]
    line = quote_for_shell(words, "win32")
    assert line == '"C:\\Program Files\\it\'s\\commonplace-hook.exe" stop --host x'
    assert split_line(line)[0] == words[0]
    assert split_line("C:\\bin\\x.exe stop")[0] == "C:\\bin\\x.exe"
    assert quote_for_powershell(words) == "& 'C:\\Program Files\\it''s\\commonplace-hook.exe' 'stop' '--host' 'x'"


@posix
def test_a_program_that_cannot_be_started_is_noticed(tmp_path: Path) -> None:
    """A path without a file, a file that may not be run, a name that is not on PATH."""
    runs = program(tmp_path / "runs")
    (tmp_path / "plain").write_text("x")
    path = {"PATH": str(tmp_path)}
    assert commands.is_startable(str(runs), path)
    assert commands.is_startable("runs", path)
    assert not commands.is_startable("plain", path)
    assert not commands.is_startable(str(tmp_path / "gone"), path)
