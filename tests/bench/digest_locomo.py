"""Whether the summaries of chats lead to the session that answers: LoCoMo-dev, ingested as one channel each.

A session is one day of a channel. Beside it stands FTS5 over whole sessions, which answers with five of them. A summary
may be about many sessions, so two figures are given: whether the evidence is anywhere below the first five hits, and
whether it is among the first five sessions that these hits name, in the order in which they name them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from commonplace.text.words import STOP_WORDS
from tests.bench.digest_commands import BookCommands, NodeHit, scratch_commands
from tests.bench.digest_measures import ProofRow
from tests.bench.tree_quality import LOCOMO, write_slack

TOP = 5
_WORD_SIGNS = str.maketrans(dict.fromkeys("\"'?!.,:;()[]{}<>*-/&%$#@+=|~^`’“”", " "))
_MAX_DEPTH = 5


def measure_locomo(folder: Path, data_dir: Path | None) -> Iterator[ProofRow]:
    """Yield how much of the evidence is found; nothing where the data is not."""
    if data_dir is None or not (data_dir / LOCOMO).exists():
        yield ProofRow("locomo-dev as chat", "left out: --data-dir", "", None)
        return
    below: list[float] = []
    named: list[float] = []
    floor: list[float] = []
    sizes: list[int] = []
    for conversation in json.loads((data_dir / LOCOMO).read_text("utf-8"))["conversations"]:
        root = folder / conversation["id"]
        turns = write_slack(conversation, root / "export")
        sessions = {turn["id"]: int(turn["session"]) for turn in conversation["turns"]}
        with scratch_commands(root / "book", "UTC") as commands:
            commands.ingest(root / "export", "chat", [], "UTC")
            commands.settle()
            expand = _expand_hits(commands, {name: sessions[turn] for name, turn in turns.items()})
            search = _search_sessions(conversation["turns"])
            for question in conversation["questions"]:
                evidence = {sessions[turn] for turn in question["evidence"] if turn in sessions}
                if evidence:
                    hits = [expand(hit) for hit in commands.recall_summaries(question["question"], TOP)]
                    all_named = [*dict.fromkeys(session for found in hits for session in found)]
                    below.append(_share(evidence, all_named))
                    named.append(_share(evidence, all_named[:TOP]))
                    floor.append(_share(evidence, search(question["question"])))
                    sizes.append(len(all_named))
    bare = _mean(floor)
    yield ProofRow("locomo: evidence session in the top 5 of FTS5 over sessions", f"{bare:.1f}", "", None)
    yield _compare("locomo: evidence session below the first 5 hits", _mean(below), bare)
    yield _compare("locomo: evidence session in the first 5 that they name", _mean(named), bare)
    yield ProofRow("locomo: sessions below the first 5 hits, on average", f"{_mean(sizes):.1f}", "", None)


def _compare(name: str, found: float, bare: float) -> ProofRow:
    return ProofRow(name, f"{found:.1f}", f">= {bare + 5:.1f}", found >= bare + 5)


def _share(evidence: set[int], found: Sequence[int]) -> float:
    return 100 * len(evidence & {*found}) / len(evidence)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _expand_hits(commands: BookCommands, sessions: Mapping[str, int]) -> Callable[[NodeHit], list[int]]:
    """Return what tells the sessions of a hit, in the order in which it names them; asked once for each node."""
    known: dict[str, list[int]] = {}

    def expand(hit: NodeHit) -> list[int]:
        if hit.sources and all(source in sessions for source in hit.sources):
            return [*dict.fromkeys(sessions[source] for source in hit.sources)]
        if hit.ref not in known:
            below = commands.drill_down(hit.ref, depth=_MAX_DEPTH)
            sources = [*hit.sources, *(source for child in below for source in child.sources)]
            known[hit.ref] = [*dict.fromkeys(sessions[source] for source in sources if source in sessions)]
        return known[hit.ref]

    return expand


def _search_sessions(turns: Sequence[Mapping[str, Any]]) -> Callable[[str], list[int]]:
    """Return a search by plain FTS5 over whole sessions."""
    texts: dict[int, list[str]] = {}
    for turn in turns:
        texts.setdefault(int(turn["session"]), []).append(f"{turn['author']}: {turn['text']}")
    bare = sqlite3.connect(":memory:")
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    bare.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", [(no, "\n".join(said)) for no, said in texts.items()])

    def search(question: str) -> list[int]:
        words = [word for word in question.translate(_WORD_SIGNS).lower().split() if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        query = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?"
        return [no for (no,) in bare.execute(query, (match, TOP))] if match else []

    return search
