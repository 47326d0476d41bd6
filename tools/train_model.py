"""Train the model inside the install: `python -m tools.train_model FOLDER`, on a machine with a GPU and torch.

FOLDER has the texts.npz of tools/model_texts.py, and gets `weights.bin`, the model that is shipped. The training starts
from all-MiniLM-L6-v2 and takes about a minute:

- a question is to be nearest to its note, and a note to its question, among a batch and two notes that MiniLM takes for
  near; headings and sentences likewise to the passages they are from;
- other texts, and passages, are to stay as near to each other as MiniLM has them.

Then every row of every matrix is rounded to eight bits with a scale of its own, and the table of quality is printed:
what vectors alone find on each measured set. The seed is fixed, but torch does not promise the same bits on another
GPU: the model that is committed is the one that was measured. `--try` trains several variants and writes none of them.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

WIDTH, HEADS = 384, 12
CLS, SEP = 101, 102
MAX_PLACES = 256  # pieces of a text, its two marks included
MAX_COSINE = 0.85  # to a measured text: what is nearer is not trained with
HEAT = 0.05
SEEDS = (1, 2, 3)  # trained once with each, and the weights averaged
BATCH, PASSAGE_BATCH, OTHER_BATCH = 256, 64, 192
CHUNK = 512  # texts that are embedded at once where nothing is learned

State = dict[str, torch.Tensor]


class Plan(NamedTuple):
    """What one training does."""

    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    epochs: int = 10
    rate: float = 5e-5
    hard: int = 2  # notes per question that are near it and not its own
    passages: float = 0.5  # weight of the passages
    others: float = 1.0  # weight of staying as MiniLM is
    seed: int = 1


PLANS = {
    "as it is": Plan(epochs=0),
    "notes alone": Plan(hard=0, passages=0, others=0),
    "hard notes": Plan(passages=0, others=0),
    "shipped": Plan(),
    "others x 0.3": Plan(others=0.3),
    "seed 2": Plan(seed=2),
    "four layers": Plan((0, 1, 3, 5), epochs=25, rate=1e-4, others=3.0),
    "three layers": Plan((0, 2, 5), epochs=25, rate=1e-4, others=3.0),
}


def main() -> None:
    """Train, round, write and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--try", dest="tries", nargs="*", help="names of plans; none: all of them")
    given = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    data = dict(np.load(given.folder / "texts.npz"))
    base = {
        name[5:]: torch.tensor(data[name], dtype=torch.float32, device="cuda") for name in data if name[:5] == "base."
    }
    lesson = Lesson(data, base)
    if given.tries is None:
        states = [train(Plan(seed=seed), lesson) for seed in SEEDS]
        mean = {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
        print_quality("mean of seeds", lesson, mean, Plan().layers)
        print_quality("rounded", lesson, round_state(mean), Plan().layers)
        write(mean, Plan(), given.folder)
        vectors = embed_all(round_state(mean), [lesson.pieces[place] for place in lesson.measured], Plan().layers)
        np.savez(given.folder / "vectors.npz", places=lesson.measured, rows=vectors.half().cpu().numpy())
        return
    for name in given.tries or PLANS:
        started = time.monotonic()
        state = train(PLANS[name], lesson)
        print_quality(name, lesson, state, PLANS[name].layers)
        print_quality("  rounded", lesson, round_state(state), PLANS[name].layers)
        print(f"    {time.monotonic() - started:.0f} s", flush=True)


class Lesson:
    """The texts as numbers of pieces, with what MiniLM says of them."""

    def __init__(self, data: Mapping[str, Any], base: State) -> None:
        ends = data["ends"].tolist()
        self.pieces = [data["pieces"][start:end].astype(np.int64) for start, end in zip([0, *ends], ends, strict=False)]
        self.base, self.data = base, data
        self.told = embed_all(base, self.pieces, range(6))
        sets = [name for name in data if name[:3] == "set" and name.endswith(("_texts", "_questions"))]
        self.measured = np.unique(np.concatenate([data[name] for name in sets]))
        near = self._find_near()
        notes, passages, others = data["notes"], data["passages"], data["others"]
        self.notes = notes[~near[notes].any(axis=1)]
        self.passages = passages[~near[passages].any(axis=1)]
        self.others = others[~near[others]]
        print(
            f"too near a measured text and left out: notes {len(notes) - len(self.notes)}, passages "
            f"{len(passages) - len(self.passages)}, others {len(others) - len(self.others)}",
            flush=True,
        )
        self.hard = self._find_hard()

    def _find_near(self) -> np.ndarray:
        """Return for each text whether a measured one is nearer than allowed."""
        there = self.told[self.measured]
        greatest = torch.cat([(rows @ there.T).max(dim=1).values for rows in self.told.split(4096)])
        near: np.ndarray = (greatest >= MAX_COSINE).cpu().numpy()
        return near

    def _find_hard(self) -> torch.Tensor:
        """Return for each question of the notes the places of some other notes that MiniLM has near it."""
        notes = self.told[self.notes[:, 0]]
        found = []
        for column in (1, 2):
            near = self.told[self.notes[:, column]] @ notes.T
            near.fill_diagonal_(-1)
            near[(notes @ notes.T) > 0.8] = -1  # may say the same
            found.append(near.topk(12, dim=1).indices)
        return torch.stack(found, dim=1)


def pad(pieces: Sequence[np.ndarray], device: str = "cuda") -> tuple[torch.Tensor, torch.Tensor]:
    """Return some texts as one tensor between their marks, and which of it is text."""
    longest = max(map(len, pieces)) + 2
    ids, mask = np.zeros((len(pieces), longest), np.int64), np.zeros((len(pieces), longest), bool)
    for row, text in enumerate(pieces):
        ids[row, : len(text) + 2] = [CLS, *text, SEP]
        mask[row, : len(text) + 2] = True
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def embed(state: State, pieces: Sequence[np.ndarray], layers: Sequence[int], drop: float = 0.0) -> torch.Tensor:
    """Return one row of length one per text: BERT's encoder, and the mean over its pieces."""
    ids, mask = pad(pieces)

    def norm(rows: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(rows, (WIDTH,), state[f"{name}.weight"], state[f"{name}.bias"], 1e-12)

    def dense(rows: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(rows, state[f"{name}.weight"], state[f"{name}.bias"])

    rows = state["embeddings.word_embeddings.weight"][ids]
    rows = rows + state["embeddings.position_embeddings.weight"][: ids.shape[1]]
    rows = norm(rows + state["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    rows = functional.dropout(rows, drop)
    unseen = mask[:, None, None, :]
    for layer in layers:
        name = f"encoder.layer.{layer}"
        parts = [
            dense(rows, f"{name}.attention.self.{part}").unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in ("query", "key", "value")
        ]
        seen = functional.scaled_dot_product_attention(*parts, attn_mask=unseen, dropout_p=drop)
        seen = dense(seen.transpose(1, 2).flatten(2), f"{name}.attention.output.dense")
        rows = norm(rows + functional.dropout(seen, drop), f"{name}.attention.output.LayerNorm")
        wide = functional.gelu(dense(rows, f"{name}.intermediate.dense"))
        narrow = functional.dropout(dense(wide, f"{name}.output.dense"), drop)
        rows = norm(rows + narrow, f"{name}.output.LayerNorm")
    kept = mask[:, :, None]
    return functional.normalize((rows * kept).sum(1) / kept.sum(1), dim=1)


@torch.no_grad()  # type: ignore[untyped-decorator]
def embed_all(state: State, pieces: Sequence[np.ndarray], layers: Sequence[int]) -> torch.Tensor:
    """Return the rows of many texts, which are run beside others of their length."""
    order = sorted(range(len(pieces)), key=lambda place: len(pieces[place]))
    found = torch.empty(len(pieces), WIDTH, device="cuda")
    for first in range(0, len(order), CHUNK):
        places = order[first : first + CHUNK]
        found[places] = embed(state, [pieces[place] for place in places], layers)
    return found


def train(plan: Plan, lesson: Lesson) -> State:
    """Return the weights after a training."""
    torch.manual_seed(plan.seed)
    random = np.random.default_rng(plan.seed)
    state = {name: value.clone().requires_grad_() for name, value in lesson.base.items() if "pooler" not in name}
    learned = [value for name, value in state.items() if is_learned(name, plan)]
    optimiser = torch.optim.AdamW(learned, lr=plan.rate, weight_decay=0.01)
    steps = plan.epochs * len(lesson.notes) * 2 // BATCH
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / max(1, steps // 10)) * max(0.0, 1 - step / max(1, steps))
    )
    for _ in range(steps):
        with torch.autocast("cuda", torch.bfloat16):
            loss = lose_on_notes(plan, lesson, state, random)
            if plan.passages:
                loss = loss + plan.passages * lose_on_passages(plan, lesson, state, random)
            if plan.others:
                loss = loss + plan.others * lose_on_others(plan, lesson, state, random)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        rates.step()
    return {name: value.detach() for name, value in state.items()}


def is_learned(name: str, plan: Plan) -> bool:
    """Return whether a tensor is trained: embeddings are, and the layers that the plan has."""
    parts = name.split(".")
    return parts[0] == "embeddings" or int(parts[2]) in plan.layers


def take(
    lesson: Lesson, state: State, places: Sequence[int] | np.ndarray, plan: Plan, drop: float = 0.1
) -> torch.Tensor:
    """Return the rows of some texts, as they are learned."""
    return embed(state, [lesson.pieces[place] for place in places], plan.layers, drop).float()


def lose_on_notes(plan: Plan, lesson: Lesson, state: State, random: np.random.Generator) -> torch.Tensor:
    """Return how far questions are from finding their notes among others, and notes their questions."""
    lines = random.choice(len(lesson.notes), BATCH, replace=False)
    which = random.integers(0, 2, BATCH)
    notes = take(lesson, state, lesson.notes[lines, 0], plan)
    asked = take(lesson, state, lesson.notes[lines, 1 + which], plan)
    near = asked @ notes.T / HEAT
    wanted = torch.arange(BATCH, device="cuda")
    back = functional.cross_entropy(near.T, wanted)
    if plan.hard:
        chosen = lesson.hard[lines, which].cpu().numpy()
        picked = np.take_along_axis(chosen, random.integers(0, chosen.shape[1], (BATCH, plan.hard)), axis=1)
        others = take(lesson, state, lesson.notes[picked.ravel(), 0], plan).view(BATCH, plan.hard, -1)
        near = torch.cat([near, torch.einsum("id,ihd->ih", asked, others) / HEAT], dim=1)
    return (functional.cross_entropy(near, wanted) + back) / 2


def lose_on_passages(plan: Plan, lesson: Lesson, state: State, random: np.random.Generator) -> torch.Tensor:
    """Return how far headings and sentences are from finding their passages."""
    lines = random.choice(len(lesson.passages), PASSAGE_BATCH, replace=False)
    passages = take(lesson, state, lesson.passages[lines, 0], plan)
    asked = take(lesson, state, lesson.passages[lines, random.integers(1, 5, PASSAGE_BATCH)], plan)
    near = asked @ passages.T / HEAT
    wanted = torch.arange(PASSAGE_BATCH, device="cuda")
    return (functional.cross_entropy(near, wanted) + functional.cross_entropy(near.T, wanted)) / 2


def lose_on_others(plan: Plan, lesson: Lesson, state: State, random: np.random.Generator) -> torch.Tensor:
    """Return how far texts and passages are from what MiniLM says: where each is, and who is near whom."""
    places = np.concatenate(
        [
            random.choice(lesson.others, OTHER_BATCH, replace=False),
            random.choice(lesson.passages[:, 0], PASSAGE_BATCH, replace=False),
            random.choice(lesson.passages[:, 1:].ravel(), PASSAGE_BATCH, replace=False),
        ]
    )
    rows, told = take(lesson, state, places, plan, 0.0), lesson.told[places]
    own = torch.eye(len(places), device="cuda") * 1e4
    said = functional.log_softmax(rows @ rows.T / HEAT - own, 1)
    wanted = functional.log_softmax(told @ told.T / HEAT - own, 1)
    apart = functional.kl_div(said, wanted, reduction="batchmean", log_target=True)
    return apart + (1 - (rows * told).sum(1)).mean()


def round_state(state: State) -> State:
    """Return the weights as they are after rounding: matrices to eight bits by rows, the rest to sixteen."""
    return {name: round_rows(value)[2] if value.ndim == 2 else value.half().float() for name, value in state.items()}


def round_rows(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return whole numbers from -127 to 127, the scale of each row, and the rows that these make."""
    best = torch.zeros_like(rows)
    scales = torch.ones(len(rows), 1, device=rows.device)
    least = torch.full((len(rows), 1), torch.inf, device=rows.device)
    for clip in torch.linspace(0.7, 1.0, 13):
        scale = ((rows.abs().amax(1, keepdim=True) * clip) / 127).clamp_min(1e-12).half().float().clamp_min(6e-8)
        numbers = (rows / scale).round().clamp(-127, 127)
        error = ((numbers * scale - rows) ** 2).sum(1, keepdim=True)
        better = error < least
        best = torch.where(better, numbers, best)
        scales = torch.where(better, scale, scales)
        least = torch.where(better, error, least)
    return best.to(torch.int8), scales, best * scales


def print_quality(name: str, lesson: Lesson, state: State, layers: Sequence[int]) -> None:
    """Print what vectors alone find: the share of the evidence among the first five notes or ten turns."""
    data = lesson.data
    rows = torch.zeros_like(lesson.told)
    places = lesson.measured
    rows[places] = embed_all(state, [lesson.pieces[place] for place in places], layers)
    found = defaultdict[str, list[float]](list)
    for number, (one, depth) in enumerate(zip(data["set_names"], data["set_depths"], strict=True)):
        near = rows[data[f"set{number}_questions"]] @ rows[data[f"set{number}_texts"]].T
        first = near.topk(int(depth), dim=1).indices.cpu().numpy()
        evidence = defaultdict[int, list[int]](list)
        for row, at in data[f"set{number}_evidence"]:
            evidence[row].append(at)
        found[str(one)] += [len({*first[row]} & {*wanted}) / len({*wanted}) for row, wanted in evidence.items()]
    print(name.ljust(14), "  ".join(f"{one} {100 * np.mean(shares):.1f}" for one, shares in found.items()), flush=True)


def write(state: State, plan: Plan, folder: Path) -> None:
    """Write the rounded weights; embed/own_model.py says what is in the file, and in which order."""
    words = torch.tensor(np.load(folder / "texts.npz")["kept_pieces"], device="cuda")
    positions = state["embeddings.position_embeddings.weight"][:MAX_PLACES]
    positions = positions + state["embeddings.token_type_embeddings.weight"][0]
    parts = _pack(state["embeddings.word_embeddings.weight"][words])
    parts += [*_pack(positions), *_pack_norm(state, "embeddings")]
    for layer in plan.layers:
        name = f"encoder.layer.{layer}"
        steps = [[f"{name}.attention.self.{part}" for part in ("query", "key", "value")]]
        steps += [[f"{name}.{part}.dense"] for part in ("attention.output", "intermediate", "output")]
        for names in steps:
            parts += _pack(torch.cat([state[f"{one}.weight"] for one in names]))
            parts.append(_pack_vector(torch.cat([state[f"{one}.bias"] for one in names])))
        parts += [*_pack_norm(state, f"{name}.attention.output"), *_pack_norm(state, f"{name}.output")]
    data = b"".join(parts)
    (folder / "weights.bin").write_bytes(data)
    print(f"weights.bin: {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def _pack(rows: torch.Tensor) -> list[bytes]:
    """Return a matrix as eight-bit numbers, and the scales of its rows."""
    numbers, scales, _ = round_rows(rows)
    return [numbers.cpu().numpy().tobytes(), _pack_vector(scales.ravel())]


def _pack_norm(state: State, name: str) -> list[bytes]:
    return [_pack_vector(state[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias")]


def _pack_vector(vector: torch.Tensor) -> bytes:
    packed: bytes = vector.cpu().numpy().astype("<f4").tobytes()
    return packed


if __name__ == "__main__":
    main()
