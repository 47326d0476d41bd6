"""Real repositories, made by git itself, for the tests of who a folder belongs to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")
_SETTINGS = {
    "protocol.file.allow": "always",  # submodules from a path
    "user.name": "Test",
    "user.email": "test@example.invalid",
    "init.defaultBranch": "main",
}


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, knowing nothing of the machine's own settings."""
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        [GIT or "git", *settings, *words],
        cwd=folder,
        env={**clean, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"},
        check=True,
        capture_output=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape")


def repository(folder: Path, remote: str | None = None) -> Path:
    """A repository with one commit, and a remote called origin if one is given."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", f"--message=first of {folder}")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder.resolve()


def mark(folder: Path, ident: object = "shop", nonce: object = "0123456789abcdef") -> None:
    (folder / ".commonplace").mkdir(exist_ok=True)
    (folder / ".commonplace" / "project.json").write_text(json.dumps({"id": ident, "nonce": nonce}), "utf-8")


class Remembered(dict[str, str]):
    """The memory of where each marker lives."""

    def known_path(self, nonce: str) -> str | None:
        return self.get(nonce)

    def remember_path(self, nonce: str, path: str) -> None:
        self[nonce] = path
