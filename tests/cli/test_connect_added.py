"""What a host's own `mcp add` or a marketplace put there is adopted by connect: one server, one brief."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.cli.calls import fine, run, status

# As the programs themselves write it: `codex mcp add commonplace --env ... -- commonplace mcp`.
CODEX_BEFORE = 'model = "x" # mine'
CODEX_ADDED = """
[mcp_servers.commonplace]
command = "commonplace"
args = ["mcp"]
"""
CODEX_ENVIRONMENT = """
[mcp_servers.commonplace.env]
COMMONPLACE_ROOT = "/books/mine"
"""
CODEX_PLUGIN = """
[marketplaces.commonplace]
source_type = "local"
source = "/opt/commonplace"

[plugins."commonplace@commonplace"]
enabled = true
"""
SERVER = {"type": "stdio", "command": "commonplace", "args": ["mcp"], "env": {}}
CLAUDE_PLUGIN = {"extraKnownMarketplaces": {"commonplace": {}}, "enabledPlugins": {"commonplace@commonplace": True}}


@pytest.fixture
def home(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COMMONPLACE_ROOT")
    monkeypatch.setenv("PATH", os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))
    return root.parent / "home"


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, without the book's."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".commonplace" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("environment", ["", CODEX_ENVIRONMENT], ids=["plain", "with a book"])
def test_codex_mcp_add_before_connect(environment: str, home: Path) -> None:
    """The server that Codex added is taken over: one table, its environment kept, its book for the hooks too."""
    config = put(home / ".codex" / "config.toml", CODEX_BEFORE)
    before = files(home)
    config.write_text(f"{CODEX_BEFORE}\n{CODEX_ADDED}{environment}")
    assert status("codex")["connected"] == ["user"]
    assert fine("connect", "codex")["action"] == "connected"
    text = config.read_text()
    assert text.count("[mcp_servers.commonplace]") == 1
    assert '"--agent", "codex"' in text
    assert environment in text
    assert ("--root /books/mine" in (home / ".codex" / "hooks.json").read_text()) is bool(environment)
    assert fine("connect", "codex")["action"] == "unchanged"
    assert status("codex")["works"]
    fine("disconnect", "codex")
    config.write_text(config.read_text().removesuffix("\n"))  # which Codex added to a file without a line end
    assert files(home) == before


def test_claude_mcp_add_before_connect(home: Path) -> None:
    """Servers that Claude Code added, for the user and for a folder, make place for the one of our plugin."""
    state = put(home / ".claude.json", json.dumps(claude_state(SERVER), indent=2))
    fine("connect", "claude-code")
    assert json.loads(state.read_text()) == claude_state(None)
    plugin = home / ".claude" / "skills" / "commonplace"
    assert "commonplace" in json.loads((plugin / ".mcp.json").read_text())["mcpServers"]
    assert fine("connect", "claude-code")["action"] == "unchanged"
    fine("disconnect", "claude-code")
    assert json.loads(state.read_text()) == claude_state(None)
    assert not plugin.exists()


def claude_state(server: object) -> dict[str, object]:
    """What Claude Code keeps in ~/.claude.json; without a server its own `mcp remove` leaves empty objects."""
    servers = {"commonplace": server} if server else {}
    own = {"command": "mine", "args": []}
    return {
        "firstStartTime": "2026-11-19T06:12:10.432Z",
        "projects": {"/work/app": {"allowedTools": [], "mcpServers": servers, "hasTrustDialogAccepted": False}},
        "mcpServers": {"own": own, **servers},
    }


def test_an_added_server_with_more_in_it_is_kept(home: Path) -> None:
    """A server with options of the user stays as it is, in place of ours; disconnecting takes it out."""
    server = {**SERVER, "args": ["mcp", "--role", "worker"], "env": {"TZ": "UTC"}}
    state = put(home / ".claude.json", json.dumps({"mcpServers": {"commonplace": server}}, indent=2))
    fine("connect", "claude-code")
    kept = json.loads(state.read_text())["mcpServers"]["commonplace"]
    assert (kept["env"], kept["args"][-2:]) == ({"TZ": "UTC"}, ["--role", "worker"])
    plugin = home / ".claude" / "skills" / "commonplace"
    assert (plugin / "hooks" / "hooks.json").exists()
    assert not (plugin / ".mcp.json").exists()
    assert fine("connect", "claude-code")["action"] == "unchanged"
    assert status("claude-code")["works"]
    fine("disconnect", "claude-code")
    assert json.loads(state.read_text()) == {"mcpServers": {}}


def test_gemini_and_opencode_add_before_connect(home: Path) -> None:
    """Gemini's added server makes place for the one of our extension; OpenCode's is taken over where it is."""
    settings = put(home / ".gemini" / "settings.json", json.dumps({"mcpServers": {"commonplace": SERVER}}, indent=2))
    fine("connect", "gemini")
    assert json.loads(settings.read_text()) == {"mcpServers": {}}
    entry = {"type": "local", "command": ["commonplace", "mcp"], "enabled": False}
    config = put(home / ".config" / "opencode" / "opencode.json", json.dumps({"mcp": {"commonplace": entry}}, indent=2))
    fine("connect", "opencode")
    taken = json.loads(config.read_text())["mcp"]["commonplace"]
    assert taken["command"][-3:] == ["mcp", "--agent", "opencode"]
    assert taken["enabled"] is False
    assert "switched off" in status("opencode")["problems"][0]
    assert status("opencode")["connections"][0]["hint"].startswith("Switch it on in that file")


JSON_SERVER = '"memory": {"command": "commonplace", "args": ["mcp"]'
# A server of ours under a name of the user's: the file of a host, and what comes before the server's end and behind it.
NAMED = {
    "codex": (".codex/config.toml", '[mcp_servers.memory]\ncommand = "commonplace"\nargs = ["mcp"]\n', "cwd = '/w'\n"),
    "cursor": (".cursor/mcp.json", f'{{"mcpServers": {{{JSON_SERVER}', ', "cwd": "/w"}}}'),
    "gemini": (".gemini/settings.json", f'{{"mcpServers": {{{JSON_SERVER}', ', "timeout": 9}}}'),
    "claude-code": (".claude.json", f'{{"mcpServers": {{{JSON_SERVER}', ', "timeout": 9}}}'),
    "vscode": (".config/Code/User/mcp.json", f'{{"servers": {{{JSON_SERVER}', ', "cwd": "/w"}}}'),
    "opencode": (
        ".config/opencode/opencode.jsonc",
        '{"mcp": {"memory": {"command": ["commonplace", "mcp"]',
        ', "enabled": false}}}',
    ),
    "goose": (
        ".config/goose/config.yaml",
        "extensions:\n  memory:\n    cmd: commonplace\n    args: [mcp]\n",
        "    timeout: 9\n",
    ),
}


@pytest.mark.parametrize("more", [False, True], ids=["plain", "with more"])
@pytest.mark.parametrize("host", NAMED)
def test_a_server_under_another_name_is_taken_over(host: str, more: bool, home: Path) -> None:
    """A server of ours under a name of the user's makes place for ours, or stays in its place if it says more: there
    is one server, and it starts this installation; disconnecting takes it out."""
    file, start, end = NAMED[host]
    text = start + (end if more else "}}}" if start.startswith("{") else "")
    path = put(home / file, text)
    assert status(host)["connected"] == ["user"]
    fine("connect", host)
    started = [
        text for text in files(home).values() if b"commonplace" in text and b"mcp" in text and b"--agent" in text
    ]
    servers = sum(len(re.findall(rb'"mcp",\s*"--agent"', text)) for text in started)
    assert servers == 1, started
    assert ("memory" in (path.read_text() if path.exists() else "")) is more
    assert fine("connect", host)["action"] == "unchanged"
    [connection] = status(host)["connections"]
    assert connection["command"][0].endswith("bin/commonplace"), connection
    fine("disconnect", host)
    assert status(host)["connected"] == []
    assert not path.exists() or "memory" not in path.read_text()


@pytest.mark.parametrize(
    "line",
    [
        "python3 -m commonplace mcp",
        "python -P -m commonplace mcp --agent codex",
        "/opt/venv/bin/python3.12 -m commonplace mcp",
        "uv run commonplace mcp",
        "uv run --directory /src/commonplace commonplace mcp",
        "uvx NAME mcp",  # the name that no file may install
        "uvx --from commonplace-memory[transformer] commonplace mcp",
        "uvx --from git+https://example.com/commonplace commonplace mcp",
        "pipx run --spec commonplace-memory commonplace mcp",
    ],
)
def test_a_server_that_is_started_in_another_way_is_taken_over(line: str, home: Path) -> None:
    """A person's command for our server, through another Python, uv or pipx, becomes that of this installation."""
    program, *args = line.replace("NAME", "commonplace").split()
    table = f'[mcp_servers.commonplace]\ncommand = "{program}"\nargs = {json.dumps(args)}\nstartup_timeout_sec = 9\n'
    config = put(home / ".codex" / "config.toml", table)
    assert status("codex")["connected"] == ["user"]
    fine("connect", "codex")
    assert 'args = ["mcp", "--agent", "codex"]\nstartup_timeout_sec = 9\n' in config.read_text()
    assert status("codex")["connections"][0]["command"][0].endswith("bin/commonplace")
    fine("disconnect", "codex")
    assert not config.exists() or "commonplace" not in config.read_text()


def test_a_server_for_another_book_is_left_beside_ours(home: Path) -> None:
    """A server under another name that serves another book, agent or role is the user's: connect adds one of ours."""
    table = '[mcp_servers.{}]\ncommand = "commonplace"\nargs = ["mcp", {}]\n'
    more = {"work": '"--root", "/work/book"', "bob": '"--agent", "bob"', "reader": '"--read-only"'}
    text = "".join(table.format(name, words) for name, words in more.items())
    config = put(home / ".codex" / "config.toml", text)
    assert status("codex")["connected"] == []
    fine("connect", "codex")
    assert config.read_text().startswith(text) and "[mcp_servers.commonplace]" in config.read_text()
    fine("disconnect", "codex")
    assert config.read_text() == text
    config.write_text(table.format("memory", ""))
    fine("connect", "codex", "--root", str(home / "other"))
    assert fine("connect", "codex")["action"] == "unchanged"
    assert "[mcp_servers.memory]" in config.read_text() and "[mcp_servers.commonplace]" in config.read_text()


def test_the_book_of_an_added_server_in_one_word_is_that_of_the_hooks(home: Path) -> None:
    """`--root=DIR` names the book as `--root DIR` does: the hooks that connect adds use it, too."""
    config = put(home / ".codex" / "config.toml", CODEX_ADDED.replace('"mcp"', '"mcp", "--root=/books/mine"'))
    fine("connect", "codex")
    assert (home / ".codex" / "hooks.json").read_text().count("--root /books/mine") == 6
    assert '"--root", "/books/mine"' in config.read_text()
    assert fine("connect", "codex")["action"] == "unchanged"


def test_a_server_that_gemini_was_told_more_about_stays(home: Path) -> None:
    """A timeout that the user gave Gemini's server stays; the extension brings no second one."""
    server = {**SERVER, "timeout": 5000}
    settings = put(home / ".gemini" / "settings.json", json.dumps({"mcpServers": {"commonplace": server}}, indent=2))
    fine("connect", "gemini")
    kept = json.loads(settings.read_text())["mcpServers"]["commonplace"]
    assert (kept["timeout"], kept["args"]) == (5000, ["mcp", "--agent", "gemini"])
    extension = home / ".gemini" / "extensions" / "commonplace" / "gemini-extension.json"
    assert "mcpServers" not in json.loads(extension.read_text())
    assert status("gemini")["works"]
    fine("disconnect", "gemini")
    assert json.loads(settings.read_text()) == {"mcpServers": {}}
    assert not extension.exists()


@pytest.mark.parametrize("first", ["copilot", "claude-code"])
def test_claude_code_leaves_the_server_of_copilot(first: str, home: Path) -> None:
    """Copilot CLI and Claude Code read the same file of a project: Claude Code uses the server that is there for
    Copilot, and disconnecting it leaves Copilot connected."""
    second = {"copilot": "claude-code", "claude-code": "copilot"}[first]
    project = home.parent / "here"
    fine("connect", first, "--project")
    fine("connect", second, "--project")
    fine("connect", "claude-code", "--project")
    plugin = project / ".claude" / "skills" / "commonplace"
    assert (plugin / "hooks" / "hooks.json").exists() and not (plugin / ".mcp.json").exists()
    assert status("claude-code")["works"] and status("copilot")["works"]
    fine("disconnect", "claude-code", "--project")
    assert status("copilot")["works"]
    fine("disconnect", "copilot", "--project")
    assert not (project / ".mcp.json").exists()


def test_the_other_file_of_opencode_is_not_forgotten(home: Path) -> None:
    """OpenCode reads two files: a connection that is in one moves to the other when that appears, and goes whole."""
    folder = home / ".config" / "opencode"
    fine("connect", "opencode")
    put(folder / "opencode.jsonc", "{}\n")
    fine("connect", "opencode")
    assert not (folder / "opencode.json").exists()
    assert "commonplace" in (folder / "opencode.jsonc").read_text()
    fine("disconnect", "opencode")
    assert [path.name for path in folder.rglob("*")] == ["opencode.jsonc"]


def test_a_server_of_another_program_is_not_taken(home: Path) -> None:
    """An entry with our name that starts something else is still refused, and stays."""
    text = '[mcp_servers.commonplace]\ncommand = "npx"\nargs = ["-y", "commonplace-notes", "mcp"]\n'
    config = put(home / ".codex" / "config.toml", text)
    refused = run("connect", "codex", "--json")
    assert (refused.status, refused.error()["code"]) == (88, "not_ours")
    assert config.read_text() == text


@pytest.mark.parametrize("connected", [False, True], ids=["before connect", "after connect"])
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_a_plugin_from_a_marketplace_is_enough(host: str, connected: bool, home: Path) -> None:
    """With the published plugin installed, connect adds nothing and takes out what it wrote; the plugin is named."""
    put(home / ".codex" / "config.toml", "")
    before = files(home)
    if connected and host != "gemini":  # whose extension and ours would be in the same folder
        fine("connect", host)
    if host == "claude-code":
        put(home / ".claude" / "settings.json", json.dumps(CLAUDE_PLUGIN, indent=2))
    elif host == "codex":
        config = home / ".codex" / "config.toml"
        config.write_text(config.read_text() + CODEX_PLUGIN)
    else:
        folder = home / ".gemini" / "extensions" / "commonplace"
        put(folder / ".gemini-extension-install.json", "{}")
        put(
            folder / "gemini-extension.json", json.dumps({"name": "commonplace", "mcpServers": {"commonplace": SERVER}})
        )
    if connected and host != "gemini":
        assert "twice" in status(host)["problems"][0]
        assert status(host)["connections"][0]["repair"] == f"commonplace connect {host}"
    done = fine("connect", host)
    assert "installed by itself" in done["notes"][0]
    name = "commonplace" if host == "gemini" else "commonplace@commonplace"
    [connection] = status(host)["connections"]
    assert (connection["source"], connection["repair"]) == (f"plugin {name}", "")
    left = {path: text for path, text in files(home).items() if not path.endswith("connections.json")}
    assert set(left) - set(before) <= {
        str(home / ".claude" / "settings.json"),
        *(str(path) for path in (home / ".gemini" / "extensions" / "commonplace").glob("*")),
        *(str(path) for path in (home / ".gemini" / "extensions" / "commonplace").glob(".*")),
    }
    assert "uninstall" in fine("disconnect", host)["notes"][0] or host == "codex"
    assert {path: text for path, text in files(home).items() if not path.endswith("connections.json")} == left
