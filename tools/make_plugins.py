"""Make what is published for hosts: plugins, an extension, marketplace files, the skill, server.json.

From the same data as `commonplace connect`, but with `commonplace` by its name: whoever installs a plugin has it on
PATH. `python -m tools.make_docs` writes them; tests/hosts compares what is committed with what is made.
"""

from __future__ import annotations

from pathlib import Path

from commonplace.hosts import claude_code, codex, gemini
from commonplace.hosts.wiring.json_edit import render
from commonplace.hosts.wiring.shapes import SECONDS, claude_hooks, semantic_version, server
from commonplace.hosts.wiring.shim import shim
from commonplace.hosts.wiring.texts import skill
from commonplace.hosts.wiring.values import NAME, PROJECT, Commands, Part, Site, Whole
from commonplace.model.version import DISTRIBUTION, VERSION

ROOT = Path(__file__).parents[1]
SERVER_NAME = "io.github.commonplace/commonplace"
OWNER = {"name": "The Commonplace authors"}
ABOUT = "Durable memory shared by every agent you run: Markdown files on your own disk."
# In a published plugin the hook and the server are found on PATH.
SITE = Site(PROJECT, "", "", {}, Commands((NAME,), (f"{NAME}-hook",)))


def published() -> dict[str, str]:
    """Every file by its path in this repository."""
    found = {
        **_texts(claude_code.plugin(SITE, "", "plugins/claude-code")),
        **_texts(gemini.extension(SITE, "", "extensions/gemini")),
        **_codex("plugins/codex"),
        "plugins/opencode/commonplace.js": shim(SITE.commands.hook),
        ".claude-plugin/marketplace.json": _json(
            {
                "name": NAME,
                "owner": OWNER,
                "metadata": {"description": ABOUT, "version": semantic_version()},
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
        "version": semantic_version(),
        "description": ABOUT,
        "author": OWNER,
        "license": "Apache-2.0",
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/hooks.json",
        "interface": {"displayName": "Commonplace", "shortDescription": ABOUT, "category": "Productivity"},
    }
    words = SITE.commands.mcp(codex.HOST.name)
    servers = {"mcpServers": {NAME: server(words, startup_timeout_sec=2 * SECONDS)}}
    return {
        f"{folder}/.codex-plugin/plugin.json": _json(about),
        f"{folder}/.mcp.json": _json(servers),
        f"{folder}/hooks/hooks.json": _json({"hooks": claude_hooks(codex.HOST, SITE, words=False)}),
        f"{folder}/skills/{NAME}/SKILL.md": skill(),
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
    return {part.file: part.text for part in parts if isinstance(part, Whole)}


def _json(value: object) -> str:
    return render(value) + "\n"


def write() -> None:
    for name, text in published().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.splitlines())} lines")
