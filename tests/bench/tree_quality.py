"""How well the tree finds what was said: `python -m tests.bench.tree_quality`, or `make bench-tree`.

A generated mailbox with its truth (mailbox_set.md): 200 questions, half in other words than the mail, and questions for
people; and the conversations of LoCoMo-dev, where the folder of data has them (`--data-dir`), ingested as chat, and
stored as plain memories with the embedder that the tree has. Beside each a plain FTS5 query over the same units. A hit
counts for the unit that it shows.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Book
from commonplace.model.results import Hit
from commonplace.text.words import STOP_WORDS
from tests.bench.mailbox_maker import make_mailbox
from tests.bench.mailbox_truth import MailboxTruth
from tests.bench.recall_data import DATA_FOLDER, read_data_set
from tests.bench.recall_quality import ask_mode, fill_books

LOCOMO = "locomo-dev.json"
_DEPTH = 10
_EMBEDDER = "COMMONPLACE_EMBEDDER"
_WORD_SIGNS = str.maketrans(dict.fromkeys("\"'?!.,:;()[]{}<>*-/&%$#@+=|~^`’“”", " "))


class Share(NamedTuple):
    """How many of some questions were answered."""

    name: str
    found: float
    floor: float | None
    wanted: str

    def line(self) -> str:
        """Return the line of the table."""
        floor = f"{self.floor:6.1f}" if self.floor is not None else "     -"
        return f"{self.name:<58} {floor} {self.found:6.1f}  {self.wanted}"


Search = Callable[[str, int], Sequence[str]]


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="make bench-tree", description=__doc__)
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="also print the questions that were not answered")
    parser.add_argument(
        "--data-dir", metavar="FOLDER", type=Path, default=DATA_FOLDER, help="where the sets are that are not ours"
    )
    options = parser.parse_args(words)
    print(f"{'':<58}   fts5   tree  wanted")
    with tempfile.TemporaryDirectory() as name:
        for share in measure_mailbox(Path(name), options.messages, options.seed, shows_misses=options.misses):
            print(share.line(), flush=True)
        file = options.data_dir / LOCOMO
        if not file.is_file():
            print(f"Not measured: {file.stem} (no such file in {options.data_dir})", file=sys.stderr)
            return 0
        for share in measure_locomo(file, Path(name)):
            print(share.line(), flush=True)
    return 0


def measure_mailbox(folder: Path, messages: int, seed: int, *, shows_misses: bool = False) -> Iterator[Share]:
    """Yield how many questions about a generated mailbox are answered."""
    truth = make_mailbox(folder / "mail.mbox", messages=messages, threads=max(20, messages * 2 // 25), seed=seed)
    with Book.open(folder / "book", project="bench") as book:
        book.ingest(str(folder / "mail.mbox"))
        search, bare = search_tree(book), search_fts5(folder / "book")
        for is_paraphrase in (False, True):
            asked = [item for item in truth.questions if item.is_paraphrase == is_paraphrase]
            wanted = [{f"mail:{ident}" for ident in item.message_ids} for item in asked]
            ours, theirs = ([one(item.text, 5) for item in asked] for one in (search, bare))
            name = "in other words" if is_paraphrase else "in words of the mail"
            yield Share(f"mailbox: {name}, fraction@5", _mean(ours, wanted), _mean(theirs, wanted), "fts5 + 10 in all")
            if shows_misses:
                for item, found, right in zip(asked, ours, wanted, strict=True):
                    if not right & {*found}:
                        print(f"  {item.text}\n    {item.statement}", file=sys.stderr)
        yield from _measure_labels(book, truth)
        yield Share("mailbox: the right person first", _measure_people(book, truth, shows_misses), None, ">= 95")


def _measure_people(book: Book, truth: MailboxTruth, shows_misses: bool) -> float:
    """Return for how many questions the right person is the first of the entities, in percent."""
    right = 0
    for question in truth.entities:
        found = [item.canonical_id for item in book.search_entities(question.text, limit=1).entities]
        is_right = any(question.addresses & _addresses(book, ident) for ident in found)
        right += is_right
        if shows_misses and not is_right:
            print(f"  {question.form} {question.text!r}: {found}", file=sys.stderr)
    return 100 * right / len(truth.entities)


def _addresses(book: Book, ident: str) -> set[str]:
    people = [ident, *(member for merge in book.list_merges() if ident in merge.members for member in merge.members)]
    return {name.removeprefix("person:") for name in people}


def _measure_labels(book: Book, truth: MailboxTruth) -> Iterator[Share]:
    """Yield whether each message that was asked for has the right author, time, thread and source."""
    by_id = {f"mail:{item.message_id}": item for item in truth.messages}
    threads: dict[str, set[int]] = {}
    checked, right = 0, 0
    hits: list[Hit] = []
    for question in truth.questions:
        hits += book.query_source(query=question.text, limit=5).hits
    for hit in hits:
        known = by_id.get(hit.sources[0].partition(" · ")[2])
        if known is None or known.is_bulk:
            continue
        threads.setdefault(hit.path, set()).add(known.thread)
        checked += 1
        right += hit.time_start == known.time and hit.tree == "mail" and _is_author(hit, known.author)
    whole = sum(len(found) == 1 for found in threads.values())
    yield Share("mailbox: author, time and source of hits right", 100 * right / max(1, checked), None, ">= 98")
    yield Share("mailbox: files of hits with one thread", 100 * whole / max(1, len(threads)), None, ">= 98")


def _is_author(hit: Hit, address: str) -> bool:
    return any(name in (f"person:{address}",) for name in hit.entities) or hit.author == address


def search_tree(book: Book) -> Search:
    """Return a search that asks the tree, and answers with what the sources call the units."""

    def search(question: str, limit: int) -> Sequence[str]:
        found = book.query_source(query=question, limit=limit)
        return [hit.sources[0].partition(" · ")[2] for hit in found.hits]

    return search


def search_fts5(root: Path) -> Search:
    """Return a search by plain FTS5 over the same units."""
    index = sqlite3.connect(f"file:{root}/.commonplace/tree.db?mode=ro", uri=True)
    bare = sqlite3.connect(":memory:")
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(source UNINDEXED, text, tokenize='porter unicode61')")
    for text, extra in index.execute("SELECT text, extra FROM entry WHERE recorded_to IS NULL AND id LIKE 'u-%'"):
        bare.execute("INSERT INTO t VALUES (?, ?)", (dict(json.loads(extra)).get("source", ""), text))

    def search(question: str, limit: int) -> Sequence[str]:
        words = [word for word in question.translate(_WORD_SIGNS).lower().split() if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        query = "SELECT source FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?"
        return [source for (source,) in bare.execute(query, (match, limit))] if match else []

    return search


def _mean(found: Sequence[Sequence[str]], wanted: Sequence[set[str]]) -> float:
    """Return the share of what was wanted that was found, averaged over the questions, in percent."""
    shares = [len(right & {*hits}) / len(right) for hits, right in zip(found, wanted, strict=True)]
    return 100 * sum(shares) / len(shares)


def measure_locomo(file: Path, folder: Path) -> Iterator[Share]:
    """Yield how much of the evidence is found when the conversations are ingested as chat, and as plain memories."""
    ours: list[float] = []
    bare: list[float] = []
    for conversation in json.loads(file.read_text("utf-8"))["conversations"]:
        root = folder / conversation["id"]
        names = write_slack(conversation, root / "export")
        with Book.open(root / "book", project="bench") as book:
            book.ingest(str(root / "export"))
            questions = [item for item in conversation["questions"] if item["evidence"]]
            for search, scores in ((_by_recall(book), ours), (search_fts5(root / "book"), bare)):
                for item in questions:
                    found = {names[name] for name in search(item["question"], _DEPTH) if name in names}
                    evidence = {*item["evidence"]}
                    scores.append(100 * len(evidence & found) / len(evidence))
    plain = _ask_memories(file, folder / "memories")
    name = f"{file.stem} as chat, recall --kinds leaf, fraction@{_DEPTH}"
    yield Share(name, sum(ours) / len(ours), sum(bare) / len(bare), f">= {plain:.1f}, as plain memories with static")


def _ask_memories(file: Path, folder: Path) -> float:
    """Return how much of the evidence is found when the turns are plain memories, in percent."""
    with _static_embedder(), fill_books(read_data_set(file), folder) as books:
        scores = ask_mode(books)
    return 100 * sum(score.fraction(_DEPTH) for score in scores) / len(scores)


@contextmanager
def _static_embedder() -> Iterator[None]:
    """Have books use the table that the tree has for its vectors."""
    before = os.environ.get(_EMBEDDER)
    os.environ[_EMBEDDER] = "static"
    try:
        yield
    finally:
        del os.environ[_EMBEDDER]
        if before is not None:
            os.environ[_EMBEDDER] = before


def _by_recall(book: Book) -> Search:
    def search(question: str, limit: int) -> Sequence[str]:
        found = book.recall(question, kinds=("leaf",), limit=limit)
        return [hit.sources[0].partition(" · ")[2] for hit in found.hits]

    return search


def write_slack(conversation: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Write a conversation as a Slack export; return its turns by what the export calls them."""
    authors = sorted({turn["author"] for turn in conversation["turns"]})
    people = {author: f"U{number}" for number, author in enumerate(authors, 1)}
    days: dict[str, list[dict[str, str]]] = {}
    names: dict[str, str] = {}
    for number, turn in enumerate(conversation["turns"]):
        moment = datetime.fromisoformat(turn["time"]) + timedelta(seconds=number % 3_000)
        stamp = f"{int(moment.timestamp())}.{number:06}"
        names[f"slack:C1/{stamp}"] = names[f"slack:T1/C1/{stamp}"] = turn["id"]
        row = {"type": "message", "user": people[turn["author"]], "ts": stamp, "text": turn["text"]}
        days.setdefault(str(moment.date()), []).append(row)
    (folder / "chat").mkdir(parents=True)
    users = [{"id": ident, "name": name, "team_id": "T1", "real_name": name} for name, ident in people.items()]
    (folder / "users.json").write_text(json.dumps(users))
    (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "chat", "members": [*people.values()]}]))
    for day, rows in days.items():
        (folder / "chat" / f"{day}.json").write_text(json.dumps(rows))
    return names


if __name__ == "__main__":
    sys.exit(main())
