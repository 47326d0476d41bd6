"""What the embedders inside the install cost: a question alone, and a thousand notes of 30 words in one call.

Each is measured in a process of its own (`python -m tests.bench.embedding NAME`), in which the embedder loads numpy, as
it does in ours: where something else loaded it before, its products run in as many threads as there are cores. So is
what recall finds first with each runtime, in our three sets of notes.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from commonplace.embed import ModelEmbedder, StaticEmbedder
from tests.bench.measure import WORK, Amount, Duration, Note, Row, alternate, once
from tests.bench.recall_data import DATA_FOLDER, OTHER_FILES, OWN_FILES, read_data_set, read_set
from tests.bench.recall_quality import ask_mode, fill_books
from tests.bench.scratch_books import WORDS, Bench, questions
from tests.embed.runtimes import RUNTIMES, open_model

BUDGETS = {"static": (12, 10_000), "numpy": (12, 10_000), "onnxruntime": (4, 4_000)}  # ms for a question, for the notes
LEAST_COSINE = 0.999  # between the vectors of numpy and onnxruntime
MOST_DIFFERENT = 1  # percent of the questions whose first hit differs between them
FIRST_HITS = "first-hits"


def embed(bench: Bench) -> list[Row]:
    """Return the figures of the table, and of the model with each of its runtimes."""
    rows: list[Row] = []
    for name, (question, notes) in BUDGETS.items():
        if name == "onnxruntime" and find_spec(name) is None:
            return [*rows, Note("the model with onnxruntime", "the extra `fast` is not installed")]
        found = _run_apart(name, str(bench.rounds))
        what = name if name == "static" else f"model, {name}"
        rows += [
            Duration(f"embedding a question, {what}", found["question"], question),
            Duration(f"embedding 1,000 notes of 30 words, {what}", found["notes"], notes),
            Duration(f"the first text of a process, {what}", found["first"], None),
        ]
        if found["memory"]:
            rows.append(Amount(f"memory of such a process, {what}", found["memory"], "MB", None))
    is_whole = bench.rounds > 20
    return [*rows, *compare_runtimes(1 if is_whole else 100), *(compare_first_hits() if is_whole else [])]


def _run_apart(*words: str) -> Any:
    """Return what this module prints in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.embedding", *words]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare_first_hits() -> list[Row]:
    """Return for how many questions of our sets of notes recall finds the same first, whatever runs the model."""
    with_numpy, with_onnxruntime = (_run_apart(FIRST_HITS, runtime) for runtime in RUNTIMES)
    same = sum(one == other for one, other in zip(with_numpy, with_onnxruntime, strict=True))
    share = round(100 * (1 - same / len(with_numpy)), 2)
    return [Amount(f"{len(with_numpy)} questions: first hit differs between runtimes", share, "%", MOST_DIFFERENT)]


def list_first_hits(runtime: str) -> list[str]:
    """Return the key of the first hit of each question of our three sets of notes."""
    if runtime == "numpy":
        sys.modules["onnxruntime"] = None  # type: ignore[assignment] # as where the extra is not installed
    found = []
    for file in OWN_FILES[:3]:
        with tempfile.TemporaryDirectory() as folder, fill_books(read_data_set(file), Path(folder)) as books:
            found += [next(iter(score.answer.keys), "") for score in ask_mode(books)]
    return found


def compare_runtimes(every: int) -> list[Row]:
    """Return how many texts of the sets have too far vectors, and the farthest; of the sets beside us, one in 20."""
    texts: list[str] = []
    others = [DATA_FOLDER / name for name in OTHER_FILES]
    for file in [*OWN_FILES[:3], *filter(Path.is_file, others)]:
        for contents in read_set(file):
            found = [str(item["content"]) for item in contents.items] + [item.question for item in contents.questions]
            texts += found[:: every * (20 if file in others else 1)]
    with_numpy, with_onnxruntime = open_model("numpy").embed(texts), open_model("onnxruntime").embed(texts)
    cosines = (with_numpy * with_onnxruntime).sum(axis=1)[with_numpy.any(axis=1)]
    far = int((cosines < LEAST_COSINE).sum())
    name = f"texts below {LEAST_COSINE} between runtimes; least {cosines.min():.5f}"
    return [Amount(name, far, f"/{len(cosines)}", 0)]


def measure(name: str, rounds: int) -> Mapping[str, float]:
    """Return milliseconds of work for a question and for the notes, those until the first vector, and memory in MB."""
    embedder = StaticEmbedder() if name == "static" else ModelEmbedder()
    if name == "numpy":
        sys.modules["onnxruntime"] = None  # type: ignore[assignment] # as where the extra is not installed
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
    first, second = sys.argv[1:]
    print(json.dumps(list_first_hits(second) if first == FIRST_HITS else measure(first, int(second))))
