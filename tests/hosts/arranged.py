"""The real programs with homes as users have them: dotfiles, `mcp add`, a marketplace, a moved install, two levels.

The same cases without the programs: test_dotfiles.py, and test_connect_*.py in tests/cli.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from commonplace.hosts.config_edit.commands import Commands
from commonplace.hosts.config_edit.connect import apply, plan_connect, plan_disconnect
from commonplace.hosts.config_edit.parts import Host
from tests.hosts import claude, codex
from tests.hosts.codex import seen
from tests.hosts.places import tree
from tests.hosts.scripted_model import scripted
from tests.hosts.told import WISH, count, fill_book, is_turn
from tests.hosts.world import ROOT, Ran, Step, World, program

NEEDS = ("claude", "codex", "node")
_SERVER = ("commonplace", "--", "commonplace", "mcp")
_MINE = 'model = "x" # mine\n'


def our_files(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """What is in the folders and files that connect may write to, without what the program itself keeps there."""
    own = (".tmp", "plugins", "cache", "backups", ".claude.json")
    return {name: what for name, what in tree(folder).items() if not {*name.split("/")} & {*own}}


# Codex


def start_codex(world: World) -> Path:
    (world.home / ".codex").mkdir()
    config = world.home / ".codex" / "config.toml"
    config.write_text(_MINE)
    return config


def check_codex(world: World, *, names: int = 1) -> None:
    """Codex lists six hooks of ours, and one server that answers."""
    hooks, servers, _ = seen(world)
    assert len(hooks) == 6, hooks
    assert [server["name"] for server in servers] == ["commonplace"] * names, servers
    assert servers[0]["toolsError"] is None and servers[0]["tools"], servers


def codex_dotfiles(world: World) -> str:
    config = start_codex(world)
    dotfiles = world.home / "dotfiles" / "codex"
    dotfiles.parent.mkdir()
    shutil.move(config.parent, dotfiles)
    config.parent.symlink_to(dotfiles)
    before = our_files(world.home)
    world.connect(codex.HOST)
    check_codex(world)
    world.disconnect(codex.HOST)
    assert our_files(world.home)["dotfiles/codex/config.toml"] == before["dotfiles/codex/config.toml"]
    assert config.parent.is_symlink() and set(before) <= set(our_files(world.home))
    return (
        "~/.codex is a link into dotfiles: six hooks and a server that answers; the link stays, config.toml to the byte"
    )


def codex_added(world: World) -> str:
    config = start_codex(world)
    done = world.run(program("codex"), "mcp", "add", *_SERVER)
    assert done.status == 0, done.text
    added = config.read_text()
    world.connect(codex.HOST)
    assert config.read_text() != added
    check_codex(world)
    world.disconnect(codex.HOST)
    assert config.read_text() == _MINE, config.read_text()
    return "the server of `codex mcp add` is taken over: one that answers; after disconnect the file from before it"


def codex_marketplace(world: World) -> str:
    start_codex(world)
    for words in (("marketplace", "add", str(ROOT)), ("add", "commonplace@commonplace")):
        done = world.run(program("codex"), "plugin", *words)
        assert done.status == 0, done.text
    before = tree(world.home)
    world.connect(codex.HOST)
    assert tree(world.home) == before
    check_codex(world)
    world.disconnect(codex.HOST)
    assert tree(world.home / ".codex" / "plugins") == {
        name.removeprefix(".codex/plugins/"): what
        for name, what in before.items()
        if name.startswith(".codex/plugins/")
    }
    return "with the plugin of the marketplace connect writes nothing: six hooks and one server; disconnect leaves it"


def codex_moved(world: World) -> str:
    config = start_codex(world)
    old = world.site()._replace(commands=Commands(("/gone/bin/commonplace",), ("/gone/bin/commonplace-hook",)))
    apply(plan_connect(codex.HOST, old))
    text = config.read_text()
    config.write_text(text.replace("startup_timeout_sec = 20", "startup_timeout_sec = 99 # slow"))
    _, servers, _ = seen(world)
    assert not servers[0].get("tools"), servers
    world.connect(codex.HOST)
    check_codex(world)
    assert "startup_timeout_sec = 99 # slow" in config.read_text()
    world.disconnect(codex.HOST)
    assert config.read_text() == _MINE
    return "connecting again repairs a moved install and keeps the user's startup_timeout_sec; disconnect to the byte"


def codex_levels(world: World) -> str:
    config = start_codex(world)
    config.write_text(f'[projects."{world.project}"]\ntrust_level = "trusted"\n')
    (world.project / ".git").mkdir()
    return check_levels(world, codex.HOST, lambda model: codex.ask_prompt(world, model, 0, "hello there"))


# Claude Code


def claude_added(world: World) -> str:
    for scope in ("user", "local"):
        done = world.run(program("claude"), "mcp", "add", "--scope", scope, *_SERVER)
        assert done.status == 0, done.text
    world.connect(claude.HOST)
    listed = world.run(program("claude"), "mcp", "list").text
    lines = [line for line in listed.splitlines() if "commonplace" in line and ":" in line]
    assert len(lines) == 1 and "Connected" in lines[0], listed
    world.disconnect(claude.HOST)
    assert "commonplace" not in world.run(program("claude"), "mcp", "list").text
    return "the servers of `claude mcp add`, for the user and the folder, make place: one is listed, and connects"


def claude_marketplace(world: World) -> str:
    for words in (("marketplace", "add", str(ROOT)), ("install", "commonplace@commonplace")):
        done = world.run(program("claude"), "plugin", *words)
        assert done.status == 0, done.text
    before = our_files(world.home)
    world.connect(claude.HOST)
    assert our_files(world.home) == before
    listed = world.run(program("claude"), "mcp", "list").text
    assert len([line for line in listed.splitlines() if "commonplace" in line and "Connected" in line]) == 1, listed
    settings = (world.home / ".claude" / "settings.json").read_bytes()
    world.disconnect(claude.HOST)
    assert (world.home / ".claude" / "settings.json").read_bytes() == settings
    return "with the plugin of the marketplace connect writes nothing, and one server connects; disconnect leaves it"


def claude_dotfiles(world: World) -> str:
    dotfiles = world.home / "dotfiles" / "claude"
    dotfiles.mkdir(parents=True)
    (dotfiles / "settings.json").write_text('{ "cleanupPeriodDays":30 }')
    (world.home / ".claude").symlink_to(dotfiles)
    before = our_files(world.home)
    world.connect(claude.HOST)
    assert "Connected" in world.run(program("claude"), "mcp", "list").text
    world.disconnect(claude.HOST)
    after = our_files(world.home)
    assert {name: after[name] for name in before} == before
    assert not (dotfiles / "skills").exists()
    return (
        "~/.claude is a link into dotfiles: the server connects; the link stays, and nothing of ours after disconnect"
    )


def claude_levels(world: World) -> str:
    (world.project / ".git").mkdir()
    return check_levels(world, claude.HOST, lambda model: claude.ask(world, model, 0, "hello there"))


def check_levels(world: World, host: Host, ask: Callable[..., Ran]) -> str:
    """Connected for the user and the project, each request of the agent has the user's wish once."""
    fill_book(world)
    project = world.site(scope="project")
    before = tree(world.project)
    world.connect(host)
    apply(plan_connect(host, project))
    with scripted(()) as model:
        done = ask(model)
    assert done.status == 0, done.text
    turns = [count(request, WISH) for request in model.asked if is_turn(request)]
    assert turns and set(turns) == {1}, turns
    events = world.hooks()
    apply(plan_disconnect(host, project))
    assert tree(world.project) == before
    with scripted(()) as model:
        done = ask(model)
    assert {count(request, WISH) for request in model.asked if is_turn(request)} == {1}
    return f"user and project: the wish once in each request, {events.count('session-start')} hooks at the start"


STEPS: tuple[Step, ...] = (
    ("codex: dotfiles", codex_dotfiles),
    ("codex: mcp add", codex_added),
    ("codex: marketplace", codex_marketplace),
    ("codex: moved and edited", codex_moved),
    ("codex: two levels", codex_levels),
    ("claude: mcp add", claude_added),
    ("claude: marketplace", claude_marketplace),
    ("claude: dotfiles", claude_dotfiles),
    ("claude: two levels", claude_levels),
)
