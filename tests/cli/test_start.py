"""What a command loads: it lives for a tenth of a second, and pays for every module it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import make_book

TOLD = """
import sys
from commonplace.cli.main import main
status = main(sys.argv[1:])
print("LOADED", *sys.modules, file=sys.stderr)
sys.exit(status)
"""
ANY = {
    "asyncio", "dataclasses", "difflib", "email", "inspect", "logging", "mcp", "numpy", "pathlib", "pydantic", "random",
    "re2", "secrets", "shutil", "socket", "subprocess", "tempfile", "urllib.parse", "yaml",
}  # fmt: skip
READING = {
    "locale",
    "commonplace.verbs.store",
    "commonplace.memories.lifecycle",
    "commonplace.guard.secrets",
}
NOTHING = {
    "argparse",
    "collections",
    "datetime",
    "json",
    "re",
    "sqlite3",
    "typing",
    "commonplace.book",
    "commonplace.model.errors",
}
CASES = {
    "--help": ANY | READING | NOTHING | {"hashlib", "threading"},
    "--version": ANY | READING | NOTHING,
    "recall --help": ANY | READING,
    "recall staging port --mode lexical": ANY | READING,
    "recall staging port --mode lexical --json": ANY | READING,
    "list": ANY | READING,
    "timeline": ANY | READING,
}


@pytest.mark.parametrize("line", CASES)
def test_a_command_loads_only_what_it_needs(line: str, root: Path) -> None:
    """Nothing heavy is loaded by a command that reads, and nothing of the book by one that only tells of itself."""
    make_book(root)
    done = subprocess.run([sys.executable, "-c", TOLD, *line.split()], capture_output=True, text=True, check=False)
    said, _, loaded = done.stderr.partition("LOADED ")
    assert (done.returncode, said) == (0, "")
    assert not CASES[line] & set(loaded.split())
