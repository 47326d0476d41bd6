"""Links of dotfile managers are followed inside the home, or the project; the links stay what they are."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from commonplace.hosts import agents_md, codex, cursor
from commonplace.hosts.config_edit.parts import Host, OwnedFile, Target
from commonplace.model.errors import HostFileUnusable
from tests.hosts.places import HOSTS, NAMES, connect, disconnect, site, tree
from tests.hosts.test_hosts import OWN

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
every_host = pytest.mark.parametrize(("host", "scope"), HOSTS, ids=NAMES)


def link(place: Path, to: Path) -> None:
    """Move a file or folder to where a dotfile manager keeps it, and leave a link."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(place, to)
    place.symlink_to(to)


def links_of(root: Path) -> dict[str, str]:
    return {name: str(content) for name, (_, content) in tree(root).items() if (root / name).is_symlink()}


def shared_files(host: Host, where: Target) -> list[Path]:
    return [Path(part.base, part.file) for part in host.build_parts(where) if not isinstance(part, OwnedFile)]


@every_host
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_links_inside_are_followed_and_stay(host: Host, scope: str, kind: str, tmp_path: Path) -> None:
    """Each shared file, or the host's folder, is a link to dotfiles: connected through it, and back to the byte."""
    where = site(tmp_path, scope)
    base = Path(where.base)
    tops = set()
    for path in dict.fromkeys(shared_files(host, where)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(OWN[path.suffix].encode())
        tops.add(base / path.relative_to(base).parts[0])
        if kind == "file":
            link(path, base / "dotfiles" / path.relative_to(base))
    if kind == "folder":
        tops |= {base / part.file.split("/")[0] for part in host.build_parts(where) if "/" in part.file}
        for top in sorted(tops):
            if "." in top.name[1:]:
                continue  # a file
            top.mkdir(exist_ok=True)
            link(top, base / "dotfiles" / top.name.lstrip("."))
    before, links = tree(tmp_path), links_of(tmp_path)
    assert connect(host, where)
    assert links_of(tmp_path) == links
    assert connect(host, where) == []
    disconnect(host, where)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("kind", ["file", "folder", "loop", "to nowhere"])
@pytest.mark.parametrize("scope", ["user", "project"])
def test_links_that_leave_are_refused(kind: str, scope: str, tmp_path: Path) -> None:
    """A link out of the home, or of the project, is refused with its path, and nothing is written anywhere."""
    where = site(tmp_path, scope)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mcp.json").write_text("{}")
    place = Path(where.base, ".cursor")
    if kind == "folder":
        place.symlink_to(outside)
    elif kind == "to nowhere":
        place.symlink_to(Path(where.base, "not-there"))
    else:
        place.mkdir()
        to = place / "mcp.json" if kind == "loop" else outside / "mcp.json"
        (place / "mcp.json").symlink_to(to)
    before = tree(tmp_path)
    for work in (connect, disconnect):
        with pytest.raises(HostFileUnusable, match=r"\.cursor") as refused:
            work(cursor.HOST, where)
        assert refused.value.code == "host_file_unusable"
        assert tree(tmp_path) == before


def test_a_project_file_is_not_followed_into_the_home(tmp_path: Path) -> None:
    """The project lies in the home: a link from its AGENTS.md to a file of the user outside of it is refused."""
    where = site(tmp_path, "project")._replace(home=str(tmp_path))
    (tmp_path / "home" / "mine.md").write_text("mine\n")
    (tmp_path / "project" / "AGENTS.md").symlink_to(tmp_path / "home" / "mine.md")
    with pytest.raises(HostFileUnusable, match=r"AGENTS\.md is a link to a place outside"):
        connect(agents_md.HOST, where)
    assert (tmp_path / "home" / "mine.md").read_text() == "mine\n"


def test_a_block_goes_through_a_link_of_the_same_project(tmp_path: Path) -> None:
    """AGENTS.md is a link to CLAUDE.md beside it: the block is in that one file, once, and goes again."""
    where = site(tmp_path, "project")
    real = tmp_path / "project" / "CLAUDE.md"
    real.write_text("# Rules\n")
    (tmp_path / "project" / "AGENTS.md").symlink_to("CLAUDE.md")
    connect(agents_md.HOST, where)
    assert real.read_text().count("<!-- commonplace:begin -->") == 1
    disconnect(agents_md.HOST, where)
    assert real.read_text() == "# Rules\n"
    assert (tmp_path / "project" / "AGENTS.md").is_symlink()


def test_a_folder_of_the_environment_may_be_elsewhere(tmp_path: Path) -> None:
    """CODEX_HOME is outside the home: links inside it are followed."""
    folder = tmp_path / "data" / "codex"
    folder.mkdir(parents=True)
    where = site(tmp_path, "user", environment={"CODEX_HOME": str(folder)})
    (tmp_path / "data" / "real.toml").write_text('model = "x"\n')
    (folder / "config.toml").symlink_to(tmp_path / "data" / "real.toml")
    before = tree(tmp_path)
    assert connect(codex.HOST, where)
    assert "[mcp_servers.commonplace]" in (tmp_path / "data" / "real.toml").read_text()
    disconnect(codex.HOST, where)
    assert tree(tmp_path) == before


def test_a_link_that_the_environment_names_is_followed(tmp_path: Path) -> None:
    """CODEX_HOME is a link to a folder outside the home: the user named it, so it is followed."""
    real = tmp_path / "disk" / "codex"
    real.mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "codex").symlink_to(real)
    where = site(tmp_path, "user", environment={"CODEX_HOME": str(tmp_path / "data" / "codex")})
    before = tree(tmp_path)
    assert connect(codex.HOST, where)
    assert (real / "config.toml").exists()
    disconnect(codex.HOST, where)
    assert tree(tmp_path) == before
