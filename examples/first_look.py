"""`make run`: a book made from nothing, memories kept and corrected in it, and the files they became.

Everything printed is what really happened, in a scratch folder that is left for you to look at.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from commonplace.index.memory import MemoryIndex
from commonplace.keep import life, past
from commonplace.keep.scaffold import scaffold
from commonplace.keep.scopes import describe, find_folder
from commonplace.keep.unit import Keep
from commonplace.model.memory import Entry, MemoryType, Trust
from commonplace.model.scope import GLOBAL, Scope, ScopeKind
from commonplace.vault.local import LocalVault
from commonplace.vault.view import EVERYTHING

PROJECT = Scope(ScopeKind.PROJECT, "github.com/acme/app")


def open_book(root: str) -> Keep:
    return Keep(LocalVault.at(root, make=True), MemoryIndex())


def store(keep: Keep, scope: Scope, key: str, text: str, kind: MemoryType, tags: tuple[str, ...] = ()) -> life.Kept:
    folder = find_folder(keep, scope)
    with keep.unit(folder, EVERYTHING) as unit:
        page = describe(keep, scope, folder)
        if page is not None:
            unit.put_aside(page)
        entry = Entry("", text, trust=Trust.AGENT, author="tour")
        kept = life.store(unit, key, entry, life.Labels(type=kind, tags=tags))
        unit.commit()
    return kept


def correct(keep: Keep, key: str, text: str) -> None:
    with keep.unit(find_folder(keep, PROJECT), EVERYTHING) as unit:
        entry = Entry("", text, trust=Trust.HUMAN, author="you")
        life.rewrite(unit, key, [entry], life.Labels(), "you")
        unit.commit()


def writer_to_be_killed(root: str) -> None:
    """Store for ever, saying each number only after it is acknowledged."""
    keep = open_book(root)
    number = 0
    while True:
        store(keep, GLOBAL, f"fact-{number:03d}", f"Fact number {number}.", MemoryType.REFERENCE)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


def kill_one(root: str) -> tuple[int, int]:
    """Start a writer, kill it in the middle; how many writes it had acknowledged, and how many of them are there."""
    command = [sys.executable, __file__, "--write", root]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603 - this very file
        assert writer.stdout is not None  # noqa: S101
        for _ in range(30):
            writer.stdout.readline()
        writer.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        acknowledged = 30 + len(writer.stdout.read().split())
    there = sum((Path(root) / "memories/global" / f"fact-{n:03d}.md").exists() for n in range(acknowledged))
    return acknowledged, there


def show(root: str, path: str) -> None:
    print(f"\n--- {path}")
    print((Path(root) / path.lstrip("/")).read_text(encoding="utf-8").rstrip())


def main() -> None:
    root = tempfile.mkdtemp(prefix="commonplace-")
    print(f"1. A book is made in {root}:")
    keep = open_book(root)
    for made in scaffold(keep.vault):
        print(f"     {made}")

    print("\n2. Three memories are stored; each is on the disk, synced, before the answer comes:")
    kept = [
        store(
            keep, PROJECT, "test-runner", "Tests run with pytest; integration tests need --slow.", MemoryType.FEEDBACK
        ),
        store(
            keep, PROJECT, "staging-port", "The staging database listens on port 5432.", MemoryType.PROJECT, ("ops",)
        ),
        store(keep, GLOBAL, "answers", "Answers in British English, without bullet points.", MemoryType.USER),
    ]
    for item in kept:
        print(f"     {item.action} {item.path} at revision {item.revision[:12]}")

    print("\n3. One is wrong and is corrected; what it said before is put aside:")
    correct(keep, "staging-port", "The staging database listens on port 6000 since November 2026.")
    folder = find_folder(keep, PROJECT)
    for old in past.list_past(keep.vault, keep.space, past.HISTORY, folder, "staging-port"):
        print(f"     {old.action} by {old.who}: {old.path.name}")

    print("\n4. A writer is killed (kill -9) in the middle of its work:")
    acknowledged, there = kill_one(root)
    print(f"     {acknowledged} writes were acknowledged, {there} of them are there")

    print("\n5. What it all looks like on the disk:")
    show(root, f"{folder}/staging-port.md")
    show(root, f"{folder}/index.md")
    show(root, "/index.md")
    print(f"\nThe book is yours to look at: {root}")
    print("Next: docs/format.md says what every line means. Connecting an agent comes with the next parts.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        os.umask(0o077)
        writer_to_be_killed(sys.argv[2])
    main()
