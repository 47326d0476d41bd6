"""The commands that are killed: small sources that have something of everything, and what is in a book before.

A scene is a command, and the commands before it. `make_scenes` writes the sources into a folder, outside the book.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from commonplace.model.errors import NotFound
from commonplace.verbs.digest import SettleRequest, tree_settle
from commonplace.verbs.ingest import IngestRequest, ingest
from commonplace.verbs.tree_sources import (
    EntityMergeRequest,
    TreeForgetRequest,
    merge_entities,
    tree_forget,
)
from tests.tree.crash_points import Command

ANN, BOB, CLEO = "Ann Lee <ann@example.org>", "Bob Roe <bob@example.org>", "Cleo Wu <cleo@example.com>"
_PARTS = "Content-Type: multipart/mixed; boundary=b\n"
_CUT = "--b\n\nThe minutes begin.\n"  # no closing boundary: the mail is not whole
_WHOLE = "--b\n\nThe minutes begin.\n\nThey end with a list of tasks.\n--b--\n"


class Scene(NamedTuple):
    """A command that is killed, and what was done before."""

    before: Sequence[Command]
    command: Command


def write_mail(
    ident: str, text: str, *, answers: str = "", sender: str = ANN, day: int = 2, title: str = "", more: str = ""
) -> str:
    """Return a mail as it stands in an mbox."""
    named = "".join(f" <{parent}@x>" for parent in answers.split())
    replies = f"In-Reply-To:{named}\nReferences:{named}\n" if answers else ""
    head = (
        f"From: {sender}\nTo: {BOB}\nDate: {day} Nov 2026 09:00:00 +0100\nSubject: {title or 'Staging database'}\n"
        f"Message-ID: <{ident}@x>\n{replies}{more}"
    )
    return f"From x@example.org Mon Nov  2 09:00:00 2026\n{head}\n{text}\n\n"


def long_text(word: str, sentences: int) -> str:
    """Return a text of many sentences, no two of them alike."""
    return "\n\n".join(f"{word} number {number} is counted in the store room." for number in range(sentences))


def first_mails() -> list[str]:
    """Return the mails of a mailbox: threads, a mail that was cut, a long one, and one that names a ticket."""
    return [
        write_mail("1", f"The database moves. Ticket OPS-12.\n\n{long_text('Crate', 12)}"),
        write_mail("2", f"Who pays?\n\n{long_text('Barrel', 12)}", answers="1", sender=BOB, day=3),
        write_mail("cut", _CUT, sender=CLEO, title="Minutes", more=_PARTS),
        write_mail("3", "Lunch on Friday?", sender=CLEO, day=4, title="Lunch"),
        write_mail("long", long_text("Box", 350), day=5, title="Inventory"),
        write_mail("4", f"The platform does.\n\n{long_text('Chest', 12)}", answers="1 2", day=6),
    ]


def newer_mails() -> list[str]:
    """Return a newer export: late replies, one to a mail that is not there, a whole copy, a new thread."""
    whole = write_mail("cut", _WHOLE, sender=CLEO, title="Minutes", more=_PARTS)
    return [
        *(mail for mail in first_mails() if "<cut@x>" not in mail),
        whole,
        write_mail("5", f"Settled then.\n\n{long_text('Basket', 12)}", answers="1 2 4", sender=BOB, day=7),
        write_mail("6", "Noodles, please.", answers="3", day=7, title="Re: Lunch"),
        write_mail("7", "I have no idea.", answers="lost", day=8, title="Re: Riddle"),
        write_mail("8", "The lift is out of order.", sender=CLEO, day=9, title="Lift"),
    ]


def ingest_path(path: Path, name: str | None = None) -> Command:
    """Return the command that ingests a source."""
    return lambda context: ingest(context, IngestRequest((str(path),), name=name))


def _update(context: object) -> object:
    return ingest(context, IngestRequest(update=True))  # type: ignore[arg-type]


def _forget(source: str) -> Command:
    def forget(context: object) -> object:
        try:
            return tree_forget(context, TreeForgetRequest(source))  # type: ignore[arg-type]
        except NotFound:  # it had come so far that only what was made of the source is left
            return tree_settle(context, SettleRequest())  # type: ignore[arg-type]

    return forget


def _merge(first: str, second: str) -> Command:
    return lambda context: merge_entities(context, EntityMergeRequest(first, second))


def _write_notes(folder: Path, notes: Mapping[str, str]) -> Command:
    def write(_: object) -> None:
        folder.mkdir(exist_ok=True)
        for name, text in notes.items():
            (folder / name).write_text(text, encoding="utf-8")

    return write


def make_scenes(folder: Path) -> dict[str, Scene]:
    """Return the scenes by name; their sources are in this folder."""
    paths = {name: folder / f"{name}.mbox" for name in ("mail", "newer", "archive", "third")}
    mails = first_mails()
    texts = {
        "mail": mails,
        "newer": newer_mails(),
        "archive": [*mails[:2], mails[4], write_mail("9", "Only the archive has it.", title="Archive")],
        "third": [mails[0], mails[3]],
    }
    for name, path in paths.items():
        path.write_text("".join(texts[name]), encoding="utf-8")
    notes = folder / "notes"
    plan = f"# Plan\n\n## Launch\n\nThe launch is in May.\n\n## Boxes\n\n{long_text('Box', 400)}\n"
    old = {"plan.md": plan, "team.md": "# Team\n\nAnn leads.\n"}
    new = {
        "plan.md": "# Plan\n\n## Launch\n\nThe launch is in June, and no earlier.\n",
        "news.md": "# News\n\nNone yet.\n",
    }
    mail, newer, archive, third = (ingest_path(paths[name]) for name in ("mail", "newer", "archive", "third"))
    three = (mail, archive, third)
    people = ("person:ann@example.org", "person:cleo@example.com")
    return {
        "first": Scene((), mail),
        "newer": Scene((mail,), ingest_path(paths["newer"], "mail")),
        "other": Scene((mail,), newer),
        "documents": Scene((_write_notes(notes, old), ingest_path(notes), _write_notes(notes, new)), _update),
        "merge": Scene((mail,), _merge(*people)),
        "forget": Scene(three, _forget("mail")),
    }


SCENES: Sequence[str] = ("first", "newer", "other", "documents", "merge", "forget")
