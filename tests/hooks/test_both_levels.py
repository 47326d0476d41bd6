"""A host that is connected for the user and for the project: nothing is told twice. And what OpenCode's hooks get."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.hooks.main import serve
from commonplace.hooks.user_level import FILES
from commonplace.hosts.config_edit.connect import (
    apply,
    load_host,
    load_hosts,
    make_target,
    plan_connect,
    plan_disconnect,
)
from commonplace.hosts.config_edit.parts import PROJECT, USER, ConfigEntry, Host, OwnedFile
from tests.hooks.hooking import close, tell, text_of

APP = "github.com/acme/app"
EVERY = [host for host in load_hosts() if host.hooks and host.name not in ("kiro2", "amazonq")]
every_host = pytest.mark.parametrize("host", EVERY, ids=lambda host: host.name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("levels")
    (folder / "project").mkdir()
    with Book.open(folder / "book", project=APP) as book:
        book.store("The staging database listens on port 6000, not 5432.", "staging-port")
        book.store("Deploys need the VPN; the gateway is deploy.internal.", "deploys")
        book.recall("warm up")
    return folder / "book"


@pytest.fixture
def book(made: Path, home: Path) -> Path:
    return made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, in which no host is connected."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def say(book: Path, host: str, event: str, *options: str, session: str = "s1", **environment: str) -> str:
    """What a hook of a host prints, started with these options, in a new session."""
    prompt = "Please look at this. Which port does the staging database use? I cannot connect."
    data = json.dumps(
        {"session_id": f"{host}-{session}", "cwd": str(book.parent / "project"), "prompt": prompt}
    ).encode()
    printed: list[bytes] = []
    settings = {"COMMONPLACE_ROOT": str(book), "COMMONPLACE_PROJECT": APP, **environment}
    close(serve([event, "--host", host, *options], settings, lambda: data, printed.append))
    return text_of(b"".join(printed))


def options_of(host: Host, tmp_path: Path, scope: str) -> set[bool]:
    """Whether the hooks in the files of a level have the option that says so."""
    target = make_target(scope, {"PATH": ""}, here=str(tmp_path / "project"), platform="linux")
    found = set()
    for part in host.build_parts(target):
        text = json.dumps(part.value) if isinstance(part, ConfigEntry) else part.text
        if "commonplace-hook" in text or "commonplace.hooks" in text:
            found.add("--project" in text)
    return found


@every_host
def test_both_levels_give_one_answer(host: Host, book: Path) -> None:
    """Connected for the user, a project's hooks say nothing at any event; once the user's are gone, they do."""
    event = "session-start" if host.name != "gemini" else "prompt"  # where Gemini takes the brief
    target = make_target(USER, {"PATH": ""}, here=str(book.parent / "project"), platform="linux")
    assert say(book, host.name, event, "--project", session="before")
    apply(plan_connect(host, target))
    for name in ("session-start", "prompt"):
        assert say(book, host.name, name, "--project", session="both") == ""
    assert say(book, host.name, event, session="both")
    apply(plan_disconnect(host, target))
    assert say(book, host.name, event, "--project", session="after")


@every_host
def test_only_the_hooks_of_a_project_are_marked(host: Host, book: Path) -> None:
    """What connect writes for the user has no such option, and all that it writes for a project does."""
    assert options_of(host, book.parent, USER) == {False}
    assert options_of(host, book.parent, PROJECT) == {True}


def test_an_agent_of_a_project_takes_the_place_of_the_user_s(book: Path) -> None:
    """In Kiro 2 and Amazon Q one agent runs, the project's before the user's: its hooks answer in any case."""
    for name in ("kiro2", "amazonq"):
        assert options_of(load_host(name), book.parent, PROJECT) == {False}


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_plugin_counts_as_the_users(host: str, book: Path, home: Path) -> None:
    """The published plugin is enabled for the user: a project's hooks say nothing; disabled, they do."""
    file, text = {
        "claude-code": (".claude/settings.json", '{"enabledPlugins": {"commonplace@commonplace": true}}'),
        "codex": (".codex/config.toml", '[plugins."commonplace@commonplace"]\nenabled = true\n'),
    }[host]
    path = home / file
    path.parent.mkdir()
    path.write_text(text)
    assert say(book, host, "session-start", "--project", session="plugin") == ""
    path.write_text(text.replace("true", "false"))
    assert say(book, host, "session-start", "--project", session="no plugin")


def test_the_table_of_files_is_what_connect_writes(book: Path) -> None:
    """Every host with hooks beside others is in the table, with the file that has its hooks."""
    assert set(FILES) == {host.name for host in EVERY}
    for host in EVERY:
        target = make_target(USER, {"PATH": ""}, here="/", platform="linux")
        files = {part.file for part in host.build_parts(target) if isinstance(part, (OwnedFile, ConfigEntry))}
        _, folder, names = FILES[host.name]
        assert {f"{folder}/{name}" for name in names} & files, host.name


def test_a_prompt_in_quotes_gets_recall(book: Path) -> None:
    """`opencode run "two words"` sends the quotes along: what the prompt is about is recalled all the same."""
    plain = "Which port does the staging database use?"
    texts = [
        tell(
            book,
            "prompt",
            "opencode",
            {"session_id": name, "cwd": str(book), "prompt": prompt},
            COMMONPLACE_PROJECT=APP,
        )
        for name, prompt in (("s1", plain), ("s2", f'"{plain}"'), ("s3", '"staging database port"'))
    ]
    assert all("- staging-port (" in text for text in texts), texts


def test_a_fresh_book_logs_no_failure(tmp_path: Path) -> None:
    """In a book that was just made, with no index yet, no hook of any event leaves a line in the log of failures."""
    with Book.open(tmp_path / "book"):
        pass
    for path in (tmp_path / "book" / ".commonplace").glob("index.db*"):
        path.unlink()
    for event in ("session-start", "prompt", "stop", "pre-compact", "session-end", "subagent-start"):
        tell(
            tmp_path / "book", event, "claude-code", {"session_id": "s1", "cwd": str(tmp_path), "prompt": "Hello there"}
        )
    assert not (tmp_path / "book" / ".commonplace" / "hook.log").exists()
