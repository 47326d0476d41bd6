"""Make the table of the default embedder: src/commonplace/embed/table/, from potion-base-8M, taught by MiniLM.

`python -m tools.train_static_table FOLDER` takes the rows that tools/make_static_table.py has, and changes them so that
a question is near the note that answers it (tools/table_pairs.jsonl), and texts are near where MiniLM says that they
mean the same (tools/table_texts.py). FOLDER keeps what was downloaded and what MiniLM said, as that takes half an hour
of one core; the training takes five minutes. It needs `torch`, `onnx`, `onnxruntime` and `tokenizers`; nothing of it is
shipped but the table. With `--hold-out` it writes no table: it trains without every eighth block of the pairs, and says
how many of those are found.

A row that is in no text stays as it was, and the others are held to what they were. The seeds are fixed, but torch does
not promise the same bits on another machine: the table that is committed is the one that was measured
(docs/adr/0007-static-table.md).
"""

from __future__ import annotations

import argparse
import hashlib
import math
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from commonplace.embed.static_table import WordPiece
from tools import table_teacher, table_texts
from tools.make_static_table import TABLE, WHEEL, WHEEL_HASH, download_wheel, packed, quantised, start

STEPS, RATE, MAP_RATE = 700, 1.5e-3, 3e-3  # more steps find fewer of the pairs that are held out
SEEDS = (1, 2)  # trained once with each, and the rows averaged
TAKEN = 0.8  # of the way that rows were moved: measured no worse than all of it on any set, and holds more of potion
GROWN = 1.4  # at most, of a row's length: potion's lengths are of how often a piece is used in far more text
CLUSTERS, NEIGHBOURS = 1_500, 9
BATCH_NEAR, BATCH_ANY, BATCH_WORDS, BATCH_PAIRS = 256, 192, 64, 256
BLOCKS, BLOCK, ASKED_ANY = 8, 20, 96  # of notes with questions: lines in a row, which are hard to tell apart, and any
PLAINLY = 1 / 3  # of the notes are asked for by the first question, the others by the second
BELIEVED = 0.35  # cosine by MiniLM, of a pair of texts that is trained with
SURE = 2.0  # added to what MiniLM says of a pair that is one
HEAT, HEAT_ASKED = 0.05, 0.06  # of the softmax over cosines
SOFT = 0.3  # of what a question should find is as MiniLM says; the rest is its note
TO_NOTE = 0.7  # of that loss is from question to note, the rest from note to question
PAIRED, ASKED, ASKED_NEAR, HELD = 0.3, 1.5, 0.3, 0.1  # weights of the losses, beside 1
PIECES = 80  # of a text

Places = NDArray[np.intp]
Rows = NDArray[np.float64]


class Lesson(NamedTuple):
    """All that is trained with. Places are those of a text in `cuts` and `told`."""

    cuts: list[NDArray[np.int64]]
    told: torch.Tensor  # MiniLM's vectors
    texts: Places  # longer than a word
    words: Places
    pairs: Places  # of texts, two in a row
    asked: Places  # three in a row: a note and its two questions


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hold-out", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        names, rows = start(download_wheel(WHEEL, WHEEL_HASH, Path(scratch)))
    lesson = prepare(given.folder, names)
    if given.hold_out:
        hold_out(lesson, rows)
    else:
        write(names, taught(lesson, rows))


def prepare(folder: Path, names: list[str]) -> Lesson:
    vocabulary = {name: number for number, name in enumerate(names)}
    found, asked = table_texts.gather(folder, vocabulary), table_texts.read_pairs()
    count = len(found.texts)
    texts = [*found.texts, *(text for line in asked for text in line)]
    told = torch.tensor(table_teacher.told(folder, texts))
    cut = WordPiece(vocabulary)
    cuts = [np.array(cut(text)[:PIECES], np.int64) for text in texts]
    known = [place for place in range(count) if len(cuts[place])]
    pairs = np.array([pair for pair in found.pairs if all(len(cuts[place]) for place in pair)])
    near = (told[pairs[:, 0]].float() * told[pairs[:, 1]].float()).sum(1).numpy()
    return Lesson(
        cuts,
        told,
        np.array([place for place in known if place not in found.words]),
        np.array([place for place in known if place in found.words]),
        pairs[near > BELIEVED],
        np.arange(count, len(texts)).reshape(-1, 3),
    )


def hold_out(lesson: Lesson, rows: Rows) -> None:
    held = np.array([table_texts.is_held_out(line) for line in range(len(lesson.asked))])
    changed = taught(lesson._replace(asked=lesson.asked[~held]), rows)
    print(f"held out: {held.sum()} notes; found first and among five, by the first question and by the second")
    for name, some in (("before", rows), ("after", changed)):
        notes, *questions = (_summed(some, [lesson.cuts[place] for place in side]) for side in lesson.asked[held].T)
        ranks = [(asked @ notes.T >= (asked * notes).sum(1)[:, None] - 1e-7).sum(1) for asked in questions]
        print(f"{name:6}", *(f"{100 * (rank <= most).mean():5.1f}" for rank in ranks for most in (1, 5)))


def _summed(rows: Rows, cuts: list[NDArray[np.int64]]) -> Rows:
    sums = np.stack([rows[cut].sum(0) for cut in cuts])
    return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))


def taught(lesson: Lesson, rows: Rows) -> Rows:
    """The mean over the seeds, as far as it is taken, and no row much longer than it was."""
    changed = np.mean([Training(lesson, rows, seed).run() for seed in SEEDS], axis=0)
    changed = rows + TAKEN * (changed - rows)
    longer = np.linalg.norm(changed, axis=1) / np.linalg.norm(rows, axis=1)
    return np.asarray(changed * np.minimum(1.0, GROWN / longer)[:, None])


def write(names: list[str], rows: Rows) -> None:
    numbers, scales = quantised(rows)
    data = packed(numbers).tobytes() + scales.astype("<u2").tobytes()
    (TABLE / "pieces.txt").write_bytes("\n".join(names).encode())
    (TABLE / "vectors.bin").write_bytes(data)
    print(f"vectors.bin: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


class Training:
    """One run over a lesson, with one seed."""

    def __init__(self, lesson: Lesson, rows: Rows, seed: int) -> None:
        torch.manual_seed(seed)
        self._random = np.random.default_rng(seed)
        self._lesson = lesson
        self._scale = 1 / np.linalg.norm(rows, axis=1).mean()
        self._first = torch.tensor(rows * self._scale, dtype=torch.float32)
        self._rows = torch.nn.Parameter(self._first.clone())
        self._map = torch.nn.Linear(rows.shape[1], table_teacher.WIDTH, bias=False)  # to MiniLM's space; not kept
        self._clusters, self._next = self._sort()
        self._fit_map()

    def run(self) -> Rows:
        rates = [(self._map.weight, MAP_RATE), (self._rows, RATE)]
        optimiser = torch.optim.Adam([{"params": [what], "lr": rate} for what, rate in rates])
        for step in range(1, STEPS + 1):
            slowing = min(1.0, step / 100) * (0.475 * (1 + math.cos(math.pi * step / STEPS)) + 0.05)
            for group, (_, rate) in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * slowing
            loss = self._loss()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if step % 100 == 0:
                print(f"{step} of {STEPS}: {loss.item():.3f}", flush=True)
        return np.asarray(self._rows.detach().numpy() / self._scale, np.float64)

    def _sort(self) -> tuple[list[Places], Places]:
        """The texts in groups that mean nearly the same, and the groups that are next to each."""
        places = self._lesson.texts
        vectors = self._lesson.told[places].float()
        centres = vectors[torch.tensor(self._random.choice(len(places), CLUSTERS, replace=False))]
        group = torch.cat([(some @ centres.T).argmax(1) for some in vectors.split(20_000)])
        centres = functional.normalize(torch.zeros_like(centres).index_add_(0, group, vectors), dim=1)
        near = (centres @ centres.T).topk(NEIGHBOURS, dim=1).indices.numpy()
        return [places[(group == number).numpy()] for number in range(CLUSTERS)], near

    def _fit_map(self) -> None:
        """The map begins as the best there is for the rows as they are."""
        with torch.no_grad():
            some = self._random.choice(self._lesson.texts, 20_000, replace=False)
            vectors = torch.cat([self._embed(part) for part in np.array_split(some, 20)])
            self._map.weight.copy_(torch.linalg.lstsq(vectors, self._told(some)).solution.T)

    def _embed(self, places: Places) -> torch.Tensor:
        cuts = [self._lesson.cuts[place] for place in places]
        starts = torch.tensor(np.cumsum([0, *(len(cut) for cut in cuts[:-1])]))
        sums = functional.embedding_bag(torch.tensor(np.concatenate(cuts)), self._rows, starts, mode="sum")
        return functional.normalize(sums, dim=1)

    def _told(self, places: Places) -> torch.Tensor:
        return self._lesson.told[places].float()

    def _loss(self) -> torch.Tensor:
        texts, (notes, questions) = self._some_texts(), self._some_asked()
        loss = self._texts_apart(texts) + PAIRED * self._pairs_apart() + self._asked_apart(notes, questions)
        return loss + HELD * self._moved(np.concatenate([texts, notes, questions]))

    def _some_texts(self) -> Places:
        around = np.concatenate([self._clusters[number] for number in self._next[self._random.integers(CLUSTERS)]])
        sizes = ((self._lesson.texts, BATCH_ANY), (self._lesson.words, BATCH_WORDS))
        more = [self._random.choice(which, size, replace=False) for which, size in sizes]
        return np.concatenate([self._random.permutation(around)[:BATCH_NEAR], *more])

    def _some_asked(self) -> tuple[Places, Places]:
        """Notes, and one question for each."""
        count = len(self._lesson.asked)
        blocks = [np.arange(first, min(first + BLOCK, count)) for first in self._random.choice(count, BLOCKS)]
        lines = np.unique(np.concatenate([*blocks, self._random.choice(count, ASKED_ANY, replace=False)]))
        which = np.where(self._random.random(len(lines)) < PLAINLY, 1, 2)
        return self._lesson.asked[lines, 0], self._lesson.asked[lines, which]

    def _texts_apart(self, places: Places) -> torch.Tensor:
        """How far texts are from what MiniLM says: who is near whom, and where each is."""
        found, told = self._embed(places), self._told(places)
        return _mixed(found, told) + (1 - functional.cosine_similarity(self._map(found), told)).mean()

    def _pairs_apart(self) -> torch.Tensor:
        pairs = self._lesson.pairs
        one, two = pairs[self._random.choice(len(pairs), BATCH_PAIRS, replace=False)].T
        near = self._embed(one) @ self._embed(two).T / HEAT
        said = self._told(one) @ self._told(two).T / HEAT + torch.eye(len(one)) * SURE
        return (_apart(near, said) + _apart(near.T, said.T)) / 2

    def _asked_apart(self, notes: Places, questions: Places) -> torch.Tensor:
        """How far questions are from finding their notes, and notes their questions; and all of them from MiniLM."""
        found, asked = self._embed(notes), self._embed(questions)
        told, told_asked = self._told(notes), self._told(questions)
        near, said = asked @ found.T / HEAT_ASKED, told_asked @ told.T / HEAT
        missed = TO_NOTE * _missed(near, said) + (1 - TO_NOTE) * _missed(near.T, said.T)
        return ASKED * missed + ASKED_NEAR * _mixed(torch.cat([found, asked]), torch.cat([told, told_asked]))

    def _moved(self, places: Places) -> torch.Tensor:
        used = torch.unique(torch.tensor(np.concatenate([self._lesson.cuts[place] for place in places])))
        return ((self._rows[used] - self._first[used]) ** 2).sum(1).mean()


def _mixed(found: torch.Tensor, told: torch.Tensor) -> torch.Tensor:
    """How far texts are from MiniLM in who is near whom, each among all of the others."""
    itself = torch.eye(len(found)) * -1e4
    return _apart(found @ found.T / HEAT + itself, told @ told.T / HEAT + itself)


def _apart(found: torch.Tensor, told: torch.Tensor) -> torch.Tensor:
    """How far the order of nearness in each row is from what was told."""
    log = functional.log_softmax
    return functional.kl_div(log(found, 1), log(told, 1), reduction="batchmean", log_target=True)


def _missed(near: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
    wanted = SOFT * functional.softmax(said, 1) + (1 - SOFT) * torch.eye(len(near))
    return -(wanted * functional.log_softmax(near, 1)).sum(1).mean()


if __name__ == "__main__":
    main()
