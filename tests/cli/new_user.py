"""A scratch home with a book, for the tasks of a new user; and the commands that do each task, run for real.

    python -m tests.cli.new_user

writes the transcripts anew: tests/cli/new_user_transcripts.txt. Times, revisions and the paths of the machine are
replaced by words, so that the file is the same every time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commonplace import Book
from commonplace.model.times import now, shift_time

TASKS = Path(__file__).with_name("new_user_tasks.txt")
TRANSCRIPTS = Path(__file__).with_name("new_user_transcripts.txt")
HOUR, DAY = 3600, 86_400

# For each task, in the order of the list: the folder, and at most three commands.
COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("app", ("commonplace history --since yesterday",)),
    ("app", ("commonplace history api-port --diff",)),
    ("app", ("commonplace project list", "commonplace move web-colours --to github.com/acme/web")),
    ("app", ("commonplace restore --since 8d", "commonplace restore old-runner")),
    (
        "web",
        (
            'commonplace brief --prompt "Which port does the staging database use?"',
            'commonplace recall "staging database port"',
        ),
    ),
    ("app", ("commonplace move note-2 --key release-day",)),
    (
        "app",
        (
            "commonplace show deploy-command",
            'commonplace store "Deploys run with make ship." --key deploy-command --mode replace',
        ),
    ),
    ("app", ("commonplace pin push-rule",)),
    ("web", ("commonplace recall deploys --all --strong",)),
    ("app", ("commonplace review --list", "commonplace review --accept index-is-sqlite")),
    ("app", ("commonplace history api-port", "commonplace undo api-port --steps 2", "commonplace show api-port")),
    ("app", ("commonplace restore --scope global", "commonplace restore --all --scope global")),
    ("app", ("commonplace show push-rule", "cat ~/.commonplace/memories/project/app-98d9fc12e020/push-rule.md")),
    ("app", ("commonplace status",)),
    ("app", ("commonplace connect", "commonplace connect --all", "commonplace connect --list")),
    ("app", ("commonplace connect cursor --dry-run",)),
    ("app", ("commonplace config", "commonplace config set capture off")),
    ("app", ("commonplace list --tag ci --since 7d",)),
    ("app", ("commonplace import ~/notes --from scaffold --dry-run", "commonplace import ~/notes --from scaffold")),
    ("app", ("commonplace forget leaked-note --purge --yes",)),
    ("app", ("commonplace recall 'which index is used' --strong",)),
    ("app", ("commonplace recall --tags ci --json > ~/ci.json",)),
    (
        "app",
        (
            'commonplace consolidate ci-runner ci-cache --text "CI has large runners and caches wheels." --into ci',
            "commonplace show ci-cache",
        ),
    ),
    (
        "app",
        ("commonplace config set enabled false", "commonplace brief", "commonplace config set enabled true"),
    ),
    (
        "app",
        (
            "cp -r ~/.commonplace ~/other-machine",
            "commonplace doctor --root ~/other-machine",
            "commonplace doctor verify --root ~/other-machine",
        ),
    ),
)
_TOOLS = ("bash", "cat", "cp", "git")  # of the machine; no program of an agent is found on PATH
_AS_WORDS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\dZ"), "DAY HH:MMZ"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d\b(?!Z)"), "DAY HH:MM"),
    (re.compile(r"\d{8}T\d{6}Z"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DAY"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"(?<![\w-])[0-9a-f]{12}(?![\w-])"), "REVISION"),
    (re.compile(r"^vectors +.*\n", re.M), ""),  # how many there are depends on the time that was left
    (re.compile(r"\d[\d,]*(?= (?:bytes|characters|tokens)\b)"), "N"),
    (re.compile(r"(?<=^version )( +)\S+(?= \()", re.M), r"\1N"),
)


def tasks() -> list[str]:
    """The tasks, as they were written before the work."""
    return re.findall(r"^\d+\. (.*)$", TASKS.read_text("utf-8"), re.M)


def make_home(home: Path) -> None:
    """Make a home with two projects, notes of some weeks, an agent's proposals, and folders of agent programs."""
    for name in ("app", "web"):
        subprocess.run(["git", "init", "-q", str(home / name)], check=True)
        remote = f"https://github.com/acme/{name}.git"
        subprocess.run(["git", "-C", str(home / name), "remote", "add", "origin", remote], check=True)
    for folder in (".codex", ".gemini", "notes", "bin"):
        (home / folder).mkdir()
    for name in _TOOLS:
        (home / "bin" / name).symlink_to(str(shutil.which(name)))
    (home / ".codex" / "history.jsonl").write_text("", "utf-8")  # of programs that were used here
    (home / ".gemini" / "installation_id").write_text("1", "utf-8")
    (home / "notes" / "coffee.md").write_text("# Coffee\n\nThe good beans are in the left cupboard.\n", "utf-8")
    (home / "notes" / "printer.md").write_text("# Printer\n\nIt needs a restart after a power cut.\n", "utf-8")
    root, today = home / ".commonplace", now()
    with Book.open(root, cwd=home / "web") as book:
        book.context.memories.clock = lambda: shift_time(today, -3 * DAY)
        book.store("The web app is built with Vite.", "web-build")
    app = home / "app"
    with Book.open(root, cwd=app) as book, Book.open(root, cwd=app, agent="claude-code", session="ab12") as agent:
        for days, key, text, tags in (
            (30, "api-port", "The API listens on port 8000.", []),
            (21, "ci-runner", "CI runs on the large runners.", ["ci"]),
            (20, "note-2", "Releases go out on Thursdays.", []),
            (19, "push-rule", "Never push to main.", []),
            (12, "web-colours", "The web app uses the colours of the brand book.", []),
            (10, "leaked-note", "The customer Jane Doe pays late.", []),
            (9, "deploy-command", "Deploys run with make shpi.", []),
            (3, "ci-cache", "CI caches the wheels.", ["ci"]),
            (1, "staging-database", "The staging database listens on port 5433.", []),
        ):
            book.context.memories.clock = lambda days=days: shift_time(today, -days * DAY)  # type: ignore[misc]
            book.store(text, key, tags=tags)
        for days, caller, text in ((15, agent, "The API listens on port 8080."), (14, book, "The API moved to 9090.")):
            caller.context.memories.clock = lambda days=days: shift_time(today, -days * DAY)  # type: ignore[misc]
            caller.store(text, "api-port", mode="replace")
        book.context.memories.clock = lambda: shift_time(today, -8 * DAY)
        book.store("Nose runs the tests.", "old-runner")
        book.context.memories.clock = lambda: shift_time(today, -6 * DAY)
        book.forget("old-runner")
        book.context.memories.clock = lambda: shift_time(today, -2 * HOUR)
        book.store("I use vim.", "editor", "global")
        book.store("Answer in English.", "language", "global")
        book.context.memories.clock = lambda: shift_time(today, -HOUR)
        book.clear("global")
        path = agent.store("The index is SQLite.", "index-is-sqlite").path
    file = root / path.lstrip("/")
    file.write_text(file.read_text("utf-8").replace("status: active", "status: proposed"), "utf-8")


def run_tasks(home: Path) -> str:
    """Do all tasks in a home, one after the other; return the transcripts."""
    make_home(home)
    parts = []
    for number, (task, (folder, commands)) in enumerate(zip(tasks(), COMMANDS, strict=True), 1):
        lines = [f"{number}. {task}", ""]
        for command in commands:
            lines += [f"{folder}$ {command}", *(f"  {line}".rstrip() for line in _run(home, folder, command))]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _run(home: Path, folder: str, command: str) -> list[str]:
    here = home / folder
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "PYTHONPATH", "SYSTEMROOT")}
    programs = str(Path(sys.executable).parent)
    path = os.pathsep.join([str(home / "bin"), programs])
    environment = {**kept, "HOME": str(home), "PATH": path, "PWD": str(here), "TZ": "UTC"}
    done = subprocess.run(
        ["bash", "-c", f"{command} 2>&1"], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    text = done.stdout.replace(str(home), "~").replace(programs, "BIN")
    for pattern, word in _AS_WORDS:
        text = pattern.sub(word, text)
    lines = text.splitlines()
    return lines + ([f"(exit status {done.returncode})"] if done.returncode else [])


def main() -> None:
    """Write the transcripts anew."""
    folder = Path(tempfile.mkdtemp(prefix="commonplace-new-user-")).resolve()
    try:
        TRANSCRIPTS.write_text(run_tasks(folder), "utf-8")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
