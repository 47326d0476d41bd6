"""Hooks as an agent host runs them: most in this process, some in one of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import commonplace
from commonplace.hooks.events import HookEvent
from commonplace.hooks.main import serve
from commonplace.index.sqlite.reader import SqliteIndexReader

SOURCE = str(Path(commonplace.__file__).parents[1])
RUN = "import sys; from commonplace.hooks.main import main; sys.exit(main())"


def hook(root: Path, event: str, host: str, said: object, **settings: str) -> bytes:
    """What a hook prints, in this process."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    printed: list[bytes] = []
    environment = {"COMMONPLACE_ROOT": str(root), **settings}
    answered = serve([event, "--host", host], environment, lambda: data, printed.append)
    close(answered)
    assert len(printed) <= 1
    return b"".join(printed)


def close(event: HookEvent | None) -> None:
    """Close the databases of a book. A hook process just ends: closing a database may write and sync it."""
    if event is not None and event.state is not None:
        event.state.close()
    if event is not None and isinstance(event.sources.index_reader, SqliteIndexReader):
        event.sources.index_reader.close()


def text_of(printed: bytes) -> str:
    """The text for the agent in what was printed, in whatever shape."""
    if not printed:
        return ""
    if not printed.startswith(b"{"):
        return printed.decode()
    said: dict[str, Any] = json.loads(printed)
    inner = said.get("hookSpecificOutput", said)
    (found,) = [value for name, value in inner.items() if name not in ("hookEventName", "cancel")]
    assert isinstance(found, str)
    return found


def tell(root: Path, event: str, host: str, said: Mapping[str, object], **settings: str) -> str:
    return text_of(hook(root, event, host, said, **settings))


def process(
    root: Path, words: list[str], data: bytes, *, program: str = RUN, deadline: int = 60_000, **settings: str
) -> subprocess.CompletedProcess[bytes]:
    """The same as a process of its own. The deadline is long where a test is not about it: machines are slow."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")},
        "PYTHONPATH": SOURCE,
        "COMMONPLACE_ROOT": str(root),
        "COMMONPLACE_HOOK_DEADLINE_MS": str(deadline),
        **settings,
    }
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, input=data, env=environment, capture_output=True, check=False, timeout=120)


def repository(folder: Path, remote: str = "") -> Path:
    """What git would make, as far as anybody looks: a hook never asks git itself."""
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    section = f'[remote "origin"]\n\turl = {remote}\n' if remote else ""
    (folder / ".git" / "config").write_text(f"[core]\n\tbare = false\n{section}", "utf-8")
    return folder


def worktree(main: Path, folder: Path) -> Path:
    """A linked worktree of a repository."""
    inside = main / ".git" / "worktrees" / folder.name
    inside.mkdir(parents=True)
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {inside}\n", "utf-8")
    (inside / "HEAD").write_text("ref: refs/heads/side\n", "utf-8")
    (inside / "commondir").write_text("../..\n", "utf-8")
    (inside / "gitdir").write_text(f"{folder / '.git'}\n", "utf-8")
    return folder
