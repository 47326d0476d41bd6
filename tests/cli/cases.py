"""How each verb is used and misused, on the small book of conftest.py. A verb without a line here fails the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Line = tuple[str, ...]
GONE = "0" * 32
SMALL_SET = str(Path(__file__).with_name("small_set.json"))
SOURCE = str(Path(__file__).parents[1] / "maintenance" / "import" / "sources" / "mem0")
AMBIGUOUS = str(Path(__file__).parents[1] / "maintenance" / "import" / "sources")
MAIL = str(Path(__file__).with_name("small_mail.mbox"))
NOTES = str(Path(__file__).with_name("small_notes.md"))
ANSWER = str(Path(__file__).with_name("small_answer.md"))
UNIT = "u-2896956e4d924343110d"  # the first mail
MANIFEST = str(Path(__file__).with_name("run.json"))
SECRET = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"


@dataclass(frozen=True)
class Case:
    good: Sequence[Line]  # answered, with status 0
    empty: Sequence[Line] = ()  # answered, with status 1: nothing was found
    wrong: Sequence[tuple[Line, int, str]] = ()  # refused, with this status and this code


CASES: dict[str, Case] = {
    "store": Case(
        good=(
            ("Staging listens on port 6000!", "--key", "new", "--tags", "a,b", "--type", "user", "--summary", "A line"),
            ("More.", "--key", "test-runner", "--author", "me", "--occurred", "2026-01-02T03:04:05Z", "--seq", "3"),
            ("Other.", "--key", "staging-port", "--mode", "replace"),
            ("Nose is gone.", "--decision", "supersede:test-runner", "--thread", "t"),
            ("Staging listens on port 6000.", "--key", "staging-port"),
        ),
        wrong=(
            ((), 2, "usage"),
            (("x", "--mode", "odd"), 2, "usage"),
            (("x", "--seq", "odd"), 2, "usage"),
            (("x", "--key", "Bad Key!"), 12, "invalid_key"),
            (("x", "--scope", "nowhere"), 13, "invalid_scope"),
            (("",), 14, "invalid_content"),
            (("x", "--type", "odd"), 15, "invalid_field"),
            (("x", "--decision", "odd"), 15, "invalid_field"),
            (("x", "--occurred", "never"), 15, "invalid_field"),
            (("x", "--tags", "a b"), 15, "invalid_field"),
            (("x", "--key", "staging-port", "--if-revision", GONE), 32, "revision_mismatch"),
            ((f"The token is {SECRET}",), 43, "secret_found"),
        ),
    ),
    "project": Case(
        good=((), ("show",)),
        wrong=(
            (("adopt",), 2, "usage"),
            (("show", "x"), 2, "usage"),
            (("adopt", "github.com/acme/app"), 13, "invalid_scope"),
        ),
    ),
    "recall": Case(
        good=(("which port does staging use",), ("tests", "--explain"), (), ("tests", "--related", "--all")),
        empty=(("penguins", "--strong"), ("penguins", "--tags", "nowhere")),
        wrong=(
            (("x", "--mode", "odd"), 2, "usage"),
            (("x", "--limit", "0"), 15, "invalid_field"),
            (("x", "--since", "never"), 15, "invalid_field"),
            (("x", "--scope", "nowhere"), 13, "invalid_scope"),
        ),
    ),
    "show": Case(
        good=(
            ("test-runner",),
            ("release-day", "--scope", "global"),
            ("note", "--scope", "session:s1"),
            ("test-runner", "--related"),
        ),
        wrong=(((), 2, "usage"), (("not-there",), 1, "not_found"), (("x", "--scope", "odd"), 13, "invalid_scope")),
    ),
    "list": Case(
        good=((), ("--all", "--hidden"), ("--tag", "#ci", "--type", "feedback")),
        empty=(("--tag", "nobody"), ("--outside",)),
        wrong=((("--scope", "nowhere"), 13, "invalid_scope"), (("odd",), 2, "usage")),
    ),
    "edit": Case(
        good=(("test-runner",),),
        wrong=(((), 2, "usage"), (("not-there",), 1, "not_found")),
    ),
    "forget": Case(
        good=(
            ("test-runner",),
            ("staging-port", "--purge", "--yes"),
            ("old-runner", "--purge", "--yes"),
            ("--all", "--scope", "global", "--yes"),
        ),
        wrong=(
            ((), 2, "usage"),
            (("--all",), 2, "usage"),
            (("--all", "--scope", "global"), 2, "usage"),
            (("test-runner", "--all", "--scope", "global"), 2, "usage"),
            (("test-runner", "--purge"), 2, "usage"),
            (("not-there",), 1, "not_found"),
            (("test-runner", "--if-revision", GONE), 32, "revision_mismatch"),
        ),
    ),
    "restore": Case(
        good=(("old-runner",), (), ("--since", "1h"), ("--all", "--scope", "project")),
        empty=(("--scope", "global"), ("--all", "--scope", "global")),
        wrong=(
            (("not-there",), 1, "not_found"),
            (("--all",), 2, "usage"),
            (("old-runner", "--since", "1h"), 2, "usage"),
            (("--since", "never"), 15, "invalid_field"),
        ),
    ),
    "move": Case(
        good=(
            ("staging-port", "--to", "global"),
            ("release-day", "--to", "project:github.com/acme/web"),
            ("slow-tests", "--key", "tests/slow"),
        ),
        wrong=(
            ((), 2, "usage"),
            (("staging-port",), 15, "invalid_field"),
            (("not-there", "--to", "global"), 1, "not_found"),
            (("staging-port", "--to", "nowhere"), 13, "invalid_scope"),
            (("staging-port", "--to", "project"), 30, "conflict"),
        ),
    ),
    "ingest": Case(
        good=((NOTES, "--name", "pages"), (NOTES, "--dry-run", "--kind", "document"), ("--update",)),
        wrong=(
            ((), 15, "invalid_field"),
            ((NOTES, "--update"), 15, "invalid_field"),
            ((NOTES, "--name", "Bad Name!"), 15, "invalid_field"),
            ((NOTES, "--timezone", "Nowhere/Else"), 15, "invalid_field"),
            (("nowhere.mbox",), 1, "not_found"),
            ((NOTES, "--kind", "odd"), 91, "unknown_format"),
        ),
    ),
    "digest": Case(
        good=(("day", "--date", "2026-11-02"), ("week", "--date", "2026-11-02"), ("--date", "2026-11-02")),
        empty=(("--date", "2020-01-01"),),
        wrong=(
            (("decade",), 2, "usage"),
            (("--date", "someday"), 15, "invalid_field"),
            (("--source", "nothing"), 1, "not_found"),
        ),
    ),
    "tree": Case(
        good=(
            ("search-entities", "ann"),
            ("query-topic", "person:ann@example.org", "--window", "36000"),
            ("query-source", "--kind", "email", "--query", "lunch"),
            ("fetch-leaves", UNIT),
            ("cite", ANSWER),
            ("sources",),
            ("status",),
            ("cost",),
            ("show",),
            ("settle", "--seconds", "60"),
            ("drill-down", "digest-2026-11-02"),
            ("query-global", "--window", "3660"),
            ("forget", "small-mail", "--yes"),
            ("entity", "merge", "ann@example.org", "person:bob@example.org"),
        ),
        empty=(
            ("search-entities", "nobody"),
            ("query-topic", "person:nobody"),
            ("query-source", "--window", "1"),
            ("query-global", "--window", "1"),
            ("topics",),
            ("fetch-leaves", "u-nothing"),
            ("entity", "list"),
        ),
        wrong=(
            ((), 2, "usage"),
            (("entity",), 2, "usage"),
            (("entity", "odd"), 2, "usage"),
            (("entity", "undo", "nobody"), 1, "not_found"),
            (("entity", "merge", "nobody", "person:bob@example.org"), 1, "not_found"),
            (("forget", "mail"), 2, "usage"),
            (("forget", "nothing", "--yes"), 1, "not_found"),
            (("query-source", "--source", "nothing"), 1, "not_found"),
            (("query-source", "--limit", "0"), 15, "invalid_field"),
            (("drill-down", "L1-nothing"), 1, "not_found"),
            (("drill-down", UNIT, "--depth", "0"), 15, "invalid_field"),
            (("drill-down", UNIT, "--depth", "6"), 15, "invalid_field"),
            (("query-global", "--window", "3661"), 15, "invalid_field"),
            (("show", "--source", "nothing"), 1, "not_found"),
            (("query-topic", "x", "--window", "0"), 15, "invalid_field"),
            (("search-entities", "x", "--kinds", "odd"), 15, "invalid_field"),
            (("fetch-leaves", *["u-1"] * 21), 15, "invalid_field"),
            (("cite", "nowhere.md"), 1, "not_found"),
        ),
    ),
    "rename": Case(
        good=(("staging-port", "port"), ("release-day", "days/release", "--scope", "global")),
        wrong=(
            (("staging-port",), 2, "usage"),
            (("not-there", "port"), 1, "not_found"),
            (("staging-port", "Bad Key!"), 12, "invalid_key"),
            (("staging-port", "lesson"), 31, "already_exists"),
        ),
    ),
    "review": Case(
        good=(
            ("--list",),
            (),
            ("--capture",),
            ("--accept", "lesson"),
            ("--accept", "lesson", "--text", "A better lesson."),
            ("--accept", "lesson", "--into", "global"),
            ("--reject", "slow-tests", "--rel", "contradicts", "--to", "release-day"),
        ),
        wrong=(
            (("--text", "x"), 2, "usage"),
            (("--rel", "contradicts", "--to", "x"), 2, "usage"),
            (("--reject", "lesson", "--into", "global"), 2, "usage"),
            (("--accept", "lesson", "--into", "nowhere"), 13, "invalid_scope"),
            (("--accept", "test-runner", "--into", "global"), 30, "conflict"),
            (("--accept", "x", "--reject", "y"), 2, "usage"),
            (("--accept", "x", "--capture"), 2, "usage"),
            (("--accept", "not-there"), 1, "not_found"),
            (("--accept", "slow-tests", "--rel", "contradicts"), 15, "invalid_field"),
            (("--accept", "lesson", "--text", SECRET), 43, "secret_found"),
        ),
    ),
    "history": Case(
        good=(("staging-port",), ("staging-port", "--diff"), ("old-runner",), (), ("--limit", "2")),
        empty=(("--of-session", "nobody"),),
        wrong=(
            (("--scope", "global"), 2, "usage"),
            (("staging-port", "--since", "2026-01-01"), 2, "usage"),
            (("not-there",), 1, "not_found"),
        ),
    ),
    "pin": Case(good=(("staging-port",),), wrong=(((), 2, "usage"), (("not-there",), 1, "not_found"))),
    "unpin": Case(good=(("staging-port",),), wrong=(((), 2, "usage"), (("not-there",), 1, "not_found"))),
    "undo": Case(
        good=(("staging-port",), ("staging-port", "--steps", "1")),
        wrong=(
            ((), 2, "usage"),
            (("not-there",), 1, "not_found"),
            (("staging-port", "--steps", "0"), 15, "invalid_field"),
            (("staging-port", "--steps", "9"), 30, "conflict"),
            (("staging-port", "--to", "0000"), 1, "not_found"),
        ),
    ),
    "timeline": Case(
        good=((), ("--limit", "2")),
        empty=(("--of-session", "nobody"),),
        wrong=((("--limit", "0"), 15, "invalid_field"), (("--limit", "odd"), 2, "usage")),
    ),
    "related": Case(
        good=(("test-runner",),),
        empty=(("staging-port",),),
        wrong=(((), 2, "usage"), (("not-there",), 1, "not_found")),
    ),
    "journal": Case(
        good=(
            ("list",),
            ("list", "--worker", "tester", "--status", "failed", "--limit", "1"),
            ("show", "run-1"),
            ("record", MANIFEST),
            ("record", MANIFEST, "--agent", "lead"),
            ("lessons", "--dry-run"),
            ("lessons", "--agent", "lead"),
            ("compact", "--days", "30"),
            ("schema",),
        ),
        empty=(("list", "--worker", "nobody"), ("list", "--project", "another"), ("lessons", "--project", "another")),
        wrong=(
            ((), 2, "usage"),
            (("show",), 2, "usage"),
            (("list", "x"), 2, "usage"),
            (("list", "--limit", "0"), 15, "invalid_field"),
            (("list", "--cursor", "odd"), 15, "invalid_field"),
            (("compact", "--days", "0"), 15, "invalid_field"),
            (("show", "not-there"), 1, "not_found"),
            (("record", "/not/there"), 1, "not_found"),
            (("record", SMALL_SET), 75, "invalid_manifest"),
            (("record", "-"), 75, "invalid_manifest"),
            (("lessons",), 13, "invalid_scope"),
        ),
    ),
    "files": Case(
        good=(
            ("list",),
            ("sh", "-c", "ls /"),
            ("data", "list"),
            ("list", "/memories", "--inactive"),
            ("read", "/memories/global/release-day.md", "--tail", "1"),
            ("search", "THURSDAYS", "/memories"),
            ("search", "port [0-9]+", "--regex", "--case-sensitive", "--all", "--limit", "1"),
        ),
        empty=(("search", "penguins"), ("list", "/", "--offset", "99")),
        wrong=(
            ((), 2, "usage"),
            (("odd",), 2, "usage"),
            (("list", "/a", "/b"), 2, "usage"),
            (("read",), 2, "usage"),
            (("search",), 2, "usage"),
            (("read", "/not-there.md"), 1, "not_found"),
            (("list", "/../x"), 16, "invalid_path"),
            (("read", "/memories"), 16, "invalid_path"),
            (("read", "/index.md", "--tail", "0"), 15, "invalid_field"),
            (("search", "x", "--limit", "1001"), 15, "invalid_field"),
            (("search", "(a", "--regex"), 70, "invalid_pattern"),
        ),
    ),
    "sh": Case(
        good=(("-c", "ls /"), ("-c", "cat index.md", "--cwd", "/data"), ("-c", "find / -type d", "--all")),
        empty=(("-c", "grep -r penguins /"), ("-c", "cat nope")),
        wrong=(
            (("odd",), 2, "usage"),
            (("-c", "ls", "--cwd", "/nowhere"), 1, "not_found"),
            (("-c", "ls", "--cwd", "../x"), 16, "invalid_path"),
        ),
    ),
    "consolidate": Case(
        good=(("test-runner", "slow-tests", "--text", "Tests: pytest, --slow.", "--into", "testing"),),
        wrong=(
            (("test-runner", "slow-tests"), 2, "usage"),
            (("test-runner", "--text", "x"), 15, "invalid_field"),
            (("test-runner", "not-there", "--text", "x"), 1, "not_found"),
        ),
    ),
    "link": Case(
        good=(("staging-port", "relates_to", "global/release-day"), ("test-runner", "supersedes", "slow-tests")),
        wrong=(
            (("staging-port", "relates_to"), 2, "usage"),
            (("staging-port", "odd", "x"), 15, "invalid_field"),
            (("not-there", "relates_to", "x"), 1, "not_found"),
        ),
    ),
    "clear": Case(
        good=(("project", "--yes"),),
        empty=(("session:nobody", "--yes"),),
        wrong=(
            ((), 2, "usage"),
            (("project",), 2, "usage"),
            (("nowhere", "--yes"), 13, "invalid_scope"),
            (("session", "--yes"), 13, "invalid_scope"),
        ),
    ),
    "data": Case(
        good=(("list",), ("get", "prices.csv"), ("put", "new.csv", "-"), ("remove", "prices.csv")),
        wrong=(
            ((), 2, "usage"),
            (("odd",), 2, "usage"),
            (("put",), 2, "usage"),
            (("list", "x"), 2, "usage"),
            (("get", "prices.csv", "x"), 2, "usage"),
            (("get", "not-there"), 1, "not_found"),
            (("put", "x", "/not/there"), 1, "not_found"),
            (("get", "../index.md"), 16, "invalid_path"),
        ),
    ),
    "import": Case(
        good=(
            (SOURCE,),
            (SOURCE, "--dry-run", "--scope", "global"),
            (SOURCE, "--from", "mem0", "--reviewed", "--skip-secrets", "--all"),
        ),
        empty=((SMALL_SET, "--from", "mem0"),),
        wrong=(
            ((), 2, "usage"),
            (("/not/there",), 1, "not_found"),
            ((SOURCE, "--scope", "nowhere"), 13, "invalid_scope"),
            (("../book",), 90, "source_refused"),
            ((SMALL_SET,), 91, "unknown_format"),
            ((SOURCE, "--from", "odd"), 91, "unknown_format"),
            ((AMBIGUOUS,), 92, "ambiguous_format"),
        ),
    ),
    "mcp": Case(
        good=(("--list",), ("--list", "--role", "coordinator", "--read-only")),
        wrong=((("odd",), 2, "usage"), (("--role", "odd"), 2, "usage"), (("--protocol", "odd"), 2, "usage")),
    ),
    "connect": Case(
        good=(
            ("codex",),
            ("claude-code", "--protocol"),
            ("cursor", "--project"),
            ("gemini", "--print"),
            ("gemini", "cursor", "--dry-run"),
            ("agents-md",),
            ("--all",),
            ("--list",),
            (),
        ),
        wrong=(
            (("codex", "--list"), 2, "usage"),
            (("codex", "--all"), 2, "usage"),
            (("codex", "--user", "--project"), 2, "usage"),
            (("codex", "--protocol"), 2, "usage"),
            (("agents-md", "--user"), 2, "usage"),
            (("odd",), 86, "unknown_host"),
        ),
    ),
    "disconnect": Case(
        good=(("codex",), ("cursor", "--project", "--print")),
        wrong=(((), 2, "usage"), (("../odd",), 86, "unknown_host")),
    ),
    "hosts": Case(good=((),), wrong=((("odd",), 2, "usage"),)),
    "brief": Case(good=((), ("--prompt", "Which port does staging use?")), wrong=((("odd",), 2, "usage"),)),
    "capture": Case(good=((),), wrong=((("odd",), 2, "usage"),)),
    "init": Case(good=((), ("--template", "full")), wrong=((("--template", "odd"), 2, "usage"),)),
    "status": Case(good=((),), wrong=((("odd",), 2, "usage"),)),
    "config": Case(
        good=((), ("get", "enabled"), ("set", "lock_timeout", "30"), ("unset", "lock_timeout"), ("trust", "--yes")),
        wrong=(
            (("odd",), 2, "usage"),
            (("get",), 2, "usage"),
            (("get", "odd"), 17, "invalid_settings"),
            (("set", "lock_timeout", "odd"), 17, "invalid_settings"),
            (("set", "root", "x"), 17, "invalid_settings"),
        ),
    ),
    "trust": Case(good=(("--yes",), ("--revoke",), ("--memories", "--yes")), wrong=(((), 2, "usage"),)),
    "verify": Case(good=((),), wrong=((("odd",), 2, "usage"),)),
    "doctor": Case(good=((), ("verify",), ("scan",), ("reindex", "--vectors")), wrong=((("odd",), 2, "usage"),)),
    "scan": Case(good=((),), wrong=((("odd",), 2, "usage"),)),
    "reindex": Case(good=((), ("--vectors",)), wrong=((("odd",), 2, "usage"),)),
    "tour": Case(good=((),), wrong=((("odd",), 2, "usage"),)),
    "completion": Case(good=(("bash",), ("zsh",), ("fish",)), wrong=(((), 2, "usage"), (("powershell",), 2, "usage"))),
}
