"""The command tour: a short demonstration in a scratch book. Everything it prints is what really happened."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from commonplace.book import Book
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand
from commonplace.cli.screen import shown
from commonplace.model.scope import Scope, ScopeKind

if TYPE_CHECKING:
    from commonplace.model.choices import ScopeChoice, TypeChoice

_HELP = """See everything in a scratch book, in two minutes.

Memories are stored in three scopes, found again in other words, corrected, and survive a kill -9; then the files are
shown. Everything printed is what really happened. The scratch book stays, for you to explore.
"""
PROJECT = "github.com/acme/app"
_MEMORIES: tuple[tuple[str, str, ScopeChoice, TypeChoice, list[str]], ...] = (
    ("Tests run with pytest; integration tests need the --slow flag.", "test-runner", "project", "feedback", ["ci"]),
    ("The staging database listens on port 5432.", "staging-port", "project", "project", ["ops"]),
    ("Releases are tagged on Thursdays, never before a holiday.", "release-day", "project", "project", ["release"]),
    ("Write answers in British English, without exclamation marks.", "writing-style", "global", "user", []),
    ("Ask before touching anything under infra/.", "infra-rule", "agent", "feedback", []),
)
_QUESTIONS = (
    "how are integration tests run?",
    "which day do we tag a release?",
    "the port of the database for staging",
    "penguins",
)
_KILLED_AFTER = 25


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", metavar="DIR", help=argparse.SUPPRESS)  # the writer that the tour kills


def _run(call: Call) -> int:
    if call.args.write is not None:
        return _write_until_killed(call)
    root = os.path.join(tempfile.mkdtemp(prefix="commonplace-tour-"), "book")
    tour = _Tour(call, root)
    with Book.open(root, project=PROJECT, agent="tour", role="person") as book:
        tour.store(book)
        tour.recall(book)
        tour.correct(book)
        kept = tour.kill(book)
        tour.verify(book)
        tour.files(book)
    tour.end()
    call.answer({"root": root, **tour.figures})
    return DONE if kept and not tour.figures["differences"] else NOTHING


class _Tour:
    """The steps, each said before it is done."""

    def __init__(self, call: Call, root: str) -> None:
        self._call, self._root, self._number = call, root, 0
        self.figures: dict[str, object] = {}

    def _step(self, title: str) -> None:
        self._number += 1
        self._line()
        self._line(self._call.screen.paint(f"{self._number}. {title}", "strong"))

    def _line(self, text: str = "") -> None:
        if not self._call.args.json:
            self._call.screen.line(text)
            self._call.stdout.flush()

    def store(self, book: Book) -> None:
        self._line(f"A scratch book is made in {self._root}")
        self._step("Five memories are stored in three scopes. Each is on the disk, synced, before the answer comes.")
        for content, key, scope, kind, tags in _MEMORIES:
            stored = book.store(content, key, scope, kind, tags)
            self._line(f"   {stored.action:<9} {stored.scope:<8} {shown(content)}")
        self.figures["stored"] = len(_MEMORIES)

    def recall(self, book: Book) -> None:
        self._step(
            "They are found again. The words need not be the same, and a question without an answer gets no match."
        )
        found = 0
        for question in _QUESTIONS:
            hits = book.recall(question, limit=1, strong=True).hits
            found += bool(hits)
            self._line(f"   {question}")
            self._line(f"     {self._call.screen.paint(shown(hits[0].text) if hits else '(no strong match)', 'name')}")
        self.figures["found"] = found

    def correct(self, book: Book) -> None:
        self._step("One was wrong and is corrected. The old text goes to the history, with who changed it and when.")
        book.store("The staging database listens on port 6000.", "staging-port", mode="replace")
        for item in book.history("staging-port"):
            when = self._call.screen.minute(item.time)
            self._line(f"   {when}  {item.action:<9} {item.revision[:12]}  {item.author or ''}")
        self._line(f"   now: {shown(book.recall('staging database port').hits[0].text)}")

    def kill(self, book: Book) -> bool:
        self._step("Another process stores as fast as it can, and is killed (kill -9) in the middle.")
        command = [sys.executable, "-m", "commonplace", "tour", "--write", self._root]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603 - ourselves
            assert writer.stdout is not None  # noqa: S101 - it was asked for
            acknowledged = [writer.stdout.readline().strip() for _ in range(_KILLED_AFTER)]
            writer.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            acknowledged += writer.stdout.read().split()
        there = {item.key for item in book.list(Scope(ScopeKind.AGENT, "writer"))}
        lost = [key for key in acknowledged if key not in there]
        self.figures |= {"acknowledged": len(acknowledged), "lost": len(lost)}
        self._line(f"   {len(acknowledged)} writes were acknowledged before the kill, {len(lost)} of them are lost")
        return not lost

    def verify(self, book: Book) -> None:
        self._step("The index is derived from the files. It is deleted, rebuilt, and compared with every note.")
        book.reindex()
        proof = book.verify()
        self.figures |= {"files": proof.files, "differences": len(proof.differences)}
        self._line(f"   {proof.files} notes read, {len(proof.differences)} differences")

    def files(self, book: Book) -> None:
        self._step("Everything is a plain file. One of them:")
        memory = book.show("staging-port")
        data, _ = book.source("staging-port")
        self._line(f"   {shown(os.path.join(self._root, *memory.path.split('/')))}")
        for line in shown(data.decode("utf-8")).splitlines():
            self._line(f"   {self._call.screen.paint('|', 'weak')} {line}".rstrip())

    def end(self) -> None:
        self._line()
        self._line(f"Explore:     {self._root}")
        self._line(f"Use it:      export COMMONPLACE_ROOT={self._root}; commonplace list --all")
        self._line('Store yours: commonplace store "something worth keeping"    (in ~/.commonplace)')
        self._line(
            "Connect your agents: commonplace connect claude-code    (`commonplace connect --list` lists what there is)"
        )


def _write_until_killed(call: Call) -> int:
    """Store for ever, printing each key only after it is acknowledged."""
    with Book.open(call.args.write, agent="writer") as book:
        number = 0
        while True:
            stored = book.store(f"Fact number {number}.", f"fact-{number:04d}", "agent")
            call.stdout.write(f"{stored.key}\n")
            call.stdout.flush()
            number += 1


COMMANDS = {"tour": CliCommand(_run, _add_options, _HELP, ("commonplace tour",))}
