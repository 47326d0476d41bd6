"""Completion, asked for as the shells ask, and in bash, zsh and fish themselves."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.cli.run import SUMMARIES
from tests.cli.calls import fine, run
from tests.cli.conftest import PROJECT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these shells are POSIX's")
PATIENCE = 60.0
WEB = "github.com/acme/web"


@pytest.fixture(autouse=True)
def two_projects(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small book with another project, and `commonplace` on the path, as it is installed beside this Python."""
    with Book.open(book, project=WEB) as opened:
        opened.store("The web app listens on 8080.", "web-port", tags=["net"])
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def offered(line: str) -> list[str]:
    """What is offered at the end of a line, without the descriptions."""
    outcome = run("completion", "fish", "--complete", line)
    assert outcome.err == "" and (outcome.status == 0 or (outcome.status, outcome.out) == (1, ""))
    return [item.partition("\t")[0] for item in outcome.out.splitlines()]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("commonplace mov", ["move"]),
        ("commonplace tree ent", ["entity"]),
        ("commonplace tree entity ", ["list", "merge", "undo"]),
        ("commonplace doctor ", ["verify", "scan", "reindex"]),
        ("commonplace show sta", ["staging-port"]),
        ("commonplace show --json sta", ["staging-port"]),
        ("commonplace show --scope global ", ["release-day"]),
        ("commonplace restore ", ["old-runner"]),
        ("commonplace review --accept ", ["lesson", "slow-tests"]),
        ("commonplace list --scope gl", ["global"]),
        ("commonplace list --scope project:", [f"project:{PROJECT}", f"project:{WEB}"]),
        ("commonplace move staging-port --to project:github.com/acme/w", [f"project:{WEB}"]),
        ("commonplace --project github.com/acme/w", [WEB]),
        ("commonplace show --project github.com/acme/web web", ["web-port"]),
        ("commonplace project adopt github.com/acme/w", [WEB]),
        ("commonplace list --tag o", ["ops"]),
        ("commonplace list --type=f", ["--type=feedback"]),
        ("commonplace connect claude", ["claude-code"]),
        ("commonplace config set lock", ["lock_timeout"]),
        ("commonplace link staging-port rel", ["relates_to"]),
        ("commonplace link staging-port relates_to slow", ["slow-tests"]),
        ("commonplace store x --decision update:sta", ["update:staging-port"]),
        ("commonplace undo staging-port --st", ["--steps"]),
        ("commonplace connect --dr", ["--dry-run"]),
        ("commonplace list --ta", ["--tag"]),
        ("commonplace completion ", ["bash", "zsh", "fish"]),
        ("commonplace show 'staging", ["staging-port"]),
        ("commonplace odd ", []),
        ("commonplace import ", []),
        ("commonplace undo staging-port --steps ", []),
    ],
)
def test_what_is_offered(line: str, wanted: list[str]) -> None:
    """Commands, sub-commands, options, keys, scopes, projects, hosts and settings; nothing where a file may stand."""
    found = sorted(offered(line))
    assert [item for item in found if item in wanted] == sorted(wanted)
    assert line.endswith(" ") or found == sorted(wanted)


def test_every_command_is_offered() -> None:
    """Without a word typed, all commands are offered with what they do, and no command without its options."""
    assert offered("commonplace ") == list(SUMMARIES)
    for name in SUMMARIES:
        assert "--json" in offered(f"commonplace {name} --"), name


def test_no_book_is_made(root: Path, tmp_path: Path) -> None:
    """Completing a key where there is no book offers nothing and makes nothing."""
    assert offered(f"commonplace show --root {tmp_path / 'none'} ") == []
    assert not (tmp_path / "none").exists()


def test_an_agents_shell_is_offered_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside an agent program, completion knows no more projects than the agent does."""
    monkeypatch.setenv("CLAUDECODE", "1")
    assert offered("commonplace move staging-port --to project:") == [f"project:{PROJECT}"]


def test_in_bash() -> None:
    """bash completes a command, a key with its dashes, and a scope behind its colon."""
    script = """
        eval "$(commonplace completion bash)"
        other="commonplace list --scope project:github.com/acme/w"
        for COMP_LINE in "commonplace consol" "commonplace show sta" "$other"; do
            COMP_WORDS=(commonplace) COMP_POINT=${#COMP_LINE}
            _commonplace
            printf '%s\\n' "${COMPREPLY[@]}"
        done
        complete -p commonplace
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["consolidate", "staging-port", WEB, "complete -F _commonplace commonplace"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("commonplace show staging-port ", []),
        ("commonplace status ", []),
        ("commonplace doctor verify ", []),
        ("commonplace import ", ["notes.md"]),
        ("commonplace show ", ["staging-port"]),
    ],
)
def test_files_are_offered_only_where_something_can_follow(line: str, wanted: list[str], tmp_path: Path) -> None:
    """In bash, after the only KEY of a command and after one without arguments, no file is offered; where a file may
    stand, it is, and where a key may stand, keys are."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "notes.md").write_text("")
    script = """
        eval "$(commonplace completion bash)"
        COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1 "") COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _commonplace
        printf '%s\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "-c", script, "bash", line]
    environment = {**os.environ, "COMMONPLACE_PROJECT": PROJECT}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    found = [item for item in done.stdout.splitlines() if item]
    assert found == wanted if wanted != ["staging-port"] else "staging-port" in found


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here: apt-get install fish, or brew install fish")
def test_in_fish() -> None:
    """fish completes a command with what it does, an option, and a key with its summary."""
    script = "commonplace completion fish | source; for line in $argv; complete -C $line; end"
    lines = ["commonplace consol", "commonplace undo staging-port --st", "commonplace show sta"]
    done = subprocess.run(["fish", "-c", script, *lines], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "consolidate\tMerge several memories into one.", "--steps\thow many changes to undo",
        "staging-port\tStaging listens on port 6000.",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here: apt-get install zsh, or brew install zsh")
@pytest.mark.parametrize("installed", ["eval", "file"])
def test_in_zsh(installed: str, tmp_path: Path) -> None:
    """zsh, at a terminal, completes a command and a key from the first Tab on, whether the script is evaluated or in a
    file of fpath."""
    import pty

    master, slave = pty.openpty()
    environment = {**os.environ, "ZDOTDIR": str(tmp_path), "TERM": "dumb", "COLUMNS": "200"}
    (tmp_path / "_commonplace").write_text(run("completion", "zsh").out)
    by_file = installed == "file"
    load = "echo LOAD''ED" if by_file else "eval \"$(commonplace completion zsh)\"; echo LOAD''ED"
    path = f"fpath=({tmp_path} $fpath); " if by_file else ""
    shell = subprocess.Popen(
        ["zsh", "-f", "-i", "-d"], stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    )
    os.close(slave)

    def expect(text: str) -> None:
        seen, until = b"", time.monotonic() + PATIENCE
        while text.encode() not in seen:
            ready, _, _ = select.select([master], [], [], max(0.0, until - time.monotonic()))
            assert ready, seen.decode()
            seen += os.read(master, 65_536)

    try:
        start = "PS1='READY> '; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D"
        os.write(master, f"{path}{start}\n{load}\n".encode())
        expect("LOADED")
        os.write(master, b"commonplace consol\t")
        expect("commonplace consolidate ")
        os.write(master, b"\x15commonplace show sta\t")
        expect("commonplace show staging-port ")
    finally:
        shell.kill()
        shell.wait()
        os.close(master)


def test_values_of_settings_and_revisions_are_offered() -> None:
    """The value of a setting, a revision of the memory that is named, a time, and a tag after a comma."""
    assert offered("commonplace config set capture ") == ["off", "nudge", "auto"]
    assert offered("commonplace config set protocol g") == ["guide"]
    assert offered("commonplace config set enabled ") == ["true", "false"]
    revisions = [item["revision"][:12] for item in fine("history", "staging-port")["revisions"]]
    for line in ("show staging-port --revision ", "undo staging-port --to ", "forget staging-port --if-revision "):
        assert sorted(offered(f"commonplace {line}")) == sorted(revisions), line
    assert offered(f"commonplace undo staging-port --to {revisions[0][:5]}") == revisions[:1]
    assert offered("commonplace undo --to ") == [] == offered("commonplace undo no-such-key --to ")
    fine("restore", "old-runner")  # whose history has a gap, which is no text
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in offered("commonplace show old-runner --revision "))
    assert "yesterday" in offered("commonplace list --since ") and offered("commonplace recall x --until tod") == [
        "today"
    ]
    assert offered("commonplace list --tags ci,o") == ["ci,ops"]
    assert offered("commonplace recall --tags=ci,o") == ["--tags=ci,ops"]
