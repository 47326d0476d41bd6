"""What the tree costs: ingesting a mailbox, against parsing it with Python's own `mailbox`, and asking it.

The mailboxes are generated (mailbox_set.md). A question is timed against a bare FTS5 query of the same words on the
same texts.
"""

from __future__ import annotations

import mailbox
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from commonplace import Book
from commonplace.text.words import STOP_WORDS
from tests.bench.mailbox_maker import make_lines, make_mailbox
from tests.bench.measure import WORK, Amount, Duration, Measure, Note, Row, alternate
from tests.bench.processes import measure_process
from tests.bench.scratch_books import Bench, embed_whole, texts
from tests.bench.scratch_books import questions as memory_questions

SMALL_MAIL, LARGE_MAIL = 20_000_000, 200_000_000  # bytes
_MEGABYTE = 1_000_000
_WINDOW_DAYS = 2_000
_MEMORIES = 1_000
_WORD_SIGNS = str.maketrans(dict.fromkeys("\"'?!.,:;()[]{}<>*-/&%$#@+=|~^`", " "))


def ingest(bench: Bench) -> list[Row]:
    """Ingest a small and a large mailbox, each in a process of its own: time, growth, memory, and the index."""
    if not hasattr(os, "wait4"):
        return [Note("ingest", "Windows does not tell how much memory a process took")]
    rows: list[Row] = []
    per_message: list[float] = []
    memory: list[float] = []
    for size in (SMALL_MAIL, LARGE_MAIL):
        file, root = bench.folder / f"mail-{size}.mbox", bench.folder / f"mail-{size}"
        with file.open("wb") as target:
            target.writelines(make_lines(size=size))
        environment = {**os.environ, "COMMONPLACE_ROOT": str(root), "COMMONPLACE_PROJECT": "bench"}
        started = time.perf_counter()
        cost = measure_process(["ingest", str(file), "--json"], environment)
        seconds = time.perf_counter() - started
        with Book.open(root, project="bench") as book:
            units = book.tree_status().units
        per_message.append(cost.cpu_seconds * 1000 / units)
        memory.append(cost.megabytes)
        name = f"ingest {size // _MEGABYTE} MB ({units:,} messages)"
        rows.append(Duration(f"{name}: 30 MB, at this rate", seconds * 1000 * 30 * _MEGABYTE / size, 60_000))
        if size == SMALL_MAIL:
            rows.append(Measure(f"{name}: CPU against `mailbox`", _parse(file), cost.cpu_seconds * 1000, 25.0))
            rows.append(_measure_index(root, name))
        file.unlink()
    rows.append(Measure("ingest, 10 x the size: CPU of a message", per_message[0], per_message[1], 1.2))
    rows.append(Measure("ingest, 10 x the size: memory (MB for ms)", memory[0], memory[1], 1.2))
    rows.append(Amount("ingest, 200 MB: memory", memory[1], "MB", 250.0))
    return rows


def _parse(file: Path) -> float:
    """Return the milliseconds of work that parsing a mailbox with the standard library takes."""
    start = time.process_time()
    box = mailbox.mbox(file, create=False)
    for message in box:
        message.as_bytes()
    box.close()
    return (time.process_time() - start) * 1000


def _measure_index(root: Path, name: str) -> Row:
    index = (root / ".commonplace" / "tree.db").stat().st_size
    text = sum(path.stat().st_size for path in (root / "tree").rglob("*.md"))
    return Amount(f"{name}: index, times its text", index / text, "times", 4.0)


def questions(bench: Bench) -> list[Row]:
    """Ask trees of two sizes, with and without a window, and a bare FTS5 index of the same texts."""
    rows: list[Row] = []
    times: dict[int, float] = {}
    for size in (bench.large, bench.largest):
        root, file = bench.folder / f"tree-{size}", bench.folder / f"tree-{size}.mbox"
        make_mailbox(file, messages=size, threads=max(20, size * 2 // 25))
        asked = [item.text for item in make_mailbox(bench.folder / "few.mbox", messages=1_000, threads=80).questions]
        with Book.open(root, project="bench") as book:
            print(f"  ingesting {size:,} messages ...", file=sys.stderr, flush=True)
            book.ingest(str(file))
            bare_ms, ours_ms, window_ms = _ask_all(book, bare_fts(root), asked, bench.rounds)
        times[size] = ours_ms
        rows.append(Measure(f"query-source, warm, {size:,}, against bare FTS5", bare_ms, ours_ms, 5.0))
        rows.append(Measure(f"query-source, {size:,}, in a window, against without", ours_ms, window_ms, 1.3))
        file.unlink()
        if size == bench.large:
            rows += _measure_memories(bench, root)
    small, large = times.values()
    rows.append(Measure(f"query-source, {bench.largest:,}, against {bench.large:,}", small, large, 6.0))
    return rows


def _measure_memories(bench: Bench, root: Path) -> list[Row]:
    """Ask the same memories in a book with a tree, and in one without: the time, and how many answers differ."""
    plain, asked = bench.folder / f"plain-{bench.large}", memory_questions(bench.rounds + 10)
    for place in (root, plain):
        with Book.open(place, project="bench") as book:
            book.store_many([{"content": text, "key": f"fact-{n:04d}"} for n, text in enumerate(texts(_MEMORIES))])
            embed_whole(book)
    with Book.open(plain, project="bench") as alone, Book.open(root, project="bench") as beside:
        alone_ms, beside_ms = alternate(
            bench.rounds,
            lambda turn: alone.recall(asked[turn]),
            lambda turn: beside.recall(asked[turn]),
            clock=WORK,
        )
        differ = sum(
            [hit.key for hit in alone.recall(text).hits] != [hit.key for hit in beside.recall(text).hits]
            for text in asked
        )
    return [
        Measure(f"recall of {_MEMORIES:,} memories beside {bench.large:,} mails", alone_ms, beside_ms, 1.05),
        Amount("the same: answers that differ", differ, "answers", 0),
    ]


def _ask_all(book: Book, bare: Callable[[str], object], asked: Sequence[str], rounds: int) -> list[float]:
    """Return the milliseconds of a bare query, a question, and a question in a window."""
    return alternate(
        min(rounds, len(asked) - 10),
        lambda turn: bare(asked[turn]),
        lambda turn: book.query_source(query=asked[turn]),
        lambda turn: book.query_source(query=asked[turn], time_window_days=_WINDOW_DAYS),
        clock=WORK,
    )


def bare_fts(root: Path) -> Callable[[str], object]:
    """Return one bm25 query of the words of a question on the texts of the units, and nothing else."""
    index = sqlite3.connect(f"file:{root}/.commonplace/tree.db?mode=ro", uri=True)
    bare = sqlite3.connect(":memory:")
    bare.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    bare.executemany(
        "INSERT INTO t VALUES (?)", index.execute("SELECT text FROM entry WHERE recorded_to IS NULL AND id LIKE 'u-%'")
    )
    index.close()

    def ask(question: str) -> object:
        words = [word for word in question.translate(_WORD_SIGNS).lower().split() if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        return bare.execute(
            "SELECT rowid, bm25(t) AS r FROM t WHERE t MATCH ? ORDER BY r LIMIT 10", (match,)
        ).fetchall()

    return ask
