"""The situations of docs/projects.md: the rows of its table, the tests of that name, and what each test works with."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import run
from tests.cli.telling import ID, ONE, is_hinted, is_told, store
from tests.project.repositories import git, repository

PAGE = Path(__file__).parents[2] / "docs" / "projects.md"


class Place:
    """A book, and the folders around it."""

    def __init__(self, root: Path, top: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self.top, self.patch = root, top, patch

    def told(self, folder: Path) -> bool:
        return is_told(self.root, folder)

    def hinted(self, folder: Path, ident: str = ID) -> bool:
        return is_hinted(self.root, folder, ident)

    def apart(self, folder: Path) -> bool:
        """Whether a folder is told neither the fact nor of a project that it may be."""
        return not self.told(folder) and "project adopt" not in run("list").err + run("brief").out

    def first(self, remote: str | None = ONE, name: str = "first") -> Path:
        """A repository that has stored the fact."""
        made = repository(self.top / name, remote)
        store(made)
        return made

    def clone(self, source: Path, name: str, remote: str | None = ONE, *options: str) -> Path:
        git(self.top, "clone", "--quiet", *options, f"file://{source}", name)
        made = (self.top / name).resolve()
        if remote is None:
            git(made, "remote", "remove", "origin")
        else:
            git(made, "remote", "set-url", "origin", remote)
        return made

    def move(self, folder: Path, name: str) -> Path:
        os.chdir(self.top)
        return folder.rename(self.top / name)

    def remove(self, folder: Path) -> None:
        os.chdir(self.top)
        shutil.rmtree(folder)


Situation = Callable[[Place], None]
SITUATIONS: dict[str, Situation] = {}


def situation(name: str) -> Callable[[Situation], Situation]:
    def add(test: Situation) -> Situation:
        SITUATIONS[name] = test
        return test

    return add


def rows() -> list[str]:
    """The names of the rows of the page's table."""
    _, _, table = PAGE.read_text("utf-8").partition("## Situations")
    names = re.findall(r"^\| ([^|]+?) \|", table.partition("\n## ")[0], re.M)
    return [name for name in names if name != "situation"]
