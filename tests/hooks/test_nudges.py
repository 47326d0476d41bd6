"""When a prompt carries a nudge, and when it must not: the user's words, compactions, prompts without a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.context.nudges import MIN_DISTANCE, NUDGE_EVERY, find_reason
from commonplace.context.records import STORED, delete_old_sessions
from commonplace.hooks import events
from commonplace.hooks.host_io import SHAPES
from commonplace.model.scope import LOCAL
from commonplace.model.times import now, shift_time
from tests.hooks.hooking import hook, repository, tell
from tests.hooks.test_sessions import known
from tests.mcp.raw import Raw
from tests.state.memory import MemoryState

MARK = "[commonplace] "
SAYS = {
    "asks for something to be remembered": [
        "Remember that staging is on 5433.", "Can you remember that we deploy on Thursdays?", "Remember this.",
        "ok, remember to run the linter first", "Keep in mind that the API is rate limited.",
        "Make a note of the port.",
        "Don\u2019t forget that tests need --slow", "Fix the bug, and remember that CI is on 3.11",
        "Could you please save this to memory?", "```\ncode\n```\nPlease remember: no deploys on Friday",
    ],
    "how they want things done": [
        "From now on use tabs.", "I prefer short answers.", "Always run the tests first.", "never push to main",
        "Please always use uv.", "stop adding comments", "I'd rather you asked.", "Going forward, ask me first.",
    ],
    "corrects you": [
        "No, don't do that.", "no - use pytest", "No. We use uv here.", "That's wrong, the port is 5433",
        "Actually, the tests run with nox.", "no, it's on port 8042", "nope, that's the old one",
    ],
    "tells of a decision": [
        "We decided to use Postgres.", "We've decided on Redis", "let's go with option B", "We agreed to drop 3.10.",
        "I chose SQLite because it is simple", "We're going with React.",
    ],
}  # fmt: skip
SAYS_NOTHING = [
    "continue", "no", "No thanks.", "no, that's fine", "No, don't worry", "Do you remember what we did?", "remember?",
    "I don't remember", "I can't remember the port", "Add a remember-me checkbox", "Rename remember_token to token",
    "What did we decide?", "Have we decided on the database?", "If we decided to use Redis, what changes?",
    "this never happens", "it always fails", "never mind, it works now",
    "Yes, always a pleasure.", "Explain memory management", "Does it matter which one we chose?",
]  # fmt: skip
NOT_THEIR_WORDS = [
    "```\n# remember that this is slow\n```\nWhy is this slow?", "> we decided to use Go\nwhat do you make of that?",
    "2026-11-15 INFO we decided to retry\nwhat is this", "    # from now on this is deprecated\nfix it",
    'The page says "from now on use tabs", mend it.', "Call the label `From now on` in the form.",
    'Is "from now on use tabs" good English?', "fix `remember that` parsing", "Say 'no, don\u2019t do that' in German",
    "<private>remember that I am ill</private> go on", "<doc>\nfrom now on x\n</doc> summarise",
    "ERROR No, don't\nTraceback (most recent call last):\nwhat is it",
    "look:\n```py\nx = 1\n" + "remember that y\n" * 900,
    "look:\n```py\n" + "remember that y\n" * 900 + "```\nwhat is it",
]  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", "https://github.com/acme/app.git")


@pytest.fixture
def book(root: Path, repo: Path) -> Path:
    with Book.open(root, cwd=repo) as made:
        made.store("The tests run with pytest.", "test-runner")
    return root


def said(repo: Path, prompt: str = "Go on.", session: str | None = "s1") -> dict[str, object]:
    return {"session_id": session, "cwd": str(repo), "prompt": prompt}


def nudged(root: Path, repo: Path, prompt: str = "Go on.", host: str = "claude-code", **settings: str) -> str:
    """The nudge that a prompt gets; empty if none."""
    session = settings.pop("session", "s1")
    text = tell(root, "prompt", host, said(repo, prompt, session), **settings)
    _, mark, nudge = text.partition(MARK)
    return mark + nudge


@pytest.mark.parametrize("what", SAYS)
def test_what_the_user_says_is_answered_by_one_line(what: str, book: Path, repo: Path) -> None:
    """The same prompt carries one line that names the reason, what is worth saving, and that nothing is to be said."""
    for number, prompt in enumerate(SAYS[what]):
        line = nudged(book, repo, prompt, session=f"s{number}").strip()
        assert what in line, prompt
        assert "\n" not in line and len(line) <= 600
        assert "Worth saving: a decision and its reason" in line and "Nothing needs to be said about this." in line


@pytest.mark.parametrize("prompt", SAYS_NOTHING + NOT_THEIR_WORDS)
def test_what_is_not_their_word_is_no_reason(prompt: str, book: Path, repo: Path) -> None:
    """Questions, small talk, code, quotes and pasted text are no reason, whatever words are in them."""
    assert nudged(book, repo, prompt) == ""


def test_a_question_between_code_is_still_theirs() -> None:
    """Their own words count above and below what they paste, however long that is."""
    pasted = "```\n" + "x = remember\n" * 5_000 + "```\n"
    assert (
        find_reason(f"Remember that it is slow.\n{pasted}") == find_reason(f"{pasted}Remember that it is slow.") != ""
    )


@pytest.mark.parametrize("host", SHAPES)
def test_only_the_prompt_carries_a_nudge(host: str, book: Path, repo: Path) -> None:
    """No other event prints one, on any host; where the prompt carries no text there is none at all."""
    prompt = "Remember that staging is on 5433."
    for event in [name for name in events.HANDLERS if name != "prompt"]:
        hook(book, "pre-compact", host, said(repo))
        assert MARK not in tell(book, event, host, {**said(repo, prompt), "source": "compact"})
    assert bool(nudged(book, repo, prompt, host)) == ("prompt" in SHAPES[host].carries)


def test_one_in_five_prompts_besides_remember(book: Path, repo: Path) -> None:
    """After a nudge the next four prompts have none, unless the user asks for something to be remembered."""
    assert nudged(book, repo, "We decided to use Postgres.")
    for _ in range(MIN_DISTANCE - 1):
        assert nudged(book, repo, "From now on use tabs.") == ""
    assert nudged(book, repo, "From now on use tabs.")
    for _ in range(3):
        assert nudged(book, repo, "Remember that staging is on 5433.")
    hook(book, "pre-compact", "claude-code", said(repo))
    found = [bool(nudged(book, repo)) for _ in range(MIN_DISTANCE + 3)]
    assert found == [number == MIN_DISTANCE - 1 for number in range(MIN_DISTANCE + 3)]  # it waited for its turn


def prompts_until_nudged(root: Path, repo: Path, most: int = 40, **settings: str) -> int:
    return next((number for number in range(1, most) if nudged(root, repo, **settings)), 0)


def test_a_store_in_the_session_begins_the_count_anew(book: Path, repo: Path) -> None:
    """After ten prompts and a store by the session's agent, it takes fifteen more; a second store does the same."""
    for _ in range(2):
        for _ in range(10):
            assert nudged(book, repo) == ""
        with Book.open(book, cwd=repo, agent="claude-code", session="s1", role="agent") as agent:
            agent.store(f"Something new, {os.urandom(4).hex()}.")
    assert prompts_until_nudged(book, repo) == NUDGE_EVERY


@pytest.mark.parametrize(
    ("agent", "session", "left"),
    [
        ("claude-code", "other", 5),
        ("codex", None, 5),
        (None, None, 5),
        (None, "s1", 5),
        ("claude-code", None, NUDGE_EVERY),
    ],
)
def test_whose_store_counts(agent: str | None, session: str | None, left: int, book: Path, repo: Path) -> None:
    """Another session's store, another agent's, or a person's changes nothing; that of the same agent in the same
    project counts if it names no session."""
    for _ in range(10):
        nudged(book, repo)
    with Book.open(book, cwd=repo, agent=agent, session=session) as other:
        other.store("The staging port is 5433.")
    assert prompts_until_nudged(book, repo) == left


def test_a_store_through_the_server_counts(book: Path, repo: Path) -> None:
    """`memory_store` of the MCP server, with the session that the brief gave, begins the count anew."""
    for _ in range(10):
        nudged(book, repo)
    with Raw(book) as server:
        server.call("memory_store", content="The staging port is 5433.", session="s1", cwd=str(repo))
    assert prompts_until_nudged(book, repo) == NUDGE_EVERY


def test_a_host_that_names_no_session_is_counted_by_agent(book: Path, repo: Path) -> None:
    """Kiro names no session: a store of its agent in the project counts."""
    for _ in range(10):
        assert nudged(book, repo, host="kiro", session="") == ""
    with Book.open(book, cwd=repo, agent="kiro") as agent:
        agent.store("The staging port is 5433.")
    assert prompts_until_nudged(book, repo, host="kiro", session="") == NUDGE_EVERY


@pytest.mark.parametrize("how", ["off", "disabled", "read-only", "sealed"])
def test_who_cannot_or_will_not_save_is_not_nudged(
    how: str, book: Path, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No nudge with capture = off, in a disabled or read-only book, or in a sealed one without a session."""
    settings = {"off": {"COMMONPLACE_CAPTURE": "off"}, "disabled": {"COMMONPLACE_ENABLED": "0"}}.get(how, {})
    session = "s1"
    if how == "sealed":
        session, settings = "", {"COMMONPLACE_SEALED": "1"}
    if how == "read-only":  # what is remembered of sessions is elsewhere, and can be written
        monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "elsewhere"))
        with Book.open(book, cwd=repo) as made:
            made.store("The staging port is 5433.")
        settings, real = {"COMMONPLACE_STATE": str(tmp_path / "elsewhere")}, os.access
        assert nudged(book, repo, "Remember that staging is on 5433.", session="s0", **settings)
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))
    assert nudged(book, repo, "Remember that staging is on 5433.", session=session, **settings) == ""
    assert not (book / ".commonplace" / "hook.log").exists()


def test_old_marks_are_swept(book: Path, repo: Path) -> None:
    """Retention deletes the mark of a store with the sessions of its time, and keeps what is newer."""
    state = MemoryState()
    for name, days in (("old", -40), ("new", -1)):
        state.set_fact(LOCAL, f"{STORED}{name}", f"{shift_time(now(), days * 86_400)} x")
    delete_old_sessions(state, LOCAL, now())
    assert list(state.list_facts(LOCAL, STORED)) == [f"{STORED}new"]


def test_the_prompt_is_not_remembered(book: Path, repo: Path) -> None:
    """Nothing of what the user said is in the record of the session."""
    nudged(book, repo, "Remember that the heron is called Gustav.")
    assert "Gustav" not in repr(known(book)) and known(book).nudged == 1


def test_most_prompts_load_no_more(book: Path, repo: Path) -> None:
    """The module that tells own words from code is loaded only for a prompt with a sign of a reason."""
    program = "import sys; sys.path[:0] = {path!r}\nfrom tests.hooks.hooking import hook\nfrom pathlib import Path\n"
    program += "hook(Path({root!r}), 'prompt', 'claude-code', {said!r})\n"
    program += "print('commonplace.context.statements' in sys.modules)"
    found = []
    for prompt in ("Go on.", "Remember that it is slow."):
        text = program.format(path=sys.path, root=str(book), said=said(repo, prompt))
        found.append(subprocess.run([sys.executable, "-c", text], capture_output=True, check=True).stdout.strip())
    assert found == [b"False", b"True"]
