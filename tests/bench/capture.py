"""Measure capture: `make bench-capture`, or `python -m tests.bench.capture`.

Runs each transcript of `capture_set` through the hook that a host runs before a compaction, with `capture = auto` and
in a book of its own, then capture itself. Compares the proposals with what the user of that transcript said for good,
which `planted.json` lists. A proposal counts for a planted fact if it has at least half of the telling words of its
statement.

- precision: the share of the proposals that count for a planted fact; neutral ones are left out
- recall: the share of the planted facts that a proposal counts for, in all and by kind
- near misses: how many were proposed, by kind; none may come from <private>, and none may be a secret

Who writes rules looks at one half of the transcripts only: `--half odd`, by the number in the name. The other half,
`--half even`, is for figures: it says whether a rule holds for people whose words its author has not read.

`--json` prints the same as JSON, with what was found, missed, taken and wrong in each transcript.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from commonplace import Book
from commonplace.model.scope import Scope
from commonplace.text.words import significant_stems
from tests.hooks.hooking import hook

FOLDER = Path(__file__).with_name("capture_set")
KINDS = ("correction", "preference", "decision")
_PROJECT = "bench/capture"


class PlantedFact(TypedDict):
    kind: str
    statement: str
    words: list[str]


class NearMiss(TypedDict):
    kind: str
    words: str


class NeutralFact(TypedDict):
    statement: str
    words: list[str]


class MarkedTranscript(TypedDict):
    file: str
    host: str
    planted: list[PlantedFact]
    must_not: list[NearMiss]
    neutral: list[NeutralFact]


class TranscriptScore(NamedTuple):
    """What became of one transcript: planted facts found and missed, near misses taken, proposals of no use."""

    file: str
    proposals: list[str]
    found: list[PlantedFact]
    missed: list[PlantedFact]
    taken: list[NearMiss]
    wrong: list[str]
    neutral: list[str]


class CaptureFigures(NamedTuple):
    """The figures over all transcripts; a share is None where there was nothing to count."""

    transcripts: int
    planted: int
    proposals: int
    neutral: int
    precision: float | None
    recall: float | None
    recall_by_kind: dict[str, float | None]
    from_private: int
    secrets: int
    near_misses: dict[str, int]


def read_index() -> list[MarkedTranscript]:
    """Return what is planted in each transcript, in the order of the index."""
    transcripts: list[MarkedTranscript] = json.loads((FOLDER / "planted.json").read_text("utf-8"))["transcripts"]
    return transcripts


def has_half(text: str, statement: str) -> bool:
    """Return whether a text has at least half of the telling words of a statement."""
    wanted = set(significant_stems(statement))
    return bool(wanted) and 2 * len(wanted.intersection(significant_stems(text))) >= len(wanted)


def capture(transcript: Path, host: str, folder: Path) -> list[str]:
    """Return the texts that the product proposes from a transcript, in a new book below a folder."""
    root = folder / transcript.stem
    with Book.open(root, project=_PROJECT) as book:
        book.configure("capture", "auto")
    said = {"session_id": transcript.stem, "cwd": str(folder), "transcript_path": str(transcript)}
    hook(root, "pre-compact", host, said, COMMONPLACE_PROJECT=_PROJECT, COMMONPLACE_HOOK_DEADLINE_MS="60000")
    with Book.open(root, project=_PROJECT) as book:
        result = book.capture()
        if result.transcripts != 1:
            raise RuntimeError(f"Capture did not read {transcript.name}: {result}")
        shown = [book.show(item.key, Scope(item.scope, item.scope_id)) for item in book.review()]
    return [memory.entries[-1].text for memory in shown]


def score(marked: MarkedTranscript, proposals: Sequence[str]) -> TranscriptScore:
    """Compare the proposals from one transcript with what is planted in it."""

    def counts_for(text: str, facts: Iterable[PlantedFact | NeutralFact]) -> bool:
        return any(has_half(text, fact["statement"]) for fact in facts)

    found = [fact for fact in marked["planted"] if any(has_half(text, fact["statement"]) for text in proposals)]
    others = [text for text in proposals if not counts_for(text, marked["planted"])]
    neutral = [text for text in others if counts_for(text, marked["neutral"])]
    wrong = [text for text in others if text not in neutral]
    return TranscriptScore(
        file=marked["file"],
        proposals=list(proposals),
        found=found,
        missed=[fact for fact in marked["planted"] if fact not in found],
        taken=[miss for miss in marked["must_not"] if _is_taken(miss, proposals, wrong)],
        wrong=wrong,
        neutral=neutral,
    )


def _is_taken(miss: NearMiss, proposals: Sequence[str], wrong: Sequence[str]) -> bool:
    """Return whether a near miss is word for word in any proposal, or by half of its words in a wrong one."""
    words = miss["words"].casefold()
    if any(words in text.casefold() for text in proposals):
        return True
    return miss["kind"] != "secret" and any(has_half(text, words) for text in wrong)


def measure(half: str | None = None) -> list[TranscriptScore]:
    """Return the score of every transcript of the set, or of one half of it."""
    chosen = [marked for marked in read_index() if half is None or half_of(marked["file"]) == half]
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
        return [score(marked, capture(FOLDER / marked["file"], marked["host"], Path(folder))) for marked in chosen]


def half_of(name: str) -> str:
    """Return the half that a transcript belongs to, by the number in its name."""
    return "odd" if int(name.split("-")[1]) % 2 else "even"


def summarize(scores: Sequence[TranscriptScore]) -> CaptureFigures:
    """Return the figures over all transcripts."""
    proposals = sum(len(item.proposals) for item in scores)
    neutral = sum(len(item.neutral) for item in scores)
    judged = proposals - neutral
    found = Counter(fact["kind"] for item in scores for fact in item.found)
    planted = found + Counter(fact["kind"] for item in scores for fact in item.missed)
    taken = Counter(miss["kind"] for item in scores for miss in item.taken)
    return CaptureFigures(
        transcripts=len(scores),
        planted=planted.total(),
        proposals=proposals,
        neutral=neutral,
        precision=_share(judged - sum(len(item.wrong) for item in scores), judged),
        recall=_share(found.total(), planted.total()),
        recall_by_kind={kind: _share(found[kind], planted[kind]) for kind in KINDS},
        from_private=taken["private"],
        secrets=taken["secret"],
        near_misses=dict(sorted(taken.items())),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def render(figures: CaptureFigures) -> str:
    """Return the figures as lines of text."""
    near_misses = ", ".join(f"{kind} {count}" for kind, count in figures.near_misses.items())
    rows = [
        ("transcripts", f"{figures.transcripts}, with {figures.planted} planted facts"),
        ("proposals", f"{figures.proposals}, {figures.neutral} of them neutral"),
        ("precision", _percent(figures.precision)),
        ("recall", _percent(figures.recall)),
        *((f"  {kind}", _percent(share)) for kind, share in figures.recall_by_kind.items()),
        ("from <private>", str(figures.from_private)),
        ("secrets", str(figures.secrets)),
        ("near misses", near_misses or "none"),
    ]
    return "\n".join(f"{name:<16} {value}" for name, value in rows)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.capture",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with what became of each transcript")
    parser.add_argument("--half", choices=("odd", "even"), help="only the transcripts with these numbers")
    options = parser.parse_args(words)
    scores = measure(options.half)
    figures = summarize(scores)
    if options.json:
        by_transcript = [item._asdict() for item in scores]
        print(json.dumps({**figures._asdict(), "by_transcript": by_transcript}, ensure_ascii=False))
    else:
        print(render(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
