"""Lessons: outcomes that repeat become memories that wait for review.

Two kinds: the same failure of a worker three times, and work that succeeded after it had failed. Each is proposed once
for all times: a mark in the journal says that it was, so that what a person rejected, edited or purged does not come
back. The memory is written first and the mark second; between the two, its key tells that it is there, or in the trash.
The mark does not say what the lesson says: nothing finds there what a person has rejected.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from commonplace.journal.entries import (
    ARTIFACTS,
    LESSONS,
    About,
    attributes_of,
    entry_id,
    error_in,
    short_name,
    telling_line,
)
from commonplace.journal.writer import Chains, failures_of
from commonplace.keep.unit import Keep, Unit
from commonplace.model.memory import Entry
from commonplace.model.names import slug
from commonplace.text.naming import cut, one_line
from commonplace.vault.paths import BookPath
from commonplace.vault.port import ABSENT, Write
from commonplace.vault.view import KEEPER

REPEATED = 3  # times, from which on a failure is a lesson
_SHOWN_RUNS = 5


class Candidate(NamedTuple):
    """Something to propose: the memory's key and text, and the id under which it is remembered that it was."""

    id: str
    key: str
    kind: str  # repeated, fixed
    worker: str
    summary: str
    text: str


def find(chains: Chains, workers: Iterable[str], about: About) -> list[Candidate]:
    """The lessons in the newest failures of these workers, oldest first, proposed or not."""
    found: list[Candidate] = []
    for worker in workers:
        failures = failures_of(chains, worker)
        found += _repeated(worker, failures, about)
        found += [_fixed(worker, entry, about) for entry in failures if attributes_of(entry).get("kind") == "fixed"]
    return list({item.id: item for item in found}.values())


def unproposed(keep: Keep, folder: BookPath, found: Sequence[Candidate]) -> list[Candidate]:
    return [item for item in found if keep.vault.stat(keep.space, KEEPER, _mark(folder, item)) is None]


def marks(unit: Unit, proposed: Sequence[Candidate], scope: str, time: str) -> None:
    """Stage the marks of what was proposed."""
    for item in unproposed(unit.keep, unit.folder, proposed):
        text = f"# {item.id}\n\nProposed for review as `{item.key}` in {scope}, {time}.\n"
        unit.put_aside(Write(_mark(unit.folder, item), text.encode(), ABSENT))


def _mark(folder: BookPath, item: Candidate) -> BookPath:
    return folder / LESSONS / f"{item.id}.md"


def _repeated(worker: str, failures: Sequence[Entry], about: About) -> list[Candidate]:
    same: dict[str, list[Entry]] = {}
    for entry in failures:
        said = attributes_of(entry)
        if said.get("kind") == "failure" and said.get("signature"):
            same.setdefault(said["signature"], []).append(entry)
    return [
        _repeated_lesson(worker, signature, times[:REPEATED], about)
        for signature, times in same.items()
        if len(times) >= REPEATED
    ]


def _repeated_lesson(worker: str, signature: str, times: Sequence[Entry], about: About) -> Candidate:
    """From the first three times, so that the fourth changes nothing of it."""
    error = _error(times[-1])
    runs = list(dict.fromkeys(short_name(attributes_of(entry).get("run", "")) for entry in times))
    tried = list(dict.fromkeys(entry.text.split("\n", 1)[0] for entry in times))
    summary = cut(f"{short_name(worker)} keeps failing: {error}", 120)
    text = "\n".join(
        [
            f"{short_name(worker)} failed {len(times)} times in the same way: {error}",
            *(f"- {cut(line, 200)}" for line in tried),
            f"Runs: {', '.join(runs[:_SHOWN_RUNS])}. Find out why before the next try.",
        ]
    )
    ident = entry_id("lesson", about.place, "repeated", worker, signature)
    return Candidate(ident, _key("failure", worker, ident), "repeated", worker, summary, text)


def _fixed(worker: str, entry: Entry, about: About) -> Candidate:
    said = attributes_of(entry)
    first, _, rest = entry.text.partition("\n")
    summary = cut(first.removeprefix("Fixed: "), 120)
    text = f"{first.removeprefix('Fixed: ')}\n{rest}"
    text = text.replace(f"]({ARTIFACTS}/", f"](/journal/{about.place}/{ARTIFACTS}/")
    ident = entry_id("lesson", about.place, "fixed", worker, said.get("work", ""), said.get("signature", ""))
    return Candidate(ident, _key("fix", worker, ident), "fixed", worker, summary, text)


def _error(entry: Entry) -> str:
    return cut(one_line(telling_line(error_in(entry.text))), 160) or "without an error"


def _key(kind: str, worker: str, ident: str) -> str:
    return "-".join(word for word in ("lesson", kind, slug(worker, limit=24), ident[-8:]) if word)
