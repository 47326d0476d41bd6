"""The hand-written sources for tests of import, and what the command made of them, as one text.

`python -m tests.maintenance.import_cases` writes the golden files anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from commonplace.maintenance.import_sources import FORMATS
from tests.book.opened import PROJECT, files
from tests.cli.calls import Outcome, run

SOURCES = Path(__file__).parent / "import" / "sources"
GOLDEN = Path(__file__).parent / "import" / "golden"
WRITTEN = 1_767_323_045  # 2026-01-02T03:04:05Z: the time of every file of a source
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_NOW = re.compile(r"^(created: |updated: |## )20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$", re.M)


def source(folder: Path, name: str) -> Path:
    """A copy of one hand-written source, every file with the same time."""
    place = folder / name
    shutil.copytree(SOURCES / name, place)
    touch(place)
    return place


def touch(place: Path) -> None:
    for path in place.rglob("*"):
        os.utime(path, (WRITTEN, WRITTEN), follow_symlinks=False)


def take(root: Path, place: Path, *words: str) -> Outcome:
    return run("import", str(place), "--root", str(root), "--project", PROJECT, *words)


def result(root: Path, outcome: Outcome) -> str:
    """What the command said, and every note there is afterwards, without what differs from run to run."""
    parts = [f"exit status {outcome.status}\n\n{outcome.out}{outcome.err}"]
    for name, data in sorted(files(root, databases=False).items()):
        path = Path(name)
        if path.parts[0] == "memories" and path.stem != "index" and not path.stem.startswith("_"):
            text = _NOW.sub(r"\1NOW", _ID.sub("ID", data.decode()))
            parts.append(f"=== {re.sub(r'-[0-9a-f]{12}/', '-HASH/', name)}\n{text}")
    return "\n".join(parts)


def main(names: Sequence[str]) -> None:
    for name in names or FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "book"
            text = result(root, take(root, source(Path(folder), name)))
        (GOLDEN / f"{name}.txt").write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
