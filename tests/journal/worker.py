"""One of several processes that record runs at once: `python worker.py ROOT NAME COUNT`."""

from __future__ import annotations

import os
import sys

from commonplace import Book
from tests.journal.runs import PROJECT


def main(root: str, name: str, count: int) -> None:
    with Book.open(root, project=PROJECT, agent="lead", role="orchestrator") as book:
        for number in range(count):
            own = {"id": "own", "worker": name, "description": f"Part {number}", "result": f"{name} did {number}"}
            shared = {"id": "all", "worker": "everybody", "description": f"{name} {number}", "error": f"code {number}"}
            run = {
                "run_id": f"{name}-{number}",
                "goal": "Race",
                "finished": "2026-11-15T09:30:00Z",
                "tasks": [own, shared],
            }
            same = {"run_id": f"same-{number}", "finished": "2026-11-15T09:30:00Z", "tasks": [{"worker": "one"}]}
            for given in (run, same):
                done = book.record_run(given)
                print(done.action, done.run, *done.warnings, flush=True)


if __name__ == "__main__":
    os.environ["COMMONPLACE_LOCK_TIMEOUT"] = "300"
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
