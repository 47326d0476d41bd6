"""`make run`: a book made from nothing, memories kept, found again and corrected, and the files they became.

Everything printed is what really happened, in a scratch folder that is left for you to look at.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from commonplace import Book

PROJECT = "github.com/acme/app"


def writer_to_be_killed(root: str) -> None:
    """Store for ever, saying each number only after it is acknowledged."""
    with Book.open(root, agent="writer") as book:
        number = 0
        while True:
            book.store(f"Fact number {number}.", key=f"fact-{number:03d}", scope="agent")
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
    there = sum((Path(root) / "memories/agent/writer" / f"fact-{n:03d}.md").exists() for n in range(acknowledged))
    return acknowledged, there


def show(root: str, path: str) -> None:
    print(f"\n--- {path}")
    print((Path(root) / path.lstrip("/")).read_text(encoding="utf-8").rstrip())


def main() -> None:
    root = tempfile.mkdtemp(prefix="commonplace-")
    with Book.open(root, project=PROJECT, agent="tour") as book:
        print(f"1. A book is made in {root}, and three memories are stored in it.")
        print("   Each is on the disk, synced, before the answer comes:\n")
        kept = [
            book.store("Tests run with pytest; integration tests need --slow.", key="test-runner", type="feedback"),
            book.store("The staging database listens on port 5432.", key="staging-port", tags=["ops"]),
            book.store("Answers in British English.", key="answers", scope="global", type="user"),
        ]
        for item in kept:
            print(f"     {item.action} {item.path}")

        print("\n2. They are found again, by words that need not be the same form:\n")
        for question in ("how do I run the integration test?", "database for staging", "penguins"):
            hits = book.recall(question).hits
            print(f"     {question:<36} -> {hits[0].text if hits else '(nothing, and it says so)'}")

        print("\n3. One is wrong and is corrected; what it said before is put aside, and can still be asked for:\n")
        book.store("The staging database listens on port 6000.", key="staging-port", mode="replace")
        for revision in book.history("staging-port"):
            print(f"     {revision.time} {revision.action} {revision.revision[:12]} by {revision.author}")
        print(f"     now: {book.recall('staging database port').hits[0].text}")

        print("\n4. A writer is killed (kill -9) in the middle of its work:\n")
        acknowledged, there = kill_one(root)
        print(f"     {acknowledged} writes were acknowledged, {there} of them are there")

        print("\n5. The index is only derived; the files are the truth, and the two agree:\n")
        book.reindex()
        proof = book.verify()
        print(f"     {proof.files} notes read, {len(proof.differences)} differences")

        print("\n6. What it all looks like on the disk:")
        note = book.show("staging-port")
        show(root, note.path)
        show(root, note.path.rsplit("/", 1)[0] + "/index.md")
        show(root, "/index.md")
    print(f"\nThe book is yours to look at: {root}")
    print("Next: README.md shows the same from Python. Connecting an agent comes with the next parts.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        os.umask(0o077)
        writer_to_be_killed(sys.argv[2])
    main()
