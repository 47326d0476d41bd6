"""Nothing of ours installs the package `commonplace`: on PyPI that name belongs to another project."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from commonplace.hosts.config_edit.connect import load_hosts
from commonplace.hosts.config_edit.parts import PROJECT, Host
from commonplace.model import DISTRIBUTION
from tests.cli.calls import run
from tests.docs.install_sources import find_bare_sources

ROOT = Path(__file__).parents[2]
OWN_EXAMPLES = (
    "tests/docs/test_install_name.py",
    "tests/hosts/earlier_files.json",
)  # bad lines on purpose, and what an earlier version wrote
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

BAD = [
    "pip install commonplace",
    "Run `pip install commonplace`.",
    "pip3 install --upgrade commonplace",
    "pip3.11 install commonplace==0.1.0",
    "pip install 'commonplace[transformer]'",
    "pip install numpy commonplace",
    "python -m pip install commonplace>=0.1",
    "pip download --no-deps commonplace",
    "pipx install commonplace",
    "pipx run commonplace mcp",
    "pipx run --spec commonplace commonplace mcp",
    "uv tool install commonplace",
    "uv tool install \\\n  commonplace",
    "uv tool upgrade commonplace",
    "uv tool run commonplace mcp",
    "uv pip install commonplace",
    "uv add commonplace",
    "uv run --with commonplace python",
    "uv run --with=commonplace python",
    "uvx commonplace mcp",
    "uvx commonplace@latest mcp",
    "/usr/bin/uvx --python 3.12 commonplace mcp",
    "uvx --from commonplace commonplace mcp",
    "uvx --from 'commonplace[transformer]' commonplace mcp",
    "uvx --from=commonplace==0.1 commonplace-hook stop",
    "npx -y commonplace",
    "bunx commonplace",
    "npx --package commonplace mcp",
    '{"command": "uvx", "args": ["commonplace", "mcp"]}',
    '{"command": "uvx", "args": ["--from", "commonplace", "commonplace", "mcp"]}',
    '{\n  "command": "uvx",\n  "args": [\n    "--from",\n    "commonplace",\n    "commonplace"\n  ]\n}',
    'const COMMAND = ["uvx", "--from", "commonplace", "commonplace-hook"]',
    '"identifier": "commonplace",',
    "Install commonplace[transformer].",
    'dependencies = ["commonplace"]',
    'dependencies = [\n    "numpy",\n    "commonplace",\n]',
    "commonplace==0.1.0",
    "commonplace >= 0.1",
    "poetry add commonplace",
    "conda install -c conda-forge commonplace",
]
GOOD = [
    "pip install commonplace-memory",
    "pip install 'commonplace-memory[transformer]==0.1'",
    "pip install .",
    "pip install commonplace_memory-0.1.0-py3-none-any.whl",
    "`uv tool install commonplace-memory`, then `commonplace connect codex`",
    "pipx install commonplace-memory && commonplace --version",
    "uvx --from commonplace-memory commonplace mcp",
    "uvx --from=commonplace-memory==0.1 commonplace-hook stop",
    "pipx run --spec commonplace-memory commonplace mcp",
    '{"command": "uvx", "args": ["--from", "commonplace-memory", "commonplace", "mcp"]}',
    '"identifier": "commonplace-memory",',
    "claude mcp add commonplace -- commonplace mcp",
    "claude plugin install commonplace@commonplace",
    "git clone <this repository> commonplace && cd commonplace",
    'import commonplace\nname = "commonplace"',
    '{"command": "commonplace", "args": ["mcp"]}',
    "python -m commonplace mcp",
    "# via commonplace-memory (pyproject.toml)",
]


@pytest.mark.parametrize("text", BAD)
def test_the_search_finds_the_bare_name(text: str) -> None:
    """Every way to install or run the bare name is found, on one line or over several."""
    assert list(find_bare_sources(text))


@pytest.mark.parametrize("text", GOOD)
def test_the_search_leaves_other_uses_alone(text: str) -> None:
    """Our own distribution, the import, the command and the name of an entry are not install sources."""
    assert list(find_bare_sources(text)) == []


@pytest.mark.parametrize("text", ["commonplace", "numpy\ncommonplace \\\n", "commonplace ; python_version > '3'"])
def test_a_requirement_is_found_by_its_name_alone(text: str) -> None:
    """In a file of requirements a line with the bare name is an install source; elsewhere it is a word."""
    assert list(find_bare_sources(text, is_requirements=True))
    assert list(find_bare_sources(text)) == []
    assert list(find_bare_sources("commonplace-memory\n# commonplace\n", is_requirements=True)) == []


def test_no_file_installs_the_bare_name() -> None:
    """No text file of the repository, tracked or about to be, installs or runs the distribution `commonplace`."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a checkout: nothing says which files are ours")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    assert {"pyproject.toml", "server.json", "README.md"} <= set(names)
    found = []
    for name in names:
        path = ROOT / name
        data = path.read_bytes() if name not in ("", *OWN_EXAMPLES) and path.is_file() else b""
        if data and b"\0" not in data:
            text = data.decode("utf-8", "replace")
            sources = find_bare_sources(text, is_requirements=name.startswith("requirements"))
            found += [f"{name}:{line}: {part}" for line, part in sources]
    assert found == []


@pytest.mark.parametrize("folder", [None, "/home/ann/.cache/uv/archive-v0/x/bin"], ids=["installed", "uvx"])
@pytest.mark.parametrize("host", load_hosts(), ids=lambda host: host.name)
def test_no_host_is_told_to_run_the_bare_name(
    host: Host, folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `connect --print` shows for a host, also when uvx runs it, starts no package of the bare name."""
    home = tmp_path / "home"
    (home / ".git").mkdir(parents=True)
    monkeypatch.chdir(home)
    for name in ("HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("COMMONPLACE_ROOT", str(tmp_path / "book"))
    if folder is not None:
        monkeypatch.setattr(sys, "executable", f"{folder}/python")
    for scope in host.scopes:
        outcome = run("connect", host.name, f"--{scope}", "--print")
        assert outcome.status == 0, outcome.err
        assert "commonplace" in outcome.out
        plain = "\n".join(line.removeprefix("+") for line in outcome.out.splitlines())
        assert list(find_bare_sources(plain)) == []
        if folder is not None and host.hooks and scope != PROJECT:
            assert "uvx" in plain and f"uv tool install {DISTRIBUTION}" in plain


def test_the_distribution_has_one_name() -> None:
    """pyproject.toml, server.json and the code agree on the name, and the package has the commands that they start."""
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))["packages"][0]
    assert SETTINGS["name"] == entry["identifier"] == DISTRIBUTION
    assert {"commonplace", "commonplace-hook"} <= set(SETTINGS["scripts"])
    # A client of the MCP registry runs `uvx IDENTIFIER ARGUMENTS`: there must be a command of that name.
    assert SETTINGS["scripts"][entry["identifier"]] == SETTINGS["scripts"]["commonplace"]
