"""What `tree settle` is killed at: trees in which something is left to do, of every kind.

A scene is what was done before, and the command, which is always `tree_settle` or ends with it. Mails come in here
without the settling that ends an ingest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from commonplace.vault.paths import KEEPER, resolve
from commonplace.vault.port import Delete
from commonplace.verbs import ingest as ingest_verb
from commonplace.verbs import tree_sources
from commonplace.verbs.context import BookContext
from commonplace.verbs.digest import SettleRequest, tree_settle
from commonplace.verbs.ingest import IngestRequest, ingest
from commonplace.verbs.tree_sources import TreeForgetRequest, tree_forget
from tests.tree.crash_points import Command
from tests.tree.crash_scenes import ANN, BOB, CLEO, Scene, write_mail

_SUBJECTS = ("Staging database", "Office move", "Budget", "Hiring", "Release train")
_SENDERS = (ANN, BOB, CLEO)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def settle(context: BookContext) -> object:
    """Settle the tree."""
    return tree_settle(context, SettleRequest())


def without_settling(command: Command) -> Command:
    """Return a command that leaves to be settled what it changed."""

    def run(context: BookContext) -> object:
        with patch.object(ingest_verb, "settle_tree"), patch.object(tree_sources, "settle_tree"):
            return command(context)

    return run


def bring_in(path: Path, name: str | None = None) -> Command:
    """Return the command that ingests a source and does not settle it."""
    return without_settling(lambda context: ingest(context, IngestRequest((str(path),), name=name)))


def dated_mail(number: int, text: str, when: str, *, answers: str = "", title: str = "") -> str:
    """Return a mail of a day, such as 2026-09-03, as it stands in an mbox."""
    year, month, day = when.split("-")
    mail = write_mail(
        f"n{number}", text, answers=answers, sender=_SENDERS[number % 3],
        title=title or f"{_SUBJECTS[number % 5]} {number}",
    )  # fmt: skip
    return mail.replace("Date: 2 Nov 2026", f"Date: {int(day)} {MONTHS[int(month) - 1]} {year}")


def thread_mails(first: int, number: int, day: Callable[[int], str]) -> list[str]:
    """Return mails of so many threads, each with a text of its own."""
    return [
        dated_mail(
            at,
            f"We decided to move rack {at} on Friday. Who orders part {at * 7}?\n\n"
            f"The room of rack {at} is warm, and nobody has looked at its fans since spring. "
            f"Bob will send the list of rack {at} by 3 March 2027.",
            day(at),
        )
        for at in range(first, first + number)
    ]


def topic_mails(first: int, ticket: str, days: Sequence[str]) -> list[str]:
    """Return twelve mails of three threads that name a ticket."""
    return [
        dated_mail(
            first + at, f"{ticket} waits for answer number {at}. We will look at {ticket} again in room {first + at}.",
            days[at % len(days)], answers=f"n{first + at - 3}" if at >= 3 else "", title=f"Case {first + at % 3}",
        )
        for at in range(12)
    ]  # fmt: skip


def _autumn(number: int) -> str:
    return f"2026-09-{number % 27 + 1:02}"


def _delete_files(wanted: Callable[[str], bool]) -> Command:
    def delete(context: BookContext) -> None:
        memories = context.memories
        for folder in memories.files.list_folder(resolve("/tree/mail")):
            place = resolve(f"/tree/mail/{folder.name}")
            names = [item.name for item in memories.files.list_folder(place)] if folder.name[:2] == "20" else []
            found = [place / name for name in names if name.endswith(".md") and wanted(name)]
            memories.vault.apply(memories.space, KEEPER, [*map(Delete, found)])

    return delete


def _write_notes(folder: Path, notes: Mapping[str, str]) -> Command:
    def write(_: object) -> None:
        folder.mkdir(exist_ok=True)
        for name, text in notes.items():
            (folder / name).write_text(text, encoding="utf-8")

    return write


def _document(number: int, word: str) -> str:
    text = f"The {word} of part {number} was agreed on Monday. Who checks it?\n\nIt costs {number} euros."
    return f"# Part {number}\n\n{text}\n"


def make_scenes(folder: Path) -> dict[str, Scene]:
    """Return the scenes by name; their sources are in this folder."""

    def write(name: str, mails: Sequence[str]) -> Path:
        path = folder / f"{name}.mbox"
        path.write_text("".join(mails), encoding="utf-8")
        return path

    old = thread_mails(0, 35, _autumn)
    mail = bring_in(write("mail", old))
    late = [
        dated_mail(900, "The fans of rack 3 were changed on Monday. We agreed to pay.", "2026-09-29", answers="n3"),
        dated_mail(901, "Rack 20 needs one more week.", "2026-10-05", answers="n20"),
    ]
    grown = bring_in(write("grown", [*old, *late]), "mail")
    other = bring_in(write("other", [*old[:8], *thread_mails(40, 12, lambda at: f"2026-10-{at - 30:02}")]))
    years = [f"{year}-{month:02}-{3 * month - 1:02}" for year in (2025, 2026) for month in range(1, 11)]
    spread = write("years", thread_mails(0, 20, lambda at: years[at]))
    spring = [f"2026-03-{day:02}" for day in (2, 9, 16, 23)]
    autumn = [f"2026-11-{day:02}" for day in (2, 5, 9, 12)]
    topics = write("topics", [*topic_mails(100, "OPS-12", spring), *topic_mails(200, "OPS-77", autumn)])
    quiet = write("quiet", topic_mails(100, "OPS-12", spring))
    again = write("again", [*topic_mails(100, "OPS-12", spring), *topic_mails(300, "OPS-12", autumn)])
    notes = folder / "notes"
    texts = {f"part-{number}.md": _document(number, "price") for number in range(12)}
    documents = bring_in(notes)
    update = without_settling(lambda context: ingest(context, IngestRequest(update=True)))
    forget = without_settling(lambda context: tree_forget(context, TreeForgetRequest("mail")))
    edited = {"part-3.md": _document(3, "colour"), "part-8.md": "# Part 8\n\nNothing is left of it.\n"}
    return {
        "first": Scene((mail,), settle),
        "growth": Scene((mail, settle, grown), settle),
        "deletion": Scene((mail, settle, _delete_files(lambda name: name[0] in "bh")), settle),
        "documents": Scene(
            (_write_notes(notes, texts), documents, settle, _write_notes(notes, edited), update), settle
        ),
        "forgotten": Scene((mail, settle, other, settle, forget), settle),
        "years": Scene((bring_in(spread),), settle),
        "topics": Scene((bring_in(topics),), settle),
        "dormancy": Scene((bring_in(topics), settle), settle),
        "revival": Scene((bring_in(quiet, "mail"), settle, bring_in(again, "mail")), settle),
    }


SCENES: Sequence[str] = (
    "first", "growth", "deletion", "documents", "forgotten", "years", "topics", "dormancy", "revival",
)  # fmt: skip
LATER = "2027-04-01T12:00:00Z"
"""When the tree of the scene `dormancy` is settled again: nothing was heard of its topics for ninety days."""
