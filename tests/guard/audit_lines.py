"""The audit of a book, as tests read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def audit_folder(root: Path) -> Path:
    return root / ".commonplace" / "audit"


def lines(root: Path) -> list[dict[str, Any]]:
    """Every line, oldest first."""
    folder = audit_folder(root)
    files = sorted(folder.glob("*.jsonl")) if folder.exists() else []
    return [json.loads(line) for path in files for line in path.read_text("ascii").splitlines()]


def verbs(root: Path) -> list[tuple[str, str]]:
    """Verb and outcome of every line."""
    return [(line["verb"], line["outcome"]) for line in lines(root)]
