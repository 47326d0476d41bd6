"""What the tests of the tree start from: a root of a book, and small sources with what is in them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace import Book

MESSAGES = (
    ("1", "", "Ann Lee <ann@example.org>", "bob@example.org", "Mon, 2 Nov 2026 09:00:00 +0100", "Staging database",
     "The staging database moves to Frankfurt on 3 March. Ticket OPS-12.\n\n-- \nAnn Lee\nAcme Ltd"),
    ("2", "1", "Bob Roe <bob@example.org>", "ann@example.org", "Mon, 2 Nov 2026 10:00:00 +0100", "Re: Staging database",
     "Who pays for it?\n\nOn Mon, 2 Nov 2026 at 09:00, Ann Lee <ann@example.org> wrote:\n> The staging database moves"
     " to Frankfurt on 3 March. Ticket OPS-12.\n"),
    ("3", "2", "Ann Lee <ann@example.org>", "bob@example.org", "Tue, 3 Nov 2026 08:00:00 +0100", "Re: Staging database",
     "The platform budget does.\n\n> Who pays for it?\n"),
    ("4", "", "Cleo Wu <cleo@example.com>", "ann@example.org", "Wed, 4 Nov 2026 12:00:00 +0000", "Lunch on Friday",
     "Shall we have noodles? The token is ghp_x7Kp2mQ9vT4nR8sW1bY6cF3hJ5dL0gZaEuIo by the way.\n"),
)  # fmt: skip


def write_mbox(path: Path, messages: tuple[tuple[str, ...], ...] = MESSAGES) -> Path:
    """Write an mbox with these messages: id, what it answers, from, to, date, subject, text."""
    texts = []
    for ident, parent, sender, to, date, subject, text in messages:
        answers = f"In-Reply-To: <{parent}@x>\nReferences: <{parent}@x>\n" if parent else ""
        head = f"From: {sender}\nTo: {to}\nDate: {date}\nSubject: {subject}\nMessage-ID: <{ident}@x>\n{answers}"
        texts.append(f"From x@example.org Mon Nov  2 09:00:00 2026\n{head}\n{text}\n")
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def write_slack(folder: Path) -> Path:
    """Write a Slack export of one channel with two people."""
    (folder / "general").mkdir(parents=True)
    people = [{"id": "U1", "team_id": "T1", "name": "ann", "profile": {"real_name": "Ann Lee"}},
              {"id": "U2", "team_id": "T1", "name": "bob", "profile": {"real_name": "Bob Roe"}}]  # fmt: skip
    texts = ("The release is on Thursday, <@U2>.", "Fine, I will freeze the branch.")
    said = [
        {"type": "message", "user": f"U{number}", "ts": f"17936100{number}0.000100", "text": text}
        for number, text in enumerate(texts, 1)
    ]
    (folder / "users.json").write_text(json.dumps(people))
    (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "general", "members": ["U1", "U2"]}]))
    (folder / "general" / "2026-11-02.json").write_text(json.dumps(said))
    return folder


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "book"


@pytest.fixture
def book(root: Path) -> Iterator[Book]:
    with Book.open(root, project="p") as opened:
        yield opened


@pytest.fixture
def mailbox(tmp_path: Path) -> Path:
    return write_mbox(tmp_path / "mail.mbox")


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """A function that moves this machine to another time zone, until the test is over."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process cannot be changed here")

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()
