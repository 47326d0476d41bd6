"""Whether a folder is told what was stored in another: asked in every way that tells, which must all agree."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from tests.cli.calls import run
from tests.hooks.hooking import tell

ONE, TWO = "https://git.example/clientone/app.git", "https://git.example/clienttwo/app.git"
ID = "git.example/clientone/app"
FACT = "The vault of client one opens at noon."


def store(folder: Path, text: str = FACT) -> None:
    os.chdir(folder)
    assert run("store", text, "--key", "secret-plan" if text is FACT else "own").status == 0


def is_told(root: Path, folder: Path) -> bool:
    """Whether a folder is told the fact; by every way or by none. Global memories are always told."""
    os.chdir(folder)
    hook = tell(root, "session-start", "claude-code", {"session_id": "s", "cwd": str(folder), "source": "startup"})
    brief, listed = run("brief").out, run("list").out
    again = tell(root, "session-start", "claude-code", {"session_id": "t", "cwd": str(folder), "source": "startup"})
    assert all("tea" in text for text in (hook, brief, listed, again))
    told = {FACT in hook, FACT in brief, FACT in listed, FACT in again}
    assert len(told) == 1, (hook, brief, listed)
    return told.pop()


def unpack(source: Path, folder: Path) -> Path:
    """A folder that came as an archive: other inodes, other times of its own making."""
    packed = folder.with_suffix(".tar")
    with tarfile.open(packed, "w") as archive:
        archive.add(source, "x")
    with tarfile.open(packed) as archive:
        if hasattr(tarfile, "tar_filter"):  # from Python 3.11.4 on
            archive.extraction_filter = tarfile.tar_filter
        archive.extractall(folder.parent / "unpacked")
    (folder.parent / "unpacked" / "x").rename(folder)
    return folder


def is_hinted(root: Path, folder: Path, ident: str) -> bool:
    """Whether a folder is told that memories are kept for a project, and how to get them, and none of them."""
    assert not is_told(root, folder)
    command = f"commonplace project adopt {ident}"
    told = {command in text for text in (run("list").err, run("brief").out, run("project").out)}
    assert len(told) == 1, (run("list").err, run("brief").out, run("project").out)
    return told.pop()


def fine_quietly(*words: str) -> None:
    """A command that must work, here or in the folder it was last asked in."""
    assert run(*words).status == 0
