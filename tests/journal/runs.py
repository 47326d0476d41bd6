"""Runs as tests record them, and what tests ask of a journal."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from commonplace.journal.entries import RunOrigin
from commonplace.memories.store import MemoryStore
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import FileKind

PROJECT = "github.com/acme/app"
PLACE = "app-98d9fc12e020"
FOLDER = BookPath("journal", PLACE)
ABOUT = RunOrigin(PROJECT, PLACE, "lead")
LONG = "\n".join(f"line {number} of a long result" for number in range(200))
_numbers = itertools.count(1)


def manifest(run_id: str = "run-1", **more: Any) -> dict[str, Any]:
    """A run with five workers, of which two failed."""
    given: dict[str, Any] = {
        "run_id": run_id,
        "goal": "Ship the spring release",
        "started": "2026-11-15T09:00:00Z",
        "finished": "2026-11-15T09:30:00Z",
        "tasks": [
            {"id": "plan", "worker": "planner", "description": "Plan the release", "result": "Three steps."},
            {"id": "code", "worker": "coder", "description": "Write the parser", "result": LONG, "duration": 12.5},
            {"id": "test", "worker": "tester", "description": "Run the suite", "error": "AssertionError: 3 failed"},
            {"id": "docs", "worker": "Doc Writer", "description": "Write the notes", "result": {"pages": 3}},
            {"id": "ship", "worker": "shipper", "description": "Upload it", "status": "error", "error": f"E: {LONG}"},
        ],
    }  # fmt: skip
    return {**given, **more}


def small(run_id: str | None = None, **more: Any) -> dict[str, Any]:
    """A run with one task: those of the task go into it."""
    task = {"worker": "tester", "description": "Run the suite", "result": "All green.", **more}
    ident = run_id if run_id is not None else f"small-{next(_numbers)}"
    finished = task.pop("finished", "2026-11-15T10:00:00Z")
    return {"run_id": ident, "goal": "Test it", "finished": finished, "tasks": [task]}


def journal_files(root: Path) -> dict[str, bytes]:
    """Every file of the journal, by its path in the book."""
    found = sorted((root / "journal").rglob("*"))
    return {str(path.relative_to(root)): path.read_bytes() for path in found if path.is_file()}


def all_files(keep: MemoryStore, folder: BookPath) -> dict[str, bytes]:
    """The same from any vault."""
    found: dict[str, bytes] = {}
    for item in keep.vault.list_folder(keep.space, KEEPER, folder):
        path = folder / item.name
        if item.stat.kind is FileKind.FOLDER:
            found |= all_files(keep, path)
        else:
            found[str(path)] = keep.vault.read(keep.space, KEEPER, path).data
    return found
