"""Capture: what a conversation taught is proposed, once; never what is private, secret, or came from us."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from commonplace import Book
from commonplace.context.capture import Turn, find_facts, keep_own_words
from commonplace.context.records import hash_sentences
from commonplace.model.memory import Trust
from commonplace.model.results import CaptureResult
from commonplace.model.scope import LOCAL
from tests.context.test_transcripts import claude, lines
from tests.hooks.hooking import hook, tell
from tests.strategies import hostile_text

APP = "github.com/acme/app"
SECRET = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"


def user(text: str) -> Turn:
    return Turn("user", text, "2026-11-15T09:30:00Z", 0)


def agent(text: str, *, is_external: bool = False) -> Turn:
    return Turn("assistant", text, "", 0, is_external)


@pytest.mark.parametrize(
    ("turn", "fact", "why"),
    [
        (user("Remember that staging listens on 6000."), "Staging listens on 6000.", "asked to remember"),
        (user("ok. Please note: the VPN is needed"), "The VPN is needed", "asked to remember"),
        (user("I prefer short answers without lists."), "I prefer short answers without lists.", "preference"),
        (user("Never push to main without asking."), "Never push to main without asking.", "preference"),
        (user("No, the port is 6000, not 5432."), "No, the port is 6000, not 5432.", "correction"),
        (user("We decided to use SQLite for the index."), "We decided to use SQLite for the index.", "decision"),
        (agent("It turned out that rows have a BOM."), "It turned out that rows have a BOM.", "found out"),
        (agent("The root cause was a stale lock file."), "The root cause was a stale lock file.", "found out"),
    ],
)
def test_what_is_worth_proposing(turn: Turn, fact: str, why: str) -> None:
    """What the user asks to remember, decides, corrects or prefers, and what was hard to find out, is found."""
    (found,) = find_facts([turn], ())
    assert (found.text, found.why, found.trust) == (fact, why, Trust.AGENT)


@pytest.mark.parametrize(
    "turn",
    [
        user("Please fix the failing test."),
        user("Do you remember that one? Should we always use tabs?"),
        user("<private>Remember that my salary is 5.</private> Go on."),
        user("<PRIVATE>Remember that my salary is 5. And never end"),
        user("```\nRemember that this is code.\n```"),
        user("> Remember that somebody else said this."),
        user("<system-reminder>Remember that the program says so.</system-reminder>"),
        user("<commonplace-memory kind=x>\nWe decided to use pytest here.\n</commonplace-memory>"),
        user("remember that"),
        agent("I prefer to read the file first."),
        agent("Remember that you can run the tests."),
        agent("No, the port is another one."),
        user("We decided " + "that it is long " * 60),
    ],
)
def test_what_is_not(turn: Turn) -> None:
    """Requests, questions, code, quotes, tags, what is private, and what an agent says of itself, are not proposed."""
    assert find_facts([turn], ()) == []


def test_what_we_told_is_not_news() -> None:
    """A sentence that the agent had from this book, in any case and punctuation, is not captured from its mouth."""
    told = hash_sentences("We decided to use SQLite. It turned out that rows have a BOM.")
    turns = [agent("As you know: it turned out that rows have a BOM"), agent("It turned out that rows have a BOM!")]
    assert [fact.text for fact in find_facts(turns, told)] == ["As you know: it turned out that rows have a BOM"]
    assert len(find_facts(turns[1:] * 3, ())) == 1


def test_what_came_from_outside_is_external() -> None:
    """What an agent says after it read the web has no more trust than the web."""
    (found,) = find_facts([agent("It turned out that the fix is to run this.", is_external=True)], ())
    assert found.trust is Trust.EXTERNAL


@given(text=hostile_text, secret=hostile_text)
def test_nothing_private_is_spoken(text: str, secret: str) -> None:
    """Whatever stands around it, what is between the private marks is never looked at."""
    marked = f"{text}<private>{secret.replace('</private>', '')}zanzibar</private>"
    assert "zanzibar" not in keep_own_words(marked)


class Talk:
    """A session of Claude Code with its transcript, and the hooks that run in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root.parent / "s1.jsonl"
        self.said: list[dict[str, object]] = []

    def say(self, role: str, text: str) -> None:
        parent = str(len(self.said)) if self.said else None
        self.said.append(claude(str(len(self.said) + 1), parent, role, text))
        self.path.write_bytes(lines(*self.said))

    def stop(self) -> None:
        said = {"session_id": "s1", "cwd": str(self.root.parent), "transcript_path": str(self.path)}
        hook(self.root, "stop", "claude-code", said, COMMONPLACE_PROJECT=APP, COMMONPLACE_CAPTURE="auto")

    def captured(self) -> CaptureResult:
        with Book.open(self.root, project=APP) as book:
            return book.capture()


@pytest.fixture
def talk(root: Path) -> Talk:
    with Book.open(root, project=APP) as book:
        book.store("The VPN is needed for every deploy.", "vpn")
        book.configure("capture", "auto")
    return Talk(root)


def test_from_a_conversation_to_the_review_queue(talk: Talk) -> None:
    """A decision waits as proposed in its session, with who, when and where; accepted, it waits no more."""
    talk.say("user", "We decided to use SQLite for the index.")
    talk.say("assistant", "Good. I will do that.")
    talk.stop()
    found = talk.captured()
    assert (found.transcripts, found.failed, found.refused, len(found.proposed)) == (1, 0, 0, 1)
    with Book.open(talk.root, project=APP) as book:
        (waiting,) = book.review()
        assert (waiting.scope, waiting.scope_id, waiting.status) == ("session", "s1", "proposed")
        memory = book.show(waiting.key, "session:s1")
        assert memory.meta.tags == ("captured",)
        (entry,) = memory.entries
        assert (entry.author, entry.host, entry.session) == ("user", "claude-code", "s1")
        assert (entry.trust, entry.occurred) == (Trust.AGENT, "2026-11-15T09:30:00Z")
        book.accept(waiting.key, "session:s1")
        assert book.review() == []


def test_a_proposal_is_told_to_nobody(talk: Talk) -> None:
    """What is only proposed is in no brief, not even of its own session."""
    talk.say("user", "We decided to use SQLite for the index.")
    talk.stop()
    assert talk.captured().proposed
    said = {"session_id": "s1", "cwd": str(talk.root.parent), "source": "startup"}
    assert "SQLite" not in tell(talk.root, "session-start", "claude-code", said, COMMONPLACE_PROJECT=APP)


def test_each_part_is_read_once(talk: Talk) -> None:
    """A reading goes on where the last one ended: what was rejected does not come again."""
    talk.say("user", "We decided to use SQLite for the index.")
    talk.stop()
    talk.stop()
    (first,) = talk.captured().proposed
    with Book.open(talk.root, project=APP) as book:
        book.reject(first.key, "session:s1")
    talk.say("user", "From now on tests run in parallel.")
    talk.stop()
    (second,) = talk.captured().proposed
    assert second.key != first.key
    assert talk.captured() == CaptureResult(0, 0, 0, ())


def test_what_is_known_is_not_proposed(talk: Talk) -> None:
    """A fact that a memory in sight says already is no news; nor is what the brief told, repeated by the agent."""
    talk.say("user", "Remember that for every deploy the VPN is needed.")
    talk.stop()
    assert talk.captured().proposed == ()


def test_injected_text_is_not_captured_back(talk: Talk) -> None:
    """What hooks told the session is not captured when the agent repeats it, even after the memory was forgotten."""
    with Book.open(talk.root, project=APP) as book:
        book.store("It turned out that rows have a BOM.", "bom")
    said = {"session_id": "s1", "cwd": str(talk.root.parent), "source": "startup"}
    assert "rows have a BOM" in tell(talk.root, "session-start", "claude-code", said, COMMONPLACE_PROJECT=APP)
    with Book.open(talk.root, project=APP) as book:
        book.forget("bom", purge=True)
    with Book.open(talk.root, project=APP) as book:  # a memory that is purged is named nowhere in the state
        assert not any("/bom.md" in value for value in book.context.state.list_facts(LOCAL, "").values())
    talk.say("assistant", "It turned out that rows have a BOM.")
    talk.say("assistant", "It turned out that columns have one, too.")
    talk.stop()
    (found,) = talk.captured().proposed
    with Book.open(talk.root, project=APP) as book:
        assert "columns" in book.show(found.key, "session:s1").entries[0].text


def test_secrets_are_kept_out(talk: Talk) -> None:
    """A fact with a secret in it is counted and not stored; it is in no file of the book."""
    talk.say("user", f"Remember that the token is {SECRET} for now.")
    talk.stop()
    assert talk.captured() == CaptureResult(1, 0, 1, ())
    for file in talk.root.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def test_unless_auto_what_waits_is_dropped_unread(talk: Talk) -> None:
    """Who switches capture off does not have read later what was noted before."""
    talk.say("user", "We decided to use SQLite for the index.")
    talk.stop()
    with Book.open(talk.root, project=APP) as book:
        book.configure("capture", "nudge")
    assert talk.captured() == CaptureResult(0, 0, 0, ())
    with Book.open(talk.root, project=APP) as book:
        book.configure("capture", "auto")
    assert talk.captured() == CaptureResult(0, 0, 0, ())


def test_what_cannot_be_read_is_given_up(talk: Talk) -> None:
    """A transcript that is gone is tried three times; one that nobody can understand is nothing."""
    talk.say("user", "Hello there, how are you")
    talk.stop()
    talk.path.unlink()
    assert talk.captured().failed == 1
    talk.path.write_bytes(b"\xff\xff not a transcript\n" * 9)
    talk.stop()
    found = talk.captured()
    assert (found.transcripts, found.proposed) == (1, ())
    state_items = [json.dumps({"path": 5}), "rubbish"]
    with Book.open(talk.root, project=APP) as book:
        for item in state_items:
            book.context.state.spool_put(book.context.memories.space, "transcript", item, book.context.memories.clock())
        assert book.capture() == CaptureResult(0, 0, 0, ())
