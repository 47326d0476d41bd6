"""Make what is published for hosts: plugins, an extension, marketplace files, the skill, server.json.

From the same data as `commonplace connect`, but with `commonplace` by its name: whoever installs a plugin has it on
PATH. `python -m tools.make_docs` writes them; tests/hosts compares what is committed with what is made.
"""

from __future__ import annotations

from pathlib import Path

from commonplace.hosts import claude_code, codex, gemini
from commonplace.hosts.config_edit.commands import Commands
from commonplace.hosts.config_edit.json_edit import render
from commonplace.hosts.config_edit.parts import (
    ABOUT,
    NAME,
    SECONDS,
    USER,
    OwnedFile,
    Part,
    Target,
    format_version,
    render_opencode_plugin,
    render_skill,
)
from commonplace.model import DISTRIBUTION, VERSION

ROOT = Path(__file__).parents[1]
SERVER_NAME = "io.github.commonplace/commonplace"
OWNER = {"name": "The Commonplace authors"}
# In a published plugin the hook and the server are found on PATH.
TARGET = Target(USER, "", "", {}, Commands((NAME,), (f"{NAME}-hook",)))


def published() -> dict[str, str]:
    """Every file by its path in this repository."""
    found = {
        **_texts(claude_code.build_plugin(TARGET, "", "plugins/claude-code")),
        **_texts(gemini.build_extension(TARGET, "", "extensions/gemini")),
        **_codex("plugins/codex"),
        "plugins/opencode/commonplace.js": render_opencode_plugin(TARGET.commands),
        ".claude-plugin/marketplace.json": _json(
            {
                "name": NAME,
                "owner": OWNER,
                "metadata": {"description": ABOUT, "version": format_version()},
                "plugins": [{"name": NAME, "source": "./plugins/claude-code", "description": ABOUT}],
            }
        ),
        ".agents/plugins/marketplace.json": _json(
            {
                "name": NAME,
                "interface": {"displayName": "Commonplace"},
                "plugins": [
                    {
                        "name": NAME,
                        "source": {"source": "local", "path": "./plugins/codex"},
                        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                        "category": "Productivity",
                    }
                ],
            }
        ),
        "server.json": _json(_server()),
    }
    return dict(sorted(found.items()))


def _codex(folder: str) -> dict[str, str]:
    about = {
        "name": NAME,
        "version": format_version(),
        "description": ABOUT,
        "author": OWNER,
        "license": "Apache-2.0",
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/hooks.json",
        "interface": {"displayName": "Commonplace", "shortDescription": ABOUT, "category": "Productivity"},
    }
    servers = {"mcpServers": {NAME: codex.HOST.make_server(TARGET, startup_timeout_sec=2 * SECONDS)}}
    return {
        f"{folder}/.codex-plugin/plugin.json": _json(about),
        f"{folder}/.mcp.json": _json(servers),
        f"{folder}/hooks/hooks.json": _json({"hooks": codex.HOST.make_claude_hooks(TARGET)}),
        f"{folder}/skills/{NAME}/SKILL.md": render_skill(),
    }


def _server() -> dict[str, object]:
    """The entry of the MCP registry."""
    arguments = [{"type": "positional", "value": "mcp"}]
    package = {
        "registryType": "pypi",
        "identifier": DISTRIBUTION,
        "version": VERSION,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": arguments,
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": SERVER_NAME,
        "title": "Commonplace",
        "description": ABOUT,
        "version": VERSION,
        "packages": [package],
    }


def _texts(parts: list[Part]) -> dict[str, str]:
    return {part.file: part.text for part in parts if isinstance(part, OwnedFile)}


def _json(value: object) -> str:
    return render(value) + "\n"


def write() -> None:
    for name, text in published().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.splitlines())} lines")
