"""The texts that tools/train_static_table.py trains with, and which of them mean the same.

They come from packages that anybody can download by name and version, checked by hash: WordNet (its own free licence),
Moby's thesaurus (public domain), fortunes (BSD), and the manuals of Python, PostgreSQL, SQLite, Node.js and LibreOffice
(PSF, PostgreSQL, public domain, MIT, MPL). What people write down about their days and their work is in none of them,
so tools/table_pairs.jsonl has notes that were written for it, each with two questions: the first as people ask, the
second in quite other words. Lines that follow each other are of one place or person, and often near each other.
"""

from __future__ import annotations

import hashlib
import html
import json
import random
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DEBIAN = {
    "wordnet-base=1:3.0-37": "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
    "fortunes=1:1.99.1-7.3": "41d0551dc0ff52f875a2ecef7c39da2f672ab468c37e170119f7e0245a9d63c5",
    "fortunes-min=1:1.99.1-7.3": "9eed5b45064e41133dae0967cf3a17588ad77c014fcc7bf1527fa3ea48e44d07",
    "python3.11-doc=3.11.2-6+deb12u8": "50eb63e7f636c4281e9ce1b8f10386f1def42159eddce34fc1f41c46261df71b",
    "postgresql-doc-15=15.18-0+deb12u1": "3c598277a463c44d672daa2c335deb8d8252e1852fb025fd4578ea2d9a1b90f0",
    "sqlite3-doc=3.40.1-2+deb12u2": "466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2",
    "nodejs-doc=18.20.4+dfsg-1~deb12u2": "9f674d3536be94923bb8720c48ec17bc92b8de62f2954c3172b59a3ada1de65f",
    "libreoffice-help-en-us=4:7.4.7-1+deb12u14": "8faa840285734d6cfe1ed25537b48f07e74bd6412e3917bf8e5f8a653f7b3712",
}
NPM = ("moby@1.1.2", "68f8b3074d088efe33c1ef8064b76bece39f7774f1718fd7b48125386100b083")
PAIRS = Path(__file__).parent / "table_pairs.jsonl"
BLOCK, HELD_OUT = 40, 8  # lines of the pairs that are held out together, and of how many blocks it is one


class Texts(NamedTuple):
    """All that is trained with. Pairs are places in the list."""

    texts: list[str]
    words: set[int]  # single words and names, which are many: a batch has some of them
    pairs: list[tuple[int, int]]


class Asked(NamedTuple):
    """A line of table_pairs.jsonl."""

    note: str
    plainly: str
    otherwise: str


class _Shelf:
    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.words: set[int] = set()
        self.pairs: list[tuple[int, int]] = []

    def add(self, text: str, least: int = 1, most: int = 45) -> int | None:
        """The place of a text; None when it is too short or has no word. Only its beginning is taken if it is long."""
        words = text.split()
        text = " ".join(words[:most])
        if len(words) < least or not re.search("[a-zA-Z]{3}", text):
            return None
        return self.places.setdefault(text, len(self.places))

    def word(self, text: str) -> int | None:
        place = self.add(text) if len(text) <= 28 else None
        if place is not None:
            self.words.add(place)
        return place

    def pair(self, one: int | None, two: int | None) -> None:
        if one is not None and two is not None and one != two:
            self.pairs.append((one, two))


class Synset(NamedTuple):
    lemmas: list[str]
    meaning: str
    examples: list[str]


def gather(folder: Path, vocabulary: dict[str, int]) -> Texts:
    """Downloads what is not in the folder yet. The same texts in the same order every time."""
    random_ = random.Random(7)  # noqa: S311 - for the same choice every time
    shelf = _Shelf()
    roots = {name.split("=")[0]: debian(name, wanted, folder) for name, wanted in DEBIAN.items()}
    wordnet = roots.pop("wordnet-base") / "usr/share/wordnet"
    _definitions(shelf, [found for file in sorted(wordnet.glob("data.*")) for found in _synsets(file)], random_)
    for name in ("fortunes", "fortunes-min"):
        _sayings(shelf, roots.pop(name) / "usr/share/games/fortunes")
    for root in roots.values():
        _manuals(shelf, root)
    _thesaurus(shelf, folder, random_)
    for piece in vocabulary:
        if piece.isascii() and piece.isalpha() and len(piece) > 2:
            shelf.word(piece)
    return Texts(list(shelf.places), shelf.words, shelf.pairs)


def read_pairs() -> list[Asked]:
    lines = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    return [Asked(line["note"], *line["ask"]) for line in lines]


def is_held_out(line: int) -> bool:
    """True for every eighth block of lines: whole blocks, as a line is near its neighbours."""
    return line // BLOCK % HELD_OUT == HELD_OUT // 2


def debian(name: str, wanted: str, folder: Path) -> Path:
    """A package of Debian, unpacked and never installed."""
    root = folder / name.split("=", maxsplit=1)[0]
    if not root.exists():
        subprocess.run(["apt-get", "download", "--quiet", name], cwd=folder, check=True)  # noqa: S603, S607
        (package,) = folder.glob(f"{root.name}_*.deb")
        _check(package, wanted)
        root.mkdir()
        subprocess.run(["dpkg-deb", "--extract", str(package), str(root)], check=True)  # noqa: S603, S607
    return root


def _check(file: Path, wanted: str) -> None:
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != wanted:
        raise SystemExit(f"{file.name} has the hash {found}, not {wanted}")


def _synsets(file: Path) -> Iterator[Synset]:
    for line in file.read_text("latin-1").splitlines():
        if line.startswith("  "):
            continue
        head, gloss = line.split("|", 1)
        parts = head.split()
        count = int(parts[3], 16)
        lemmas = [re.sub(r"\(.*?\)", "", parts[4 + 2 * at]).replace("_", " ") for at in range(count)]
        meaning = " ".join(re.sub(r'"[^"]*"', "", gloss).split()).strip(" ;")
        yield Synset(lemmas, meaning, re.findall(r'"([^"]+)"', gloss))


def _definitions(shelf: _Shelf, synsets: list[Synset], random_: random.Random) -> None:
    """A word and its meaning, words of one meaning, and sentences with one of them and with another."""
    for lemmas, meaning, examples in synsets:
        if lemmas[0][0].isupper():
            continue
        said = shelf.add(meaning, 3, 30)
        words = [shelf.word(lemma) for lemma in lemmas[:3]]
        shelf.pair(random_.choice(words), said)
        for word in words[1:]:
            shelf.pair(words[0], word)
        for example in examples[:2]:
            place = shelf.add(example, 3, 40)
            shelf.pair(place, said)
            for lemma in lemmas:
                found = re.search(rf"\b{re.escape(lemma)}\b", example, re.IGNORECASE)
                others = [other for other in lemmas if other != lemma]
                if found and others and len(example.split()) >= 4:
                    swapped = example[: found.start()] + random_.choice(others) + example[found.end() :]
                    shelf.pair(place, shelf.add(swapped, 3, 40))
                    break


def _sayings(shelf: _Shelf, folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        if file.is_symlink() or file.suffix:
            continue
        for saying in file.read_text("utf-8", errors="ignore").split("\n%\n"):
            plain = " ".join(re.sub(r"(?s)\t--.*", "", saying).split())
            for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", plain):
                shelf.add(sentence, 5)


def _manuals(shelf: _Shelf, root: Path) -> None:
    """A heading and the first paragraph under it."""
    for file in sorted(root.rglob("*.html")):
        text = re.sub(r"(?s)<(script|style|pre)\b.*?</\1>", " ", file.read_text("utf-8", errors="ignore"))
        title: str | None = None
        for found in re.finditer(r"(?s)<(h[1-4]|title|p|li|dd)\b[^>]*>(.*?)</\1>", text):
            plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found[2])).replace("¶", "").split())
            if found[1][0] in "ht":
                title = re.sub(r"^[\d.]+ ", "", plain) if 2 <= len(plain.split()) <= 14 else None
            elif title and len(plain.split()) >= 10 and re.search("(?i) the | a | is | to ", plain):
                shelf.pair(shelf.add(title, 2), shelf.add(plain, 8))
                title = None


def _thesaurus(shelf: _Shelf, folder: Path, random_: random.Random) -> None:
    name, wanted = NPM
    package = folder / f"{name.replace('@', '-')}.tgz"
    if not package.exists():
        subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True)  # noqa: S603, S607
    _check(package, wanted)
    with tarfile.open(package) as archive:
        member = archive.extractfile("package/words.txt")
        lines = re.split(r"[\r\n]+", member.read().decode("latin-1")) if member else []
    for line in lines:
        root, *others = line.strip().split(",")
        place = shelf.word(root) if root else None
        for other in random_.sample(others, min(2, len(others))):
            shelf.pair(place, shelf.word(other))
