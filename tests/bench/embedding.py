"""What the embedders inside the install cost: a question alone, and a thousand notes of 30 words in one call.

Each is measured in a process of its own (`python -m tests.bench.embedding NAME`), in which the embedder loads numpy, as
it does in ours: where something else loaded it before, its products run in as many threads as there are cores.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Mapping

from commonplace.embed import choose_embedder
from tests.bench.measure import WORK, Amount, Duration, Row, alternate, once
from tests.bench.scratch_books import WORDS, Bench, questions

EMBEDDERS = ("static", "model")


def embed(bench: Bench) -> list[Row]:
    """Return the figures of each embedder."""
    rows: list[Row] = []
    for name in EMBEDDERS:
        words = [sys.executable, "-m", "tests.bench.embedding", name, str(bench.rounds)]
        found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        rows += [
            Duration(f"embedding a question, {name}", found["question"], 12),
            Duration(f"embedding 1,000 notes of 30 words, {name}", found["notes"], 10_000),
            Duration(f"the first text of a process, {name}", found["first"], None),
        ]
        if found["memory"]:
            rows.append(Amount(f"memory of such a process, {name}", found["memory"], "MB", None))
    return rows


def measure(name: str, rounds: int) -> Mapping[str, float]:
    """Return milliseconds of work for a question and for the notes, those until the first vector, and memory in MB."""
    embedder = choose_embedder(name)
    first = once(lambda: embedder.embed(["Where is the key?"]))
    asked = questions(rounds + 5)
    (question,) = alternate(rounds, lambda turn: embedder.embed([asked[turn]]), clock=WORK)
    rng = random.Random(5)
    written = [" ".join(rng.choices(WORDS, k=30)) for _ in range(1_000)]
    start = WORK()
    embedder.embed(written)
    notes = (WORK() - start) * 1000
    return {"question": question, "notes": notes, "first": first, "memory": _measure_memory()}


def _measure_memory() -> float:
    """Return the most memory that this process had, in MB; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
