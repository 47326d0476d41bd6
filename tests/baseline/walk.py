"""The scripted walk through every verb of the command line, and the calls that must be refused.

Every step is one call with `--json` in the same book, a minute after the one before. A step is named by its words, so a
comparison can say which call changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.baseline.product import Product

SECRET = "ghp_" + "x7Kp2mQ9vT4nR8sW1b" + "Y6cF3hJ5dL0gZaEuIo"
GONE = "0" * 32
HAND_WRITTEN_AT = 1_762_000_000  # 2025-11-01
_EDITOR = """import pathlib, sys
path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text("utf-8").replace("5432", "5433"), "utf-8")
"""
_RUN = {
    "goal": "Ship it",
    "tasks": [
        {"id": "t1", "worker": "writer", "description": "Write the notes", "result": "Written."},
        {"id": "t2", "worker": "tester", "description": "Run the suite", "status": "failed", "error": "3 tests failed"},
    ],
}
_IMPORTED = {
    "CLAUDE.md": "# Rules\n\n- Use tabs in Makefiles.\n- Never commit to main.\n",
    "AGENTS.md": "# Agents\n\n## Build\n\nRun `make build` before a push.\n",
}
HIT_FIELDS = ("kind", "scope", "key", "text", "score")
MEMORY_FIELDS = ("scope", "scope_id", "key", "status", "summary")
BRIEF_WORDING = frozenset({"text", "prompt_text", "characters"})


@dataclass(frozen=True)
class Step:
    """One call: its words, what it reads, what must be done before it, and which of its values are wording.

    With `fields`, only these are kept of each hit or memory in the answer: where another step keeps them all.
    """

    words: tuple[str, ...]
    stdin: bytes = b""
    prepare: Callable[[Product], None] | None = None
    wording: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()

    def shorten(self, answer: Any) -> Any:
        """Return an answer with only the wanted fields of its hits or memories."""
        if not self.fields or not isinstance(answer, dict):
            return answer
        return {
            name: [{field: item.get(field) for field in self.fields} for item in value]
            if name in ("hits", "memories")
            else value
            for name, value in answer.items()
        }

    @property
    def name(self) -> str:
        """The words as a person would type them, cut where they are long."""
        words = [word.replace(SECRET, "SECRET") for word in self.words]
        return " ".join(word if word and " " not in word else repr(word) for word in words)[:100]


def _step(*words: str, stdin: bytes = b"", wording: frozenset[str] = frozenset()) -> Step:
    return Step(words, stdin, None, wording)


def write_sources(product: Product) -> None:
    """Write the files that steps read: manifests of runs, a folder to import, an editor, a table."""
    sources = product.scratch / "sources"
    (sources / "rules").mkdir(parents=True)
    for name, text in _IMPORTED.items():
        (sources / "rules" / name).write_text(text, encoding="utf-8")
    for number in (1, 2, 3):
        manifest = {"run_id": f"run-{number}", "finished": f"2026-03-0{number}T08:00:00Z", **_RUN}
        (sources / f"run-{number}.json").write_text(json.dumps(manifest), encoding="utf-8")
    (sources / "odd.json").write_text('{"odd": 1}', encoding="utf-8")
    (sources / "editor.py").write_text(_EDITOR, encoding="utf-8")


def write_by_hand(product: Product) -> None:
    """Put a note without frontmatter into the book, as a person with an editor does."""
    path = product.root / "memories" / "global" / "by-hand.md"
    path.write_text("# Coffee\n\nThe machine on the second floor is broken.\n", encoding="utf-8")
    os.utime(path, (HAND_WRITTEN_AT, HAND_WRITTEN_AT))


def list_steps(sources: Path) -> list[Step]:
    """Return the walk, in order."""
    port = "which port does staging use"
    return [
        _step("init"),
        _step("init", "--template", "full"),
        _step("status"),
        _step("config"),
        _step("config", "set", "lock_timeout", "30"),
        _step("config", "get", "lock_timeout"),
        _step("config", "unset", "lock_timeout"),
        _step("list"),
        _step("recall", "anything"),
        _step("store", "Tests run with pytest.", "--key", "test-runner", "--type", "feedback", "--tags", "ci,python"),
        _step("store", "Slow tests need --slow.", "--key", "slow-tests"),
        _step("store", "Staging listens on port 5432.", "--key", "staging-port", "--tags", "ops"),
        _step("store", "Staging listens on port 6000.", "--key", "staging-port", "--mode", "replace"),
        _step("store", "It moved in January.", "--key", "staging-port", "--author", "ann", "--occurred",
              "2026-01-10T10:00:00Z", "--thread", "t1", "--seq", "3"),
        _step("store", "Releases are on Thursdays.", "--key", "release-day", "--scope", "global", "--summary",
              "Release day"),
        _step("store", "Ann answers questions about billing.", "--key", "people/ann", "--scope", "global", "--type",
              "user"),
        _step("store", "Deploys go through [[test-runner]] first, then to staging."),
        _step("store", "-", "--key", "from-stdin", stdin="Grüße aus der Küche.\n".encode()),
        _step("store", "Tests run with pytest."),
        _step("store", "Tests run with pytest 9.", "--decision", "update:test-runner"),
        _step("store", "Nose ran the tests.", "--key", "old-runner"),
        _step("store", "Pytest replaced nose.", "--decision", "supersede:old-runner"),
        _step("store", "The scout was here.", "--key", "note", "--scope", "session", "--agent", "scout", "--session",
              "s1"),
        _step("store", "The scout likes short answers.", "--scope", "agent", "--agent", "scout"),
        Step(("list", "--scope", "global"), prepare=write_by_hand),
        _step("recall", port),
        *(
            Step(("recall", port, "--mode", mode, "--sort", sort), fields=HIT_FIELDS)
            for mode in ("hybrid", "lexical", "semantic")
            for sort in ("score", "recency", "usage")
        ),
        Step(("recall",), fields=HIT_FIELDS),
        Step(("recall", "tests", "--explain"), fields=HIT_FIELDS),
        Step(("recall", "deploys", "--related"), fields=HIT_FIELDS),
        Step(("recall", "scout", "--all"), fields=HIT_FIELDS),
        Step(("recall", "tests", "--type", "feedback", "--tags", "ci"), fields=HIT_FIELDS),
        _step("recall", '"port 6000"'),
        _step("recall", port, "--as-of", "2026-03-02T09:12:30Z"),
        _step("recall", "--since", "2026-01-01", "--until", "2026-02-01"),
        _step("recall", "tests", "--limit", "1", "--budget-tokens", "20"),
        Step(("recall", "nose", "--expired"), fields=HIT_FIELDS),
        _step("recall", "penguins in Antarctica"),
        _step("show", "staging-port"),
        _step("show", "people/ann", "--scope", "global"),
        _step("show", "by-hand"),
        _step("list"),
        Step(("list", "--all", "--hidden"), fields=MEMORY_FIELDS),
        _step("list", "--tag", "ci"),
        _step("list", "--outside"),
        _step("edit", "staging-port"),
        _step("store", "Staging is in Paris.", "--key", "staging-port", "--if-revision", "{revision}"),
        _step("history", "staging-port"),
        _step("undo", "staging-port"),
        _step("history", "staging-port"),
        _step("forget", "slow-tests"),
        _step("history", "slow-tests"),
        _step("restore", "slow-tests"),
        _step("link", "test-runner", "relates_to", "slow-tests"),
        _step("link", "staging-port", "contradicts", "global/release-day", "--agent", "scout"),
        _step("related", "test-runner"),
        _step("related", "people/ann"),
        *(_step("journal", "record", str(sources / f"run-{number}.json")) for number in (1, 2, 3)),
        _step("journal", "record", str(sources / "run-3.json")),
        _step("journal", "list"),
        _step("journal", "list", "--worker", "tester", "--status", "failed", "--limit", "1"),
        _step("journal", "show", "run-2"),
        _step("journal", "lessons", "--dry-run"),
        _step("journal", "lessons"),
        _step("journal", "lessons", "--agent", "lead"),
        _step("journal", "compact", "--days", "90"),
        _step("recall", "suite failed", "--kinds", "journal"),
        _step("review"),
        _step("review", "--list", "--agent", "lead"),
        _step("review", "--accept", "staging-port", "--rel", "contradicts", "--to", "global/release-day"),
        _step("timeline", "--limit", "5"),
        Step(("timeline", "--limit", "3", "--since", "2026-03-01"), fields=HIT_FIELDS),
        _step("timeline", "--of-session", "s1"),
        _step("brief", wording=BRIEF_WORDING),
        _step("brief", "--prompt", port, wording=BRIEF_WORDING),
        _step("brief", "--agent", "scout", "--session", "s1", wording=BRIEF_WORDING),
        _step("data", "put", "prices.csv", stdin=b"item,price\ntea,1\ncoffee,2\n"),
        _step("data", "list"),
        _step("data", "get", "prices.csv"),
        _step("files", "list"),
        _step("files", "list", "/memories/global"),
        _step("files", "read", "/memories/global/release-day.md"),
        _step("files", "read", "/memories/global/by-hand.md", "--tail", "1"),
        _step("files", "search", "THURSDAYS", "/memories"),
        _step("files", "search", "port [0-9]+", "--regex", "--all", "--limit", "2"),
        _step("sh", "-c", "ls /"),
        _step("sh", "-c", "ls -R /memories", "--all"),
        _step("sh", "-c", "tree /memories/global"),
        _step("sh", "-c", "grep -rin pytest /memories"),
        _step("sh", "-c", "grep -r penguins /memories"),
        _step("sh", "-c", "find /memories -name '*.md' -type f"),
        _step("sh", "-c", "cat /data/prices.csv"),
        _step("sh", "-c", "query /data/prices.csv --field item --equals tea"),
        _step("sh", "-c", "wc -l /data/prices.csv"),
        _step("sh", "-c", "rm /data/prices.csv"),
        _step("sh", "-c", "ls / | wc"),
        _step("sh", "-c", "help", wording=frozenset({"stdout"})),
        _step("data", "remove", "prices.csv"),
        _step("consolidate", "test-runner", "slow-tests", "--text", "Tests: pytest; --slow for slow ones.", "--into",
              "testing"),
        _step("import", str(sources / "rules"), "--dry-run"),
        _step("import", str(sources / "rules")),
        _step("import", str(sources / "rules")),
        _step("list", "--outside", "--all"),
        _step("trust", "--memories", "--yes"),
        _step("trust", "--yes"),
        _step("trust", "--revoke"),
        _step("hosts"),
        _step("connect", "codex", "--print"),
        _step("connect", "claude-code"),
        _step("hosts"),
        _step("disconnect", "claude-code"),
        _step("connect", "cursor", "--project", "--print"),
        _step("capture"),
        _step("verify"),
        _step("doctor"),
        _step("scan"),
        _step("reindex"),
        _step("reindex", "--vectors"),
        _step("mcp", "--list"),
        _step("mcp", "--list", "--role", "coordinator", "--read-only"),
        *(_step("completion", shell, wording=frozenset({"script"})) for shell in ("bash", "zsh", "fish")),
        _step("clear", "session:s1", "--yes"),
        _step("forget", "old-runner", "--purge", "--yes"),
        _step("list", "--all", "--hidden"),
        _step("status"),
        _step("verify"),
    ]  # fmt: skip


def list_wrong_calls(sources: Path) -> list[Step]:
    """Return the calls that must be refused, none of which changes the book."""
    return [
        _step(),
        _step("stroe"),
        _step("recall", "x", "--no-such-option"),
        _step("store"),
        _step("store", "x", "--mode", "odd"),
        _step("store", "x", "--seq", "odd"),
        _step("store", "x", "--key", "Bad Key!"),
        _step("store", "x", "--scope", "nowhere"),
        _step("store", "x", "--scope", "session"),
        _step("store", ""),
        _step("store", "x", "--type", "odd"),
        _step("store", "x", "--decision", "odd"),
        _step("store", "x", "--occurred", "never"),
        _step("store", "x", "--tags", "a b"),
        _step("store", "x", "--key", "staging-port", "--if-revision", GONE),
        _step("store", f"The token is {SECRET}"),
        _step("recall", "x", "--limit", "0"),
        _step("recall", "x", "--since", "never"),
        _step("recall", "x", "--mode", "odd"),
        _step("show", "not-there"),
        _step("show", "x", "--scope", "odd"),
        _step("edit", "not-there"),
        _step("forget", "staging-port", "--purge"),
        _step("forget", "staging-port", "--if-revision", GONE),
        _step("restore", "not-there"),
        _step("undo", "not-there"),
        _step("review", "--accept", "not-there"),
        _step("review", "--accept", "x", "--reject", "y"),
        _step("timeline", "--limit", "0"),
        _step("journal", "show", "not-there"),
        _step("journal", "record", str(sources / "odd.json")),
        _step("journal", "list", "--cursor", "odd"),
        _step("files", "read", "/not-there.md"),
        _step("files", "list", "/../x"),
        _step("files", "search", "(a", "--regex"),
        _step("sh", "-c", "ls", "--cwd", "/nowhere"),
        _step("consolidate", "staging-port", "--text", "x"),
        _step("link", "staging-port", "odd", "x"),
        _step("clear", "project"),
        _step("clear", "nowhere", "--yes"),
        _step("data", "get", "not-there"),
        _step("data", "get", "../index.md"),
        _step("import", str(sources / "not-there")),
        _step("import", str(sources / "odd.json")),
        _step("mcp", "--role", "person"),
        _step("mcp", "--protocol", "odd"),
        _step("connect", "vim"),
        _step("connect", "codex", "--user", "--project"),
        _step("disconnect", "vim"),
        _step("config", "get", "odd"),
        _step("config", "set", "lock_timeout", "odd"),
        _step("trust"),
        _step("completion", "powershell"),
    ]
