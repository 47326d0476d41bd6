"""What `digest_quality` asks of a book: the command line, in this process, and the notes below tree/*/summary.

Everything that depends on how an answer is written stands here and nowhere else: keys of JSON objects, headings of a
digest, lines of a summary. What is measured does not change with it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest import mock

import yaml

from tests.cli.calls import run

Period = Literal["day", "week", "month", "year"]
Section = Literal["questions", "dates", "people"]
MAX_FETCHED = 20  # ids in one call
_AGENTS = (
    "CLAUDECODE", "CODEX_", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT", "COPILOT_CLI", "CLINE_ACTIVE", "GOOSE_TERMINAL",
    "ROO_ACTIVE", "AUGMENT_AGENT", "QWEN_CODE",
)  # fmt: skip
# How the headings of the parts of a digest begin or what they say. A title of a thread must not look like one.
HEADINGS: Mapping[Section, re.Pattern[str]] = {
    "questions": re.compile(
        r"(open|unanswered|waiting).*question|questions?\b.*\b(you|open|unanswered|without)|waiting for (you|an answer)"
        r"|without an answer|to answer|your answer|asked of you",
        re.IGNORECASE,
    ),
    "dates": re.compile(r"dates?\b.*\bahead|^(dates|ahead|coming( up)?|upcoming|what is ahead)\b", re.IGNORECASE),
    "people": re.compile(
        r"new (people|names|faces|authors|senders)|wrote? for the first time|^newcomers", re.IGNORECASE
    ),
}
UNIT = re.compile(r"\bu-[0-9a-f]{20}\b")
_LEAF = re.compile(r"\bleaf-[0-9a-f]{20}\b")
_LEAF_UNIT = re.compile(r"^\[(u-[0-9a-f]{20})\][^\n]*\n", re.MULTILINE)  # the line above each unit of a leaf
_CITATIONS = (
    re.compile(r"·?\s*\w+:<[^<>]*>"),  # mail:<1@example.org>
    re.compile(r"[\[(<][^\[\]()<>]*\bu-[0-9a-f]{20}\b[^\[\]()<>]*[\])>]"),
    re.compile(r"\[\^[^\]]*\]:?"),
    UNIT,
)


class CommandFailed(RuntimeError):
    """A command that ended with an error, or does not exist."""


class NodeHit(NamedTuple):
    """One hit of an answer of the tree."""

    ref: str
    kind: str
    text: str
    child_ids: tuple[str, ...]
    sources: tuple[str, ...]  # what the source calls the units: mail:<1@example.org>
    time_start: str
    time_end: str


class DigestAnswer(NamedTuple):
    """The digest of a day or a week."""

    text: str
    hits: tuple[NodeHit, ...]
    start: str
    end: str
    nodes: tuple[str, ...]  # its own ids, or those of what it is made of: where a drill-down begins


class TopicAnswer(NamedTuple):
    """A topic as it is listed."""

    name: str
    ident: str  # of the entity
    kind: str
    state: str


class SummaryNote(NamedTuple):
    """A summary as it stands in its file."""

    path: Path
    level: int
    children: tuple[str, ...]
    sentences: tuple[tuple[str, str], ...]  # the id of a unit, and what the summary says that it says
    others: tuple[str, ...]  # lines that name no unit

    @property
    def text(self) -> str:
        """All that it says, without ids."""
        return "\n".join(sentence for _, sentence in self.sentences)


@contextmanager
def scratch_commands(root: Path, zone: str) -> Iterator[BookCommands]:
    """Yield the commands on a book, with nothing of this machine's settings and on the clock of a time zone."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COMMONPLACE_", *_AGENTS)) or name.endswith("_EMBEDDER")
    }
    kept |= {"COMMONPLACE_ROOT": str(root), "COMMONPLACE_PROJECT": "bench", "TZ": zone}
    with mock.patch.dict(os.environ, kept, clear=True):
        _set_zone()
        yield BookCommands(root)
    _set_zone()


def _set_zone() -> None:
    if hasattr(time, "tzset"):  # not on Windows
        time.tzset()


class BookCommands:
    """The commands of one book."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ask(self, *words: str) -> Any:
        """Return the JSON that a command prints. Raises CommandFailed."""
        outcome = run(*words, "--json")
        if outcome.status not in (0, 1, 3) or not outcome.out.strip():  # 1: nothing found; 3: not all could be read
            raise CommandFailed(f"commonplace {' '.join(words)}: exit {outcome.status}: {outcome.err.strip()[:300]}")
        return outcome.answer()

    def ingest(self, path: Path, name: str, owner: Sequence[str], zone: str) -> Mapping[str, Any]:
        """Read a file into a source. `owner` has the owner's addresses and names."""
        words = ("ingest", str(path), "--name", name, "--timezone", zone)
        answer: Mapping[str, Any] = self.ask(*words, *(("--me", ",".join(owner)) if owner else ()))
        return answer

    def settle(self) -> Mapping[str, Any]:
        """Do what is pending, until nothing is."""
        total: dict[str, Any] = {}
        for _ in range(50):
            answer = self.ask("tree", "settle")
            for key in ("sealed", "digests", "topics"):
                total[key] = total.get(key, 0) + int(answer.get(key) or 0)
            total["pending"] = answer.get("pending", 0)
            if not total["pending"]:
                break
        return total

    def digest(self, period: Period, day: date) -> DigestAnswer:
        """Return the digest of the period that a day is in."""
        return _read_digest(self.ask("digest", period, "--date", str(day)))

    def query_global(self, window_days: int) -> DigestAnswer:
        """Return the digest of the last days."""
        return _read_digest(self.ask("tree", "query-global", "--window", str(window_days)))

    def topics(self) -> list[TopicAnswer]:
        """Return all topics, awake or not."""
        answer = self.ask("tree", "topics")
        rows = answer.get("topics", answer.get("hits", ())) if isinstance(answer, Mapping) else answer
        return [_read_topic(row) for row in rows]

    def drill_down(self, node: str, depth: int = 1, limit: int = 100) -> list[NodeHit]:
        """Return what a node is made of."""
        answer = self.ask("tree", "drill-down", node, "--depth", str(depth), "--limit", str(limit))
        return [read_hit(hit) for hit in answer["hits"]]

    def fetch(self, ids: Sequence[str]) -> dict[str, NodeHit]:
        """Return leaves and units by their ids; what is missing is left out."""
        found: dict[str, NodeHit] = {}
        wanted = [*dict.fromkeys(ids)]
        for start in range(0, len(wanted), MAX_FETCHED):
            answer = self.ask("tree", "fetch-leaves", *wanted[start : start + MAX_FETCHED])
            found |= {hit["ref"]: read_hit(hit) for hit in answer["hits"]}
        return found

    def recall_summaries(self, question: str, limit: int) -> list[NodeHit]:
        """Return the summaries that a question finds, best first."""
        answer = self.ask("recall", question, "--kinds", "summary", "--limit", str(limit))
        return [read_hit(hit) for hit in answer["hits"]]

    def summaries(self) -> list[SummaryNote]:
        """Return all summaries of source trees, as their files have them."""
        return [read_summary(path) for path in sorted(self.root.glob("tree/*/summary/*.md")) if path.stem != "index"]


def read_hit(row: Mapping[str, Any]) -> NodeHit:
    """Return a hit of an answer."""
    sources = tuple(str(source).rpartition(" · ")[2] for source in row.get("sources") or ())
    return NodeHit(
        ref=str(row["ref"]),
        kind=str(row.get("kind", "")),
        text=str(row.get("text", "")),
        child_ids=tuple(row.get("child_ids") or ()),
        sources=sources,
        time_start=str(row.get("time_start") or ""),
        time_end=str(row.get("time_end") or ""),
    )


def _read_digest(answer: Mapping[str, Any]) -> DigestAnswer:
    hits = tuple(read_hit(hit) for hit in answer.get("hits") or ())
    own = [str(answer[key]) for key in ("ref", "node", "node_id", "id") if answer.get(key)]
    own += [hit.ref for hit in hits if hit.kind == "digest"]
    nodes = tuple(dict.fromkeys(own)) or tuple(dict.fromkeys(hit.ref for hit in hits))
    text = str(answer.get("text") or "") or "\n".join(hit.text for hit in hits if hit.kind == "digest")
    return DigestAnswer(text, hits, str(answer.get("start") or ""), str(answer.get("end") or ""), nodes)


def _read_topic(row: Mapping[str, Any]) -> TopicAnswer:
    ident = next((str(row[key]) for key in ("entity_id", "entity", "canonical_id", "id", "ref") if row.get(key)), "")
    name = next((str(row[key]) for key in ("name", "surface", "title") if row.get(key)), ident.partition(":")[2])
    kind = ident.partition(":")[0] if ":" in ident else str(row.get("kind", ""))
    return TopicAnswer(name, ident, kind, str(row.get("state") or row.get("status") or ""))


def read_section(text: str, section: Section) -> str:
    """Return the part of a digest below one kind of heading, or beside it on its line; "" if it has none."""
    lines: list[str] = []
    is_inside = False
    for line in text.splitlines():
        label, colon, rest = line.strip(" #*_").partition(":")
        is_item = bool(re.match(r"\s*([-•>]|\* |\d+\.)|\s\s", line))
        parts = [name for name, pattern in HEADINGS.items() if len(label) < 60 and pattern.search(label)]
        is_bare = not rest.strip(" *_") or bool(parts)
        if line.startswith(("#", "**")) or (colon and is_bare and not is_item):
            is_inside = section in parts
            lines += [rest] * is_inside
        elif is_inside:
            lines.append(line)
    return "\n".join(lines)


def read_summary(path: Path) -> SummaryNote:
    """Return what the file of a summary says, sentence by sentence."""
    _, head, body = path.read_text("utf-8").split("---\n", 2)
    front = yaml.safe_load(head) or {}
    listed = front.get("children") or ()
    children = (
        UNIT.findall(head) + _LEAF.findall(head) if not isinstance(listed, list) else [str(one) for one in listed]
    )
    found = re.search(r"L(\d+)", str(front.get("level", "")) or path.stem) or re.match(r"L(\d+)", path.stem)
    level = int(front["level"]) if str(front.get("level", "")).isdigit() else int(found[1]) if found else 0
    sentences: list[tuple[str, str]] = []
    others: list[str] = []
    for line in re.sub("<!--.*?-->", "", body, flags=re.DOTALL).splitlines():
        units = UNIT.findall(line)
        if units:
            sentences.append((units[0], _strip_citations(line)))
        elif line.strip() and not line.startswith("#"):
            others.append(line)
    return SummaryNote(path, level, tuple(children), tuple(sentences), tuple(others))


def _strip_citations(line: str) -> str:
    for pattern in _CITATIONS:
        line = pattern.sub("", line)
    return line.strip(" -*>·•—\t").rstrip(":").strip()


def split_leaf(leaf: NodeHit) -> list[tuple[str, str]]:
    """Return the units of a leaf with their texts, in order."""
    parts = _LEAF_UNIT.split(leaf.text)
    return [*zip(parts[1::2], parts[2::2], strict=True)] or [(leaf.ref, leaf.text)]
