"""A session from its start to its end: what is remembered of it, when it is nudged, what goes into the spool."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Book
from commonplace.context.nudges import NUDGE_EVERY
from commonplace.context.records import (
    TRANSCRIPT_SPOOL,
    SessionRecord,
    delete_old_sessions,
    find_session,
    list_sessions,
    parse_spooled,
    save_session,
)
from commonplace.memories import lifecycle
from commonplace.model.memory import Entry, Status
from commonplace.model.scope import GLOBAL, LOCAL, Scope, ScopeKind
from commonplace.model.times import now, shift_time
from commonplace.state.sqlite import SqliteState
from commonplace.vault.paths import KEEPER
from commonplace.verbs.store import Draft, store_draft
from tests.hooks.hooking import hook, repository, tell
from tests.state.memory import MemoryState

OTHER = Scope(ScopeKind.PROJECT, "github.com/acme/other")
RUBRIC = "Worth saving: a decision"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", "https://github.com/acme/app.git")


@pytest.fixture
def book(root: Path, repo: Path) -> Path:
    with Book.open(root, cwd=repo) as made:
        made.store("Tests run with pytest.", "test-runner")
    return root


def known(root: Path, ident: str = "s1") -> SessionRecord:
    state = SqliteState(root / ".commonplace" / "state.db")
    try:
        found = find_session(state, LOCAL, ident)
    finally:
        state.close()
    assert found is not None
    return found


def spooled(root: Path) -> list[str]:
    state = SqliteState(root / ".commonplace" / "state.db")
    try:
        return [item.payload for item in state.spool_take(LOCAL, TRANSCRIPT_SPOOL, 50, now(), 1)]
    finally:
        state.close()


def test_the_start_records_where_a_session_works(book: Path, repo: Path) -> None:
    """Session, folder, transcript, agent and project are remembered, so that a server can know a session's project."""
    said = {"session_id": "s1", "cwd": str(repo), "source": "startup", "transcript_path": "/t/s1.jsonl"}
    hook(book, "session-start", "claude-code", said)
    session = known(book)
    assert (session.host, session.agent, session.cwd) == ("claude-code", "claude-code", str(repo))
    assert (session.transcript, session.project) == ("/t/s1.jsonl", "github.com/acme/app")
    assert len(session.told) == 1
    assert session.hashes
    hook(book, "session-start", "claude-code", {**said, "session_id": "s2", "source": "resume"})
    assert known(book, "s2").project == "github.com/acme/app"


def test_a_host_without_session_ids_is_remembered_by_its_folder(book: Path, repo: Path) -> None:
    """Kiro names no session: what was told there is still not told twice."""
    tell(book, "session-start", "kiro", {"cwd": str(repo)})
    with Book.open(book, cwd=repo) as made:
        made.store("Tests run with pytest and xdist.", "test-runner", mode="replace")
    assert "project/test-runner" in tell(book, "prompt", "kiro", {"cwd": str(repo), "prompt": "Go on."})
    assert tell(book, "prompt", "kiro", {"cwd": str(repo), "prompt": "Go on."}) == ""


@pytest.mark.parametrize("host", ["claude-code", "codex", "kiro", "gemini"])
def test_every_so_many_messages_a_nudge_comes(host: str, book: Path, repo: Path) -> None:
    """With every fifteenth message, and only then, the prompt says what is worth saving."""
    said = {"session_id": "s1", "cwd": str(repo), "prompt": "Go on."}
    nudged = []
    for number in range(1, 2 * NUDGE_EVERY + 3):
        for name in ("prompt", "stop"):
            text = tell(book, name, host, said)
            if RUBRIC in text:
                nudged.append((number, name))
    assert nudged == [(NUDGE_EVERY, "prompt"), (2 * NUDGE_EVERY, "prompt")]


def test_after_a_compaction_a_nudge_comes(book: Path, repo: Path) -> None:
    """The new window begins with the brief alone; the nudge rides on the next prompt, also where no start comes."""
    said = {"session_id": "s1", "cwd": str(repo), "source": "compact"}
    hook(book, "pre-compact", "claude-code", said)
    text = tell(book, "session-start", "claude-code", said)
    assert "Tests run with pytest." in text and RUBRIC not in text
    assert "The conversation was compacted" in tell(book, "prompt", "claude-code", {**said, "prompt": "Go on."})
    assert tell(book, "prompt", "claude-code", {**said, "prompt": "Go on."}) == ""
    said = {"session_id": "g1", "cwd": str(repo), "prompt": "Go on."}
    hook(book, "pre-compact", "gemini", said)
    assert RUBRIC in tell(book, "prompt", "gemini", said)


def test_gemini_gets_the_brief_with_the_first_prompt_of_a_window(book: Path, repo: Path) -> None:
    """The start says nothing there, the first prompt has the brief, no later one does, nor the first after a resume; a
    window that the user compresses gets it again."""
    said = {"session_id": "g1", "cwd": str(repo), "prompt": "Go on.", "source": "startup"}
    assert tell(book, "session-start", "gemini", said) == ""
    assert "Tests run with pytest." in tell(book, "prompt", "gemini", said)
    assert tell(book, "prompt", "gemini", said) == ""
    assert tell(book, "session-start", "gemini", {**said, "source": "resume"}) == ""
    assert tell(book, "prompt", "gemini", said) == ""
    hook(book, "pre-compact", "gemini", {"session_id": "g1", "cwd": str(repo), "trigger": "manual"})
    assert "Tests run with pytest." in tell(book, "prompt", "gemini", said)


def test_gemini_looking_whether_to_compress_is_no_compaction(book: Path, repo: Path) -> None:
    """Gemini runs that hook at every turn: nothing is told again for it, and no nudge is due."""
    said = {"session_id": "g1", "cwd": str(repo), "prompt": "How do tests run with pytest here?"}
    assert tell(book, "prompt", "gemini", said).count("Tests run with pytest.") == 1
    hook(book, "pre-compact", "gemini", {"session_id": "g1", "cwd": str(repo), "trigger": "auto"})
    assert tell(book, "prompt", "gemini", said) == ""


def test_opencode_asking_for_the_brief_again_forgets_nothing(book: Path, repo: Path) -> None:
    """A session that goes on in a new process gets its brief anew, and what its prompts were told is not repeated."""
    said = {"session_id": "o1", "cwd": str(repo), "source": "startup"}
    asked = {**said, "prompt": "Which port does the staging database listen on?"}
    with Book.open(book, cwd=repo) as opened:
        opened.store("The staging database listens on port 5432.", "staging-port")
        names = [chr(97 + n // 26) + chr(97 + n % 26) for n in range(150)]  # a brief has no room for so many
        opened.store_many([{"content": f"Team {name} reviews what {name * 9} wrote.", "key": name} for name in names])
        opened.recall("index what was stored")
    brief = tell(book, "session-start", "opencode", said)
    assert "5432" not in brief and "5432" in tell(book, "prompt", "opencode", asked)
    assert tell(book, "session-start", "opencode", said) == brief
    assert tell(book, "prompt", "opencode", asked) == ""


def test_capture_off_never_nudges(book: Path, repo: Path) -> None:
    """capture = off: no nudge, no spool, and the brief as ever."""
    transcript = repo / "t.jsonl"
    transcript.write_text("{}\n", "utf-8")
    said = {
        "session_id": "s1",
        "cwd": str(repo),
        "prompt": "Go on.",
        "source": "compact",
        "transcript_path": str(transcript),
    }
    for _ in range(NUDGE_EVERY + 1):
        assert tell(book, "prompt", "codex", said, COMMONPLACE_CAPTURE="off") == ""
    hook(book, "pre-compact", "codex", said, COMMONPLACE_CAPTURE="off")
    text = tell(book, "session-start", "codex", said, COMMONPLACE_CAPTURE="off")
    assert "Tests run with pytest." in text
    assert RUBRIC not in text
    assert spooled(book) == []


def test_auto_spools_how_far_a_transcript_goes(book: Path, repo: Path, tmp_path: Path) -> None:
    """Stop, PreCompact and SessionEnd note a transcript, its length and its project; not with nudge, nor if sealed."""
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("x" * 77, "utf-8")
    said = {"session_id": "s1", "cwd": str(repo), "transcript_path": str(transcript)}
    for event in ("stop", "pre-compact", "session-end"):
        hook(book, event, "claude-code", said, COMMONPLACE_CAPTURE="nudge")
        hook(book, event, "claude-code", said, COMMONPLACE_SEALED="1")
    assert spooled(book) == []
    for event in ("stop", "pre-compact", "session-end"):
        assert hook(book, event, "codex", said, COMMONPLACE_PROJECT="acme") == b""
    found = [parse_spooled(item) for item in spooled(book)]
    assert [(item.path, item.end, item.session, item.host, item.project) for item in found if item] == [
        (str(transcript), 77, "s1", "codex", "acme")
    ] * 3


@pytest.mark.parametrize("path", ["/not/there", "/dev/null", "/", "\x00", "relative.jsonl"])
def test_what_is_no_file_is_not_spooled(path: str, book: Path, repo: Path) -> None:
    """A transcript that is gone, a device or a folder is not noted."""
    said = {"session_id": "s1", "cwd": str(repo), "transcript_path": path}
    assert hook(book, "stop", "claude-code", said, COMMONPLACE_CAPTURE="auto") == b""
    assert spooled(book) == []


def test_what_is_remembered_can_be_anything() -> None:
    """A record that nobody of us wrote is none, or its good parts; old ones are swept, and the rest stay."""
    state = MemoryState()
    for value in ("", "x", "[]", "7", '{"told": 5, "hashes": {}, "messages": "x", "cwd": [], "begun": "x"}'):
        state.set_fact(LOCAL, "session/odd", value)
        found = find_session(state, LOCAL, "odd")
        assert found is None or found == SessionRecord("odd")
    today = now()
    for ident, begun in (("old", shift_time(today, -40 * 86_400)), ("new", today)):
        save_session(state, LOCAL, SessionRecord(ident, begun=begun, told={"/a.md": "r"}, hashes=("h",), messages=3))
    delete_old_sessions(state, LOCAL, today)
    assert [session.id for session in list_sessions(state, LOCAL)] == ["new"]
    assert find_session(state, LOCAL, "new") == SessionRecord(
        "new", begun=today, told={"/a.md": "r"}, hashes=("h",), messages=3
    )


def test_a_start_says_how_many_proposals_wait(book: Path, repo: Path) -> None:
    """One line after the brief counts what waits in the caller's scopes, and not what it says; sub-agents get none."""
    said = {"session_id": "s1", "cwd": str(repo), "source": "startup"}
    before = tell(book, "session-start", "claude-code", said)
    assert "commonplace review" not in before
    with Book.open(book, project="github.com/acme/app") as opened:
        context = opened.context
        for scope, text in ((GLOBAL, "Zebras sleep."), (GLOBAL, "Zebras run."), (OTHER, "Zebras swim.")):
            with context.memories.unit(context.folder(scope), KEEPER) as unit:
                labels = lifecycle.Labels(tags=("captured",), status=Status.PROPOSED)
                store_draft(context, unit, scope, Draft(Entry("", text), labels))
                unit.commit()
    told = tell(book, "session-start", "claude-code", said)
    assert "\n\n2 proposals wait: commonplace review\n\n" in told
    assert "ebras" not in told
    assert told == tell(book, "session-start", "claude-code", said)
    assert "proposals wait" not in tell(book, "subagent-start", "claude-code", said)
    with Book.open(book, project="github.com/acme/app") as opened:
        opened.reject("zebras-sleep")
    assert "\n\n1 proposal waits: commonplace review\n\n" in tell(book, "session-start", "claude-code", said)
