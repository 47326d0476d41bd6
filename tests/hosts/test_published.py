"""What is published for hosts is what the hosts' data makes, and says what the doctrine says."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from commonplace.hosts.config_edit.connect import list_hosts, load_hosts
from commonplace.hosts.config_edit.parts import render_rules, render_skill
from commonplace.memories.layout import template_text
from tools.make_plugins import ROOT, published


@pytest.mark.parametrize("name", list(published()))
def test_the_committed_file_is_what_the_data_makes(name: str) -> None:
    """Each published file is, to the byte, what `make docs-write` would write."""
    assert (ROOT / name).read_text("utf-8") == published()[name], f"{name} is old: run `make docs-write`"


def test_nothing_else_is_published() -> None:
    """No file is left over in the folders of plugins and extensions."""
    folders = ("plugins", "extensions", ".claude-plugin", ".agents")
    there = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    assert {path.relative_to(ROOT).as_posix() for path in there} | {"server.json"} == set(published())


def test_the_skill_is_one_that_agents_can_load() -> None:
    """Name, description and body are within what agentskills allows, and the folder has the skill's name."""
    _, front, body = render_skill().split("---\n", 2)
    about = yaml.safe_load(front)
    assert list(about) == ["name", "description", "license"]
    assert about["name"] == "commonplace"
    assert 20 < len(about["description"]) <= 1024
    assert len(body.splitlines()) < 500
    assert all(name.endswith("/commonplace/SKILL.md") for name in published() if name.endswith(".md"))


def test_skill_and_rules_say_what_the_doctrine_says() -> None:
    """Every section of the full doctrine is in the skill, and every paragraph of the short one in the rules."""
    sections = template_text("definition-full.md").split("\n## ")[1:]
    assert len(sections) == 5
    assert all(section in render_skill() for section in sections)
    paragraphs = template_text("definition-minimal.md").strip().split("\n\n")[2:]
    assert len(paragraphs) == 5
    assert all(paragraph in render_rules() for paragraph in paragraphs)


def test_published_plugins_name_no_place_of_this_machine() -> None:
    """They start our programs by their names, found on the PATH of whoever installs them."""
    for name, text in published().items():
        assert not re.search(r"/(home|usr|opt|tmp|work)/|[A-Z]:\\\\", text), name
    hooks = json.loads(published()["plugins/claude-code/hooks/hooks.json"])
    started = [item for groups in hooks["hooks"].values() for group in groups for item in group["hooks"]]
    assert {item["command"] for item in started} == {"commonplace-hook"}


def test_the_registry_entry_is_complete() -> None:
    """server.json has what the MCP registry requires, within its limits."""
    entry = json.loads(published()["server.json"])
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 0 < len(entry["description"]) <= 100
    assert entry["version"] == entry["packages"][0]["version"]
    assert entry["packages"][0]["transport"] == {"type": "stdio"}


def test_every_file_of_the_room_is_a_host() -> None:
    """A host is found by its file's name alone, and is called as its file is."""
    assert [host.name for host in load_hosts()] == list_hosts()
    assert {"claude-code", "codex", "kiro", "gemini", "opencode", "cursor", "copilot", "vscode"} <= set(list_hosts())
