"""Files of other programs are replaced with care, or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from commonplace.hosts import agents_md, codex, cursor
from commonplace.hosts.config_edit import files
from commonplace.hosts.config_edit.connect import apply, find_connected, plan_connect
from commonplace.model.errors import HostFileChanged, HostFileUnusable, NotOurs
from tests.hosts.places import connect, disconnect, site, tree

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")


@posix
@pytest.mark.parametrize("link", ["file", "folder", "dangling"])
def test_links_are_refused(link: str, tmp_path: Path) -> None:
    """A file, or a folder on the way to it, that is a link is not followed, and nothing is changed anywhere."""
    where = site(tmp_path, "project")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mcp.json").write_text("{}")
    if link == "folder":
        (tmp_path / "project" / ".cursor").symlink_to(elsewhere)
    else:
        (tmp_path / "project" / ".cursor").mkdir()
        target = elsewhere / ("mcp.json" if link == "file" else "not-there")
        (tmp_path / "project" / ".cursor" / "mcp.json").symlink_to(target)
    before = tree(tmp_path)
    for work in (connect, disconnect):
        with pytest.raises(HostFileUnusable):
            work(cursor.HOST, where)
    assert tree(tmp_path) == before


@posix
def test_a_second_name_is_refused(tmp_path: Path) -> None:
    """A file with a hard link would be parted from it; it is left alone."""
    where = site(tmp_path, "project")
    mine = tmp_path / "mine.md"
    mine.write_text("mine\n")
    os.link(mine, tmp_path / "project" / "AGENTS.md")
    with pytest.raises(HostFileUnusable):
        connect(agents_md.HOST, where)
    assert mine.read_text() == "mine\n"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660])
def test_a_file_keeps_its_mode_and_new_ones_are_private(mode: int, tmp_path: Path) -> None:
    """What was there keeps its mode; what we make is for the user only, folders too; nothing is left beside it."""
    where = site(tmp_path, "project")
    rules = tmp_path / "project" / "AGENTS.md"
    rules.write_text("mine\n")
    rules.chmod(mode)
    connect(agents_md.HOST, where)
    assert rules.stat().st_mode & 0o777 == mode
    assert os.listdir(tmp_path / "project") == ["AGENTS.md"]
    connect(cursor.HOST, where)
    made = tmp_path / "project" / ".cursor"
    assert made.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in made.rglob("*") if path.is_file()} == {0o600}
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("before", ["{}", None], ids=["changed", "made"])
def test_a_file_that_changed_meanwhile_is_left_alone(before: str | None, tmp_path: Path) -> None:
    """Between reading and writing somebody else wrote: theirs stays, and what was written before is put back."""
    where = site(tmp_path, "user")
    folder = tmp_path / "home" / ".codex"
    folder.mkdir()
    if before is not None:
        (folder / "hooks.json").write_text(before)
    changes = plan_connect(codex.HOST, where)
    (folder / "hooks.json").write_text('{"theirs": 1}')
    now = tree(tmp_path)
    with pytest.raises(HostFileChanged):
        apply(changes)
    assert tree(tmp_path) == now


@pytest.mark.parametrize(
    "data",
    [
        b'{"mcpServers": ',
        b"\xff\xfe{\x00}\x00",
        b"[]",
        b'{"mcpServers": []}',
        b'{"mcpServers": null}',
        b"{} {}",
        b"{'a': 1}",
    ],
)
def test_what_cannot_be_understood_is_left_alone(data: bytes, tmp_path: Path) -> None:
    """Half a file, another encoding, another shape: refused, with the file's name, and no other file is written."""
    where = site(tmp_path, "user")
    path = tmp_path / "home" / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(data)
    before = tree(tmp_path)
    with pytest.raises(HostFileUnusable, match=r"mcp\.json"):
        connect(cursor.HOST, where)
    assert tree(tmp_path) == before


def test_a_refusal_comes_before_the_first_write(tmp_path: Path) -> None:
    """The last of a host's files is the user's own: none of the others was written."""
    where = site(tmp_path, "user")
    path = tmp_path / "home" / ".codex" / "skills" / "commonplace" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("my own skill\n")
    before = tree(tmp_path)
    with pytest.raises(NotOurs, match=r"SKILL\.md"):
        connect(codex.HOST, where)
    assert tree(tmp_path) == before


def test_a_folder_with_something_else_in_it_stays(tmp_path: Path) -> None:
    """Disconnecting removes the folders that are empty then, and no others."""
    where = site(tmp_path, "project")
    connect(cursor.HOST, where)
    (tmp_path / "project" / ".cursor" / "mine.txt").write_text("x")
    disconnect(cursor.HOST, where)
    assert sorted(tree(tmp_path / "project")) == [".cursor", ".cursor/mine.txt"]


def test_an_old_command_is_renewed_in_place_of_a_second_one(tmp_path: Path) -> None:
    """Connected by an older installation elsewhere: connecting again leaves one server and one hook per event."""
    where = site(tmp_path, "user")
    connect(
        codex.HOST,
        where._replace(
            commands=where.commands._replace(program=("/old/commonplace",), hook=("/old/commonplace-hook",))
        ),
    )
    assert connect(codex.HOST, where)
    text = (tmp_path / "home" / ".codex" / "hooks.json").read_text()
    assert "/old/" not in text + (tmp_path / "home" / ".codex" / "config.toml").read_text()
    assert text.count("session-start") == 1
    disconnect(codex.HOST, where)
    assert tree(tmp_path / "home") == {}


def test_the_reader_and_the_writer_agree_on_the_place(tmp_path: Path) -> None:
    """A file is found where it was written, also in a folder that the environment names."""
    where = site(tmp_path, "user", environment={"CODEX_HOME": str(tmp_path / "other" / "codex")})
    (tmp_path / "other").mkdir()
    connect(codex.HOST, where)
    assert (tmp_path / "other" / "codex" / "config.toml").exists()
    assert not (tmp_path / "home" / ".codex").exists()
    assert files.read(str(tmp_path / "other"), "codex/config.toml").text
    disconnect(codex.HOST, where)
    assert tree(tmp_path / "other") == {}
    assert find_connected(codex.HOST, where) == []
