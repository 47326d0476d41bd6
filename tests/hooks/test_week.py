"""A simulated week: 50 sessions over three hosts, in two repositories and a worktree, with restarts, a move of a
repository and compactions. At each start the brief has what it should, and never what it should not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.hooks.host_io import SHAPES
from tests.hooks.hooking import repository, tell, worktree

HOSTS = ("claude-code", "codex", "gemini")
SESSIONS = 50
GOLDEN = Path(__file__).with_name("week.md")
SHOWN = (0, 24, 31, 41, 49)  # the first, a worktree, after the move, after the index was lost, the last
STAMPS = "2026-11-{:02}T{:02}:00:00Z"


class Week:
    """Three places where people work, one book, and what is known to be so."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.root = root
        self.shop = repository(folder / "shop", "git@github.com:acme/shop.git")
        self.site = repository(folder / "site")  # without a remote: it is known by where it is
        self.side = worktree(self.shop, folder / "shop-side")
        self.folder = folder
        self.stored: dict[str, list[str]] = {"shop": [], "site": [], "global": []}
        self.briefs: list[str] = []

    def places(self) -> list[tuple[str, Path]]:
        return [("shop", self.shop), ("site", self.site), ("shop", self.side)]

    def session(self, number: int) -> None:
        """One session: it starts, somebody says something, it learns something, some are compacted, it stops."""
        host = HOSTS[number % 3]
        project, place = self.places()[(number // 3) % 3]
        ident = f"session-{number:02}"
        said = {"session_id": ident, "cwd": str(place), "source": "startup"}
        text = self.start(host, said)
        self.check(text, project, ident)
        self.briefs.append(text)
        assert tell(self.root, "session-start", host, {**said, "source": "resume"}) == ""
        tell(self.root, "prompt", host, {**said, "prompt": f"What do we know about topic {number}?"})
        self.learn(number, host, project, place, ident)
        if number % 7 == 3:
            tell(self.root, "pre-compact", host, said)
            after = self.start(host, {**said, "source": "compact"})
            self.check(after, project, ident, own=f"Draft of {ident}.")
        tell(self.root, "stop", host, said)

    def start(self, host: str, said: dict[str, str]) -> str:
        """The brief of a window that begins: what its start is told, or on some hosts its first prompt."""
        text = tell(self.root, "session-start", host, said)
        if SHAPES[host].has_brief_at_prompt:
            assert text == ""
            text = tell(self.root, "prompt", host, {**said, "prompt": "Go on."})
        return text

    def learn(self, number: int, host: str, project: str, place: Path, ident: str) -> None:
        with Book.open(self.root, cwd=place, agent=host, session=ident, role="agent") as book:
            book.context.memories.clock = lambda: STAMPS.format(9 + number // 8, 1 + number % 8)
            text = f"Lesson {number} of the {project}: what was topic {number} is settled."
            book.store(text, f"lesson-{number:02}")
            self.stored[project].append(text)
            book.store(f"Draft of {ident}.", "draft", "session")
            book.store(f"A habit of {host}, learned in {ident}.", "habit", "agent", mode="replace")
            if number % 10 == 0:
                book.store(f"A rule for all, number {number}.", f"rule-{number:02}", "global")
                self.stored["global"].append(f"A rule for all, number {number}.")
            if number % 9 == 8:  # the newest of the project turns out to be wrong
                wrong = self.stored[project].pop(-2)
                key = f"lesson-{int(wrong.split()[1]):02}"
                book.store(f"{text} Really.", f"lesson-{number:02}", decision=f"supersede:{key}")

    def check(self, text: str, project: str, ident: str, own: str = "") -> None:
        """What must be in a brief, what must not, and how long it may be."""
        other = "site" if project == "shop" else "shop"
        known = self.stored[project]
        assert len(text) <= 8_700  # the brief, and after a compaction a nudge
        assert text.count("<commonplace-memory") == text.count("</commonplace-memory>") <= 1
        assert f"of the {other}" not in text
        assert "Draft of" not in text.replace(own, "") if own else "Draft of" not in text
        assert (own in text) if own else True
        for lesson in known[-3:]:
            assert lesson in text, f"{ident}: {lesson}"
        for rule in self.stored["global"][-5:]:
            assert rule in text
        lines = text.split("\n")
        for heading in [at for at, line in enumerate(lines) if line.startswith("## ")]:
            section = lines[heading + 1 :]
            count = next((at for at, line in enumerate(section) if not line.startswith(("- ", "  "))), len(section))
            assert count <= 10
        told = {line.split(": ", 1)[1] for line in lines if line.startswith("- lesson-")}
        superseded = {word for word in told if not any(word.startswith(lesson[:20]) for lesson in known)}
        assert superseded == set()

    def move(self) -> None:
        """The repository without a remote moves, and its new place is all that tells."""
        new = self.folder / "moved" / "site"
        new.parent.mkdir()
        shutil.move(self.site, new)
        self.site = new


@pytest.fixture
def week(tmp_path: Path, root: Path) -> Week:
    with Book.open(root):
        pass
    return Week(tmp_path / "work", root)


def test_a_week_of_sessions(week: Week) -> None:
    """Fifty sessions, each briefed with what holds where it works, and with nothing of anybody else's."""
    (week.site / ".commonplace").mkdir()
    (week.site / ".commonplace" / "project.json").write_text('{"id": "site", "nonce": "n0nce"}', "utf-8")
    for number in range(SESSIONS):
        if number == 20:  # a restart of the machine: what SQLite keeps beside its files is gone
            for name in ("index.db-shm", "state.db-shm"):
                (week.root / ".commonplace" / name).unlink(missing_ok=True)
        if number == 30:
            week.move()
        if number == 40:  # somebody deletes the index
            for file in (week.root / ".commonplace").glob("index.db*"):
                file.unlink()
        week.session(number)
    assert len(week.briefs) == SESSIONS
    shown = "\n\n".join(f"=== session {number}\n\n{week.briefs[number]}" for number in SHOWN)
    assert shown.replace(str(week.folder), "WORK") == GOLDEN.read_text("utf-8").rstrip("\n")


def test_a_renamed_remote_keeps_its_memories(week: Week) -> None:
    """A repository that gets a remote, or another one, is briefed with what it stored before, by a hook that may not
    adopt it: nothing in the book is changed for that."""
    with Book.open(week.root, cwd=week.site) as book:
        book.store("Known by where it was.", "early")
    before = sorted(path.name for path in (week.root / "memories").rglob("*"))
    (week.site / ".git" / "config").write_text('[remote "origin"]\n\turl = https://github.com/acme/site\n', "utf-8")
    text = tell(week.root, "session-start", "codex", {"session_id": "x", "cwd": str(week.site)})
    assert "Known by where it was." in text
    assert sorted(path.name for path in (week.root / "memories").rglob("*")) == before
