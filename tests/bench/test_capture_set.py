"""The capture set is what its page says, and `make bench-capture` counts what it says it counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from commonplace.guard.secrets import find_secrets
from commonplace.text.transcripts import parse_transcript
from tests.bench import capture
from tests.bench.capture import FOLDER, MarkedTranscript, has_half, read_index, score, summarize
from tests.context.test_transcripts import claude, lines

TYPED = {"one-off", "question", "quoted", "sarcasm", "hypothetical", "other", "private", "secret"}
NOT_TYPED = {"tool", "file", "assistant", "taken-back"}
EITHER = {"program"}  # Claude Code puts some of its notes into the user's message

INDEX = read_index()
each_transcript = pytest.mark.parametrize("marked", INDEX, ids=[marked["file"] for marked in INDEX])


def read_lines(marked: MarkedTranscript) -> list[dict[str, object]]:
    """Return the lines of a transcript."""
    return [json.loads(line) for line in (FOLDER / marked["file"]).read_text("utf-8").splitlines()]


def read_messages(marked: MarkedTranscript) -> list[str]:
    """Return the user's messages."""
    data = (FOLDER / marked["file"]).read_bytes()
    return [turn.text for turn in parse_transcript(data, marked["host"]).turns if turn.role == "user"]


def test_the_counts_are_those_of_the_page() -> None:
    """Transcripts, planted facts and near misses are as many as the page says, and every file is in the index."""
    assert {marked["file"] for marked in INDEX} == {file.name for file in FOLDER.glob("*.jsonl")}
    assert Counter(marked["host"] for marked in INDEX) == {"claude-code": 20, "codex": 20}
    kinds = Counter(fact["kind"] for marked in INDEX for fact in marked["planted"])
    assert kinds == {"correction": 45, "preference": 32, "decision": 36}
    assert sum(not marked["planted"] for marked in INDEX) == 2
    near = Counter(miss["kind"] for marked in INDEX for miss in marked["must_not"])
    assert near.total() == 165
    assert set(near) == TYPED | NOT_TYPED | EITHER


@each_transcript
def test_a_transcript_is_json_lines_of_a_usual_length(marked: MarkedTranscript) -> None:
    """Each has 15 to 80 lines, and each line is a JSON object of a type that its host writes."""
    written = read_lines(marked)
    assert 15 <= len(written) <= 80
    known = {
        "claude-code": {"user", "assistant", "summary", "file-history-snapshot"},
        "codex": {"session_meta", "turn_context", "response_item", "event_msg"},
    }
    assert {line["type"] for line in written} <= known[marked["host"]]


@each_transcript
def test_planted_facts_were_typed_and_can_be_found(marked: MarkedTranscript) -> None:
    """The user typed the words of each fact, and these words, and no others that are marked, count for it."""
    said = read_messages(marked)
    for fact in marked["planted"]:
        assert fact["words"], fact
        assert all(any(words in message for message in said) for words in fact["words"]), fact
        assert has_half(" ".join(fact["words"]), fact["statement"]), fact
        others = [" ".join(other["words"]) for other in marked["planted"] if other is not fact]
        others += [miss["words"] for miss in marked["must_not"]]
        assert [text for text in others if has_half(text, fact["statement"])] == []


@each_transcript
def test_near_misses_stand_where_they_should(marked: MarkedTranscript) -> None:
    """The user typed the near misses that a user types and no others, and those that are private are marked so."""
    said = "\n".join(read_messages(marked))
    whole = "\n".join(_strings_in(read_lines(marked)))
    for miss in marked["must_not"]:
        assert miss["words"] in whole, miss
        if miss["kind"] not in EITHER:
            assert (miss["words"] in said) == (miss["kind"] in TYPED), miss
        before = said.partition(miss["words"])[0]
        assert (before.count("<private>") > before.count("</private>")) == (miss["kind"] == "private"), miss


@each_transcript
def test_secrets_are_of_known_shapes_and_not_plain_in_the_file(marked: MarkedTranscript) -> None:
    """The guard knows every invented secret in its message, knows no other there, and no file shows one as it is."""
    secrets = [miss["words"] for miss in marked["must_not"] if miss["kind"] == "secret"]
    found = [message[spot.start : spot.end] for message in read_messages(marked) for spot in find_secrets(message)]
    assert sorted(found) == sorted(secrets)
    for file in (FOLDER / marked["file"], FOLDER / "planted.json"):
        assert not any(secret in file.read_text("utf-8") for secret in secrets)


def test_proposals_are_counted() -> None:
    """A proposal is right, neutral, wrong, or from a near miss; what is private counts even inside of a right one."""
    marked: MarkedTranscript = {
        "file": "x.jsonl",
        "host": "codex",
        "planted": [
            {"kind": "correction", "statement": "Tests use the clock fixture", "words": ["the clock fixture"]},
            {"kind": "decision", "statement": "SQLite holds the index", "words": ["sqlite for the index"]},
        ],
        "must_not": [
            {"kind": "private", "words": "my salary is low"},
            {"kind": "one-off", "words": "skip the slow suite today"},
            {"kind": "question", "words": "should we use tabs?"},
        ],
        "neutral": [{"statement": "Run make with PROBE=stlink", "words": ["make PROBE=stlink"]}],
    }
    proposals = [
        "Use the clock fixture; my salary is low.",
        "Flash with make PROBE=stlink.",
        "Skip the slow suite.",
        "The sky is blue.",
    ]
    figures = summarize([score(marked, proposals)])
    assert (figures.proposals, figures.neutral, figures.precision) == (4, 1, 1 / 3)
    assert (figures.recall, figures.recall_by_kind) == (0.5, {"correction": 1.0, "preference": None, "decision": 0.0})
    assert (figures.from_private, figures.secrets) == (1, 0)
    assert figures.near_misses == {"one-off": 1, "private": 1}


def test_the_bench_runs_what_a_hook_and_the_server_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decision in a transcript goes through hook, spool and capture into the figures, as JSON and as text."""
    decision = "We decided to use SQLite for the index."
    (tmp_path / "one.jsonl").write_bytes(lines(claude("1", None, "user", decision)))
    planted = [{"kind": "decision", "statement": "SQLite for the index", "words": [decision]}]
    marked = {"file": "one.jsonl", "host": "claude-code", "planted": planted, "must_not": [], "neutral": []}
    (tmp_path / "planted.json").write_text(json.dumps({"transcripts": [marked]}), "utf-8")
    monkeypatch.setattr(capture, "FOLDER", tmp_path)
    assert capture.main(["--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["precision"], figures["recall"], figures["by_transcript"][0]["proposals"]) == (1, 1, [decision])
    assert capture.main([]) == 0
    assert "recall           100.0%" in capsys.readouterr().out


def _strings_in(value: object) -> list[str]:
    """Return every text in JSON, also in JSON that is a text itself, as Codex writes the output of tools."""
    if isinstance(value, str):
        return [value, *(_strings_in(json.loads(value)) if value.startswith("{") else [])]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _strings_in(item)] if isinstance(value, list) else []
