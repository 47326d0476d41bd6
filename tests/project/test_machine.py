"""Repositories that are made, renamed, moved, copied, forged and deleted in any order, and whose memories they see.

Two things hold after every step. No folder is shown a fact that a repository with another root commit stored, unless a
person adopted it. And what a repository stored is shown in it, or a line names the project that has it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace import Book
from tests.depth import depths
from tests.hooks.hooking import tell
from tests.project.repositories import git, needs_git

pytestmark = needs_git
REMOTES = [f"https://git.example/{name}/app.git" for name in ("one", "One", "two")]
PLACES = ["a", "b", "c"]
numbers = st.integers(0, len(PLACES) - 1)
remotes = st.sampled_from(REMOTES)


class Repositories(RuleBasedStateMachine):
    """Some folders, the book, and a model of who stored what."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="commonplace-")).resolve()
        self.book = self.top / "book"
        self.number = 0
        self.owner: dict[str, int] = {}  # the repository at each place that has one
        self.roots: dict[int, int | None] = {}  # the root commit of every repository there ever was
        self.facts: dict[str, int] = {}  # the repository that stored each
        self.has_adopted = False  # from then on, a person has said what belongs together

    def teardown(self) -> None:
        shutil.rmtree(self.top, ignore_errors=True)

    def new(self) -> int:
        self.number += 1
        return self.number

    def open(self, place: str) -> Book:
        return Book.open(self.book, cwd=self.top / place)

    def pick(self, number: int) -> str:
        """One of the places that have a repository."""
        there = sorted(self.owner)
        return there[number % len(there)]

    def free(self, number: int) -> str:
        """One of the places that have none."""
        free = [place for place in PLACES if place not in self.owner]
        return free[number % len(free)]

    @initialize(remote=st.none() | remotes, other=st.none() | remotes, has_fact=st.booleans())
    def begin(self, remote: str | None, other: str | None, has_fact: bool) -> None:
        """Something to begin with: a repository with a fact, and a clone of it, which may have one, too."""
        self.init(0, has_commit=True, remote=remote)
        self.store(0)
        self.copy(0, 0, by_clone=True, remote=other)
        if has_fact:
            self.store(1)

    # What people do with repositories

    @precondition(lambda self: len(self.owner) < len(PLACES))
    @rule(to=numbers, has_commit=st.booleans(), remote=st.none() | remotes)
    def init(self, to: int, has_commit: bool, remote: str | None) -> None:
        """A new repository; with a remote that others have, it is a forged one or an empty start."""
        place = self.free(to)
        (self.top / place).mkdir()
        git(self.top / place, "init", "--quiet")
        self.owner[place] = self.new()
        self.roots[self.owner[place]] = None
        if has_commit:
            self._commit(place)
        if remote is not None:
            git(self.top / place, "remote", "add", "origin", remote)

    def _commit(self, place: str) -> None:
        number = self.new()
        git(self.top / place, "commit", "--quiet", "--allow-empty", f"--message=commit {number} of {self.top}")
        self.roots[self.owner[place]] = self.roots[self.owner[place]] or number

    @precondition(lambda self: self.owner)
    @rule(at=numbers)
    def commit(self, at: int) -> None:
        self._commit(self.pick(at))

    @precondition(lambda self: self.owner)
    @rule(at=numbers, remote=st.none() | remotes)
    def change_remote(self, at: int, remote: str | None) -> None:
        self._change_remote(self.pick(at), remote)

    def _change_remote(self, place: str, remote: str | None) -> None:
        if "origin" in git(self.top / place, "remote"):
            git(self.top / place, "remote", "remove", "origin")
        if remote is not None:
            git(self.top / place, "remote", "add", "origin", remote)

    @precondition(lambda self: 0 < len(self.owner) < len(PLACES))
    @rule(at=numbers, to=numbers)
    def move(self, at: int, to: int) -> None:
        place, new = self.pick(at), self.free(to)
        (self.top / place).rename(self.top / new)
        self.owner[new] = self.owner.pop(place)

    @precondition(lambda self: 0 < len(self.owner) < len(PLACES))
    @rule(at=numbers, to=numbers, by_clone=st.booleans(), remote=st.none() | remotes)
    def copy(self, at: int, to: int, by_clone: bool, remote: str | None) -> None:
        place, new = self.pick(at), self.free(to)
        is_clone = by_clone and self.roots[self.owner[place]] is not None
        if is_clone:
            git(self.top, "clone", "--quiet", f"file://{self.top / place}", new)
            self._change_remote(new, remote)
        else:
            shutil.copytree(self.top / place, self.top / new)
        self.owner[new] = self.new()
        self.roots[self.owner[new]] = self.roots[self.owner[place]]

    @precondition(lambda self: self.owner)
    @rule(at=numbers)
    def delete(self, at: int) -> None:
        place = self.pick(at)
        shutil.rmtree(self.top / place)
        del self.owner[place]

    # What the book does

    @precondition(lambda self: self.owner)
    @rule(at=numbers)
    def store(self, at: int) -> None:
        place = self.pick(at)
        text = f"The fact number {self.new()} of this machine."
        with self.open(place) as book:
            book.store(text, f"fact-{self.number}", scope="project", decision="create")
        self.facts[text] = self.owner[place]

    @precondition(lambda self: self.owner and self.facts)
    @rule(at=numbers)
    def ask_by_hook(self, at: int) -> None:
        """A hook, which asks no git, shows nothing that a command would not."""
        place = self.pick(at)
        said = {"session_id": "s", "cwd": str(self.top / place), "source": "startup"}
        text = tell(self.book, "session-start", "claude-code", said)
        assert {fact for fact in self.facts if fact in text} <= self.allowed(place)

    @precondition(lambda self: self.owner and self.facts)
    @rule(at=numbers, which=numbers, sure=st.integers(0, 3))
    def adopt(self, at: int, which: int, sure: int) -> None:
        if sure < 3:  # seldom: what people said is no longer checked against the root commits
            return
        place = self.pick(at)
        with self.open(place) as book:
            known = sorted(item.id for item in book.list_projects())
            wanted = known[which % len(known)]
            book.adopt_project(wanted)
        with self.open(place) as book:
            found = book.project()
            assert wanted in (found.id, *found.aliases)
        self.has_adopted = True

    # What must hold

    def shown(self, book: Book) -> set[str]:
        summaries = {item.summary for item in book.list(scope="project")}
        return {fact for fact in self.facts if fact in summaries}

    def is_kin(self, one: int, other: int) -> bool:
        return one == other or (self.roots[one] is not None and self.roots[one] == self.roots[other])

    def allowed(self, place: str) -> set[str]:
        """What a folder may be shown: facts of its own root commit, or of the projects that people gave it."""
        return {fact for fact, by in self.facts.items() if self.has_adopted or self.is_kin(by, self.owner[place])}

    @invariant()
    def every_folder_sees_its_own_or_hears_of_it(self) -> None:
        if not self.facts:
            return
        for place, owner in self.owner.items():
            with self.open(place) as book:
                shown, match = self.shown(book), book.context.match
                assert match is not None
                assert shown <= self.allowed(place), (place, shown)
                own = {fact for fact, by in self.facts.items() if by == owner}
                hint = book.project_hint or ""
            missing = own - shown
            named = [ident for ident in (*match.hints, *match.guesses) if missing and ident in hint]
            for ident in named:
                with Book.open(self.book, project=ident) as other:
                    missing -= self.shown(other)
            assert not missing, (place, missing, hint)


@pytest.mark.parametrize(("count", "steps"), depths((3, 12), (60, 30)))
def test_repositories_in_any_order(count: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens to repositories, each is shown its own memories or told where they are, and no others."""
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)
    run_state_machine_as_test(
        Repositories,
        settings=settings(
            max_examples=count, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
